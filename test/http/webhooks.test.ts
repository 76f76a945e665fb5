import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import test from "ava";
import { Webhook } from "standardwebhooks";
import { type Agent, type Body, eventually } from "../support/market.ts";
import { EVERYTHING } from "../support/shared.ts";
import { type Market, openMarket, settled, validatorOf, wrongBy } from "./contract.ts";

/** Webhooks through the whole service: added over HTTP, sent by the worker, received by a program. */

type Received = { headers: IncomingHttpHeaders; body: string };

let market: Market;
const received = new Map<string, Received[]>();
/** What came to a path besides challenges. */
const told = (path: string): Received[] =>
  (received.get(path) ?? []).filter(({ body }) => !body.includes('"webhook.challenge"'));
/** Answers by path: a status, or null for a receiver that never answers. All others answer challenges. */
const answers = new Map<string, number | null>();
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const path = request.url ?? "";
    const all = received.get(path) ?? [];
    const body = Buffer.concat(chunks).toString("utf8");
    received.set(path, [...all, { headers: request.headers, body }]);
    const { challenge } = JSON.parse(body).events[0].data;
    const status = answers.get(path) ?? (answers.has(path) ? null : 200);
    if (status !== null) response.writeHead(status).end(answers.has(path) ? "{}" : JSON.stringify({ challenge }));
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

type Caller = Pick<Agent, "call">;

/** Adds a webhook, and waits until its receiver has answered the challenge. */
const add = async (agent: Agent, path: string, more: Body = {}): Promise<Body> => {
  const { status, body, text } = await agent.call("POST", "/v1/webhooks", { url: address + path, ...more });
  if (status !== 201) throw new Error(text);
  await eventually(
    () => listed(agent),
    (all) => all.some(({ id, status }) => id === body.id && status === "active"),
  );
  return body;
};
const at = (path: string, least = 1): Promise<Received[]> =>
  eventually(
    async () => told(path),
    (all) => all.length >= least,
  );
const eventsIn = ({ body }: Pick<Received, "body">): Body[] => JSON.parse(body).events;
const listed = async (agent: Caller): Promise<Body[]> => (await agent.call("GET", "/v1/webhooks")).body.webhooks;

test("a test agent, which needs no person, sends one request to a server that did not ask for it", async (t) => {
  const connected = await market.call("POST", "/v1/connect", { body: { sandbox: true } });
  const headers = { authorization: `Bearer ${connected.body.agent_token}` };
  const tester: Caller = {
    call: (method, path, body) => market.call(method, path, { headers, ...(body === undefined ? {} : { body }) }),
  };
  answers.set("/stranger", 200);
  const url = `${address}/stranger`;
  const { body: created } = await tester.call("POST", "/v1/webhooks", { url });
  t.is(created.status, "unverified");
  for (let n = 0; n < 5; n += 1) {
    t.is((await tester.call("POST", "/v1/webhooks", { url: `${url}?${n}` })).status, 409);
    await tester.call("POST", "/v1/asks", { text: `Wanted: sofa in Berlin, up to ${n}50 EUR` });
  }
  t.is((await tester.call("POST", `/v1/webhooks/${created.id}/test`)).status, 409);
  await eventually(
    () => tester.call("GET", "/v1/events"),
    ({ body }) => body.events.filter(({ type }: Body) => type === "ask.read").length === 5,
  );
  const [webhook] = await eventually(
    () => listed(tester),
    ([one]) => one?.deliveries[0]?.status === "failed",
  );
  t.deepEqual(webhook.deliveries.length, 1);
  t.like(webhook.deliveries[0], {
    types: ["webhook.challenge"],
    error: "The receiver did not answer the challenge with its value.",
  });
  t.is(received.get("/stranger")?.length, 1);
  // The receiver is ready now.
  answers.delete("/stranger");
  t.is((await tester.call("POST", `/v1/webhooks/${created.id}/challenge`)).status, 202);
  await eventually(
    () => listed(tester),
    ([one]) => one?.status === "active",
  );
  t.deepEqual(told("/stranger"), [], "nothing of before");
});

