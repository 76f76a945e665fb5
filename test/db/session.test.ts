import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import type pg from "pg";
import { withClient } from "../support/client.ts";
import { type Answer, refusal, refused } from "./market.ts";
import { market, people } from "./people.ts";

/** Sessions: how long they last, how they end, and when a person has to sign in again. */

/**
 * A call that does not wait takes milliseconds, or some seconds on a busy machine. After this long it counts as
 * waiting.
 */
const FOREVER_MS = 30_000;

const signIn = async () => {
  const subject = randomBytes(8).toString("hex");
  const first = await people.signIn({ subject });
  const account = (await people.accountOf(first.session)) ?? "";
  return { account, session: first.session, again: () => people.signIn({ subject }) };
};

/** Moves a time of one session into the past. */
const age = (session: Buffer, column: "seen_at" | "expires_at" | "signed_in_at", by: string) =>
  market.sql(`update market.session set ${column} = ${column} - $2::interval where secret_hash = $1`, [session, by]);

const seenAgo = async (session: Buffer): Promise<number> => {
  const [row] = await market.sql`select extract(epoch from now() - seen_at)::integer as seconds from market.session
    where secret_hash = ${session}`;
  return row.seconds;
};

/** Runs statements as the person of a session, as one request does. */
const asPerson = <T>(session: Buffer, run: (client: pg.Client) => Promise<T>, readOnly = false): Promise<T> =>
  withClient(market.url, async (client) => {
    await client.query("set session authorization souk_api");
    await client.query(readOnly ? "begin read only" : "begin");
    await client.query("select internal.enter_person($1)", [session]);
    const result = await run(client);
    await client.query("commit");
    return result;
  });

const enter = (session: Buffer, readOnly = false): Promise<Answer> =>
  asPerson(
    session,
    async (client) => {
      const { rows } = await client.query(
        `select current_setting('role') as role, internal.account_id() as account, internal.agent_id() as agent,
           internal.connected() as connected, internal.session_id() is not null as session`,
      );
      return rows[0];
    },
    readOnly,
  );

test.serial("a request with a session runs as its person, in the role souk_person", async (t) => {
  const { account, session } = await signIn();
  t.deepEqual(await enter(session), { role: "souk_person", account, agent: null, connected: true, session: true });
  t.is(await refused(enter(randomBytes(32))), "401 unauthorized");
});

test.serial("a session ends a week after its last use, and a month after it began", async (t) => {
  const ends: [column: "seen_at" | "expires_at", still: string, over: string][] = [
    ["seen_at", "6 days 23 hours 59 minutes", "2 minutes"],
    ["expires_at", "29 days 23 hours 59 minutes", "2 minutes"],
  ];
  for (const [column, still, over] of ends) {
    const { session } = await signIn();
    await age(session, column, still);
    t.truthy(await people.viewer(session), column);
    // Reading the viewer counted as a use.
    if (column === "seen_at") await age(session, column, still);
    await age(session, column, over);
    t.is(await people.viewer(session), null, column);
    t.is(await refused(enter(session)), "401 unauthorized", column);
  }
});

test.serial("without a sign-in method, a session ends 400 days after its last use, however old it is", async (t) => {
  const { session } = await market.approved();
  await age(session, "expires_at", "10 years");
  await age(session, "seen_at", "399 days 23 hours 59 minutes");
  t.truthy(await people.viewer(session));
  t.true((await seenAgo(session)) < 10, "reading the viewer counted as a use");
  await age(session, "seen_at", "400 days");
  t.is(await people.viewer(session), null);
  t.is(await refused(enter(session)), "401 unauthorized");
});

test.serial("approving one more agent counts as a use of the session", async (t) => {
  const { session } = await market.approved();
  await age(session, "seen_at", "399 days");
  const second = await market.connect();
  await market.approve(second, session, randomBytes(32));
  t.true((await seenAgo(session)) < 10);
});

test.serial("a session lasts long once its account has lost its last method, and not before", async (t) => {
  const { session, account } = await signIn();
  await people.signIn({ subject: randomBytes(8).toString("hex") }, { method: "apple", purpose: "add", session });
  const [row] = await market.sql`select secret_hash from market.session where account_id = ${account}`;
  const person = { agent: "", account, token: row.secret_hash, link: row.secret_hash, session: row.secret_hash };
  await market.callAsPerson(person, "remove_method", { method: "apple", confirmed: true });
  await age(person.session, "seen_at", "6 days");
  t.truthy(await people.viewer(person.session));
  await market.callAsPerson(person, "remove_method", { method: "google", confirmed: true });
  await age(person.session, "seen_at", "399 days");
  await age(person.session, "expires_at", "399 days");
  t.truthy(await people.viewer(person.session));
});

