import test from "ava";
import { type Body, eventually } from "../support/market.ts";
import { OFFER as BERLIN, type Market, NOTHING, openMarket, settled } from "./contract.ts";
import { CLIENTS, callTool, legacy, messageOf, modern, post } from "./mcp.ts";

/** What an assistant does at /mcp: the official client of each generation does the whole main job. */

/** In a town where other tests have nothing. */
const OFFER = BERLIN.replace("Berlin", "Kiel");

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const dataOf = (t: { is: (one: unknown, other: unknown, why?: string) => void }, result: Body): Body => {
  t.is(result.isError ?? false, false, result.content?.[0]?.text);
  return result.structuredContent;
};

for (const [name, { connect, revision }] of Object.entries(CLIENTS)) {
  test(`${name} connects, publishes, searches, asks and reads matches`, async (t) => {
    // A town of its own: other tests publish sofas, too.
    const town = name.includes("2025") ? "Flensburg" : "Husum";
    const offer = BERLIN.replace("Berlin", town);
    const seller = await connect(market.url, (await market.agent("Seller")).token);
    const buyer = await connect(market.url, (await market.agent("Buyer")).token);
    t.is(seller.revision, revision);
    t.regex(seller.instructions ?? "", /^Souk is a marketplace/);
    t.true((await seller.listTools()).length >= 11);
    const { account } = dataOf(t, await seller.callTool("get_me", {}));
    t.true(account.connected);

    const preview = dataOf(t, await seller.callTool("preview_offer", { text: offer }));
    t.is(preview.price, "180 EUR");
    const published = dataOf(t, await seller.callTool("publish_offer", { text: offer }));
    t.is(published.status, "published");
    const id = published.offer_id;

    const found = dataOf(t, await buyer.callTool("search_offers", { query: "grey sofa", filters: { location: town } }));
    t.true(found.results.some((result: Body) => result.id === id));
    t.is(dataOf(t, await buyer.callTool("get_offer", { offer_id: id })).document.location, town);

    const asked = { text: `I want to buy a grey sofa in ${town}, at most 200 EUR` };
    const ask = dataOf(t, await buyer.callTool("create_ask", asked));
    t.is(ask.status, "active");
    const matches = dataOf(t, await buyer.callTool("list_matches", { ask_id: ask.id }));
    t.true(matches.results.some((result: Body) => result.id === id));
    t.is(dataOf(t, await buyer.callTool("report_offer", { offer_id: id, reason: "spam" })).status, "received");
    t.is(dataOf(t, await buyer.callTool("update_ask", { ask_id: ask.id, status: "fulfilled" })).status, "fulfilled");
    t.is(dataOf(t, await buyer.callTool("list_mine", { what: "asks" })).results[0].id, ask.id);

    const cheaper = { offer_id: id, text: offer.replace("180", "150") };
    t.is(dataOf(t, await seller.callTool("update_offer", cheaper)).price, "150 EUR");
    t.is(dataOf(t, await seller.callTool("update_offer", { offer_id: id, status: "archived" })).status, "archived");
    const left = dataOf(t, await buyer.callTool("list_matches", { ask_id: ask.id }));
    t.false(left.results.some((result: Body) => result.id === id));
    await seller.close();
    await buyer.close();
  });
}

const IMAGES = ["https://images.example.com/sofa.jpg"];
const CHEAPER = OFFER.replace("180", "150");
const WANTED = { text: "I want to buy a grey sofa in Kiel, at most 200 EUR", watch_enabled: false };
const SEARCH = { query: "velvet armchair", limit: 1, filters: { location: "Aachen" } };
const SPAM = { reason: "spam", comment: "Twice" };
const LONG = { text: "x".repeat(4001) };
const BID = { proposal: { price: { amount: 150, currency: "EUR" }, handover: { method: "pickup" } }, contact: "Tom" };
const MUTE = { text: "Grey sofa, 180 EUR, Kiel" };

