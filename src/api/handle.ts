import type { Request, Response } from "express";
import { isId } from "../base/ids.ts";
import { type Answer, isUnavailable, type Problem, problem, problemOf } from "../base/problem.ts";
import { currentRequest } from "../base/request.ts";
import type { Actor, Arguments } from "../database/database.ts";
import { authenticate } from "../web/authenticate.ts";
import { mayExceed, readJsonBody, withoutNulls } from "../web/body.ts";
import { argumentOf } from "./arguments.ts";
import { type Call, type Context, type Endpoint, UNKNOWN_BODY } from "./endpoint.ts";
import { type FieldError, pathsOf, pointerOf, saidOf, type Unknown, unknownMembers } from "./members.ts";
import { stepTo } from "./next_steps.ts";
import { check } from "./validation.ts";

/** 1 to 255 characters of printable ASCII. */
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Returns the problem for a request that failed before its function was called. Like the function, it first reports an
 * unknown token or a missing permission. Otherwise it returns the failure with the rate limit headers (without them if
 * the database is unavailable).
 */
const problemBeforeCall = async (
  context: Context,
  endpoint: Endpoint,
  actor: Actor,
  failure: Problem,
): Promise<Problem> => {
  if (actor === "visitor") return failure;
  try {
    const headers = await context.database.call(actor, "check_call", {
      permission: endpoint.permission ?? null,
      action: endpoint.rateLimit ?? null,
    });
    return { ...failure, headers: { ...failure.headers, ...JSON.parse(headers) } };
  } catch (error) {
    return isUnavailable(error) ? failure : problemOf(error);
  }
};

/**
 * Adds the last known rate limit headers to a call that was refused, without asking the database, because its caller
 * has too many open. A token that the database has not accepted yet gets none, so that invented tokens cause no query.
 */
const withLastFigures = async (
  { database, figures }: Context,
  { rateLimit: action }: Endpoint,
  actor: Actor,
  failure: Problem,
): Promise<Problem> => {
  if (action === undefined || actor === "visitor" || !("agent" in actor) || !database.callers.knows(actor.agent))
    return failure;
  const headers = await figures
    .last(actor, action, async () => {
      // The call that looks them up must not be refused, too.
      const request = currentRequest();
      if (request) request.isStarted = true;
      return JSON.parse(await database.call(actor, "check_call", { permission: null, action }));
    })
    .catch(() => ({}));
  return { ...failure, headers: { ...headers, ...failure.headers } };
};

/**
 * Asks the database whether a caller is valid before a large body is read. Calls of a caller that it accepted before
 * take turns anyway, and a small body takes less time than the question.
 * @throws Problem 401 if there is no such token or session
 */
export const admit = async ({ database }: Context, actor: Actor, request: Request): Promise<void> => {
  if (actor === "visitor" || !mayExceed(request, UNKNOWN_BODY)) return;
  if (database.callers.knows("agent" in actor ? actor.agent : actor.person)) return;
  await database.call(actor, "check_call", { permission: null, action: null });
};

/** What a caller sends to an endpoint, before it is checked. */
export type Sent = {
  body: Record<string, unknown> | undefined;
  path: Readonly<Record<string, unknown>>;
  query: Readonly<Record<string, unknown>>;
  idempotencyKey: unknown;
  /** Errors that were found already. */
  errors?: FieldError[];
  unknown: Unknown[];
};

/** Reads what a caller sends. @throws Problem if it cannot be parsed */
type Read = (endpoint: Endpoint, request: Request, response: Response) => Promise<Sent> | Sent;

const readRequest: Read = async (endpoint, request, response) => {
  const schema = endpoint.body?.schema;
  const body = endpoint.body ? withoutNulls(await readJsonBody(request, response, endpoint.body.maxBytes)) : undefined;
  return {
    body,
    path: request.params,
    query: request.query,
    idempotencyKey: request.headers["idempotency-key"],
    unknown: [
      ...(schema ? unknownMembers(body ?? {}, pathsOf(schema), endpoint.elsewhere) : []),
      ...(endpoint.query ? unknownMembers(request.query, pathsOf(endpoint.query)) : []),
    ],
  };
};

