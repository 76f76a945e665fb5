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
const WITH_DELIVERY = {
  ...WEBHOOK,
  deliveries: [
    {
      event_id: "01981d0e-7a00-7000-8000-000000000022",
      type: "webhook.test",
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
      "The market sends each event of the account to the address, signed as Standard Webhooks says, until the receiver answers with a status 200 to 299; ten attempts in three days. Keep `secret`: no other answer shows it. An account has at most 5. Counts in the limit `manage`.",
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
        example: { ...WEBHOOK, secret: "whsec_EXAMPLE" },
      },
    },
    problems: ["invalid_state"],
  },
  {
    operationId: "listWebhooks",
    call: "GET /v1/webhooks",
    summary: "The account's webhooks",
    description: "Each with its latest deliveries: what was sent, what waits, and why an attempt failed.",
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
