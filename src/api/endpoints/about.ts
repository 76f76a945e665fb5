import { endpointsOf } from "../entry.ts";
import { indexDocument, openApiDocument } from "../openapi.ts";
import * as shape from "../schemas/about.ts";

/** The endpoints that describe the API. */
export const ABOUT_ENDPOINTS = endpointsOf("About", [
  {
    operationId: "getIndex",
    call: "GET /v1",
    summary: "Index of the API",
    description: "What there is, for a machine that has just arrived.",
    auth: "none",
    document: indexDocument,
    answers: {
      200: {
        description: "The index.",
        schema: shape.index,
        example: {
          name: "Souk",
          summary: "A marketplace in which a software agent acts on behalf of a person.",
          openapi: "https://souk.example.com/v1/openapi.json",
          errors: "https://souk.example.com/errors",
          mcp: "https://souk.example.com/mcp",
          docs: "https://souk.example.com/docs",
          llms_txt: "https://souk.example.com/llms.txt",
          agent_skills: "https://souk.example.com/.well-known/agent-skills/index.json",
          server_card: "https://souk.example.com/.well-known/mcp/server-card.json",
          authentication: "Authorization: Bearer <agent_token>, from POST /v1/connect.",
          endpoints: [
            {
              operation_id: "connectAgent",
              method: "POST",
              path: "/v1/connect",
              auth: "none",
              summary: "Connect an agent",
            },
          ],
          next: [{ summary: "If you hold no token yet, connect.", method: "POST", path: "/v1/connect" }],
        },
      },
    },
    cache: "public",
  },
  {
    operationId: "getOpenApi",
    call: "GET /v1/openapi.json",
    summary: "OpenAPI document",
    description: "The authoritative description of this API, made from the table that serves it.",
    auth: "none",
    document: openApiDocument,
    answers: {
      200: { description: "The document.", schema: shape.openApiDocument, example: { openapi: "3.1.0" } },
    },
    cache: "public",
  },
  {
    operationId: "getTaxonomy",
    call: "GET /v1/taxonomy",
    summary: "Domains, categories and kinds",
    description: "The vocabulary of classifications and filters, and which kinds of offer answer which kinds of ask.",
    auth: "none",
    answers: {
      200: {
        description: "The taxonomy.",
        schema: shape.taxonomy,
        example: {
          domains: [{ domain: "electronics", offer_kinds: ["sale", "rental"], categories: ["phones", "computers"] }],
          ask_kinds: [{ ask_kind: "buy", answered_by: ["sale"] }],
        },
      },
    },
    cache: "public",
  },
]);
