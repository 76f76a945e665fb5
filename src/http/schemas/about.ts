import { z } from "zod";
import { ASK_KINDS, OFFER_KINDS } from "../../database/enums.ts";
import { next } from "./values.ts";

/** The schemas of the documents that describe the API. */

/** The response of GET /v1/taxonomy. */
export const taxonomy = z
  .object({
    domains: z.array(
      z.object({ domain: z.string(), offer_kinds: z.array(z.enum(OFFER_KINDS)), categories: z.array(z.string()) }),
    ),
    ask_kinds: z.array(z.object({ ask_kind: z.enum(ASK_KINDS), answered_by: z.array(z.enum(OFFER_KINDS)) })),
  })
  .meta({ id: "Taxonomy" });

/** The response of GET /v1. */
export const index = z
  .object({
    name: z.string(),
    summary: z.string(),
    openapi: z.url(),
    errors: z.url(),
    authentication: z.string(),
    endpoints: z.array(
      z.object({
        operation_id: z.string(),
        method: z.string(),
        path: z.string(),
        auth: z.enum(["none", "token"]),
        summary: z.string(),
      }),
    ),
    next,
  })
  .meta({ id: "Index" });

/** The response of GET /v1/openapi.json. */
export const openApiDocument = z.looseObject({ openapi: z.string() }).meta({ id: "OpenApiDocument" });
