import type { Request, Response } from "express";
import type { z } from "zod";
import type { LIMITED_ACTIONS } from "../base/enums.ts";
import type { Log } from "../base/log.ts";
import type { Answer, ProblemCode } from "../base/problem.ts";
import type { Actor, Arguments, Database } from "../database/database.ts";
import type { Notifications } from "../database/notifications.ts";
import type { Embedder, QueryExtraction } from "../reader/extraction.ts";
import type { WebhookSettings } from "../webhooks/settings.ts";
import type { Elsewhere, FieldError, Unknown } from "./members.ts";
import type { Figures } from "./rate_limit_headers.ts";

/** What handlers use besides the request. */
export type Context = {
  /** The whole table of endpoints, for the documents that describe it. */
  endpoints: readonly Endpoint[];
  database: Database;
  notifications: Notifications;
  /** The last known rate limit headers, for calls that are refused without asking the database. */
  figures: Figures;
  embedder: Embedder;
  /** Extracts kind, place, price and so on from a query; null (search by words only) until the vocabulary is loaded. */
  extractQuery: (query: string) => QueryExtraction | null;
  /** Leaves out of words what gives orders to software; null until the vocabulary is loaded. */
  withoutOrders: (words: string) => string | null;
  log: Log;
  baseUrl: () => string;
  connectionsPerHour: number;
  webhooks: WebhookSettings;
  extractionDeadlineMs: number;
  /** The time, by performance.now(), when requests must stop waiting for texts; Infinity until the process stops. */
  leaveBy: () => number;
  /** The interval in milliseconds at which to poll for a response if notifications do not arrive. */
  pollMs: number;
};

/** One request to an endpoint, parsed and checked before the database is called. */
export type Call = {
  endpoint: Endpoint;
  request: Request;
  response: Response;
  actor: Actor;
  /** The agent's token; null for a person in the browser, and for a visitor. */
  token: string | null;
  /** The checked path and query parameters, by name. An id in the path that is not a UUID is null, so it gets a 404. */
  parameters: Arguments;
  body: Record<string, unknown>;
  errors: FieldError[];
  /** Members and parameters that the endpoint does not have. They are ignored, and a refusal says what they mean. */
  unknown: Unknown[];
  idempotencyKey: string | null;
};

/** Answers a call. @throws Problem, or an error that `problemOf` understands */
export type Handler = (context: Context, call: Call) => Promise<Answer> | Answer;

/**
 * One entry of the table of endpoints: a method and path, the schemas of requests and responses, the handler, and the
 * SQL function with the rules. The router, GET /v1 and the OpenAPI document are made from the table, and tests compare
 * real responses with it.
 */
export type Endpoint = {
  operationId: string;
  method: "get" | "post" | "patch" | "delete";
  /** With {name} for path parameters. */
  path: string;
  summary: string;
  description: string;
  tag: "Connection" | "Offers" | "Asks" | "Conversations" | "Search" | "Events" | "About";
  /** "token": an agent by its token, or a person by the session of the browser. */
  auth: "none" | "token";
  handler: Handler;
  /** The name of the function in schema api; not set for documents that are made without the database. */
  function?: string;
  /** Arguments of the function besides path and query parameters: from the body, from arguments.ts or the handler. */
  args?: readonly ArgumentName[];
  /** The permission that the function checks. The HTTP layer has it checked when a request fails before that. */
  permission?: string;
  /** The rate limit in which the call counts. Its headers are in every response to a call that is counted. */
  rateLimit?: (typeof LIMITED_ACTIONS)[number];
  pathParameters?: z.ZodObject;
  query?: z.ZodObject;
  body?: { schema: z.ZodType; required: boolean; maxBytes: number; example: unknown };
  idempotent?: true;
  /** What callers often send as members that the body does not have. */
  elsewhere?: readonly Elsewhere[];
  /** The methods that callers try on the path above, or on this one, for what this endpoint does: DELETE to archive. */
  insteadOf?: readonly string[];
  answers: Record<number, { description: string; schema?: z.ZodType; example?: unknown }>;
  /** The endpoint's own problems. `problemCodesOf` adds the general ones. */
  problems: readonly ProblemCode[];
  /** The response is the same for everybody for some minutes. Others are not kept at all. */
  cache?: "public";
};

/** An argument that an endpoint may list. "members" stands for one argument for each member of the body. */
export type ArgumentName =
  | "members"
  | "body"
  | "request"
  | "base_url"
  | "link_key"
  | "idempotency_key"
  | "request_hash"
  | "errors"
  // Made by handlers/search.ts.
  | "extraction"
  | "embedding"
  | "model"
  | "notices"
  // Made by handlers/connect.ts.
  | "token_hash"
  | "secret_hash"
  | "code"
  | "address"
  | "connections_per_hour"
  // Made by handlers/create_webhook.ts.
  | "encrypted_secret"
  | "private_allowed";

/** The cap for any body: 1 MB, in bytes. */
export const ANY_BODY = 1024 * 1024;
/** The cap for an offer's body: 256 KB, in bytes. */
export const OFFER_BODY = 256 * 1024;
/**
 * The cap for unknown callers' bodies, in bytes: anybody can send many at once, and parsing takes processor time before
 * the caller has a turn. It has room for the longest name and description of an agent.
 */
export const UNKNOWN_BODY = 16 * 1024;

/** Returns the codes of all problems of an endpoint: its own, and those of what all endpoints have. */
export const problemCodesOf = (endpoint: Endpoint): ProblemCode[] => [
  // A URL that cannot be decoded is a bad request at every path.
  "bad_request",
  ...(endpoint.auth === "token" ? (["unauthorized"] as const) : []),
  ...(endpoint.body ? (["payload_too_large", "unsupported_media_type"] as const) : []),
  ...(endpoint.permission ? (["verification_required", "power_required"] as const) : []),
  ...(endpoint.pathParameters ? (["not_found"] as const) : []),
  ...(endpoint.idempotent ? (["idempotency_key_reused", "idempotency_in_flight"] as const) : []),
  ...endpoint.problems,
  // A caller may have too many open calls that need the database.
  ...(endpoint.function === undefined ? [] : (["rate_limited", "internal_error", "service_unavailable"] as const)),
];
