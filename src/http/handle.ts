import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Request, Response } from "express";
import pgvector from "pgvector";
import { z } from "zod";
import type { Actor, Arguments, Database } from "../database/database.ts";
import type { Log } from "../log.ts";
import type { Embedder, QueryReading } from "../reader/extraction.ts";
import { addressOf } from "./address.ts";
import { readJsonBody } from "./body.ts";
import { isFromOwnPage, readCookie, SESSION_COOKIE } from "./cookies.ts";
import type { Endpoint } from "./endpoints.ts";
import { isId } from "./ids.ts";
import { type Answer, isConnectionLost, isUnavailable, type Refusal, refuse, toRefusal } from "./problem.ts";
import { hashSecret, isToken, linkKey, newCode, newSecret, newToken } from "./tokens.ts";
import type { Waiting } from "./waiting.ts";

/** What handling a request needs beside the request. */
export type Context = {
  database: Database;
  waiting: Waiting;
  embedder: Embedder;
  /** What a query says beside the thing it looks for; null before the vocabulary has been loaded: then words alone rank. */
  readQuery: (query: string) => QueryReading | null;
  log: Log;
  baseUrl: () => string;
  connectionsPerHour: number;
  extractionDeadlineMs: number;
  /** When waiting for texts has to end because the process stops, as performance.now() counts; Infinity while it runs. */
  leaveBy: () => number;
  /** How often to ask for an answer when no notification says that it is there, in milliseconds. */
  pollMs: number;
};

type FieldError = { pointer: string; detail: string };

/** Query parameters whose names are reserved words in SQL, so that the arguments of functions are called otherwise. */
const ARGUMENTS: Readonly<Record<string, string>> = { limit: "page_size" };

/** What the edge knows of a request before the database is asked. */
type Parsed = {
  actor: Actor;
  token: string | null;
  /** Checked path and query parameters, by name; a path id that is no UUID is null, and is then not found. */
  parameters: Arguments;
  body: Record<string, unknown>;
  errors: FieldError[];
  idempotencyKey: string | null;
};

/** The contract: 1 to 255 characters of printable ASCII. */
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;
/** While notifications arrive, answers are asked for only in case that one is lost, or that the process has to stop. */
const LISTENING_POLL_MS = 1_000;
/** A search waits this long for its query's vector before it answers by words. */
const QUERY_EMBEDDING_MS = 1_500;

const JSON_TYPE = "application/json; charset=utf-8";

const EXPECTED: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

/** What is wrong with a member, fit to be read aloud: the schema's own words where it has some, else made from the issue. */
const sayWrong = (issue: z.core.$ZodIssue): string => {
  const name = issue.path.join(".");
  if (!/^(Invalid|Too |Unrecognized)/.test(issue.message)) return issue.message;
  if (issue.code === "invalid_type") {
    if (issue.message.endsWith("received undefined")) return `The member ${name} is missing.`;
    return `The member ${name} must be ${EXPECTED[issue.expected] ?? issue.expected}.`;
  }
  if (issue.code === "invalid_value") return `The member ${name} must be one of: ${issue.values.join(", ")}.`;
  if (issue.code === "too_big") return `The member ${name} may be at most ${issue.maximum}${sizeOf(issue.origin)}.`;
  if (issue.code === "too_small") return `The member ${name} must be at least ${issue.minimum}${sizeOf(issue.origin)}.`;
  return `The member ${name} cannot be used.`;
};

const sizeOf = (origin: string): string =>
  origin === "string" ? " characters long" : origin === "array" ? " entries long" : "";

const toFieldErrors = (error: z.ZodError): FieldError[] =>
  error.issues.slice(0, 20).map((issue) => ({
    pointer: issue.path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
    detail: sayWrong(issue),
  }));

/** The person whose session the browser sent, or null. Only our own pages may change anything by it. */
const personOf = (request: Request, baseUrl: string): Actor | null => {
  const session = readCookie(request, baseUrl, SESSION_COOKIE);
  if (session === null) return null;
  if (request.method !== "GET" && request.method !== "HEAD" && !isFromOwnPage(request, baseUrl)) {
    throw refuse(
      "unauthorized",
      `A session changes something only from a page of this service, and this request did not come from one: its Origin is not ${new URL(baseUrl).origin}. A program sends Authorization: Bearer with its token instead.`,
    );
  }
  return { person: hashSecret(session) };
};

