import { randomBytes } from "node:crypto";
import test from "ava";
import { problemOf } from "../../src/base/problem.ts";
import { type Caller, column, type Market, offerOf, outcomeOf, refusal, refused, vectorOf } from "./market.ts";
import { market } from "./one_market.ts";
import { readsOf } from "./reads.ts";
import { signing } from "./signing.ts";
import { begun, blocked } from "./waits.ts";

/**
 * Deleting an account and removing an agent: what is erased, what stays, and what happens to work in progress.
 *
 *   begun     a transaction that has made its changes and has not committed yet
 *   blocked   a statement that waits for a lock, which shows that the other transaction came first
 */

test.before(async () => {
  await market.sql("update market.sign_in_method set available = true where method = 'email'");
});

const prove = async (caller: Caller, method: string, email: string | null = null) => {
  await market.sql`insert into market.proved_method (account_id, method, subject_hash, email)
    values (${caller.account}, ${method}, ${randomBytes(32)}, ${email})`;
};
const signIn = (caller: Caller, ago = "0 minutes") =>
  market.sql`update market.session set signed_in_at = now() - ${ago}::interval where secret_hash = ${caller.session}`;

/** Every row of the database that contains one of these words, with its table. */
const tracesOf = async (words: string[]): Promise<string[]> => {
  const tables = await market.sql`select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('market', 'reading', 'graphile_worker') and c.relkind in ('r', 'p') and not c.relispartition
      order by 1`;
  const traces: string[] = [];
  for (const { name } of tables) {
    const rows = await market.sql(`select t::text as row from ${name} t where t::text ilike any ($1)`, [
      words.map((word) => `%${word}%`),
    ]);
    traces.push(...rows.map(({ row }) => `${name}: ${String(row).slice(0, 200)}`));
  }
  return traces;
};

