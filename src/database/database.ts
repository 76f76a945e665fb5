import pg from "pg";
import { createMemory } from "../base/lru.ts";
import { isUnavailable, problem } from "../base/problem.ts";
import { currentRequest, currentRequestId } from "../base/request.ts";
import { currentTraceparent, measured } from "../base/tracing/tracing.ts";
import { type Callers, type CallerTurns, createCallers, keyOf } from "./callers.ts";
import { ANSWER_MS, followReplicas, type Replicas } from "./replicas.ts";
import { shareConnections } from "./shared_connections.ts";
import { createTurns, type Turns } from "./turns.ts";
import { createUses } from "./uses.ts";

/** The caller: an agent (by the hash of its token), a person (by the hash of the session's secret), or a visitor. */
export type Actor = { agent: Buffer } | { person: Buffer } | "visitor";

/** A person who calls as a moderator. */
export type Moderator = { moderator: Buffer };

/** Arguments of a function by name. Objects are sent as JSON. */
export type Arguments = Record<string, string | number | boolean | Buffer | null | object>;

/**
 * What calls share in turns (src/database/turns.ts). Reads and searches use read-only transactions, on a replica if they
 * may (src/database/replicas.ts). Reads take a few milliseconds and share connections (shared_connections.ts), so whatever
 * takes longer is a search. The moderators' GraphQL has connections of its own.
 */
type Shared = "read" | "search" | "write" | "admin";

/**
 * How a call is made. A "present read" is a read that never uses a replica, because it tells the caller what others did,
 * of which the feed may have told already.
 */
export type Lane = Shared | "present read";

/** Where a call takes its turn: reads and searches on replicas have separate turns. */
type Place = Shared | "replica read" | "replica search";

/** The database as the HTTP layer sees it. */
export type Database = {
  /**
   * Calls one function as the actor, in one statement, when it is the turn of the current request's caller: of schema
   * `admin` as a moderator, otherwise of schema `api`.
   * @param args a function, if making the arguments takes processor time: it runs in the caller's turn
   * @param note gets the headers that the function noted for the answer (internal.note_headers)
   * @returns the function's result as text, which is JSON unless the function returns a row
   * @throws the error of PostgreSQL; src/base/problem.ts turns it into a problem
   */
  call(
    actor: Actor | Moderator,
    name: string,
    args: Arguments | (() => Arguments | Promise<Arguments>),
    lane?: Exclude<Lane, "admin">,
    note?: (headers: Record<string, number>) => void,
  ): Promise<string>;
  /** Runs work that holds one connection, when it is the turn of the current request's caller. */
  inTurn<Result>(lane: Shared, work: () => Promise<Result>): Promise<Result>;
  /** The callers that share in turns, by what the database has said about their tokens and sessions. */
  callers: Callers;
  /** Checks that the database answers and has our schema. @throws if not */
  check(): Promise<void>;
  /** Returns the result of inspect.state(), for /metrics. */
  state(): Promise<unknown>;
  /** The connection pools by their purpose: "write", "read" if reads use a separate pool, and one for each replica. */
  pools: Readonly<Record<string, pg.Pool>>;
  /** The state of each replica. */
  replicas: Replicas["states"];
  /** How many calls wait for their turn at a pool, and how many were refused because their callers had too many. */
  turns: Pick<Turns<Place>, "waiting" | "refused">;
  close(): Promise<void>;
};

/** How to connect to the database, and with which role. */
export type DatabaseOptions = {
  url: string;
  /** Replicas for reads. */
  readUrls?: readonly string[];
  /**
   * The URL is a pooler's in transaction mode, so two statements may run in different sessions. Then named statements and
   * settings of a session are not used, and the login must be `role` itself.
   */
  pooled?: boolean;
  poolSize: number;
  /** Sessions get the privileges and settings of this login role, even if `url` names a more powerful login. */
  role: "souk_api" | "souk_worker";
  /** PGlite has one backend for all connections, so named statements and settings of a session are not used. */
  embedded: boolean;
  /** The URL at which clients reach the service, for links in answers; "" while it is not known. */
  baseUrl?: () => string;
  onError: (error: Error) => void;
  /** Called when a replica comes into use or goes out of use. */
  onReplica?: (name: string, inUse: boolean) => void;
  /** Whether the database has the functions that requests call. Until then requests get 503. */
  isPrepared?: () => boolean;
  /** Aborts when the process stops and calls must not wait any longer. */
  outOfPatience?: AbortSignal;
};

