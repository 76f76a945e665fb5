import { endpointsOf } from "../entry.ts";
import { indexDocument, openApiDocument } from "../openapi.ts";
import * as shape from "../schemas/about.ts";

/** The endpoint in the example of the index. */
const CONNECT = {
  operationId: "connectAgent",
  method: "post",
  path: "/v1/connect",
  summary: "Connect an agent",
} as const;

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
        example: indexDocument([{ ...CONNECT, auth: "none" }], "https://souk.example.com"),
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
