import test from "ava";
import type { Answer } from "./market.ts";
import { market, people } from "./people.ts";
import { randomEmail } from "./signing.ts";
import { someone } from "./unproved.ts";

/** What the proved addresses of an account are told by mail: who could use the account without its person learns of it. */

/** Sends what waits for these addresses, and returns what each was told. */
const toldTo = async (emails: string[]): Promise<Record<string, Answer[]>> => {
  const told: Record<string, Answer[]> = Object.fromEntries(emails.map((email) => [email, []]));
  const jobs = await market.sql`select n.id, n.email from market.notice n
    join graphile_worker.jobs j on j.key = 'send_account_notice:' || n.id order by n.id`;
  for (const { id, email } of jobs.filter((notice) => emails.includes(notice.email))) {
    const { happened_at, email: to, ...rest } = await market.work("get_account_notice", id);
    told[email]?.push(rest);
    await market.work("drop_account_notice", id);
    if (to !== email || (await market.work("get_account_notice", id)) !== null) throw new Error("it is sent once");
  }
  return told;
};
const NOTHING = { agent_name: null, recovered: false, kept: [], removed: [], waiting: [] };

test.serial("each proved address is told that a method was added or removed, and the account deleted", async (t) => {
  const [first, second, third] = [someone(), someone(), randomEmail()];
  const emails = [first.email as string, second.email as string, third];
  const [one, two] = emails as [string, string, string];
  const { session } = await people.signIn(first);
  t.deepEqual(await toldTo([one]), { [one]: [] }, "whoever signs in for the first time knows it");
  const next = await people.signIn(second, { method: "apple", purpose: "add", session });
  const added = { ...NOTHING, act: "method_added", method: "Apple" };
  t.deepEqual(await toldTo(emails), { [one]: [added], [two]: [added], [third]: [] });
  const attempt = await people.begin({ email: third, purpose: "add", session: next.session });
  const last = await people.finishMail(attempt, { link: attempt.link }, next.session);
  await toldTo(emails);

  await people.asPerson(last.session, "remove_method", { method: "google", confirmed: false });
  const removed = { ...NOTHING, act: "method_removed", method: "Google" };
  t.deepEqual(await toldTo(emails), { [one]: [removed], [two]: [removed], [third]: [removed] });
  await people.asPerson(last.session, "delete_account");
  const deleted = { ...NOTHING, act: "account_deleted", method: null };
  t.deepEqual(await toldTo(emails), { [one]: [], [two]: [deleted], [third]: [deleted] });
});

test.serial("a deletion in several calls is told with the first, so that stopping it hides nothing", async (t) => {
  const identity = someone();
  const { session } = await people.signIn(identity);
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
    insert into market.ask (account_id, text) select p.account_id, 'Looking for a sofa'
      from off, generate_series(1, 201), market.proved_method p where p.email = ${identity.email}`;
  const email = identity.email as string;
  const deleted = { [email]: [{ ...NOTHING, act: "account_deleted", method: null }] };
  t.deepEqual(await people.asPerson(session, "delete_account"), { done: false });
  t.deepEqual(await toldTo([email]), deleted);
  t.deepEqual(await people.asPerson(session, "delete_account"), { done: true });
  t.deepEqual(await toldTo([email]), { [email]: [] });
});

test.serial("the message after a proof names the agents that go on, were removed, and wait", async (t) => {
  const mine = await market.approved("Mine");
  await people.another(mine, "Theirs");
  const identity = someone();
  await people.prove(await people.linked(mine), { session: mine.session, kept: [mine.agent] }, identity);
  const email = identity.email as string;
  t.deepEqual(await toldTo([email]), {
    [email]: [{ ...NOTHING, act: "method_added", method: "Google", kept: ["Mine"], removed: ["Theirs"] }],
  });
  const [{ first }, rescuer] = [await people.lost(), someone()];
  await people.prove(await people.linked(first), {}, rescuer);
  const [told] = Object.values(await toldTo([rescuer.email as string])).flat();
  t.like(told, { recovered: true, kept: [], removed: [], waiting: ["First", "Second"] });
});

test.serial("a message that cannot be sent for a day is given up, with its address", async (t) => {
  const identity = someone();
  const { session } = await people.signIn(identity);
  await people.asPerson(session, "delete_account");
  await market.sql("update market.notice set created_at = now() - interval '1 day'");
  await market.work("purge_sign_ins");
  t.deepEqual(await market.sql("select from market.notice"), []);
});
