import test from "ava";
import { allowed } from "../support/busy.ts";
import { type Agent, type Body, type CallOptions, call } from "../support/market.ts";
import { type Market, NOTHING, OFFER, openMarket } from "./contract.ts";
import { callTool, legacy, messageOf, modern, post } from "./mcp.ts";

/**
 * Whatever is sent to /mcp, the answer is an error of the protocol or of the tool, never a 500, and nothing is done. The
 * tests run one after the other: all at once, they would be a flood, for which a busy service has no time.
 */

let market: Market;
let agent: Agent;
test.before(async () => {
  market = await openMarket();
  agent = await market.agent();
});
test.after.always(() => market?.stop());
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;
const REFUSED = -32000;

const ACCEPT = { accept: "application/json, text/event-stream" };
const raw = (text: string | Buffer, headers: Record<string, string> = {}): CallOptions => ({
  raw: text,
  headers: { ...ACCEPT, ...headers },
});
const message = (value: unknown): CallOptions => raw(JSON.stringify(value));
/** A message that would publish an offer if it were carried out. */
const publish = (more: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "publish_offer", arguments: { text: OFFER } },
  ...more,
});
/** A request in which some headers have other values, or are missing if the value is null. */
const changed = ({ headers, ...request }: CallOptions, changes: Record<string, string | null>): CallOptions => ({
  ...request,
  headers: Object.fromEntries(
    Object.entries({ ...headers, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null),
  ),
});
const calling = (request: typeof modern, name: string, args: unknown) =>
  request("tools/call", { name, arguments: args });
const modernPublish = () => calling(modern, "publish_offer", { text: OFFER });
/** A call of 2025 that names a revision in its header. */
const published2025 = (revision: string) =>
  changed(calling(legacy, "publish_offer", { text: OFFER }), { "mcp-protocol-version": revision });
/** A call whose header and message name a revision. */
const ofRevision = (revision: string): CallOptions => {
  const { body, headers = {} } = modernPublish();
  const text = JSON.stringify(body).replaceAll("2026-07-28", revision);
  return changed({ raw: text, headers }, { "mcp-protocol-version": revision });
};

// ── Messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const MESSAGES: Record<string, [send: () => CallOptions, status: number, code: number]> = {
  "an empty body": [() => raw(""), 400, PARSE_ERROR],
  "half a message": [() => raw(JSON.stringify(publish()).slice(0, -5)), 400, PARSE_ERROR],
  "bytes that are no text": [() => raw(Buffer.from([0xff, 0xfe, 0x7b])), 400, PARSE_ERROR],
  "another media type": [() => raw(JSON.stringify(publish()), { "content-type": "text/plain" }), 415, REFUSED],
  "a number": [() => message(5), 400, INVALID_REQUEST],
  null: [() => message(null), 400, INVALID_REQUEST],
  "an empty object": [() => message({}), 400, INVALID_REQUEST],
  "a message without a version": [() => message({ ...publish(), jsonrpc: undefined }), 400, INVALID_REQUEST],
  "a message of JSON-RPC 1.0": [() => message(publish({ jsonrpc: "1.0" })), 400, INVALID_REQUEST],
  "a message whose id is an object": [() => message(publish({ id: {} })), 400, INVALID_REQUEST],
  "a method that is no text": [() => message(publish({ method: 7 })), 400, INVALID_REQUEST],
  "parameters that are a list": [() => message(publish({ params: [1] })), 400, INVALID_REQUEST],
  "an empty batch": [() => message([]), 400, INVALID_REQUEST],
  "a batch": [() => message([publish(), publish({ id: 2 })]), 400, INVALID_REQUEST],
  "a batch of 2026": [() => ({ ...modernPublish(), body: [modernPublish().body] }), 400, INVALID_REQUEST],
  "an answer that is no object": [() => message({ jsonrpc: "2.0", id: 1, result: 5 }), 400, INVALID_REQUEST],
  "an unknown revision in the header": [() => published2025("1999-01-01"), 400, REFUSED],
  "a later revision": [() => ofRevision("2099-01-01"), 400, UNSUPPORTED_VERSION],
  "a revision in the header that is not that of the message": [
    () => changed(modernPublish(), { "mcp-protocol-version": "2025-11-25" }),
    400,
    HEADER_MISMATCH,
  ],
  "a message of 2026 without its header": [
    () => changed(modernPublish(), { "mcp-protocol-version": null }),
    400,
    HEADER_MISMATCH,
  ],
  "another method in the header": [
    () => changed(modernPublish(), { "mcp-method": "tools/list" }),
    400,
    HEADER_MISMATCH,
  ],
  "another tool in the header": [() => changed(modernPublish(), { "mcp-name": "get_me" }), 400, HEADER_MISMATCH],
  "the header of 2026 on a message of 2025": [() => published2025("2026-07-28"), 400, INVALID_PARAMS],
  "an unknown method, of 2026": [() => modern("offers/publish"), 404, METHOD_NOT_FOUND],
  "a method in another letter case": [() => modern("Tools/Call"), 404, METHOD_NOT_FOUND],
  "a method that this server does not have": [() => modern("resources/list"), 404, METHOD_NOT_FOUND],
  "an unknown method, of 2025": [() => legacy("offers/publish"), 200, METHOD_NOT_FOUND],
  "a method of a prototype": [() => legacy("constructor"), 200, METHOD_NOT_FOUND],
  "a tool without a name": [() => legacy("tools/call", { arguments: {} }), 200, INVALID_PARAMS],
  "arguments that are a list": [() => calling(modern, "publish_offer", [OFFER]), 200, INVALID_PARAMS],
  "arguments that are text": [() => calling(legacy, "publish_offer", OFFER), 200, INVALID_PARAMS],
  "a subscription to nothing": [() => modern("subscriptions/listen", {}), 200, INVALID_PARAMS],
  "a tool in another letter case": [() => calling(modern, "Publish_Offer", { text: OFFER }), 200, INVALID_PARAMS],
  "a tool with a space, of 2025": [() => calling(legacy, "publish_offer ", { text: OFFER }), 200, INVALID_PARAMS],
  "a tool with a space, of 2026": [() => calling(modern, "publish_offer ", { text: OFFER }), 400, HEADER_MISMATCH],
  "a tool of a prototype": [() => calling(modern, "__proto__", { text: OFFER }), 200, INVALID_PARAMS],
};