test.serial("deleting an account erases every word of its person; other accounts' reports stay", async (t) => {
  const caller = await market.approved("Zebedee's helper");
  const other = await market.approved();
  const own = { title: "Zebedee sofa", place: "Zebedeeville", contact: "zebedee@example.com", vector: vectorOf("z") };
  const live = await market.offer(caller, { ...own, images: ["https://zebedee.example.com/1.jpg"] });
  const archived = await market.offer(caller, own);
  const removed = await market.offer(caller, own);
  await market.callAsPerson(caller, "archive_offer", { id: archived });
  await market.sql`update market.offer set status = 'removed', review_note = 'Zebedee was told' where id = ${removed}`;
  const watching = await market.ask(other, { title: "Wanted: thing", vector: vectorOf("z") });
  await market.sql`update market.ask set text = 'x', title = 'x', criteria = '{}', keywords_query = null
    where id = ${watching}`;
  await market.call(other, "report_offer", { id: live, reason: "spam", comment: "by another" });
  const elsewhere = await market.offer(other);
  await market.call(caller, "report_offer", { id: elsewhere, reason: "scam", comment: "Zebedee thinks so" });
  await market.ask(caller, { title: "Zebedee wants a sofa" });
  await market.callAsPerson(caller, "update_profile", {
    display_name: "Zebedee",
    contact_email: "zebedee@example.com",
    contact_phone: "+49309999999",
  });
  await prove(caller, "email", "zebedee@example.com");
  await market.call(caller, "start_verification", { method: "email" });
  await market.call(caller, "preview_offer", { body: { text: "Zebedee again" } });
  const kept = { idempotency_key: "k", request_hash: randomBytes(32), errors: [] };
  await market.call(caller, "publish_offer", { body: { text: "Zebedee once more" }, ...kept });
  await signing(market).begin({ email: "zebedee@example.com" });

  await market.embed("ask", watching, vectorOf("z"));
  for (const table of ["match", "offer_embedding"]) {
    t.true((await market.sql(`select from market.${table} where offer_id = $1`, [live])).length > 0, table);
  }
  t.is((await refusal(market.callAsPerson(caller, "delete_account"))).extra.sign_in_again, true);
  await signIn(caller);
  t.deepEqual(await market.callAsPerson(caller, "delete_account"), { done: true });

  const [notice, ...more] = await market.sql("select id, email from market.notice");
  t.deepEqual([notice?.email, more], ["zebedee@example.com", []], "its address is told of the deletion, and forgotten");
  await market.work("drop_account_notice", notice?.id);
  t.deepEqual(await tracesOf(["zebedee", "309999999"]), []);
  const offers = await market.sql`select status, title, account_id, agent_id, contact, images, review_note, metadata,
    extraction, location_text
    from market.offer where id = any (${[live, archived, removed]}) order by id`;
  t.deepEqual(column(offers, "status"), ["archived", "archived", "removed"]);
  for (const offer of offers)
    t.like(offer, {
      title: "Deleted offer",
      account_id: null,
      agent_id: null,
      contact: {},
      images: [],
      location_text: null,
    });
  t.deepEqual(await market.sql`select account_id, reason from market.report where offer_id = ${elsewhere}`, [
    { account_id: null, reason: "scam" },
  ]);
  t.is((await market.sql`select from market.report where offer_id = ${live}`).length, 1);
  t.deepEqual(
    await market.sql`select from market.offer_embedding where offer_id = any (${[live, archived, removed]})`,
    [],
  );
  t.deepEqual(await market.sql`select from market.match where offer_id = any (${[live, archived, removed]})`, []);
  for (const column of ["account_id", "id"]) {
    const tables = await market.sql`select c.oid::regclass::text as name from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = ${column}
      where c.relnamespace = 'market'::regnamespace and c.relkind = 'r' and a.atttypid = 'uuid'::regtype
        and not c.relispartition`;
    t.true(tables.length > 5);
    for (const { name } of tables)
      t.deepEqual(await market.sql(`select from ${name} where ${column} = $1`, [caller.account]), [], name);
  }
  const log = await market.sql`select action, before, after from market.audit_event
    where subject_account_id = ${caller.account} order by at desc`;
  t.true(log.some(({ action }) => action === "account.deleted"));
  for (const { before, after } of log) t.deepEqual([before, after], [null, null]);

  t.is(await refused(market.callAsPerson(caller, "get_account")), "401 unauthorized");
  t.is(await refused(market.callAsPerson(caller, "delete_account")), "401 unauthorized");
  t.is(await refused(market.call(caller, "get_me")), "401 unauthorized");
  t.is(await refused(market.call(other, "get_offer", { id: live })), "404 not_found");
});

test.serial("an account without a sign-in method can be deleted without a sign-in", async (t) => {
  const caller = await market.approved();
  t.deepEqual(await market.callAsPerson(caller, "delete_account"), { done: true });
  t.deepEqual(await market.sql`select from market.account where id = ${caller.account}`, []);
});

test.serial("an account with hundreds of offers is deleted in calls, and publishes nothing meanwhile", async (t) => {
  const caller = await market.approved();
  await market.sql`insert into market.offer (account_id, agent_id, status, text, title, published_at)
      select ${caller.account}, ${caller.agent}, 'published', 'Sofa', 'Sofa', now() from generate_series(1, 500)`;
  const deleted = () => market.callAsPerson(caller, "delete_account");
  t.deepEqual(await deleted(), { done: false });
  t.is(await refused(market.call(caller, "get_me")), "401 unauthorized");
  t.is((await offersOf(caller)).length, 300);
  t.deepEqual([await deleted(), await deleted()], [{ done: false }, { done: true }]);
  t.deepEqual(await offersOf(caller), []);
  t.is(await refused(deleted()), "401 unauthorized");
});

