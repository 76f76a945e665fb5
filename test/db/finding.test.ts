import test from "ava";
import { type Answer, type Caller, column, type OfferFacts, openMarket, vectorOf } from "./market.ts";
import { market } from "./one_market.ts";

/**
 * Finding what a query means: synonyms, what was extracted from the query, and stable pages.
 *
 *   extraction  what the query extractor passes along with the words (src/reader/extraction.ts)
 */

const BERLIN = { place: "Berlin", city: "Berlin", country: "DE" };
const ROMA = { place: "Roma", city: "Roma", country: "IT" };
const HAMBURG = { place: "Hamburg", city: "Hamburg", country: "DE" };
const STOCKPORT = { place: "Stockport", city: "Stockport", country: "GB" };
const ELECTRONICS = { domain: "electronics", category: "phones" };
const BICYCLE = { domain: "vehicles", category: "bicycles", place: null };
const GUITAR = { domain: "hobbies", category: "music_instruments" };
const BOOK = { domain: "hobbies", category: "books", price: null, place: null };
const WASHER = { domain: "home_garden", category: "appliances", place: null };
const CLEANING = { domain: "services", category: "cleaning", kind: "service_offer" };

const CATALOGUE: Record<string, OfferFacts> = {
  couch: { title: "Blue couch", price: "200 EUR", ...BERLIN },
  divano: { title: "Divano in pelle", language: "it", price: "250 EUR", ...ROMA },
  ledersofa: { title: "Ledersofa", language: "de", price: "900 EUR", ...HAMBURG },
  hired: { title: "Sofa for a party", kind: "rental", price: "40 EUR", period: "day", ...BERLIN },
  dollars: { title: "Green sofa", price: "150 USD", place: null },
  unpriced: { title: "Yellow sofa", price: null, place: "Altona", country: "DE" },
  "for parts": { title: "Cracked handset", ...ELECTRONICS, condition: "for_parts", place: null },
  gift: { title: "Old sofa", price: "0 EUR", ...BERLIN },
  cleaning: { title: "Sofa cleaning", ...CLEANING, price: "60 EUR", ...BERLIN },
  washer: { title: "Machine à laver", language: "fr", ...WASHER, price: "90 EUR" },
  ebike: { title: "Elektrofahrrad", language: "de", ...BICYCLE, price: "800 EUR" },
  telecaster: { title: "Telecaster", ...GUITAR, price: "500 GBP", ...STOCKPORT },
  "unnamed phone": { title: "Doro with big buttons", ...ELECTRONICS, price: "40 EUR", place: null },
  joined: { title: "Wardle/brimbo,338-340.Frimble", ...BOOK },
  bike: { title: "City bicycle", ...BICYCLE, price: "100 EUR" },
};

let searcher: Caller;
let publisher: Caller;
const names = new Map<string, string>();

test.before(async () => {
  [searcher, publisher] = [await market.approved(), await market.approved()];
  for (const [name, facts] of Object.entries(CATALOGUE)) names.set(await market.offer(publisher, facts), name);
});

const search = (request: object, extraction: object | null = null): Promise<Answer> =>
  market.call(searcher, "search_offers", { request: { limit: 50, ...request }, extraction });

const found = async (request: object, extraction: object | null = null): Promise<string[]> =>
  (await search(request, extraction)).results.map((result: Answer) => names.get(result.id));

const SOFAS = ["couch", "divano", "ledersofa", "hired", "dollars", "unpriced", "gift", "cleaning"];

for (const query of ["sofa", "couch", "canapé", "settees", "Sofas"]) {
  test(`"${query}" finds every sofa, by any synonym and in any language`, async (t) => {
    t.deepEqual((await found({ query })).filter((name) => SOFAS.includes(name)).sort(), SOFAS.toSorted());
  });
}

test("several words can name one thing", async (t) => {
  t.is((await found({ query: "washing machine" }))[0], "washer");
  t.is((await found({ query: "lavadora" }))[0], "washer");
});

test("a broader term finds narrower ones, and a narrower term ranks exact matches first", async (t) => {
  t.deepEqual((await found({ query: "bicycle" })).slice(0, 2).sort(), ["bike", "ebike"]);
  t.is((await found({ query: "electric bike" }))[0], "ebike");
});

