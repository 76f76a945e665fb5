import { z } from "zod";
import { ASK_KINDS, ASK_STATUSES, CONDITIONS, PRICE_UNITS } from "../../base/enums.ts";
import { attributes, conditionOf, hiddenPassages, placeMembers, searchResult } from "./offers.ts";
import {
  category,
  codePoints,
  cursor,
  degrees,
  domain,
  id,
  kindConfirmed,
  next,
  notices,
  page,
  pageSize,
  priceRange,
  text,
  timestamp,
  words,
} from "./values.ts";

/** The schemas of asks and their matches. */

const watchEnabled = z.boolean().describe("Whether offers published later are matched, too.");

/** The body of POST /v1/asks. */
export const askCreate = z
  .object({
    text: codePoints(4000, "A text").describe("What the person wants, in plain language."),
    watch_enabled: z.boolean().optional().describe("Match offers published later too. Default true."),
    kind_confirmed: kindConfirmed,
  })
  .meta({ id: "AskCreate", description: "What a person wants." });

/** The body of PATCH /v1/asks/{id}. */
export const askPatch = z
  .object({
    text: codePoints(4000, "A text").optional().describe("A new text, which is read anew."),
    watch_enabled: watchEnabled.optional(),
    kind_confirmed: kindConfirmed,
  })
  .refine((body) => body.text !== undefined || body.watch_enabled !== undefined, {
    message: "Send a new text, watch_enabled, or both.",
  })
  .meta({ id: "AskPatch", description: "A change of an ask: a new text, watch_enabled, or both." });

const phrases = (max: number, length: number, description: string) =>
  z.array(words(length, "Words of the text.")).max(max).describe(description);

const criteria = z
  .object({
    keywords: phrases(20, 60, "What the thing is called."),
    must: phrases(10, 80, "What an offer should mention."),
    exclude: phrases(10, 80, "What no offer may mention."),
    price: priceRange
      .extend({ unit: z.enum(PRICE_UNITS).optional().describe("What the amounts are for, if not for the whole.") })
      .nullable()
      .describe("The budget."),
    location: z.object(placeMembers).nullable().describe("The place."),
    near: z
      .object({
        place: words(200, "The town, in the words of the text."),
        ...degrees,
        radius_km: z.number().min(1).max(500).describe("How far away an offer may be."),
      })
      .optional()
      .describe("The circle in which an offer must lie, if the text states a distance from a town, or says near."),
    condition: z.enum(CONDITIONS).nullable().describe(conditionOf),
    attributes,
  })
  // An ask that was answered before its text was read has none of these yet.
  .partial()
  .meta({
    id: "Criteria",
    description: "What the text asks for; empty or null where it does not say, and {} until it is read.",
  });

/** An ask as its owner sees it. */
export const ask = z
  .object({
    id,
    status: z.enum(ASK_STATUSES).describe("Only an active ask has new matches."),
    watch_enabled: watchEnabled,
    text: words(4000, "What the person wants, in their words; […] for passages that give orders to software."),
    hidden_passages: hiddenPassages,
    title: words(120, "What is wanted, in short.").nullable().describe("What is wanted, in short."),
    domain,
    category,
    ask_kind: z.enum(ASK_KINDS).nullable().describe("What kind of ask it is; null if the text is not clear."),
    criteria,
    created_at: timestamp.describe("When it was created."),
    updated_at: timestamp.describe("When it was last changed."),
  })
  .meta({ id: "Ask", description: "An ask as its owner sees it." });

/** A page of asks. */
export const askList = z
  .object({ results: z.array(ask).max(50).describe("The asks, newest first."), page })
  .meta({ id: "AskList", description: "A page of asks." });
/** The query parameters of GET /v1/asks. */
export const askListQuery = z.object({
  status: z.enum(ASK_STATUSES).optional().describe("Only asks with this status."),
  limit: pageSize,
  cursor: cursor.optional(),
});

const match = z
  .object({
    first_matched_at: timestamp.describe("When the offer first matched."),
    reasons: z
      .array(
        z
          .object({
            criterion: z
              .enum(["kind", "category", "keywords", "price", "location", "condition", "exclude", "must", "attributes"])
              .describe("What is compared."),
            verdict: z.enum(["met", "violated", "unknown"]).describe("Whether the offer is as wanted."),
            wanted: z.unknown().describe("What the ask wants."),
            found: z.unknown().describe("What the offer says."),
          })
          .meta({ id: "MatchReason", description: "The verdict on one criterion." }),
      )
      .max(9)
      .describe("The verdict on each criterion."),
  })
  .meta({ id: "Match", description: "Why the offer matches." });

/** A page of the offers that match an ask. */
export const askMatches = z
  .object({
    ask_id: id.describe("The ask."),
    status: z.enum(ASK_STATUSES).describe("The status of the ask."),
    watch_enabled: watchEnabled,
    results: z
      .array(
        z.object({ ...searchResult.shape, match }).meta({ id: "MatchedOffer", description: "An offer that matches." }),
      )
      .max(50)
      .describe("The offers, best first."),
    since: words(1000, "Send it as `since` later to get only what has matched after this answer."),
    page,
    next,
    notices: notices.optional().describe("What to know about these offers, if some address agents."),
  })
  .meta({ id: "AskMatches", description: "A page of the offers that match an ask." });
/** The query parameters of GET /v1/asks/{id}/matches. */
export const matchesQuery = z.object({
  since: text().max(1000).optional().describe("The since of an earlier answer."),
  limit: pageSize,
  cursor: cursor.optional(),
});
