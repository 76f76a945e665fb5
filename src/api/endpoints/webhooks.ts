import { endpointsOf } from "../entry.ts";
import { createWebhook } from "../handlers/create_webhook.ts";
import { answer } from "../handlers/plain.ts";
import * as shape from "../schemas/webhooks.ts";

const WEBHOOK = {
  id: "01981d0e-7a00-7000-8000-000000000021",
  url: "https://agent.example.com/souk",
  types: ["match.created" as const],
  created_at: "2026-06-01T10:00:00.000Z",
};
const CHALLENGE = `/v1/webhooks/${WEBHOOK.id}/challenge`;
const WITH_DELIVERY = {
  ...WEBHOOK,
  status: "active" as const,
  verified_at: "2026-06-01T10:01:00.000Z",
  deliveries: [
    {
      id: "01981d0e-7a00-7000-8000-000000000022",
      types: ["webhook.test"],
      events: 1,
      status: "waiting" as const,
      created_at: "2026-06-01T10:05:00.000Z",
      attempts: 0,
      next_attempt_at: "2026-06-01T10:05:00.000Z",
    },
  ],
};

/** The endpoints of webhooks. */
export const WEBHOOKS_ENDPOINTS = endpointsOf("Events", [
  {
    operationId: "createWebhook",
    call: "POST /v1/webhooks",
    summary: "Have events sent to an address",
    description:
      'The market sends the address an event `webhook.challenge`. When the receiver has answered it with a status 200 to 299 and its value, as `{"challenge": "..."}`, the webhook is active: the account\'s later events are sent to it, signed as Standard Webhooks says, until the receiver answers with a status 200 to 299; ten attempts in three days. Keep `secret`: no other answer shows it. An account has at most 5, and a sandbox 1. Counts in the limit `manage`.',
    handler: createWebhook,
    args: ["members", "encrypted_secret", "private_allowed"],
    permission: "manage_webhooks",
    body: {
      schema: shape.webhookCreate,
      example: { url: WEBHOOK.url, types: WEBHOOK.types },
    },
    answers: {
      201: {
        description: "The webhook and its secret.",
        schema: shape.newWebhook,
        example: {
          ...WEBHOOK,
          status: "unverified",
          secret: "whsec_EXAMPLE",
          next: [
            { summary: "See whether the receiver has answered the challenge.", method: "GET", path: "/v1/webhooks" },
            { summary: "Send the challenge again.", method: "POST", path: CHALLENGE },
          ],
        },
      },
    },
    problems: ["invalid_state"],
  },
  {
    operationId: "listWebhooks",
    call: "GET /v1/webhooks",
    summary: "The account's webhooks",
    description:
      "Each with its latest deliveries: what was sent, what waits, and why an attempt failed. Of one that another agent or the person added, url has only the scheme and the host.",
    answers: {
      200: { description: "The webhooks.", schema: shape.webhookList, example: { webhooks: [WITH_DELIVERY] } },
    },
  },
  {
    operationId: "deleteWebhook",
    call: "DELETE /v1/webhooks/{id}",
    summary: "Delete a webhook",
    description: "Nothing more is sent to it, also what waits.",
    permission: "manage_webhooks",
    answers: { 204: { description: "Deleted." } },
  },
  {
    operationId: "challengeWebhook",
    call: "POST /v1/webhooks/{id}/challenge",
    summary: "Send the challenge again",
    description:
      "For a webhook that is unverified, if its receiver was not ready for the challenge of POST /v1/webhooks. At most 10 challenges an hour for an account, and 60 for a receiving host. Counts in the limit `manage`.",
    handler: answer,
    permission: "manage_webhooks",
    answers: {
      202: {
        description: "The challenge is queued.",
        schema: shape.webhook,
        example: {
          ...WEBHOOK,
          status: "unverified",
          deliveries: WITH_DELIVERY.deliveries.map((delivery) => ({ ...delivery, types: ["webhook.challenge"] })),
        },
      },
    },
    problems: ["invalid_state"],
  },
  {
    operationId: "testWebhook",
    call: "POST /v1/webhooks/{id}/test",
    summary: "Send a test event",
    description:
      "Sends an event of the type webhook.test, once. GET /v1/webhooks shows a moment later what became of it. Counts in the limit `manage`.",
    handler: answer,
    permission: "manage_webhooks",
    answers: { 202: { description: "The test event is queued.", schema: shape.webhook, example: WITH_DELIVERY } },
    problems: ["invalid_state"],
  },
]);
