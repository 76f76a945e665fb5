import test from "ava";
import pg from "pg";
import { rolledBack } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Answer, type Caller, openMarket, refused, vectorOf } from "./market.ts";

/**
 * What a DBA sees: that inspect.check() speaks of every row that is wrong and of no other, and that the views answer.
 *
 *   seller, buyer   approved agents of two accounts: a sofa, a search for one, and their match
 *   as a dba        in the rights of souk_dba
 */

let market: Awaited<ReturnType<typeof openMarket>>;
let client: pg.Client;
let seller: Caller;
let buyer: Caller;
let stranger: Caller;
const id = { offer: "", ask: "" };

test.before(async () => {
  market = await openMarket();
  client = new pg.Client({ connectionString: market.url });
  await client.connect();
  [seller, buyer, stranger] = [await market.approved(), await market.approved(), await market.connect()];
  id.offer = await market.offer(seller, { price: "180 EUR", words: "Smoke-free home", vector: vectorOf("sofa") });
  id.ask = await market.ask(buyer, { max: "200 EUR", vector: vectorOf("sofa") });
  await finishJobs();
});

test.after.always(async () => {
  await client?.end();
  await market?.close();
});

/** As if workers had done all that waits. */
const finishJobs = () => market.sql("delete from graphile_worker._private_jobs");

/** Runs as souk_dba, in a transaction that is rolled back with all that came before in it. */
const asDba = async (text: string, values: unknown[] = []): Promise<Answer[]> => {
  await client.query("set local session authorization souk_dba");
  const { rows } = await client.query(text, values);
  await client.query("reset session authorization");
  return rows;
};

const read = (text: string, values: unknown[] = []): Promise<Answer[]> => rolledBack(client, () => asDba(text, values));

test.serial("a market in order breaks no invariant", async (t) => {
  const [{ count }] = await market.sql("select count(*)::int from market.match");
  t.is(count, 1, "there is a match to look at");
  await assertInvariants(t, market.url);
});

/** A text that has just been admitted, with its call and its key, and its job done or lost. */
const SUBMISSION = `
  insert into market.call (scope, action) select 'agent:' || $1::text, 'publish_offer';
  insert into market.submission (id, kind, account_id, agent_id, target_id, text, created_at, settled_at, status)
  select '00000000-0000-7000-8000-000000000001', 'publish_offer', account_id, id, '00000000-0000-7000-8000-000000000002',
    'Sofa', now() - interval '1 second' * AGE, SETTLED
  from market.agent where id = $1;`;
const submission = (age: number, settled: string) =>
  SUBMISSION.replace("AGE", String(age)).replace("SETTLED", settled).replaceAll("$1", `'${seller.agent}'`);
const withJob = (task: string, row: string) =>
  `select graphile_worker.add_job('${task}', json_build_object('id', '${row}'), job_key => '${task}:${row}');`;
const JOB_OF_SUBMISSION = withJob("read_submission", "00000000-0000-7000-8000-000000000001");

