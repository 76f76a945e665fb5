import test from "ava";
import { type Agent, type Answer, type Body, eventually } from "../support/market.ts";
import { type Market, openOwnMarket, settled, telling } from "./contract.ts";

/**
 * Search through the whole service: what an answer says, how a query is read, and what lies within a distance. Each filter,
 * each order and each kind of page is tested in test/db/search.test.ts, and counted values in test/db/facets.test.ts.
 * Distances from Berlin: Potsdam 27 km, Hamburg 255 km, München 504 km.
 */

/** The texts of all offers in this market, by name. */
const TEXTS = {
  berlin: "Grey three-seat sofa for sale, good condition. 180 EUR, pick up in Berlin. Write to lena@example.com",
  potsdam: "Blue sofa for sale, like new. 120 EUR, pick up in Potsdam. Write to lena@example.com",
  hamburg: "Leather sofa for sale. 450 EUR, pick up in Hamburg. Write to lena@example.com",
  munich: "Small sofa for sale. 90 EUR, pick up in München. Write to lena@example.com",
  nowhere: "Yellow sofa for sale. 75 EUR. Write to lena@example.com",
  bicycle: "City bicycle for sale. 250 EUR, in Berlin. Write to lena@example.com",
  flat: "Furnished apartment for rent. 900 EUR per month, in München. Write to lena@example.com",
};
type Name = keyof typeof TEXTS;

let market: Market;
let seller: Agent;
let seeker: Agent;
const ids = new Map<string, Name>();

test.before(async () => {
  market = await openOwnMarket();
  [seller, seeker] = [await market.agent("Seller"), await market.agent("Seeker")];
  for (const [name, text] of Object.entries(TEXTS)) {
    const answer = await seller.call("POST", "/v1/offers", { text });
    if (answer.status !== 201) throw new Error(answer.text);
    ids.set(answer.body.offer_id, name as Name);
  }
  // Searches use the vectors, which the worker makes.
  await eventually(
    () => market.sql("select count(*)::integer as count from market.offer_embedding"),
    ([row]) => row.count === ids.size,
  );
});
test.after.always(() => market?.stop());

const search = (body: Body) => seeker.call("POST", "/v1/offers/search", body);
const namesOf = (body: Body): (Name | undefined)[] => body.results.map(({ id }: Body) => ids.get(id));
const inOrder = async (body: Body) => namesOf((await search(body)).body);
const found = async (body: Body) => (await inOrder(body)).toSorted();

test("a search returns offers, best first, and what to do next", async (t) => {
  const answer = await search({ query: "sofa", filters: { category: "furniture", location: "Berlin" } });
  const methods = [{ type: "email", value: "lena@example.com", preferred: false }];
  t.deepEqual(
    { status: answer.status, headers: telling(answer), body: settled(answer.body, market.url) },
    {
      status: 200,
      headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
      body: {
        type: "results",
        query: "sofa",
        classification: { domain: "home_garden", category: "furniture", kind: null },
        results: [
          {
            id: "<id>",
            web_url: "<base>/offers/<id>",
            score: "<score>",
            rank: 1,
            document: {
              title: "Grey three-seat sofa",
              description: TEXTS.berlin,
              location: "Berlin",
              language: "en",
            },
            metadata: {
              pricing: { amount: 180, currency: "EUR", type: "fixed", negotiable: false, label: "180 EUR" },
              location: {
                text: "Berlin",
                city: "Berlin",
                country: "DE",
                region: "Berlin",
                point: { lat: 52.524, lon: 13.411 },
                remote: false,
              },
              condition: "used_good",
            },
            content: {
              preview: {
                headline: "Grey three-seat sofa",
                snippet: TEXTS.berlin,
                price_label: "180 EUR",
                location_label: "Berlin",
              },
              contact: { schema_version: 2, methods, primary: { methods }, additional: [] },
              images: [],
            },
            posted: "<day>",
            reviewed: false,
            publisher: {
              verified: false,
              member_since: "<month>",
              last_active: "<month>",
              offers: { active: 7, lifetime: 7, removed: 0 },
            },
          },
        ],
        page: { next_cursor: null, has_more: false },
        notices: [],
        next: [
          {
            summary: "Read one offer in full before the person decides.",
            method: "GET",
            path: "/v1/offers/<id>",
          },
        ],
      },
    },
  );
  const [first] = answer.body.results;
  t.true(first.score > 0 && first.score <= 1);
  t.is(answer.body.next[0].path, `/v1/offers/${first.id}`);
});

