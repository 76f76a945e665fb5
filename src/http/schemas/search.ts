import { z } from "zod";
import { PRICE_PERIODS } from "../../database/enums.ts";
import { searchResult } from "./offers.ts";
import { category, codePoints, cursor, domain, next, page, text } from "./values.ts";

/** The request and the response of a search. */

const oneOrMore = z.union(
  [text().max(60), z.array(text().max(60)).min(1).max(50)],
  "Send one name, or a list of 1 to 50 names.",
);
const amount = z.number().min(0).max(1e12);
/** The body of POST /v1/offers/search. */
export const search = z
  .object({
    query: codePoints(500, "A query").optional(),
    filters: z
      .object({
        domain: oneOrMore.optional(),
        category: oneOrMore.optional(),
        offer_kind: oneOrMore.optional(),
        price: z
          .object({
            min: amount.optional(),
            max: amount.optional(),
            currency: z
              .string()
              .regex(/^[A-Z]{3}$/, "A currency is an ISO 4217 code such as EUR.")
              .optional(),
            period: z.enum(PRICE_PERIODS).optional(),
          })
          .optional(),
        location: text().min(1).max(200).optional().describe("A place as people write it."),
        posted_since: z.iso
          .date("A day is written YYYY-MM-DD.")
          // PostgreSQL has no year 0.
          .refine((day) => day >= "0001-01-01", "A day is written YYYY-MM-DD.")
          .optional(),
        reviewed: z.boolean().optional(),
        verified_publisher: z.boolean().optional(),
        has_images: z.boolean().optional(),
        exclude_own: z.boolean().optional(),
      })
      .optional()
      .describe("Hard: what does not pass is not shown."),
    sort: z.enum(["relevance", "newest", "price_asc", "price_desc"]).optional(),
    limit: z.int().min(1).max(50).optional().describe("Default 10."),
    cursor: cursor.optional(),
    detail: z.enum(["full", "compact"]).optional(),
  })
  .meta({ id: "SearchRequest" });

/** The response of POST /v1/offers/search. */
export const searchResponse = z
  .object({
    type: z.literal("results"),
    query: z.string(),
    classification: z.object({ domain, category, kind: z.string().nullable() }).nullable(),
    results: z.array(searchResult),
    page,
    notices: z.array(z.object({ code: z.string(), summary: z.string() })),
    next,
  })
  .meta({ id: "SearchResponse" });