/**
 * The caller of an endpoint that needs one: the agent of the token, or without a token the person of the session. What
 * cannot be a token is refused without asking the database.
 */
const authenticate = (request: Request, baseUrl: string): { actor: Actor; token: string | null } => {
  if (request.headers.authorization === undefined) {
    const person = personOf(request, baseUrl);
    if (person !== null) return { actor: person, token: null };
  }
  const [scheme, token, ...rest] = (request.headers.authorization ?? "").split(" ");
  if (!scheme) {
    throw refuse(
      "unauthorized",
      "Send the header Authorization: Bearer with the token that POST /v1/connect returned.",
    );
  }
  if (scheme.toLowerCase() !== "bearer" || !token || rest.length > 0 || !isToken(token)) {
    throw refuse(
      "unauthorized",
      "This is not a token of this service. Send Authorization: Bearer with the agent_token exactly as POST /v1/connect returned it.",
    );
  }
  return { actor: { agent: hashSecret(token) }, token };
};

/**
 * What stands in the way of a request that failed before its function could run: who is calling, whether it may, and its
 * rate headers. When the database cannot be asked, the failure itself is the answer.
 */
const refuseUnread = async (context: Context, endpoint: Endpoint, actor: Actor, failure: Refusal): Promise<Refusal> => {
  if (actor === "visitor") return failure;
  try {
    const headers = await context.database.call(actor, "check_call", {
      permission: endpoint.permission ?? null,
      action: endpoint.limit ?? null,
    });
    return { ...failure, headers: { ...failure.headers, ...JSON.parse(headers) } };
  } catch (error) {
    return isUnavailable(error) ? failure : toRefusal(error);
  }
};

const parse = async (
  endpoint: Endpoint,
  actor: Actor,
  token: string | null,
  request: Request,
  response: Response,
): Promise<Parsed> => {
  const body = endpoint.body ? await readJsonBody(request, response, endpoint.body.limit) : undefined;
  if (endpoint.body?.required && body === undefined) {
    throw refuse("bad_request", "The request has no body. Send a JSON object.");
  }
  const key = endpoint.idempotent ? request.headers["idempotency-key"] : undefined;
  if (key !== undefined && (typeof key !== "string" || !IDEMPOTENCY_KEY.test(key))) {
    throw refuse("bad_request", "An Idempotency-Key has 1 to 255 characters of printable ASCII.");
  }
  const parameters: Arguments = {};
  for (const name of Object.keys(endpoint.pathParameters?.shape ?? {})) {
    const value = request.params[name];
    parameters[name] = isId(value) ? value : null;
  }
  const errors: FieldError[] = [];
  if (endpoint.query) {
    const query = endpoint.query.safeParse(request.query);
    for (const name of Object.keys(endpoint.query.shape)) {
      parameters[ARGUMENTS[name] ?? name] = (query.data?.[name] as Arguments[string] | undefined) ?? null;
    }
    if (query.error) errors.push(...toFieldErrors(query.error));
  }
  const checked = endpoint.body?.schema.safeParse(body ?? {});
  if (checked?.error) errors.push(...toFieldErrors(checked.error));
  return {
    actor,
    token,
    parameters,
    // Only members that the contract knows go on, so that nothing strange reaches the database.
    body: checked?.success ? (checked.data as Record<string, unknown>) : {},
    errors,
    idempotencyKey: key ?? null,
  };
};

/** The same request in other bytes is the same request: what counts is what was understood of it. */
const requestHash = (endpoint: Endpoint, { body, errors }: Parsed): Buffer =>
  createHash("sha256")
    .update(`${endpoint.method} ${endpoint.path} ${JSON.stringify(errors.length > 0 ? errors : body)}`)
    .digest();

