import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { withClient } from "../support/client.ts";
import { type Answer, type AskFacts, askOf, column, type OfferFacts, vectorOf } from "./market.ts";
import { buyer, market, matches, matching, seller } from "./two_sides.ts";

/**
 * Which offers match an ask. An offer is matched when it is embedded, an ask when it is read or embedded. The rules are in
 * test/db/verdicts.test.ts, reading the matches in since.test.ts, and how many there are in match_bounds.test.ts.
 */

const submittedAsk = async (text: string): Promise<{ submission: string; id: string }> => {
  const { submission } = await market.call(buyer, "create_ask", { body: { text } });
  const [row] = await market.sql`select target_id as id from market.submission where id = ${submission}`;
  return { submission, id: row.id };
};

const near = vectorOf("sofa");
const far = vectorOf("phone");

test.serial("a better match is ranked before a worse one", async (t) => {
  const abroad = await market.offer(seller, {
    place: "Hamburg",
    city: "Hamburg",
    country: "DE",
    words: "Shipping possible",
  });
  const here = await market.offer(seller, { place: "Berlin" });
  const { results } = await matches(await market.ask(buyer, { place: "Berlin", country: "DE" }));
  t.deepEqual(
    results.map((result: Answer) => [result.id, result.rank]),
    [
      [here, 1],
      [abroad, 2],
    ],
  );
  t.true(results[0].score > results[1].score);
});

test.serial("an opposite vector is no error and does not exclude a match by words", async (t) => {
  const opposite = JSON.stringify((JSON.parse(near) as number[]).map((value) => -value));
  const offer = await market.offer(seller, { place: "Hamburg", condition: "for_parts", vector: near });
  const ask = await market.ask(buyer, { place: "Berlin", condition: "new", vector: opposite });
  t.deepEqual(await matching(ask), [offer]);
});

test.serial("a price with three decimals is compared to its last one", async (t) => {
  const offer = await market.offer(seller, { price: "12.342 KWD" });
  t.deepEqual(await matching(await market.ask(buyer, { max: "12.341 KWD" })), []);
  t.deepEqual(await matching(await market.ask(buyer, { max: "12.342 KWD" })), [offer]);
});

test.serial("an account's own offers never match its asks, whichever of its agents published them", async (t) => {
  await market.offer(buyer);
  const ask = await market.ask(buyer);
  await market.offer(buyer);
  t.deepEqual(await matching(ask), []);
  const other = await market.offer(seller);
  t.deepEqual(await matching(ask), [other]);
});

test.serial("an archived or removed offer leaves the matches at once, and returns when it is live again", async (t) => {
  const ask = await market.ask(buyer);
  const [archived, removed] = [await market.offer(seller), await market.offer(seller)];
  t.is((await matching(ask)).length, 2);
  await market.call(seller, "archive_offer", { id: archived });
  t.deepEqual(await matching(ask), [removed]);
  await market.sql`update market.offer set status = 'removed' where id = ${removed}`;
  t.deepEqual(await matching(ask), []);
  await market.call(seller, "republish_offer", { id: archived });
  await market.embed("offer", archived);
  t.deepEqual(await matching(ask), [archived]);
});

test.serial("a changed offer loses the asks that it no longer matches, and gains others", async (t) => {
  const [sofa, phone] = [
    await market.ask(buyer),
    await market.ask(buyer, { title: "Wanted: phone", domain: "electronics", category: "phones", keywords: ["phone"] }),
  ];
  const offer = await market.offer(seller);
  t.deepEqual([await matching(sofa), await matching(phone)], [[offer], []]);
  await market.change(seller, offer, { title: "Old phone", domain: "electronics", category: "phones" });
  t.deepEqual([await matching(sofa), await matching(phone)], [[], [offer]]);
});

/** All stored matches, as text. */

const pairs = async (): Promise<string[]> =>
  (
    await market.sql<{ pair: string }>`select a.title || ' <- ' || o.title || ' at ' || m.score as pair
      from market.match m join market.ask a on a.id = m.ask_id join market.offer o on o.id = m.offer_id order by 1`
  ).map(({ pair }) => pair);

