import { createHash } from "node:crypto";
import test from "ava";
import { type Answer, type Caller, outcomeOf } from "./market.ts";
import { market, people } from "./people.ts";
import { randomEmail } from "./signing.ts";

/**
 * What moderation decided about an account outlives it: whoever deletes the account and comes back with the same
 * sign-in method has the same suspension, the same removals and the same caps.
 */

/** Proves an e-mail address for the account of a caller, whose browser gets a new session. */
const prove = async (caller: Caller, email: string): Promise<void> => {
  const attempt = await people.begin({ purpose: "add", email, session: caller.session });
  const { session } = await people.finishMail(attempt, { code: attempt.code }, caller.session);
  caller.session = session;
};
/** A person with an agent and a proved e-mail address. */
const person = async (email: string = randomEmail()): Promise<Caller & { email: string }> => {
  const caller = await market.approved();
  await prove(caller, email);
  return { ...caller, email };
};
const suspend = (account: string) =>
  market.sql`update market.account set suspended_at = now(), suspension_reason = 'scam', suspension_note
    = 'Three reports.' where id = ${account}`;
const suspensionOf = async (account: string): Promise<Answer> =>
  (
    await market.sql`select suspended_at::text as at, suspension_reason as reason, suspension_note as note
      from market.account where id = ${account}`
  )[0];
const NONE = { at: null, reason: null, note: null };
const remove = async (caller: Caller, n: number): Promise<string[]> => {
  const ids = [];
  for (let k = 0; k < n; k += 1) ids.push(await market.offer(caller));
  await market.sql`update market.offer set status = 'removed' where id = any (${ids})`;
  return ids;
};
const capOf = async (account: string): Promise<number> =>
  market.value`select internal.rate_limit(${account}, 'publish_offer')`;
const recordOf = async (account: string): Promise<Answer> =>
  market.value`select internal.publisher_document(${account}) -> 'offers' as offers`;
const kept = () => market.sql("select * from market.kept_record");
const forget = () => market.sql("delete from market.kept_record");

test.serial("deleting an account and coming back with the same mailbox clears neither caps nor record", async (t) => {
  const first = await person();
  const offers = await remove(first, 3);
  await market.offer(first);
  // (60 + 30 for the method) / 2^3 is less than 60 / 4.
  t.is(await capOf(first.account), 15);
  t.deepEqual(await market.callAsPerson(first, "delete_account"), { done: true });

  const again = await person(first.email);
  t.not(again.account, first.account);
  t.is(await capOf(again.account), 15);
  t.deepEqual(await recordOf(again.account), { active: 0, lifetime: 3, removed: 3 });
  t.deepEqual(await suspensionOf(again.account), NONE);
  const prior_removals = await market.value`select prior_removals from market.account where id = ${again.account}`;
  t.deepEqual(prior_removals.toSorted(), offers.toSorted());
  t.is(await capOf((await person()).account), 90, "somebody else has a clean record");

  await market.sql`update market.offer set removed_at = removed_at - interval '30 days' where id = any (${offers})`;
  t.is(await capOf(again.account), 90, "after thirty days a removal lowers no cap, here as in the first account");
  t.is((await recordOf(again.account)).removed, 3);
  t.deepEqual(await market.sql("select * from inspect.check()"), []);
  await forget();
});

test.serial("a suspension is still in force after coming back, also for offers published before", async (t) => {
  const first = await person();
  await suspend(first.account);
  const before = await suspensionOf(first.account);
  await market.callAsPerson(first, "delete_account");

  const again = await market.approved();
  const offer = await market.offer(again);
  await prove(again, first.email);
  t.deepEqual(await suspensionOf(again.account), before);
  await market.work("apply_standing", again.account);
  t.is(await market.value`select status from market.offer where id = ${offer}`, "archived");
  const publishing = market.call(again, "publish_offer", { body: { text: "A sofa, 5 EUR, lena@example.com" } });
  t.is(await outcomeOf(publishing), "invalid_state");
  await forget();
});

