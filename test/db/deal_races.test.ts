import test from "ava";
import { assertInvariants } from "../support/invariants.ts";
import { eventually } from "../support/market.ts";
import { dealsIn, type Talk } from "./deals.ts";
import { type Answer, type Caller, offerOf, openMarket, outcomeOf } from "./market.ts";
import { holdRows, watchWaits } from "./waits.ts";

/**
 * What happens in a conversation at the same time has one outcome. Tom has proposed, and Lena's agent accepts, while
 * something else happens: each of the two is asked for first once.
 *
 *   rival    what happens beside the accept
 *   outcome  of the accept and of its rival, then the statuses of proposal, agreement and conversation
 */

let market: Awaited<ReturnType<typeof openMarket>>;
let deals: ReturnType<typeof dealsIn>;
let moderator: Caller;
test.before(async (t) => {
  t.timeout(60_000);
  market = await openMarket(undefined, { patient: true });
  deals = dealsIn(market);
  moderator = await market.approved("moderator");
});
test.after.always(() => market?.close());
test.afterEach("every invariant holds", (t) => assertInvariants(t, market.url));

type Deal = Talk & { proposal: string; colleague: Caller };

const proposed = async (alone: boolean): Promise<Deal> => {
  const talk = await deals.talk();
  const proposal = await deals.propose(talk.tom, talk.id, 150);
  const colleague = await market.colleague(talk.lena);
  if (alone) await deals.trust([talk.lena, talk.tom, colleague]);
  return { ...talk, proposal, colleague };
};

const removed = (who: Caller) => market.callAsPerson(who, "remove_agent", { agent_id: who.agent });

const deleted = async (who: Caller): Promise<void> => {
  while (!(await market.callAsPerson(who, "delete_account")).done);
};

const statusesOf = async ({ id, proposal }: Deal): Promise<string> => {
  const [row]: Answer[] = await market.sql`
    select p.status as proposal, coalesce(a.status || coalesce(' ' || a.reason, ''), '-') as agreement,
      c.status || coalesce(' by ' || c.closed_by, '') as conversation
    from market.conversation c join market.proposal p on p.conversation_id = c.id
    left join market.agreement a on a.proposal_id = p.id
    where c.id = ${id} and p.id = ${proposal}`;
  return `${row.proposal}, ${row.agreement}, ${row.conversation}`;
};

/** Longer than a transaction takes to end on a busy machine. */
const SETTLED_MS = 5_000;

type Rival = (deal: Deal) => Promise<unknown>;

/**
 * Each rival, and the outcomes when the agents may agree alone, and when their persons have to confirm: of the accept that
 * comes first, and of the rival that does.
 */
