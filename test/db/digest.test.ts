import { createHash, randomUUID } from "node:crypto";
import test from "ava";
import { openClient } from "../support/client.ts";
import { type Caller, refusal, refused } from "./market.ts";
import { market } from "./one_market.ts";

/** The digest: who gets it, what is in it, and how often. The mail itself is in test/sign_in/mail.test.ts. */

let seller: Caller;
let buyer: Caller;

test.beforeEach(async () => {
  [seller, buyer] = [await market.approved(), await market.approved()];
  // No ask matches the offers of an earlier test.
  await market.sql("update market.offer set status = 'archived' where status = 'published'");
});

const prove = (caller: Caller, method = "email", email: string | null = `${caller.agent}@example.com`) =>
  market.sql`insert into market.proved_method (account_id, method, subject_hash, email)
    values (${caller.account}, ${method}, sha256(uuid_send(${caller.account})), ${email})`;

const switchTo = (caller: Caller, enabled: boolean) => market.callAsPerson(caller, "set_digest", { enabled });

const subscribe = async (caller: Caller) => {
  await prove(caller);
  await switchTo(caller, true);
};

const wanted = () => market.ask(buyer);
const offered = () => market.offer(seller);

const begin = (of: Caller) => market.work("begin_digest", of.account);
const finish = (of: Caller, taken = true) => market.work("finish_digest", of.account, taken);

/** The ids of the offers in a digest; null when there is none. */
const idsIn = (digest: { asks: { offers: { id: string }[] }[] } | null): string[] | null =>
  digest?.asks.flatMap(({ offers }) => offers.map(({ id }) => id)).sort() ?? null;

/** Lets a day pass since the last digest. */
const nextDay = (of: Caller) =>
  market.sql`update market.digest set sent_at = sent_at - interval '1 day', due_at = now()
    where account_id = ${of.account}`;

/** The accounts for which a mail is enqueued. */
const enqueued = async (): Promise<string[]> => {
  while ((await market.work("enqueue_digests")) > 0);
  const rows = await market.sql`select payload ->> 'id' as id from graphile_worker.jobs j
    join graphile_worker._private_jobs p using (id)
    where j.task_identifier = 'send_digest'`;
  return rows.map(({ id }: { id: string }) => id);
};

test.serial("the digest is off until the person switches it on, which needs a proved address", async (t) => {
  t.deepEqual(await market.callAsPerson(buyer, "get_alerts"), {
    digest: { enabled: false, sent_at: null },
    email: null,
    asks: [],
  });
  t.like(await refusal(switchTo(buyer, true)), {
    status: 409,
    code: "invalid_state",
    detail: 'No e-mail address of yours is proved. Add one under "Signing in" first.',
  });
  await prove(buyer, "google", null);
  t.is(await refused(switchTo(buyer, true)), "409 invalid_state", "a provider that tells no address");
  await market.sql`delete from market.proved_method where account_id = ${buyer.account}`;
  await prove(buyer);
  const ask = await wanted();
  await offered();
  t.is(await begin(buyer), null, "off by default");
  t.true((await switchTo(buyer, true)).enabled);
  t.is(await begin(buyer), null, "matches from before are not told");
  const offer = await offered();
  t.deepEqual(idsIn(await begin(buyer)), [offer]);
  t.like(await market.callAsPerson(buyer, "get_alerts"), {
    digest: { enabled: true },
    email: `${buyer.agent}@example.com`,
    asks: [{ id: ask, watch_enabled: true }],
  });
  await t.throwsAsync(market.call(buyer, "set_digest", { enabled: false }), { code: "42501" }, "an agent may not");
  await switchTo(buyer, false);
  t.is(await begin(buyer), null);
  // Otherwise the export asks for a new sign-in.
  await market.sql`delete from market.proved_method where account_id = ${buyer.account}`;
  const { items } = await market.callAsPerson(buyer, "export_account", { part: "account", cursor: null });
  t.like(items.digest, { enabled: false, sent_at: null });
});

