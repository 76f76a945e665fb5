import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test, { type ExecutionContext } from "ava";
import { openMarket, ProblemError } from "souk/client";
import { approveLink } from "../support/market.ts";
import { listenOn } from "../support/raw_server.ts";
import { OFFER as BERLIN, type Market, NOTHING, openMarket as openService } from "./contract.ts";

/** The typed client does the whole main job, and is patient and careful in the way that it promises. */

/** In a town where other tests have nothing. */
const OFFER = BERLIN.replace("Berlin", "Rostock");

let service: Market;
test.before(async () => {
  service = await openService();
});
test.after.always(() => service?.stop());

/** A client of an agent that a person has approved. */
const approved = async (name: string) => {
  const { agent_token: token, connection } = await openMarket(service).call("POST /v1/connect", { body: { name } });
  await approveLink(service.databaseUrl, connection.url);
  return openMarket({ url: service.url, token });
};

const all = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const one of list) found.push(one);
  return found;
};

/** What a call was refused with. */
const refusal = async (t: ExecutionContext, call: () => Promise<unknown>) =>
  (await t.throwsAsync(call, { instanceOf: ProblemError }))?.problem;

test("two agents do the whole main job through the client", async (t) => {
  const connected = await openMarket(service).call("POST /v1/connect", { body: { name: "Lena's assistant" } });
  const stranger = openMarket({ url: service.url, token: connected.agent_token });
  const early = await refusal(t, () => stranger.call("POST /v1/offers", { body: { text: OFFER } }));
  t.like(early, { code: "verification_required", status: 403, permission: "publish_offer", connected: false });

  const lena = await approved("Lena's assistant");
  const preview = await lena.call("POST /v1/offers/preview", { body: { text: "Grey sofa, 180 EUR, Berlin" } });
  t.deepEqual(preview.missing_fields, ["contact"]);
  const lacking = await refusal(t, () =>
    lena.call("POST /v1/offers", { body: { text: "Grey sofa, 180 EUR, Berlin" } }),
  );
  t.is(lacking?.code, "missing_contact");
  const { body: published, headers } = await lena.exchange("POST /v1/offers", { body: { text: OFFER } });
  t.like(published, { status: "published", price: "180 EUR" });
  t.is(
    Number(headers.get("ratelimit-remaining")),
    Number(headers.get("ratelimit-limit")) - 2,
    "the refused offer counts, too",
  );

  const tom = await approved("Tom's assistant");
  const found = await tom.call("POST /v1/offers/search", { body: { query: "sofa", filters: { location: "Rostock" } } });
  t.is(found.results[0]?.id, published.offer_id);
  const ask = await tom.call("POST /v1/asks", { body: { text: "Looking for a sofa in Rostock, up to 250 EUR" } });
  const matches = await tom.call("GET /v1/asks/{id}/matches", { path: { id: ask.id } });
  t.deepEqual(
    matches.results.map(({ id, match }) => [id, match.reasons.find(({ criterion }) => criterion === "price")?.verdict]),
    [[published.offer_id, "met"]],
  );
  const offer = await tom.call("GET /v1/offers/{id}", { path: { id: published.offer_id } });
  t.is("document" in offer ? offer.content.contact.methods[0]?.value : offer.review, "lena@example.com");

  t.is((await tom.call("POST /v1/asks/{id}/fulfill", { path: { id: ask.id } })).status, "fulfilled");
  t.is((await lena.call("POST /v1/offers/{id}/archive", { path: { id: published.offer_id } })).status, "archived");
  t.is(
    (await refusal(t, () => tom.call("GET /v1/offers/{id}", { path: { id: published.offer_id } })))?.code,
    "not_found",
  );
  t.is(await lena.call("DELETE /v1/me/agent"), undefined);
  t.is((await refusal(t, () => lena.call("GET /v1/me")))?.code, "unauthorized");
});

test("lists continue over all pages", async (t) => {
  const market = await approved("Reader");
  const ids: string[] = [];
  for (const thing of ["trumpet", "trombone", "tuba"]) {
    ids.push(
      (await market.call("POST /v1/offers", { body: { text: `${thing} for sale, 91 EUR. lena@example.com` } }))
        .offer_id,
    );
  }
  const listed = await all(market.items("GET /v1/offers", { query: { limit: 1 } }));
  t.deepEqual(
    listed.map(({ id }) => id),
    ids.toReversed(),
  );
  t.is((await all(market.pages("GET /v1/offers", { query: { limit: 2 } }))).length, 2);
  const results = await all(
    market.items("POST /v1/offers/search", {
      body: { query: "trumpet trombone tuba", filters: { exclude_own: false, price: { max: 91, min: 91 } }, limit: 1 },
    }),
  );
  t.deepEqual(results.map(({ id }) => id).toSorted(), ids.toSorted());
  const pages = market.pages("GET /v1/asks/{id}/matches", { path: { id: NOTHING } });
  t.is((await refusal(t, () => pages.next()))?.code, "not_found");
});

