import test from "ava";
import { type Answer, type Caller, type OfferFacts, offerOf } from "./market.ts";
import { market } from "./one_market.ts";

/** What a publisher is told of live offers of the same thing: what they ask, and that it is live already. */

const ACCORDION = { domain: "hobbies", category: "music_instruments", place: "Kiel" };
let publisher: Caller;

/** Publishes an offer of each price, two for each account, live for some hours. */
const others = async (facts: OfferFacts, prices: readonly number[], hours = 30) => {
  for (let n = 0; n < prices.length; n += 2) {
    const seller = await market.approved();
    for (const price of prices.slice(n, n + 2)) {
      const id = await market.offer(seller, { ...facts, price: `${price} EUR` });
      await market.sql`update search.document set published_at = now() - make_interval(hours => ${hours}) where id = ${id}`;
    }
  }
};

const preview = async (facts: OfferFacts): Promise<Answer> => {
  const { text, extraction } = offerOf(facts);
  const { submission } = await market.call(publisher, "preview_offer", { body: { text } });
  await market.work("complete_submission", submission, extraction);
  return (await market.call(publisher, "get_answer", { submission_id: submission })).body;
};

test.before(async () => {
  publisher = await market.approved();
});

test("similar offers of others say what such a thing costs, from eight of five accounts and a day on", async (t) => {
  const facts = { title: "Red accordion", ...ACCORDION };
  const mine = { title: "Old accordion", ...ACCORDION, price: "30 EUR" };
  await others(facts, [100, 120, 140, 160, 180, 200, 220, 240]);
  t.is((await preview(mine)).price_guidance, undefined, "eight, of four accounts");
  await others(facts, [260, 280], 2);
  t.is((await preview(mine)).price_guidance, undefined, "live for two hours");
  await others({ ...facts, title: "Grand piano" }, [9000, 9000, 9000, 9000]);
  await others({ ...facts, kind: "rental" }, [20, 20, 20, 20]);
  await others(facts, [260, 280]);
  const { price_guidance, warnings } = await preview(mine);
  t.deepEqual(price_guidance, { low: 145, median: 190, high: 235, currency: "EUR", count: 10 });
  t.is(warnings.length, 1);
  t.regex(warnings[0], /far below what similar offers ask \(mostly 145 to 235 EUR\)/);
  t.is((await preview({ ...mine, price: "150 EUR" })).warnings, undefined);
  t.is((await preview({ ...mine, price: "30 GBP" })).price_guidance, undefined);
  t.is((await preview({ ...mine, unit: "kilogram" })).price_guidance, undefined);
  t.is((await preview({ ...mine, title: "Old violin" })).price_guidance, undefined);
  const published = await market.publish(publisher, ...(Object.values(offerOf(mine)) as [string, string]));
  t.deepEqual(published.body.price_guidance, price_guidance);
});

test("the account's own live offer of the same thing is named", async (t) => {
  const facts = { title: "Blue unicycle", words: "Hardly used", domain: "hobbies", category: "sports", place: "Kiel" };
  const { text, extraction } = offerOf(facts);
  const { body } = await market.publish(publisher, text, extraction);
  const similar = await preview({ ...facts, price: "170 EUR", words: "As new" });
  t.is(similar.warnings.length, 1);
  t.true(similar.warnings[0].includes(body.offer_id));
  t.is((await preview({ ...facts, title: "Green trampoline" })).warnings, undefined);
});