test("searches that are counted show their limit, also in refusals, and a moderator's limit holds at once", async (t) => {
  const left = ({ status, headers }: Answer) => [status, headers["ratelimit-limit"], headers["ratelimit-remaining"]];
  const stranger = await market.stranger();
  const searched = (agent: Agent, body: Body) => agent.call("POST", "/v1/offers/search", body);
  t.deepEqual(left(await searched(stranger, { query: "sofa" })), [200, "300", "299"]);
  t.deepEqual(left(await searched(stranger, { query: 7 })), [400, "300", "299"]);
  t.deepEqual(left(await searched(stranger, { filters: { domain: "nothing" } })), [400, "300", "299"]);

  const agent = await market.agent();
  t.deepEqual(left(await searched(agent, { query: "sofa" })), [200, undefined, undefined]);
  await market.sql(
    `insert into market.cap_override (account_id, action, cap)
    select account_id, 'search_offers', 1 from market.agent where id = $1`,
    [agent.id],
  );
  t.deepEqual(left(await searched(agent, { query: "sofa" })), [200, "1", "0"]);
  t.deepEqual(left(await searched(agent, { query: "sofa" })), [429, "1", "0"]);
});

test("a search without results says to create an ask", async (t) => {
  const { status, body } = await search({ filters: { domain: "fashion" } });
  t.deepEqual(
    [status, body.results, body.next],
    [
      200,
      [],
      [
        {
          summary:
            "Nothing matches. Search with other words or fewer filters, or state what the person wants as an ask, and read its matches later.",
          method: "POST",
          path: "/v1/asks",
        },
      ],
    ],
  );
});

test("kind, place, distance and price in a query are filters, unless the request has its own, and the answer says so", async (t) => {
  const { body } = await search({ query: "apartment to rent in Munich under 1000 euros" });
  t.deepEqual(namesOf(body), ["flat"]);
  t.deepEqual(body.classification, { domain: "real_estate", category: "apartments", kind: "rental" });
  t.deepEqual([body.notices.length, body.notices[0].code], [1, "read_from_query"]);
  t.regex(body.notices[0].summary, /only rentals, in Munich, up to 1000 EUR/);
  t.deepEqual(await found({ query: "apartment to rent in Munich under 700 euros" }), []);
  const explicit = (await search({ query: "apartment in Berlin", filters: { location: "München" } })).body;
  t.deepEqual([namesOf(explicit)[0], explicit.notices], ["flat", []]);

  const near = (await search({ query: "sofa within 40 km of Berlin" })).body;
  t.deepEqual(namesOf(near).toSorted(), ["berlin", "potsdam"]);
  t.true(near.results.every(({ distance_km }: Body) => distance_km <= 40));
  t.true(near.notices.some(({ summary }: Body) => summary.startsWith("Only offers within 40 km of Berlin, DE.")));
  t.deepEqual(await found({ query: "Sofa umkreis 30 km Potsdam" }), ["berlin", "potsdam"]);
  t.deepEqual(await found({ query: "sofa within 40 km of Berlin", filters: { near: { place: "Hamburg" } } }), [
    "hamburg",
  ]);
});

test("what a query excludes is left out, a bound without a currency holds in that of the offers, and the answer says so", async (t) => {
  const { body } = await search({ query: "sofa not grey under 200" });
  t.true(body.results.length > 0);
  t.false(body.results.some(({ document }: Body) => /grey|grau/i.test(`${document.title} ${document.description}`)));
  t.is(
    body.notices.find(({ code }: Body) => code === "read_from_query")?.summary,
    "Read from the query: up to 200 EUR (the query names no currency), nothing that mentions grey. What is surely something else was left out; send filters to say it otherwise.",
  );
});

test("a price that no offer can have is no filter", async (t) => {
  for (const price of ["999.999.999.999.999.999.999 EUR", "999999999999 million euro"]) {
    const { status, body } = await search({ query: `sofa up to ${price}` });
    t.is(status, 200, price);
    t.true(body.results.length > 0, price);
  }
});

test("synonyms, other languages and misspellings find the same offers", async (t) => {
  const first = async (query: string) => (await inOrder({ query }))[0];
  for (const query of ["couch grey", "divano grigio", "canapé gris", "settee grey"])
    t.is(await first(query), "berlin", query);
  for (const query of ["vélo", "Fahrrad", "bicylce"]) t.is(await first(query), "bicycle", query);
});