test("a request with the same idempotency key is done once", async (t) => {
  const market = await approved("Repeater");
  const args = { body: { text: "Red kayak for sale, 300 EUR. lena@example.com" }, idempotencyKey: "the same" };
  const first = await market.exchange("POST /v1/offers", args);
  const again = await market.exchange("POST /v1/offers", args);
  t.deepEqual([again.body.offer_id, again.headers.get("idempotency-replayed")], [first.body.offer_id, "true"]);
  t.is((await all(market.items("GET /v1/offers"))).length, 1);
});

/** A market that gives prepared answers, and records what it was sent. */
const scripted = async (t: ExecutionContext, answers: ((response: ServerResponse) => void)[]) => {
  const requests: { at: number; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ headers }, response) => {
    requests.push({ at: performance.now(), headers });
    answers[requests.length - 1]?.(response);
  });
  return { requests, url: `http://127.0.0.1:${await listenOn(t, server)}/` };
};

const refusing =
  (status: number, code: string, retryable: boolean, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    const problem = { type: "x", title: "x", status, code, detail: "Wait.", request_id: "x", retryable };
    response.writeHead(status, { "Content-Type": "application/problem+json", ...headers }).end(JSON.stringify(problem));
  };
const published = (response: ServerResponse) =>
  response.writeHead(201, { "Content-Type": "application/json" }).end('{"offer_id":"1"}');

test("a request is sent again with the same key, after the time that the market asks for", async (t) => {
  const { url, requests } = await scripted(t, [
    refusing(503, "service_unavailable", true, { "Retry-After": "1" }),
    (response) => response.destroy(),
    refusing(409, "idempotency_in_flight", true),
    published,
  ]);
  const published_ = await openMarket({ url, token: "agt_x" }).call("POST /v1/offers", { body: { text: OFFER } });
  t.is(published_.offer_id, "1");
  t.is(requests.length, 4);
  t.true((requests[1]?.at ?? 0) - (requests[0]?.at ?? 0) >= 990);
  const keys = new Set(requests.map(({ headers }) => headers["idempotency-key"]));
  t.is(keys.size, 1);
  t.regex([...keys].join(), /^[0-9a-f-]{36}$/);
  t.deepEqual([...new Set(requests.map(({ headers }) => headers.authorization))], ["Bearer agt_x"]);
});

test("a refusal that stays, or asks for more patience than there is, is thrown at once", async (t) => {
  const { url, requests } = await scripted(t, [
    refusing(409, "invalid_state", false),
    refusing(429, "rate_limited", true, { "Retry-After": "31" }),
  ]);
  const market = openMarket({ url });
  for (const code of ["invalid_state", "rate_limited"] as const)
    t.is((await refusal(t, () => market.call("GET /v1/me")))?.code, code);
  t.is(requests.length, 2);
});

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("a package below node_modules imports the client, with its types", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "souk-consumer-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const installed = join(folder, "node_modules/souk");
  await mkdir(installed, { recursive: true });
  await cp(join(ROOT, "package.json"), join(installed, "package.json"));
  await cp(join(ROOT, "src/client"), join(installed, "src/client"), { recursive: true });
  await symlink(join(ROOT, "node_modules/@types"), join(folder, "node_modules/@types"));
  await writeFile(
    join(folder, "use.mts"),
    `import { openMarket, type OfferPublished } from "souk/client";
const market = openMarket({ url: "http://127.0.0.1:1", retries: 0 });
const publish = (): Promise<OfferPublished> => market.call("POST /v1/offers", { body: { text: "x" } });
// @ts-expect-error: a search has no such member
const search = () => market.call("POST /v1/offers/search", { body: { queri: "x" } });
console.log(typeof publish, typeof search);
`,
  );
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["use.mts"], { cwd: folder });
  t.is(stdout, "function function\n");
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--lib", "es2024,dom", "--types", "node"];
  await t.notThrowsAsync(run(join(ROOT, "node_modules/.bin/tsc"), [...options, "use.mts"], { cwd: folder }));
});
