import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import type { Agent, Answer, Body } from "../support/market.ts";
import { type Market, NOTHING, OFFER, openMarket } from "./contract.ts";

/** Every request is answered with a success or the right Problem, and never with a 500. */

let market: Market;
let agent: Agent;
test.before(async () => {
  market = await openMarket();
  agent = await market.agent();
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