test.serial("an account with many asks and events is deleted in several calls", async (t) => {
  const caller = await market.approved();
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
    insert into market.ask (account_id, text) select ${caller.account}, 'Looking for a sofa'
      from off, generate_series(1, 201)`;
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
    insert into market.event (account_id, type, data) select ${caller.account}, 'ask.read', '{}'
      from off, generate_series(1, 20001)`;
  const left: number[][] = [];
  for (let done = false; !done; ) {
    ({ done } = await market.callAsPerson(caller, "delete_account"));
    const [rows] = await market.sql`select (select count(*) from market.ask
      where account_id = ${caller.account})::int as asks,
      (select count(*) from market.event where account_id = ${caller.account})::int as events`;
    left.push([rows.asks, rows.events]);
  }
  t.deepEqual(
    left.map(([asks, events = 0]) => [asks, events > 20_000]),
    [
      [1, true],
      [0, false],
      [0, false],
    ],
  );
  t.deepEqual(left.at(-1), [0, 0]);
});

const submitted = async (caller: Caller, call: Market["callAsPerson"] = market.call) => {
  const { text, extraction } = offerOf({});
  const { submission } = await call(caller, "publish_offer", {
    body: { text },
    idempotency_key: null,
    request_hash: null,
    errors: [],
  });
  return { submission, extraction };
};
const offersOf = (caller: Caller) =>
  market.sql`select status from market.offer where account_id = ${caller.account} or agent_id = ${caller.agent}`;

/** A deletion of the caller's account that has not committed yet. */
const deleting = ({ account }: Caller) =>
  begun(market.url, "select set_config('market.account_id', $1, true), internal.erase_account()", [account]);

test.serial("an offer whose text is read while its account is deleted is not published", async (t) => {
  const caller = await market.approved();
  for (const call of [market.call, market.callAsPerson]) {
    // A person publishes and asks only with a proved method.
    await prove(caller, "google");
    const { submission, extraction } = await submitted(caller, call);
    const deletion = await deleting(caller);
    const finishing = market.work("complete_submission", submission, extraction);
    await blocked(market, "complete_submission", finishing);
    await deletion.end();
    t.is(await finishing, false);
    t.deepEqual(await offersOf(caller), []);
    if (call === market.call) Object.assign(caller, await market.approved());
  }
});

test.serial("an offer that is published while its account is deleted is erased with the others", async (t) => {
  const caller = await market.approved();
  const { submission, extraction } = await submitted(caller);
  const publishing = await begun(market.url, "select jobs.complete_submission($1, $2)", [submission, extraction]);
  const deletion = market.callAsPerson(caller, "delete_account");
  await blocked(market, "delete_account", deletion);
  await publishing.end();
  t.deepEqual(await deletion, { done: true });
  t.deepEqual(await offersOf(caller), []);
  const n = await market.value`select count(*)::int from market.offer
    where status = 'published' and account_id is null`;
  t.is(n, 0);
});

test.serial("an agent's removal stops an offer whose text is being read, and keeps an earlier offer", async (t) => {
  const caller = await market.approved();
  const late = await submitted(caller);
  const removal = await begun(market.url, "update market.agent set removed_at = now() where id = $1", [caller.agent]);
  const finishing = market.work("complete_submission", late.submission, late.extraction);
  await blocked(market, "complete_submission", finishing);
  await removal.end();
  t.true(await finishing);
  t.deepEqual(await offersOf(caller), []);
  const status = await market.value`select status from market.submission where id = ${late.submission}`;
  t.is(status, 401);

  const other = await market.approved();
  const early = await submitted(other);
  const publishing = await begun(market.url, "select jobs.complete_submission($1, $2)", [
    early.submission,
    early.extraction,
  ]);
  const removing = market.callAsPerson(other, "remove_agent", { agent_id: other.agent });
  await blocked(market, "remove_agent", removing);
  await publishing.end();
  await removing;
  t.deepEqual(await offersOf(other), [{ status: "published" }]);
});

