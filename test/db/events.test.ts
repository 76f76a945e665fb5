import test from "ava";
import type { Answer, Caller } from "./market.ts";
import { market } from "./one_market.ts";

/** Events that no call of an agent causes: each is written once, in the transaction of what happened. */

/** The events of an account but for agent.connected. */
const eventsOf = (account: string): Promise<Answer[]> =>
  market.sql`select type, data from market.event where account_id = ${account} and type <> 'agent.connected'
    order by xid, id`;

/** Makes a change by one statement. @returns how many events of the account its transaction wrote */
const inOne = async (account: string, change: string, values: unknown[]): Promise<number> => {
  const [row] = await market.sql<{ xid: string }>(
    `with changed as (${change} returning pg_current_xact_id()::text as xid) select xid from changed`,
    values,
  );
  const [count] = await market.sql<{ n: number }>`select count(*)::int as n from market.event
    where account_id = ${account} and xid = ${row?.xid}::xid8`;
  return count?.n ?? 0;
};

const approved = (): Promise<Caller> => market.approved();

test("a removal, a restoration and a decided appeal are told once each, with reason and outcome", async (t) => {
  const caller = await approved();
  const offer = await market.offer(caller);
  t.is(
    await inOne(
      caller.account,
      "update market.offer set status = 'removed', removed_at = now(), review_reason = 'scam' where id = $1",
      [offer],
    ),
    1,
  );
  await market.sql`insert into market.appeal (offer_id, removed_at, account_id, agent_id, comment)
    select id, removed_at, account_id, ${caller.agent}, 'It is mine.' from market.offer where id = ${offer}`;
  t.is(await inOne(caller.account, "update market.appeal set decided_at = now() where offer_id = $1", [offer]), 1);
  t.deepEqual(await eventsOf(caller.account), [
    { type: "offer.removed", data: { offer_id: offer, reason: "scam" } },
    { type: "offer.appeal_decided", data: { offer_id: offer, outcome: "upheld" } },
  ]);
  await market.sql`update market.appeal set decided_at = decided_at where offer_id = ${offer}`;
  t.is((await eventsOf(caller.account)).length, 2, "the same decision again is no event");
  t.is(
    await inOne(caller.account, "update market.offer set status = 'published', review_reason = null where id = $1", [
      offer,
    ]),
    1,
  );
  t.deepEqual((await eventsOf(caller.account)).slice(2), [{ type: "offer.restored", data: { offer_id: offer } }]);
});

test("a moderator's decision about an offer is told once", async (t) => {
  const [caller, moderator] = [await approved(), await approved()];
  const offer = await market.offer(caller);
  await market.sql`insert into market.decision (moderator_id, action, offer_id, account_id)
    values (${moderator.account}, 'keep', ${offer}, ${caller.account})`;
  t.deepEqual(await eventsOf(caller.account), [
    { type: "offer.reviewed", data: { offer_id: offer, decision: "keep" } },
  ]);
});

for (const status of ["completed", "expired"]) {
  test(`a verification that is ${status} is told once`, async (t) => {
    const caller = await approved();
    const [made] = await market.sql<{ id: string }>`insert into market.verification (account_id, agent_id, method,
      secret_hash, expires_at)
      values (${caller.account}, ${caller.agent}, 'email', sha256('link'::bytea || uuid_send(${caller.account})), now()
        + interval '1 hour') returning id`;
    t.is(
      await inOne(caller.account, "update market.verification set status = $2 where id = $1", [made?.id, status]),
      1,
    );
    await market.sql`update market.verification set expires_at = expires_at where id = ${made?.id}`;
    t.deepEqual(await eventsOf(caller.account), [
      { type: `verification.${status}`, data: { verification_id: made?.id, method: "email" } },
    ]);
  });
}

test("a suspension and its end are told once each", async (t) => {
  const caller = await approved();
  const suspend = "update market.account set suspended_at = now(), suspension_reason = 'spam' where id = $1";
  t.is(await inOne(caller.account, suspend, [caller.account]), 1);
  await market.sql(suspend, [caller.account]);
  t.is(
    await inOne(
      caller.account,
      "update market.account set suspended_at = null, suspension_reason = null where id = $1",
      [caller.account],
    ),
    1,
  );
  t.deepEqual(await eventsOf(caller.account), [
    { type: "account.suspended", data: {} },
    { type: "account.reinstated", data: {} },
  ]);
});

test("the approval and the removal of an agent are told once each", async (t) => {
  const caller = await approved();
  await market.call(caller, "remove_own_agent");
  await market.sql`update market.agent set removed_at = removed_at where id = ${caller.agent}`;
  t.deepEqual(
    await market.sql`select type, data from market.event where account_id = ${caller.account} order by xid, id`,
    ["agent.connected", "agent.removed"].map((type) => ({ type, data: { agent_id: caller.agent } })),
  );
});

test("what is rolled back is no event, and the event is there as soon as the change is", async (t) => {
  const caller = await approved();
  await t.throwsAsync(
    market.sql(
      `do $$ begin
         update market.account set suspended_at = now(), suspension_reason = 'spam' where id = '${caller.account}';
         raise exception 'undone';
       end $$`,
    ),
    { message: /undone/ },
  );
  t.deepEqual(await eventsOf(caller.account), []);
});
