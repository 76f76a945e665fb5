import test from "ava";
import { askOf, type Caller, found, offerOf } from "./market.ts";
import { market } from "./one_market.ts";

/** A text that reads as an ask is no offer, and one that reads as an offer is no ask, unless the sender says so. */

/** A text with its extraction, in which the reader is so sure that it is the other one. */
const reading = (facts: { text: string; extraction: string }, value: "ask" | "offer", confidence: number) => {
  const [first] = JSON.parse(facts.extraction);
  const said = { ...found(facts.text, value, facts.text.split(" ")[0] ?? ""), confidence };
  return { text: facts.text, extraction: JSON.stringify([{ ...first, reads_as: said }]) };
};
const wanting = (confidence: number) => reading(offerOf({ title: "Wanted: grey sofa" }), "ask", confidence);

let caller: Caller;
test.beforeEach(async () => {
  caller = await market.approved();
});

/** Sends a text to a function that stores a submission, and completes it. */
const sent = async (name: string, { text, extraction }: { text: string; extraction: string }, args: object) => {
  const { submission } = await market.call(caller, name, { body: { text, ...args } });
  await market.work("complete_submission", submission, extraction);
  return market.call(caller, "get_answer", { submission_id: submission });
};

const countOf = (table: "offer" | "ask") =>
  market
    .sql(`select count(*)::integer as n from market.${table} where account_id = $1`, [caller.account])
    .then(([row]) => row?.n);

test.serial("a text that certainly asks is no offer, unless the sender says so", async (t) => {
  const { text, extraction } = wanting(0.9);
  for (const name of ["publish_offer", "preview_offer"]) {
    const { status, body } = await sent(name, { text, extraction }, {});
    t.deepEqual([status, body.code, body.next[0].path], [400, "reads_as_ask", "/v1/asks"], name);
  }
  t.is(await countOf("offer"), 0);
  const { status, body } = await market.publish(caller, text, extraction, { kind_confirmed: true });
  t.deepEqual([status, body.offer_kind, body.price, body.warnings], [201, "sale", "180 EUR", undefined]);

  // With other pictures it stays what it was, and another text that asks is refused.
  const pictures = await market.call(caller, "update_offer", { id: body.offer_id, body: { images: [] } });
  await market.work("complete_submission", pictures.submission, extraction);
  const changed = await market.call(caller, "get_answer", { submission_id: pictures.submission });
  t.deepEqual([changed.status, changed.body.offer_kind], [200, "sale"]);
  const other = await market.call(caller, "update_offer", { id: body.offer_id, body: { text } });
  await market.work("complete_submission", other.submission, extraction);
  t.is((await market.call(caller, "get_answer", { submission_id: other.submission })).status, 400);
});

test.serial("in doubt an offer is published without kind and price, and with a warning", async (t) => {
  const { text, extraction } = wanting(0.7);
  const { status, body } = await market.publish(caller, text, extraction);
  t.deepEqual(
    [status, body.offer_kind, body.price, body.extraction.price, body.missing_fields],
    [201, null, undefined, undefined, ["offer_kind", "price"]],
  );
  t.true(body.warnings[0].includes("/v1/asks"));
  const sure = wanting(0.5);
  t.is((await market.publish(caller, sure.text, sure.extraction)).body.offer_kind, "sale");
});

test.serial("of a text with several things the sender is told, and asked for one price", async (t) => {
  const { text, extraction } = offerOf({});
  const several = JSON.stringify([{ ...JSON.parse(extraction)[0], several: true }]);
  const { body } = await sent("preview_offer", { text, extraction: several }, {});
  t.true(body.warnings[0].includes("several things"));
  t.is(body.questions.length, 1);
});

test.serial("an ask whose text certainly offers is not kept, unless the sender says so", async (t) => {
  const offering = reading(askOf({ title: "Selling my grey sofa" }), "offer", 0.9);
  const { status, body } = await sent("create_ask", offering, {});
  t.deepEqual([status, body.code, body.next[0].path], [400, "reads_as_ask", "/v1/offers"]);
  t.is(await countOf("ask"), 0);
  t.is((await sent("create_ask", offering, { kind_confirmed: true })).status, 201);
  // The caller of an ask that was not read in time has it already.
  const { submission } = await market.call(caller, "create_ask", { body: { text: offering.text } });
  await market.call(caller, "withdraw_submission", { submission_id: submission });
  await market.work("complete_submission", submission, offering.extraction);
  t.is(await countOf("ask"), 2);
});
