import pg from "pg";
import type { Teardown } from "../support/database.ts";
import type { Market } from "./market.ts";

/**
 * Records which statements wait for which locks, for tests of locks. When PostgreSQL ends a deadlock, it names only the
 * process that it cancelled, and not what the others were doing.
 */

/**
 * PostgreSQL detects a deadlock after a second (deadlock_timeout), so each wait is sampled several times before that.
 */
const SAMPLE_MS = 150;

const WAITS = `
  select w.pid, left(regexp_replace(w.query, '^with actor .*\\) select ', ''), 60) as statement, w.wait_event as "waitsOn",
    coalesce((select string_agg(coalesce(r.relation::regclass::text, r.locktype), ', ' order by r.relation)
      from pg_locks r where r.pid = w.pid and (not r.granted or r.locktype = 'tuple')), '') as at,
    pg_blocking_pids(w.pid) as behind
  from pg_stat_activity w
  where w.datname = current_database() and w.wait_event_type = 'Lock'
    -- Leaves out the lock under which all databases of a server commit their notifications.
    and w.wait_event <> 'object'
  order by w.pid`;

type Wait = { pid: number; statement: string; waitsOn: string; at: string; behind: number[] };

export type Watch = {
  /** How many connections wait for a lock now. */
  count: () => Promise<number>;
  /**
   * Every wait that was sampled more than once, longest first: the statement, what it waits for, and the statements
   * that block it. "" if there was none.
   */
  told: () => string;
};

/**
 * Runs a statement in a transaction that stays open, to hold the locks that the statement takes.
 * @returns a function that releases the locks
 */
export const holdRows = async (
  url: string,
  t: Teardown,
  [statement, values]: [statement: string, values: unknown[]],
): Promise<() => Promise<void>> => {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  let held: Promise<void> | undefined;
  const release = () => {
    held ??= client.end();
    return held;
  };
  t.teardown(release);
  await client.query("begin");
  await client.query(statement, values);
  return release;
};

/** Samples the waits in a database until the test ends. */
export const watchWaits = async (url: string, t: Teardown): Promise<Watch> => {
  const client = new pg.Client({ connectionString: url });
  // The database may be dropped while this connection is open.
  client.on("error", () => {});
  await client.connect();
  const seen = new Map<string, number>();
  let watching = true;
  const sample = async (): Promise<Wait[]> => {
    const { rows } = await client.query<Wait>(WAITS);
    const statements = new Map(rows.map(({ pid, statement }) => [pid, statement]));
    for (const { pid, statement, waitsOn, at, behind } of rows) {
      const others = behind.map((other) => `${other} (${statements.get(other) ?? "not waiting"})`).join(", ");
      const line = `${pid} (${statement}) waits on ${waitsOn} ${at} behind ${others}`;
      seen.set(line, (seen.get(line) ?? 0) + 1);
    }
    return rows;
  };
  const watched = (async () => {
    while (watching) {
      await sample();
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
  })();
  // An error of the sampling must not fail the test.
  watched.catch(() => {});
  t.teardown(async () => {
    watching = false;
    await watched.catch(() => {});
    await client.end();
  });
  return {
    count: async () => (await sample()).length,
    told: () =>
      [...seen]
        .filter(([, times]) => times > 1)
        .sort(([, one], [, other]) => other - one)
        .map(([line, times]) => `${times} x ${line}`)
        .join("\n"),
  };
};

/** A transaction on its own connection that has run one statement. `end` commits it. */
export const begun = async (url: string, text: string, values: unknown[]): Promise<{ end: () => Promise<void> }> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("begin");
  await client.query(text, values);
  return {
    end: async () => {
      await client.query("commit");
      await client.end();
    },
  };
};

/**
 * Waits until a statement that contains `text` waits for a lock.
 * @param call the call that runs the statement
 * @throws what the call throws, or an Error if the call ends without having waited
 */
export const blocked = async (market: Pick<Market, "sql">, text: string, call: Promise<unknown>): Promise<void> => {
  let early: Error | undefined;
  call.then(
    (answer) => {
      early = new Error(`${text} did not wait for a lock, but returned ${JSON.stringify(answer)}`);
    },
    (error: Error) => {
      early = error;
    },
  );
  for (;;) {
    if (early) throw early;
    const rows = await market.sql`select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like ${`%${text}%`}`;
    if (rows.length > 0) return;
  }
};
