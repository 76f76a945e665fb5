import test from "ava";
import { type Agent, type Body, eventually } from "../support/market.ts";
import { type Market, openOwnMarket } from "./contract.ts";

/**
 * Places and facets: what lies within a distance is found, sorted and matched, and values are counted.
 * Distances from Berlin: Potsdam 27 km, Hamburg 255 km, München 504 km.
 */

const TEXTS = {
  berlin: "Grey three-seat sofa for sale, good condition. 180 EUR, pick up in Berlin. Write to lena@example.com",
  potsdam: "Blue sofa for sale, like new. 120 EUR, pick up in Potsdam. Write to lena@example.com",
  hamburg: "Leather sofa for sale. 450 EUR, pick up in Hamburg. Write to lena@example.com",
  munich: "Small sofa for sale. 90 EUR, pick up in München. Write to lena@example.com",
  nowhere: "Yellow sofa for sale. 75 EUR. Write to lena@example.com",
  bicycle: "City bicycle for sale. 250 EUR, in Berlin. Write to lena@example.com",
};
type Name = keyof typeof TEXTS;

let market: Market;
let seller: Agent;
let seeker: Agent;
const ids = new Map<string, Name>();

test.before(async () => {
  market = await openOwnMarket();
  seller = await market.agent("Seller");
  seeker = await market.agent("Seeker");
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
const inOrder = async (body: Body): Promise<(Name | undefined)[]> =>
  (await search(body)).body.results.map(({ id }: Body) => ids.get(id));
const found = async (body: Body) => (await inOrder(body)).toSorted();

test.serial(
  "only offers within the radius are found, by a town or by a position, and say how far they are",
  async (t) => {
    t.deepEqual(await found({ query: "sofa", filters: { near: { place: "Berlin", radius_km: 20 } } }), ["berlin"]);
    t.deepEqual(await found({ query: "sofa", filters: { near: { place: "berlin", radius_km: 40 } } }), [
      "berlin",
      "potsdam",
    ]);
    t.deepEqual(await found({ filters: { near: { lat: 52.4, lon: 13.06, radius_km: 5 } } }), ["potsdam"]);
    t.deepEqual(await found({ filters: { near: { place: "Berlin" } } }), ["berlin", "bicycle"]);
    const { body } = await search({
      query: "sofa",
      filters: { near: { place: "Berlin", radius_km: 300 } },
      sort: "distance",
    });
    t.deepEqual(
      body.results.map(({ id, distance_km }: Body) => [ids.get(id), Math.round(distance_km)]),
      [
        ["berlin", 0],
        ["potsdam", 27],
        ["hamburg", 255],
      ],
    );
    t.deepEqual(body.notices, [{ code: "near", summary: body.notices[0].summary }]);
    t.true(body.notices[0].summary.startsWith("Only offers within 300 km of Berlin, DE."), body.notices[0].summary);
  },
);

test.serial("a list without a query is sorted by distance, page by page", async (t) => {
  const request = { filters: { near: { place: "Berlin", radius_km: 500 } }, sort: "distance", limit: 2 };
  const first = (await search(request)).body;
  const second = (await search({ ...request, cursor: first.page.next_cursor })).body;
  t.deepEqual(
    [...first.results, ...second.results].map(({ id }: Body) => ids.get(id)),
    // The newer one of two in the same town comes first.
    ["bicycle", "berlin", "potsdam", "hamburg"],
  );
  t.is(second.page.has_more, false);
});

test.serial("a distance in a query filters, unless the request sends a place of its own", async (t) => {
  const { body } = await search({ query: "sofa within 40 km of Berlin" });
  t.deepEqual(body.results.map(({ id }: Body) => ids.get(id)).toSorted(), ["berlin", "potsdam"]);
  t.true(body.results.every(({ distance_km }: Body) => distance_km <= 40));
  t.true(body.notices.some(({ summary }: Body) => summary.startsWith("Only offers within 40 km of Berlin, DE.")));
  t.deepEqual(await found({ query: "Sofa umkreis 30 km Potsdam" }), ["berlin", "potsdam"]);
  t.deepEqual(await found({ query: "sofa within 40 km of Berlin", filters: { near: { place: "Hamburg" } } }), [
    "hamburg",
  ]);
  t.deepEqual(await inOrder({ query: "sofa within 300 km of Hamburg", sort: "distance" }), [
    "hamburg",
    "potsdam",
    "berlin",
  ]);
});

test.serial("a place that is not clear is told", async (t) => {
  const refused = async (near: Body) => {
    const { status, body } = await search({ filters: { near } });
    t.is(status, 400);
    return `${body.errors[0].pointer} ${body.errors[0].detail}`;
  };
  t.regex(await refused({ place: "Xyzzytown" }), /^\/filters\/near\/place No town with the name/);
  t.regex(await refused({ place: "Bavaria" }), /^\/filters\/near\/place .*filters\.location/);
  t.regex(await refused({ lat: 52 }), /^\/filters\/near Send a place, or lat and lon/);
  t.regex(await refused({ place: "Berlin", lat: 1, lon: 1 }), /^\/filters\/near Send a place, or lat and lon/);
  t.regex(await refused({ place: "Berlin", radius_km: 501 }), /^\/filters\/near\/radius_km/);
  const frankfurt = (await search({ filters: { near: { place: "Frankfurt" } } })).body.notices[0].summary;
  t.regex(frankfurt, /^Only offers within 25 km of Frankfurt am Main, Hessen, DE\. Also called so: Frankfurt \(Oder\)/);
  const unknown = (await search({ query: "sofa within 20 km of Xyzzytown" })).body;
  t.is(unknown.notices.find(({ code }: Body) => code === "near_unknown")?.code, "near_unknown");
  const unsorted = await search({ query: "sofa", sort: "distance" });
  t.is(unsorted.status, 400);
  t.is(unsorted.body.errors[0].pointer, "/sort");
});

test.serial("an ask with a distance matches only offers within it, whichever comes first", async (t) => {
  const buyer = await market.agent("Buyer");
  const ask = (
    await buyer.call("POST", "/v1/asks", { text: "Looking for a sofa within 40 km of Berlin, up to 300 EUR" })
  ).body;
  t.like(ask.criteria.near, { place: "Berlin", radius_km: 40 });
  const matched = async () =>
    (await buyer.call("GET", `/v1/asks/${ask.id}/matches`)).body.results.map(({ id, distance_km }: Body) => [
      ids.get(id) ?? "later",
      Math.round(distance_km),
    ]);
  t.deepEqual((await matched()).toSorted(), [
    ["berlin", 0],
    ["potsdam", 27],
  ]);
  const publish = async (place: string) =>
    (
      await seller.call("POST", "/v1/offers", {
        text: `Green sofa for sale. 110 EUR, pick up in ${place}. Write to lena@example.com`,
      })
    ).body.offer_id;
  const far = await publish("Leipzig");
  const near = await publish("Oranienburg");
  // Both offers were matched in their order, so the first is too far away if the second has come.
  await eventually(matched, (list) => list.some(([name]: [string]) => name === "later"));
  t.is((await matched()).length, 3);
  for (const id of [far, near]) await seller.call("POST", `/v1/offers/${id}/archive`);
});

test.serial("facets count the values of all offers that pass the filters and match the words", async (t) => {
  const { body } = await search({
    query: "sofa",
    limit: 1,
    facets: ["category", "offer_kind", "price", "condition", "location"],
  });
  t.is(body.results?.length, 1, JSON.stringify(body));
  t.deepEqual(body.facets.category, [{ value: "furniture", count: 5 }]);
  t.deepEqual(body.facets.offer_kind, [{ value: "sale", count: 5 }]);
  t.deepEqual(body.facets.price, [
    { value: "100-200 EUR", count: 2 },
    { value: "50-100 EUR", count: 2 },
    { value: "200-500 EUR", count: 1 },
  ]);
  t.deepEqual(
    body.facets.location.map(({ value }: Body) => value),
    ["Berlin", "Hamburg", "München", "Potsdam"],
  );
  const some = (await search({ filters: { location: "Berlin" }, facets: ["category"] })).body.facets;
  t.deepEqual(some, {
    category: [
      { value: "bicycles", count: 1 },
      { value: "furniture", count: 1 },
    ],
  });
  t.is((await search({ query: "sofa" })).body.facets, undefined);
  t.is((await search({ query: "sofa", facets: ["colour"] })).status, 400);
});