const argumentsOf = (context: Context, endpoint: Endpoint, parsed: Parsed): Arguments => {
  const args: Arguments = { ...parsed.parameters };
  for (const name of endpoint.args ?? []) {
    if (name === "members") {
      const members = endpoint.body?.schema instanceof z.ZodObject ? Object.keys(endpoint.body.schema.shape) : [];
      for (const member of members) args[member] = (parsed.body[member] as Arguments[string] | undefined) ?? null;
    } else {
      args[name] = {
        body: () => parsed.body,
        request: () => parsed.body,
        base_url: () => context.baseUrl(),
        link_key: () => (parsed.token === null ? null : linkKey(parsed.token)),
        idempotency_key: () => parsed.idempotencyKey,
        request_hash: () => requestHash(endpoint, parsed),
        errors: () => JSON.stringify(parsed.errors),
      }[name]();
    }
  }
  return args;
};

type Envelope = {
  status?: number;
  headers?: Record<string, string | number>;
  body?: Record<string, unknown>;
  submission?: string;
};

/** The text was or may have been admitted, and then the database could not be reached to hear what became of it. */
const UNKNOWN_OUTCOME = refuse(
  "service_unavailable",
  "The market could not be reached while the text was being read, so it is not known what became of it. Repeat the request with the same Idempotency-Key; without one, look at your list first.",
  { retry_after: 2 },
);

/** A function's own answer; a refusal that it stored (missing_contact) becomes a refusal again. */
const fromEnvelope = (envelope: Envelope, headers: Record<string, string | number>): Answer => {
  const { status, body = {} } = envelope;
  if (status === undefined) throw UNKNOWN_OUTCOME;
  if (status >= 400) {
    const { code, detail, ...members } = body as { code: Refusal["refused"]; detail: string };
    throw refuse(code, detail, members, headers);
  }
  return { status, headers: { ...headers, "Content-Type": JSON_TYPE }, body: JSON.stringify(body) };
};

/** Waits until the worker has read the text, or the deadline has passed and the database decides what then. */
const awaitAnswer = async (
  context: Context,
  actor: Actor,
  submission: string,
  gone: () => boolean,
): Promise<Envelope> => {
  const deadline = performance.now() + context.extractionDeadlineMs;
  for (;;) {
    const left = Math.min(deadline, context.leaveBy()) - performance.now();
    if (left <= 0) break;
    await context.waiting.next(
      submission,
      Math.min(context.waiting.listens() ? LISTENING_POLL_MS : context.pollMs, left),
    );
    // Whoever hung up is not waited for; the text is read all the same, and a key replays.
    if (gone()) throw refuse("service_unavailable", "The client hung up.");
    try {
      const answer = JSON.parse(
        await context.database.call(actor, "get_answer", { submission_id: submission }),
      ) as Envelope;
      if (answer.status !== undefined) return answer;
    } catch (error) {
      // A restart of the database while a text is read: the answer may be there when it is back.
      if (!isUnavailable(error)) throw error;
    }
  }
  return JSON.parse(
    await context.database.call(actor, "withdraw_submission", { submission_id: submission }),
  ) as Envelope;
};

const submit = async (context: Context, endpoint: Endpoint, parsed: Parsed, response: Response): Promise<Answer> => {
  const admitted = JSON.parse(
    await context.database
      .call(parsed.actor, endpoint.call ?? "", argumentsOf(context, endpoint, parsed))
      .catch((error: unknown) => {
        // The connection may have been lost after the commit.
        throw isConnectionLost(error) ? UNKNOWN_OUTCOME : error;
      }),
  ) as Envelope;
  const headers = admitted.headers ?? {};
  if (admitted.submission === undefined) return fromEnvelope(admitted, headers);
  try {
    const answer = await awaitAnswer(context, parsed.actor, admitted.submission, () => response.destroyed);
    return fromEnvelope(answer, headers);
  } catch (error) {
    const refusal = isUnavailable(error) ? UNKNOWN_OUTCOME : toRefusal(error);
    throw { ...refusal, headers: { ...headers, ...refusal.headers } };
  }
};

type QueryVector = { embedding: string | null; notices: { code: string; summary: string }[] };

const byWords = (summary: string): QueryVector => ({ embedding: null, notices: [{ code: "lexical_only", summary }] });

/**
 * The vector of a query, or a notice why the search goes by words alone. A provider's vector is bought once and kept in
 * the database, which says who may have one bought; the built-in embedder costs nothing, and is asked at once.
 */