test.serial("the last use of a session is written at most once an hour", async (t) => {
  const { session } = await signIn();
  await age(session, "seen_at", "59 minutes");
  await enter(session);
  await people.viewer(session);
  t.true((await seenAgo(session)) > 3500);
  await age(session, "seen_at", "2 minutes");
  await enter(session);
  t.true((await seenAgo(session)) < 10);
  await age(session, "seen_at", "2 hours");
  await people.viewer(session);
  t.true((await seenAgo(session)) < 10, "loading a page counts as a use");
});

test.serial("a session also works in a read-only transaction", async (t) => {
  const { session } = await signIn();
  await age(session, "seen_at", "2 hours");
  t.is((await enter(session, true)).role, "souk_person");
  t.true((await seenAgo(session)) > 7000);
});

test.serial("concurrent requests of one browser do not wait for each other to write the last use", async (t) => {
  const { session } = await signIn();
  await age(session, "seen_at", "2 hours");
  await asPerson(session, async () => {
    // The first request still holds the row, so a request that waited for it would never end.
    const other = await Promise.race([enter(session), sleep(FOREVER_MS, "waited", { ref: false })]);
    t.is((other as Answer).role, "souk_person");
  });
});

test.serial("signing out ends one session, and signing out everywhere all sessions of the account", async (t) => {
  const [person, other] = [await signIn(), await signIn()];
  const sessions = [person.session, (await person.again()).session, (await person.again()).session];
  const live = async () =>
    (await Promise.all([...sessions, other.session].map((session) => people.viewer(session)))).map(Boolean);
  const leave = (session: Buffer, how: "sign_out" | "sign_out_everywhere") =>
    market.callAsPerson({ agent: "", account: "", token: session, link: session, session }, how);
  t.deepEqual(await live(), [true, true, true, true]);
  t.deepEqual(await leave(person.session, "sign_out"), {});
  t.deepEqual(await live(), [false, true, true, true]);
  t.is(await refused(leave(person.session, "sign_out")), "401 unauthorized");
  t.deepEqual(await leave(sessions[1] ?? person.session, "sign_out_everywhere"), {});
  t.deepEqual(await live(), [false, false, false, true]);
});

test.serial("an agent cannot sign a person out", async (t) => {
  const caller = await market.approved();
  for (const name of ["sign_out", "sign_out_everywhere"])
    await t.throwsAsync(market.call(caller, name), { code: "42501" }, name);
  t.truthy(await people.viewer(caller.session));
});

const requireRecent = (session: Buffer): Promise<unknown> =>
  asPerson(session, (client) => client.query("select internal.require_recent_sign_in()"));

test.serial("irrevocable acts need a sign-in within fifteen minutes, if the account has a method", async (t) => {
  const { session } = await signIn();
  await age(session, "signed_in_at", "14 minutes 50 seconds");
  await t.notThrowsAsync(requireRecent(session));
  await age(session, "signed_in_at", "20 seconds");
  const { status, code, extra } = await refusal(requireRecent(session));
  t.deepEqual([status, code, extra], [401, "unauthorized", { sign_in_again: true }]);
  await market.sql`update market.session set signed_in_at = null where secret_hash = ${session}`;
  t.is(await refused(requireRecent(session)), "401 unauthorized");
  const methodless = await market.approved();
  await t.notThrowsAsync(requireRecent(methodless.session));
});

test.serial("an agent never counts as a person who signed in recently, whatever claims are set", async (t) => {
  const caller = await market.approved();
  await withClient(market.url, async (client) => {
    const id = await market.value`select id from market.session where secret_hash = ${caller.session}`;
    await client.query("select set_config('market.session_id', $1, false)", [id]);
    await client.query("begin");
    await client.query("select internal.enter_agent($1)", [caller.token]);
    const { rows } = await client.query("select internal.session_id() as session");
    t.deepEqual(rows, [{ session: null }]);
    await t.throwsAsync(client.query("select internal.require_recent_sign_in()"), { code: "42501" });
  });
});

test.serial("a session that an approval created does not count as a sign-in", async (t) => {
  const caller = await market.approved();
  t.deepEqual(await people.viewer(caller.session), {
    display_name: null,
    label: "a new account without a sign-in method",
    methods: [],
    signed_in_seconds_ago: null,
  });
  t.is(await people.viewer(null), null);
});
