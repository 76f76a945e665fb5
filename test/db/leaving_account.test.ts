import { randomBytes } from "node:crypto";
import test from "ava";
import { outcomeOf, refusal, refused } from "./market.ts";
import { market, people } from "./people.ts";
import { someone } from "./unproved.ts";

/** The account without a sign-in method that a browser leaves by signing in to another one. */

test.serial("the only browser of an account without a method does not leave it unasked", async (t) => {
  const known = someone();
  await people.signIn(known);
  const mine = await market.approved();
  for (const identity of [known, someone()]) {
    const { status, extra } = await refusal(people.signIn(identity, { session: mine.session }));
    t.deepEqual([status, extra], [409, { leaves: true }]);
  }
  t.is(await refused(people.begin({ session: mine.session, email: "no address" })), "400 bad_request");
  t.truthy(await people.viewer(mine.session));

  const { session } = await people.signIn(known, { session: mine.session, leave: true });
  t.not(await people.accountOf(session), mine.account);
  t.is(await people.viewer(mine.session), null);
  t.is(await refused(people.me(mine)), "401 unauthorized", "its agents are disconnected");
});

test.serial("nothing that its person set up goes on for an account that nobody can open any more", async (t) => {
  const mine = await market.approved();
  const webhook = { url: "https://mine.example/", types: null, private_allowed: false };
  await people.asPerson(mine.session, "create_webhook", {
    ...webhook,
    encrypted_secret: `01234567.${"x".repeat(104)}`,
  });
  await people.asPerson(mine.session, "update_profile", {
    ...{ display_name: "Lena", contact_email: "lena@example.com", contact_phone: null },
  });
  await market.sql`insert into market.moderator (account_id, appointed_by) values (${mine.account}, 'a test')`;
  await people.signIn(someone(), { session: mine.session, leave: true });
  for (const table of ["webhook", "profile", "moderator", "session"])
    t.deepEqual(await market.sql(`select from market.${table} where account_id = $1`, [mine.account]), [], table);
});

test.serial("an account that a browser got after it began to sign in is not left unasked", async (t) => {
  const attempt = await people.begin({ method: "google" });
  const mine = await market.approved();
  const { status, detail } = await refusal(people.finish(attempt, "google", someone(), mine.session));
  t.is(status, 409);
  t.regex(detail, /Start again/);
  t.truthy(await people.viewer(mine.session));
  // Consent to leave one account is no consent to leave another.
  const [first, second] = [await market.approved(), await market.approved()];
  const leaving = await people.begin({ method: "google", session: first.session, leave: true });
  t.is(await refused(people.finish(leaving, "google", someone(), second.session)), "409 invalid_state");
  for (const caller of [mine, first, second]) t.true((await people.me(caller)).account.connected);
});

test.serial("a browser leaves an account that has a method, or another browser, without a question", async (t) => {
  const kept = await people.signIn(someone());
  t.truthy(await people.signIn(someone(), { session: kept.session }));
  const mine = await market.approved();
  const elsewhere = randomBytes(32);
  await market.sql`insert into market.session (account_id, secret_hash) values (${mine.account}, ${elsewhere})`;
  t.truthy(await people.signIn(someone(), { session: mine.session }));
  t.true((await people.me(mine)).account.connected);
  t.truthy(await people.viewer(elsewhere));
});

test.serial("leaving an account while its method is proved in another tab removes no agent", async (t) => {
  const mine = await market.approved();
  const leaving = await people.begin({ method: "google", session: mine.session, leave: true });
  const adding = await people.begin({ method: "google", session: mine.session, purpose: "add" });
  const added = await people.finish(adding, "google", someone(), mine.session);
  await people.finish(leaving, "google", someone(), mine.session);
  t.true((await people.me(mine)).account.connected);
  t.truthy(await people.viewer(added.session));
});

test.serial("leaving an account and adding a method to it at once keeps it or leaves it whole", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const mine = await market.approved();
    const leaving = await people.begin({ method: "google", session: mine.session, leave: true });
    const adding = await people.begin({ method: "apple", session: mine.session, purpose: "add" });
    const [left, added] = await Promise.all([
      outcomeOf(people.finish(leaving, "google", someone(), mine.session)),
      outcomeOf(people.finish(adding, "apple", someone(), mine.session)),
    ]);
    t.notRegex(`${left} ${added}`, /deadlock|violates|timeout/);
    t.is(left, "done");
    const removed = await market.value`select removed_at is not null as removed from market.agent
        where id = ${mine.agent}`;
    t.is(removed, added !== "done", added);
  }
});