const offersOf = async (): Promise<number> => (await agent.call("GET", "/v1/offers?limit=50")).body.results.length;

for (const [name, [send, status, code]] of Object.entries(MESSAGES)) {
  test.serial(`${name} gets ${status} and the error ${code}`, async (t) => {
    const answer = await post(market.url, agent.token, send());
    t.is(answer.status, status, answer.text);
    const { jsonrpc, error } = messageOf(answer);
    t.is(jsonrpc, "2.0");
    t.is(error?.code, code, answer.text);
    t.true(error.message.length > 10);
    t.is(answer.headers["cache-control"], "no-store");
    t.is(await offersOf(), 0);
  });
}

test.serial("notifications and answers are accepted, and nothing is done with them", async (t) => {
  const notification = { ...publish(), id: undefined };
  t.is((await post(market.url, agent.token, message(notification))).status, 202);
  t.is(
    (await post(market.url, agent.token, message({ jsonrpc: "2.0", method: "notifications/initialized" }))).status,
    202,
  );
  t.is((await post(market.url, agent.token, message({ jsonrpc: "2.0", id: 1, result: {} }))).status, 202);
  t.is(await offersOf(), 0);
});

test.serial("a subscription ends at once, because nothing that can be subscribed to changes", async (t) => {
  const sent = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
  const answer = await post(market.url, agent.token, { ...sent, timeoutMs: allowed(10_000) });
  t.is(answer.status, 200);
  t.regex(answer.text, /"resultType":"complete"/);
});

// ── Methods, origins and hosts ───────────────────────────────────────────────────────────────────────────────────────

