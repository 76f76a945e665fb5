import { UNKNOWN_BODY } from "../endpoint.ts";
import { endpointsOf } from "../entry.ts";
import { VERIFICATION } from "../examples.ts";
import { connect } from "../handlers/connect.ts";
import { answer } from "../handlers/plain.ts";
import * as shape from "../schemas/connection.ts";

/** The endpoints for connecting an agent, for its account, and for verifications of its person. */
export const CONNECTION_ENDPOINTS = endpointsOf("Connection", [
  {
    operationId: "connectAgent",
    call: "POST /v1/connect",
    summary: "Connect an agent",
    description:
      "Creates an agent: a token that searches and reads at once, and a link and a code by which a person approves it: they open the link, and pick the code among three. Each call makes another agent, so call it once and keep the token. With sandbox, it makes a test agent that needs no person.",
    auth: "none",
    handler: connect,
    args: ["members", "token_hash", "secret_hash", "code", "address", "connections_per_hour"],
    body: {
      schema: shape.connectRequest,
      required: false,
      maxBytes: UNKNOWN_BODY,
      example: { name: "Lena's assistant" },
    },
    answers: {
      201: {
        description: "The agent, its token and its connection link.",
        schema: shape.connectResponse,
        example: {
          agent_token: "agt_EXAMPLE",
          agent_id: "01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0d",
          connection: { url: "https://souk.example.com/connect/EXAMPLE", code: "KLMN-PQRS", expires_in: 1800 },
          summary: "Keep agent_token secret. Show the person you act for connection.url and connection.code together.",
        },
      },
    },
  },
  {
    operationId: "getMe",
    call: "GET /v1/me",
    summary: "Your situation",
    description: "Account, permissions, limits, open verifications, activity, and what to do next.",
    args: ["base_url", "link_key"],
    answers: {
      200: {
        description: "The situation.",
        schema: shape.me,
        example: {
          id: "01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0e",
          display_name: "",
          agent: { id: "01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0d", name: "Lena's assistant", connected: true },
          account: {
            connected: true,
            verified: [],
            available_methods: [],
            unavailable_methods: ["google", "apple", "email"],
            published_offers: 1,
            member_since: "2026-06-01T09:00:00.000Z",
            profile_url: "https://souk.example.com/settings",
          },
          permissions: { publish_offer: { allowed: true }, agree: { allowed: true, needs_confirmation: true } },
          limits: { publish_offer: { limit: 60, used: 1, remaining: 59, resets_in: 3120 } },
          pending_verifications: [],
          pending_confirmations: [],
          activity: { asks_active: 0, offers_published: 1, offers_pending_review: 0 },
          next: [
            { summary: "Publish what the person offers, in their own words.", method: "POST", path: "/v1/offers" },
          ],
        },
      },
    },
  },
  {
    operationId: "removeOwnAgent",
    call: "DELETE /v1/me/agent",
    summary: "Disconnect yourself",
    description: "Removes the calling agent. Its token is refused from this moment.",
    answers: { 204: { description: "Removed." } },
    problems: ["invalid_state"],
  },
  {
    operationId: "startVerification",
    call: "POST /v1/me/verifications",
    summary: "Ask the person to prove a sign-in method",
    description: "Gives a link for the person. Asking again while it is pending gives the same link.",
    handler: answer,
    args: ["members", "base_url", "link_key"],
    body: { schema: shape.verificationRequest, example: { method: "email" } },
    answers: {
      200: {
        description: "The one that is pending already, or completed.",
        schema: shape.verification,
        example: VERIFICATION,
      },
      201: { description: "A new verification.", schema: shape.verification, example: VERIFICATION },
    },
    problems: ["unknown_method", "invalid_state"],
  },
  {
    operationId: "getVerification",
    call: "GET /v1/me/verifications/{id}",
    summary: "One verification",
    description: "Read it until its status leaves pending.",
    args: ["base_url", "link_key"],
    answers: { 200: { description: "The verification.", schema: shape.verification, example: VERIFICATION } },
  },
]);
