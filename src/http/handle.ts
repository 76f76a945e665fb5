import type { Request, Response } from "express";
import type { Actor, Arguments } from "../database/database.ts";
import { argumentOf } from "./arguments.ts";
import { authenticate } from "./authenticate.ts";
import { readJsonBody } from "./body.ts";
import type { Call, Context, Endpoint } from "./endpoint.ts";
import { isId } from "./ids.ts";

import { type Answer, isUnavailable, type Problem, problem, problemOf } from "./problem.ts";
import { check } from "./validation.ts";

/** The contract: 1 to 255 characters of printable ASCII. */
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

/** Parses and checks a request. @throws Problem if the body or a header cannot be parsed */
const readCall = async (
  endpoint: Endpoint,
  caller: { actor: Actor; token: string | null },
  request: Request,
  response: Response,
): Promise<Call> => {
  const sent = endpoint.body ? await readJsonBody(request, response, endpoint.body.maxBytes) : undefined;
  if (endpoint.body?.required && sent === undefined) {
    throw problem("bad_request", "The request has no body. Send a JSON object.");
  }
  const key = endpoint.idempotent ? request.headers["idempotency-key"] : undefined;
  if (key !== undefined && (typeof key !== "string" || !IDEMPOTENCY_KEY.test(key))) {
    throw problem("bad_request", "An Idempotency-Key has 1 to 255 characters of printable ASCII.");
  }
  const parameters: Arguments = {};
  for (const name of Object.keys(endpoint.pathParameters?.shape ?? {})) {
    const value = request.params[name];
    parameters[name] = isId(value) ? value : null;
  }
  const query = endpoint.query ? check(endpoint.query, request.query) : null;
  for (const name of Object.keys(endpoint.query?.shape ?? {})) {
    parameters[argumentOf(name)] = (query?.data?.[name] as Arguments[string] | undefined) ?? null;
  }
  const body = endpoint.body ? check(endpoint.body.schema, sent ?? {}) : null;
  return {
    endpoint,
    request,
    response,
    ...caller,
    parameters,
    // The schemas drop unknown members, so that these do not reach the database.
    body: (body?.data as Record<string, unknown> | undefined) ?? {},
    errors: [...(query?.errors ?? []), ...(body?.errors ?? [])],
    idempotencyKey: key ?? null,
  };
};

/**
 * Answers one request to an endpoint of the table.
 * @throws Problem, or an error that `problemOf` understands
 */
export const handle = async (
  context: Context,
  endpoint: Endpoint,
  request: Request,
  response: Response,
): Promise<Answer> => {
  const caller =
    endpoint.auth === "token" ? authenticate(request, context.baseUrl()) : { actor: "visitor" as const, token: null };
  let call: Call;
  try {
    call = await readCall(endpoint, caller, request, response);
    // A function with the argument `errors` raises these errors itself, after it has checked the idempotency key and
    // the rate limit.
    if (call.errors.length > 0 && !endpoint.args?.includes("errors")) {
      const [first] = call.errors;
      throw problem("bad_request", first ? first.detail : "The request cannot be used.", { errors: call.errors });
    }
  } catch (error) {
    throw await problemBeforeCall(context, endpoint, caller.actor, problemOf(error));
  }
  return endpoint.handler(context, call);
};
