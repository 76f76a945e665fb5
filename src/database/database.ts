import pg from "pg";
import { currentRequestId } from "./request_id.ts";

/** Who makes a call: an agent by its token's hash, a person by the session's, or nobody yet. */
export type Actor = { agent: Buffer } | { person: Buffer } | "visitor";

/** Arguments of an `api` function by name; objects travel as JSON. */
export type Arguments = Record<string, string | number | boolean | Buffer | null | object>;

/** The database as the HTTP layer sees it. */
export type Database = {
  /**
   * Runs one `api` function as the actor, in one statement, and gives its jsonb as text, unparsed.
   * "read" goes to sessions that cannot write, perhaps on a replica.
   * @throws what PostgreSQL raised; src/http/problem.ts knows what it means.
   */
  call(actor: Actor, name: string, args: Arguments, pool?: "read" | "write"): Promise<string>;
  /** Whether the database answers and holds the schema that this code needs. @throws when it does not. */
  check(): Promise<void>;
  /** The figures of inspect.state(), for /metrics. */
  state(): Promise<unknown>;
  /** Its pools by what they are for. */
  pools: Readonly<Record<string, pg.Pool>>;
  close(): Promise<void>;
};

/** How to reach the database, and as whom. */
export type DatabaseOptions = {
  url: string;
  readUrl: string | null;
  poolSize: number;
  /** The login role whose rights and timeouts this process takes, when it was given a more powerful login. */
  role: "souk_api" | "souk_worker";
  /** PGlite has one backend behind all connections: no named statements, no settings of a session. */
  embedded: boolean;
  onError: (error: Error) => void;
};

/** How long a request waits for a free connection: longer than any statement but a stuck one, shorter than clients wait. */
const ACQUISITION_TIMEOUT_MS = 2_000;

/**
 * Takes on a login role: its rights and its own settings (timeouts), whatever login the process was given.
 * With the login role's own password there is nothing to take on.
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

/** A pool whose sessions have the rights of a login role and no more. */
export const openPool = (options: DatabaseOptions, url: string, readOnly: boolean): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolSize,
    connectionTimeoutMillis: ACQUISITION_TIMEOUT_MS,
    application_name: `${options.role}${readOnly ? " read" : ""}`,
    ...(options.embedded ? {} : { onConnect: (client: pg.ClientBase) => takeRole(client, options.role, readOnly) }),
  });
  // Without a listener an idle connection that PostgreSQL closes would end the process.
  pool.on("error", options.onError);
  pool.on("connect", (client) => client.on("error", options.onError));
  return pool;
};

/** What has to be true before the function runs; $1 is the actor's secret. */
const ENTER = {
  agent: "internal.enter_agent($1)",
  person: "internal.enter_person($1)",
  visitor: null,
  // Where the login is the superuser's, a visitor takes on the login role that a server would have given it.
  "embedded visitor": "set_config('role', 'souk_api', true) = 'souk_api'",
} as const;

/**
 * The one statement of a call. Its parameters: the actor's secret (a visitor has none), the request's id when `traced`,
 * which the audit log writes down, then the arguments.
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
 * The database as the HTTP layer sees it. Each call is a single prepared statement that first enters as the actor
 * (`internal.enter_agent`, which PostgreSQL runs first because the CTE is materialized) and then calls one function.
 */
export const openDatabase = (options: DatabaseOptions): Database => {
  const writer = openPool(options, options.url, false);
  const reader = options.embedded ? writer : openPool(options, options.readUrl ?? options.url, true);
  const statements = new Map<string, string>();

  return {
    async call(actor, name, args, pool = "write") {
      const visitor = options.embedded ? "embedded visitor" : "visitor";
      const kind = actor === "visitor" ? visitor : "agent" in actor ? "agent" : "person";
      // What only reads leaves nothing in the audit log.
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
        // What a replica has not heard of yet may be a moment old: who is new, and what it made, asks the primary.
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