/** Moderators are few, and their GraphQL must not take connections from the API. */
export const ADMIN_POOL_SIZE = 3;

/**
 * Quick reads share this many connections. PostgreSQL works on one statement of each at a time, so there should be about as
 * many as it has processors. With more, the same statements cost more switches between processes.
 */
const SHARED_CONNECTIONS = 4;

/** A request waits at most this long for a free connection. Only stuck statements take longer. Clients wait longer. */
const ACQUISITION_TIMEOUT_MS = 2_000;

/**
 * A replica that does not answer for this long is stuck. Longer than a statement may take there (logins.sql), and short
 * enough that the primary can still answer before clients give up.
 */
const REPLICA_ANSWER_MS = 6_000;

/**
 * Gives a session the privileges and the settings (timeouts) of a login role, even if the process uses another login. A
 * session that has logged in as this role has them already. What the server logs, only a superuser's login may set.
 */
const takeRole = async (client: pg.ClientBase, role: string): Promise<void> => {
  await client.query(
    `select set_config(split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1), false)
     from pg_roles r join pg_db_role_setting s on s.setrole = r.oid and s.setdatabase = 0, unnest(s.setconfig) as setting
     where r.rolname = $1 and session_user <> $1
       and (setting not like 'log\\_%' or has_parameter_privilege(session_user, split_part(setting, '=', 1), 'set'))
     union all select set_config('role', $1, false) where session_user <> $1`,
    [role],
  );
};

/**
 * Checks that a connection through a pooler has logged in as the role. A role that a session takes on would stay with
 * the pooler's connection to the server, and the connection's next client would have it.
 */
const requireRole = async (client: pg.ClientBase, role: string): Promise<void> => {
  const { rows } = await client.query<{ login: string }>("select session_user::text as login");
  const login = rows[0]?.login ?? "";
  if (login !== role)
    throw new Error(`Behind a pooler (DATABASE_DIRECT_URL is set), log in as ${role}, not as ${login}.`);
};

/**
 * Opens a pool whose sessions have the privileges of one login role and no others.
 * @param purpose a DBA sees it after the role
 */
export const openPool = (
  options: DatabaseOptions,
  url: string,
  purpose = "",
  settings: Pick<pg.PoolConfig, "max" | "query_timeout" | "pipeline"> = {},
): pg.Pool => {
  const enter = options.pooled ? requireRole : takeRole;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolSize,
    connectionTimeoutMillis: ACQUISITION_TIMEOUT_MS,
    application_name: purpose ? `${options.role} ${purpose}` : options.role,
    ...(options.embedded ? {} : { onConnect: (client: pg.ClientBase) => enter(client, options.role) }),
    ...settings,
  });
  // Without these listeners, the process would end when PostgreSQL closes an idle connection.
  pool.on("error", options.onError);
  pool.on("connect", (client) => client.on("error", options.onError));
  return pool;
};

/** A first start takes a few seconds to create tables and functions. An earlier call of a function would be a 500. */
const STARTING = problem(
  "service_unavailable",
  "The service is starting. Nothing was done; try again in a few seconds.",
  { retry_after: 2 },
);

/** Whether the market's own functions refused a call (internal.raise_problem). Then the session can be used again. */
const isRefusal = (error: unknown): boolean => error instanceof pg.DatabaseError && /^PT\d{3}$/.test(error.code ?? "");

/**
 * Runs one statement on a connection of a pool. Unlike with pool.query, a refusal does not close the connection: opening
 * another one costs PostgreSQL many times what a refused call costs.
 * @param make makes the statement when there is a connection for it
 */
export const runOn = async <Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  make: () => pg.QueryConfig,
): Promise<pg.QueryResult<Row>> => {
  const client = await pool.connect();
  try {
    const result = await client.query<Row>(make());
    client.release();
    return result;
  } catch (error) {
    client.release(!isRefusal(error));
    throw error;
  }
};

/**
 * For each kind of actor, the expression that identifies the caller and sets the caller's role and claims. It must be
 * true before the function runs. $1 is the hash.
 */