test.serial("the record follows a person through several accounts, and no removal counts twice", async (t) => {
  const first = await person();
  await remove(first, 1);
  await market.callAsPerson(first, "delete_account");
  const second = await person(first.email);
  await remove(second, 1);
  await market.callAsPerson(second, "delete_account");
  const third = await person(first.email);
  t.deepEqual(await recordOf(third.account), { active: 0, lifetime: 2, removed: 2 });
  await forget();
});

test.serial("removing the method instead is no way out, and adding it again counts nothing twice", async (t) => {
  const first = await person();
  await remove(first, 2);
  await market.callAsPerson(first, "remove_method", { method: "email", confirmed: true });
  const other = await person(first.email);
  t.is((await recordOf(other.account)).removed, 2);
  await market.callAsPerson(other, "remove_method", { method: "email", confirmed: true });
  await prove(first, first.email);
  t.is((await recordOf(first.account)).removed, 2);
  t.is(await capOf(first.account), 22);
  await forget();
});

test.serial("removing the method before moderation decides is no way out either", async (t) => {
  const first = await person();
  await market.callAsPerson(first, "remove_method", { method: "email", confirmed: true });
  t.deepEqual(await suspensionOf((await person(first.email)).account), NONE, "nothing was decided yet");
  await forget();

  for (const deletes of [false, true]) {
    const owner = await person();
    await market.callAsPerson(owner, "remove_method", { method: "email", confirmed: true });
    const removed = await remove(owner, 2);
    await suspend(owner.account);
    if (deletes) await market.callAsPerson(owner, "delete_account");
    const again = await person(owner.email);
    t.not(again.account, owner.account);
    t.is((await suspensionOf(again.account)).reason, "scam");
    t.is((await recordOf(again.account)).removed, 2);
    const prior_removals = await market.value`select prior_removals from market.account
      where id = ${again.account}`;
    t.deepEqual(prior_removals.toSorted(), removed.toSorted());
    await forget();
  }
});

test.serial("a method that was removed longer than twelve months ago has no record", async (t) => {
  const first = await person();
  await market.callAsPerson(first, "remove_method", { method: "email", confirmed: true });
  await market.sql("update market.kept_record set kept_until = now()");
  await suspend(first.account);
  t.is((await market.callAsPerson(first, "get_account")).kept_after_deletion, null);
  await market.callAsPerson(first, "delete_account");
  t.deepEqual(await kept(), []);
  t.deepEqual(await suspensionOf((await person(first.email)).account), NONE);
});

test.serial("of an account the last twenty removed methods are kept", async (t) => {
  const first = await person();
  await market.callAsPerson(first, "remove_method", { method: "email", confirmed: true });
  for (let n = 0; n < 20; n += 1) {
    await market.sql`with proved as (
        insert into market.proved_method (account_id, method, subject_hash)
          values (${first.account}, 'google', ${sha256(Buffer.from(`subject ${n}`))}) returning 1)
      select 1 from proved`;
    await market.sql`delete from market.proved_method where account_id = ${first.account}`;
  }
  t.is((await kept()).length, 20);
  t.is((await kept()).filter(({ account_id }) => account_id === first.account).length, 20);
  await forget();
});

const capsOf = async (account: string): Promise<Answer> =>
  Object.fromEntries(
    (await market.sql`select action, cap from market.cap_override where account_id = ${account}`).map(
      ({ action, cap }) => [action, cap],
    ),
  );
const limit = (account: string, action: string, cap: number) =>
  market.sql`insert into market.cap_override (account_id, action, cap) values (${account}, ${action}, ${cap})`;

