import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import test from "ava";
import express from "express";
import type { Context, Handler } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { bindTools } from "../../src/assistants/mcp/definitions.ts";
import { fastRequestOf } from "../../src/assistants/mcp/fast_path.ts";
import { createMcp } from "../../src/assistants/mcp/mcp.ts";
import { PROBLEMS, type ProblemCode, problem } from "../../src/base/problem.ts";
import { onBehalfOf } from "../../src/base/request.ts";
import { newToken } from "../../src/base/tokens.ts";
import type { CallOptions } from "../support/market.ts";
import { NOTHING, OFFER } from "./contract.ts";
import { legacy, modern, post } from "./mcp.ts";

/**
 * What the fast path of /mcp answers is, byte for byte, what the SDK answers. Each request is sent twice. The second time
 * its media type names the charset, which means nothing to the SDK, and which the fast path leaves to it.
 */

/** What every endpoint answers, for the request whose id is in its path; by the test that is running. */
let answered: Handler = () => ({ status: 200, headers: {}, body: "{}" });
let url: string;
let stop: () => void;
const token = newToken();
const requestId = randomUUID();

test.before(async () => {
  const context = {
    endpoints: ENDPOINTS.map((endpoint) => ({
      ...endpoint,
      handler: (...given: Parameters<Handler>) => answered(...given),
    })),
    database: { callers: { refusalOf: () => null, knows: () => true }, call: async () => "{}" },
    figures: { note: () => undefined },
    baseUrl: () => url,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  } as unknown as Context;
  const answer = createMcp(context);
  const app = express();
  app.use((_request, _response, next) => onBehalfOf({ id: requestId }, next));
  app.all("/mcp", async (request, response) => {
    const { status, headers, body } = await answer(request, response);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
    response.status(status).end(body ?? undefined);
  });
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stop = () => void server.close();
});
test.after.always(() => stop?.());

/** What a client sees of an answer. */
const seen = async (sent: CallOptions, type: string) => {
  const { status, headers, text } = await post(url, token, {
    ...sent,
    headers: { ...sent.headers, "content-type": type },
  });
  const { date: _date, "keep-alive": _alive, ...rest } = headers;
  return { status, headers: rest, text };
};
const bothAnswers = async (sent: CallOptions) => ({
  fast: await seen(sent, "application/json"),
  sdk: await seen(sent, "application/json; charset=utf-8"),
});

const NAMES = bindTools(ENDPOINTS).map(({ name }) => name);
/** Whether the fast path answers a request. */
const isFast = ({ headers, body }: CallOptions): boolean =>
  fastRequestOf({ ...headers, "content-type": "application/json" }, body, (name) => NAMES.includes(name)) !== null;

/** A call of each tool that its endpoint accepts. */
const CALLS: Record<string, Record<string, unknown>> = {
  get_me: {},
  search_offers: { query: "sofa", filters: { location: "Berlin" } },
  get_offer: { offer_id: NOTHING },
  preview_offer: { text: OFFER },
  publish_offer: { text: OFFER, idempotency_key: "once" },
  update_offer: { offer_id: NOTHING, status: "archived" },
  create_ask: { text: "A sofa" },
  update_ask: { ask_id: NOTHING, text: "A grey sofa" },
  list_matches: { ask_id: NOTHING, limit: 5 },
  list_mine: { what: "asks", status: null },
  get_events: { after: "now" },
  report_offer: { offer_id: NOTHING, reason: "spam" },
  list_conversations: { status: "open" },
  get_conversation: { conversation_id: NOTHING },
  send_message: { offer_id: NOTHING, text: "Is it clean?" },
  answer_proposal: { conversation_id: NOTHING, proposal_id: NOTHING, decision: "accept" },
};
/** Text with everything that JSON escapes. */
const BODY = {
  text: 'a "quoted" \\ word\n, a tab\t, <b>, é, €, 😀,  , \u0001',
  amount: 180,
  none: null,
  list: [1, [{}]],
};