test.serial("a digest has the new matches of active asks that watch, each once, and how many more", async (t) => {
  await subscribe(buyer);
  const ask = await wanted();
  const many: string[] = [];
  for (let n = 0; n < 7; n += 1) many.push(await offered());
  const digest = await begin(buyer);
  t.is(digest.email, `${buyer.agent}@example.com`);
  t.is(digest.asks.length, 1);
  const { title, found, offers } = digest.asks[0];
  t.deepEqual([title, found, offers.length], ["Wanted: grey sofa", 7, 5]);
  t.deepEqual(Object.keys(offers[0]).sort(), ["id", "location", "price", "title"], "no contact");
  await finish(buyer);
  await nextDay(buyer);
  t.is(await begin(buyer), null, "nothing is told twice");

  const gone = await offered();
  await market.call(seller, "archive_offer", { id: gone });
  t.is(await begin(buyer), null, "what was taken down is not told");
  await market.call(buyer, "update_ask", { id: ask, body: { watch_enabled: false } });
  await offered();
  t.is(await begin(buyer), null, "an ask that does not watch");
  await market.call(buyer, "update_ask", { id: ask, body: { watch_enabled: true } });
  const last = await offered();
  t.true(idsIn(await begin(buyer))?.includes(last));
  await market.call(buyer, "fulfill_ask", { id: ask });
  t.is(await begin(buyer), null, "a fulfilled ask");
});

test.serial("there is at most one digest a day, also when it is switched off and on", async (t) => {
  await subscribe(buyer);
  await wanted();
  await offered();
  t.deepEqual(
    (await enqueued()).filter((id) => id === buyer.account),
    [buyer.account],
  );
  t.truthy(await begin(buyer));
  await finish(buyer);
  await market.sql`select graphile_worker.remove_job('send_digest:' || ${buyer.account})`;
  await switchTo(buyer, false);
  await switchTo(buyer, true);
  await offered();
  t.false((await enqueued()).includes(buyer.account));
  t.is(await begin(buyer), null);
  await nextDay(buyer);
  t.true((await enqueued()).includes(buyer.account));
  t.truthy(await begin(buyer));
});

test.serial("without new matches nothing is enqueued, and it is looked again after an hour", async (t) => {
  await subscribe(buyer);
  t.false((await enqueued()).includes(buyer.account));
  const due = () =>
    market.sql`select due_at > now() + interval '50 minutes' as later from market.digest
      where account_id = ${buyer.account}`;
  t.deepEqual(await due(), [{ later: true }]);
  await market.sql`update market.digest set due_at = now() - interval '2 hours' where account_id <> ${buyer.account}`;
  t.false((await enqueued()).includes(buyer.account));
});

test.serial("a second attempt sends the same mail, and what matched meanwhile comes in the next", async (t) => {
  await subscribe(buyer);
  await wanted();
  const first = await offered();
  const attempt = await begin(buyer);
  const second = await offered();
  const again = await begin(buyer);
  t.deepEqual(again, attempt);
  t.deepEqual(idsIn(again), [first]);
  await finish(buyer, false);
  t.deepEqual(await begin(buyer), attempt, "also after the address was refused for a day");
  await finish(buyer);
  await nextDay(buyer);
  const next = await begin(buyer);
  t.deepEqual(idsIn(next), [second]);
  t.not(next.mail_id, attempt.mail_id);
});

test.serial("a mail that was begun is on the disk before it leaves, whatever the worker waits for", async (t) => {
  await subscribe(buyer);
  await wanted();
  await offered();
  const client = await openClient(market.url, t);
  await client.query("begin; set local synchronous_commit = off");
  const { rows } = await client.query("select jobs.begin_digest($1) is not null as begun", [buyer.account]);
  t.true(rows[0]?.begun);
  t.is((await client.query("show synchronous_commit")).rows[0]?.synchronous_commit, "on");
  await client.query("rollback");
});

test.serial("a match whose transaction commits after a digest is in the next one", async (t) => {
  await subscribe(buyer);
  const ask = await wanted();
  const [early, late] = [await offered(), await offered()];
  const client = await openClient(market.url, t);
  await client.query("begin");
  await client.query("delete from market.match where offer_id = $1", [late]);
  await client.query("insert into market.match (ask_id, offer_id, score, reasons) values ($1, $2, 0.5, '[]')", [
    ask,
    late,
  ]);
  await market.sql`update market.digest set seen = pg_current_snapshot() where account_id = ${buyer.account}`;
  const now = await offered();
  t.deepEqual(idsIn(await begin(buyer)), [now]);
  await finish(buyer);
  await client.query("commit");
  await nextDay(buyer);
  t.deepEqual(idsIn(await begin(buyer)), [late]);
  t.not(early, late);
});

