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
  parse,
  validate,
} from "postgraphile/graphql";
import { PROBLEMS, type ProblemCode, problemOf } from "../base/problem.ts";
import { currentTraceparent, measured } from "../base/tracing/tracing.ts";
import { DATABASE, type Database } from "../database/database.ts";
import { BAD_VALUE, isBadValue } from "./bad_value.ts";
import { createPreset } from "./preset.ts";
import { checkLimits, LIMITS, operationOf } from "./query_limits.ts";

/** The time limit of one operation in the database. */
const OPERATION_MS = 3_000;
/** The most validation errors that a response lists. */
const MAX_ERRORS = 20;

/** The GraphQL request of a client. */
type Operation = {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string | null;
};

/** The response. `status` is 400 when the operation was not executed, otherwise 200. */
type Result = {
  status: number;
  body: { data?: Record<string, unknown> | null; errors?: GraphQLFormattedError[] };
};

/** The moderator's session (hash of its secret), and the id of the HTTP request for the audit log. */
type Caller = { session: Buffer; requestId: string };

type Client = Parameters<Parameters<ReturnType<typeof createWithPgClient>>[1]>[0];

/**
 * Wraps a client so that its statements have no name. PostgreSQL would keep each named statement, and moderators try
 * many different queries. A connection pooler or the embedded database may not support named statements.
 */
const withoutStatementNames = (client: Client): Client => ({
  rawClient: client.rawClient,
  query: ({ name: _name, ...statement }) => client.query(statement),
  withTransaction: (callback) => client.withTransaction((inner) => callback(withoutStatementNames(inner))),
});

const graphQLError = (code: ProblemCode, detail: string): GraphQLError =>
  new GraphQLError(detail, { extensions: { code, status: PROBLEMS[code].status } });

/**
 * Makes an error safe to show: a Problem with its code, a mistake in the operation unchanged, and internal_error for
 * anything else, which also goes to `onFailure`.
 */
const masked = (error: GraphQLError, onFailure: (error: unknown) => void): GraphQLFormattedError => {
  const cause = error.originalError;
  const shown = error.toJSON();
  const as = (code: ProblemCode, message: string, more: object = {}): GraphQLFormattedError => ({
    ...shown,
    message,
    extensions: { ...more, code, status: PROBLEMS[code].status },
  });
  // Grafast marks these errors as safe for clients: invalid cursors, or cursors of another order.
  if (cause && isSafeError(cause)) return as("bad_request", cause.message);
  if (!cause || cause instanceof GraphQLError)
    return { ...shown, extensions: { code: "bad_request", status: 400, ...shown.extensions } };
  if ("code" in cause && cause.code === "57014") return as("service_unavailable", TOO_LONG);
  if (isBadValue(cause)) return as("bad_request", BAD_VALUE);
  const { code, detail, members } = problemOf(cause);
  if (code === "internal_error") onFailure(cause);
  return as(code, detail, members);
};

const TOO_LONG = `This took longer than ${OPERATION_MS / 1_000} seconds and was stopped. Ask for less at once.`;

/**
 * Makes the moderators' GraphQL schema from the database's catalog, and what executes operations.
 * @param pool connections whose login may do nothing before it has entered as a moderator
 * @param inTurn runs work that holds one of these connections, when it is the moderator's turn
 * @param onFailure receives unexpected errors, which clients do not see
 * @throws when the catalog cannot be read
 */
export const openAdminSchema = async (
  pool: pg.Pool,
  inTurn: Database["inTurn"],
  onFailure: (error: unknown) => void,
) => {
  const { schema, resolvedPreset } = await makeSchema(createPreset(pool));
  const withClient = createWithPgClient({ pool });

  /** Opens a transaction that acts as the moderator. Its statements time out when the operation's time is over. */
  const asModerator = ({ session, requestId }: Caller) => {
    // The time begins with the operation's first turn, and not while it waits for other operations.
    let until: number | null = null;
    return <T>(_settings: unknown, callback: (client: Client) => Promise<T> | T): Promise<T> =>
      inTurn("admin", () =>
        measured("db", { name: "admin", kind: "client", attributes: DATABASE }, () =>
          withClient(null, (client) =>
            client.withTransaction(async (transaction) => {
              until ??= performance.now() + OPERATION_MS;
              const left = Math.floor(until - performance.now());
              if (left <= 0) throw graphQLError("service_unavailable", TOO_LONG);
              await transaction.query({
                text: `select set_config('statement_timeout', $1, true), set_config('market.request_id', $3, true),
                  set_config('market.traceparent', $4, true), internal.enter_moderator($2)`,
                values: [String(left), session, requestId, currentTraceparent() ?? ""] as never,
              });
              return callback(withoutStatementNames(transaction));
            }),
          ),
        ),
      );
  };

  const prepare = (operation: Operation): DocumentNode => {
    const { query, variables = {}, operationName = null } = operation;
    const document = parse(query, { maxTokens: LIMITS.tokens });
    checkLimits(schema, document, operationOf(document, operationName), variables);
    const mistakes = validate(schema, document, undefined, { maxErrors: MAX_ERRORS });
    if (mistakes.length > 0) throw new AggregateError(mistakes);
    return document;
  };

  return {
    schema,
    /** Executes an operation as the moderator of a session. Problems become errors in the result, with their code. */
    async run(caller: Caller, operation: Operation): Promise<Result> {
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
        contextValue: { pgSettings: {}, withPgClient: asModerator(caller) },
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
