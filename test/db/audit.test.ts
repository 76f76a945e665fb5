import test from "ava";
import pg from "pg";
import { onBehalfOf } from "../../src/database/request_id.ts";
import { callJobs } from "../../worker/database.ts";
import { allowed } from "../support/busy.ts";
import { type Caller, openMarket } from "./market.ts";

/**
 * The audit log: who changed which row and how. Triggers write it, and no caller can change it.
 *
 *   events   the entries of the log about a row, oldest first
 */

let market: Awaited<ReturnType<typeof openMarket>>;

test.before(async () => {
  market = await openMarket();
  await market.sql("update market.sign_in_method set available = true where method = 'email'");
});
test.after.always(() => market?.close());

const events = (row: string) =>
  market.sql(
    `select actor_type, account_id, agent_id, sql_role, action, table_name, subject_account_id, before, after, request_id
     from market.audit_event where row_id = $1 order by at, id`,
    [row],
  );

/** Runs one statement as a superuser in a transaction with the given settings, and commits. */
const within = async (settings: Record<string, string>, text: string, values: unknown[] = []) => {
  const client = new pg.Client({ connectionString: market.url });
  await client.connect();
  try {
    await client.query("begin");
    for (const [name, value] of Object.entries(settings))
      await client.query("select set_config($1, $2, true)", [name, value]);
    await client.query(text, values);
    await client.query("commit");
  } finally {
    await client.end();
  }
};

test("the log names the agent whose text the worker published, and the person who archived it", async (t) => {
  const caller = await market.approved();
  const offer = await market.offer(caller);
  await market.callAsPerson(caller, "archive_offer", { id: offer });
  await market.call(caller, "republish_offer", { id: offer });
  const [published, archived, again, ...more] = await events(offer);
  t.deepEqual(more, []);
  const { account, agent } = caller;
  t.like(published, {
    actor_type: "agent",
    account_id: account,
    agent_id: agent,
    sql_role: "souk_worker",
    action: "offer.published",
    table_name: "offer",
    subject_account_id: account,
    before: null,
  });
  t.like(published.after, { status: "published", domain: "home_garden", price_hundredths: 18000, account_id: account });
  t.like(archived, {
    actor_type: "person",
    account_id: account,
    agent_id: null,
    sql_role: "souk_person",
    action: "offer.archived",
    before: { status: "published" },
    after: { status: "archived" },
  });
  t.like(again, { actor_type: "agent", agent_id: agent, sql_role: "souk_agent", action: "offer.published" });
});

test("a text that a person submitted names no agent", async (t) => {
  const caller = await market.approved();
  const { submission } = await market.callAsPerson(caller, "create_ask", {
    body: { text: "Wanted: a sofa" },
    idempotency_key: null,
    request_hash: null,
    errors: [],
  });
  const [{ target_id }] = await market.sql("select target_id from market.submission where id = $1", [submission]);
  t.like((await events(target_id))[0], { actor_type: "person", agent_id: null, account_id: caller.account });
});

test("the log has one entry for a new ask, none for reading its text, and one for a new text", async (t) => {
  const caller = await market.approved();
  const ask = await market.ask(caller);
  const { submission } = await market.call(caller, "update_ask", {
    id: ask,
    body: { text: "Wanted: lamp" },
    errors: [],
  });
  await market.work("complete_submission", submission, { title: null });
  await market.call(caller, "archive_ask", { id: ask });
  await market.call(caller, "reopen_ask", { id: ask });
  t.deepEqual(
    (await events(ask)).map(({ action, actor_type }) => [action, actor_type]),
    [
      ["ask.created", "agent"],
      ["ask.updated", "agent"],
      ["ask.archived", "agent"],
      ["ask.reopened", "agent"],
    ],
  );
});

test("the log names the agent or person behind a call that runs without a caller's role", async (t) => {
  const caller = await market.connect();
  t.like((await events(caller.agent))[0], {
    actor_type: "agent",
    agent_id: caller.agent,
    action: "agent.created",
    sql_role: "souk_api",
  });
  await market.call(null, "approve_connection", {
    secret_hash: caller.link,
    session_hash: null,
    new_session_hash: caller.session,
  });
  t.like((await events(caller.agent))[1], {
    actor_type: "person",
    account_id: caller.account,
    action: "agent.connected",
    before: { connected_at: null },
  });
  t.like((await events(caller.account))[0], { actor_type: "person", action: "account.claimed" });
});