const ENTER = {
  agent: "internal.enter_agent($1)",
  person: "internal.enter_person($1)",
  moderator: "internal.enter_moderator($1)",
  visitor: null,
  // The login of the embedded database is a superuser, so a visitor's call must switch to the login role.
  "embedded visitor": "set_config('role', 'souk_api', true) = 'souk_api'",
} as const;

/**
 * How a call enters. `read`: its transaction must not write. The session may, because behind a pooler other clients use
 * it, too.
 */
type Mode = "read" | "write";

/**
 * Returns the statement of a call. Its parameters are: the hash that identifies the actor (none for a visitor), the
 * values of the settings `about` the request, and the arguments in the order of `names`.
 */
export const statementOf = (
  kind: keyof typeof ENTER,
  name: string,
  names: string[],
  mode: Mode = "write",
  about: readonly string[] = [],
): string => {
  let place = kind.endsWith("visitor") ? 1 : 2;
  const reads = mode === "read" ? "set_config('transaction_read_only', 'on', true) = 'on'" : null;
  const settings = about.map((setting) => `set_config('market.${setting}', $${place++}, true) <> ''`);
  const args = names.map((argument) => `"${argument}" => $${place++}`).join(", ");
  const entering = [reads, ENTER[kind], ...settings].filter((step) => step !== null).join(" and ");
  const call = `select ${kind === "moderator" ? "admin" : "api"}.${name}(${args})::text as body`;
  const told = kind.endsWith("visitor")
    ? ""
    : ", internal.turns() as turns, current_setting('market.headers', true) as headers";
  return entering
    ? `with actor as materialized (select ${entering} as entered) ${call}${told} from actor where entered`
    : call;
};

/**
 * Returns the settings of a transaction that the market's functions read, by their names in schema `market`. The
 * request id is for the audit log, the position in a trace for jobs, and the milliseconds that the request has waited
 * for the order of changes; calls that only read need none of these. No two settings begin with the same letter,
 * because the names of prepared statements contain their letters.
 */
const settingsOf = (mode: Mode, baseUrl: string): { names: string[]; values: string[] } => {
  const settings: { names: string[]; values: string[] } = { names: [], values: [] };
  const add = (name: string, value: string | null): void => {
    if (value === null || value === "") return;
    settings.names.push(name);
    settings.values.push(value);
  };
  add("base_url", baseUrl);
  if (mode === "write") {
    add("request_id", currentRequestId());
    add("traceparent", currentTraceparent());
    const arrivedAt = currentRequest()?.arrivedAt;
    add("waited", arrivedAt === undefined ? null : String(Math.floor(performance.now() - arrivedAt)));
  }
  return settings;
};

/** The attributes of a statement's span. */
export const DATABASE = { "db.system.name": "postgresql" };

/** One way to call a function: its statement, the statement's name, and the step of a trace. */
type Prepared = {
  entering: keyof typeof ENTER;
  mode: Mode;
  settings: readonly string[];
  names: readonly string[];
  text: string;
  name: string;
  step: { name: string; kind: "client"; attributes: typeof DATABASE };
};

const areSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one, i) => one === others[i]);

/** Returns a function that prepares each way to call a function once. A function has few of them. */
const createPrepared = () => {
  const byFunction = new Map<string, Prepared[]>();
  return (
    entering: keyof typeof ENTER,
    mode: Mode,
    settings: readonly string[],
    name: string,
    names: string[],
  ): Prepared => {
    const ways = byFunction.get(name) ?? [];
    const known = ways.find(
      (way) =>
        way.entering === entering && way.mode === mode && areSame(way.settings, settings) && areSame(way.names, names),
    );
    if (known) return known;
    const prepared: Prepared = {
      entering,
      mode,
      settings,
      names,
      text: statementOf(entering, name, names, mode, settings),
      // PostgreSQL cuts longer names of statements at 63 bytes.
      name: `${entering} ${mode} ${settings.map((setting) => setting[0]).join("")} ${name} ${names.length}`,
      step: { name: `${entering === "moderator" ? "admin" : "api"}.${name}`, kind: "client", attributes: DATABASE },
    };
    byFunction.set(name, [...ways, prepared]);
    return prepared;
  };
};

/** What the statement of a call returns. That of a visitor returns only the body. */
type Row = { body: string; turns?: CallerTurns; headers?: string | null };

const toParameter = (value: Arguments[string]): string | number | boolean | Buffer | null =>
  typeof value === "object" && value !== null && !Buffer.isBuffer(value) ? JSON.stringify(value) : value;