const ERAS = { modern, legacy };

test("there is a call of every tool", (t) => t.deepEqual(Object.keys(CALLS).toSorted(), NAMES.toSorted()));

for (const [era, request] of Object.entries(ERAS)) {
  test.serial(`a call of each tool (${era}) is answered as by the SDK`, async (t) => {
    answered = () => ({ status: 200, headers: { "RateLimit-Limit": 60, ETag: "no" }, body: JSON.stringify(BODY) });
    for (const [name, args] of Object.entries(CALLS)) {
      const sent = request("tools/call", { name, arguments: args });
      t.true(isFast(sent));
      const { fast, sdk } = await bothAnswers(sent);
      t.deepEqual(fast, sdk, name);
      t.true(fast.text.includes('"structuredContent"'));
      t.is(fast.headers["ratelimit-limit"], "60");
    }
  });

  test.serial(`the list of tools (${era}) is that of the SDK`, async (t) => {
    const sent = request("tools/list");
    t.true(isFast(sent));
    const { fast, sdk } = await bothAnswers(sent);
    t.deepEqual(fast, sdk);
    t.true(fast.text.includes('"publish_offer"'));
  });

  test.serial(`every problem (${era}) is told as by the SDK`, async (t) => {
    const next = [{ summary: "Look.", method: "GET", path: "/v1/me" }];
    const errors = [{ pointer: "/text", detail: "é €" }];
    for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
      answered = () => {
        throw problem(code, `It is "${code}".`, { retry_after: 3, next, errors });
      };
      const { fast, sdk } = await bothAnswers(request("tools/call", { name: "get_me", arguments: {} }));
      t.deepEqual(fast, sdk, code);
      t.is(fast.status, code === "unauthorized" ? 401 : 200, code);
    }
  });

  test.serial(`a body of PostgreSQL (${era}), whose text has spaces, is sent as it is`, async (t) => {
    const body = '{"amount": 180.00, "text": "a, \\"b\\": c"}';
    answered = () => ({ status: 200, headers: {}, body });
    const { fast, sdk } = await bothAnswers(request("tools/call", { name: "get_me", arguments: {} }));
    t.true(fast.text.includes(`"structuredContent":${body}`));
    t.is(JSON.stringify(JSON.parse(fast.text)), JSON.stringify(JSON.parse(sdk.text)));
    t.is(fast.headers["content-type"], sdk.headers["content-type"]);
  });
}