/** Calls of each tool with the REST calls that do the same. Values in capitals are replaced by what an earlier call gave. */
const TWINS: [tool: string, args: Body, request: string, body?: Body, keep?: [string, string]][] = [
  ["get_events", { after: "now" }, "GET /v1/events?after=now"],
  ["preview_offer", { text: OFFER }, "POST /v1/offers/preview", { text: OFFER }],
  [
    "publish_offer",
    { text: OFFER, images: IMAGES, unknown: 1 },
    "POST /v1/offers",
    { text: OFFER, images: IMAGES },
    ["OFFER", "offer_id"],
  ],
  ["get_offer", { offer_id: "OFFER" }, "GET /v1/offers/OFFER"],
  ["update_offer", { offer_id: "OFFER", text: CHEAPER }, "PATCH /v1/offers/OFFER", { text: CHEAPER }],
  ["update_offer", { offer_id: "OFFER", status: "archived" }, "POST /v1/offers/OFFER/archive"],
  ["list_mine", { what: "offers", status: "archived" }, "GET /v1/offers?status=archived"],
  ["update_offer", { offer_id: "OFFER", status: "published" }, "POST /v1/offers/OFFER/republish"],
  ["update_offer", { offer_id: "OFFER", status: "confirmed" }, "POST /v1/offers/OFFER/confirm"],
  ["create_ask", WANTED, "POST /v1/asks", WANTED, ["ASK", "id"]],
  ["update_ask", { ask_id: "ASK", watch_enabled: true }, "PATCH /v1/asks/ASK", { watch_enabled: true }],
  ["list_matches", { ask_id: "ASK", limit: 1 }, "GET /v1/asks/ASK/matches?limit=1"],
  ["update_ask", { ask_id: "ASK", status: "archived" }, "POST /v1/asks/ASK/archive"],
  ["update_ask", { ask_id: "ASK", status: "active" }, "POST /v1/asks/ASK/reopen"],
  ["update_ask", { ask_id: "ASK", status: "fulfilled" }, "POST /v1/asks/ASK/fulfill"],
  ["list_mine", { what: "asks", limit: 5 }, "GET /v1/asks?limit=5"],
  ["search_offers", SEARCH, "POST /v1/offers/search", SEARCH],
  ["report_offer", { offer_id: "FOREIGN", ...SPAM }, "POST /v1/offers/FOREIGN/report", SPAM],
  ["send_message", { offer_id: "FOREIGN", ...BID }, "POST /v1/offers/FOREIGN/conversations", BID, ["TALK", "id"]],
  ["send_message", { conversation_id: "TALK", text: "So?" }, "POST /v1/conversations/TALK", { text: "So?" }],
  [
    "get_conversation",
    { conversation_id: "TALK" },
    "GET /v1/conversations/TALK",
    undefined,
    ["PROPOSED", "proposal.id"],
  ],
  ["list_conversations", { offer_id: "FOREIGN", status: "open" }, "GET /v1/conversations?offer_id=FOREIGN&status=open"],
  [
    "answer_proposal",
    { conversation_id: "TALK", proposal_id: "PROPOSED", decision: "withdraw" },
    "POST /v1/conversations/TALK/proposals/PROPOSED/withdraw",
  ],
  ["answer_proposal", { conversation_id: "TALK", decision: "close" }, "POST /v1/conversations/TALK/close"],
  ["get_me", {}, "GET /v1/me"],
  // Refusals.
  [
    "answer_proposal",
    { conversation_id: "TALK", proposal_id: "PROPOSED", decision: "accept" },
    "POST /v1/conversations/TALK/proposals/PROPOSED/accept",
  ],
  ["send_message", { conversation_id: "TALK" }, "POST /v1/conversations/TALK", {}],
  ["get_offer", { offer_id: NOTHING }, `GET /v1/offers/${NOTHING}`],
  ["get_offer", { offer_id: "no id" }, "GET /v1/offers/no%20id"],
  ["publish_offer", MUTE, "POST /v1/offers", MUTE],
  ["publish_offer", {}, "POST /v1/offers", {}],
  ["publish_offer", { text: 5 }, "POST /v1/offers", { text: 5 }],
  ["publish_offer", LONG, "POST /v1/offers", LONG],
  ["search_offers", {}, "POST /v1/offers/search", {}],
  ["report_offer", { offer_id: "OFFER", reason: "spam" }, "POST /v1/offers/OFFER/report", { reason: "spam" }],
];