test.serial("matching by offers and matching by asks find the same pairs", async (t) => {
  const places: (OfferFacts & AskFacts)[] = [
    {},
    { place: "Berlin", city: "Berlin", country: "DE" },
    { place: "Kreuzberg", country: "DE" },
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    { place: "Lyon", city: "Lyon", country: "FR" },
  ];
  const wishes: AskFacts[] = [
    { keywords: ["sofa"] },
    { keywords: ["hammock"], vector: near },
    { keywords: ["sofa"], category: null, max: "100 EUR" },
    { keywords: ["sofa"], max: "500 GBP" },
    { keywords: ["sofa"], exclude: ["leather"] },
    { keywords: ["sofa"], domain: "electronics", category: "tv" },
  ];
  const goods: OfferFacts[] = [
    { vector: near },
    { words: "Shipping possible" },
    { words: "Leather", vector: far },
    { price: null },
    { title: "Old phone", domain: "electronics", category: "phones" },
  ];
  for (const [n, wish] of wishes.entries()) {
    for (const [m, place] of places.entries()) {
      await market.ask(buyer, { ...place, ...wish, title: `Wanted ${n} ${m}: ${wish.keywords}` });
    }
  }
  for (const [n, good] of goods.entries()) {
    for (const [m, place] of places.entries()) {
      await market.offer(seller, { ...place, ...good, title: `${good.title ?? "Grey sofa"} ${n} ${m}` });
    }
  }
  const found = await pairs();
  t.true(found.length > 50, `${found.length}`);
  await market.sql("delete from market.match");
  await market.sql("select search.match_ask(id) from market.ask order by id");
  t.deepEqual(found, await pairs());
  // Matching the offers again against all asks loses nothing and adds no duplicates.
  await market.sql("select search.match_offer(id) from market.offer order by id");
  t.deepEqual(found, await pairs());
});

test.serial("a new offer matches an ask without keywords, one without a place, and one with quotes", async (t) => {
  const asks = [
    await market.ask(buyer, { title: "Wanted: that", keywords: [] }),
    await market.ask(buyer, { keywords: ["sofa"] }),
    await market.ask(buyer, { keywords: ["sofa d'angle", "back\\slash"], title: "Wanted: sofa d'angle back\\slash" }),
  ];
  await market.sql`update market.ask set keywords_query = null where id = ${asks[0]}`;
  const offer = await market.offer(seller, { place: "Berlin", city: "Berlin", country: "DE" });
  for (const ask of asks) t.deepEqual(await matching(ask), [offer]);
});

test.serial("lexemes_of returns the lexemes that a query asks for, unescaped, and * for null", async (t) => {
  const [row] = await market.sql`select
    search.lexemes_of(${String.raw`'d''or' & ('back\\slash' | 'concept/sofa':A) <-> 'x' & !'y'`}::tsquery) as lexemes,
    search.lexemes_of(null) as none, search.lexemes_of('') as empty`;
  t.deepEqual(row.lexemes.toSorted(), ["back\\slash", "concept/sofa", "d'or", "x", "y"]);
  t.deepEqual([row.none, row.empty], [["*"], []]);
});

test.serial("offers for the same ask do not wait for each other, and since misses none of their matches", async (t) => {
  const ask = await market.ask(buyer);
  const [slow, quick] = [await market.offer(seller), await market.offer(seller)];
  await market.sql("delete from market.match");
  const ids = ({ results }: Answer): string[] => results.map((result: Answer) => result.id);
  await withClient(market.url, async (client) => {
    await client.query("begin");
    await client.query("select search.match_offer($1)", [slow]);
    await withClient(market.url, async (other) => {
      await other.query("set lock_timeout = '5s'");
      await other.query("select search.match_offer($1)", [quick]);
    });
    const before = await matches(ask);
    t.deepEqual(ids(before), [quick]);
    const third = await market.offer(seller);
    const first = await matches(ask, { limit: 1 });
    await client.query("commit");
    t.deepEqual(ids(await matches(ask, { since: before.since })).sort(), [slow, third].sort());
    // The pages of one reading have what the first one found, and their since goes on from there.
    const rest = await matches(ask, { cursor: first.page.next_cursor });
    t.deepEqual([...ids(first), ...ids(rest)].sort(), [quick, third].sort());
    t.deepEqual(ids(await matches(ask, { since: rest.since })), [slow]);
  });
});

test.serial("an ask that is matched again waits for an offer that is matched with what it was before", async (t) => {
  const ask = await market.ask(buyer);
  const offer = await market.offer(seller);
  await market.sql("delete from market.match");
  await withClient(market.url, async (client) => {
    await client.query("begin");
    await client.query("select search.match_offer($1)", [offer]);
    let done = false;
    const changed = market
      .sql("update market.ask set ask_kind = 'rent' where id = $1", [ask])
      .then(() => market.sql`select search.match_ask(${ask})`)
      .finally(() => {
        done = true;
      });
    await sleep(500);
    t.false(done);
    await client.query("commit");
    await changed;
  });
  t.deepEqual(await matching(ask), []);
});

const changeWhile = (match: () => Promise<unknown>, offer: string, change: string) =>
  withClient(market.url, async (owner) => {
    await owner.query("begin");
    await owner.query(`update market.offer set ${change} where id = $1`, [offer]);
    const matched = match();
    // Long enough for the matching to finish, if it does not wait for the lock.
    await sleep(300);
    await owner.query("commit");
    await matched;
  });