const embedQuery = async (context: Context, actor: Actor, query: unknown): Promise<QueryVector> => {
  if (typeof query !== "string" || query.trim() === "") return { embedding: null, notices: [] };
  const { embedder, database } = context;
  const words = query.normalize("NFC").trim();
  const kept = { query_hash: hashSecret(words), model: embedder.model };
  if (embedder.paid) {
    const found = JSON.parse(await database.call(actor, "find_query_embedding", kept, "read")) as {
      embedding: string | null;
      may_embed: boolean;
    };
    if (found.embedding !== null) return { embedding: found.embedding, notices: [] };
    if (!found.may_embed)
      return byWords("Searched by words only: meaning is compared once a person has approved this agent.");
  }
  try {
    const [vector] = await embedder.embed([words], AbortSignal.timeout(QUERY_EMBEDDING_MS));
    const embedding = vector ? pgvector.toSql(vector) : null;
    if (embedder.paid && embedding !== null) {
      // Not waited for: the answer does not depend on it.
      database.call(actor, "keep_query_embedding", { ...kept, embedding }).catch((error: unknown) => {
        context.log.warn({ err: error }, "a query's vector was not kept");
      });
    }
    return { embedding, notices: [] };
  } catch (error) {
    context.log.warn({ err: error }, "a query was not embedded");
    return byWords("Searched by words only: meaning could not be compared at the moment.");
  }
};

const connect = async (context: Context, endpoint: Endpoint, parsed: Parsed, request: Request): Promise<Answer> => {
  const token = newToken();
  const secret = newSecret();
  const created = JSON.parse(
    await context.database.call("visitor", endpoint.call ?? "", {
      name: (parsed.body["name"] as string | undefined) ?? null,
      token_hash: hashSecret(token),
      secret_hash: hashSecret(secret),
      code: newCode(),
      address: addressOf(request),
      connections_per_hour: context.connectionsPerHour,
    }),
  ) as { connection: object };
  const body = {
    agent_token: token,
    ...created,
    connection: { url: `${context.baseUrl()}/connect/${secret}`, ...created.connection },
  };
  return { status: 201, headers: { "Content-Type": JSON_TYPE }, body: JSON.stringify(body) };
};

/**
 * Answers one request to an endpoint of the table, but for documents, which need no database.
 * @throws Refusal, or an error that `toRefusal` understands
 */
export const handle = async (
  context: Context,
  endpoint: Endpoint,
  request: Request,
  response: Response,
): Promise<Answer> => {
  const { actor, token } =
    endpoint.auth === "token" ? authenticate(request, context.baseUrl()) : { actor: "visitor" as const, token: null };
  let parsed: Parsed;
  try {
    parsed = await parse(endpoint, actor, token, request, response);
    // Functions that take errors refuse by themselves, after the replay and the cap.
    if (parsed.errors.length > 0 && !endpoint.args?.includes("errors")) {
      const [first] = parsed.errors;
      throw refuse("bad_request", first ? first.detail : "The request cannot be used.", { errors: parsed.errors });
    }
  } catch (error) {
    throw await refuseUnread(context, endpoint, actor, toRefusal(error));
  }

  switch (endpoint.kind) {
    case "submit":
      return submit(context, endpoint, parsed, response);
    case "connect":
      return connect(context, endpoint, parsed, request);
    case "answer": {
      const envelope = await context.database.call(actor, endpoint.call ?? "", argumentsOf(context, endpoint, parsed));
      return fromEnvelope(JSON.parse(envelope) as Envelope, {});
    }
    default: {
      const args = argumentsOf(context, endpoint, parsed);
      if (endpoint.kind === "search") {
        const query = parsed.body["query"];
        const { embedding, notices } = await embedQuery(context, actor, query);
        const extraction = typeof query === "string" && query.trim() !== "" ? context.readQuery(query) : null;
        Object.assign(args, { extraction, embedding, model: context.embedder.model, notices: JSON.stringify(notices) });
      }
      const body = await context.database.call(
        actor,
        endpoint.call ?? "",
        args,
        endpoint.kind === "write" ? "write" : "read",
      );
      const [status = 200] = Object.keys(endpoint.answers).map(Number);
      return status === 204
        ? { status, headers: {}, body: null }
        : { status, headers: { "Content-Type": JSON_TYPE }, body };
    }
  }
};
