import { z } from "zod";
import { ASK_KINDS, OFFER_KINDS } from "../../base/enums.ts";
import { name, next, sentence, someOf, url, words } from "./values.ts";

/** The schemas of the documents that describe the API. */

/** As many classes as a classifier can tell apart. */
const CLASSES = 1000;

/** The response of GET /v1/taxonomy. */
export const taxonomy = z
  .object({
    domains: z
      .array(
        z.object({
          domain: name("A domain."),
          offer_kinds: someOf(OFFER_KINDS, "The kinds of offer in it."),
          categories: z.array(name("A category.")).max(CLASSES).describe("Its categories."),
        }),
      )
      .max(CLASSES)
      .describe("What offers are about."),
    ask_kinds: z
      .array(
        z.object({
          ask_kind: z.enum(ASK_KINDS).describe("A kind of ask."),
          answered_by: someOf(OFFER_KINDS, "The kinds of offer that answer it."),
        }),
      )
      .max(ASK_KINDS.length)
      .describe("What asks look for."),
  })
  .meta({ id: "Taxonomy", description: "The vocabulary of classifications and filters." });

/** As many endpoints as a reader of GET /v1 has to expect; the table is shorter. */
const ENDPOINTS = 100;

/** The response of GET /v1. */
export const index = z
  .object({
    name: words(80, "What the service is called."),
    summary: sentence("What it is for."),
    openapi: url.describe("The OpenAPI document."),
    errors: url.describe("The page that explains every problem code."),
    mcp: url.describe("The address to add to an assistant that speaks MCP."),
    docs: url.describe("The documentation for people."),
    llms_txt: url.describe("An overview for language models."),
    agent_skills: url.describe("The index of agent skills."),
    server_card: url.describe("The card of the MCP server."),
    authentication: sentence("How requests say who sends them."),
    endpoints: z
      .array(
        z.object({
          operation_id: words(80, "The name of the operation in the OpenAPI document."),
          method: z.enum(["GET", "POST", "PATCH", "DELETE"]).describe("The HTTP method."),
          path: words(200, "The path, with {name} for parameters."),
          auth: z.enum(["none", "token"]).describe("Whether it needs a token."),
          summary: sentence("What it does."),
        }),
      )
      .max(ENDPOINTS)
      .describe("Every endpoint."),
    next,
  })
  .meta({ id: "Index", description: "The API in short." });

/** The response of GET /v1/openapi.json. */
export const openApiDocument = z
  .looseObject({ openapi: words(20, "The version of OpenAPI.") })
  .meta({ id: "OpenApiDocument", description: "An OpenAPI document." });