const RIVALS: Record<string, [rival: Rival, alone: [string, string], confirmed: [string, string]]> = {
  "another accept": [
    ({ colleague, id, proposal }) => deals.accept(colleague, id, proposal),
    ["done, done: accepted, made, open", "done, done: accepted, made, open"],
    ["done, done: accepted, awaiting, open", "done, done: accepted, awaiting, open"],
  ],
  "a withdrawal": [
    ({ tom, id, proposal }) => deals.withdraw(tom, id, proposal),
    ["done, invalid_state: accepted, made, open", "invalid_state, done: withdrawn, -, open"],
    ["done, invalid_state: accepted, awaiting, open", "invalid_state, done: withdrawn, -, open"],
  ],
  "a refusal by a colleague": [
    ({ colleague, id, proposal }) => deals.decline(colleague, id, proposal),
    ["done, invalid_state: accepted, made, open", "invalid_state, done: declined, -, open"],
    ["done, invalid_state: accepted, awaiting, open", "invalid_state, done: declined, -, open"],
  ],
  "a change of the offer": [
    async ({ lena, offer }) => {
      const { text, extraction } = offerOf({ price: "190 EUR" });
      const { submission } = await market.call(lena, "update_offer", { id: offer, body: { text } });
      await market.work("complete_submission", submission, extraction);
    },
    ["done, done: accepted, made, open", "done, done: accepted, awaiting, open"],
    ["done, done: accepted, awaiting, open", "done, done: accepted, awaiting, open"],
  ],
  "an archive of the offer": [
    ({ colleague, offer }) => market.call(colleague, "archive_offer", { id: offer }),
    ["done, done: accepted, made, open", "invalid_state, done: expired, -, open"],
    ["done, done: accepted, lapsed closed, open", "invalid_state, done: expired, -, open"],
  ],
  "a removal of the agent that accepts": [
    ({ lena }) => removed(lena),
    ["done, done: accepted, made, open", "unauthorized, done: pending, -, open"],
    ["done, done: accepted, awaiting, open", "unauthorized, done: pending, -, open"],
  ],
  "a removal of the agent that proposed": [
    ({ tom }) => removed(tom),
    ["done, done: accepted, made, open", "done, done: accepted, awaiting, open"],
    ["done, done: accepted, awaiting, open", "done, done: accepted, awaiting, open"],
  ],
  "a changed power": [
    ({ tom }) =>
      market.callAsPerson(tom, "set_powers", { agent_id: tom.agent, powers: [{ power: "agree", allowed: "ask_me" }] }),
    ["done, done: accepted, made, open", "done, done: accepted, awaiting, open"],
    ["done, done: accepted, awaiting, open", "done, done: accepted, awaiting, open"],
  ],
  "a close by the other side": [
    ({ tom, id }) => deals.close(tom, id),
    ["done, done: accepted, made, closed by inquirer", "invalid_state, done: expired, -, closed by inquirer"],
    ["done, done: accepted, lapsed closed, closed by inquirer", "invalid_state, done: expired, -, closed by inquirer"],
  ],
  "a block by the other side": [
    ({ tom, id }) => deals.block(tom, id),
    ["done, done: accepted, made, closed by inquirer", "invalid_state, done: expired, -, closed by inquirer"],
    ["done, done: accepted, lapsed closed, closed by inquirer", "invalid_state, done: expired, -, closed by inquirer"],
  ],
  "a suspension of the other side": [
    ({ tom }) => deals.moderate(moderator, "select admin.suspend_account($1, 'scam')", [tom.account]),
    ["done, done: accepted, made, closed by market", "invalid_state, done: expired, -, closed by market"],
    ["done, done: accepted, lapsed closed, closed by market", "invalid_state, done: expired, -, closed by market"],
  ],
  "a suspension of the own account": [
    ({ lena }) => deals.moderate(moderator, "select admin.suspend_account($1, 'scam')", [lena.account]),
    ["done, done: accepted, made, closed by market", "invalid_state, done: expired, -, closed by market"],
    ["done, done: accepted, lapsed closed, closed by market", "invalid_state, done: expired, -, closed by market"],
  ],
  "a deletion of the other account": [
    ({ tom }) => deleted(tom),
    ["done, done: accepted, made, closed by market", "invalid_state, done: expired, -, closed by market"],
    ["done, done: accepted, lapsed closed, closed by market", "invalid_state, done: expired, -, closed by market"],
  ],
  "a deletion of the own account": [
    ({ lena }) => deleted(lena),
    ["done, done: accepted, made, closed by market", "unauthorized, done: expired, -, closed by market"],
    ["done, done: accepted, lapsed closed, closed by market", "unauthorized, done: expired, -, closed by market"],
  ],
};

for (const [name, [rival, alone, confirmed]] of Object.entries(RIVALS)) {
  test.serial(`of an accept and ${name}, one comes first`, async (t) => {
    const waits = await watchWaits(market.url, t);
    for (const [isAlone, outcomes] of [
      [true, alone],
      [false, confirmed],
    ] as const)
      for (const acceptFirst of [true, false]) {
        const deal = await proposed(isAlone);
        // Both wait for the accounts or an agent, so that neither is done before the other has begun.
        const release = await holdRows(market.url, t, [
          "select from market.account a join market.agent g on g.account_id = a.id where a.id = any ($1) for update",
          [[deal.lena.account, deal.tom.account]],
        ]);
        const calls: [() => Promise<unknown>, () => Promise<unknown>] = [
          () => deals.accept(deal.lena, deal.id, deal.proposal),
          () => rival(deal),
        ];
        const called: Promise<string>[] = [];
        for (const [number, n] of (acceptFirst ? [0, 1] : [1, 0]).entries()) {
          called[n] = outcomeOf((calls[n] as () => Promise<unknown>)());
          while ((await waits.count()) <= number);
        }
        await release();
        const both = await Promise.all(called);
        // The job leaves what is locked, as by a call that has just been refused, to its next run.
        const outcome = await eventually(
          async () => {
            await market.work("expire_deals");
            return `${both.join(", ")}: ${await statusesOf(deal)}`;
          },
          (found) => outcomes.includes(found),
          SETTLED_MS,
        ).catch((error: Error) => error.message);
        t.true(outcomes.includes(outcome), `${outcome}\n${waits.told()}`);
      }
  });
}

