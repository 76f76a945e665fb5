import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import type { Agent, Answer, Body } from "../support/market.ts";
import { type Market, NOTHING, OFFER, openMarket } from "./contract.ts";

/** Every request is answered with a success or the right Problem, and never with a 500. */

let market: Market;
let agent: Agent;
let offer: string;
let ask: string;
test.before(async () => {
  market = await openMarket();
  agent = await market.agent();
  offer = (await agent.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
  ask = (await agent.call("POST", "/v1/asks", { text: "Looking for a sofa" })).body.id;
});
test.after.always(() => market?.stop());

// ── Query parameters ─────────────────────────────────────────────────────────────────────────────────────────────────

for (const [query, status] of [
  ["limit[]=5", 400],
  ["cursor=eyJsaXN0Ijoib2ZmZXJzICIsImlkIjoieCJ9", 400],
  ["__proto__[limit]=0", 200],
  ["constructor=1&toString=2", 200],
  ["&&&=&=", 200],
  [Array.from({ length: 50 }, (_, n) => `a${n}=${n}`).join("&"), 200],
] as const) {
  test(`GET /v1/offers?${query.slice(0, 60)} gets ${status}`, async (t) => {
    const answer = await agent.call("GET", `/v1/offers?${query}`);
    t.is(answer.status, status, answer.text);
    if (status === 400) t.true(answer.body.errors.length > 0);
  });
}

// ── Mistakes of language models ──────────────────────────────────────────────────────────────────────────────────────

const SEARCH = "POST /v1/offers/search";
const PATCH_OFFER = "PATCH /v1/offers/OFFER";
const PATCH_ASK = "PATCH /v1/asks/ASK";

/** A call, its body, and what the detail says. */
const MISTAKES: [call: string, body: Body, says: RegExp][] = [
  [SEARCH, { filters: { price_max: 200 } }, /no member filters\.price_max\. Send filters\.price\.max/],
  [SEARCH, { filters: { minPrice: 200 } }, /Send filters\.price\.min/],
  [SEARCH, { filters: { currency: "EUR" } }, /Send filters\.price\.currency/],
  [SEARCH, { filters: { city: "Berlin" } }, /Send filters\.location/],
  [SEARCH, { filters: { radius: 5 } }, /Send filters\.near\.radius_km/],
  [SEARCH, { filters: { near: { city: "Berlin" } } }, /Send filters\.near\.place/],
  [SEARCH, { filters: { price: { maximum: 5 } } }, /Send filters\.price\.max/],
  [SEARCH, { filters: { catgory: "furniture" } }, /Send filters\.category/],
  [SEARCH, { filters: { query: "sofa" } }, /Send query/],
  [SEARCH, { filters: { zorb: 5 } }, /no member filters\.zorb\. Known are domain, category,/],
  [
    SEARCH,
    { filters: { price: 200 } },
    /filters\.price must be an object with min, max, currency, period, not a number/,
  ],
  [SEARCH, { filters: { price: { max: 5, currency: "$" } } }, /\$ is that of several/],
  [
    SEARCH,
    { filters: { price: { min: 200, max: 100 } } },
    /at least 200 \(price\.min\) and at most 100 \(price\.max\)/,
  ],
  [SEARCH, { q: "sofa" }, /no member q: send it as query\./],
  [
    SEARCH,
    { price_max: 5 },
    /no member price_max: send it as filters\.price\.max, as \{"filters": \{"price": \{"max": …/,
  ],
  [SEARCH, { query: ["sofa"] }, /query must be text, not a list/],
  ["POST /v1/offers", { body: OFFER }, /^The member text is missing\. There is no member body: send it as text\.$/],
  ["POST /v1/offers", { Text: OFFER }, /send it as text/],
  [
    "POST /v1/offers",
    { title: "Sofa", contact: { email: "a@b.example" } },
    /no member title, contact: what it means is read/,
  ],
  [
    "POST /v1/offers",
    { text: "A sofa", contactEmail: "a@b.example" },
    /no member contactEmail: what it means is read from the text/,
  ],
  [
    "POST /v1/offers",
    { text: OFFER, images: "https://a.example/a.jpg" },
    /^The member images is a list of links, as \S+\.$/,
  ],
  ["POST /v1/offers", { text: "" }, /^The text is empty\. Say in it/],
  ["POST /v1/asks", { query: "A sofa" }, /no member query: send it as text\./],
  ["POST /v1/asks", { title: "A sofa", max_price: 5 }, /no member title, max_price: what it means is read/],
  [PATCH_OFFER, { status: "archived" }, /\/archive takes an offer down.*\/republish.*\/confirm/],
  [PATCH_OFFER, { isArchived: true }, /\/archive takes an offer down/],
  [PATCH_OFFER, { price: 5, title: "Sofa" }, /no member price, title: what it means is read from the text/],
  [PATCH_ASK, { status: "fulfilled" }, /\/fulfill says that it was found.*\/archive.*\/reopen/],
  [PATCH_ASK, { watch: true }, /no member watch: send it as watch_enabled\./],
  ["POST /v1/me/verifications", { provider: "email" }, /no member provider: send it as method\./],
  ["POST /v1/webhooks", { callback_url: "https://a.example/" }, /no member callback_url: send it as url\./],
  [`DELETE /v1/offers/${NOTHING}`, undefined, /Take an offer down: POST \/v1\/offers\/[\w-]{36}\/archive\./],
  [`DELETE /v1/asks/${NOTHING}`, undefined, /Put an ask away: POST \/v1\/asks\/[\w-]{36}\/archive\./],
  [`PUT /v1/offers/${NOTHING}`, { text: OFFER }, /Change an offer: PATCH \/v1\/offers\//],
  [
    SEARCH,
    { filters: { "price.max": 5 } },
    /no member filters\."price\.max"\. Send filters\.price\.max, as \{"filters"/,
  ],
  ["POST /v1/offers", { offer: { text: OFFER } }, /no member offer: send text without an object around\./],
  ["GET /v1/offers/search", undefined, /Search offers: POST \/v1\/offers\/search\./],
  ["DELETE /v1/me", undefined, /Disconnect yourself: DELETE \/v1\/me\/agent\./],
];

for (const [name, body, says] of MISTAKES)
  test(`${name.replace(NOTHING, "{id}")} ${JSON.stringify(body) ?? ""} is told what to send`, async (t) => {
    const [method = "", path = ""] = name.split(" ");
    const answer = await agent.call(method, path.replace("OFFER", offer).replace("ASK", ask), body);
    t.true(answer.status === 400 || answer.status === 405, answer.text);
    t.regex(answer.body.detail, says);
  });

test("a change of status names the calls that make it", async (t) => {
  const { body } = await agent.call("PATCH", `/v1/asks/${ask}`, { status: "archived" });
  t.deepEqual(
    body.next.map(({ method, path }: Body) => `${method} ${path}`),
    ["fulfill", "archive", "reopen"].map((move) => `POST /v1/asks/${ask}/${move}`),
  );
});

test("an unknown member of a search is ignored, and a notice names it; a currency is known by its sign", async (t) => {
  const filters = { location: "Nowhere", price: { max: 5, currency: "€" } };
  const { status, body } = await agent.call("POST", "/v1/offers/search", {
    query: "zorb",
    max_price: 5,
    zorb: 1,
    filters,
  });
  t.is(status, 200);
  t.deepEqual(
    body.notices.filter(({ code }: Body) => code === "unknown_member"),
    [
      {
        code: "unknown_member",
        summary:
          'Ignored: There is no member max_price: send it as filters.price.max, as {"filters": {"price": {"max": …}}}. There is no member zorb.',
      },
    ],
  );
  for (const currency of ["eur", "Eur", " € ", "£", "zł", "kč", "R$", "CHF"])
    t.is(
      (await agent.call("POST", "/v1/offers/search", { filters: { price: { max: 5, currency } } })).status,
      200,
      currency,
    );
});

// ── Random requests ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Pseudo-random numbers from 0 to 1 (mulberry32). The same seed gives the same numbers. */
const randomFrom = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};

const STRANGE: unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e12, 1e308, Number.MAX_SAFE_INTEGER, [], [[]], {}, { a: 1 }, [null], [1, "a"]],
  ...[{ length: 3 }, { toString: 1 }, "", " ", "0", "sofa", OFFER, "🦊", "\u202e", "\ud800", "\0", "null", "'; --"],
  ...["%s%n", "../../etc/passwd", "a".repeat(70), "a".repeat(4001), "\u0301".repeat(500), "2026-02-30", "2026-01-01"],
  ...["-infinity", "EUR", "published", "home_garden", NOTHING, "{}", "[]", "https://a.example/b", "data:,x"],
  "javascript:alert(1)",
];

test.serial("random requests to every endpoint get a success or a Problem, and never a 500", async (t) => {
  const random = randomFrom(20_260_601);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const strange = (depth = 0): unknown => {
    if (depth < 3 && random() < 0.2) return Array.from({ length: Math.floor(random() * 4) }, () => strange(depth + 1));
    if (depth < 3 && random() < 0.2) return { [pick(["a", "min", "__proto__x", "text", "query"])]: strange(depth + 1) };
    return pick(STRANGE);
  };
  /** An example in which some members are replaced, removed or added. */
  const bent = (example: Body): Body => {
    if (typeof example !== "object" || example === null || random() < 0.15) return strange();
    if (Array.isArray(example)) return example.map((member) => (random() < 0.5 ? member : bent(member)));
    const members = Object.entries(example)
      .filter(() => random() < 0.9)
      .map(([name, member]) => [name, random() < 0.5 ? member : bent(member)]);
    if (random() < 0.3)
      members.push([pick(["filters", "cursor", "limit", "sort", "images", "watch_enabled", "x"]), strange()]);
    return Object.fromEntries(members);
  };
  const fuzzer = await market.agent("Fuzzer");
  const offer = (await fuzzer.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
  const ask = (await fuzzer.call("POST", "/v1/asks", { text: "Looking for a sofa" })).body.id;
  const calls = Array.from({ length: 400 }, () => {
    // The agent must not remove itself, because its next calls would all get 401.
    const endpoint = pick(ENDPOINTS.filter(({ operationId }) => operationId !== "removeOwnAgent"));
    const id = pick([offer, ask, NOTHING, "x", "%00", "%F0%9F%A6%8A", "a".repeat(300)]);
    const query =
      random() < 0.3
        ? `?${pick(["limit", "cursor", "status", "since", "x[]"])}=${encodeURIComponent(String(pick(STRANGE.filter((value) => typeof value !== "object" && String(value).isWellFormed()))))}`
        : "";
    const headers: Record<string, string> = { authorization: `Bearer ${fuzzer.token}` };
    if (random() < 0.3) headers["idempotency-key"] = pick(["k", "k2", "é", "a".repeat(300), " "]);
    if (random() < 0.1) headers["content-type"] = pick(["text/plain", "application/json; charset=x", ""]);
    if (random() < 0.1) headers["content-encoding"] = pick(["gzip", "identity", "x"]);
    if (random() < 0.1) headers["if-none-match"] = pick(["*", '"x"', "W/", ","]);
    const raw = endpoint.body ? JSON.stringify(random() < 0.8 ? bent(endpoint.body.example) : strange()) : undefined;
    return { method: endpoint.method.toUpperCase(), path: endpoint.path.replace("{id}", id) + query, headers, raw };
  });
  const statuses = new Map<number, number>();
  const worker = async (): Promise<void> => {
    for (let one = calls.pop(); one; one = calls.pop()) {
      const { method, path, headers, raw } = one;
      // `call` checks every response against the OpenAPI document.
      const answer: Answer = await market.call(method, path, { headers, ...(raw === undefined ? {} : { raw }) });
      if (answer.status >= 500) t.fail(`${method} ${path} ${raw} → ${answer.text}`);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  for (const status of [200, 201, 400, 404, 415])
    t.true((statuses.get(status) ?? 0) > 5, `too few responses with ${status}`);
});
