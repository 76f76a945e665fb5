import { randomBytes } from "node:crypto";
import test from "ava";
import { assertInvariants } from "../support/invariants.ts";
import { dealsIn, type Talk } from "./deals.ts";
import { type Answer, type Caller, openMarket, refused } from "./market.ts";

/**
 * What stays of a conversation when an account is deleted, when its words are old, and when its sandbox ends.
 *
 *   planted   words that each side wrote, everywhere where it can write, which begin with its name
 */

let market: Awaited<ReturnType<typeof openMarket>>;
let deals: ReturnType<typeof dealsIn>;
test.before(async () => {
  market = await openMarket();
  deals = dealsIn(market);
});
test.after.always(() => market?.close());
test.afterEach("every invariant holds", (t) => assertInvariants(t, market.url));

/** A conversation with messages of both, a proposal that Lena countered, and her own one, which is agreed on. */
const planted = async (): Promise<Talk> => {
  const talk = await deals.talk({ contact: "lenas_contact@example.com" });
  const { lena, tom, id } = talk;
  await deals.trust([lena, tom]);
  await deals.say(tom, id, "toms_words");
  await deals.say(lena, id, "lenas_words");
  const place = (name: string) => ({ handover: { method: "pickup", place: `${name}_place` }, note: `${name}_note` });
  await deals.propose(tom, id, 150, { ...place("toms"), contact: "toms_contact" });
  await deals.accept(tom, id, await deals.propose(lena, id, 170, place("lenas")));
  return talk;
};

/** Which of the planted words the tables of deals have. */
const wordsLeft = async (id: string): Promise<string[]> => {
  const [{ text }] = await market.sql`select string_agg(r.text, ' ') as text from (
    select c::text as text from market.conversation c where c.id = ${id}
    union all select m::text from market.message m where m.conversation_id = ${id}
    union all select p::text from market.proposal p where p.conversation_id = ${id}
    union all select a::text from market.agreement a where a.conversation_id = ${id}) as r`;
  return [...new Set<string>(text.match(/(lenas|toms)_\w+/g))].toSorted();
};

const ALL = ["lenas_contact", "lenas_note", "lenas_place", "lenas_words"].concat([
  "toms_contact",
  "toms_note",
  "toms_place",
  "toms_words",
]);
const wordsOf = (name: string) => ALL.filter((word) => word.startsWith(name));

const deleted = async (who: Caller): Promise<void> => {
  while (!(await market.callAsPerson(who, "delete_account")).done);
};
const messagesFor = async (who: Caller, id: string): Promise<Answer[]> =>
  (await market.call(who, "list_messages", { id, after: null, page_size: 50 })).results.map(
    ({ from, text }: Answer) => `${from}: ${text}`,
  );

test("of a deleted publisher the inquirer keeps the title, the price, the dates and the statuses", async (t) => {
  const { lena, tom, offer, id } = await planted();
  t.deepEqual(await wordsLeft(id), ALL);
  const before = await deals.see(tom, id);
  await deleted(lena);
  t.deepEqual(await wordsLeft(id), wordsOf("toms"));
  const after = await deals.see(tom, id);
  t.deepEqual(
    { ...after, updated_at: null, next: null },
    {
      ...before,
      updated_at: null,
      next: null,
      status: "closed",
      cursor: after.cursor,
      messages: {
        ...before.messages,
        results: before.messages.results.map((message: Answer) =>
          message.from === "me" ? message : { ...message, text: null },
        ),
      },
      offer: { ...before.offer, status: "archived" },
      counterpart: after.counterpart,
      contact: null,
      agreement: {
        ...before.agreement,
        terms: { handover: { method: "pickup" }, price: { amount: 170, currency: "EUR" } },
      },
    },
  );
  t.like(after.offer, { title: "Grey sofa", price_label: "180 EUR" });
  t.deepEqual(await messagesFor(tom, id), ["me: Is it still there?", "me: toms_words", "counterpart: null"]);
  t.is(await market.value`select title from market.offer where id = ${offer}`, "Deleted offer");
  t.is(await refused(deals.say(tom, id, "Hello?")), "409 invalid_state");
});

test("of a deleted inquirer the publisher keeps the dates and the statuses", async (t) => {
  const { lena, tom, id } = await planted();
  await deleted(tom);
  t.deepEqual(await wordsLeft(id), wordsOf("lenas"));
  t.like(await deals.see(lena, id), { status: "closed", contact: null, agreement: { status: "made" } });
  t.deepEqual(await messagesFor(lena, id), ["counterpart: null", "counterpart: null", "me: lenas_words"]);
  await deleted(lena);
  t.is(await market.value`select count(*)::integer from market.conversation where id = ${id}`, 0, "nobody is left");
});