for (const embedded of ["offer", "ask"] as const)
  test.serial(`an offer that is archived while the ${embedded} is matched leaves no match`, async (t) => {
    const id = { offer: await market.offer(seller, { vector: near }), ask: await market.ask(buyer, { vector: near }) };
    t.true((await matching(id.ask)).includes(id.offer));
    await changeWhile(() => market.embed(embedded, id[embedded], near), id.offer, "status = 'archived'");
    t.deepEqual(await market.sql`select from market.match where offer_id = ${id.offer}`, []);
  });

test.serial("an ask is matched with the offers as they are when it has locked them", async (t) => {
  const id = { offer: await market.offer(seller, { vector: near }), ask: await market.ask(buyer, { max: "500 EUR" }) };
  t.true((await matching(id.ask)).includes(id.offer));
  await changeWhile(() => market.embed("ask", id.ask, near), id.offer, "price_thousandths = 753000");
  // The job that changed the offer has not matched it yet, and might have done so before this match was committed.
  t.false((await matching(id.ask)).includes(id.offer));
});

test.serial("an ask that is read while an offer is matched meets it right after", async (t) => {
  const { text, extraction } = askOf({});
  const { submission, id } = await submittedAsk(text);
  await withClient(market.url, async (client) => {
    await client.query("begin");
    await client.query("select jobs.complete_submission($1, $2)", [submission, extraction]);
    // It does not see the ask as it will be, and the ask does not see it.
    await market.offer(seller);
    await client.query("commit");
  });
  t.deepEqual(await matching(id), []);
  const jobs = await market.sql`select task_identifier from graphile_worker.jobs where key = ${`embed_ask:${id}`}`;
  t.deepEqual(jobs, [{ task_identifier: "embed_ask" }]);
  await market.embed("ask", id);
  t.is((await matching(id)).length, 1);
});

test.serial("an ask that is not active keeps the matches of its text, and loses them with another text", async (t) => {
  const id = await market.ask(buyer);
  const offer = await market.offer(seller);
  await market.call(buyer, "fulfill_ask", { id });
  const fulfilled = await matches(id);
  t.deepEqual(column(fulfilled.results, "id"), [offer]);
  t.deepEqual(fulfilled.next, [
    {
      summary: "This ask is fulfilled, so it gets no new matches. Reopen it to go on looking.",
      method: "POST",
      path: `/v1/asks/${id}/reopen`,
    },
  ]);
  const { text, extraction } = askOf({ title: "Wanted: red bicycle", keywords: ["bicycle"], category: "bicycles" });
  const { submission } = await market.call(buyer, "update_ask", { id, body: { text } });
  await market.work("complete_submission", submission, extraction);
  t.is((await market.call(buyer, "get_answer", { submission_id: submission })).status, 200);
  t.deepEqual(await matching(id), []);
});

test.serial("an ask that does not watch says how it goes on looking", async (t) => {
  const id = await market.ask(buyer, { watch: false });
  t.deepEqual((await matches(id)).next, [
    {
      summary: "This ask does not watch for new offers. Set watch_enabled to go on looking.",
      method: "PATCH",
      path: `/v1/asks/${id}`,
    },
  ]);
});

for (const change of [
  "offer_kind = 'rental'",
  "category = 'appliances'",
  `metadata = metadata || '{"condition": "new"}'`,
])
  test.serial(`an offer is matched again when reading it anew gives ${change}`, async (t) => {
    const offer = await market.offer(seller);
    await market.sql`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
      where key = ${`embed_offer:${offer}`}`;
    await market.sql(`update market.offer set ${change} where id = $1`, [offer]);
    const jobs = await market.sql`select task_identifier from graphile_worker.jobs
      where key = ${`embed_offer:${offer}`}`;
    t.deepEqual(jobs, [{ task_identifier: "embed_offer" }]);
  });

test.serial("an ask whose agent is removed before its text was read is refused, and is not there", async (t) => {
  const colleague = await market.colleague(buyer);
  const { text, extraction } = askOf({});
  const [lost, changed] = [await submittedAsk(text), await submittedAsk(text)];
  // Another change of the second one is waiting to be read, so somebody still wants it.
  await market.call(colleague, "update_ask", { id: changed.id, body: { text: `${text} Soon` } });
  await market.callAsPerson(buyer, "remove_agent", { agent_id: buyer.agent });
  for (const { submission } of [lost, changed]) {
    await market.work("complete_submission", submission, extraction);
    const [row] = await market.sql`select status from market.submission where id = ${submission}`;
    t.deepEqual(row, { status: 401 });
  }
  const { results } = await market.call(colleague, "list_asks");
  t.deepEqual(column(results, "id"), [changed.id]);
  // Other tests of this file delete what they made.
  const untrue = "select detail from inspect.check() where detail like '%' || $1 || '%'";
  for (const { id } of [lost, changed]) t.deepEqual(await market.sql(untrue, [id]), []);
});
