import pg from "pg";
import { hashSecret } from "../../src/base/tokens.ts";
import { statementOf } from "../../src/database/database.ts";
import { urlOf, withClient } from "../support/client.ts";
import { violations } from "../support/invariants.ts";
import type { Cluster } from "../support/postgres.ts";
import { clockOf, measurePublishing, percentiles, timed } from "./growth.ts";
import { type Caller, type Market, makeMarket } from "./market.ts";
import { print, row } from "./report.ts";
import { startService } from "./service.ts";

/**
 * What conversations cost beside publishing an offer: `npm run bench -- --conversations N`. One account has a tenth of
 * them. The same is measured in a market with a tenth of them, to show what grows.
 */

const RUNS = 60;
const WARM_UP = 12;
const MESSAGES = 10;
const PAGE = 50;
const CONNECTIONS = 16;
const COLUMNS = [46, 14, 14, 10, 18];

/** Adds conversations with messages; every tenth has a proposal. `busy` is the inquirer of a tenth of them. */
const addConversations = (url: string, number: number, busy: string, tell: (what: string) => void): Promise<void> =>
  withClient(url, async (client) => {
    await client.query("set session_replication_role = replica");
    // The conversations of this bench are all of today.
    await client.query(`update market.setting set value = max::text::jsonb
      where name in ('open_conversation_cap', 'offer_conversations')`);
    tell("conversations");
    await client.query(
      `with offers as (select o.id, o.account_id, row_number() over (order by o.id) - 1 as n, count(*) over () as all
          from market.offer o where o.status = 'published'),
        people as (select a.account_id as id, row_number() over (order by a.account_id) - 1 as n, count(*) over () as all
          from market.agent a)
       insert into market.conversation (offer_id, publisher_id, inquirer_id, inquirer_contact, publisher_unread, status,
         closed_by, active_at)
       select o.id, o.account_id, case when g % 10 = 0 then $2::uuid else p.id end, 'x', $3,
         case when g % 20 < 5 then 'closed' else 'open' end, case when g % 20 < 5 then 'inquirer' end,
         now() - g * interval '1 second'
       from generate_series(0, $1::bigint - 1) as g
       join offers o on o.n = g % o.all
       join people p on p.n = (g / o.all + g) % p.all
       where o.account_id <> case when g % 10 = 0 then $2::uuid else p.id end
       on conflict do nothing`,
      [number, busy, MESSAGES],
    );
    tell("messages");
    await client.query(
      `insert into market.message (conversation_id, sender, text)
       select c.id, 'inquirer', 'Is it still there? I could come on Saturday afternoon and would pay in cash.'
       from market.conversation c cross join generate_series(1, $1)`,
      [MESSAGES],
    );
    tell("proposals");
    await client.query(
      `insert into market.proposal (conversation_id, offer_id, sender, by_person, price_thousandths, price_currency, terms,
         offer_digest, expires_at)
       select c.id, o.id, 'inquirer', true, 100000, 'EUR', '{"price": {"amount": 100, "currency": "EUR"}}',
         internal.offer_digest(o), now() + interval '1 day'
       from market.conversation c join market.offer o on o.id = c.offer_id
       where c.status = 'open' and substr(c.id::text, 36) = '0'`,
    );
    tell("vacuum analyze");
    await client.query("vacuum analyze");
  });

type Call = { who: Caller; args: Record<string, unknown> };

/** Measures a function of the API. Each run is rolled back. */
const measureCall = async (client: pg.Client, name: string, calls: readonly Call[]): Promise<number> => {
  const clock = await clockOf(client);
  const text = statementOf("agent", name, Object.keys(calls[0]?.args ?? {}));
  const times: number[] = [];
  for (let n = 0; n < RUNS + WARM_UP; n++) {
    const { who, args } = calls[n % calls.length] as Call;
    const values = Object.values(args).map((value) =>
      value !== null && typeof value === "object" ? JSON.stringify(value) : value,
    );
    await client.query("begin");
    times.push(await timed(clock, () => client.query({ name, text, values: [hashSecret(who.token), ...values] })));
    await client.query("rollback");
  }
  return percentiles(times.slice(WARM_UP)).p50;
};

const POST = { idempotency_key: null, request_hash: null, errors: "[]" };
const TERMS = { price: { amount: 90, currency: "EUR" }, handover: { method: "pickup" } };

