import { setTimeout as sleep } from "node:timers/promises";
import { openClient } from "../support/client.ts";
import type { Teardown } from "../support/database.ts";

/**
 * Finds which operations can deadlock, without waiting for a deadlock: each operation runs alone, in transactions that are
 * rolled back, and is stopped at each lock that it takes.
 *
 *   lock       a row, or the key of an advisory lock, and a mode
 *   state      an operation that waits for a lock, and what it holds meanwhile
 *   deadlock   two states that wait for each other, and can exist at the same time
 *
 * So every pair of operations is compared at every lock, although each operation runs only as often as it takes locks.
 */

/** What one transaction does, as a role. */
export type Operation = { name: string; text: string; values: unknown[]; role: string | null };

/** `against`: the weakest mode in which another transaction has to hold the lock, so that the operation waits. */
export type State = { operation: string; waitsFor: string; against: number; holds: Map<string, number> };

const MODES = ["key share", "share", "no key update", "update"] as const;
const UPDATE = 3;

/** A mode is its place in MODES: the stronger one is, the weaker ones it excludes. */
const excludes = (one: number, other: number): boolean => one + other >= UPDATE;

/** The locks of one backend. pgrowlocks names a row by its place in its table. */
const HELD = `
  select l.name::text || ' ' || r.locked_row as lock, max(array_position(
    '{Key Share,Share,No Key Update,Update}'::text[], replace(m.mode, 'For ', ''))) - 1 as mode
  from (
    select distinct l.relation::regclass as name from pg_locks l join pg_class c on c.oid = l.relation
    where l.pid = $1 and l.mode in ('RowShareLock', 'RowExclusiveLock') and c.relkind = 'r') as l
  cross join lateral pgrowlocks(l.name::text) as r
  cross join lateral unnest(r.modes, r.pids) as m (mode, pid)
  where m.pid = $1 group by 1
  union all
  select 'advisory ' || (l.classid::bigint << 32 | l.objid::bigint), case l.mode when 'ShareLock' then 1 else 3 end
  from pg_locks l where l.pid = $1 and l.locktype = 'advisory' and l.granted`;

/**
 * Small tables are read in the order in which their rows lie, which is the reverse order of their keys. So a statement
 * that locks several rows without saying in which order locks them in another order than the rest.
 */
const SETTINGS = "set local random_page_cost = 20; set local track_functions = 'all'";

const REVERSE = `do $$
  declare
    keyed record;
    place tid;
  begin
    set local session_replication_role = replica;
    for keyed in
      select i.indrelid::regclass as name, string_agg(format('%I desc', a.attname), ', ' order by k.n) as sorting,
        min(format('%1$I = %1$I', a.attname)) as nothing
      from pg_index i join pg_class c on c.oid = i.indrelid
      cross join lateral unnest(i.indkey) with ordinality as k (attnum, n)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum and a.attidentity = ''
      where i.indisprimary and c.relkind = 'r' and c.relnamespace = 'market'::regnamespace group by 1
    loop
      for place in execute format('select ctid from %s order by %s', keyed.name, keyed.sorting) loop
        execute format('update %s set %s where ctid = $1', keyed.name, keyed.nothing) using place;
      end loop;
    end loop;
  end $$`;

const CALLED = `
  select schemaname || '.' || funcname as name from pg_stat_xact_user_functions where calls > 0`;

const holding = (lock: string, mode: number): string => {
  const [, name, at] = /^(\S+) (.+)$/.exec(lock) ?? [];
  return name === "advisory"
    ? `select pg_advisory_xact_lock(${at})`
    : `select from ${name} where ctid = '${at}' for ${MODES[mode]}`;
};

/**
 * Runs operations against a database that nobody else uses.
 * @returns all their states, the functions that they called, and the errors of those that failed
 */
export const statesOf = async (
  url: string,
  operations: readonly Operation[],
  t: Teardown,
): Promise<{ states: State[]; called: Set<string>; failed: string[] }> => {
  const [actor, holder, watcher] = await Promise.all([openClient(url, t), openClient(url, t), openClient(url, t)]);
  await watcher.query("create extension if not exists pgrowlocks");
  await watcher.query(REVERSE);
  await watcher.query("analyze");
  const { pid } = (await actor.query("select pg_backend_pid() as pid")).rows[0];
  const states: State[] = [];
  const called = new Set<string>();
  const failed: string[] = [];

  const held = async (): Promise<Map<string, number>> =>
    new Map((await watcher.query(HELD, [pid])).rows.map(({ lock, mode }) => [lock, mode]));
  const begin = async ({ role, text, values }: Operation) => {
    await actor.query(`begin; ${SETTINGS}; set local role ${role ?? "none"}`);
    let over = false;
    const done = actor.query(text, values).then(
      () => null,
      (error: Error) => error.message,
    );
    void done.finally(() => {
      over = true;
    });
    return { done, isOver: () => over };
  };

  /** Lets an operation run until it waits for a lock that another transaction holds. */
  const stopAt = async (operation: Operation, lock: string, mode: number): Promise<void> => {
    await holder.query("begin");
    await holder.query(holding(lock, mode));
    const { done, isOver } = await begin(operation);
    const waiting = "select from pg_locks where pid = $1 and not granted";
    while (!isOver() && (await watcher.query(waiting, [pid])).rowCount === 0) await sleep(0);
    if (!isOver()) {
      states.push({ operation: operation.name, waitsFor: lock, against: mode, holds: await held() });
      await watcher.query("select pg_cancel_backend($1)", [pid]);
    }
    await done;
    await Promise.all([actor.query("rollback"), holder.query("rollback")]);
  };

  const takes = new Map<Operation, Map<string, number>>();
  for (const operation of operations) {
    const error = await (await begin(operation)).done;
    if (error !== null) failed.push(`${operation.name}: ${error}`);
    takes.set(operation, await held());
    if (error === null) for (const { name } of (await actor.query(CALLED)).rows) called.add(name);
    await actor.query("rollback");
  }
  for (const [operation, locks] of takes)
    for (const [lock, mode] of locks)
      if ([...takes].some(([other, theirs]) => other !== operation && excludes(theirs.get(lock) ?? -UPDATE, mode)))
        // A lock may be taken twice, first weakly. The weakest holder stops the operation the second time.
        for (const against of new Set([UPDATE, UPDATE - mode])) await stopAt(operation, lock, against);
  return { states, called, failed };
};

/** Returns the pairs of states that wait for each other, as sentences. */
export const deadlocksOf = (states: readonly State[]): string[] => {
  const waitsBehind = (one: State, other: State): boolean => (other.holds.get(one.waitsFor) ?? -1) >= one.against;
  const canCoexist = (one: State, other: State): boolean =>
    [...one.holds].every(([lock, mode]) => !excludes(mode, other.holds.get(lock) ?? -UPDATE));
  const sentences = states.flatMap((one, n) =>
    states
      .slice(n)
      .filter((other) => waitsBehind(one, other) && waitsBehind(other, one) && canCoexist(one, other))
      .map(
        (other) =>
          `${one.operation} waits for ${one.waitsFor} and holds ${other.waitsFor}, the reverse of ${other.operation}`,
      ),
  );
  return [...new Set(sentences)];
};