test.serial("a proposal that expires while an accept waits is not accepted", async (t) => {
  const deal = await proposed(true);
  const waits = await watchWaits(market.url, t);
  const release = await holdRows(market.url, t, [
    "select from market.account where id = $1 for update",
    [deal.lena.account],
  ]);
  const accept = outcomeOf(deals.accept(deal.lena, deal.id, deal.proposal));
  while ((await waits.count()) === 0);
  await market.sql`update market.proposal set expires_at = clock_timestamp() where id = ${deal.proposal}`;
  await release();
  t.is(await accept, "invalid_state");
  await eventually(
    async () => {
      await market.work("expire_deals");
      return statusesOf(deal);
    },
    (found) => found === "expired, -, open",
  );
});

test.serial("the clock leaves a proposal alone that is just being accepted", async (t) => {
  const deal = await proposed(true);
  const waits = await watchWaits(market.url, t);
  const release = await holdRows(market.url, t, [
    "select from market.proposal where id = $1 for update",
    [deal.proposal],
  ]);
  const accept = outcomeOf(deals.accept(deal.lena, deal.id, deal.proposal));
  while ((await waits.count()) === 0);
  t.is(await market.work("expire_deals"), 0);
  await release();
  t.is(await accept, "done");
  t.is(await statusesOf(deal), "accepted, made, open");
});

test.serial("of two people who open a conversation about each other's offers at once, both do", async (t) => {
  const [lena, tom] = [await market.approved("lena"), await market.approved("tom")];
  const [hers, his] = [await market.offer(lena), await market.offer(tom)];
  const opened = await Promise.all(
    [0, 1, 2, 3].flatMap(() => [deals.open(lena, his), deals.open(tom, hers)]).map(outcomeOf),
  );
  t.deepEqual(new Set(opened), new Set(["done"]));
  t.is(
    await market.value`select count(*)::integer from market.conversation where offer_id = any (${[hers, his]})`,
    2,
    "an account has one conversation about an offer",
  );
});

test.serial("two hundred parallel accepts keep to the ceilings, and not one is over", async (t) => {
  const tom = await market.approved("tom");
  const offer = await market.offer(tom);
  await deals.trust([tom], 10, 995);
  // Tom hires, so he pays; two hundred people propose ten euros.
  await market.sql`update market.offer set offer_kind = 'project_hire' where id = ${offer}`;
  await market.sql`insert into market.cap_override (account_id, action, cap) values (${tom.account}, 'manage', 500)`;
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true)),
    people as (insert into market.account (claimed_at) select now() from off, generate_series(1, 200) returning id),
    stats as (insert into market.account_stats (account_id) select id from people),
    talks as (insert into market.conversation (offer_id, publisher_id, inquirer_id, inquirer_contact, publisher_unread)
      select ${offer}, ${tom.account}, id, 'x', 1 from people returning id)
    insert into market.proposal (conversation_id, offer_id, sender, by_person, price_thousandths, price_currency, terms,
      offer_digest, expires_at)
    select t.id, o.id, 'inquirer', true, 10000, 'EUR', '{}', internal.offer_digest(o), now() + interval '1 hour'
    from talks t, market.offer o where o.id = ${offer}`;
  const rows = await market.sql`select c.id, p.id as proposal from market.conversation c
    join market.proposal p on p.conversation_id = c.id where c.offer_id = ${offer}`;
  t.is(rows.length, 200);
  const outcomes = await Promise.all(rows.map(({ id, proposal }) => outcomeOf(deals.accept(tom, id, proposal))));
  t.deepEqual(new Set(outcomes), new Set(["done"]));
  t.deepEqual(
    await market.sql`select a.status, count(*)::integer as number, sum(a.price_thousandths)::integer as sum
      from market.agreement a join market.conversation c on c.id = a.conversation_id
      where c.offer_id = ${offer} group by 1 order by 1`,
    [
      { status: "awaiting", number: 101, sum: 1_010_000 },
      { status: "made", number: 99, sum: 990_000 },
    ],
  );
});