test("an event arrives signed, and as it is in the feed; others' events do not", async (t) => {
  const [agent, other] = [await market.agent(), await market.agent()];
  const { secret, ...created } = await add(agent, "/signed", { types: ["ask.read"] });
  await add(other, "/other");
  const { next, ...shown } = settled(created);
  t.deepEqual(shown, {
    ...{ id: "<id>", url: `${address}/signed`, types: ["ask.read"] },
    ...{ status: "unverified", created_at: "<time>" },
  });
  t.is(next.length, 2);
  t.regex(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  await agent.call("POST", "/v1/asks", { text: "Wanted: sofa in Berlin, up to 250 EUR" });
  const [first] = await at("/signed");
  const feed = (await agent.call("GET", "/v1/events")).body.events;
  const verified = new Webhook(secret).verify(first?.body ?? "", first?.headers as Record<string, string>) as Body;
  const described = validatorOf(market.contract.document)("components", "schemas", "WebhookRequest");
  for (const { body } of received.get("/signed") ?? []) t.deepEqual(wrongBy(described, JSON.parse(body)), []);
  t.deepEqual(verified, { events: feed.filter(({ type }: Body) => type === "ask.read") });
  t.throws(() => new Webhook("whsec_AAAA").verify(first?.body ?? "", first?.headers as Record<string, string>));
  const [webhook] = await eventually(
    () => listed(agent),
    ([one]) => one?.deliveries[0]?.status === "delivered",
  );
  t.like(webhook.deliveries[0], { id: first?.headers["webhook-id"], types: ["ask.read"], response_status: 200 });
  t.false(JSON.stringify(webhook).includes(secret));
  await other.call("POST", "/v1/asks", { text: "Wanted: lamp in Berlin" });
  const [own] = await at("/other");
  t.notDeepEqual(own && eventsIn(own), verified.events);
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
  t.like(sent && eventsIn(sent)[0], { type: "webhook.test", data: { webhook_id: id } });
  answers.set("/tested", 500);
  await eventually(
    () => listed(agent),
    ([one]) => one?.deliveries[0]?.types[0] === "webhook.test" && one.deliveries[0].status === "delivered",
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
  const dead: [Agent, string][] = [];
  for (const one of [agent, await market.agent()])
    for (let n = 0; n < 5; n += 1) dead.push([one, (await add(one, `/dead${n}`)).id]);
  for (let n = 0; n < 5; n += 1) answers.set(`/dead${n}`, null);
  for (const [one, id] of dead) await one.call("POST", `/v1/webhooks/${id}/test`);
  await Promise.all(Array.from({ length: 5 }, (_, n) => at(`/dead${n}`, 2)));
  const { id } = await add(other, "/alive");
  await other.call("POST", `/v1/webhooks/${id}/test`);
  await at("/alive");
  // The dead ones are not given up yet, so none of them was waited for.
  t.true((await listed(agent)).every(({ deliveries }) => deliveries[0].status === "waiting"));
});

test("a receiver that answers 410 is disabled, and the feed says so", async (t) => {
  const agent = await market.agent();
  const { id } = await add(agent, "/gone");
  answers.set("/gone", 410);
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

test("an address is kept as the URL standard writes it, and a refusal names what is wrong, alone", async (t) => {
  const port = new URL(address).port;
  for (const [sent, kept] of [
    [` HTTP://LOCALHOST:${port}/x `, `http://localhost:${port}/x`],
    ["https://EXAMPLE.com", "https://example.com/"],
    ["HTTPS://Example.COM:443/a/../b?Q=1#", "https://example.com/b?Q=1"],
    ["https://bücher.example/straße 1", "https://xn--bcher-kva.example/stra%C3%9Fe%201"],
  ] as const) {
    const agent = await market.agent();
    const { status, body } = await agent.call("POST", "/v1/webhooks", { url: sent });
    t.deepEqual([status, body.url], [201, kept], JSON.stringify(body));
    t.is((await agent.call("GET", "/v1/webhooks")).body.webhooks[0].url, kept);
  }
  const agent = await market.agent();
  for (const [url, says] of [
    ["https://a:b@example.com/", /^The url may have no user and no password\./],
    ["https://example.com/x#y", /^The url may have no fragment/],
    ["ftp://example.com/", /^The url must begin with https:\/\//],
    ["example.com/x", /^The url must be a whole https address/],
  ] as const)
    t.regex((await agent.call("POST", "/v1/webhooks", { url })).body.detail, says);
});

test("the secret is stored only encrypted", async (t) => {
  const agent = await market.agent();
  const { id, secret } = await add(agent, "/stored");
  const [row] = await market.sql("select w::text as row from market.webhook w where w.id = $1", [id]);
  t.truthy(row);
  t.false(JSON.stringify(row).includes(secret.slice(6, 30)));
});
