import { performance } from "node:perf_hooks";
import test from "ava";
import type { JobHelpers } from "graphile-worker";
import { createLog } from "../../src/base/log.ts";
import type { CallJobs } from "../../worker/database.ts";
import { inBatches } from "../../worker/tasks/batches.ts";
import { allowed } from "../support/busy.ts";
import { withClient } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import type { Caller } from "./market.ts";
import { market } from "./one_market.ts";

/**
 * What the scheduled jobs purge: everything that is past its time, in batches, without delaying requests.
 *
 *   old    rows past their time, enough for three batches
 *   young  rows not past their time
 */

const OLD = 25_000;
/** A batch on a busy machine. The statement timeout is five seconds for requests and sixty for the worker. */
const BATCH_MS = 5_000;
/** A request during a purge on a busy machine. It would take longer only if it waited for a batch. */
const REQUEST_MS = 1_000;

let agent: Caller;

test.before(async () => {
  agent = await market.approved();
});

const age = (what: string) => (what === "old" ? "31 days" : "23 hours");

const fill = (what: "old" | "young", rows: number) =>
  withClient(market.url, async (client) => {
    await client.query("set session_replication_role = replica");
    await client.query(
      `with s as (
         insert into market.submission (kind, account_id, agent_id, text, created_at, completed_at, status, body)
         select 'publish_offer', $1, $2, 'Sofa', now() - $3::interval, now() - $3::interval, 400, '{}'
         from generate_series(1, $4) returning id)
       insert into market.idempotency_key (owner_id, key, request_hash, submission_id, created_at)
       select $2, $5 || id, sha256('x'), id, now() - $3::interval from s`,
      [agent.account, agent.agent, age(what), rows, what],
    );
    await client.query(
      `insert into market.rate_limit_hit (scope, action, called_at)
       select 'address:' || n, 'connect', now() - $1::interval from generate_series(1, $2::integer) as n`,
      [age(what), 5 * rows],
    );
    await client.query(
      `insert into market.query_embedding (model, query_hash, embedding, created_at)
       select 'builtin-meaning-1', sha256(($2 || n)::bytea), array_fill(0.04419417, array[512])::public.halfvec, now() - $1::interval
       from generate_series(1, $3::integer) as n`,
      [age(what), what, rows / 5],
    );
    await client.query(
      "with a as (insert into market.account (created_at) select now() - $1::interval from generate_series(1, $2) returning id) insert into market.account_stats (account_id) select id from a",
      [age(what), rows / 10],
    );
  });

const left = async () => {
  const [row] = await market.sql`select (select count(*)::int from market.idempotency_key) as keys, (select
    count(*)::int from market.submission) as submissions,
    (select count(*)::int from market.rate_limit_hit where scope like 'address:%' and action = 'connect') as calls,
    (select count(*)::int from market.query_embedding) as vectors,
    (select count(*)::int from market.account where claimed_at is null) as accounts`;
  return row;
};

test.serial("rows past their time are purged in short batches, and requests do not wait for a batch", async (t) => {
  await fill("young", 100);
  const young = await left();
  await fill("old", OLD);
  let done = false;
  const waits: number[] = [];
  const requests = (async () => {
    for (let n = 0; !done; n++) {
      await market.sql`delete from market.rate_limit_hit where scope = 'agent:' || ${agent.agent}::text`;
      const start = performance.now();
      const { submission } = await market.call(agent, "publish_offer", {
        body: { text: "A sofa" },
        idempotency_key: `request ${n}`,
        request_hash: Buffer.alloc(32),
      });
      // A batch might lock the key of this request, like every other key.
      waits.push(performance.now() - start);
      await market.sql`delete from market.submission where id = ${submission}`;
    }
  })();
  const batches: number[] = [];
  const call = async (name: string) => {
    const start = performance.now();
    const purged = await market.work(name);
    batches.push(performance.now() - start);
    return [purged];
  };
  const purge = inBatches({ call: call as CallJobs, log: createLog("silent") }, "purge_keys");
  // On a busy machine the crontab's next run goes on.
  for (let run = 0; run < 4 && (await left()).keys > young.keys; run++) await purge({}, {} as JobHelpers);
  done = true;
  await requests;
  t.true(batches.length >= 3, `${batches.length} batches`);
  t.true(Math.max(...batches) < allowed(BATCH_MS), `the longest batch took ${Math.round(Math.max(...batches))} ms`);
  t.true(waits.length > 10, `${waits.length} requests`);
  t.true(Math.max(...waits) < allowed(REQUEST_MS), `the longest request took ${Math.round(Math.max(...waits))} ms`);
  t.deepEqual(await left(), young);
});

test.serial("a purge takes no table lock that blocks reads or writes, and skips locked rows", async (t) => {
  await fill("old", 10);
  const before = await left();
  await withClient(market.url, (other) =>
    withClient(market.url, async (worker) => {
      await other.query("begin");
      await other.query("select from market.idempotency_key where key like 'old%' limit 1 for update");
      await other.query(
        "select from market.rate_limit_hit where called_at < now() - interval '1 day' limit 1 for update",
      );
      await worker.query("set lock_timeout = '1s'; begin");
      await t.notThrowsAsync(worker.query("select jobs.purge_keys()"));
      const { rows } = await worker.query(
        "select distinct mode from pg_locks where pid = pg_backend_pid() and locktype = 'relation' and mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')",
      );
      t.deepEqual(rows, []);
      await worker.query("commit");
      await other.query("rollback");
    }),
  );
  const after = await left();
  t.is(before.keys - after.keys, 9);
  t.is(before.calls - after.calls, 49);
  await market.work("purge_keys");
  t.is((await left()).keys, before.keys - 10);
});

test.serial("submissions that no worker reads are withdrawn in short batches", async (t) => {
  await withClient(market.url, async (client) => {
    await client.query("set session_replication_role = replica");
    await client.query(
      `insert into market.submission (kind, account_id, agent_id, target_id, text, created_at)
       select 'publish_offer', $1, $2, internal.uuid_v7(), 'Sofa', now() - interval '11 minutes' from generate_series(1, 2500)`,
      [agent.account, agent.agent],
    );
  });
  const batches: number[] = [];
  const swept: number[] = [];
  for (let count = 1; count > 0; ) {
    const start = performance.now();
    count = await market.work("sweep_submissions");
    batches.push(performance.now() - start);
    swept.push(count);
  }
  t.deepEqual(swept, [1000, 1000, 500, 0]);
  t.true(Math.max(...batches) < allowed(BATCH_MS), `the longest batch took ${Math.round(Math.max(...batches))} ms`);
  await market.sql("delete from market.submission");
  await assertInvariants(t, market.url);
});

test.serial("notes of writes are purged in batches, however long no worker ran", async (t) => {
  const notes = async () => (await market.sql("select count(*)::integer as n from internal.recent_write"))[0].n;
  await market.sql("delete from internal.recent_write");
  await market.sql`insert into internal.recent_write (account_id, xid, written_at)
    select ${agent.account}, n::text::xid8, now() - interval '1 hour' from generate_series(1, 100010) as n`;
  await market.work("purge_keys");
  t.is(await notes(), 10);
  await market.work("purge_keys");
  t.is(await notes(), 0);
});