test("a tool's structured content is the body of REST, its text is the same body, and a refusal's text begins with its detail", async (t) => {
  const [byTool, byRest] = [await market.agent("Twin"), await market.agent("Twin")];
  const other = await (await market.agent()).call("POST", "/v1/offers", { text: OFFER });
  const kept = [byTool, byRest].map(() => new Map<string, string>([["FOREIGN", other.body.offer_id]]));
  const [tools, rest] = kept;
  const filled = (value: Body, known: Map<string, string> | undefined): Body =>
    JSON.parse(
      JSON.stringify(value ?? null).replaceAll(
        /\b(OFFER|ASK|FOREIGN|TALK|PROPOSED)\b/g,
        (name) => known?.get(name) ?? name,
      ),
    );
  const seen = new Set<string>();
  for (const [tool, args, request, body, keep] of TWINS) {
    const [method = "", path] = request.split(" ");
    const result = await callTool(market.url, byTool.token, tool, filled(args, tools));
    const answer = await byRest.call(method, filled(path, rest), body === undefined ? undefined : filled(body, rest));
    const [{ text }] = result.content;
    if (answer.status >= 400) {
      t.true(result.isError, tool);
      t.is(result.structuredContent, undefined);
      t.is(text.split("\n")[0], answer.body.detail);
      t.regex(text, /\nNext: [A-Z].*\.\n\(\w+, request [0-9a-f-]{36}\)$/);
      for (const error of answer.body.errors ?? []) t.true(text.includes(error.detail), text);
      continue;
    }
    seen.add(tool);
    t.is(result.isError, undefined, text);
    t.deepEqual(settled(result.structuredContent), settled(answer.body), `${tool} ${JSON.stringify(args)}`);
    t.deepEqual(JSON.parse(text), result.structuredContent);
    if (keep) {
      const [name, path] = keep;
      const found = (body: Body) => path.split(".").reduce((value, member) => value[member], body);
      tools?.set(name, found(result.structuredContent));
      rest?.set(name, found(answer.body));
    }
  }
  const listed = messageOf(await post(market.url, byTool.token, modern("tools/list"))).result.tools;
  t.deepEqual(
    listed.map(({ name }: Body) => name).filter((name: string) => !seen.has(name)),
    [],
    "every tool was compared",
  );
});

test("the definitions of the tools are the same for every client, and clients may keep them", async (t) => {
  const agent = await market.stranger();
  const [newer, older] = [
    messageOf(await post(market.url, agent.token, modern("tools/list"))).result,
    messageOf(await post(market.url, agent.token, legacy("tools/list"))).result,
  ];
  t.deepEqual(newer.tools, older.tools);
  t.is(newer.ttlMs, 300_000);
  t.is(newer.cacheScope, "public");
});