test.serial("a limit that a moderator set comes back with the mailbox", async (t) => {
  for (const removes of [false, true]) {
    const first = await person();
    if (removes) await market.callAsPerson(first, "remove_method", { method: "email", confirmed: true });
    await limit(first.account, "publish_offer", 3);
    await limit(first.account, "create_ask", 5000);
    await market.sql`update market.cap_override set changed_at = '2026-01-02' where account_id = ${first.account}`;
    t.deepEqual((await market.callAsPerson(first, "get_account")).kept_after_deletion, {
      suspended: false,
      removals: 0,
      caps: 2,
    });
    await market.callAsPerson(first, "delete_account");
    const again = await market.approved();
    await limit(again.account, "create_ask", 10);
    await limit(again.account, "publish_offer", 20);
    await prove(again, first.email);
    t.deepEqual(await capsOf(again.account), { publish_offer: 3, create_ask: 10 }, "of two, the lower one counts");
    await market.callAsPerson(again, "delete_account");
    const third = await person(first.email);
    t.deepEqual(await capsOf(third.account), { publish_offer: 3, create_ask: 10 });
    await forget();
  }
});

test.serial("a higher limit is not multiplied by removing the method from an account that goes on", async (t) => {
  const first = await person();
  await limit(first.account, "publish_offer", 5000);
  await limit(first.account, "create_ask", 7);
  await market.callAsPerson(first, "remove_method", { method: "email", confirmed: true });
  t.deepEqual(await capsOf((await person(first.email)).account), { create_ask: 7 });
  await forget();
});

test.serial("a reinstatement holds for every method of the person", async (t) => {
  const first = await person();
  await suspend(first.account);
  await market.callAsPerson(first, "remove_method", { method: "email", confirmed: true });
  await market.sql`update market.account set suspended_at = null, suspension_reason = null, suspension_note = null
    where id = ${first.account}`;
  const meanwhile = await person(first.email);
  t.deepEqual(await suspensionOf(meanwhile.account), NONE);
  await market.callAsPerson(meanwhile, "delete_account");
  await prove(first, first.email);
  t.deepEqual(await suspensionOf(first.account), NONE);
  t.deepEqual(await kept(), []);

  await remove(first, 1);
  await suspend(first.account);
  await market.callAsPerson(first, "delete_account");
  const again = await person(first.email);
  await market.sql`update market.account set suspended_at = null, suspension_reason = null, suspension_note = null
    where id = ${again.account}`;
  await market.callAsPerson(again, "delete_account");
  const third = await person(first.email);
  t.deepEqual(await suspensionOf(third.account), NONE);
  t.is((await recordOf(third.account)).removed, 1);
  await forget();
});

test.serial("of an account in good standing nothing is kept, and of others for twelve months at most", async (t) => {
  const good = await person();
  await market.offer(good);
  await market.callAsPerson(good, "delete_account");
  t.deepEqual(await kept(), []);

  const bad = await person();
  await suspend(bad.account);
  await market.callAsPerson(bad, "delete_account");
  const days = await market.value`select extract(day from kept_until - now())::integer as days
      from market.kept_record`;
  t.true(days >= 364 && days <= 366, `${days}`);
  await market.work("purge_sign_ins");
  t.is((await kept()).length, 1);
  await market.sql("update market.kept_record set kept_until = now()");
  const again = await person(bad.email);
  t.deepEqual(await suspensionOf(again.account), NONE, "also before the worker has deleted the row");
  await market.work("purge_sign_ins");
  t.deepEqual(await kept(), []);
});

test.serial("the record of an account with hundreds of removed offers is whole after several calls", async (t) => {
  const first = await person();
  await market.sql`insert into market.offer (account_id, agent_id, status, text, title, published_at, removed_at)
    select ${first.account}, ${first.agent}, 'removed', 'Sofa', 'Sofa', now(), now() from generate_series(1, 450)`;
  const outcomes = [];
  for (let n = 0; n < 3; n += 1) outcomes.push((await market.callAsPerson(first, "delete_account")).done);
  t.deepEqual(outcomes, [false, false, true]);
  const again = await person(first.email);
  t.is((await recordOf(again.account)).removed, 200);
  t.is(await capOf(again.account), 15);
  await forget();
});

