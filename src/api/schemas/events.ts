import { z } from "zod";
import { EVENT_TYPES } from "../../base/enums.ts";
import { id, text, timestamp, waitSeconds, words } from "./values.ts";

/** The schemas of the feed of events. */

const PAGE = 100;
/** The longest cursor: two horizons of 500 characters (db/schema/internal/platform/horizon.sql), in base64. */
const CURSOR = 2000;

/** The query parameters of GET /v1/events. */
export const eventsQuery = z.object({
  after: text()
    .max(CURSOR)
    .optional()
    .describe(
      'The cursor of an earlier answer, or "now" for only what happens later. Absent: all of the last 30 days.',
    ),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE)
    .default(50)
    .describe("The most events in one answer.")
    .meta({ format: "int32" }),
  wait: waitSeconds.describe("How many seconds to wait for an event if there is none yet."),
});

const event = z
  .object({
    id,
    type: z.enum(EVENT_TYPES).describe("What happened."),
    occurred_at: timestamp,
    data: z
      .looseObject({
        ask_id: id.optional(),
        offer_id: id.optional(),
        verification_id: id.optional(),
        agent_id: id.optional(),
        webhook_id: id.optional(),
        conversation_id: id.optional(),
        message_id: id.optional(),
        proposal_id: id.optional(),
        agreement_id: id.optional(),
        confirmation_id: id.optional(),
        score: z.number().min(0).max(1).describe("How well the offer matches the ask.").optional(),
        reason: words(60, "The code of the reason.").optional(),
        decision: words(60, "What a moderator decided.").optional(),
        outcome: words(60, "How an appeal ended.").optional(),
        method: words(60, "The sign-in method.").optional(),
      })
      .describe("Ids and facts; which ones depends on the type."),
  })
  .meta({ id: "Event", description: "Something that happened to the account." });

/** A page of the feed. */
export const eventList = z
  .object({
    events: z.array(event).max(PAGE).describe("The events, oldest first."),
    cursor: words(CURSOR, "Send it as `after` to get what comes next."),
    has_more: z.boolean().describe("Whether there are more events already."),
  })
  .meta({ id: "EventList", description: "A page of the feed." });
