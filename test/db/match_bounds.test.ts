import test from "ava";
import { withClient } from "../support/client.ts";
import { buyer, market, seller } from "./two_sides.ts";

/** How many asks an offer is matched with, how many matches an ask keeps, and what reading an ask costs at most. */

test.serial("each exclusion is turned into a query once: that is most of what reading an ask costs", async (t) => {
  await withClient(market.url, async (client) => {
    await client.query("begin; set local track_functions = 'pl'");
    await client.query(`select search.exclude_query('["stains", "scratches", "smoke"]', 'en', '''concept/sofa''')`);
    const { rows } = await client.query(
      "select calls::integer from pg_stat_xact_user_functions where funcname = 'phrase_query'",
    );
    t.deepEqual(rows, [{ calls: 3 }]);
  });
});

test.serial("of an account's thousands of like asks an offer answers the newest hundred", async (t) => {
  const other = await market.approved("other");
  const theirs = [await market.ask(other), await market.ask(other)];
  const mine = await market.ask(buyer);
  const columns = await market.value`select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
      where attrelid = 'market.ask'::regclass and attnum > 0 and not attisdropped and attname <> 'id'
        and attgenerated = ''`;
  await market.sql(
    `insert into market.ask (id, ${columns})
     select internal.uuid_v7(), ${columns} from market.ask, generate_series(1, 1500) where id = $1`,
    [mine],
  );
  const offer = await market.offer(seller);
  const matched = await market.sql`select ask_id from market.match where offer_id = ${offer}`;
  t.is(matched.length, 100 + theirs.length);
  for (const ask of theirs) t.true(matched.some(({ ask_id }) => ask_id === ask));
  await market.sql`delete from market.ask where account_id = ${buyer.account}`;
});

test.serial("an ask keeps about its best thousand matches, and tells of those that it loses", async (t) => {
  // The offer shortens one of the asks that it matches.
  await market.sql("delete from market.ask");
  const ask = await market.ask(buyer, { place: "Berlin" });
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true)),
    offers as (
      insert into market.offer (status, text, title, published_at, domain, category, offer_kind)
      select 'published', 'Grey sofa', 'Grey sofa', now(), 'home_garden', 'furniture', 'sale'
      from off, generate_series(1, 1300) returning id)
    insert into market.match (ask_id, offer_id, score, reasons)
    select ${ask}, o.id, 0.3 + 0.0001 * row_number() over (), '[]' from offers o`;
  const best = await market.offer(seller, { place: "Berlin" });
  const kept = await market.sql`select offer_id, score from market.match where ask_id = ${ask} order by score desc`;
  t.is(kept.length, 1000);
  t.is(kept[0].offer_id, best);
  t.true(kept.at(-1).score > 0.33);
  const lost = await market.value`select count(*)::int from market.event
    where account_id = ${buyer.account} and type = 'match.withdrawn'`;
  t.is(lost, 301);
});

test.serial("an offer answers at most five thousand asks, of every account the newest first", async (t) => {
  await market.sql("delete from market.ask");
  const first = await market.ask(buyer);
  const columns = await market.value`select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
    where attrelid = 'market.ask'::regclass
    and attnum > 0 and not attisdropped and attname <> all ('{id,account_id,agent_id}') and attgenerated = ''`;
  await market.sql(
    `with made as (insert into market.account select from generate_series(1, 51) returning id)
     insert into market.ask (id, account_id, ${columns})
     select internal.uuid_v7(), m.id, ${columns} from market.ask k, made m, generate_series(1, 100) where k.id = $1`,
    [first],
  );
  const offer = await market.offer(seller);
  const [matched] = await market.sql`select count(*)::int as matches, count(distinct a.account_id)::int as accounts,
    bool_or(a.id = ${first}) as first
    from market.match m join market.ask a on a.id = m.ask_id where m.offer_id = ${offer}`;
  t.deepEqual(matched, { matches: 5000, accounts: 52, first: true });
  await market.sql("delete from market.ask");
});