test.serial("only POST /mcp is there; other methods get 405 at once, with and without a token", async (t) => {
  for (const method of ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
    for (const headers of [{ ...ACCEPT }, { ...ACCEPT, authorization: `Bearer ${agent.token}` }]) {
      const answer = await call(market.url, method, "/mcp", { headers, timeoutMs: allowed(10_000) });
      t.deepEqual([answer.status, answer.headers["allow"]], [405, "POST"], method);
    }
  for (const path of ["/MCP", "/mcp/sse", "/sse"])
    t.is((await call(market.url, "POST", path, modern("tools/list"))).status, 404, path);
});

test.serial("a page of any site is served with a token, and a cookie never counts", async (t) => {
  const { cookie } = await market.person(agent);
  for (const origin of ["https://agent.example", "null"]) {
    const sent = changed(modern("tools/list"), { origin });
    t.is((await post(market.url, agent.token, sent)).status, 200, origin);
    const refused = await post(market.url, null, changed(sent, { cookie: `souk_session=${cookie}` }));
    t.is(refused.status, 401);
    t.regex(refused.headers["www-authenticate"] ?? "", /resource_metadata=/);
  }
});

// ── Sizes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const padded = (bytes: number, name = "publish_offer"): CallOptions =>
  modern("tools/call", { name, arguments: { text: "x".repeat(bytes) } });

test.serial("a megabyte of arguments is refused, however it is sent", async (t) => {
  for (const request of [padded(1024 * 1024), { ...padded(1024 * 1024), chunked: true }]) {
    const answer = await post(market.url, agent.token, request);
    t.is(answer.status, 413);
    t.is(answer.body.error.data.code, "payload_too_large");
  }
  t.is(await offersOf(), 0);
});

test.serial(
  "a message with too many members is refused before the protocol looks at each, wherever they are",
  async (t) => {
    const many = Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`k${n}`, n]));
    for (const sent of [
      modern("tools/call", { name: "get_me", arguments: many }),
      modern("tools/call", { name: "get_me", arguments: { deep: { list: Object.values(many) } } }),
      legacy("tools/call", { name: "get_me", arguments: {}, _meta: many }),
    ]) {
      const answer = await post(market.url, agent.token, sent);
      t.is(answer.status, 400);
      t.regex(answer.body.error.message, /more than 5,000 members/);
    }
  },
);

test.serial("a message that is nested too deeply is refused, wherever it is", async (t) => {
  // As text, because JSON.stringify cannot go so deep.
  const deep = "[".repeat(4_500) + "]".repeat(4_500);
  for (const changes of [
    { method: "tools/list", params: { _meta: { x: "deep" } } },
    { params: { name: "publish_offer", arguments: { text: OFFER, x: "deep" } } },
    { x: "deep" },
  ]) {
    const sent = raw(JSON.stringify(publish(changes)).replace('"deep"', deep));
    const answer = await post(market.url, agent.token, sent);
    t.is(answer.status, 400);
    t.regex(answer.body.error.message, /more than 200 levels of objects and lists/);
  }
  t.is(await offersOf(), 0);
});