test("an agent that nobody has approved lists the tools, searches and reads; a refusal says what the person has to do", async (t) => {
  const agent = await market.stranger();
  t.true(
    (await callTool(market.url, agent.token, "search_offers", { query: "sofa" })).structuredContent.results !==
      undefined,
  );
  t.is((await callTool(market.url, agent.token, "get_me")).structuredContent.account.connected, false);
  t.is((await callTool(market.url, agent.token, "preview_offer", { text: OFFER })).structuredContent.price, "180 EUR");
  const { isError, content } = await callTool(market.url, agent.token, "publish_offer", { text: OFFER });
  t.true(isError);
  t.regex(content[0].text, /Next: Ask the person to open the connection link .* \(get_me\)\n\(verification_required/);
});

const challengeOf = (error = ""): string =>
  `Bearer ${error}resource_metadata="${market.url}/.well-known/oauth-protected-resource/mcp"`;

test("without a valid token a call gets 401 with the place of the metadata", async (t) => {
  const removed = await market.agent();
  await removed.call("DELETE", "/v1/me/agent");
  for (const request of [modern, legacy])
    for (const [method, params] of [
      ["server/discover", {}],
      ["tools/list", {}],
      ["tools/call", { name: "publish_offer", arguments: { text: OFFER } }],
    ] as const)
      for (const [token, error] of [
        [null, ""],
        ["no token", 'error="invalid_token", '],
        [removed.token, 'error="invalid_token", '],
      ] as const) {
        const { status, text, headers, body } = await post(market.url, token, request(method, params));
        t.is(status, 401, text);
        t.is(headers["www-authenticate"], challengeOf(error));
        t.deepEqual([body.error.data.code, body.error.message], ["unauthorized", body.error.data.detail]);
      }
});

test("a person's session does not count at /mcp", async (t) => {
  const { cookie } = await market.person(await market.agent());
  const { headers = {}, ...message } = modern("tools/list");
  const sent = { ...headers, cookie: `souk_session=${cookie}`, origin: market.url };
  t.is((await post(market.url, null, { ...message, headers: sent })).status, 401);
});

test("a call with the same idempotency_key is done once", async (t) => {
  const agent = await market.agent();
  const publish = (text: string) =>
    post(
      market.url,
      agent.token,
      modern("tools/call", { name: "publish_offer", arguments: { text, idempotency_key: "once" } }),
    );
  const [first, again] = [await publish(OFFER), await publish(OFFER)];
  t.is(first.headers["idempotency-replayed"], undefined);
  t.is(again.headers["idempotency-replayed"], "true");
  t.deepEqual(again.body.result.structuredContent, first.body.result.structuredContent);
  const other = await publish(`${OFFER} Free delivery.`);
  t.regex(other.body.result.content[0].text, /\(idempotency_key_reused, /);
  t.is((await agent.call("GET", "/v1/offers")).body.results.length, 1);
});

test("tools share the hourly limits of REST, whose figures are in the headers", async (t) => {
  const agent = await market.agent();
  await market.sql(
    "insert into market.cap_override (account_id, action, cap) select account_id, 'publish_offer', 2 from market.agent where id = $1",
    [agent.id],
  );
  await agent.call("POST", "/v1/offers", { text: OFFER });
  const publish = () =>
    post(market.url, agent.token, modern("tools/call", { name: "publish_offer", arguments: { text: OFFER } }));
  const last = await publish();
  t.is(last.headers["ratelimit-remaining"], "0");
  const over = await publish();
  t.is(over.status, 200);
  t.regex(over.body.result.content[0].text, /Wait \d+ seconds, then call it again .*\n\(rate_limited, /);
  t.is(over.headers["ratelimit-limit"], "2");
});

/** Returns the complete lines of the log that belong to a request. */
const linesOf = async (requestId = "no request"): Promise<Body[]> =>
  (await market.logs())
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.includes(requestId))
    .map((line) => JSON.parse(line));

test("the line of a request names the tool and the status that REST would have, and no argument", async (t) => {
  const agent = await market.agent();
  const args = { offer_id: NOTHING };
  const refused = await post(market.url, agent.token, modern("tools/call", { name: "get_offer", arguments: args }));
  const listed = await post(market.url, agent.token, modern("tools/list"));
  // Lines are printed in the order of the answers, so the line of the second call comes last.
  const [line] = await eventually(
    () => linesOf(listed.headers["request-id"]),
    ([found]) => found !== undefined,
  );
  const [first, ...more] = await linesOf(refused.headers["request-id"]);
  t.is(refused.status, 200);
  t.is(first?.operation, "get_offer");
  t.is(first?.status, 404);
  t.deepEqual(more, []);
  t.is(line?.operation, "mcp");
  t.false(JSON.stringify(first).includes(NOTHING));
});
