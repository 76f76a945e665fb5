import { readFile } from "node:fs/promises";
import test from "ava";
import pg from "pg";
import { withClient } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import { eventually } from "../support/market.ts";
import { startPart } from "../support/service.ts";
import { type Answer, type Caller, refused, vectorOf } from "./market.ts";
import { market } from "./one_market.ts";
import { signing } from "./signing.ts";

/**
 * db/RUNBOOK.md, run literally: the test causes each incident, asks the question of the runbook as
 * souk_dba, runs the remedy as a superuser, and asks the question again.
 *
 *   look    the first block of an incident, a question of one or several statements
 *   act     the blocks after it
 */

const RUNBOOK = new URL("../../db/RUNBOOK.md", import.meta.url);

let agent: Caller;
let switches: string;
let incidents: { title: string; look: string; act: string | undefined }[];

test.before(async () => {
  agent = await market.approved();
  const runbook = await readFile(RUNBOOK, "utf8");
  [switches = ""] = /(?<=## Switches[\s\S]*```sql\n)[\s\S]*?(?=```)/.exec(runbook) ?? [];
  incidents = runbook
    .slice(runbook.indexOf("## Incidents"), runbook.indexOf("## Switches"))
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [look = "", act, ...more] = [...section.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = ""]) => sql);
      return { title: section.split("\n")[0] ?? "", look, act: more.length > 0 ? [act, ...more].join("\n") : act };
    });
});

