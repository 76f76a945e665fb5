import { readFile } from "node:fs/promises";
import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { indexDocument, openApiDocument } from "../../src/api/openapi.ts";
import { type Market, openMarket, telling } from "./contract.ts";

/** The list of endpoints, and the documents in which the API describes itself. */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const GOLDEN = new URL("endpoints.txt", import.meta.url);

test("endpoints.txt lists the endpoints, so that a review sees every change", async (t) => {
  const lines = ENDPOINTS.map((endpoint) =>
    [
      endpoint.method.toUpperCase().padEnd(6),
      endpoint.path.padEnd(27),
      endpoint.operationId.padEnd(18),
      endpoint.auth.padEnd(5),
      endpoint.function ? `api.${endpoint.function}` : "-",
    ].join("  "),
  );
  t.deepEqual(`${lines.join("\n")}\n`.split("\n"), (await readFile(GOLDEN, "utf8")).split("\n"));
});

test("every function in the table of endpoints exists, and only the API may execute it", async (t) => {
  const named = [...new Set(ENDPOINTS.flatMap(({ function: name }) => (name ? [name] : [])))].toSorted();
  const found = await market.sql(
    `select distinct p.proname as name from pg_proc p
     where p.pronamespace = 'api'::regnamespace and p.proname = any ($1)
       and has_function_privilege('souk_api', p.oid, 'execute')
       and not has_function_privilege('souk_worker', p.oid, 'execute') order by 1`,
    [named],
  );
  t.deepEqual(
    found.map(({ name }) => name),
    named,
  );
});

/** Documents that need no token, with their expected bodies. */
const DOCUMENTS = [
  { path: "/v1", body: () => indexDocument(ENDPOINTS, market.url) },
  { path: "/v1/openapi.json", body: () => openApiDocument(ENDPOINTS, market.url) },
  { path: "/v1/taxonomy", body: () => TAXONOMY },
];

for (const { path, body } of DOCUMENTS) {
  test(`GET ${path} needs no token, may be cached for five minutes, and gets 304 while it is unchanged`, async (t) => {
    const answer = await market.call("GET", path);
    const etag = answer.headers["etag"] ?? "";
    t.is(answer.status, 200);
    t.deepEqual(answer.body, JSON.parse(JSON.stringify(body())));
    t.regex(etag, /^"[0-9A-Za-z_-]{27}"$/);
    t.deepEqual(telling(answer), {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "public, max-age=300",
      etag,
    });
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await market.call("GET", path, { headers: { "if-none-match": known } });
      t.deepEqual(
        { status: again.status, text: again.text, headers: telling(again) },
        { status: 304, text: "", headers: { etag, "cache-control": "public, max-age=300" } },
        known,
      );
    }
    const changed = await market.call("GET", path, { headers: { "if-none-match": '"other"' } });
    t.is(changed.status, 200);
    const head = await market.call("HEAD", path);
    t.deepEqual(
      { status: head.status, text: head.text, headers: telling(head) },
      { status: 200, text: "", headers: telling(answer) },
    );
  });
}

test("every response has its own Request-Id", async (t) => {
  const answers = await Promise.all(
    ["/v1", "/v1/taxonomy", "/v1/me", "/v1/nothing", "/healthz", "/readyz"].map((path) => market.call("HEAD", path)),
  );
  const ids = answers.map(({ headers }) => headers["request-id"] ?? "");
  for (const id of ids) t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  t.is(new Set(ids).size, ids.length);
});

const GOODS = ["sale", "rental"];
const TAXONOMY = {
  domains: [
    ["electronics", GOODS, "phones computers audio photo_video gaming tv wearables components other_electronics"],
    ["vehicles", GOODS, "cars motorcycles bicycles boats trucks_vans caravans parts other_vehicles"],
    ["real_estate", GOODS, "apartments houses rooms land commercial vacation parking_storage"],
    ["home_garden", GOODS, "furniture appliances decor garden tools kitchen other_home"],
    ["fashion", GOODS, "clothing shoes bags jewelry_watches accessories"],
    ["hobbies", GOODS, "books music_instruments sports collectibles art toys_games tickets other_hobbies"],
    ["family_pets", [...GOODS, "service_offer"], "baby_kids pets pet_supplies"],
    [
      "services",
      ["service_offer"],
      "repair cleaning moving tutoring beauty_wellness events legal_finance it_design care construction transport other_services",
    ],
    [
      "jobs_projects",
      ["project_hire"],
      "software design writing marketing construction_work hospitality office education logistics other_work",
    ],
    ["community", ["dating", "friendship"], "dating friendship activities"],
  ].map(([domain, offer_kinds, categories]) => ({ domain, offer_kinds, categories: String(categories).split(" ") })),
  ask_kinds: [
    { ask_kind: "buy", answered_by: ["sale"] },
    { ask_kind: "dating", answered_by: ["dating"] },
    { ask_kind: "friendship", answered_by: ["friendship"] },
    {
      ask_kind: "general",
      answered_by: ["sale", "rental", "service_offer", "project_hire", "dating", "friendship"],
    },
    { ask_kind: "hire", answered_by: ["service_offer"] },
    { ask_kind: "lease_out", answered_by: [] },
    { ask_kind: "offer_service", answered_by: ["project_hire"] },
    { ask_kind: "rent", answered_by: ["rental"] },
    { ask_kind: "sell", answered_by: [] },
  ],
};