test("a brand name is found by the kind of thing that it names", async (t) => {
  t.true((await found({ query: "guitar" })).includes("telecaster"));
  t.deepEqual(await found({ query: "telecaster" }), ["telecaster"]);
});

test("an offer in a category for one kind of thing is found by the name of that thing", async (t) => {
  t.true((await found({ query: "mobile phone" })).includes("unnamed phone"));
});

for (const query of ["wardle", "brimbo", "340", "frimble", "wardle/frimble"]) {
  test(`words that a mark joins are found one by one: ${query}`, async (t) => {
    t.deepEqual(await found({ query }), ["joined"]);
  });
}

test("words that say what the thing is for affect only the ranking", async (t) => {
  const extraction = {
    ...READ,
    words: [{ said: "bicycle" }, { said: "for", is_modifier: true }, { said: "sofa", is_modifier: true }],
    offer_kind: null,
    domain: null,
    category: null,
  };
  const results = await found({ query: "bicycle for sofa" }, extraction);
  t.deepEqual(results.slice(0, 2).sort(), ["bike", "ebike"]);
});

test("a town near a city is found by the city and by its own name", async (t) => {
  const places = [{ text: "Stockport", city: "Manchester", country: "GB" }];
  const results = await found(
    { query: "guitar" },
    { ...READ, words: [{ said: "guitar" }], offer_kind: null, domain: null, category: null, places },
  );
  t.deepEqual(results, ["telecaster"]);
});

test("a misspelt word is corrected, and a notice says so", async (t) => {
  t.deepEqual(await found({ query: "bicylce" }), []);
  const extraction = {
    words: [{ said: "bicylce", meant: "bicycle" }],
    language: null,
    corrections: ["bicycle"],
    offer_kind: null,
    price: null,
    places: [],
  };
  t.true((await found({ query: "bicylce" }, extraction)).includes("bike"));
  const { notices } = await search({ query: "bicylce" }, extraction);
  t.deepEqual(column(notices, "code"), ["spelling"]);
  t.regex(notices[0].summary, /bicycle/);
});

const READ = {
  words: [{ said: "sofa" }],
  language: "en",
  corrections: [],
  offer_kind: { value: "sale", certain: true },
  domain: "home_garden",
  category: "furniture",
  price: null,
  places: [],
};
const PRICE = { min: null, max: 210, currency: "EUR", period: null };
const IN_BERLIN = [{ text: "Berlin", city: "Berlin", country: "DE" }];

test("a certain offer kind in the query is a filter, and a guessed one affects only the ranking", async (t) => {
  const surely = await found({ query: "sofa" }, READ);
  t.false(surely.includes("hired") || surely.includes("cleaning"));
  const guessed = await found({ query: "sofa" }, { ...READ, offer_kind: { value: "rental", certain: false } });
  t.true(guessed.includes("couch"));
  t.is(guessed[0], "hired");
  t.is(guessed.at(-1), "cleaning", "a service is ranked last");
});

test("a price in the query excludes offers far above it, but not offers with incomparable prices", async (t) => {
  const within = await found({ query: "sofa" }, { ...READ, price: PRICE });
  t.deepEqual(within.toSorted(), ["couch", "dollars", "gift", "unpriced"]);
  const little = await found({ query: "sofa" }, { ...READ, price: { ...PRICE, max: 190 } });
  t.true(little.includes("couch"), "an offer a little above the limit is found");
  t.true(little.indexOf("couch") > little.indexOf("gift"), "it is ranked lower than a gift");
  t.deepEqual(await found({ query: "sofa" }, { ...READ, price: { ...PRICE, max: 0, currency: null } }), ["gift"]);
});

test("a place in the query excludes offers elsewhere, but not offers whose place is unknown", async (t) => {
  const there = await found({ query: "sofa in Berlin" }, { ...READ, places: IN_BERLIN });
  t.deepEqual(there.toSorted(), ["couch", "dollars", "gift", "unpriced"]);
  t.deepEqual(there.slice(0, 2).toSorted(), ["couch", "gift"]);
  const either = [...IN_BERLIN, { text: "Rome", city: "Roma", country: "IT" }];
  t.true((await found({ query: "sofa" }, { ...READ, places: either })).includes("divano"));
});