/** Whether PostgreSQL refused a call because it knows no agent or session with the hash (internal/agents/enter.sql). */
const isUnknownCaller = (error: unknown): error is Error =>
  error instanceof Error && "hint" in error && typeof error.hint === "string" && error.hint.includes("unknown_caller");

/** The functions whose answers show offers of others, and the ids of the offers in an answer. */
const OFFERS_IN: Readonly<Record<string, (body: string) => string[]>> = {
  get_offer: (body) => [(JSON.parse(body) as { id: string }).id],
  search_offers: (body) => (JSON.parse(body) as { results: { id: string }[] }).results.map(({ id }) => id),
};

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");

/** The kind of an actor, and the hash that identifies it. */
const whoOf = (actor: Actor | Moderator): ["agent" | "person" | "moderator", Buffer] | ["visitor", null] => {
  if (actor === "visitor") return ["visitor", null];
  if ("agent" in actor) return ["agent", actor.agent];
  return "person" in actor ? ["person", actor.person] : ["moderator", actor.moderator];
};

/**
 * Opens the database for the HTTP layer. Each call is one prepared statement: it first enters as the actor (for example
 * by `internal.enter_agent`) and then calls one function. PostgreSQL keeps this order because the CTE is materialized.
 */
export const openDatabase = (options: DatabaseOptions): Database => {
  const { poolSize, embedded, pooled = false, readUrls = [] } = options;
  const writer = openPool(options, options.url);
  // A pooler decides by itself which statements share a connection.
  const shares = !embedded && !pooled;
  const reader = embedded ? writer : openPool(options, options.url, "read", { pipeline: shares });
  const replicaPools = readUrls.map((url, i) => ({
    // Labels of metrics must not be addresses.
    name: `replica ${i + 1}`,
    // One connection more than calls, to ask how far the replica is.
    pool: openPool(options, url, "read", { max: poolSize + 1, query_timeout: REPLICA_ANSWER_MS }),
    size: poolSize,
  }));
  const replicas =
    replicaPools.length === 0
      ? null
      : followReplicas({
          primary: openPool(options, options.url, "replicas", { max: 1, query_timeout: ANSWER_MS }),
          replicas: replicaPools,
          pooled,
          onChange: options.onReplica ?? (() => undefined),
        });
  const prepare = createPrepared();
  const callers = createCallers();
  const uses = createUses(
    (hashes) => writer.query("select api.note_uses($1::jsonb)", [JSON.stringify(hashes)]),
    options.onError,
  );
  /** Callers whose last search was counted. */
  const counted = createMemory<true>();
  const unknown: { agent?: Error; person?: Error; moderator?: Error } = {};
  const runShared = shares ? shareConnections(reader, SHARED_CONNECTIONS, isRefusal) : null;
  const read = embedded ? "write" : "read";
  /** Searches take longest, so they never hold more than half of the connections. */
  const half = (places: number): number => Math.max(1, Math.floor(places / 2));
  // The embedded database runs one statement at a time, so with a second search everybody else would wait for both.
  const searches = embedded ? 1 : half(poolSize);
  const onReplicas = Math.max(1, poolSize * replicaPools.length);
  const turns = createTurns<Place>({
    pools: { write: poolSize, read: poolSize, admin: ADMIN_POOL_SIZE, replica: onReplicas },
    lanes: {
      write: { pool: "write" },
      read: { pool: read },
      search: { pool: read, most: searches },
      admin: { pool: "admin" },
      "replica read": { pool: "replica" },
      "replica search": { pool: "replica", most: half(onReplicas) },
    },
  });
  options.outOfPatience?.addEventListener("abort", turns.close, { once: true });

  const inTurn = async <Result>(lane: Place, work: () => Promise<Result>): Promise<Result> => {
    const request = currentRequest();
    // The service's own few calls do not wait for callers.
    if (request?.caller === undefined) return work();
    if (options.isPrepared?.() === false) throw STARTING;
    const turn = turns.take(request.caller, lane, request);
    request.isStarted = true;
    const end = await measured("turn", { name: `turn ${lane}` }, () => turn);
    let succeeded = true;
    try {
      return await work();
    } catch (error) {
      succeeded = !isUnavailable(error);
      throw error;
    } finally {
      end(succeeded);
    }
  };

  const database: Database = {
    async call(actor, name, given, lane = "write", note) {
      const [kind, hash] = whoOf(actor);
      const refusal = hash && callers.refusalOf(hash);
      if (refusal) throw refusal;

      // A search that has to be counted writes (internal.enter_search), so it cannot use a replica.
      const isCounted = lane === "search" && hash !== null && counted.get(keyOf(hash)) === true;
      let row: Row | undefined;
      const run = async (sessions: pg.Pool): Promise<string> => {
        const args = typeof given === "function" ? await given() : given;
        const mode = lane === "write" || isCounted ? "write" : "read";
        // The connections of quick reads are shared.
        const isQuick = lane === "read" || lane === "present read";
        // No answer to a visitor contains a link to an offer.
        const settings = () => settingsOf(mode, hash === null ? "" : (options.baseUrl?.() ?? ""));
        const names = Object.keys(args);
        const entering = embedded && kind === "visitor" ? "embedded visitor" : kind;
        const { text, name: statementName, step } = prepare(entering, mode, settings().names, name, names);
        const parameters = names.map((argument) => toParameter(args[argument] ?? null));
        const statement = () => {
          const values = [...(hash === null ? [] : [hash]), ...settings().values, ...parameters];
          return embedded || pooled ? { text, values } : { text, values, name: statementName };
        };
        const result = await measured("db", step, () =>
          isQuick && sessions === reader && runShared !== null
            ? runShared<Row>(statement())
            : runOn<Row>(sessions, statement),
        );
        [row] = result.rows;
        return row?.body ?? "null";
      };

      /** Reads on a replica; null if the primary has to answer. */
      const runOnReplica = async (): Promise<string | null> => {
        // A visitor has no account whose writes could be known.
        if (replicas === null || lane === "write" || lane === "present read" || isCounted || hash === null) return null;
        return inTurn(`replica ${lane}`, () =>
          replicas.read(
            hash,
            (sessions) =>
              run(sessions).catch((error: unknown) => {
                // Others' rows may not have arrived yet, such as the id that another agent has just passed on.
                if (isRefusal(error) && !/^PT40[14]$/.test(codeOf(error))) throw error;
                // A statement that took too long would take as long on the primary.
                if (codeOf(error) === "57014") throw error;
                // A query that conflicts with what the replica replays (40001) says nothing about the replica.
                if (isUnavailable(error) && codeOf(error) !== "40001") replicas.failed(sessions);
                return null;
              }),
            OFFERS_IN[name],
          ),
        );
      };

      try {
        const place = lane === "present read" ? "read" : lane;
        const body = (await runOnReplica()) ?? (await inTurn(place, () => run(lane === "write" ? writer : reader)));
        if (hash !== null) callers.accept(hash, row?.turns ?? "shared");
        if (kind === "agent") uses.note(hash);
        if (row?.headers) note?.(JSON.parse(row.headers) as Record<string, number>);
        else if (isCounted) counted.delete(keyOf(hash));
        return body;
      } catch (error) {
        // A search that only reads and has to be counted.
        if (lane === "search" && hash !== null && !isCounted && codeOf(error) === "25006") {
          counted.set(keyOf(hash), true);
          return database.call(actor, name, given, lane, note);
        }
        if (kind !== "visitor" && isUnknownCaller(error)) {
          // All these errors are the same, so one is kept.
          unknown[kind] ??= error;
          callers.refuse(hash, unknown[kind]);
          // Any other problem was found after the caller was.
        } else if (hash !== null && isRefusal(error)) callers.accept(hash, callers.turnsOf(hash));
        throw error;
      }
    },
    inTurn,
    callers,
    turns,
    async check() {
      await writer.query("select api.get_taxonomy()");
      if (reader !== writer) await reader.query("select api.get_taxonomy()");
    },
    state: async () => (await writer.query<{ state: unknown }>("select inspect.state() as state")).rows[0]?.state,
    pools: {
      write: writer,
      ...(reader === writer ? {} : { read: reader }),
      ...Object.fromEntries(replicaPools.map(({ name, pool }) => [name, pool])),
    },
    replicas: () => replicas?.states() ?? [],
    async close() {
      await replicas?.close();
      await uses.close();
      await writer.end();
      if (reader !== writer) await reader.end();
    },
  };
  return database;
};
