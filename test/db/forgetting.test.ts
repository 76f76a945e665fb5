import { randomBytes } from "node:crypto";
import test from "ava";
import { type Caller, refused } from "./market.ts";
import { market, people } from "./people.ts";

/** What the scheduled jobs purge of people and agents, and when. */

const count = async (table: string, column: string, values: unknown[]): Promise<number> =>
  (await market.sql(`select from market.${table} where ${column} = any ($1)`, [values])).length;

test.serial("attempts to sign in are purged a day after they ended, finished or not", async (t) => {
  const [old, lately, open] = [await people.begin(), await people.begin(), await people.begin()];
  await market.sql`update market.sign_in set expires_at = now() - interval '1 day' where flow_hash = ${old.flow}`;
  await market.sql`update market.sign_in set expires_at = now() - interval '23 hours' where flow_hash = ${lately.flow}`;
  await market.work("purge_sign_ins");
  t.is(await count("sign_in", "flow_hash", [old.flow]), 0);
  t.is(await count("sign_in", "flow_hash", [lately.flow, open.flow]), 2);
  t.is(await refused(market.call(null, "get_mail_link", { link_hash: old.link, flow_hash: null })), "404 not_found");
});

test.serial("sessions are purged when they have ended or have been unused for a week", async (t) => {
  const sessions = [];
  for (const change of [
    "seen_at = now() - interval '7 days'",
    "expires_at = now()",
    "seen_at = now() - interval '6 days'",
  ]) {
    const { session } = await people.signIn({ subject: randomBytes(8).toString("hex") });
    await market.sql(`update market.session set ${change} where secret_hash = $1`, [session]);
    sessions.push(session);
  }
  t.is(await market.work("purge_sign_ins"), 2);
  t.is(await count("session", "secret_hash", sessions.slice(0, 2)), 0);
  t.is(await count("session", "secret_hash", sessions.slice(2)), 1);
});

test.serial("a session of an account without a method is purged 400 days after its last use", async (t) => {
  const [old, lately] = [await market.approved(), await market.approved()];
  await market.sql("update market.session set expires_at = now() - interval '1 year'");
  for (const [{ session }, by] of [
    [old, "400 days"],
    [lately, "399 days"],
  ] as const)
    await market.sql`update market.session set seen_at = now() - ${by}::interval where secret_hash = ${session}`;
  await market.work("purge_sign_ins");
  t.is(await count("session", "secret_hash", [old.session]), 0);
  t.is(await count("session", "secret_hash", [lately.session]), 1);
});

test.serial("an agent that waits to be approved again is not purged", async (t) => {
  const waiting = await market.approved();
  await market.sql`with its as (update market.account_stats set last_active_at = now() - interval '30 days'
    where account_id = ${waiting.account})
    update market.agent set connected_at = null, disconnected_at = now(), created_at = now() - interval '30 days'
    where id = ${waiting.agent}`;
  await market.work("purge_agents");
  t.is(await count("agent", "id", [waiting.agent]), 1);
});

test.serial("an expired verification is marked as expired, and purged thirty days later", async (t) => {
  const caller = await market.approved();
  const start = async (method: string, expired: string) => {
    const { body } = await market.call(caller, "start_verification", { method });
    await market.sql`update market.verification set expires_at = now() - ${expired}::interval where id = ${body.id}`;
    return body.id;
  };
  const [lately, old, open] = [
    await start("google", "1 second"),
    await start("apple", "30 days"),
    await start("email", "-1 minute"),
  ];
  await market.work("purge_sign_ins");
  const rows = await market.sql`select id, status from market.verification where agent_id = ${caller.agent}
    order by id`;
  t.deepEqual(rows, [
    { id: lately, status: "expired" },
    { id: open, status: "pending" },
  ]);
  t.is(await count("verification", "id", [old]), 0);
});

/** Makes an agent, its account and its account stats as old as given. */
const age = async ({ agent, account }: Caller, by: string): Promise<void> => {
  await market.sql`update market.agent set created_at = now() - ${by}::interval where id = ${agent}`;
  await market.sql`update market.account set created_at = now() - ${by}::interval where id = ${account}`;
  await market.sql`update market.account_stats set last_active_at = now() - ${by}::interval
    where account_id = ${account}`;
};

test.serial("an agent without approval is purged after a week, with its account", async (t) => {
  const [old, young, declined, approved] = [
    await market.connect(),
    await market.connect(),
    await market.connect(),
    await market.approved(),
  ];
  await market.call(null, "decline_connection", { secret_hash: declined.link });
  for (const caller of [old, declined, approved]) await age(caller, "7 days");
  await age(young, "6 days 23 hours");
  t.is(await market.work("purge_agents"), 2);
  await market.work("purge_keys");
  t.is(await count("agent", "id", [old.agent, declined.agent]), 0);
  t.is(await count("account", "id", [old.account, declined.account]), 0);
  t.is(await count("agent", "id", [young.agent, approved.agent]), 2);
  t.is(await refused(market.call(old, "get_me")), "401 unauthorized");
});