/** Inserts variables as psql does: :'name' as a string, :"name" as an identifier. */
const filledIn = (text: string, variables: Record<string, string>): string =>
  text.replaceAll(/:(['"])(\w+)\1/g, (_match, quote: string, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`the runbook wants ${name}`);
    return quote === "'" ? pg.escapeLiteral(value) : pg.escapeIdentifier(value);
  });

const incident = (number: number) => {
  const found = incidents.find(({ title }) => title.startsWith(`${number}. `));
  if (!found) throw new Error(`the runbook has no incident ${number}`);
  return found;
};

/** The rows of each statement of an incident's question. */
const look = (number: number, variables: Record<string, string> = {}): Promise<Answer[][]> =>
  withClient(market.url, async (client) => {
    await client.query("set session authorization souk_dba; set default_transaction_read_only = on");
    const results = await client.query(filledIn(incident(number).look, variables));
    return (Array.isArray(results) ? results : [results]).map(({ rows }: { rows: Answer[] }) => rows);
  });

/** Runs the statements of an incident's remedy one after another. */
const act = (number: number, variables: Record<string, string> = {}): Promise<void> =>
  withClient(market.url, async (client) => {
    const statements = (incident(number).act ?? "").split(/;\n/).filter((statement) => statement.trim() !== "");
    if (statements.length === 0) throw new Error(`incident ${number} says nothing to do`);
    for (const statement of statements) await client.query(filledIn(statement, variables));
  });

/** Submits a text that waits to be read. */
const submit = async (key: string | null = null): Promise<string> =>
  (
    await market.call(agent, "publish_offer", {
      body: { text: "A sofa, 9 EUR, Kiel. Write to sofa@example.com" },
      idempotency_key: key,
      request_hash: key === null ? null : Buffer.alloc(32),
    })
  ).submission;

test.serial("the runbook has twelve incidents", (t) => {
  t.deepEqual(
    incidents.map(({ title }) => Number.parseInt(title, 10)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  );
});

test.serial("1: the views say why an agent gets 429", async (t) => {
  const busy = await market.approved();
  await market.sql`insert into market.rate_limit_hit (scope, action, called_at)
    select 'agent:' || ${busy.agent}::text, 'create_ask', now() - interval '20 minutes' from generate_series(1, 120)`;
  const ask = () => market.call(busy, "create_ask", { body: { text: "A sofa" } });
  t.is(await refused(ask()), "429 rate_limited");
  const [rows = []] = await look(1, { agent: busy.agent });
  const row = rows.find(({ action }) => action === "create_ask");
  t.like(row, { refused: true, used: 120, cap: 120 });
  t.regex(
    row.reason,
    /^120 of 120 calls of the last hour are used, so the next is refused with 429; in (239\d|2400) seconds a slot is free\. The cap: 120 \+ 2 x \(4 x 0 settled offers/,
  );
  const minutes = (row.next_slot_at.getTime() - Date.now()) / 60_000;
  t.true(minutes > 38 && minutes <= 40.1, `${minutes}`);
  await market.sql`delete from market.rate_limit_hit where scope = 'agent:' || ${busy.agent}::text`;
});

test.serial("2: texts wait because no worker runs, and starting one helps", async (t) => {
  await submit();
  const [[waiting] = [], workers = []] = await look(2);
  t.like(waiting, { kind: "publish_offer", stuck: false, job_state: "waiting", attempts: 0 });
  t.deepEqual(
    workers.filter(({ alive }) => alive),
    [],
  );
  const worker = await startPart("worker", { database: market.url });
  const after = await eventually(
    () => look(2),
    ([texts]) => texts?.length === 0,
  );
  t.is(after[1]?.filter(({ alive }) => alive).length, 1);
  await eventually(
    () => market.sql("select from graphile_worker.jobs where task_identifier = 'embed_offer'"),
    (rows) => rows.length === 0,
  );
  await worker.stop();
});

test.serial("3: the jobs of a dead worker are unlocked by hand", async (t) => {
  const submission = await submit();
  await market.sql`update graphile_worker._private_jobs
    set locked_by = 'pool-dead', locked_at = now() - interval '1 minute'`;
  const [[dead] = []] = await look(3);
  t.is(dead.pool_id, "pool-dead");
  await act(3, { pool: dead.pool_id });
  t.deepEqual((await look(3))[0], []);
  t.is((await look(2))[0]?.[0].job_state, "waiting");
  await market.work("complete_submission", submission, [{ contacts: [], features: [], attributes: [] }]);
  await market.sql("delete from graphile_worker._private_jobs");
});

test.serial("4: a job that has permanently failed is run again", async (t) => {
  await submit();
  await market.sql`update graphile_worker._private_jobs
    set attempts = max_attempts, last_error = 'the provider said no'`;
  const [[failed] = []] = await look(4);
  t.like(failed, { task: "complete_submission", last_error: "the provider said no" });
  await act(4, { job: String(failed.job_id) });
  t.deepEqual((await look(4))[0], []);
  t.is((await look(2))[0]?.[0].job_state, "waiting");
  await market.sql("delete from graphile_worker._private_jobs");
  await market.sql("delete from market.submission where completed_at is null");
});

test.serial("5: a key that stays in flight is freed", async (t) => {
  await submit("stuck");
  await market.sql("delete from graphile_worker._private_jobs");
  await market.sql`insert into market.idempotency_key (owner_id, key, request_hash)
    values (${agent.agent}, 'lost', sha256('x'))`;
  t.is(await refused(submit("stuck")), "409 idempotency_in_flight");
  await market.sql`update market.submission set created_at = now() - interval '11 minutes' where completed_at is null`;
  await market.sql("update market.idempotency_key set created_at = now() - interval '11 minutes'");
  const [keys = []] = await look(5, { agent: agent.agent });
  t.deepEqual(keys.map(({ key, stuck }) => [key, stuck]).sort(), [
    ["lost", true],
    ["stuck", true],
  ]);
  await act(5);
  t.deepEqual((await look(5, { agent: agent.agent }))[0], []);
  await t.notThrowsAsync(submit("stuck"));
  await market.sql("delete from market.submission where completed_at is null");
  await market.sql("delete from graphile_worker._private_jobs");
});

test.serial("6: missing vectors are requested again", async (t) => {
  await market.offer(await market.approved(), { vector: vectorOf("sofa") });
  await market.sql("delete from market.offer_embedding");
  await market.sql("delete from graphile_worker._private_jobs");
  const progress = async () => (await look(6))[0]?.find(({ kind }) => kind === "offer");
  const before = await progress();
  t.is(before.percent, "0.0");
  t.deepEqual([before.jobs, before.without_vector > 0], ["0", true]);
  await act(6);
  t.is((await progress()).jobs, "1", "one job covers all offers");
  const worker = await startPart("worker", { database: market.url });
  await eventually(progress, ({ percent, jobs }) => percent === "100.0" && jobs === "0");
  await worker.stop();
});

test.serial("7: inspect.check() states a remedy, and the one for account stats works", async (t) => {
  await market.sql`update market.account_stats set active = 9, lifetime = 0 where account_id = ${agent.account}`;
  const [[broken] = []] = await look(7);
  t.like(broken, { invariant: "stats_equal_recount", object: `account ${agent.account}` });
  t.regex(broken.detail, /^active, lifetime, removed are 9, 0, 0 and should be \d+, \d+, 0$/);
  t.regex(broken.remedy, /set active, lifetime and removed/);
  await act(7, { account: agent.account });
  t.deepEqual((await look(7))[0], []);
});

test.serial("8: the session that holds a lock is found and ended", async (t) => {
  const holder = new pg.Client(market.url);
  holder.on("error", () => {});
  await holder.connect();
  await holder.query("begin");
  await holder.query("lock table market.offer");
  const waiting = market.sql("select from market.offer limit 1");
  // The server also has the databases of other tests, whose sessions wait for each other.
  const query = "lock table market.offer";
  const found = async () => (await look(8))[0]?.find(({ blocking_query: blocking }) => blocking === query);
  const blocked = await eventually(found, (row) => row !== undefined);
  t.is(blocked?.blocking_state, "idle in transaction");
  await act(8, { pid: String(blocked?.blocked_by) });
  await t.notThrowsAsync(waiting);
  t.is(await found(), undefined);
  await holder.end().catch(() => {});
});

test.serial("9: sessions that are idle in a transaction are found and ended", async (t) => {
  const forgotten = new pg.Client({ connectionString: market.url, application_name: "a forgotten psql" });
  let ended = false;
  forgotten.on("error", () => {
    ended = true;
  });
  await forgotten.connect();
  await forgotten.query("begin");
  const session = async () => (await look(9))[0]?.find(({ application_name: name }) => name === "a forgotten psql");
  await eventually(session, (row) => row?.longest_idle_in_transaction !== undefined);
  await act(9, { idle: "1 minute" });
  t.like(await session(), { state: "idle in transaction", connections: "1" }, "a younger session is not ended");
  await act(9, { idle: "0" });
  await eventually(session, (row) => row === undefined);
  t.true(ended);
});

test.serial("10: time is shown by function and by statement, once statistics are switched on", async (t) => {
  await act(10, { database: new URL(market.url).pathname.slice(1) });
  await withClient(market.url, (client) =>
    client
      .query("select internal.enter_agent($1)", [agent.token])
      .then(() => client.query("select pg_stat_force_next_flush()")),
  );
  const [times = [], tables = []] = await eventually(
    () => look(10),
    ([rows]) => rows?.some(({ kind, place }) => kind === "function" && Number(place) === 1) ?? false,
  );
  const functions = times.filter(({ kind }) => kind === "function");
  t.true(functions.length <= 10);
  t.true(functions.some(({ what }) => what === "internal.enter_agent" || what === "internal.find_agent"));
  t.true(tables.some((row) => row.table === "offer" && row.analyzed_at !== null));
  const installed = await market.value`select exists (select from pg_available_extensions
    where name = 'pg_stat_statements') as installed`;
  const statements = times.filter(({ kind }) => kind === "statement");
  t.like(statements, [{ place: null, calls: null }], "without the extension one row says what to switch on");
  t.regex(String(statements[0]?.what), /create extension pg_stat_statements/);
  if (!installed) return;
  await market.sql("create extension pg_stat_statements");
  const [preloaded] = await market.sql`select current_setting('shared_preload_libraries') ~ 'pg_stat_statements' as
    yes`;
  const measured = ((await look(10))[0] ?? []).filter(({ kind, place }) => kind === "statement" && place !== null);
  t.is(measured.length, preloaded.yes ? 10 : 0);
});

test.serial("11: strangers ask for as many mails as they may, and the limit is raised", async (t) => {
  await market.sql`insert into market.rate_limit_hit (scope, action)
    select unnest(array['service', 'address:192.0.2.9']), 'sign_in_mail' from generate_series(1, 1000)`;
  await market.sql("update market.sign_in_method set available = true");
  const begin = () => signing(market).begin();
  t.is(await refused(begin()), "429 rate_limited");
  const [windows = []] = await look(11);
  t.deepEqual(windows.map(({ scope, used_last_hour }) => [scope, Number(used_last_hour)]).sort(), [
    ["address:192.0.2.9", 1000],
    ["service", 1000],
  ]);
  await act(11, { mails: "1100" });
  await t.notThrowsAsync(begin());
});

test.serial("12: a proposal that is over waits until the job has told both sides", async (t) => {
  const [lena, tom] = [await market.approved(), await market.approved()];
  const opened = await market.call(tom, "open_conversation", {
    id: await market.offer(lena, {}),
    body: { proposal: { handover: { method: "pickup" } }, contact: "Tom" },
    idempotency_key: null,
    request_hash: null,
    errors: "[]",
  });
  const conversation: string = opened.body.id;
  await market.sql`update market.proposal set expires_at = now() - interval '1 hour'
    where conversation_id = ${conversation}::uuid`;
  const [[row] = []] = await look(12, { conversation });
  t.like(row, { offer_status: "published", status: "open", pending: "proposal", waits_for: ["publisher"] });
  t.true(row.ends_at < new Date());
  await act(12);
  t.like((await look(12, { conversation }))[0]?.[0], { pending: null, waits_for: null });
});

test.serial("a switch ends all sandboxes, and another one allows no more", async (t) => {
  await market.sql("insert into market.sandbox default values");
  await market.sql(switches);
  t.deepEqual(await market.sql("select from market.sandbox where expires_at > now()"), []);
  t.deepEqual(await market.sql("select value from market.setting where name = 'sandbox_agents'"), [{ value: 0 }]);
});

test.serial("after all incidents every invariant holds", async (t) => {
  await assertInvariants(t, market.url);
});