test.serial("arguments of an offer have the size limit of an offer", async (t) => {
  for (const request of [padded(300 * 1024), { ...padded(300 * 1024), chunked: true }]) {
    const { body } = await post(market.url, agent.token, request);
    t.true(body.result.isError);
    t.regex(body.result.content[0].text, /^The body is larger than 256 KB.*\n.*\n\(payload_too_large/);
  }
  const ask = await post(market.url, agent.token, padded(300 * 1024, "create_ask"));
  t.regex(ask.body.result.content[0].text, /at most 4,000 characters/);
});

test.serial("whoever has no known token sends at most a small body", async (t) => {
  const stranger = `agt_${"0".repeat(49)}`;
  t.is((await post(market.url, stranger, padded(300 * 1024))).status, 401);
  t.is((await post(market.url, null, padded(300 * 1024))).status, 401);
});

// ── Arguments ────────────────────────────────────────────────────────────────────────────────────────────────────────

const WRONG: [string, Body, RegExp][] = [
  ["get_offer", {}, /^The member offer_id is missing\./],
  ["get_offer", { offer_id: null }, /^The member offer_id is missing\./],
  ["get_offer", JSON.parse('{"__proto__": {"offer_id": "x"}}'), /^The member offer_id is missing\./],
  ["list_mine", { what: "Offers" }, /^The member what must be one of: offers, asks\./],
  ["list_mine", { what: "asks", status: "published" }, /^The member status must be one of: .*active/],
  ["list_mine", { what: "offers", limit: "many" }, /^The member limit must be a number/],
  ["publish_offer", { text: OFFER, idempotency_key: 5 }, /^An Idempotency-Key has 1 to 255 characters/],
  [
    "search_offers",
    { query: "sofa", filters: { price: { max: "200" } } },
    /filters.price.max must be a number, not text/,
  ],
  ["search_offers", { filters: { price_max: 5 } }, /^There is no member filters.price_max. Send filters.price.max/],
  ["search_offers", { q: "sofa" }, /There is no member q: send it as query\./],
  ["get_offer", { id: NOTHING }, /^The member offer_id is missing. There is no member id: send it as offer_id\./],
  ["list_matches", { askId: NOTHING }, /send it as ask_id\./],
  [
    "publish_offer",
    { description: OFFER, price: 5 },
    /send it as text. There is no member price: what it means is read from the text/,
  ],
];

for (const [tool, args, expected] of WRONG)
  test.serial(
    `${tool} ${JSON.stringify(args).replace(OFFER, "an offer")} is an error that says what to send`,
    async (t) => {
      const { isError, content, structuredContent } = await callTool(market.url, agent.token, tool, args);
      t.deepEqual([isError, structuredContent], [true, undefined]);
      t.regex(content[0].text, expected);
      t.is(await offersOf(), 0);
    },
  );

test.serial("null stands for what is left out", async (t) => {
  const listed = await callTool(market.url, agent.token, "list_mine", { what: "offers", status: null, limit: null });
  t.deepEqual(listed.structuredContent.results, []);
  const search = {
    query: "zorb",
    filters: { domain: null, price: { max: 5, currency: null } },
    sort: null,
    cursor: null,
  };
  const found = await callTool(market.url, agent.token, "search_offers", search);
  t.deepEqual(found.structuredContent.results, []);
  t.deepEqual((await agent.call("POST", "/v1/offers/search", search)).body.results, []);
  for (const request of [modern, legacy])
    for (const [name, args, expected] of [
      ["get_me", null, /"account"/],
      ["update_offer", { offer_id: NOTHING, text: null, images: null, status: "archived" }, /\(not_found, /],
    ] as const) {
      const { body } = await post(market.url, agent.token, request("tools/call", { name, arguments: args }));
      t.regex(body.result?.content[0].text ?? "", expected);
    }
  const missing = await agent.call("POST", "/v1/offers", { text: null });
  t.deepEqual([missing.status, missing.body.detail], [400, "The member text is missing."]);
});

test.serial("whatever Accept says, the answer is JSON", async (t) => {
  for (const request of [modern, legacy])
    for (const accept of ["*/*", "application/json", "text/event-stream", "text/html", null]) {
      const { status, body } = await post(market.url, agent.token, changed(request("tools/list"), { accept }));
      t.deepEqual([status, Array.isArray(body.result?.tools)], [200, true], String(accept));
    }
});

const WRONG_CHANGES: [string, Body, RegExp][] = [
  ["update_offer", { offer_id: "OFFER" }, /^Send what to change: text, images or status\./],
  [
    "update_offer",
    { offer_id: "OFFER", status: "removed" },
    /^The member status must be one of: published, archived, confirmed\./,
  ],
  [
    "update_offer",
    { offer_id: "OFFER", status: "archived", text: OFFER },
    /^One call changes either status or text and images/,
  ],
  ["update_ask", { ask_id: "ASK" }, /^Send what to change: text, watch_enabled or status\./],
  ["update_ask", { ask_id: "ASK", status: "active", watch_enabled: false }, /^One call changes either status or/],
  ["update_ask", { ask_id: "ASK", watch_enabled: "yes" }, /^The member watch_enabled must be true or false/],
];

test.serial("a change that cannot be made in one step changes nothing, and says what to send", async (t) => {
  const owner = await market.agent();
  const { body: offer } = await owner.call("POST", "/v1/offers", { text: OFFER });
  const { body: ask } = await owner.call("POST", "/v1/asks", { text: "I want a grey sofa in Berlin" });
  const state = async () => [
    (await owner.call("GET", `/v1/offers/${offer.offer_id}`)).body,
    (await owner.call("GET", `/v1/asks/${ask.id}`)).body,
  ];
  const before = await state();
  for (const [tool, args, expected] of WRONG_CHANGES) {
    const filled = JSON.parse(
      JSON.stringify(args).replace('"OFFER"', `"${offer.offer_id}"`).replace('"ASK"', `"${ask.id}"`),
    );
    const { isError, content } = await callTool(market.url, owner.token, tool, filled);
    t.true(isError);
    t.regex(content[0].text, expected);
  }
  t.deepEqual(await state(), before);
});

test.serial("a caller with too many calls open gets 429 for the excess, with the time to wait", async (t) => {
  const { token } = await market.agent();
  const answers = await Promise.all(
    Array.from({ length: 400 }, () => post(market.url, token, modern("tools/call", { name: "get_me", arguments: {} }))),
  );
  const served = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  t.is(served.length + refused.length, 400);
  t.true(
    served.every(({ body }) => body.result.isError === undefined || /rate_limited/.test(body.result.content[0].text)),
  );
  for (const { headers, body } of refused) {
    t.is(headers["retry-after"], "1");
    t.is(body.error.data.code, "rate_limited");
  }
});