test("the log says whether an agent removed itself or its person did", async (t) => {
  const [itself, other] = [await market.approved(), await market.approved()];
  await market.call(itself, "remove_own_agent");
  await market.callAsPerson(other, "remove_agent", { agent_id: other.agent });
  t.like((await events(itself.agent)).at(-1), { actor_type: "agent", action: "agent.removed", agent_id: itself.agent });
  t.like((await events(other.agent)).at(-1), { actor_type: "person", action: "agent.removed", agent_id: null });
});

test("a moderator, a worker's job and a DBA each have their own actor type", async (t) => {
  const caller = await market.approved();
  const offer = await market.offer(caller);
  const moderator = await market.approved();
  await within(
    {
      "market.moderator_id": moderator.account,
      "market.account_id": moderator.account,
      "market.request_id": "r-1",
      role: "souk_moderator",
    },
    "update market.offer set status = 'removed', review_note = 'A note' where id = $1",
    [offer],
  );
  await within({}, "update market.offer set status = 'published', reviewed = true where id = $1", [offer]);
  const [, removed, restored] = await events(offer);
  t.like(removed, {
    actor_type: "moderator",
    account_id: moderator.account,
    action: "offer.removed",
    subject_account_id: caller.account,
    request_id: "r-1",
  });
  t.false(JSON.stringify(removed).includes("A note"));
  t.like(restored, {
    actor_type: "dba",
    account_id: null,
    action: "offer.restored",
    sql_role: new URL(market.url).username,
    before: { status: "removed", reviewed: false },
    request_id: null,
  });
  await within({ role: "souk_worker" }, "select jobs.use_embedding_model('text-embedding-3-small')");
  t.like((await events("embedding_model")).at(-1), {
    actor_type: "job",
    sql_role: "souk_worker",
    action: "setting.updated",
    before: { value: "builtin-meaning-1" },
    after: { value: "text-embedding-3-small" },
  });
  await within(
    { role: "souk_owner" },
    "update market.setting set value = '\"builtin-meaning-1\"' where name = 'embedding_model'",
  );
  t.like((await events("embedding_model")).at(-1), { actor_type: "dba", sql_role: new URL(market.url).username });
});

test("an entry names the job and its number, also if the worker's login is a superuser", async (t) => {
  const pool = new pg.Pool({ connectionString: market.url, max: 1 });
  t.teardown(() => pool.end());
  const call = callJobs(pool, true);
  await onBehalfOf("job 7", () => call("use_embedding_model", "text-embedding-3-small"));
  t.like((await events("embedding_model")).at(-1), {
    actor_type: "job",
    sql_role: "souk_worker",
    request_id: "job 7",
    after: { value: "text-embedding-3-small" },
  });
  await call("use_embedding_model", "builtin-meaning-1");
  t.like((await events("embedding_model")).at(-1), { actor_type: "job", request_id: null });
  await pool.query("update market.setting set value = 'true' where name = 'pre_moderation'");
  t.like((await events("pre_moderation")).at(-1), { actor_type: "dba" }, "the session acts as the superuser again");
  await pool.query("update market.setting set value = 'false' where name = 'pre_moderation'");
});

test("claims that a DBA sets by hand do not change the actor in the log", async (t) => {
  const caller = await market.approved();
  const offer = await market.offer(caller);
  const claims = {
    "market.moderator_id": caller.account,
    "market.account_id": caller.account,
    "market.agent_id": caller.agent,
    "market.request_id": "r-2",
  };
  const toggle = "update market.offer set reviewed = not reviewed where id = $1";
  await within(claims, toggle, [offer]);
  await within({ ...claims, role: "souk_owner" }, toggle, [offer]);
  await within({ ...claims, session_authorization: "souk_migrator", role: "souk_owner" }, toggle, [offer]);
  const login = new URL(market.url).username;
  t.deepEqual(
    (await events(offer))
      .slice(1)
      .map(({ actor_type, account_id, agent_id, sql_role, request_id }) => [
        actor_type,
        account_id,
        agent_id,
        sql_role,
        request_id,
      ]),
    [
      ["dba", null, null, login, null],
      ["dba", null, null, login, null],
      ["dba", null, null, "souk_migrator", null],
    ],
  );
});