const measureAll = async (market: Market, busy: Caller): Promise<Map<string, number>> => {
  const callerOf = (account: string) => market.callers.find(({ accountId }) => accountId === account) as Caller;
  const rows = (text: string) =>
    withClient(market.url, async (client) => (await client.query(text, [busy.accountId])).rows);
  const open = await rows(`select c.id, c.offer_id, c.publisher_id, c.inquirer_id from market.conversation c
    where c.status = 'open' and c.inquirer_id <> $1 and c.publisher_id <> $1 order by md5(c.id::text) limit 72`);
  const proposed = await rows(`select c.id, c.publisher_id, p.id as proposal from market.conversation c
    join market.proposal p on p.conversation_id = c.id and p.status = 'pending'
    where c.publisher_id <> $1 order by md5(c.id::text) limit 72`);
  const strange = await rows(`select o.id from market.offer o where o.account_id <> $1 and o.status = 'published'
    and not exists (select from market.conversation c where c.offer_id = o.id and c.inquirer_id = $1)
    order by md5(o.id::text) limit 72`);
  const list = { status: null as string | null, offer_id: null as string | null, page_size: PAGE, cursor: null };
  const calls: Record<string, [name: string, calls: Call[]]> = {
    "opening a conversation": [
      "open_conversation",
      strange.map(({ id }) => ({ who: busy, args: { id, body: { text: "Is it still there?" }, ...POST } })),
    ],
    "writing a message": [
      "send_message",
      open.map(({ id, inquirer_id }) => ({
        who: callerOf(inquirer_id),
        args: { id, body: { text: "Is it still there?" }, ...POST },
      })),
    ],
    proposing: [
      "propose",
      open.map(({ id, inquirer_id }) => ({ who: callerOf(inquirer_id), args: { id, body: TERMS, ...POST } })),
    ],
    accepting: [
      "accept_proposal",
      proposed.map(({ id, publisher_id, proposal }) => ({
        who: callerOf(publisher_id),
        args: { id, proposal_id: proposal, body: {}, errors: "[]" },
      })),
    ],
    "listing all of an account that has a tenth": ["list_conversations", [{ who: busy, args: list }]],
    "listing its closed ones": ["list_conversations", [{ who: busy, args: { ...list, status: "closed" } }]],
    "listing those about an offer": [
      "list_conversations",
      open.map(({ offer_id, publisher_id }) => ({ who: callerOf(publisher_id), args: { ...list, offer_id } })),
    ],
    "reading messages": [
      "list_messages",
      open.map(({ id, inquirer_id }) => ({
        who: callerOf(inquirer_id),
        args: { id, after: null, page_size: PAGE },
      })),
    ],
  };
  const client = new pg.Client({ connectionString: market.url.replace(/\/\/[^@/]+@/, "//souk_api@") });
  await client.connect();
  try {
    const costs = new Map<string, number>();
    for (const [what, [name, of]] of Object.entries(calls)) costs.set(what, await measureCall(client, name, of));
    return costs;
  } finally {
    await client.end();
  }
};

/** Prints what conversations cost: in a market with a tenth of them, with all, and beside publishing an offer. */
export const showDeals = async (
  { cluster, offers, conversations }: { cluster: Cluster; offers: number; conversations: number },
  tell: (what: string) => void,
): Promise<void> => {
  const measured: { costs: Map<string, number>; publishing: number; messages: number }[] = [];
  for (const [name, number] of [
    ["few_deals", Math.ceil(conversations / 10)],
    ["deals", conversations],
  ] as const) {
    await withClient(cluster.url, (client) => client.query(`create database ${name} template template0`));
    const market = await makeMarket(urlOf(cluster.url, name), { offers, asks: 100, matchesPerAsk: 1 }, tell);
    const [busy] = market.callers as [Caller];
    await addConversations(market.url, number, busy.accountId, tell);
    tell("measuring");
    const costs = await measureAll(market, busy);
    tell("publishing");
    const service = await startService(cluster, name, CONNECTIONS);
    const publishing = await measurePublishing(cluster, market, service).finally(() => service.stop());
    const messages = await withClient(market.url, async (client) =>
      Number((await client.query("select count(*) from market.message")).rows[0]?.count),
    );
    const broken = (await violations(market.url)).filter(({ invariant }) => invariant !== "deal_ends_in_time");
    if (broken[0]) print(`inspect.check() finds ${JSON.stringify(broken[0])}`);
    measured.push({ costs, publishing: publishing.p50, messages });
  }
  const [few, many] = measured;
  if (!few || !many) return;
  tell("");
  print(`${offers} offers; ${few.messages} and ${many.messages} messages; ms of processor time`);
  print();
  row(["", "a tenth", "all", "", "of publishing"], COLUMNS);
  for (const [what, cost] of few.costs) {
    const then = many.costs.get(what) ?? Number.NaN;
    row(
      [what, cost, then, `${(then / cost).toFixed(2)} x`, `${Math.round((100 * then) / many.publishing)} %`],
      COLUMNS,
    );
  }
  row(["publishing: API, worker and database", few.publishing, many.publishing, "", "100 %"], COLUMNS);
};