const age = async (id: string, months: number): Promise<void> => {
  await market.sql`update market.conversation set active_at = now() - make_interval(months => ${months}::integer, days => 1)
    where id = ${id}`;
  await market.work("forget_deals");
};

test("contacts are erased 90 days after the agreement, and words 12 months after the last of them", async (t) => {
  const { lena, tom, id } = await planted();
  await market.sql`update market.agreement set made_at = now() - interval '89 days' where conversation_id = ${id}`;
  await age(id, 11);
  t.deepEqual(await wordsLeft(id), ALL);
  await market.sql`update market.agreement set made_at = now() - interval '90 days' where conversation_id = ${id}`;
  await market.work("forget_deals");
  for (const who of [lena, tom]) t.is((await deals.see(who, id)).contact, null);
  await age(id, 12);
  t.deepEqual(await wordsLeft(id), []);
  t.like(await deals.see(tom, id), {
    status: "open",
    agreement: { status: "made", terms: { price: { amount: 170 } } },
  });
  // What is written afterwards is not kept for longer.
  await deals.say(tom, id, "toms_words");
  t.deepEqual(await wordsLeft(id), ["toms_words"]);
  await age(id, 12);
  t.deepEqual(await wordsLeft(id), []);
});

test("words are kept for 12 months after a later handover", async (t) => {
  const { id } = await planted();
  await market.sql`update market.proposal set terms = terms || jsonb_build_object('until', (now() - interval '11 months')::date)
    where conversation_id = ${id}`;
  await market.sql`update market.agreement set made_at = now() - interval '1 day' where conversation_id = ${id}`;
  await age(id, 20);
  t.deepEqual(await wordsLeft(id), ALL);
});

test("words of a reported conversation are kept until a moderator decides, for 24 months at most", async (t) => {
  const [open, settled] = [await planted(), await planted()];
  for (const { lena, id } of [open, settled]) await deals.report(lena, id);
  await age(open.id, 12);
  t.true((await wordsLeft(open.id)).includes("toms_words"));
  await age(open.id, 24);
  t.false((await wordsLeft(open.id)).includes("toms_words"));
  const moderator = await market.approved();
  await deals.moderate(moderator, "select admin.settle_conversation($1)", [settled.id]);
  await age(settled.id, 12);
  t.false((await wordsLeft(settled.id)).includes("toms_words"));
});

/** Connects a test agent. */
const tester = async (sandbox_id: string | null = null): Promise<Caller & { sandbox_id: string }> => {
  const [token, link, session] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const answer = await market.call(null, "connect_agent", {
    name: "Tester",
    token_hash: token,
    secret_hash: link,
    code: "BCDF-GHJK",
    address: `10.${[...randomBytes(2)].join(".")}.1`,
    connections_per_hour: 1000,
    sandbox: true,
    sandbox_id,
  });
  const [row] = await market.sql`select account_id, sandbox_id from market.agent where id = ${answer.agent_id}`;
  return { ...row, agent: answer.agent_id, account: row.account_id, token, link, session };
};

test("conversations exist only within a sandbox, where agents agree alone, and end with it", async (t) => {
  const seller = await tester();
  const [buyer, stranger, real] = [await tester(seller.sandbox_id), await tester(), await market.approved()];
  const [offer, ofMarket] = [await market.offer(seller), await market.offer(real)];
  t.is(await refused(deals.open(stranger, offer)), "404 not_found");
  t.is(await refused(deals.open(real, offer)), "404 not_found");
  t.is(await refused(deals.open(buyer, ofMarket)), "404 not_found");
  const { body } = await deals.open(buyer, offer);
  const proposal = await deals.propose(buyer, body.id, 1_000_000);
  t.like((await deals.accept(seller, body.id, proposal)).agreement, { status: "made", awaiting: [] });
  await deals.report(buyer, body.id);
  t.is(
    await market.value`select count(*)::integer from market.conversation_report
    where conversation_id = ${body.id}`,
    0,
  );
  await market.sql`update market.sandbox set expires_at = now() where id = ${seller.sandbox_id}`;
  t.is(await market.work("purge_sandboxes"), 1);
  for (const table of ["conversation", "message", "proposal", "agreement"]) {
    const column = table === "conversation" ? "id" : "conversation_id";
    t.deepEqual(await market.sql(`select from market.${table} where ${column} = $1`, [body.id]), [], table);
  }
});