test.serial("a vector that is computed while its offer's account is deleted is not stored", async (t) => {
  const caller = await market.approved();
  const { submission, extraction } = await submitted(caller);
  await market.work("complete_submission", submission, extraction);
  const id = await market.value`select id from market.offer where account_id = ${caller.account}`;
  const deletion = await deleting(caller);
  const storing = market.embed("offer", id, vectorOf("late"));
  await blocked(market, "store_offer_embedding", storing);
  await deletion.end();
  await storing;
  t.deepEqual(await market.sql`select from market.offer_embedding where offer_id = ${id}`, []);
});

/** Calls that start during the deletion of the account, and wait until it ends. */
const UNDER_WAY: Record<string, (caller: Caller, stranger: Caller) => Promise<unknown>> = {
  publish_offer: (caller) => submitted(caller),
  create_ask: (caller) =>
    market.callAsPerson(caller, "create_ask", {
      body: { text: "Wanted: sofa" },
      idempotency_key: "k",
      request_hash: randomBytes(32),
    }),
  start_verification: (caller) => market.call(caller, "start_verification", { method: "email" }),
  update_profile: (caller) => market.callAsPerson(caller, "update_profile", { display_name: "x" }),
  approve_connection: (caller, stranger) => market.approve(stranger, caller.session, randomBytes(32)),
};

for (const [name, attempt] of Object.entries(UNDER_WAY)) {
  test.serial(`${name} during the deletion of the account is refused with unauthorized`, async (t) => {
    const [caller, stranger] = [await market.approved(), await market.connect()];
    // A person publishes and asks only with a proved method.
    await prove(caller, "google");
    const deletion = await deleting(caller);
    const outcome = attempt(caller, stranger).then(
      () => "done",
      (error: unknown) => problemOf(error).code,
    );
    await blocked(market, name, outcome);
    await deletion.end();
    t.is(await outcome, "unauthorized");
    t.deepEqual(await market.sql`select from market.idempotency_key where owner_id = ${caller.account}`, []);
  });
}

test.serial("of two concurrent deletions one succeeds, and the other gets unauthorized", async (t) => {
  const caller = await market.approved();
  await market.offer(caller);
  const outcomes = await Promise.all([1, 2].map(() => outcomeOf(market.callAsPerson(caller, "delete_account"))));
  t.deepEqual(outcomes.toSorted(), ["done", "unauthorized"]);
});

test.serial("an account with a long audit log is deleted in several calls of bounded size", async (t) => {
  const caller = await market.approved();
  await market.sql`insert into market.audit_event (actor_type, sql_role, action, table_name, row_id, subject_account_id,
    after)
    select 'agent', 'souk_agent', 'ask.updated', 'ask', 'x', ${caller.account}, '{"status": "active"}'
      from generate_series(1, 12000)`;
  await market.sql`insert into market.rate_limit_hit (scope, action)
    values ('agent:' || ${caller.agent}::text, 'publish_offer')`;
  const answers: boolean[] = [];
  do answers.push((await market.callAsPerson(caller, "delete_account")).done);
  while (!answers.at(-1));
  t.deepEqual(answers, [false, false, true]);
  t.deepEqual(
    await market.sql`select count(*)::integer as told from market.audit_event
      where subject_account_id = ${caller.account} and (before is not null or after is not null)`,
    [{ told: 0 }],
  );
  t.deepEqual(await market.sql`select from market.rate_limit_hit where scope = 'agent:' || ${caller.agent}::text`, []);
});

test("the deletion finds the calls and keys of an account by their indexes", async (t) => {
  const caller = await market.approved();
  for (const table of ["market.rate_limit_hit", "market.idempotency_key"]) {
    const { scans } = await readsOf(market.url, table, caller.account, async (client) => {
      await client.query("set local enable_seqscan = off");
      t.true((await client.query("select internal.erase_account() as done")).rows[0].done);
    });
    t.is(scans, 0, table);
  }
});
