import { randomBytes } from "node:crypto";
import test from "ava";
import pg from "pg";
import { onBehalfOf } from "../../src/base/request.ts";
import { callJobs } from "../../worker/database.ts";
import { withClient } from "../support/client.ts";
import { market } from "./one_market.ts";

/**
 * The audit log: who changed which row and how. Triggers write it. audit_values.test.ts has which values it contains,
 * audit_partitions.test.ts how long it is kept.
 *
 *   events   the entries of the log about a row, oldest first
 */

test.before(async () => {
  await market.sql("update market.sign_in_method set available = true where method = 'email'");
});

const events = (row: string) =>
  market.sql`select actor_type, account_id, agent_id, sql_role, action, table_name, subject_account_id, before, after,
    request_id
    from market.audit_event where row_id = ${row} order by at, id`;

/** Runs one statement as a superuser in a transaction with the given settings, and commits. */
const within = (settings: Record<string, string>, text: string, values: unknown[] = []) =>
  withClient(market.url, async (client) => {
    await client.query("begin");
    for (const [name, value] of Object.entries(settings))
      await client.query("select set_config($1, $2, true)", [name, value]);
    await client.query(text, values);
    await client.query("commit");
  });

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
  t.like(published.after, {
    status: "published",
    domain: "home_garden",
    price_thousandths: 180000,
    account_id: account,
  });
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
  // A person asks only with a proved method.
  await market.sql`insert into market.proved_method (account_id, method, subject_hash)
    values (${caller.account}, 'google', sha256(uuid_send(${caller.account})))`;
  const { submission } = await market.callAsPerson(caller, "create_ask", { body: { text: "Wanted: a sofa" } });
  const target_id = await market.value`select target_id from market.submission where id = ${submission}`;
  t.like((await events(target_id))[0], { actor_type: "person", agent_id: null, account_id: caller.account });
});

test("the log has one entry for a new ask, none for reading its text, and one for a new text", async (t) => {
  const caller = await market.approved();
  const ask = await market.ask(caller);
  const { submission } = await market.call(caller, "update_ask", { id: ask, body: { text: "Wanted: lamp" } });
  await market.work("complete_submission", submission, [{ title: null }]);
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
  await market.approve(caller);
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
  const call = callJobs(pool, true, true);
  await onBehalfOf({ id: "job 7" }, () => call("use_embedding_model", "text-embedding-3-small"));
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
  const before = await market.sql`select count(*)::int as n from market.audit_event
    where subject_account_id = ${caller.account}`;
  await market.sql`update market.offer set status = status where id = ${offer}`;
  await market.sql`update market.account set display_name = display_name where id = ${caller.account}`;
  await market.callAsPerson(caller, "update_profile");
  await market.callAsPerson(caller, "update_profile");
  const n = await market.value`select count(*)::int from market.audit_event
    where subject_account_id = ${caller.account}`;
  t.is(n, before[0].n);
});

test("an appeal, claims of its case and decisions are logged with their actor and without words", async (t) => {
  const [caller, other] = [await market.approved(), await market.approved()];
  const offer = await market.offer(caller);
  const moderator = await market.approved();
  await market.sql`insert into market.moderator (account_id, appointed_by)
    values (${moderator.account}, 'a test'), (${other.account}, 'a test')`;
  // Where a sign-in method is available, moderators decide only after a sign-in.
  for (const { account } of [moderator, other]) {
    await market.sql`insert into market.proved_method (account_id, method, subject_hash)
      values (${account}, 'email', ${randomBytes(32)})`;
    await market.sql`update market.session set signed_in_at = now() where account_id = ${account}`;
  }
  const operate = (call: string, who = moderator) =>
    withClient(market.url, async (client) => {
      await client.query("begin; set local role souk_api");
      await client.query("select internal.enter_moderator($1)", [who.session]);
      const seen = await client.query("select updated_at::text as at from market.offer where id = $1", [offer]);
      await client.query(call.replaceAll("OFFER", `'${offer}'`).replaceAll("SEEN", `'${seen.rows[0].at}'`));
      await client.query("commit");
    });
  const start = (await market.sql("select clock_timestamp()::text as at"))[0].at;
  // The second decision changes nothing in the offer, so only the decision itself is logged.
  await operate("select admin.keep_offer(OFFER, SEEN, 'Aardvark', 0)");
  await operate("select admin.keep_offer(OFFER, SEEN, 'Aardvark', 0)");
  await operate("select admin.remove_offer(OFFER, SEEN, 'spam', 'Aardvark', 0)");
  await market.call(caller, "appeal_offer", { id: offer, comment: "Aardvark" });
  await operate("select admin.claim_case(OFFER)", other);
  await operate("select admin.release_case(OFFER)", other);
  await operate("select admin.uphold_removal(OFFER, SEEN, 'Aardvark', 0)", other);
  const log = await market.sql`select actor_type, account_id, action, row_id, subject_account_id, before, after
    from market.audit_event
    where at > ${start}::timestamptz and account_id = any (${[caller.account, moderator.account, other.account]})
      order by at, id`;
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
  await market.call(await market.approved(), "report_offer", { id: offer, reason: "spam" });
  const id = await market.value`insert into market.decision (action, offer_id, account_id, sentence)
    values ('keep', ${offer}, ${caller.account}, 'Aardvark') returning id`;
  await market.sql`update market.decision set sentence = 'Another' where id = ${id}`;
  await market.sql`delete from market.decision where id = ${id}`;
  t.deepEqual(
    (await events(id)).map(({ action, actor_type }) => [action, actor_type]),
    ["created", "updated", "deleted"].map((done) => [`decision.${done}`, "dba"]),
  );
  await market.sql`delete from market.review_case where offer_id = ${offer}`;
  t.deepEqual(
    (await events(offer)).slice(1).map(({ action, actor_type }) => [action, actor_type]),
    [["review_case.deleted", "dba"]],
  );
});

test("a person reads the log of their own account, without values", async (t) => {
  const [caller, other] = [await market.approved(), await market.approved()];
  const mine = "select 1 / (count(*) > 0 and bool_and(subject_account_id = $1))::integer from market.audit_event";
  await t.notThrowsAsync(market.sqlAs("souk_person", caller, mine, [caller.account]));
  await t.throwsAsync(market.sqlAs("souk_person", caller, mine, [other.account]), { code: "22012" });
  for (const column of ["before", "after", "account_id", "request_id", "sql_role"])
    await t.throwsAsync(market.sqlAs("souk_person", caller, `select ${column} from market.audit_event`), {
      code: "42501",
    });
});