test("only offers within the radius are found, by a town or by a position, and say how far they are", async (t) => {
  t.deepEqual(await found({ query: "sofa", filters: { near: { place: "berlin", radius_km: 20 } } }), ["berlin"]);
  t.deepEqual(await found({ filters: { near: { lat: 52.4, lon: 13.06, radius_km: 5 } } }), ["potsdam"]);
  t.deepEqual(await found({ filters: { near: { place: "Berlin" } } }), ["berlin", "bicycle"]);
  const request = { filters: { near: { place: "Berlin", radius_km: 500 } }, sort: "distance", limit: 2 };
  const first = (await search(request)).body;
  const second = (await search({ ...request, cursor: first.page.next_cursor })).body;
  t.deepEqual(
    [...first.results, ...second.results].map(({ id, distance_km }: Body) => [ids.get(id), Math.round(distance_km)]),
    [
      // The newer one of two in the same town comes first.
      ["bicycle", 0],
      ["berlin", 0],
      ["potsdam", 27],
      ["hamburg", 255],
    ],
  );
  t.false(second.page.has_more);
  t.is(first.notices[0].code, "near");
  t.true(first.notices[0].summary.startsWith("Only offers within 500 km of Berlin, DE."), first.notices[0].summary);
});

test("a place that is not clear is told", async (t) => {
  const refused = async (body: Body) => {
    const answer = await search(body);
    t.is(answer.status, 400);
    return `${answer.body.errors[0].pointer} ${answer.body.errors[0].detail}`;
  };
  for (const [near, said] of [
    [{ place: "Xyzzytown" }, /^\/filters\/near\/place No town with the name/],
    [{ place: "Bavaria" }, /^\/filters\/near\/place .*filters\.location/],
    [{ lat: 52 }, /^\/filters\/near Send a place, or lat and lon/],
    [{ place: "Berlin", lat: 1, lon: 1 }, /^\/filters\/near Send a place, or lat and lon/],
  ] as const)
    t.regex(await refused({ filters: { near } }), said);
  t.regex(await refused({ query: "sofa", sort: "distance" }), /^\/sort /);
  const frankfurt = (await search({ filters: { near: { place: "Frankfurt" } } })).body.notices[0].summary;
  t.regex(frankfurt, /^Only offers within 25 km of Frankfurt am Main, Hessen, DE\. Also called so: Frankfurt \(Oder\)/);
  const unknown = (await search({ query: "sofa within 20 km of Xyzzytown" })).body;
  t.true(unknown.notices.some(({ code }: Body) => code === "near_unknown"));
});

test("facets count the values of all offers that pass the filters and match the words", async (t) => {
  const facets = ["category", "price", "location"];
  const { body } = await search({ query: "sofa", limit: 1, facets });
  t.is(body.results.length, 1);
  t.deepEqual(body.facets.category, [{ value: "furniture", count: 5 }]);
  t.deepEqual(body.facets.price, [
    { value: "100-200 EUR", count: 2 },
    { value: "50-100 EUR", count: 2 },
    { value: "200-500 EUR", count: 1 },
  ]);
  t.deepEqual(
    body.facets.location.map(({ value }: Body) => value),
    ["Berlin", "Hamburg", "München", "Potsdam"],
  );
  t.is((await search({ query: "sofa" })).body.facets, undefined);
});

test.serial("an ask with a distance matches only offers within it, whichever comes first", async (t) => {
  const buyer = await market.agent("Buyer");
  const text = "Looking for a sofa within 40 km of Berlin, up to 300 EUR";
  const ask = (await buyer.call("POST", "/v1/asks", { text })).body;
  t.like(ask.criteria.near, { place: "Berlin", radius_km: 40 });
  const matched = async (): Promise<[string, number][]> =>
    (await buyer.call("GET", `/v1/asks/${ask.id}/matches`)).body.results.map(({ id, distance_km }: Body) => [
      ids.get(id) ?? "later",
      Math.round(distance_km),
    ]);
  t.deepEqual((await matched()).toSorted(), [
    ["berlin", 0],
    ["potsdam", 27],
  ]);
  const other = await market.agent("Other");
  const publish = async (place: string) =>
    (await other.call("POST", "/v1/offers", { text: TEXTS.munich.replace("München", place) })).body.offer_id;
  const [far, near] = [await publish("Leipzig"), await publish("Oranienburg")];
  // Both offers were matched in their order, so the first is too far away if the second has come.
  await eventually(matched, (list) => list.some(([name]) => name === "later"));
  t.is((await matched()).length, 3);
  for (const id of [far, near]) await other.call("POST", `/v1/offers/${id}/archive`);
});

test("searches understand a new word of the vocabulary soon, without a restart", async (t) => {
  t.timeout(120_000);
  const classified = async () => (await search({ query: "quibblewort" })).body.classification;
  t.is(await classified(), null);
  await market.sql(
    "insert into reading.label (concept, form, weight) values ('home_garden/furniture', 'quibblewort', 3)",
  );
  await eventually(classified, (found) => found?.category === "furniture", 30_000);
  await market.sql("delete from reading.label where form = 'quibblewort'");
  await eventually(classified, (found) => found === null, 30_000);
});
