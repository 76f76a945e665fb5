import { createHash } from "node:crypto";
import { z } from "zod";
import { linkKey } from "../base/tokens.ts";
import type { Arguments, Lane } from "../database/database.ts";
import type { ArgumentName, Call, Context, Endpoint } from "./endpoint.ts";

/** Makes the arguments of an endpoint's SQL function. */

/** Query parameters whose names are reserved words in SQL, with the names of their arguments. */
const RENAMED: Readonly<Record<string, string>> = { limit: "page_size" };

/** Returns the name of the argument for a query parameter. */
export const argumentOf = (parameter: string): string => RENAMED[parameter] ?? parameter;

/** Returns the names of the body's members, if its schema lists them. */
export const membersOf = ({ body }: Endpoint): string[] =>
  body?.schema instanceof z.ZodObject ? Object.keys(body.schema.shape) : [];

/** Returns the names of all arguments of an endpoint's function. */
export const argumentNamesOf = (endpoint: Endpoint): string[] => [
  ...Object.keys(endpoint.pathParameters?.shape ?? {}),
  ...Object.keys(endpoint.query?.shape ?? {}).map(argumentOf),
  ...(endpoint.args ?? []).flatMap((name) => (name === "members" ? membersOf(endpoint) : [name])),
];

/** Hashes the parsed body (or its errors), so that the same request in other bytes has the same hash. */
const requestHash = ({ endpoint, body, errors }: Call): Buffer =>
  createHash("sha256")
    .update(`${endpoint.method} ${endpoint.path} ${JSON.stringify(errors.length > 0 ? errors : body)}`)
    .digest();

/** The arguments that can be made for any endpoint. */
const SOURCES: Readonly<Partial<Record<ArgumentName, (context: Context, call: Call) => Arguments[string]>>> = {
  body: (_context, { body }) => body,
  request: (_context, { body }) => body,
  base_url: ({ baseUrl }) => baseUrl(),
  link_key: (_context, { token }) => (token === null ? null : linkKey(token)),
  idempotency_key: (_context, { idempotencyKey }) => idempotencyKey,
  request_hash: (_context, call) => requestHash(call),
  errors: (_context, { errors }) => JSON.stringify(errors),
};

/**
 * Returns the arguments of a call's function, by name.
 * @param made arguments that the handler has made
 */
export const argumentsOf = (
  context: Context,
  call: Call,
  made: Readonly<Partial<Record<ArgumentName, Arguments[string]>>> = {},
): Arguments => {
  const args: Arguments = { ...call.parameters };
  for (const name of call.endpoint.args ?? []) {
    if (name === "members") {
      for (const member of membersOf(call.endpoint)) {
        args[member] = (call.body[member] as Arguments[string] | undefined) ?? null;
      }
    } else args[name] = made[name] ?? SOURCES[name]?.(context, call) ?? null;
  }
  return args;
};

/**
 * Calls the function of an endpoint as the caller, when it is the caller's turn.
 * @param make makes the arguments that the handler adds, in the caller's turn, because that may take processor time
 * @param note gets the headers that the function noted for the answer
 * @returns the function's jsonb result as text. @throws the error of PostgreSQL
 */
export const callFunction = async (
  context: Context,
  call: Call,
  lane: Exclude<Lane, "admin">,
  make?: () => Promise<Parameters<typeof argumentsOf>[2]>,
  note?: Parameters<Context["database"]["call"]>[4],
): Promise<string> => {
  const { function: name, operationId } = call.endpoint;
  if (name === undefined) throw new Error(`The endpoint ${operationId} names no function.`);
  const args =
    make === undefined ? () => argumentsOf(context, call) : async () => argumentsOf(context, call, await make());
  return context.database.call(call.actor, name, args, lane, note);
};