/** Per invariant what breaks it, past every trigger, and what inspect.check() then names, or how its name begins. */
const CORRUPTIONS: Record<string, () => { how: string; object: string }> = {
  account_has_record: () => ({
    how: `delete from market.publisher where account_id = '${stranger.account}'`,
    object: `account ${stranger.account}`,
  }),
  record_equals_recount: () => ({
    how: `update market.publisher set active = active + 1 where account_id = '${seller.account}'`,
    object: `account ${seller.account}`,
  }),
  connected_agent_has_person: () => ({
    how: `update market.account set claimed_at = null where id = '${seller.account}'`,
    object: `agent ${seller.agent}`,
  }),
  approval_is_whole: () => ({
    how: `update market.connection set approved_at = now() where agent_id = '${stranger.agent}'`,
    object: `agent ${stranger.agent}`,
  }),
  removed_agent_has_no_link: () => ({
    how: `update market.agent set removed_at = now() where id = '${stranger.agent}'`,
    object: `agent ${stranger.agent}`,
  }),
  submission_is_counted: () => ({
    how: `${submission(1, "now(), 400")} delete from market.call`,
    object: `agent ${seller.agent}`,
  }),
  call_is_past: () => ({
    how: `insert into market.call (id, scope, action, called_at) overriding system value
          values (4711, 'agent:${seller.agent}', 'publish_offer', now() + interval '1 hour')`,
    object: "call 4711",
  }),
  window_keeps_to_cap: () => ({
    how: `insert into market.call (scope, action) select 'agent:${seller.agent}', 'publish_offer' from generate_series(1, 601)`,
    object: `agent:${seller.agent}`,
  }),
  key_has_answer: () => ({
    how: `insert into market.idempotency_key (agent_id, key, request_hash) values ('${seller.agent}', 'lost', sha256('x'))`,
    object: `agent ${seller.agent}`,
  }),
  submission_is_settled: () => ({
    how: `${submission(1000, "null, null")} ${JOB_OF_SUBMISSION}`,
    object: "submission 00000000-0000-7000-8000-000000000001",
  }),
  submission_has_job: () => ({
    how: submission(1, "null, null"),
    object: "submission 00000000-0000-7000-8000-000000000001",
  }),
  answer_tells_the_truth: () => ({
    how: submission(1, "now(), 201"),
    object: "submission 00000000-0000-7000-8000-000000000001",
  }),
  offer_has_contact: () => ({
    how: `update market.offer set contact = '{}' where id = '${id.offer}'`,
    object: `offer ${id.offer}`,
  }),
  offer_has_vector: () => ({
    how: `delete from market.offer_embedding where offer_id = '${id.offer}'`,
    object: `offer ${id.offer}`,
  }),
  ask_has_vector: () => ({
    how: `delete from market.ask_embedding where ask_id = '${id.ask}';
          update market.ask set read_at = now() - interval '11 minutes'`,
    object: `ask ${id.ask}`,
  }),
  ask_is_read: () => ({
    how: `update market.ask set read_at = null, updated_at = now() - interval '61 minutes'; delete from market.match`,
    object: `ask ${id.ask}`,
  }),
  match_is_of_a_live_offer: () => ({
    how: `update market.offer set status = 'archived' where id = '${id.offer}'; update market.publisher set active = 0`,
    object: `match of ask ${id.ask} and offer ${id.offer}`,
  }),
  match_is_of_a_read_ask: () => ({
    how: "update market.ask set read_at = null",
    object: `match of ask ${id.ask} and offer ${id.offer}`,
  }),
  match_is_of_an_active_ask: () => ({
    how: "update market.ask set status = 'archived', updated_at = now() - interval '2 minutes'",
    object: `match of ask ${id.ask} and offer ${id.offer}`,
  }),
  match_is_of_its_kind: () => ({
    how: "update market.ask set ask_kind = 'rent'",
    object: `match of ask ${id.ask} and offer ${id.offer}`,
  }),
  match_is_not_ones_own: () => ({
    how: `update market.ask set account_id = '${seller.account}'`,
    object: `match of ask ${id.ask} and offer ${id.offer}`,
  }),
  match_is_within_price: () => ({
    how: "update market.ask set price_max_hundredths = 17999",
    object: `match of ask ${id.ask} and offer ${id.offer}`,
  }),
  match_is_not_excluded: () => ({
    how: "update market.ask set exclude_query = 'smoke'",
    object: `match of ask ${id.ask} and offer ${id.offer}`,
  }),
  job_is_not_held_by_the_dead: () => ({
    how: `select graphile_worker.add_job('embed_offer', json_build_object('id', '${id.offer}'));
          update graphile_worker._private_jobs set locked_by = 'pool-dead', locked_at = now() - interval '6 minutes'`,
    object: "job ",
  }),
  nothing_outlives_its_time: () => ({
    how: "update market.call set called_at = now() - interval '27 hours'; delete from market.submission",
    object: "calls",
  }),
};

test.serial("each invariant has a test that breaks it", async (t) => {
  const rows = await market.sql("select invariant from market.invariant");
  t.deepEqual(rows.map(({ invariant }) => invariant).sort(), Object.keys(CORRUPTIONS).sort());
});

for (const invariant of Object.keys(CORRUPTIONS)) {
  test.serial(`inspect.check() speaks when a row breaks ${invariant}`, async (t) => {
    const corruption = CORRUPTIONS[invariant]?.();
    if (!corruption) throw new Error("there is one for each name");
    const found = await rolledBack(client, async () => {
      await client.query("set local session_replication_role = replica");
      await client.query(corruption.how);
      return asDba("select invariant, object, detail from inspect.check()");
    });
    const expected = found.find((row) => row.invariant === invariant && row.object.startsWith(corruption.object));
    t.truthy(expected?.detail, JSON.stringify(found));
    t.deepEqual([...new Set(found.map((row) => row.invariant))], [invariant], "and of nothing else");
  });
}

