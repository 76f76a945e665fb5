import { z } from "zod";
import { EVENT_TYPES } from "../../base/enums.ts";
import { count, id, int32, next, text, timestamp, url, words } from "./values.ts";

/** The schemas of webhooks. */

/** An address as the URL standard writes it: scheme and host in lower case, no usual port, a path. Others stay as sent. */
const normalAddress = (value: string): string => URL.parse(value)?.href.replace(/#$/, "") ?? value;

const types = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .max(EVENT_TYPES.length)
  .describe("The types of events to send. Absent: all.");

/** The body of POST /v1/webhooks. */
export const webhookCreate = z.object({
  url: text()
    .overwrite(normalAddress)
    .max(2048)
    .refine((value) => URL.canParse(value), {
      message: "The url must be a whole https address, such as https://example.com/souk.",
      abort: true,
    })
    .refine((value) => !/^[^/]*\/\/[^/?#]*@/.test(value), {
      message: "The url may have no user and no password. Put what the receiver needs into the path or the query.",
    })
    .refine((value) => !value.includes("#"), { message: "The url may have no fragment: leave out # and what follows." })
    .describe("Where to send the events: an https address of a public host. Redirects are not followed."),
  types: types.optional(),
});

const webhookMembers = {
  id,
  url,
  types: types.optional(),
  status: z
    .enum(["unverified", "active", "disabled"])
    .describe(
      "unverified: the receiver has not answered a challenge, so it gets no events. active: it gets them. disabled: the market stopped.",
    ),
  created_at: timestamp,
  verified_at: timestamp.describe("When the receiver answered a challenge.").optional(),
  resume_at: timestamp
    .describe("Until then nothing is sent: the receiver asked for it, or a limit of the hour is used up. It waits.")
    .optional(),
  disabled_at: timestamp.describe("When the market stopped sending.").optional(),
  disabled_reason: z
    .enum(["gone", "failed"])
    .describe("gone: the receiver answered 410; failed: the last of ten attempts failed.")
    .optional(),
};

/** The answer of POST /v1/webhooks. */
export const newWebhook = z
  .object({
    ...webhookMembers,
    secret: words(60, "The secret that verifies signatures (Standard Webhooks). It is shown only now: keep it."),
    next,
  })
  .meta({ id: "NewWebhook", description: "A new webhook, with its secret." });

const delivery = z
  .object({
    id: id.describe("The header webhook-id of every attempt."),
    types: z
      .array(words(60, "A type of event, webhook.test or webhook.challenge."))
      .max(EVENT_TYPES.length)
      .describe("The types of its events."),
    events: int32(1, 100, "How many events it has."),
    status: z.enum(["waiting", "delivered", "failed"]).describe("What became of it so far."),
    created_at: timestamp,
    attempts: count,
    next_attempt_at: timestamp.describe("When it is sent next.").optional(),
    response_status: int32(100, 999, "The HTTP status of the last attempt.").optional(),
    error: words(300, "Why the last attempt failed.").optional(),
  })
  .meta({ id: "WebhookDelivery", description: "Events that were sent together, or will be." });

/** A webhook with its latest deliveries. */
export const webhook = z
  .object({
    ...webhookMembers,
    deliveries: z.array(delivery).max(20).describe("The latest of the last seven days, newest first."),
  })
  .meta({ id: "Webhook", description: "An address to which events are sent." });

/** The body of every request to a webhook. */
export const webhookRequest = z
  .object({
    events: z
      .array(
        z
          .object({
            id,
            type: words(60, "A type of event as in the feed, webhook.challenge or webhook.test."),
            occurred_at: timestamp,
            data: z
              .looseObject({
                challenge: words(64, "Of a challenge: the value to answer.").optional(),
                webhook_id: id.optional(),
              })
              .describe("As in the feed."),
          })
          .describe("An event as in the feed, a test or a challenge."),
      )
      .min(1)
      .max(100)
      .describe("The events, oldest first. A challenge or a test is the only one."),
  })
  .meta({ id: "WebhookRequest", description: "What is sent to a webhook." });

/** The answer to a challenge. */
export const challengeAnswer = z
  .object({ challenge: words(64, "The value of the challenge. After other events nothing is read.").optional() })
  .meta({ id: "ChallengeAnswer", description: "The answer of a webhook's receiver." });

/** An account's webhooks. */
export const webhookList = z
  .object({ webhooks: z.array(webhook).max(100).describe("The webhooks, oldest first.") })
  .meta({ id: "WebhookList", description: "The webhooks of the account." });
