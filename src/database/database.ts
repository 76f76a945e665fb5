import pg from "pg";
import { currentRequestId } from "./request_id.ts";

/** The caller: an agent (by the hash of its token), a person (by the hash of the session's secret), or a visitor. */
export type Actor = { agent: Buffer } | { person: Buffer } | "visitor";

/** Arguments of an `api` function by name. Objects are sent as JSON. */
export type Arguments = Record<string, string | number | boolean | Buffer | null | object>;

/** The database as the HTTP layer sees it. */
export type Database = {
  /**
   * Calls one `api` function as the actor, in one statement.
   * @param pool "read" uses read-only sessions, which may be on a replica
   * @returns the function's jsonb result as text, not parsed
   * @throws the error of PostgreSQL; src/http/problem.ts turns it into a problem
   */
  call(actor: Actor, name: string, args: Arguments, pool?: "read" | "write"): Promise<string>;
  /** Checks that the database answers and has our schema. @throws if not */
  check(): Promise<void>;
  /** Returns the result of inspect.state(), for /metrics. */
  state(): Promise<unknown>;
  /** The connection pools by their purpose: "write", and "read" if reads use a separate pool. */
  pools: Readonly<Record<string, pg.Pool>>;
  close(): Promise<void>;
};

/** How to connect to the database, and with which role. */
export type DatabaseOptions = {
  url: string;
  readUrl: string | null;
  poolSize: number;
  /** Sessions get the privileges and settings of this login role, even if `url` names a more powerful login. */
  role: "souk_api" | "souk_worker";
  /** PGlite has one backend for all connections, so named statements and settings of a session are not used. */
  embedded: boolean;
  onError: (error: Error) => void;
};

/** A request waits at most this long for a free connection. Only stuck statements take longer. Clients wait longer. */
const ACQUISITION_TIMEOUT_MS = 2_000;

/**
 * Gives a session the privileges and the settings (timeouts) of a login role, even if the process uses another login. A
 * session that has logged in as this role has them already.
 * @param readOnly whether the session must not write
 */
const takeRole = async (client: pg.ClientBase, role: string, readOnly: boolean): Promise<void> => {
  await client.query(
    `select set_config(split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1), false)
     from pg_roles r join pg_db_role_setting s on s.setrole = r.oid and s.setdatabase = 0, unnest(s.setconfig) as setting
     where r.rolname = $1 and session_user <> $1
     union all select set_config('role', $1, false) where session_user <> $1
     union all select set_config('default_transaction_read_only', 'on', false) where $2`,
    [role, readOnly],
  );
};

/** Opens a pool whose sessions have the privileges of one login role and no others. */
export const openPool = (options: DatabaseOptions, url: string, readOnly: boolean): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolSize,
    connectionTimeoutMillis: ACQUISITION_TIMEOUT_MS,
    application_name: `${options.role}${readOnly ? " read" : ""}`,
    ...(options.embedded ? {} : { onConnect: (client: pg.ClientBase) => takeRole(client, options.role, readOnly) }),
  });
  // Without these listeners, the process would end when PostgreSQL closes an idle connection.
  pool.on("error", options.onError);
  pool.on("connect", (client) => client.on("error", options.onError));
  return pool;
};

/**
 * For each kind of actor, the expression that identifies the caller and sets the caller's role and claims. It must be
 * true before the function runs. $1 is the hash.
 */
const ENTER = {
  agent: "internal.enter_agent($1)",
  person: "internal.enter_person($1)",
  visitor: null,
  // The login of the embedded database is a superuser, so a visitor's call must switch to the login role.
  "embedded visitor": "set_config('role', 'souk_api', true) = 'souk_api'",
} as const;

/**
 * Returns the statement of a call. Its parameters are: the hash that identifies the actor (none for a visitor), the
 * request id if `traced` (for the audit log), and the arguments in the order of `names`.
 */
export const statementOf = (kind: keyof typeof ENTER, name: string, names: string[], traced = false): string => {
  let place = kind.endsWith("visitor") ? 1 : 2;
  const request = traced ? `set_config('market.request_id', $${place++}, true) <> ''` : null;
  const args = names.map((argument) => `"${argument}" => $${place++}`).join(", ");
  const entering = [ENTER[kind], request].filter((step) => step !== null).join(" and ");
  const call = `select api.${name}(${args})::text as body`;
  return entering
    ? `with actor as materialized (select ${entering} as entered) ${call} from actor where entered`
    : call;
};

const toParameter = (value: Arguments[string]): string | number | boolean | Buffer | null =>
  typeof value === "object" && value !== null && !Buffer.isBuffer(value) ? JSON.stringify(value) : value;

/**
 * Opens the database for the HTTP layer. Each call is one prepared statement: it first enters as the actor (for example
 * by `internal.enter_agent`) and then calls one function. PostgreSQL keeps this order because the CTE is materialized.
 */
export const openDatabase = (options: DatabaseOptions): Database => {
  const writer = openPool(options, options.url, false);
  const reader = options.embedded ? writer : openPool(options, options.readUrl ?? options.url, true);
  const statements = new Map<string, string>();

  return {
    async call(actor, name, args, pool = "write") {
      const visitor = options.embedded ? "embedded visitor" : "visitor";
      const kind = actor === "visitor" ? visitor : "agent" in actor ? "agent" : "person";
      // The request id is for the audit log. Read-only calls write nothing to it.
      const request = pool === "write" ? currentRequestId() : null;
      const names = Object.keys(args);
      const key = `${kind} ${request === null ? "" : "traced "}${name} ${names.join(" ")}`;
      let text = statements.get(key);
      if (text === undefined) {
        text = statementOf(kind, name, names, request !== null);
        statements.set(key, text);
      }
      const values = names.map((argument) => toParameter(args[argument] ?? null));
      if (request !== null) values.unshift(request);
      if (actor !== "visitor") values.unshift("agent" in actor ? actor.agent : actor.person);
      const prepared = `${kind} ${request === null ? "" : "traced "}${name} ${names.length}`;
      const statement = { text, values, ...(options.embedded ? {} : { name: prepared }) };
      const on = async (sessions: pg.Pool) =>
        (await sessions.query<{ body: string }>(statement)).rows[0]?.body ?? "null";
      if (pool === "write" || reader === writer) return on(writer);
      try {
        return await on(reader);
      } catch (error) {
        // A replica may lag behind and not know a new token or a new row yet. So a 401 or 404 is tried again on the
        // primary.
        if (error instanceof Error && "code" in error && (error.code === "PT401" || error.code === "PT404"))
          return on(writer);
        throw error;
      }
    },
    async check() {
      await writer.query("select api.get_taxonomy()");
      if (reader !== writer) await reader.query("select api.get_taxonomy()");
    },
    state: async () => (await writer.query<{ state: unknown }>("select inspect.state() as state")).rows[0]?.state,
    pools: reader === writer ? { write: writer } : { write: writer, read: reader },
    async close() {
      await writer.end();
      if (reader !== writer) await reader.end();
    },
  };
};
