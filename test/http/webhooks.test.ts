import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import test from "ava";
import { Webhook } from "standardwebhooks";
import { type Agent, type Body, eventually } from "../support/market.ts";
import { EVERYTHING } from "../support/shared.ts";
import { type Market, openMarket, settled } from "./contract.ts";

/** Webhooks through the whole service: added over HTTP, sent by the worker, received by a program. */

type Received = { headers: IncomingHttpHeaders; body: string };

let market: Market;
const received = new Map<string, Received[]>();
/** Answers by path: a status, or null for a receiver that never answers. */
const answers = new Map<string, number | null>();
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const path = request.url ?? "";
    const all = received.get(path) ?? [];
    received.set(path, [...all, { headers: request.headers, body: Buffer.concat(chunks).toString("utf8") }]);
    const status = answers.get(path) ?? (answers.has(path) ? null : 204);
    if (status !== null) response.writeHead(status).end();
  });
});
let address = "";
test.before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  market = await openMarket(EVERYTHING);
});
test.after.always(async () => {
  await market?.stop();
  receiver.closeAllConnections();
  receiver.close();
});

const add = async (agent: Agent, path: string, more: Body = {}): Promise<Body> => {
  const { status, body, text } = await agent.call("POST", "/v1/webhooks", { url: address + path, ...more });
  if (status !== 201) throw new Error(text);
  return body;
};
const at = (path: string, least = 1): Promise<Received[]> =>
  eventually(
    async () => received.get(path) ?? [],
    (all) => all.length >= least,
  );
const listed = async (agent: Agent): Promise<Body[]> => (await agent.call("GET", "/v1/webhooks")).body.webhooks;

test("an event arrives signed, and as it is in the feed; others' events do not", async (t) => {
  const [agent, other] = [await market.agent(), await market.agent()];
  const { secret, ...created } = await add(agent, "/signed");
  await add(other, "/other");
  t.deepEqual(settled(created), { id: "<id>", url: `${address}/signed`, created_at: "<time>" });
  t.regex(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  await agent.call("POST", "/v1/asks", { text: "Wanted: sofa in Berlin, up to 250 EUR" });
  const [first] = await at("/signed");
  const feed = (await agent.call("GET", "/v1/events")).body.events;
  const verified = new Webhook(secret).verify(first?.body ?? "", first?.headers as Record<string, string>) as Body;
  t.deepEqual(
    verified,
    feed.find(({ type }: Body) => type === "ask.read"),
  );
  t.is(first?.headers["webhook-id"], verified.id);
  t.throws(() => new Webhook("whsec_AAAA").verify(first?.body ?? "", first?.headers as Record<string, string>));
  const [webhook] = await eventually(
    () => listed(agent),
    ([one]) => one?.deliveries[0]?.status === "delivered",
  );
  t.is(webhook.deliveries[0].response_status, 204);
  t.false(JSON.stringify(webhook).includes(secret));
  await other.call("POST", "/v1/asks", { text: "Wanted: lamp in Berlin" });
  const [own] = await at("/other");
  t.not(JSON.parse(own?.body ?? "{}").id, verified.id);
});

test("a test event is sent once, and its result is shown; only own webhooks can be tested and deleted", async (t) => {
  const [agent, other] = [await market.agent(), await market.agent()];
  const { id } = await add(agent, "/tested", { types: ["match.created"] });
  for (const [method, path] of [
    ["POST", `/v1/webhooks/${id}/test`],
    ["DELETE", `/v1/webhooks/${id}`],
  ] as const)
    t.is((await other.call(method, path)).status, 404);
  t.is((await agent.call("POST", `/v1/webhooks/${id}/test`)).status, 202);
  const [sent] = await at("/tested");
  t.deepEqual(
    [JSON.parse(sent?.body ?? "{}").type, JSON.parse(sent?.body ?? "{}").data],
    ["webhook.test", { webhook_id: id }],
  );
  answers.set("/tested", 500);
  await eventually(
    () => listed(agent),
    ([one]) => one?.deliveries[0]?.status === "delivered",
  );
  t.is((await agent.call("POST", `/v1/webhooks/${id}/test`)).status, 202);
  const [webhook] = await eventually(
    () => listed(agent),
    ([one]) => one?.deliveries[0]?.status === "failed",
  );
  t.is(webhook.deliveries[0].error, "The receiver answered 500.");
  t.is((await agent.call("DELETE", `/v1/webhooks/${id}`)).status, 204);
  t.deepEqual(await listed(agent), []);
});

test("receivers that never answer delay no other", async (t) => {
  const [agent, other] = [await market.agent(), await market.agent()];
  // More than the worker has slots.
  for (let n = 0; n < 5; n += 1) answers.set(`/dead${n}`, null);
  for (const one of [agent, await market.agent()])
    for (let n = 0; n < 5; n += 1) {
      const { id } = await add(one, `/dead${n}`);
      await one.call("POST", `/v1/webhooks/${id}/test`);
    }
  await Promise.all(Array.from({ length: 5 }, (_, n) => at(`/dead${n}`, 2)));
  const { id } = await add(other, "/alive");
  await other.call("POST", `/v1/webhooks/${id}/test`);
  await at("/alive");
  // The dead ones are not given up yet, so none of them was waited for.
  t.true((await listed(agent)).every(({ deliveries }) => deliveries[0].status === "waiting"));
});

test("a receiver that answers 410 is disabled, and the feed says so", async (t) => {
  const agent = await market.agent();
  answers.set("/gone", 410);
  const { id } = await add(agent, "/gone");
  await agent.call("POST", "/v1/asks", { text: "Wanted: sofa in Berlin" });
  const [event] = await eventually(
    async () =>
      (await agent.call("GET", "/v1/events")).body.events.filter(({ type }: Body) => type === "webhook.disabled"),
    (events) => events.length > 0,
  );
  t.deepEqual(event.data, { webhook_id: id, reason: "gone" });
  t.is((await agent.call("POST", `/v1/webhooks/${id}/test`)).status, 409);
});

test("an account has at most five webhooks, also when more are added at the same time", async (t) => {
  const agent = await market.agent();
  const statuses = await Promise.all(
    Array.from(
      { length: 8 },
      async (_, n) => (await agent.call("POST", "/v1/webhooks", { url: `${address}/many${n}` })).status,
    ),
  );
  t.deepEqual(statuses.sort(), [201, 201, 201, 201, 201, 409, 409, 409]);
});

test("an unapproved agent adds none, and an address must be one", async (t) => {
  const stranger = await market.stranger();
  const refused = await stranger.call("POST", "/v1/webhooks", { url: `${address}/x` });
  t.deepEqual([refused.status, refused.body.code], [403, "verification_required"]);
  const agent = await market.agent();
  for (const url of ["ftp://example.com/x", "https://a:b@example.com/", "https://example.com/#x", "example.com", ""]) {
    const { status, body } = await agent.call("POST", "/v1/webhooks", { url });
    t.deepEqual([status, body.errors?.[0]?.pointer], [400, "/url"], url);
  }
});

test("the secret is stored only encrypted", async (t) => {
  const agent = await market.agent();
  const { id, secret } = await add(agent, "/stored");
  const [row] = await market.sql("select w::text as row from market.webhook w where w.id = $1", [id]);
  t.truthy(row);
  t.false(JSON.stringify(row).includes(secret.slice(6, 30)));
});