test.serial("after a restored backup, whose transactions are numbered anew, nothing fails", async (t) => {
  await subscribe(buyer);
  await wanted();
  await market.sql`update market.digest set seen = '900000000000:900000000000:', sent_at = now() - interval '2 days'
    where account_id = ${buyer.account}`;
  const offer = await offered();
  t.deepEqual(idsIn(await begin(buyer)), [offer]);
  await market.sql`update market.digest set mail_until = '900000000000:900000000000:'
    where account_id = ${buyer.account}`;
  t.deepEqual(idsIn(await begin(buyer)), [offer]);
});

test.serial("a suspended, a deleted and a recovered account get nothing", async (t) => {
  await subscribe(buyer);
  await wanted();
  await offered();
  await market.sql`update market.account set suspended_at = now(), suspension_reason = 'scam', suspension_note = 'No.'
    where id = ${buyer.account}`;
  t.is(await begin(buyer), null);
  await market.sql`update market.account set suspended_at = null, suspension_reason = null, suspension_note = null
    where id = ${buyer.account}`;
  t.truthy(await begin(buyer));
  await market.sql`delete from market.proved_method where account_id = ${buyer.account}`;
  t.is(await begin(buyer), null, "the address is no longer proved");
  await prove(buyer);
  await market.sql`select internal.recover_account(${buyer.account})`;
  t.is(await begin(buyer), null);
  t.false((await market.callAsPerson(buyer, "get_alerts")).digest.enabled);
  await switchTo(buyer, true);
  // Otherwise the deletion asks for a new sign-in.
  await market.sql`delete from market.proved_method where account_id = ${buyer.account}`;
  const { done } = await market.callAsPerson(buyer, "delete_account");
  t.true(done);
  t.deepEqual(await market.sql`select from market.digest where account_id = ${buyer.account}`, []);
  t.is(await begin(buyer), null);
});

test.serial("the key in a mail switches off the digest of its account, and no other key does", async (t) => {
  await subscribe(buyer);
  await subscribe(seller);
  await wanted();
  await offered();
  const { stop_key } = await begin(buyer);
  const hashOf = (key: string) => createHash("sha256").update(key).digest();
  const link = (account_id: string, key: string) => ({ account_id, key_hash: hashOf(key) });
  for (const [account, key] of [
    [buyer.account, ""],
    [buyer.account, `${stop_key}0`],
    [seller.account, stop_key],
    [randomUUID(), stop_key],
  ] as const) {
    for (const name of ["get_digest_link", "stop_digest"])
      t.is(await refused(market.call(null, name, link(account, key))), "404 not_found");
  }
  const enabled = async (of: Caller) => (await market.callAsPerson(of, "get_alerts")).digest.enabled;
  t.deepEqual(await market.call(null, "get_digest_link", link(buyer.account, stop_key)), { enabled: true });
  t.true(await enabled(buyer), "reading changes nothing");
  for (let n = 0; n < 2; n += 1)
    t.deepEqual(await market.call(null, "stop_digest", link(buyer.account, stop_key)), { enabled: false });
  t.deepEqual([await enabled(buyer), await enabled(seller)], [false, true]);
  t.is(await begin(buyer), null);
  const stored = await market.value`select count(*)::integer from market.digest d
    where d::text like ${`%${stop_key}%`}`;
  t.is(stored, 0, "the key is stored nowhere");
});

test.serial("a match is told, however many events came after it", async (t) => {
  await subscribe(buyer);
  const ask = await wanted();
  const offer = await offered();
  await market.sql`insert into market.event (account_id, type, data)
    select ${buyer.account}, 'match.created', jsonb_build_object('ask_id', ${ask}::text, 'offer_id', internal.uuid_v7())
    from generate_series(1, 6000)`;
  t.deepEqual(idsIn(await begin(buyer)), [offer]);
});