test("an update that changes nothing is not logged", async (t) => {
  const caller = await market.approved();
  const offer = await market.offer(caller);
  const before = await market.sql("select count(*)::int as n from market.audit_event where subject_account_id = $1", [
    caller.account,
  ]);
  await market.sql("update market.offer set status = status where id = $1", [offer]);
  await market.sql("update market.account set display_name = display_name where id = $1", [caller.account]);
  await market.callAsPerson(caller, "update_profile", { display_name: null, contact_email: null, contact_phone: null });
  await market.callAsPerson(caller, "update_profile", { display_name: null, contact_email: null, contact_phone: null });
  const [{ n }] = await market.sql("select count(*)::int as n from market.audit_event where subject_account_id = $1", [
    caller.account,
  ]);
  t.is(n, before[0].n);
});

test("an appeal, claims of its case and decisions are logged with their actor and without words", async (t) => {
  const [caller, other] = [await market.approved(), await market.approved()];
  const offer = await market.offer(caller);
  const moderator = await market.approved();
  await market.sql("insert into market.moderator (account_id, appointed_by) values ($1, 'a test'), ($2, 'a test')", [
    moderator.account,
    other.account,
  ]);
  const operate = async (call: string, who = moderator) => {
    const client = new pg.Client({ connectionString: market.url });
    await client.connect();
    try {
      await client.query("begin; set local role souk_api");
      await client.query("select internal.enter_moderator($1)", [who.session]);
      const seen = await client.query("select updated_at::text as at from market.offer where id = $1", [offer]);
      await client.query(call.replaceAll("OFFER", `'${offer}'`).replaceAll("SEEN", `'${seen.rows[0].at}'`));
      await client.query("commit");
    } finally {
      await client.end();
    }
  };
  const start = (await market.sql("select clock_timestamp()::text as at"))[0].at;
  // The second decision changes nothing in the offer, so only the decision itself is logged.
  await operate("select admin.keep_offer(OFFER, SEEN, 'Aardvark', 0)");
  await operate("select admin.keep_offer(OFFER, SEEN, 'Aardvark', 0)");
  await operate("select admin.remove_offer(OFFER, SEEN, 'spam', 'Aardvark', 0)");
  await market.call(caller, "appeal_offer", { id: offer, comment: "Aardvark" });
  await operate("select admin.claim_case(OFFER)", other);
  await operate("select admin.release_case(OFFER)", other);
  await operate("select admin.uphold_removal(OFFER, SEEN, 'Aardvark', 0)", other);
  const log = await market.sql(
    `select actor_type, account_id, action, row_id, subject_account_id, before, after from market.audit_event
     where at > $1::timestamptz and account_id = any ($2) order by at, id`,
    [start, [caller.account, moderator.account, other.account]],
  );
  const names = new Map([
    [caller.account, "caller"],
    [moderator.account, "moderator"],
    [other.account, "other"],
  ]);
  t.deepEqual(
    log.map(({ actor_type, account_id, action }) => `${actor_type} ${names.get(account_id)}: ${action}`),
    [
      "moderator moderator: offer.kept",
      "moderator moderator: decision.created",
      "moderator moderator: decision.created",
      "moderator moderator: offer.removed",
      "moderator moderator: decision.created",
      "agent caller: appeal.created",
      "moderator other: review_case.claimed",
      "moderator other: review_case.released",
      "moderator other: appeal.decided",
      "moderator other: decision.created",
    ],
  );
  for (const { action, row_id, subject_account_id } of log) {
    if (!action.startsWith("decision")) t.is(row_id, offer, action);
    t.is(subject_account_id, action.startsWith("review_case") ? null : caller.account, action);
  }
  t.deepEqual([log[1]?.after.action, log[4]?.after.reason], ["keep", "spam"]);
  t.deepEqual(log[6]?.after.held_by, other.account);
  t.false(JSON.stringify(log).includes("Aardvark"));
});