test.serial(
  "a job that is on its way mends what it is about: inspect.check() waits for it, but not for ever",
  async (t) => {
    const found = (age: string) =>
      rolledBack(client, async () => {
        await client.query("set local session_replication_role = replica");
        await client.query(`delete from market.offer_embedding; update market.ask set price_max_hundredths = 100;
        ${withJob("embed_offer", id.offer)} update graphile_worker._private_jobs set created_at = now() - interval '${age}'`);
        return (await asDba("select invariant from inspect.check()")).map((row) => row.invariant);
      });
    t.deepEqual(await found("1 hour"), []);
    t.deepEqual(await found("3 hours"), ["offer_has_vector", "match_is_within_price"]);
  },
);

test.serial("what the worker's clock finds is kept, and a sample that shows nothing does not mend it", async (t) => {
  const noted = async () =>
    (await market.sql("select invariant, broken, example from market.invariant where broken > 0")).map((row) => row);
  await market.sql("update market.publisher set active = 7 where account_id = $1", [seller.account]);
  await market.sql(
    "insert into market.idempotency_key (agent_id, key, request_hash) values ($1, 'lost', sha256('x'))",
    [seller.agent],
  );
  await market.work("check_invariants", 1000);
  t.deepEqual((await noted()).map(({ invariant, broken }) => [invariant, broken]).sort(), [
    ["key_has_answer", 1],
    ["record_equals_recount", 1],
  ]);
  t.regex((await noted())[0]?.example ?? "", /^(account|agent) .*: /);
  await market.sql("update market.publisher set active = 1 where account_id = $1", [seller.account]);
  await market.sql("delete from market.idempotency_key");
  await market.work("check_invariants", 1000);
  t.deepEqual(
    (await noted()).map(({ invariant }) => invariant),
    ["record_equals_recount"],
    "what is always looked at whole is right again at once; the other until everything was looked at",
  );
  await market.work("check_invariants", null);
  t.deepEqual(await noted(), []);
  const [{ state }] = await market.sql("select inspect.state() as state");
  t.is(state.invariants.record_equals_recount, 0);
  t.true(state.checked_seconds_ago < 60);
});

test.serial("from the views alone a DBA finds out why an agent gets 429, and when it does not any more", async (t) => {
  const agent = await market.approved();
  await market.sql("update market.account set created_at = now() - interval '40 days' where id = $1", [agent.account]);
  await market.sql(
    "insert into market.proved_method (account_id, method, subject_hash) values ($1, 'google', sha256('429'))",
    [agent.account],
  );
  // 60 + 30 for the method + 60 for the age, halved by one removal.
  await market.sql(
    `insert into market.offer (account_id, status, text, title, published_at, removed_at)
     values ($1, 'removed', 'Sofa', 'Sofa', now() - interval '5 days', now() - interval '1 day')`,
    [agent.account],
  );
  await market.sql(
    `insert into market.call (scope, action, called_at)
     select 'agent:' || $1::text, 'publish_offer', now() - interval '1 minute' * n from generate_series(1, 50) as n`,
    [agent.agent],
  );
  const publish = () =>
    market.call(agent, "submit_offer", {
      body: { text: "Sofa" },
      idempotency_key: null,
      request_hash: null,
      errors: [],
    });
  const why = async () =>
    Object.fromEntries(
      (await read("select * from inspect.why_429 where agent_id = $1", [agent.agent])).map((row) => [row.action, row]),
    );
  const before = await why();
  t.like(before["publish_offer"], {
    refused: false,
    used: 50,
    cap: 75,
    base: 60,
    factor: 1,
    settled_offers: 0,
    proved_methods: 1,
    account_is_old: true,
    recent_removals: 1,
    next_slot_in: 0,
  });
  t.is(before["create_ask"].used, 0);
  await market.sql(
    "insert into market.call (scope, action) select 'agent:' || $1::text, 'publish_offer' from generate_series(1, 25)",
    [agent.agent],
  );
  t.is(await refused(publish()), "429 rate_limited");
  const after = await why();
  t.like(after["publish_offer"], { refused: true, used: 75, cap: 75 });
  t.false(after["create_ask"].refused);
  t.true(Math.abs(after["publish_offer"].next_slot_in - 600) <= 2, "the call of fifty minutes ago leaves in ten");
  t.is(
    after["publish_offer"].reason.replace(/in \d+ seconds/, "in N seconds"),
    "75 of 75 calls of the last hour are used, so the next is refused with 429; in N seconds a slot is free. The cap: 60 + 1 x (4 x 0 settled offers + 30 x 1 proved methods + 60 for an account of 30 days), at most 600, halved 1 times for offers removed within 30 days, but not below 15.",
  );
  await market.sql(
    "update market.call set called_at = called_at - interval '601 seconds' where scope = 'agent:' || $1::text",
    [agent.agent],
  );
  t.false((await why())["publish_offer"].refused);
  await t.notThrowsAsync(publish());
  await market.sql("delete from market.submission where agent_id = $1", [agent.agent]);
  await finishJobs();
});

