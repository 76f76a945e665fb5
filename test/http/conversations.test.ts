import test from "ava";
import { allowed } from "../support/busy.ts";
import type { Agent } from "../support/market.ts";
import { type Market, OFFER, openMarket } from "./contract.ts";
import { callTool } from "./mcp.ts";

/** How agents talk: what they hear while they wait, and what the tools of MCP make of it. */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const PICKUP = { handover: { method: "pickup" } };
const price = (amount: number) => ({ price: { amount, currency: "EUR" }, ...PICKUP });

/** Opens a conversation of a new agent about an offer, with a proposal. */
const bid = async (offer: string, amount: number): Promise<{ agent: Agent; id: string; cursor: string }> => {
  const agent = await market.agent();
  const body = { proposal: price(amount), contact: "tom@example.com" };
  const { body: opened } = await agent.call("POST", `/v1/offers/${offer}/conversations`, body);
  return { agent, id: opened.id, cursor: opened.cursor };
};
const publish = async (agent: Agent): Promise<string> =>
  (await agent.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;

test("a waiting side hears within a second of each move of the other, and of nothing twice", async (t) => {
  const lena = await market.agent();
  const { agent: tom, id, cursor } = await bid(await publish(lena), 150);
  const path = `/v1/conversations/${id}`;
  const hear = async (after: string, act: () => Promise<unknown>) => {
    const waiting = tom.call("GET", `${path}?wait=25&after=${after}`);
    await act();
    const began = performance.now();
    const { body } = await waiting;
    t.true(performance.now() - began < allowed(1000));
    return body;
  };
  const said = await hear(cursor, () => lena.call("POST", `${path}/messages`, { text: "It is sold soon." }));
  t.like(said, { unread: 1, messages: { has_more: false } });
  t.like(said.messages.results, [{ from: "counterpart", text: "It is sold soon." }]);
  t.is(said.messages.results.length, 1);
  const countered = await hear(said.cursor, () => lena.call("POST", path, { text: "Rather:", proposal: price(170) }));
  t.like(countered, { proposal: { from: "counterpart", terms: { price: { amount: 170 } } } });
  t.deepEqual(
    countered.messages.results.map(({ text }: { text: string }) => text),
    ["Rather:"],
  );
  const closed = await hear(countered.cursor, () => lena.call("POST", `${path}/close`));
  t.like(closed, { status: "closed", proposal: null, messages: { results: [] } });
  const quiet = await tom.call("GET", `${path}?wait=1&after=${closed.cursor}`);
  t.like(quiet.body, { status: "closed", cursor: closed.cursor });
  t.is((await tom.call("GET", `${path}?after=${quiet.body.id}`)).status, 400);
});

test("more messages than an answer has come in the next one", async (t) => {
  const lena = await market.agent();
  const { agent: tom, id, cursor } = await bid(await publish(lena), 150);
  await market.sql(
    `insert into market.message (conversation_id, sender, text, created_at)
     select $1, 'publisher', 'Word ' || n, clock_timestamp() from generate_series(1, 35) as n
     cross join lateral (select pg_sleep(0.002 * least(n, 1)) offset 0) as pause`,
    [id],
  );
  await market.sql("update market.conversation set publisher_unread = 0, inquirer_unread = 35 where id = $1", [id]);
  const read = async (after: string) => (await tom.call("GET", `/v1/conversations/${id}${after}`)).body;
  const first = await read(`?after=${cursor}`);
  t.deepEqual([first.messages.results.length, first.messages.has_more], [30, true]);
  const rest = await read(`?after=${first.cursor}`);
  t.deepEqual([rest.messages.results.length, rest.messages.has_more], [5, false]);
  const last = await read("");
  t.deepEqual([last.messages.results.length, last.messages.results.at(-1).text], [30, "Word 35"]);
});

test("for an own offer, list_conversations has the pending proposals, best first", async (t) => {
  const lena = await market.agent();
  const offer = await publish(lena);
  for (const amount of [150, 175, 160]) await bid(offer, amount);
  const { structuredContent } = await callTool(market.url, lena.token, "list_conversations", { offer_id: offer });
  t.is(structuredContent.results.length, 3);
  t.deepEqual(
    structuredContent.proposals.results.map(({ terms }: { terms: { price: object } }) => terms.price),
    [175, 160, 150].map((amount) => ({ amount, currency: "EUR" })),
  );
  t.deepEqual(structuredContent.proposals, (await lena.call("GET", `/v1/offers/${offer}/proposals`)).body);
});

test("what is no id is refused in a query and in a body", async (t) => {
  const { agent: tom, id } = await bid(await publish(await market.agent()), 150);
  const statusOf = async (path: string) => (await tom.call("GET", path)).status;
  t.is(await statusOf("/v1/conversations?offer_id=x"), 400);
  t.is(await statusOf(`/v1/conversations/${id}/messages?after=x`), 400);
  t.is((await tom.call("POST", `/v1/conversations/${id}/read`, { up_to: "x" })).status, 400);
});

test("send_message needs one id, answer_proposal one that was read", async (t) => {
  const { agent: tom, id } = await bid(await publish(await market.agent()), 150);
  const said = async (name: string, args: object) =>
    (await callTool(market.url, tom.token, name, args)).content[0].text;
  for (const ids of [{}, { offer_id: id, conversation_id: id }])
    t.regex(await said("send_message", { ...ids, text: "Hello" }), /^Send one of them: offer_id or conversation_id\./);
  t.regex(
    await said("answer_proposal", { conversation_id: id, decision: "withdraw" }),
    /^The member proposal_id is missing\./,
  );
});
