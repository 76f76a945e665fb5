import test from "ava";
import { type Answer, type Caller, openMarket } from "./market.ts";

/** From a conversation to an agreement, through the functions of SQL. */

let market: Awaited<ReturnType<typeof openMarket>>;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.close());

const POST = { idempotency_key: null, request_hash: null, errors: "[]" };

/** Two persons with agents, an offer of one, and a conversation about it that the other opened. */
const talking = async (body: object = { text: "Is it still there?" }) => {
  const [lena, tom] = [await market.approved("lena"), await market.approved("tom")];
  const offer = await market.offer(lena, {});
  const opened = await market.call(tom, "open_conversation", { id: offer, body, ...POST });
  return { lena, tom, offer, opened, id: opened.body.id as string };
};
const see = (who: Caller, id: string): Promise<Answer> => market.call(who, "get_conversation", { id });
const propose = (who: Caller, id: string, amount: number, more: object = {}): Promise<Answer> =>
  market.call(who, "propose", {
    id,
    body: {
      price: { amount, currency: "EUR" },
      handover: { method: "pickup" },
      contact: "tom, 0151 23456789",
      ...more,
    },
    ...POST,
  });
const answer = (who: Caller, id: string, proposal: string, how: string): Promise<Answer> =>
  market.call(who, `${how}_proposal`, {
    id,
    proposal_id: proposal,
    ...(how === "accept" ? { body: {}, errors: "[]" } : {}),
  });

test("two agents propose, counter and accept, and both persons confirm", async (t) => {
  const { lena, tom, offer, opened, id } = await talking();
  t.is(opened.status, 201);
  t.like(opened.body, { role: "inquirer", status: "open", unread: 0, proposal: null, agreement: null, contact: null });
  t.like(await see(lena, id), { role: "publisher", unread: 1 });
  const first = await propose(tom, id, 150);
  t.like(first, { status: 201, body: { from: "me", status: "pending", offer_changed: false } });
  const second = await propose(lena, id, 170);
  t.like(await see(tom, id), { unread: 1, proposal: { id: second.body.id, from: "counterpart" } });
  const accepted = await answer(tom, id, second.body.id, "accept");
  t.like(accepted.agreement, { status: "awaiting", awaiting: ["counterpart", "me"] });
  t.is(accepted.contact, null);
  for (const [who, decided] of [
    [tom, "awaiting"],
    [lena, "made"],
  ] as const) {
    const { pending_confirmations: pending } = await market.call(who, "get_me", { base_url: "", link_key: who.link });
    t.is(pending.length, 1);
    const page = await market.callAsPerson(who, "get_confirmation_page", { id: pending[0].id });
    const done = await market.callAsPerson(who, "decide_confirmation", {
      id: pending[0].id,
      decision: "confirm",
      digest: page.digest,
    });
    t.like(done, { agreement_status: decided, confirmation: { status: "confirmed" } });
  }
  t.is((await see(lena, id)).contact.text, "tom, 0151 23456789");
  t.truthy((await see(tom, id)).contact.methods);
  const types = await market.sql`select type from market.event where account_id = ${tom.account} order by id`;
  t.deepEqual(
    types.map(({ type }) => type).filter((type) => !type.startsWith("agent.")),
    ["proposal.received", "proposal.accepted", "agreement.awaiting", "confirmation.decided", "agreement.made"],
  );
  await market.call(lena, "archive_offer", { id: offer });
  t.is((await see(tom, id)).agreement.status, "made");
});

test("a mail about a deal names the offer without its contact", async (t) => {
  const { offer, id } = await talking();
  const contact = await market.value`select contact #>> '{methods,0,value}' from market.offer where id = ${offer}`;
  await market.sql`update market.offer set title = 'Sofa, ' || ${contact}::text where id = ${offer}`;
  t.is(await market.value`select internal.deal_title(c) from market.conversation c where id = ${id}`, "Sofa, […]");
});
