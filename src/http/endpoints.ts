import type { z } from "zod";
import type { LIMITED_ACTIONS } from "../database/enums.ts";
import {
  ASK_ID,
  ASKED,
  SOFA,
  SOFA_ID,
  SOFA_LISTING,
  SOFA_OWNED,
  SOFA_REMOVED,
  SOFA_UNDERSTOOD,
  VERIFICATION,
  WANTED,
} from "./examples.ts";
import type { ProblemCode } from "./problem.ts";
import * as shape from "./schemas.ts";

/**
 * The table of endpoints: what serves a request, what describes it (GET /v1, the OpenAPI document) and what a test holds
 * real answers against. An endpoint is a path, its shapes, and the SQL function of the same name that holds its rules.
 *
 *   read      runs the function on the read pool; its jsonb is the body
 *   write     runs it on the write pool; its jsonb is the body
 *   answer    like write, but the function says status, headers and body itself
 *   submit    takes a text: the function admits it, the worker reads it, and the answer is the submission's
 *   search    embeds the query, then reads
 *   connect   makes the secrets of a new agent, then writes
 *   document  made once, here, and served with an ETag
 */
export type Endpoint = {
  operationId: string;
  method: "get" | "post" | "patch" | "delete";
  /** With {name} for path parameters. */
  path: string;
  summary: string;
  description: string;
  tag: "Connection" | "Offers" | "Asks" | "Search" | "About";
  /** "token": an agent by its token, or a person by the session of the browser. */
  auth: "none" | "token";
  kind: "read" | "write" | "answer" | "submit" | "search" | "connect" | "document";
  /** The function in schema api; none for documents made here. */
  call?: string;
  /** Arguments of the function beside path and query parameters: the body, its members, or what the edge knows. */
  args?: readonly (
    | "body"
    | "members"
    | "request"
    | "base_url"
    | "link_key"
    | "idempotency_key"
    | "request_hash"
    | "errors"
  )[];
  /** What a caller without it is refused for; checked by the function, named here for requests that never reach it. */
  permission?: string;
  /** Whose window the call counts in: its headers are on every answer. */
  limit?: (typeof LIMITED_ACTIONS)[number];
  pathParameters?: z.ZodObject;
  query?: z.ZodObject;
  body?: { schema: z.ZodType; required: boolean; limit: number; example: unknown };
  idempotent?: true;
  answers: Record<number, { description: string; schema?: z.ZodType; example?: unknown }>;
  /** Refusals of its own, beside those that every endpoint of its kind has. */
  problems: readonly ProblemCode[];
  cache?: "public" | "no-store";
};

/** 1 MB, as the contract says, for any body; 256 KB for an offer's. */
const ANY_BODY = 1024 * 1024;
const OFFER_BODY = 256 * 1024;

const ID = shape.idPath("id");

