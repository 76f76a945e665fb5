import { performance } from "node:perf_hooks";
import type pg from "pg";
import { makeSchema } from "postgraphile";
import { createWithPgClient } from "postgraphile/adaptors/pg";
import { execute, isSafeError } from "postgraphile/grafast";
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  parse,
  validate,
} from "postgraphile/graphql";
import { PROBLEMS, type ProblemCode, problemOf } from "../http/problem.ts";
import { checkLimits, LIMITS, operationOf } from "./limits.ts";
import { createPreset } from "./preset.ts";

/** No operation keeps the database busy for longer. */
const OPERATION_MS = 3_000;
/** A client is not told of more mistakes than it can mend at once. */
const MAX_ERRORS = 20;

/** What a client sends. */
type Operation = {
  query: string | DocumentNode;
  variables?: Record<string, unknown>;
  operationName?: string | null;
};

/** What it gets: `status` 400 when nothing was run. */
type Result = {
  status: number;
  body: { data?: Record<string, unknown> | null; errors?: GraphQLFormattedError[] };
};

/** Who runs an operation, and the request that it came by, for the audit log. */
type Caller = { session: Buffer; requestId: string };

/** The moderators' GraphQL. */
export type AdminSchema = {
  schema: GraphQLSchema;
  /** Runs an operation as the moderator with this session. Refusals are errors in the result, with their code. */
  run(caller: Caller, operation: Operation): Promise<Result>;
};

type Client = Parameters<Parameters<ReturnType<typeof createWithPgClient>>[1]>[0];

/**
 * A client whose statements have no name: named ones would be kept for each of the many texts that people try, and a
 * pooler or the embedded database has no place for them.
 */
const nameless = (client: Client): Client => ({
  rawClient: client.rawClient,
  query: ({ name: _name, ...statement }) => client.query(statement),
  withTransaction: (callback) => client.withTransaction((inner) => callback(nameless(inner))),
});

const refused = (code: ProblemCode, detail: string): GraphQLError =>
  new GraphQLError(detail, { extensions: { code, status: PROBLEMS[code].status } });

/** Members of a Problem that say something to a client; headers do not. */
const extensionsOf = (thrown: unknown): { detail: string; extensions: Record<string, unknown> } => {
  const { code, detail, members } = problemOf(thrown);
  return { detail, extensions: { ...members, code, status: PROBLEMS[code].status } };
};

const sqlStateOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** Errors as a client may see them: refusals with their code, mistakes in the operation as they are, and nothing else. */
const masked = (error: GraphQLError, onFailure: (error: unknown) => void): GraphQLFormattedError => {
  const cause = error.originalError;
  const shown = error.toJSON();
  // What Grafast says for clients to read: of cursors that are none, or of another order.
  if (cause && isSafeError(cause))
    return { ...shown, message: cause.message, extensions: { code: "bad_request", status: 400 } };
  if (!cause || cause instanceof GraphQLError)
    return { ...shown, extensions: { code: "bad_request", status: 400, ...shown.extensions } };
  const state = sqlStateOf(cause);
  if (state === "57014")
    return { ...shown, message: TOO_LONG, extensions: { code: "service_unavailable", status: 503 } };
  if (state.startsWith("22")) return { ...shown, message: BAD_VALUE, extensions: { code: "bad_request", status: 400 } };
  const { detail, extensions } = extensionsOf(cause);
  if (extensions["code"] === "internal_error") onFailure(cause);
  return { ...shown, message: detail, extensions };
};

const TOO_LONG = `This took longer than ${OPERATION_MS / 1_000} seconds and was stopped. Ask for less at once.`;
const BAD_VALUE = "A value does not have the form that its type asks for, such as that of an id or a time.";

/**
 * The moderators' GraphQL: made from the database's catalogue, run in this process for the pages and for HTTP alike.
 * @param pool sessions that may do nothing before they have entered
 * @throws when the catalogue cannot be read
 */
export const openAdminSchema = async (pool: pg.Pool, onFailure: (error: unknown) => void): Promise<AdminSchema> => {
  const { schema, resolvedPreset } = await makeSchema(createPreset(pool));
  const withClient = createWithPgClient({ pool });

  /** A transaction that has entered as the moderator, and ends when the operation's time is over. */
  const asModerator =
    ({ session, requestId }: Caller, until: number) =>
    <T>(_settings: unknown, callback: (client: Client) => Promise<T> | T): Promise<T> =>
      withClient(null, (client) =>
        client.withTransaction(async (transaction) => {
          const left = Math.floor(until - performance.now());
          if (left <= 0) throw refused("service_unavailable", TOO_LONG);
          await transaction.query({
            text: `select set_config('statement_timeout', $1, true), set_config('market.request_id', $3, true),
              internal.enter_moderator($2)`,
            values: [String(left), session, requestId] as never,
          });
          return callback(nameless(transaction));
        }),
      );

  const prepare = (operation: Operation): DocumentNode => {
    const { query, variables = {}, operationName = null } = operation;
    const document = typeof query === "string" ? parse(query, { maxTokens: LIMITS.tokens }) : query;
    checkLimits(schema, document, operationOf(document, operationName), variables);
    const mistakes = validate(schema, document, undefined, { maxErrors: MAX_ERRORS });
    if (mistakes.length > 0) throw new AggregateError(mistakes);
    return document;
  };

  return {
    schema,
    async run(caller, operation) {
      let document: DocumentNode;
      try {
        document = prepare(operation);
      } catch (thrown) {
        const errors = thrown instanceof AggregateError ? (thrown.errors as GraphQLError[]) : [thrown as GraphQLError];
        return { status: 400, body: { errors: errors.map((error) => masked(error, onFailure)) } };
      }
      const result = (await execute({
        schema,
        document,
        variableValues: operation.variables ?? {},
        operationName: operation.operationName ?? null,
        contextValue: { pgSettings: {}, withPgClient: asModerator(caller, performance.now() + OPERATION_MS) },
        resolvedPreset,
        middleware: null,
      })) as ExecutionResult;
      const { data, errors } = result;
      return {
        status: 200,
        body: {
          ...(data === undefined ? {} : { data: data as Record<string, unknown> | null }),
          ...(errors ? { errors: errors.map((error) => masked(error as GraphQLError, onFailure)) } : {}),
        },
      };
    },
  };
};