test("changing or deleting a decision, or deleting a case, by hand is logged", async (t) => {
  const caller = await market.approved();
  const offer = await market.offer(caller);
  await market.call(await market.approved(), "report_offer", { id: offer, reason: "spam", comment: null });
  const [{ id }] = await market.sql(
    "insert into market.decision (action, offer_id, account_id, sentence) values ('keep', $1, $2, 'Aardvark') returning id",
    [offer, caller.account],
  );
  await market.sql("update market.decision set sentence = 'Another' where id = $1", [id]);
  await market.sql("delete from market.decision where id = $1", [id]);
  t.deepEqual(
    (await events(id)).map(({ action, actor_type }) => [action, actor_type]),
    ["created", "updated", "deleted"].map((done) => [`decision.${done}`, "dba"]),
  );
  await market.sql("delete from market.review_case where offer_id = $1", [offer]);
  t.deepEqual(
    (await events(offer)).slice(1).map(({ action, actor_type }) => [action, actor_type]),
    [["review_case.deleted", "dba"]],
  );
});

test("truncating any audited table is logged", async (t) => {
  const own = await openMarket(t);
  const audited = await own.sql(
    `select distinct c.relname as name from pg_trigger tg join pg_class c on c.oid = tg.tgrelid
     where tg.tgfoid = 'internal.audit'::regproc order by 1`,
  );
  t.deepEqual(
    audited.map(({ name }) => name),
    Object.keys(MAY_STAND),
  );
  for (const { name } of audited) {
    const start = (await own.sql("select clock_timestamp()::text as at"))[0].at;
    await own.sql(`truncate market.${name} cascade`);
    const log = await own.sql(
      `select actor_type, sql_role, action, row_id, subject_account_id, before, after from market.audit_event
       where at > $1::timestamptz and table_name = $2`,
      [start, name],
    );
    t.deepEqual(
      log,
      [
        {
          actor_type: "dba",
          sql_role: new URL(own.url).username,
          action: `${name}.truncated`,
          row_id: "all",
          subject_account_id: null,
          before: null,
          after: null,
        },
      ],
      name,
    );
  }
});

/** Columns whose values may be in the log: ids, times, states and values of fixed lists. Review each new one. */
const MAY_STAND = {
  account: ["claimed_at", "suspended_at", "suspension_reason"],
  agent: ["account_id", "connected_at", "removed_at"],
  appeal: ["account_id", "agent_id", "decided_at", "offer_id", "removed_at"],
  ask: [
    "account_id",
    "agent_id",
    "ask_kind",
    "category",
    "domain",
    "language",
    "price_currency",
    "price_max_hundredths",
    "status",
    "watch_enabled",
  ],
  cap_override: ["action", "cap"],
  decision: ["account_id", "action", "agent_id", "moderator_id", "offer_id", "reason"],
  moderator: ["account_id", "appointed_by"],
  offer: [
    "account_id",
    "agent_id",
    "category",
    "domain",
    "language",
    "offer_kind",
    "origin_ask_id",
    "price_currency",
    "price_hundredths",
    "price_period",
    "published_at",
    "removed_at",
    "review_reason",
    "reviewed",
    "status",
    "suspended_at",
  ],
  profile: [],
  proved_method: ["method", "proved_at"],
  report: ["account_id", "agent_id", "completed_at", "offer_id", "reason"],
  review_case: ["held_by", "held_until"],
  setting: ["value"],
};

test("the log contains values of the listed columns only", async (t) => {
  const triggers = await market.sql(
    `select c.relname as name, tg.tgargs as columns from pg_trigger tg join pg_class c on c.oid = tg.tgrelid
     where tg.tgfoid = 'internal.audit'::regproc and not tg.tgisinternal order by 1`,
  );
  const named: Record<string, Set<string>> = {};
  for (const { name, columns } of triggers) {
    named[name] ??= new Set();
    for (const column of columns.toString().split("\0")) if (column !== "") named[name].add(column);
  }
  t.deepEqual(Object.fromEntries(Object.entries(named).map(([name, set]) => [name, [...set].toSorted()])), MAY_STAND);
  // Each name is a column of its table. A renamed column would silently disappear from the log.
  for (const [name, columns] of Object.entries(named)) {
    const found = await market.sql(
      "select attname from pg_attribute where attrelid = ('market.' || $1)::regclass and attname = any ($2) and not attisdropped",
      [name, [...columns]],
    );
    t.is(found.length, columns.size, name);
  }
});