test.serial("whoever deletes the account and signs in at the same time does not escape", async (t) => {
  for (let round = 0; round < 6; round += 1) {
    const first = await person();
    await suspend(first.account);
    const attempt = await people.begin({ email: first.email });
    const [, signedIn] = await Promise.all([
      market.callAsPerson(first, "delete_account"),
      // Deleting the account deletes its attempts, so a sign-in that comes second finds none.
      people.finishMail(attempt, { code: attempt.code }).catch(() => null),
    ]);
    let session = signedIn?.session ?? null;
    if (session === null || (await people.accountOf(session)) === null) {
      const next = await people.begin({ email: first.email });
      session = (await people.finishMail(next, { code: next.code })).session;
    }
    const account = (await people.accountOf(session)) ?? "";
    t.not(account, first.account);
    t.is((await suspensionOf(account)).reason, "scam");
  }
  await forget();
});

const sha256 = (...parts: Buffer[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();
const subjectOf = (email: string): Buffer => sha256(Buffer.from(`email:${email}`));

/** Signs in by the link of a mail, in a process with the operator's key. Returns the suspension of the new account. */
const comeBack = async (email: string, key: Buffer): Promise<Answer> => {
  const { flow, link } = await people.begin({ email });
  const session = sha256(key, flow);
  await market.call(null, "finish_mail_sign_in", {
    flow_hash: flow,
    link_hash: link,
    code_hash: null,
    session_hash: null,
    new_session_hash: session,
    address: "192.0.2.1",
    record_key: key,
  });
  return suspensionOf((await people.accountOf(session)) ?? "");
};

test.serial("with the operator's key, the database alone cannot tell whose record it is", async (t) => {
  const key = sha256(Buffer.from("a key that only the operator has"));
  const first = await person();
  await suspend(first.account);
  await market.callAsPerson(first, "delete_account", { record_key: key });
  const [{ method_hash }] = await kept();
  const subject = subjectOf(first.email);
  t.deepEqual(method_hash, sha256(key, sha256(key, subject)));
  const [{ key: own }] = await market.sql("select key from market.hash_key");
  t.notDeepEqual(method_hash, sha256(own, sha256(own, subject)));
  t.notDeepEqual(method_hash, subject);

  t.is((await comeBack(first.email, key)).reason, "scam");
  await forget();
});

test.serial("a record that was kept before the operator set a key is found with the key", async (t) => {
  const key = sha256(Buffer.from("a key that came later"));
  const first = await person();
  await suspend(first.account);
  await market.callAsPerson(first, "delete_account");
  t.is((await comeBack(first.email, key)).reason, "scam");
  await forget();
});

test.serial("the person reads before deleting what would be kept", async (t) => {
  const told = async (caller: Caller) => (await market.callAsPerson(caller, "get_account")).kept_after_deletion;
  const caller = await person();
  t.is(await told(caller), null);
  await remove(caller, 2);
  t.deepEqual(await told(caller), { suspended: false, removals: 2, caps: 0 });
  await suspend(caller.account);
  t.deepEqual(await told(caller), { suspended: true, removals: 2, caps: 0 });
  await market.callAsPerson(caller, "remove_method", { method: "email", confirmed: true });
  t.deepEqual(await told(caller), { suspended: true, removals: 2, caps: 0 }, "also without any method left");
  const account = (await market.callAsPerson(caller, "export_account", { part: "account", cursor: null })).items;
  t.deepEqual(account.kept_after_deletion, { suspended: true, removals: 2, caps: 0 });
  t.is(account.removed_methods.length, 1);
  await forget();
  const unproved = await market.approved();
  await suspend(unproved.account);
  t.is(await told(unproved), null, "without a method nothing could recognize the person");
});