test.serial("each view answers a DBA, and its comment says when to ask it", async (t) => {
  const views = await market.sql(
    `select c.relname as name, obj_description(c.oid, 'pg_class') as comment, c.reloptions as options
     from pg_class c where c.relnamespace = 'inspect'::regnamespace and c.relkind = 'v' order by 1`,
  );
  t.true(views.length >= 15);
  for (const { name, comment, options } of views) {
    t.regex(comment, /^When /, name);
    t.deepEqual(options, ["security_invoker=true"], `${name} shows nothing that its reader may not see`);
    await t.notThrowsAsync(read(`select * from inspect.${name}`), name);
  }
});

test.serial("the views tell what is going on", async (t) => {
  await rolledBack(client, async () => {
    await client.query("set local session_replication_role = replica");
    await client.query(`${submission(700, "null, null")}
      insert into market.idempotency_key (agent_id, key, request_hash, submission_id, created_at)
      values ('${seller.agent}', 'k', sha256('x'), '00000000-0000-7000-8000-000000000001', now() - interval '11 minutes');
      ${JOB_OF_SUBMISSION} ${withJob("embed_offer", id.offer)} ${withJob("embed_ask", id.ask)}
      insert into market.worker_heartbeat (pool_id) values ('pool-alive');
      update graphile_worker._private_jobs set locked_by = 'pool-dead', locked_at = now() - interval '1 minute' where key like 'read%';
      update graphile_worker._private_jobs set locked_by = 'pool-alive', locked_at = now() where key like 'embed_ask%';
      update graphile_worker._private_jobs set attempts = 25, max_attempts = 25, last_error = 'no' where key like 'embed_offer%';
      update market.offer_embedding set model = 'text-embedding-3-small';`);
    const value = async (text: string) => Object.values((await asDba(text))[0] ?? {});
    t.deepEqual(await value("select agent_id, kind, stuck, job_state from inspect.submissions_waiting"), [
      seller.agent,
      "publish_offer",
      true,
      "held by a dead worker",
    ]);
    t.deepEqual(await value("select agent_id, key, stuck from inspect.keys_in_flight"), [seller.agent, "k", true]);
    t.deepEqual(await asDba("select task, state from inspect.jobs order by 1"), [
      { task: "embed_ask", state: "running" },
      { task: "embed_offer", state: "failed for good" },
      { task: "read_submission", state: "held by a dead worker" },
    ]);
    t.deepEqual(await asDba("select pool_id, alive, jobs::int from inspect.workers order by 1"), [
      { pool_id: "pool-alive", alive: true, jobs: 1 },
      { pool_id: "pool-dead", alive: false, jobs: 1 },
    ]);
    t.deepEqual(
      await asDba(
        "select items::int, with_vector::int, of_another_model::int, without_vector::int, percent::float, jobs_failed::int from inspect.embedding_progress where kind = 'offer'",
      ),
      [{ items: 1, with_vector: 0, of_another_model: 1, without_vector: 0, percent: 0, jobs_failed: 1 }],
    );
    t.deepEqual(
      await value(
        `select connected_at is not null, submissions_waiting::int from inspect.agents where agent_id = '${seller.agent}'`,
      ),
      [true, 1],
    );
    t.deepEqual(
      await value(
        `select used_last_hour::int from inspect.windows where scope = 'agent:${buyer.agent}' and action = 'create_ask'`,
      ),
      [1],
    );
    t.deepEqual(await value("select last_week::int >= 1 from inspect.growth where what = 'offers'"), [true]);
    t.deepEqual(
      await value("select total_bytes > 0 from inspect.table_sizes where schema = 'market' and \"table\" = 'offer'"),
      [true],
    );
    t.deepEqual(await value("select needed_without_scans from inspect.index_use where index = 'offer_pkey'"), [true]);
    t.deepEqual(await value("select connections > 0 from inspect.connections"), [true]);
  });
});

test.serial("who waits for a lock, and for whom, is one row", async (t) => {
  const [holder, waiter] = [new pg.Client(market.url), new pg.Client(market.url)];
  await Promise.all([holder.connect(), waiter.connect()]);
  await holder.query("begin; lock table market.report");
  const waiting = waiter.query("select from market.report");
  try {
    let rows: Answer[] = [];
    for (let tries = 0; rows.length === 0 && tries < 100; tries++)
      rows = await read("select query, blocking_state, blocking_query from inspect.blocked");
    t.deepEqual(rows, [
      {
        query: "select from market.report",
        blocking_state: "idle in transaction",
        blocking_query: "begin; lock table market.report",
      },
    ]);
  } finally {
    await holder.end();
    await waiting;
    await waiter.end();
  }
});

