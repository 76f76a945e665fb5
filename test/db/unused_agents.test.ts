import test from "ava";
import { openDatabase } from "../../src/database/database.ts";
import { type Caller, refusal } from "./market.ts";
import { market, people } from "./people.ts";
import { someone } from "./unproved.ts";

/** Agents that nobody uses: their tokens end, and their persons are told. */

const unused = (caller: Caller, by: string) =>
  market.sql`update market.agent set used_at = now() - ${by}::interval where id = ${caller.agent}`;

test.serial("a token that was not used for twelve months ends, and the person is told", async (t) => {
  const [old, lately, unapproved] = [
    await market.approved("Old <b>one"),
    await market.approved(),
    await market.connect(),
  ];
  const identity = someone();
  await people.prove(await people.linked(old), { session: old.session }, identity);
  await market.sql("delete from market.notice");
  await market.sql`update market.account set created_at = now() where id = ${unapproved.account}`;
  for (const caller of [old, unapproved]) await unused(caller, "12 months");
  await unused(lately, "11 months");
  t.is(await market.work("end_unused_agents"), 1);
  t.is(await market.work("end_unused_agents"), 0);
  const { status, detail } = await refusal(people.me(old));
  t.is(status, 401);
  t.regex(detail, /was not used for long\..*POST \/v1\/connect/);
  await t.notThrowsAsync(people.me(lately));
  const notices = await market.sql("select email, act, agent_name from market.notice");
  t.deepEqual(notices, [{ email: identity.email, act: "agent_unused", agent_name: "Old <b>one" }]);
  await market.sql("update market.setting set value = '11' where name = 'unused_agent_months'");
  t.is(await market.work("end_unused_agents"), 1);
  await market.sql("update market.setting set value = '12' where name = 'unused_agent_months'");
});

test.serial("who gets events, or was approved again by its person, is in use", async (t) => {
  const [receiver, again] = [await market.approved(), await market.approved()];
  await market.sql`with added as (
      insert into market.webhook (account_id, agent_id, url, encrypted_secret, verified_at)
      values (${receiver.account}, ${receiver.agent}, 'https://receiver.example/', '00000000.' || repeat('x', 80), now())
      returning id)
    insert into market.webhook_delivery (webhook_id, events, delivered_at, next_attempt_at)
    select id, '[{}]', now(), null from added`;
  await market.sql`update market.agent set connected_at = null, disconnected_at = now() where id = ${again.agent}`;
  for (const one of [receiver, again]) await unused(one, "13 months");
  await market.callAsPerson(again, "approve_agent", { agent_id: again.agent });
  t.is(await market.work("end_unused_agents"), 0);
});

test.serial("every use of a token counts, also one that only reads", async (t) => {
  const [caller, idle] = [await market.approved(), await market.approved()];
  for (const one of [caller, idle]) await unused(one, "11 months");
  const url = new URL(market.url);
  const database = openDatabase({
    ...{ url: url.href, poolSize: 2, role: "souk_api", embedded: false },
    onError: (error) => t.fail(error.message),
  });
  await database.call({ agent: caller.token }, "get_me", { base_url: "", link_key: Buffer.alloc(32) }, "read");
  await database.close();
  const isRecent = (one: Caller) =>
    market.value`select used_at > now() - interval '1 minute' from market.agent where id = ${one.agent}`;
  t.deepEqual([await isRecent(caller), await isRecent(idle)], [true, false]);
  const log =
    await market.sql`select from market.audit_event where row_id = ${caller.agent} and action = 'agent.updated'`;
  t.is(log.length, 0, "the audit log has what somebody decided");
});
