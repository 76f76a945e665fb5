import { createHash } from "node:crypto";
import test from "ava";
import { type Answer, type Caller, column, refusal, refused } from "./market.ts";
import { market } from "./one_market.ts";

/** Proving a sign-in method: what an agent may start and see. An operator's SQL stands in for the person's proof. */

const STATUSES = ["pending", "completed", "expired", "cancelled"] as const;

test.before(async () => {
  await market.sql("update market.sign_in_method set available = true where method in ('email', 'google')");
});

const start = (caller: Caller, method = "email"): Promise<Answer> =>
  market.call(caller, "start_verification", { method, base_url: "https://souk.test" });
const read = (caller: Caller, id: string): Promise<Answer> =>
  market.call(caller, "get_verification", { id, base_url: "https://souk.test" });
const set = (id: string, status: string) =>
  market.sql`update market.verification set status = ${status} where id = ${id}`;
const me = (caller: Caller): Promise<Answer> => market.call(caller, "get_me", { base_url: "https://souk.test" });

test.serial("a verification starts as pending, with a link for half an hour, also before approval", async (t) => {
  for (const caller of [await market.connect(), await market.approved()]) {
    const { status, body } = await start(caller);
    t.is(status, 201);
    const { id, url, expires_in, summary, ...rest } = body;
    t.deepEqual(rest, { method: "email", status: "pending" });
    t.regex(url, /^https:\/\/souk\.test\/verify\/[0-9a-f]{64}$/);
    t.true(expires_in > 1790 && expires_in <= 1800);
    t.regex(summary, /do not open it yourself/);
    t.deepEqual({ ...(await read(caller, id)), expires_in }, body);
    t.deepEqual(column((await me(caller)).pending_verifications, "url"), [url]);
  }
});

test.serial("only the hash of a link's secret is stored", async (t) => {
  const { body } = await start(await market.connect());
  const secret = body.url.split("/").at(-1);
  const [row] = await market.sql`select secret_hash, to_jsonb(v)::text as row from market.verification v
    where id = ${body.id}`;
  t.deepEqual(row.secret_hash, createHash("sha256").update(secret).digest());
  t.false(row.row.includes(secret));
});

test.serial("repeated and concurrent requests return the same link, and each method has its own", async (t) => {
  const caller = await market.connect();
  const answers = await Promise.all(Array.from({ length: 5 }, () => start(caller)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 201]);
  t.is(new Set(answers.map(({ body }) => `${body.id} ${body.url}`)).size, 1);
  const other = await start(caller, "google");
  t.is(other.status, 201);
  t.not(other.body.url, answers[0].body.url);
  t.is((await market.sql`select from market.verification where agent_id = ${caller.agent}`).length, 2);
});

test.serial("agents of one account have their own links, and see the others' verifications without one", async (t) => {
  const first = await market.approved();
  const second = await market.connect();
  await market.approve(second, first.session);
  const [one, two] = [await start(first), await start(second)];
  t.deepEqual([one.status, two.status], [201, 201]);
  t.not(one.body.url, two.body.url);
  const seen = await read(second, one.body.id);
  t.deepEqual([seen.status, seen.url], ["pending", undefined]);
});

test.serial("a verification of another account gets 404", async (t) => {
  const [one, other] = [await market.connect(), await market.connect()];
  const { body } = await start(one);
  t.deepEqual(await refusal(read(other, body.id)), await refusal(read(other, other.agent)));
  t.deepEqual((await me(other)).pending_verifications, []);
});

test.serial("an unavailable method is refused, and the refusal lists the available ones", async (t) => {
  const caller = await market.connect();
  for (const method of ["apple", "facebook", ""]) {
    const { status, code, extra } = await refusal(start(caller, method));
    t.deepEqual([status, code, extra.options], [400, "unknown_method", ["google", "email"]], method);
  }
  t.deepEqual(await market.sql`select from market.verification where agent_id = ${caller.agent}`, []);
});

test.serial("an expired verification has no link, and the next request starts a new one", async (t) => {
  const caller = await market.connect();
  const { body: old } = await start(caller);
  await market.sql`update market.verification set expires_at = now() where id = ${old.id}`;
  const seen = await read(caller, old.id);
  t.deepEqual([seen.status, seen.expires_in, seen.url], ["expired", 0, undefined]);
  t.deepEqual((await me(caller)).pending_verifications, []);
  const { status, body } = await start(caller);
  t.is(status, 201);
  t.not(body.id, old.id);
  t.not(body.url, old.url);
  const [row] = await market.sql`select status from market.verification where id = ${old.id}`;
  t.is(row.status, "expired");
});

test.serial("pending moves to completed, expired or cancelled, and each of these is final", async (t) => {
  const caller = await market.connect();
  const done: string[] = [];
  for (const from of STATUSES) {
    for (const to of STATUSES) {
      if (from === to) continue;
      await market.sql`delete from market.verification where agent_id = ${caller.agent}`;
      const { id } = (await start(caller)).body;
      if (from !== "pending") await set(id, from);
      const moved = await set(id, to).then(
        () => true,
        (error: Error) => {
          t.is(error.message, "invalid_state");
          return false;
        },
      );
      if (moved) done.push(`${from} -> ${to}`);
    }
  }
  t.deepEqual(done, ["pending -> completed", "pending -> expired", "pending -> cancelled"]);
});

for (const status of ["completed", "cancelled"] as const) {
  test.serial(`a verification that is ${status} shows no link`, async (t) => {
    const caller = await market.connect();
    const { id } = (await start(caller)).body;
    await set(id, status);
    const seen = await read(caller, id);
    t.deepEqual([seen.status, seen.url], [status, undefined]);
  });
}

test.serial("by plain SQL an agent can complete no verification, and can only mark an expired one", async (t) => {
  const caller = await market.connect();
  const { id } = (await start(caller)).body;
  const change = (status: string) =>
    market
      .sqlAs("souk_agent", caller, "update market.verification set status = $2 where id = $1", [id, status])
      .catch(() => {});
  for (const status of ["completed", "cancelled", "expired"]) await change(status);
  t.is((await read(caller, id)).status, "pending");
  await market.sql`update market.verification set expires_at = now() where id = ${id}`;
  for (const status of ["completed", "cancelled"]) await change(status);
  const [row] = await market.sql`select status from market.verification where id = ${id}`;
  t.is(row.status, "pending");
  await change("expired");
  t.is((await market.sql`select from market.verification where id = ${id} and status = 'expired'`).length, 1);
});

test.serial("a subject can prove only one account", async (t) => {
  const [one, other] = [await market.connect(), await market.connect()];
  const prove = (caller: Caller) =>
    market.sql`insert into market.proved_method (account_id, method, subject_hash)
      values (${caller.account}, 'google', sha256('one subject'))`;
  await prove(one);
  await t.throwsAsync(prove(other), { code: "23505" });
});

test.serial("a verification is deleted with its agent's account, and a removed agent can start none", async (t) => {
  const caller = await market.connect();
  const { body } = await start(caller);
  await market.call(caller, "remove_own_agent");
  t.is(await refused(start(caller)), "401 unauthorized");
  await market.sql`delete from market.account where id = ${caller.account}`;
  t.deepEqual(await market.sql`select from market.verification where id = ${body.id}`, []);
});