/** Changes to a request that the protocol may or may not allow. */
const HEADERS: Record<string, string | null>[] = [
  ...[null, "2026-07-28", "2025-11-25", "2025-03-26", "2024-10-07", "2099-01-01", "", "x"].map((version) => ({
    "mcp-protocol-version": version,
  })),
  ...[null, "tools/list", "Tools/Call", "", "=?base64?dG9vbHMvY2FsbA==?="].map((method) => ({ "mcp-method": method })),
  ...[null, "get_offer", "GET_ME", "", "=?base64?Z2V0X21l?=", "=?base64?@?="].map((name) => ({ "mcp-name": name })),
  ...[null, "*/*", "application/json", "text/event-stream", "text/event-stream;q=0.5, application/json"].map(
    (accept) => ({ accept }),
  ),
];
const MESSAGES: Record<string, unknown>[] = [
  ...[0, -1, 1.5, 2 ** 53, "", 'a"b', null, true, {}, []].map((id) => ({ id })),
  { jsonrpc: "1.0" },
  { method: "tools/list" },
  { method: "tools/Call" },
  { more: 1 },
  { result: {} },
  { error: { code: 1, message: "x" } },
  { params: undefined },
  { params: [] },
  { params: "get_me" },
];
const PARAMS: Record<string, unknown>[] = [
  ...[undefined, null, [], "x", { a: undefined }, { deep: { deeper: [1] } }].map((args) => ({ arguments: args })),
  ...["get_offer", "Get_Me", "", "toString", 5, null, undefined].map((name) => ({ name })),
  { cursor: "x" },
  { task: { ttl: 5 } },
  { task: 5 },
  { requestState: "x" },
  { inputResponses: {} },
  { unknown: 1 },
];
const REVISIONS = ["2099-01-01", "2026-07-27", "2025-06-18", "2024-10-07", "1999-01-01"];
const META: Record<string, unknown>[] = [
  ...[1, "a", 1.5, null, {}].map((progressToken) => ({ progressToken })),
  { "claudecode/toolUseId": "toolu_1" },
  { traceparent: "00-1-2-01" },
  { "io.modelcontextprotocol/related-task": { taskId: "x" } },
  { "io.modelcontextprotocol/related-task": 5 },
  ...["2026-07-28", "2025-11-25", "2099-01-01", 5, null, undefined].map((version) => ({
    "io.modelcontextprotocol/protocolVersion": version,
  })),
  ...[
    undefined,
    null,
    {},
    { name: "a" },
    { name: "a", version: "1", icons: [{ src: "x" }], more: 1 },
    { name: 1, version: 2 },
  ].map((info) => ({ "io.modelcontextprotocol/clientInfo": info })),
  ...[undefined, null, [], { elicitation: {}, more: 1 }, { sampling: 5 }].map((capabilities) => ({
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  })),
  ...["debug", "loud", 5].map((level) => ({ "io.modelcontextprotocol/logLevel": level })),
];

// biome-ignore lint/suspicious/noExplicitAny: the messages are meant to be of any form.
type Changed = { headers: Record<string, any>; body: any };

for (const [era, request] of Object.entries(ERAS)) {
  test.serial(`a request (${era}) with anything unusual is answered as by the SDK`, async (t) => {
    answered = () => ({ status: 200, headers: {}, body: JSON.stringify(BODY) });
    const usual = (): Changed => structuredClone(request("tools/call", { name: "get_me", arguments: {} })) as Changed;
    const changed: Changed[] = [
      ...HEADERS.map((change) => {
        const { headers, body } = usual();
        const kept = Object.entries({ ...headers, ...change }).filter(([, value]) => value !== null);
        return { headers: Object.fromEntries(kept), body };
      }),
      ...MESSAGES.map((change) => ({ ...usual(), body: { ...usual().body, ...change } })),
      ...PARAMS.map((change) => ({
        ...usual(),
        body: { ...usual().body, params: { ...usual().body.params, ...change } },
      })),
      ...META.map((change) => {
        const { headers, body } = usual();
        return { headers, body: { ...body, params: { ...body.params, _meta: { ...body.params._meta, ...change } } } };
      }),
      // In the header and in the message.
      ...REVISIONS.map((version) => {
        const text = JSON.stringify(usual()).replaceAll(/20\d\d-\d\d-\d\d/g, version);
        return JSON.parse(text) as Changed;
      }),
    ];
    const fast: boolean[] = [];
    for (const sent of changed) {
      // As the service receives it.
      sent.body = JSON.parse(JSON.stringify(sent.body));
      const { fast: answer, sdk } = await bothAnswers(sent);
      t.deepEqual(answer, sdk, JSON.stringify(sent));
      fast.push(isFast(sent));
    }
    // Both ways were compared.
    t.true(fast.includes(true) && fast.includes(false));
  });
}

test("what many clients add is on the fast path", (t) => {
  for (const request of [modern, legacy]) {
    const { headers = {}, body } = request("tools/call", { name: "get_me" }) as Changed;
    const added = { progressToken: 3, "claudecode/toolUseId": "toolu_1" };
    const params = { ...body.params, _meta: { ...body.params._meta, ...added } };
    t.true(isFast({ headers, body: { ...body, params } }));
  }
});