export const ENDPOINTS: readonly Endpoint[] = [
  {
    operationId: "getIndex",
    method: "get",
    path: "/v1",
    summary: "Index of the API",
    description: "What there is, for a machine that has just arrived.",
    tag: "About",
    auth: "none",
    kind: "document",
    answers: { 200: { description: "The index.", schema: shape.index } },
    problems: [],
    cache: "public",
  },
  {
    operationId: "getOpenApi",
    method: "get",
    path: "/v1/openapi.json",
    summary: "OpenAPI document",
    description: "The authoritative description of this API, made from the table that serves it.",
    tag: "About",
    auth: "none",
    kind: "document",
    answers: { 200: { description: "The document.", schema: shape.openApiDocument } },
    problems: [],
    cache: "public",
  },
  {
    operationId: "getTaxonomy",
    method: "get",
    path: "/v1/taxonomy",
    summary: "Domains, categories and kinds",
    description: "The vocabulary of classifications and filters, and which kinds of offer answer which kinds of ask.",
    tag: "About",
    auth: "none",
    kind: "read",
    call: "get_taxonomy",
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
    problems: [],
    cache: "public",
  },
  {
    operationId: "connectAgent",
    method: "post",
    path: "/v1/connect",
    summary: "Connect an agent",
    description:
      "Creates an agent: a token that searches and reads at once, and a link by which a person approves it. Each call makes another agent, so call it once and keep the token.",
    tag: "Connection",
    auth: "none",
    kind: "connect",
    call: "connect_agent",
    body: { schema: shape.connectRequest, required: false, limit: ANY_BODY, example: { name: "Lena's assistant" } },
    answers: {
      201: {
        description: "The agent, its token and its connection link.",
        schema: shape.connectResponse,
        example: {
          agent_token: "agt_EXAMPLE",
          agent_id: "01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0d",
          connection: { url: "https://souk.example.com/connect/EXAMPLE", code: "KLMN-PQRS", expires_in: 1800 },
          summary: "Keep agent_token secret. Give connection.url to the person you act for and tell them the code.",
        },
      },
    },
    problems: ["rate_limited"],
    cache: "no-store",
  },
  {
    operationId: "getMe",
    method: "get",
    path: "/v1/me",
    summary: "Your situation",
    description: "Account, permissions, limits, open verifications, activity, and what to do next.",
    tag: "Connection",
    auth: "token",
    kind: "read",
    call: "get_me",
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
          permissions: { publish_offer: { allowed: true } },
          limits: { publish_offer: { limit: 60, used: 1, remaining: 59, resets_in: 3120 } },
          pending_verifications: [],
          activity: { asks_active: 0, offers_published: 1, offers_pending_review: 0 },
          next: [
            { summary: "Publish what the person offers, in their own words.", method: "POST", path: "/v1/offers" },
          ],
        },
      },
    },
    problems: [],
    cache: "no-store",
  },
  {
    operationId: "removeOwnAgent",
    method: "delete",
    path: "/v1/me/agent",
    summary: "Disconnect yourself",
    description: "Removes the calling agent. Its token is refused from this moment.",
    tag: "Connection",
    auth: "token",
    kind: "write",
    call: "remove_own_agent",
    answers: { 204: { description: "Removed." } },
    problems: ["invalid_state"],
    cache: "no-store",
  },
  {
    operationId: "startVerification",
    method: "post",
    path: "/v1/me/verifications",
    summary: "Ask the person to prove a sign-in method",
    description: "Gives a link for the person. Asking again while it is pending gives the same link.",
    tag: "Connection",
    auth: "token",
    kind: "answer",
    call: "start_verification",
    args: ["members", "base_url", "link_key"],
    body: { schema: shape.verificationRequest, required: true, limit: ANY_BODY, example: { method: "email" } },
    answers: {
      200: {
        description: "The one that is pending already, or completed.",
        schema: shape.verification,
        example: VERIFICATION,
      },
      201: { description: "A new verification.", schema: shape.verification, example: VERIFICATION },
    },
    problems: ["unknown_method", "invalid_state"],
    cache: "no-store",
  },
  {
    operationId: "getVerification",
    method: "get",
    path: "/v1/me/verifications/{id}",
    summary: "One verification",
    description: "Read it until its status leaves pending.",
    tag: "Connection",
    auth: "token",
    kind: "read",
    call: "get_verification",
    args: ["base_url", "link_key"],
    pathParameters: ID,
    answers: { 200: { description: "The verification.", schema: shape.verification, example: VERIFICATION } },
    problems: ["not_found"],
    cache: "no-store",
  },
  {
    operationId: "searchOffers",
    method: "post",
    path: "/v1/offers/search",
    summary: "Search offers",
    description: "By words and by meaning. Filters are hard, the rest ranks. A query, a filter, or both.",
    tag: "Search",
    auth: "token",
    kind: "search",
    call: "search_offers",
    args: ["request"],
    body: {
      schema: shape.search,
      required: true,
      limit: ANY_BODY,
      example: { query: "sofa", filters: { location: "Berlin", price: { max: 250, currency: "EUR" } } },
    },
    answers: {
      200: {
        description: "What is offered, best first.",
        schema: shape.searchResponse,
        example: {
          type: "results",
          query: "sofa",
          classification: null,
          results: [{ ...SOFA_LISTING, score: 0.98, rank: 1 }],
          page: { next_cursor: null, has_more: false },
          notices: [],
          next: [{ summary: "Read one offer in full.", method: "GET", path: `/v1/offers/${SOFA_ID}` }],
        },
      },
    },
    problems: [],
    cache: "no-store",
  },
  {
    operationId: "submitOffer",
    method: "post",
    path: "/v1/offers",
    summary: "Publish an offer",
    description:
      "From plain text: title, classification, price, place and contact are read from it, and nothing is published that it does not say. A 201 is final; an answer other than 201 means that nothing was or will be published.",
    tag: "Offers",
    auth: "token",
    kind: "submit",
    call: "publish_offer",
    args: ["body", "idempotency_key", "request_hash", "errors"],
    permission: "publish_offer",
    limit: "publish_offer",
    idempotent: true,
    body: { schema: shape.offerSubmission, required: true, limit: OFFER_BODY, example: SOFA },
    answers: {
      201: {
        description: "Published, and how it was understood.",
        schema: shape.offerPublished,
        example: { offer_id: SOFA_ID, status: "published", ...SOFA_UNDERSTOOD },
      },
    },
    problems: [
      "missing_contact",
      "verification_required",
      "idempotency_key_reused",
      "idempotency_in_flight",
      "rate_limited",
    ],
    cache: "no-store",
  },
  {
    operationId: "previewOffer",
    method: "post",
    path: "/v1/offers/preview",
    summary: "Preview an offer",
    description: "How a text would be understood, and what to ask the person. Nothing is published.",
    tag: "Offers",
    auth: "token",
    kind: "submit",
    call: "preview_offer",
    args: ["body", "errors"],
    limit: "preview_offer",
    body: { schema: shape.offerSubmission, required: true, limit: OFFER_BODY, example: SOFA },
    answers: {
      200: {
        description: "How the text would be understood.",
        schema: shape.offerPreview,
        example: { ...SOFA_UNDERSTOOD, questions: [] },
      },
    },
    problems: ["rate_limited"],
    cache: "no-store",
  },
  {
    operationId: "listOffers",
    method: "get",
    path: "/v1/offers",
    summary: "Your offers",
    description: "The account's own offers, newest first.",
    tag: "Offers",
    auth: "token",
    kind: "read",
    call: "list_offers",
    query: shape.offerListQuery,
    answers: {
      200: {
        description: "A page of offers.",
        schema: shape.offerList,
        example: { results: [SOFA_OWNED], page: { next_cursor: null, has_more: false } },
      },
    },
    problems: [],
    cache: "no-store",
  },
  {
    operationId: "getOffer",
    method: "get",
    path: "/v1/offers/{id}",
    summary: "One offer",
    description: "A published offer, for anyone; an unpublished one, for its owner.",
    tag: "Offers",
    auth: "token",
    kind: "read",
    call: "get_offer",
    pathParameters: ID,
    answers: {
      200: {
        description: "The offer.",
        schema: shape.offer,
        example: {
          ...SOFA_LISTING,
          status: "published",
          domain: "home_garden",
          category: "furniture",
          offer_kind: "sale",
          updated_at: "2026-06-01T09:30:00.000Z",
        },
      },
    },
    problems: ["not_found"],
    cache: "no-store",
  },
  {
    operationId: "updateOffer",
    method: "patch",
    path: "/v1/offers/{id}",
    summary: "Change an offer",
    description: "A new text or new images: read anew, under the same id. Counts as publishing.",
    tag: "Offers",
    auth: "token",
    kind: "submit",
    call: "update_offer",
    args: ["body", "errors"],
    permission: "manage_offers",
    limit: "publish_offer",
    pathParameters: ID,
    body: {
      schema: shape.offerPatch,
      required: true,
      limit: OFFER_BODY,
      example: { text: SOFA.text.replace("180", "150") },
    },
    answers: {
      200: {
        description: "Changed, and how it was understood.",
        schema: shape.offerPublished,
        example: { offer_id: SOFA_ID, status: "published", ...SOFA_UNDERSTOOD },
      },
    },
    problems: ["missing_contact", "verification_required", "not_found", "invalid_state", "rate_limited"],
    cache: "no-store",
  },
  {
    operationId: "archiveOffer",
    method: "post",
    path: "/v1/offers/{id}/archive",
    summary: "Take an offer down",
    description: "It leaves searches and matches at once. Doing it again changes nothing.",
    tag: "Offers",
    auth: "token",
    kind: "write",
    call: "archive_offer",
    permission: "manage_offers",
    pathParameters: ID,
    answers: { 200: { description: "The offer.", schema: shape.ownerOffer, example: SOFA_OWNED } },
    problems: ["verification_required", "not_found", "invalid_state"],
    cache: "no-store",
  },
  {
    operationId: "republishOffer",
    method: "post",
    path: "/v1/offers/{id}/republish",
    summary: "Put an offer up again",
    description: "Counts as publishing. Doing it again changes nothing.",
    tag: "Offers",
    auth: "token",
    kind: "write",
    call: "republish_offer",
    permission: "manage_offers",
    pathParameters: ID,
    answers: { 200: { description: "The offer.", schema: shape.ownerOffer, example: SOFA_OWNED } },
    problems: ["verification_required", "not_found", "invalid_state", "rate_limited"],
    cache: "no-store",
  },
  {
    operationId: "reportOffer",
    method: "post",
    path: "/v1/offers/{id}/report",
    summary: "Report an offer",
    description:
      "Puts an offer of somebody else before the moderators. Reporting it again before they have decided changes nothing.",
    tag: "Offers",
    auth: "token",
    kind: "write",
    call: "report_offer",
    args: ["members"],
    pathParameters: ID,
    body: {
      schema: shape.report,
      required: true,
      limit: ANY_BODY,
      example: { reason: "scam", comment: "Asks for payment before a viewing." },
    },
    answers: {
      200: {
        description: "Received.",
        schema: shape.reportReceived,
        example: { offer_id: SOFA_ID, status: "received", summary: "A moderator will look at this offer." },
      },
    },
    problems: ["not_found", "invalid_state"],
    cache: "no-store",
  },
  {
    operationId: "appealOffer",
    method: "post",
    path: "/v1/offers/{id}/appeal",
    summary: "Appeal against a removal",
    description:
      "Has another moderator look at an offer of yours that moderation took down, once. Read the offer later to see what was decided.",
    tag: "Offers",
    auth: "token",
    kind: "write",
    call: "appeal_offer",
    args: ["members"],
    permission: "manage_offers",
    pathParameters: ID,
    body: {
      schema: shape.appeal,
      required: false,
      limit: ANY_BODY,
      example: { comment: "The brand is named only to say what it fits." },
    },
    answers: {
      200: { description: "The offer, still removed.", schema: shape.ownerOffer, example: SOFA_REMOVED },
    },
    problems: ["verification_required", "not_found", "invalid_state"],
    cache: "no-store",
  },
  {
    operationId: "createAsk",
    method: "post",
    path: "/v1/asks",
    summary: "Create an ask",
    description: "States what the person wants. Offers that match are then read from its matches.",
    tag: "Asks",
    auth: "token",
    kind: "submit",
    call: "create_ask",
    args: ["body", "idempotency_key", "request_hash", "errors"],
    permission: "create_ask",
    limit: "create_ask",
    idempotent: true,
    body: { schema: shape.askCreate, required: true, limit: ANY_BODY, example: WANTED },
    answers: { 201: { description: "The ask, as understood.", schema: shape.ask, example: ASKED } },
    problems: ["verification_required", "idempotency_key_reused", "idempotency_in_flight", "rate_limited"],
    cache: "no-store",
  },
  {
    operationId: "listAsks",
    method: "get",
    path: "/v1/asks",
    summary: "Your asks",
    description: "The account's own asks, newest first.",
    tag: "Asks",
    auth: "token",
    kind: "read",
    call: "list_asks",
    query: shape.askListQuery,
    answers: {
      200: {
        description: "A page of asks.",
        schema: shape.askList,
        example: { results: [ASKED], page: { next_cursor: null, has_more: false } },
      },
    },
    problems: [],
    cache: "no-store",
  },
  {
    operationId: "getAsk",
    method: "get",
    path: "/v1/asks/{id}",
    summary: "One ask",
    description: "An ask of the account.",
    tag: "Asks",
    auth: "token",
    kind: "read",
    call: "get_ask",
    pathParameters: ID,
    answers: { 200: { description: "The ask.", schema: shape.ask, example: ASKED } },
    problems: ["not_found"],
    cache: "no-store",
  },
  {
    operationId: "updateAsk",
    method: "patch",
    path: "/v1/asks/{id}",
    summary: "Change an ask",
    description: "A new text is read anew and counts as a new ask's would; watch_enabled changes at once.",
    tag: "Asks",
    auth: "token",
    kind: "submit",
    call: "update_ask",
    args: ["body", "errors"],
    permission: "manage_asks",
    limit: "create_ask",
    pathParameters: ID,
    body: { schema: shape.askPatch, required: true, limit: ANY_BODY, example: { watch_enabled: false } },
    answers: { 200: { description: "The ask.", schema: shape.ask, example: ASKED } },
    problems: ["verification_required", "not_found", "rate_limited"],
    cache: "no-store",
  },
  ...(["archive", "fulfill", "reopen"] as const).map(
    (move): Endpoint => ({
      operationId: `${move}Ask`,
      method: "post",
      path: `/v1/asks/{id}/${move}`,
      summary: { archive: "Put an ask away", fulfill: "Mark an ask as answered", reopen: "Make an ask active again" }[
        move
      ],
      description: "Doing it again changes nothing.",
      tag: "Asks",
      auth: "token",
      kind: "write",
      call: `${move}_ask`,
      permission: "manage_asks",
      pathParameters: ID,
      answers: { 200: { description: "The ask.", schema: shape.ask, example: ASKED } },
      problems: ["verification_required", "not_found", "invalid_state"],
      cache: "no-store",
    }),
  ),
  {
    operationId: "listMatches",
    method: "get",
    path: "/v1/asks/{id}/matches",
    summary: "Offers that match an ask",
    description: "Best first, each with the reasons. With since: only what has matched after an earlier answer.",
    tag: "Asks",
    auth: "token",
    kind: "read",
    call: "list_matches",
    pathParameters: ID,
    query: shape.matchesQuery,
    answers: {
      200: {
        description: "The matches.",
        schema: shape.askMatches,
        example: {
          ask_id: ASK_ID,
          status: "active",
          watch_enabled: true,
          results: [
            {
              ...SOFA_LISTING,
              score: 0.9,
              rank: 1,
              match: {
                first_matched_at: "2026-06-01T10:00:00.000Z",
                reasons: [
                  {
                    criterion: "price",
                    verdict: "met",
                    wanted: { max: 250, currency: "EUR" },
                    found: "180 EUR",
                  },
                ],
              },
            },
          ],
          since: "eyJsaXN0IjoibWF0Y2hlcyJ9",
          page: { next_cursor: null, has_more: false },
          next: [{ summary: "Show the person what matches.", method: "POST", path: `/v1/asks/${ASK_ID}/fulfill` }],
        },
      },
    },
    problems: ["not_found"],
    cache: "no-store",
  },
];

/** Refusals an endpoint can give beside its own: by its auth and its body; and what any can, an address that cannot be decoded too. */
export const problemsOf = (endpoint: Endpoint): ProblemCode[] => [
  "bad_request",
  ...(endpoint.auth === "token" ? (["unauthorized"] as const) : []),
  ...(endpoint.body ? (["payload_too_large", "unsupported_media_type"] as const) : []),
  ...endpoint.problems,
  ...(endpoint.kind === "document" ? [] : (["internal_error", "service_unavailable"] as const)),
];