test("what a query excludes is not found, in any language and inside of compounds", async (t) => {
  const without = (exclude: string[]) => found({ query: "sofa" }, { ...READ, exclude });
  t.deepEqual((await without(["leather"])).toSorted(), ["couch", "dollars", "gift", "unpriced"]);
  t.deepEqual((await without(["Leder", "pelle"])).toSorted(), ["couch", "dollars", "gift", "unpriced"]);
  const phones = (exclude: string[]) =>
    found(
      { query: "phone" },
      { ...READ, words: [{ said: "phone" }], offer_kind: null, domain: "electronics", category: "phones", exclude },
    );
  t.true((await phones([])).includes("for parts"));
  t.deepEqual(await phones(["broken"]), ["unnamed phone"]);
  // A name of the wanted thing itself excludes what is called so, and not all that other names find.
  t.deepEqual(
    (await without(["couch"])).toSorted(),
    SOFAS.filter((name) => name !== "couch" && name !== "hired" && name !== "cleaning").toSorted(),
  );
  const all = await found({ query: "-sofa" }, { ...READ, words: [], asked: "", exclude: ["sofa"] });
  t.true(all.length > 0 && !all.some((name) => SOFAS.includes(name)));
});

test("a bound without a currency holds in that of the filter, of the setting, or of most offers", async (t) => {
  const price = { min: 190, max: 260, currency: null, period: null, no_currency: true };
  const named = async (filters: object) =>
    (await search({ query: "sofa", filters }, { ...READ, price })).notices.find(({ code }: Answer) =>
      /read/.test(code),
    );
  t.deepEqual((await found({ query: "sofa" }, { ...READ, price })).toSorted(), ["couch", "divano"]);
  t.regex((await named({})).summary, /from 190 up to 260 EUR \(the query names no currency\)/);
  t.regex((await named({ price: { currency: "USD" } })).summary, /up to 260 USD/);
  await market.sql("update market.setting set value = '\"GBP\"' where name = 'currency'");
  t.regex((await named({})).summary, /up to 260 GBP/);
  await market.sql("update market.setting set value = 'null' where name = 'currency'");
});

test("a place or a currency in which nothing is offered is named", async (t) => {
  const codes = async (request: object, extraction: object | null = null) =>
    column((await search(request, extraction)).notices, "code");
  t.deepEqual(await codes({ query: "sofa", filters: { location: "Atlantis" } }), ["place_unknown"]);
  t.deepEqual(await codes({ query: "sofa" }, { ...READ, offer_kind: null, unknown_place: "Mordor" }), [
    "place_unknown",
  ]);
  t.deepEqual(await codes({ query: "sofa", filters: { location: "10115" } }), ["postal_code"]);
  t.deepEqual(await codes({ query: "telecaster", filters: { price: { currency: "CHF" } } }), ["currency_unused"]);
  t.deepEqual(await codes({ query: "zeppelin", filters: { location: "Berlin" } }), []);
});

test("an explicit filter takes precedence over the extraction", async (t) => {
  const all = { ...READ, price: PRICE, places: IN_BERLIN };
  t.deepEqual(await found({ query: "sofa", filters: { offer_kind: "rental" } }, all), ["hired"]);
  t.deepEqual(await found({ query: "sofa", filters: { location: "Hamburg" } }, { ...READ, places: IN_BERLIN }), [
    "ledersofa",
  ]);
  t.deepEqual(await found({ query: "sofa", filters: { price: { min: 500 } } }, { ...READ, price: PRICE }), [
    "ledersofa",
  ]);
});

test("the classification and the notices say how the query was understood", async (t) => {
  const { classification, notices } = await search({ query: "sofa" }, { ...READ, price: PRICE, places: IN_BERLIN });
  t.deepEqual(classification, { domain: "home_garden", category: "furniture", kind: "sale" });
  t.deepEqual(column(notices, "code"), ["read_from_query"]);
  t.regex(notices[0].summary, /only things for sale, in Berlin, up to 210 EUR/);
  const filtered = await search({ query: "sofa", filters: { offer_kind: "rental", domain: "electronics" } }, READ);
  t.deepEqual(
    [filtered.classification, filtered.notices],
    [{ domain: "electronics", category: null, kind: "rental" }, []],
  );
  t.deepEqual((await search({ query: "zzzyx" })).classification, null);
});