test.serial("an agent that started a verification within the week, or whose account reported, is kept", async (t) => {
  const [verifying, reporting] = [await market.connect(), await market.connect()];
  const offer = await market.offer(await market.approved());
  await market.call(verifying, "start_verification", { method: "google" });
  await market.call(reporting, "report_offer", { id: offer, reason: "spam" });
  for (const caller of [verifying, reporting]) await age(caller, "8 days");
  t.is(await market.work("purge_agents"), 0);
  t.is(await count("agent", "id", [verifying.agent, reporting.agent]), 2);
});

test.serial("an account that proved a method is kept when its unapproved agent is purged", async (t) => {
  const caller = await market.connect();
  const { body } = await market.call(caller, "start_verification", { method: "google" });
  const secret_hash = await market.value`select secret_hash from market.verification where id = ${body.id}`;
  const { session } = await people.signIn({ subject: "lena" }, { verification: secret_hash });
  await age(caller, "8 days");
  await market.sql`update market.verification set created_at = now() - interval '8 days' where id = ${body.id}`;
  await market.sql`update market.sign_in set expires_at = now() - interval '8 days' where verification_id = ${body.id}`;
  await market.work("purge_sign_ins");
  // What the person does with the account does not keep the agent.
  await market.sql`update market.account_stats set last_active_at = now() where account_id = ${caller.account}`;
  await market.sql`update market.agent set created_at = now() - interval '9 days' where id = ${caller.agent}`;
  await market.sql`update market.verification set created_at = now() - interval '9 days' where id = ${body.id}`;
  const late = async () =>
    (await market.sql("select object from inspect.check() where invariant = 'agent_is_purged_in_time'")).map(
      ({ object }) => object,
    );
  t.deepEqual(await late(), [`agent ${caller.agent}`]);
  t.is(await market.work("purge_agents"), 1);
  t.deepEqual(await late(), []);
  await market.work("purge_keys");
  t.is(await people.accountOf(session), caller.account);
  t.false((await people.signIn({ subject: "lena" })).answer.new_account);
});

/** Every table that has this text in a row. */
const tablesWith = async (text: string): Promise<string[]> => {
  const tables = await market.sql`select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('market', 'internal', 'reading', 'search', 'graphile_worker') and c.relkind in ('r', 'p')
      and not c.relispartition order by 1`;
  const found = await Promise.all(
    tables.map(async ({ name }) =>
      (await market.sql(`select from ${name} t where t::text like $1 limit 1`, [`%${text}%`])).length > 0 ? [name] : [],
    ),
  );
  return found.flat();
};

test.serial("no address or network of a caller is kept for more than a day", async (t) => {
  const [address, theirs] = ["198.51.77.231", "203.0.99.7"];
  const redirect_uris = '["https://app.example/back"]';
  const [agent, refused] = [await market.connect("Mine", address), await market.connect("Not mine", address)];
  await market.approve(agent);
  await market.sql("update market.connection set created_at = created_at - interval '1 minute'");
  await market.call(null, "decline_connection", {
    ...{ secret_hash: refused.link, browser_hash: randomBytes(32), address: theirs },
  });
  await people.finishMail(await people.begin({ address: theirs }), { code: randomBytes(32) }, null, theirs);
  const { client_id } = await market.call(null, "register_client", {
    ...{ name: "App", redirect_uris, address: theirs, registrations_per_hour: 30 },
  });
  await market.call(null, "count_client_document", { address: theirs, documents_per_hour: 30, client_id });
  await market.call(null, "start_authorization", {
    ...{ client_id, document: null, redirect_uri: "https://app.example/back", code_challenge: "A".repeat(43) },
    ...{ state: null, secret_hash: randomBytes(32), code: "BCDF-GHJK", address: theirs, connections_per_hour: 30 },
  });
  const kept = ["market.connection", "market.rate_limit_hit"];
  t.deepEqual([await tablesWith("198.51.77."), await tablesWith("203.0.99.")], [kept, kept]);
  await market.sql("update market.connection set created_at = created_at - interval '1 day'");
  await market.sql("update market.rate_limit_hit set called_at = called_at - interval '1 day'");
  await market.work("purge_keys");
  t.deepEqual([await tablesWith("198.51.77."), await tablesWith("203.0.99.")], [[], []]);
  const columns = await market.sql`select attrelid::regclass || '.' || attname as name from pg_attribute
    join pg_class c on c.oid = attrelid
    where c.relnamespace = any ('{market,internal,reading,search}'::regnamespace[]) and c.relkind in ('r', 'p') and attnum > 0
      and (atttypid in ('inet'::regtype, 'cidr'::regtype) or attname ~ '(^|_)(ip|address|network|user_agent)(_|$)')
      and not attisdropped and not relispartition order by 1`;
  t.deepEqual(columns, [{ name: "market.connection.address" }], "a new column is forgotten, too, and named here");
});
