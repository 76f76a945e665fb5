import test from "ava";
import { type Answer, column, offerOf, refused } from "./market.ts";
import { buyer, market, matches, seller } from "./two_sides.ts";

/** Reading the matches of an ask: in pages, and with `since` the new ones only. */

test.serial("with since, only matches come that were added after its response", async (t) => {
  const ask = await market.ask(buyer);
  const first = await market.offer(seller);
  const one = await matches(ask);
  t.deepEqual(column(one.results, "id"), [first]);
  const two = await matches(ask, { since: one.since });
  t.deepEqual(two.results, []);
  await market.embed("offer", first);
  t.deepEqual((await matches(ask, { since: two.since })).results, [], "a repeated match is not new");
  const second = await market.offer(seller);
  t.deepEqual(column((await matches(ask, { since: two.since })).results, "id"), [second]);
  await market.call(seller, "archive_offer", { id: second });
  const three = await matches(ask, { since: one.since });
  t.deepEqual(three.results, []);
  t.deepEqual((await matches(ask, { since: three.since })).results, [], "older ones do not come again");
});

test.serial("after a restore, an earlier since returns the matches found after it was given", async (t) => {
  const ask = await market.ask(buyer);
  await market.offer(seller);
  await market.offer(seller);
  // The backup is from a server whose transactions had higher numbers than those of this server have reached.
  await market.sql("update market.match set xid = '900000000'");
  const sinceOf = (as_of: Date): string =>
    Buffer.from(JSON.stringify({ list: `matches ${ask}`, seen: "900000001", as_of })).toString("base64url");
  const first = await matches(ask, { limit: 1 });
  t.is((await matches(ask, { cursor: first.page.next_cursor })).results.length, 1);
  t.is((await matches(ask, { since: sinceOf(new Date(0)) })).results.length, 2);
  const [row] = await market.sql("select clock_timestamp() as now");
  const since = sinceOf(row.now);
  const none = await matches(ask, { since });
  t.deepEqual(none.results, []);
  const late = await market.offer(seller);
  for (const given of [since, none.since]) {
    const { results } = await matches(ask, { since: given });
    t.deepEqual(column(results, "id"), [late]);
  }
});

test.serial("a since of another ask, or an invented one, is refused", async (t) => {
  const [one, other] = [await market.ask(buyer), await market.ask(buyer)];
  const { since } = await matches(one);
  t.is(await refused(matches(other, { since })), "400 bad_request");
  t.is(await refused(matches(other, { cursor: since })), "400 bad_request");
  for (const made of ["x", "", "bm90aGluZw", Buffer.from("[]").toString("base64url")]) {
    t.is(await refused(matches(one, { since: made })), "400 bad_request", made);
  }
  const crafted = Buffer.from(JSON.stringify({ list: `matches ${one}`, until: "many", id: "x" })).toString("base64url");
  t.is(await refused(matches(one, { cursor: crafted })), "400 bad_request");
  const held = { list: `matches ${one}`, until: "1", id: one, score: 0.5, rank: 1, is_stale: false };
  for (const broken of [{ score: "x" }, { rank: "x" }, { is_stale: "x" }, { until: "5,x" }, { seen: "x" }]) {
    const cursor = Buffer.from(JSON.stringify({ ...held, ...broken })).toString("base64url");
    t.is(await refused(matches(one, { cursor })), "400 bad_request", JSON.stringify(broken));
  }
});

test.serial("a client that sends its last since sees each offer once while offers are matched", async (t) => {
  const asks = [await market.ask(buyer), await market.ask(buyer), await market.ask(buyer, { max: "500 EUR" })];
  const offers: string[] = [];
  for (let n = 0; n < 24; n += 1) {
    await market.sql("delete from market.rate_limit_hit");
    const { text, extraction } = offerOf({ title: `Grey sofa ${n}` });
    offers.push((await market.publish(seller, text, extraction)).body.offer_id);
  }
  let working = true;
  const seen = asks.map((): string[] => []);
  const follow = async (ask: string, into: string[]) => {
    let since: string | undefined;
    for (;;) {
      const last = !working;
      const answer = await matches(ask, since === undefined ? {} : { since });
      into.push(...answer.results.map((result: Answer) => result.id));
      since = answer.since;
      if (last) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const followers = asks.map((ask, place) => follow(ask, seen[place] ?? []));
  // Four connections at once, each with offers and asks in another order, like several workers.
  const jobs = [
    ...offers.map((id) => ["offer", id] as const),
    ...asks.map((id) => ["ask", id] as const),
    ...offers.map((id) => ["offer", id] as const),
  ];
  const lane = async (first: number) => {
    for (const [n, [kind, id]] of jobs.entries()) if (n % 4 === first) await market.embed(kind, id);
  };
  await Promise.all([lane(0), lane(1), lane(2), lane(3)]);
  working = false;
  await Promise.all(followers);
  for (const ids of seen) t.deepEqual(ids.sort(), offers.toSorted());
});

test.serial("paging through matches returns each once, also while new ones are added", async (t) => {
  const ask = await market.ask(buyer, { place: "Berlin" });
  const offers: string[] = [];
  for (let n = 0; n < 7; n += 1) offers.push(await market.offer(seller, { place: n % 2 ? "Berlin" : "Hamburg" }));
  const seen: string[] = [];
  const ranks: number[] = [];
  let cursor: string | undefined;
  do {
    const { results, page } = await matches(ask, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...results.map((result: Answer) => result.id));
    ranks.push(...results.map((result: Answer) => result.rank));
    cursor = page.next_cursor ?? undefined;
    t.is(page.has_more, cursor !== undefined);
    if (seen.length < 5) await market.offer(seller, { place: "Berlin" });
  } while (cursor !== undefined);
  t.deepEqual(seen.toSorted(), offers.toSorted());
  t.deepEqual(ranks, [1, 2, 3, 4, 5, 6, 7]);
});