/** Reads and checks a call. @throws Problem if the body or a header cannot be parsed */
const readCall = async (
  endpoint: Endpoint,
  caller: { actor: Actor; token: string | null },
  request: Request,
  response: Response,
  read: Read,
): Promise<Call> => {
  const sent = await read(endpoint, request, response);
  // Without what it is about, the call would not come as far as the function that raises its errors.
  const [misdirected] = endpoint.args?.includes("errors") ? (sent.errors ?? []) : [];
  if (misdirected) throw problem("bad_request", misdirected.detail, { errors: sent.errors });
  if (endpoint.body?.required && sent.body === undefined) {
    throw problem("bad_request", "The request has no body. Send a JSON object.");
  }
  const key = endpoint.idempotent ? sent.idempotencyKey : undefined;
  if (key !== undefined && (typeof key !== "string" || !IDEMPOTENCY_KEY.test(key))) {
    throw problem("bad_request", "An Idempotency-Key has 1 to 255 characters of printable ASCII.");
  }
  const parameters: Arguments = {};
  for (const name of Object.keys(endpoint.pathParameters?.shape ?? {})) {
    const value = sent.path[name];
    parameters[name] = isId(value) ? value : null;
  }
  const query = endpoint.query ? check(endpoint.query, sent.query) : null;
  for (const name of Object.keys(endpoint.query?.shape ?? {})) {
    parameters[argumentOf(name)] = (query?.data?.[name] as Arguments[string] | undefined) ?? null;
  }
  // JavaScript takes an empty text for the number 0.
  const blank = Object.entries(query?.data ?? {}).flatMap(([name, value]) => {
    const given = sent.query[name];
    return typeof value === "number" && typeof given === "string" && given.trim() === ""
      ? [{ pointer: `/${name}`, detail: `The member ${name} must be a number.` }]
      : [];
  });
  // Unknown parameters are ignored, but "limit[]" is meant to be a known one.
  const bracketed = Object.keys(sent.query).flatMap((name) => {
    const [known = "", ...rest] = name.split("[");
    return rest.length > 0 && Object.hasOwn(endpoint.query?.shape ?? {}, known) ? [known] : [];
  });
  const misnamed = [...new Set(bracketed)].map((name) => ({
    pointer: `/${name}`,
    detail: `The parameter ${name} has one value. Send ${name}=VALUE, without brackets.`,
  }));
  const body = endpoint.body ? check(endpoint.body.schema, sent.body ?? {}) : null;
  return {
    endpoint,
    request,
    response,
    ...caller,
    parameters,
    // The schemas drop unknown members, so that these do not reach the database.
    body: (body?.data as Record<string, unknown> | undefined) ?? {},
    errors: [...(sent.errors ?? []), ...(query?.errors ?? []), ...blank, ...misnamed, ...(body?.errors ?? [])],
    unknown: sent.unknown,
    idempotencyKey: key ?? null,
  };
};

/** Adds to a refusal what was meant by members that the endpoint does not have: often they are the reason. */
const withHints = ({ endpoints }: Context, { unknown, parameters }: Call, thrown: unknown): unknown => {
  const meant = unknown.filter(({ instead }) => instead !== null).slice(0, 10);
  const failure = problemOf(thrown);
  if (failure.code === "not_found" && "id" in parameters && parameters["id"] === null)
    return { ...failure, detail: `${failure.detail} An id is a UUID, and what was sent is none.` };
  if (meant.length === 0 || (failure.code !== "bad_request" && failure.code !== "missing_contact")) return thrown;
  const { errors = [], next = [] } = (failure.members ?? {}) as { errors?: FieldError[]; next?: object[] };
  const calls = [...new Set(meant.flatMap((one) => one.calls))];
  const steps = [...next, ...calls.map((name) => stepTo(endpoints, name, parameters["id"]))];
  return {
    ...failure,
    detail: `${failure.detail} ${saidOf(meant)}`,
    members: {
      ...failure.members,
      errors: [...errors, ...meant.map((one) => ({ pointer: pointerOf([one.name]), detail: saidOf([one]) }))],
      ...(steps.length > 0 ? { next: steps } : {}),
    },
  };
};

const answerCall = async (
  context: Context,
  endpoint: Endpoint,
  caller: { actor: Actor; token: string | null },
  request: Request,
  response: Response,
  read: Read,
): Promise<Answer> => {
  // Read no body for a request refused at the entrance, or with a token or session refused a moment ago.
  const { actor } = caller;
  const refusal =
    currentRequest()?.refusal ??
    (actor !== "visitor" && context.database.callers.refusalOf("agent" in actor ? actor.agent : actor.person));
  if (refusal) throw refusal;
  await admit(context, actor, request);
  let call: Call | undefined;
  try {
    call = await readCall(endpoint, caller, request, response, read);
    // A function with the argument `errors` raises these errors itself, after it has checked the idempotency key and
    // the rate limit.
    if (call.errors.length > 0 && !endpoint.args?.includes("errors")) {
      const [first] = call.errors;
      throw problem("bad_request", first ? first.detail : "The request cannot be used.", { errors: call.errors });
    }
  } catch (error) {
    const failure = call === undefined ? error : withHints(context, call, error);
    throw await problemBeforeCall(context, endpoint, caller.actor, problemOf(failure));
  }
  try {
    return await endpoint.handler(context, call);
  } catch (error) {
    throw withHints(context, call, error);
  }
};

/**
 * Answers one call of an endpoint of the table.
 * @param read reads what the caller sends; without it, that is the HTTP request itself
 * @throws Problem, or an error that `problemOf` understands
 */
export const handle = async (
  context: Context,
  endpoint: Endpoint,
  request: Request,
  response: Response,
  read: Read = readRequest,
): Promise<Answer> => {
  const caller =
    endpoint.auth === "token" ? authenticate(request, context.baseUrl()) : { actor: "visitor" as const, token: null };
  const { rateLimit } = endpoint;
  const note = (headers: Answer["headers"] = {}): void => {
    if (rateLimit !== undefined) context.figures.note(caller.actor, rateLimit, headers);
  };
  try {
    const answer = await answerCall(context, endpoint, caller, request, response, read);
    note(answer.headers);
    return answer;
  } catch (error) {
    const failure = problemOf(error);
    // The headers of a refusal are those of the limit that is used up, which may be another one than the endpoint's.
    if (failure.members?.["limit"] === undefined || failure.members["limit"] === rateLimit) note(failure.headers);
    // The database sends the headers with its own refusals.
    const isFairUse = failure.code === "rate_limited" && failure.headers?.["RateLimit-Limit"] === undefined;
    throw isFairUse ? await withLastFigures(context, endpoint, caller.actor, failure) : error;
  }
};