/** Words that stand in the names of columns whose content nobody needs for an incident. */
const CLOSED =
  /hash|secret|\bcode|text|title|contact|comment|body|metadata|extraction|criteria|query|search|place|reasons|embedding|display_name|address|images|location|warnings|note/;
/** Such names with nothing of the kind in them. */
const OPEN = ["market.embedding_model.search_floor"];

test.serial("a DBA reads every table, writes none, and sees no secret, no text and no contact", async (t) => {
  const columns = await market.sql(
    `select format('%I.%I', n.nspname, c.relname) as "table", a.attname as "column",
       has_column_privilege('souk_dba', c.oid, a.attnum, 'select') as open,
       has_column_privilege('souk_dba', c.oid, a.attnum, 'insert, update, references')
         or has_table_privilege('souk_dba', c.oid, 'delete, truncate, trigger') as writable
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname = 'market' and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`,
  );
  t.deepEqual(
    columns.filter((c) => c.writable),
    [],
  );
  const tables = [...new Set(columns.map((c) => c.table))];
  t.deepEqual(
    tables.filter((table) => !columns.some((c) => c.table === table && c.open)),
    [],
    "a new table says in inspect/rights.sql what of it a DBA may read",
  );
  t.deepEqual(
    columns
      .filter((c) => c.open && CLOSED.test(c.column))
      .map((c) => `${c.table}.${c.column}`)
      .filter((name) => !OPEN.includes(name)),
    [],
  );
  const policies = await market.sql(
    `select format('%I.%I', schemaname, tablename) as "table" from pg_policies
     where policyname = 'a dba reads all' and roles = '{souk_dba}' and cmd = 'SELECT' and qual = 'true'`,
  );
  t.deepEqual(policies.map((p) => p.table).sort(), tables.sort());
  await t.throwsAsync(read("select token_hash from market.agent"), { code: "42501" });
  await t.throwsAsync(read("select contact from market.offer"), { code: "42501" });
  await t.throwsAsync(read("delete from market.report"), { code: "42501" });
  t.is((await read("select id from market.offer where id = $1", [id.offer])).length, 1);
});

test.serial(
  "every login has a limit of connections and of waiting, and together they leave room for a superuser",
  async (t) => {
    const roles = await market.sql(
      `select rolname as role, rolconnlimit as "limit", array(
       select split_part(setting, '=', 1) from pg_db_role_setting s, unnest(s.setconfig) as setting where s.setrole = r.oid) as settings
     from pg_roles r where rolname ~ '^souk_' and rolcanlogin order by 1`,
    );
    t.true(roles.length >= 4);
    for (const { role, limit, settings } of roles) {
      t.true(limit > 0, role);
      t.true(settings.includes("lock_timeout") && settings.includes("idle_in_transaction_session_timeout"), role);
      t.true(role === "souk_migrator" || settings.includes("statement_timeout"), role);
    }
    const total = roles.reduce((sum, { limit }) => sum + limit, 0);
    t.true(total <= 97, `${total}: PostgreSQL's default is 100, of which 3 are kept for superusers`);
  },
);

test.serial("what is checked by sample costs no more in a market ten times as large", async (t) => {
  const reads = async (sample: number | null) => {
    const plan = await rolledBack(client, async () => {
      await client.query("set local session_replication_role = replica");
      const { rows } = await client.query("explain (analyze, format json, buffers) select * from inspect.check($1)", [
        sample,
      ]);
      return rows[0]["QUERY PLAN"][0].Plan;
    });
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
  };
  const grow = (by: number) =>
    client.query(
      `with a as (insert into market.account (claimed_at) select now() from generate_series(1, $1) returning id)
       insert into market.offer (account_id, status, text, title, contact, published_at)
       select id, 'archived', 'Sofa', 'Sofa', '{"methods": [1]}', now() from a`,
      [by],
    );
  await grow(2_000);
  await client.query("vacuum analyze market.offer, market.publisher, market.account");
  const small = await reads(500);
  await grow(18_000);
  await client.query("vacuum analyze market.offer, market.publisher, market.account");
  const large = await reads(500);
  const whole = await reads(null);
  t.true(large < 3 * small, `${small} blocks, then ${large}`);
  t.true(whole > 4 * large, `${whole} blocks for everything`);
  await assertInvariants(t, market.url);
});
