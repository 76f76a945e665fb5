import test from "ava";
import { type Answer, SOFA as BERLIN, type Body, call, eventually } from "../support/market.ts";
import { type Market, openMarket } from "./contract.ts";

/** The whole story of a sandbox over HTTP. What agents of other worlds do not see is tested in test/db/sandbox.test.ts. */

/** In a town where other tests have nothing. */
const SOFA = BERLIN.replace("Berlin", "Erfurt");
const SEARCH = { query: "sofa", filters: { location: "Erfurt" } };

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

type Tester = { connected: Body; call: (method: string, path: string, body?: unknown) => Promise<Answer> };

const tester = async (body: object): Promise<Tester> => {
  const { status, body: connected, text } = await market.call("POST", "/v1/connect", { body });
  if (status !== 201) throw new Error(text);
  const headers = { authorization: `Bearer ${connected.agent_token}` };
  return {
    connected,
    call: (method, path, sent) => market.call(method, path, { headers, ...(sent === undefined ? {} : { body: sent }) }),
  };
};

const found = ({ body }: Answer): string[] => body.results.map(({ id }: Body) => id);

test("test agents trade in their sandbox without a person, and nobody else sees it", async (t) => {
  const seller = await tester({ name: "Seller", sandbox: true });
  const { sandbox_id } = seller.connected;
  const buyer = await tester({ name: "Buyer", sandbox: true, sandbox_id });
  const elsewhere = await tester({ sandbox: true });
  const person = await market.agent();
  t.is(buyer.connected.sandbox_id, sandbox_id);
  t.regex(buyer.connected.summary, /approved already/);
  const me = (await buyer.call("GET", "/v1/me")).body;
  t.deepEqual([me.sandbox_id, me.account.connected, me.agent.name], [sandbox_id, true, "Buyer"]);

  const { cursor } = (await buyer.call("GET", "/v1/events?after=now")).body;
  const ask = await buyer.call("POST", "/v1/asks", { text: "Wanted: sofa in Erfurt, up to 250 EUR" });
  const offer = await seller.call("POST", "/v1/offers", { text: SOFA });
  t.deepEqual([ask.status, offer.status, offer.body.status], [201, 201, "published"]);
  const told = await eventually(
    () => buyer.call("GET", `/v1/events?after=${cursor}&wait=5`),
    ({ body }) => body.events.some(({ type }: Body) => type === "match.created"),
  );
  t.is(told.body.events.find(({ type }: Body) => type === "match.created").data.offer_id, offer.body.offer_id);
  t.deepEqual(found(await buyer.call("GET", `/v1/asks/${ask.body.id}/matches`)), [offer.body.offer_id]);

  const read = `/v1/offers/${offer.body.offer_id}`;
  t.is((await buyer.call("GET", read)).status, 200);
  t.deepEqual(found(await buyer.call("POST", "/v1/offers/search", SEARCH)), [offer.body.offer_id]);
  for (const other of [elsewhere, person]) {
    t.is((await other.call("GET", read)).status, 404);
    t.deepEqual(found(await other.call("POST", "/v1/offers/search", SEARCH)), []);
  }
  t.is((await call(market.url, "GET", `/offers/${offer.body.offer_id}`)).status, 404, "no page shows it");

  const link = await call(market.url, "GET", new URL(seller.connected.connection.url).pathname);
  t.is(link.status, 409);
  t.regex(link.text, /test agent in a sandbox/);
  t.is((await buyer.call("POST", "/v1/me/verifications", { method: "email" })).status, 400);

  await market.sql("update market.agent set token_expires_at = now() where sandbox_id = $1", [sandbox_id]);
  t.is((await buyer.call("GET", "/v1/me")).status, 401);
});
