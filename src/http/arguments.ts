import { createHash } from "node:crypto";
import { z } from "zod";
import type { Arguments } from "../database/database.ts";
import type { ArgumentName, Call, Context, Endpoint } from "./endpoint.ts";
import { linkKey } from "./tokens.ts";

/** The arguments with which an endpoint's SQL function is called. */

/** Query parameters whose names are reserved words in SQL, so that the arguments of functions are called otherwise. */
const RENAMED: Readonly<Record<string, string>> = { limit: "page_size" };

/** The argument that a query parameter goes to. */
export const argumentOf = (parameter: string): string => RENAMED[parameter] ?? parameter;

/** The members of a body, if its schema lists them. */
const membersOf = ({ body }: Endpoint): string[] =>
  body?.schema instanceof z.ZodObject ? Object.keys(body.schema.shape) : [];

/** The names of all arguments with which an endpoint calls its function. */
export const argumentNamesOf = (endpoint: Endpoint): string[] => [
  ...Object.keys(endpoint.pathParameters?.shape ?? {}),
  ...Object.keys(endpoint.query?.shape ?? {}).map(argumentOf),
  ...(endpoint.args ?? []).flatMap((name) => (name === "members" ? membersOf(endpoint) : [name])),
];

/** The same request in other bytes is the same request: what counts is what was understood of it. */
const requestHash = ({ endpoint, body, errors }: Call): Buffer =>
  createHash("sha256")
    .update(`${endpoint.method} ${endpoint.path} ${JSON.stringify(errors.length > 0 ? errors : body)}`)
    .digest();

/** What any handler can pass on. */
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
 * The arguments of a call's function, by name.
 * @param made those that the handler makes
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
 * Calls the function of an endpoint as the caller. "read" goes to sessions that cannot write.
 * @returns its jsonb as text. @throws what PostgreSQL raised
 */
export const callFunction = async (
  context: Context,
  call: Call,
  pool: "read" | "write",
  made?: Parameters<typeof argumentsOf>[2],
): Promise<string> => {
  const { function: name, operationId } = call.endpoint;
  if (name === undefined) throw new Error(`The endpoint ${operationId} names no function.`);
  return context.database.call(call.actor, name, argumentsOf(context, call, made), pool);
};
