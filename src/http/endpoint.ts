import type { Request, Response } from "express";
import type { z } from "zod";
import type { Actor, Arguments, Database } from "../database/database.ts";
import type { LIMITED_ACTIONS } from "../database/enums.ts";
import type { Log } from "../log.ts";
import type { Embedder, QueryExtraction } from "../reader/extraction.ts";
import type { Answer, ProblemCode } from "./problem.ts";
import type { SubmissionListener } from "./submission_listener.ts";

/** What handling a request needs beside the request. */
export type Context = {
  /** The whole table: documents describe it. */
  endpoints: readonly Endpoint[];
  database: Database;
  submissions: SubmissionListener;
  embedder: Embedder;
  /** What a query says beside the thing it looks for; null before the vocabulary has been loaded: then words alone rank. */
  extractQuery: (query: string) => QueryExtraction | null;
  log: Log;
  baseUrl: () => string;
  connectionsPerHour: number;
  extractionDeadlineMs: number;
  /** When waiting for texts has to end because the process stops, as performance.now() counts; Infinity while it runs. */
  leaveBy: () => number;
  /** How often to ask for an answer when no notification says that it is there, in milliseconds. */
  pollMs: number;
};

/** What is wrong with one member of a request. */
export type FieldError = { pointer: string; detail: string };

/** One request to an endpoint, with what is known of it before the database is asked. */
export type Call = {
  endpoint: Endpoint;
  request: Request;
  response: Response;
  actor: Actor;
  /** null for a person in the browser, and for a visitor. */
  token: string | null;
  /** Checked path and query parameters, by name; a path id that is no UUID is null, and is then not found. */
  parameters: Arguments;
  body: Record<string, unknown>;
  errors: FieldError[];
  idempotencyKey: string | null;
};

/** Answers a call. @throws Problem, or an error that `problemOf` understands */
export type Handler = (context: Context, call: Call) => Promise<Answer> | Answer;

/**
 * One entry of the table of endpoints: what serves a request, what describes it (GET /v1, the OpenAPI document) and what
 * tests compare real answers with. An endpoint is a path, its shapes, the handler that answers, and the SQL function that
 * has its rules.
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
  handler: Handler;
  /** The function in schema api; none for documents made here. */
  function?: string;
  /** Arguments of the function beside path and query parameters: the members of the body, or what arguments.ts makes. */
  args?: readonly ArgumentName[];
  /** What a caller without it is refused for; checked by the function, named here for requests that never reach it. */
  permission?: string;
  /** Whose window the call counts in: its headers are on every answer. */
  limit?: (typeof LIMITED_ACTIONS)[number];
  pathParameters?: z.ZodObject;
  query?: z.ZodObject;
  body?: { schema: z.ZodType; required: boolean; limit: number; example: unknown };
  idempotent?: true;
  answers: Record<number, { description: string; schema?: z.ZodType; example?: unknown }>;
  /** Problems of its own, beside those that `problemCodesOf` adds. */
  problems: readonly ProblemCode[];
  cache?: "public" | "no-store";
};

/** An argument that the endpoint names; "members" stands for each member of the body. */
export type ArgumentName =
  | "members"
  | "body"
  | "request"
  | "base_url"
  | "link_key"
  | "idempotency_key"
  | "request_hash"
  | "errors"
  // Of searches, from handlers/search.ts.
  | "extraction"
  | "embedding"
  | "model"
  | "notices"
  // Of connecting, from handlers/connect.ts.
  | "token_hash"
  | "secret_hash"
  | "code"
  | "address"
  | "connections_per_hour";

/** The contract's cap for any body: 1 MB, in bytes. */
export const ANY_BODY = 1024 * 1024;
/** The contract's cap for an offer's body: 256 KB, in bytes. */
export const OFFER_BODY = 256 * 1024;

/** What an endpoint can answer instead of what it is for: its own problems, and those of its auth, its body and the database. */
export const problemCodesOf = (endpoint: Endpoint): ProblemCode[] => [
  // Any address may be one that cannot be decoded.
  "bad_request",
  ...(endpoint.auth === "token" ? (["unauthorized"] as const) : []),
  ...(endpoint.body ? (["payload_too_large", "unsupported_media_type"] as const) : []),
  ...endpoint.problems,
  ...(endpoint.function === undefined ? [] : (["internal_error", "service_unavailable"] as const)),
];