test("the log contains no word of a person and no secret", async (t) => {
  const caller = await market.approved("Zanzibar helper");
  const offer = await market.offer(caller, {
    title: "Zanzibar sofa",
    place: "Zanzibar",
    contact: "zanzibar@example.com",
  });
  await market.change(caller, offer, { title: "Zanzibar chair", contact: "zanzibar@example.com" });
  await market.ask(caller, { title: "Wanted: Zanzibar", place: "Zanzibar" });
  const other = await market.offer(await market.approved());
  await market.call(caller, "report_offer", { id: other, reason: "spam", comment: "Zanzibar" });
  await market.callAsPerson(caller, "update_profile", {
    display_name: "Zanzibar",
    contact_email: "zanzibar@example.com",
    contact_phone: "+49301111111",
  });
  await market.sql(
    "insert into market.proved_method (account_id, method, subject_hash, email) values ($1, 'email', sha256('zanzibar'), 'zanzibar@example.com')",
    [caller.account],
  );
  const [{ hash }] = await market.sql("select sha256('zanzibar') as hash");
  const log = JSON.stringify(
    await market.sql("select e::text as event from market.audit_event e where subject_account_id = $1", [
      caller.account,
    ]),
  ).toLowerCase();
  t.true(log.length > 1000);
  const secrets = [caller.token, caller.link, caller.session, hash].map((secret: Buffer) => secret.toString("hex"));
  for (const word of ["zanzibar", "49301111111", ...secrets]) t.false(log.includes(word), word);
});

const ROLES = [
  "souk_api",
  "souk_agent",
  "souk_person",
  "souk_moderator",
  "souk_worker",
  "souk_queue",
  "souk_dba",
  "souk_migrator",
];
const CHANGES = [
  "insert into market.audit_event (actor_type, sql_role, action, table_name, row_id) values ('dba', 'x', 'x', 'x', 'x')",
  "update market.audit_event set action = 'x'",
  "delete from market.audit_event",
  "truncate market.audit_event",
  "update market.audit_event_default set action = 'x'",
  "delete from market.audit_event_default",
  "drop table market.audit_event",
  "alter table market.audit_event detach partition market.audit_event_default",
  "alter table market.offer disable trigger audit",
  "drop trigger audit on market.offer",
  "create or replace function internal.audit() returns trigger language plpgsql as 'begin return null; end'",
];

const as = async (role: string, caller: Caller, text: string): Promise<string | number> => {
  const client = new pg.Client({ connectionString: market.url });
  await client.connect();
  try {
    await client.query("select set_config('market.account_id', $1, false)", [caller.account]);
    await client.query(`set session authorization ${role}`);
    return (await client.query(text)).rowCount ?? 0;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.code ?? "";
    throw error;
  } finally {
    await client.end();
  }
};

test("only the owner can write to the log, change it or stop it", async (t) => {
  const caller = await market.approved();
  const log = () =>
    market.sql("select count(*)::int as n from market.audit_event where subject_account_id = $1", [caller.account]);
  const before = await log();
  const months = await market.sql(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'market.audit_event'::regclass",
  );
  t.is(months.length, 3);
  for (const role of ROLES) {
    for (const change of CHANGES) t.is(await as(role, caller, change), "42501", `${role}: ${change}`);
    for (const { name } of months) {
      for (const change of [`select from ${name}`, `delete from ${name}`, `update ${name} set action = 'x'`])
        t.is(await as(role, caller, change), "42501", `${role}: ${change}`);
    }
  }
  t.deepEqual(await log(), before);
});

test("a person can read the log of their own account, without values, and no other role can read it", async (t) => {
  const [caller, other] = [await market.approved(), await market.approved()];
  t.true(Number(await as("souk_person", caller, "select action from market.audit_event")) > 0);
  t.is(
    await as(
      "souk_person",
      caller,
      `select action from market.audit_event where subject_account_id = '${other.account}'`,
    ),
    0,
  );
  for (const column of ["before", "after", "account_id", "request_id", "sql_role"])
    t.is(await as("souk_person", caller, `select ${column} from market.audit_event`), "42501", column);
  for (const role of ["souk_api", "souk_agent", "souk_worker"])
    t.is(await as(role, caller, "select action from market.audit_event"), "42501", role);
});

