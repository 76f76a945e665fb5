import { z } from "zod";
import { ASK_KINDS, ASK_STATUSES } from "../../database/enums.ts";
import { searchResult } from "./offers.ts";
import { category, codePoints, cursor, domain, id, next, page, pageSize, text, timestamp } from "./values.ts";

/** The schemas of asks and their matches. */

/** The body of POST /v1/asks. */
export const askCreate = z
  .object({
    text: codePoints(4000, "A text").describe("What the person wants, in plain language."),
    watch_enabled: z.boolean().optional().describe("Match offers published later too. Default true."),
  })
  .meta({ id: "AskCreate" });

/** The body of PATCH /v1/asks/{id}. */
export const askPatch = z
  .object({ text: codePoints(4000, "A text").optional(), watch_enabled: z.boolean().optional() })
  .refine((body) => body.text !== undefined || body.watch_enabled !== undefined, {
    message: "Send a new text, watch_enabled, or both.",
  })
  .meta({ id: "AskPatch" });

/** An ask as its owner sees it. */
export const ask = z
  .object({
    id,
    status: z.enum(ASK_STATUSES),
    watch_enabled: z.boolean(),
    text: z.string(),
    title: z.string().nullable(),
    domain,
    category,
    ask_kind: z.enum(ASK_KINDS).nullable(),
    criteria: z
      .looseObject({})
      .describe("keywords, must, exclude, price, location, condition, attributes, as far as the text says."),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Ask" });

/** A page of asks. */
export const askList = z.object({ results: z.array(ask), page }).meta({ id: "AskList" });
/** The query parameters of GET /v1/asks. */
export const askListQuery = z.object({
  status: z.enum(ASK_STATUSES).optional(),
  limit: pageSize,
  cursor: cursor.optional(),
});

/** A page of the offers that match an ask. */
export const askMatches = z
  .object({
    ask_id: id,
    status: z.enum(ASK_STATUSES),
    watch_enabled: z.boolean(),
    results: z.array(
      z.object({
        ...searchResult.shape,
        match: z.object({
          first_matched_at: timestamp,
          reasons: z.array(
            z.object({
              criterion: z.string(),
              verdict: z.enum(["met", "violated", "unknown"]),
              wanted: z.unknown(),
              found: z.unknown(),
            }),
          ),
        }),
      }),
    ),
    since: z.string().describe("Send it as `since` later to get only what has matched after this answer."),
    page,
    next,
  })
  .meta({ id: "AskMatches" });
/** The query parameters of GET /v1/asks/{id}/matches. */
export const matchesQuery = z.object({
  since: text().max(1000).optional().describe("The since of an earlier answer."),
  limit: pageSize,
  cursor: cursor.optional(),
});