for (const location of ["Europe", "Europa", "DACH"]) {
  test(`the region ${location} is accepted as a place`, async (t) => {
    const there = await found({ query: "sofa", filters: { location } });
    t.true(there.includes("couch") && there.includes("ledersofa"));
    t.is(there.includes("divano"), location !== "DACH");
    t.false(there.includes("dollars"));
  });
}

test("incomplete and unusual extractions are accepted", async (t) => {
  for (const extraction of [
    null,
    {},
    { words: [] },
    { words: null, places: null, price: {}, offer_kind: {} },
    { price: { max: 1e12 } },
  ]) {
    t.true(Array.isArray(await found({ query: "sofa" }, extraction)), JSON.stringify(extraction));
  }
});

test("a cursor gives the same page while others publish, by words, by vector and by both", async (t) => {
  const own = await openMarket(t);
  const [reader, writer] = [await own.approved(), await own.approved()];
  for (let n = 0; n < 12; n++)
    await own.offer(writer, {
      title: `Grey sofa ${n}`,
      vector: vectorOf("sofa", { name: `other ${n}`, share: 0.05 * n }),
    });
  const page = (cursor: string | null): Promise<Answer> =>
    own.call(reader, "search_offers", {
      request: { query: "grey sofa", limit: 4, ...(cursor === null ? {} : { cursor }) },
      embedding: vectorOf("sofa"),
      model: "builtin-meaning-1",
    });
  const ids = ({ results }: Answer) => results.map((result: Answer) => [result.id, result.rank, result.score]);
  const first = await page(null);
  const before = await page(first.page.next_cursor);
  for (let n = 0; n < 5; n++) await own.offer(writer, { title: "Grey sofa", vector: vectorOf("sofa") });
  const after = await page(first.page.next_cursor);
  t.deepEqual(ids(after), ids(before));
  t.is(before.results.length, 4);
  t.notDeepEqual(ids(await page(null)), ids(first), "a new search finds new offers");
});

test("of thousands of offers with the same words the newest are ranked, and a filter finds the oldest", async (t) => {
  const own = await openMarket(t);
  const reader = await own.approved();
  await own.sql(
    // Triggers are switched off, because each row would enqueue a job.
    `with off as materialized (select set_config('session_replication_role', 'replica', true))
     insert into market.offer (account_id, status, language, text, title, domain, category, offer_kind, published_at, price_thousandths, price_currency)
     select $1, 'published', 'en', 'In good condition', 'Grey sofa ' || n, 'home_garden', 'furniture', 'sale',
       now() - make_interval(mins => n), n * 1000, 'EUR'
     from off, generate_series(1, 3000) as n`,
    [reader.account],
  );
  await own.sql("analyze market.offer");
  const titles = async (request: object): Promise<string[]> =>
    (await own.call(reader, "search_offers", { request })).results.map(({ document }: Answer) => document.title);
  t.true(
    (await titles({ query: "grey sofa in good condition", limit: 50 })).every(
      (title) => Number(title.slice(10)) <= 400,
    ),
  );
  t.deepEqual(await titles({ query: "grey sofa 2999" }).then(([first]) => first), "Grey sofa 2999");
  t.deepEqual(await titles({ query: "grey sofa", filters: { price: { min: 2999 } }, sort: "price_asc" }), [
    "Grey sofa 2999",
    "Grey sofa 3000",
  ]);
});

test("a changed offer is found by what it names now, and not by what it named before", async (t) => {
  const own = await openMarket(t);
  const [reader, writer] = [await own.approved(), await own.approved()];
  const id = await own.offer(writer, { title: "Blue couch" });
  const sofas = async () =>
    (await own.call(reader, "search_offers", { request: { query: "divano" } })).results.map(
      (result: Answer) => result.id,
    );
  t.deepEqual(await sofas(), [id]);
  await own.change(writer, id, { title: "Old phone", domain: "electronics", category: "phones" });
  t.deepEqual(await sofas(), []);
});