test("this month and the next have partitions, and events of other months go to the default one", async (t) => {
  const [{ names }] = await market.sql(
    `select array['audit_event_' || to_char(now() at time zone 'UTC', 'YYYY_MM'),
       'audit_event_' || to_char(date_trunc('month', now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')] as names`,
  );
  const partitions = await market.sql(
    "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'market.audit_event'::regclass",
  );
  for (const name of [...names, "audit_event_default"])
    t.true(
      partitions.some((one) => one.name === name),
      name,
    );
  await market.sql(
    `insert into market.audit_event (at, actor_type, sql_role, action, table_name, row_id)
     values ('2031-05-05', 'dba', 'x', 'x', 'x', 'in no month')`,
  );
  t.is((await market.sql("select from market.audit_event_default where row_id = 'in no month'")).length, 1);
});

test("keep_audit_partitions creates coming months, fills them, and drops months over a year old", async (t) => {
  const own = await openMarket(t);
  t.is(await own.work("keep_audit_partitions"), 0);
  const month = (n: number) => `date_trunc('month', now() at time zone 'UTC') + interval '${n} months'`;
  const nameOf = async (n: number): Promise<string> =>
    (await own.sql(`select 'audit_event_' || to_char(${month(n)}, 'YYYY_MM') as name`))[0].name;
  const log = (n: number, row: string) =>
    own.sql(
      `insert into market.audit_event (at, actor_type, sql_role, action, table_name, row_id)
       values ((${month(n)} + interval '1 day') at time zone 'UTC', 'dba', 'x', 'x', 'x', $1)`,
      [row],
    );
  const where = async (row: string): Promise<string | undefined> =>
    (await own.sql("select tableoid::regclass::text as name from market.audit_event where row_id = $1", [row]))[0]
      ?.name;

  // Simulates a month without a worker: the partition of the next month is missing.
  await own.sql(`drop table market.${await nameOf(1)}`);
  await log(1, "next");
  t.is(await where("next"), "market.audit_event_default");
  t.is(await own.work("keep_audit_partitions"), 1);
  t.is(await where("next"), `market.${await nameOf(1)}`);

  for (const n of [-12, -13, -14]) {
    const name = await nameOf(n);
    await own.sql(
      `do $$ begin execute format('create table market.${name} partition of market.audit_event for values from (%L) to (%L)',
         (${month(n)}) at time zone 'UTC', (${month(n + 1)}) at time zone 'UTC'); end $$`,
    );
    await own.sql(`alter table market.${name} owner to souk_owner`);
    await log(n, `${n}`);
  }
  await log(-20, "in the net");
  t.is(await own.work("keep_audit_partitions"), 2);
  t.is(await where("-12"), `market.${await nameOf(-12)}`);
  for (const gone of ["-13", "-14", "in the net"]) t.is(await where(gone), undefined, gone);
  const made = await own.sql(
    `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as guarded,
       (select count(*)::int from pg_index x where x.indrelid = c.oid) as indexes,
       obj_description(c.oid, 'pg_class') as comment,
       (select count(*)::int from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and col_description(c.oid, a.attnum) is null) as bare_columns
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'market.audit_event'::regclass and c.relname = $1`,
    [await nameOf(1)],
  );
  const name = await nameOf(1);
  const comment = `The events of ${name.slice(-7).replace("_", "-")} (UTC), a part of market.audit_event.`;
  t.deepEqual(made, [{ name, guarded: true, indexes: 6, comment, bare_columns: 0 }]);
});

test("creating a partition waits for a lock for at most a second", async (t) => {
  const own = await openMarket(t);
  const [{ name }] = await own.sql(
    "select 'audit_event_' || to_char(date_trunc('month', now() at time zone 'UTC') + interval '1 month', 'YYYY_MM') as name",
  );
  await own.sql(`drop table market.${name}`);
  const reader = new pg.Client({ connectionString: own.url });
  await reader.connect();
  await reader.query("begin; select from market.audit_event");
  const start = Date.now();
  await t.throwsAsync(own.work("keep_audit_partitions"), { code: "55P03" });
  t.true(Date.now() - start < allowed(5000));
  await reader.query("commit");
  await reader.end();
  t.is(await own.work("keep_audit_partitions"), 1);
});
