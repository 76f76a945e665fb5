import test from "ava";
import { allowed } from "../support/busy.ts";
import { type Answer, type Caller, column, type OfferFacts, openMarket, refusal, refused, vectorOf } from "./market.ts";
import { market } from "./one_market.ts";

/**
 * Searching offers: filters exclude offers, and everything else ranks them.
 *
 *   catalogue  offers by a name that only the tests use, published by two accounts and by the searcher
 *   paging     a separate market with forty offers, to which tests may add
 */

const PHONE = { domain: "electronics", category: "phones" };
const FLAT = { domain: "real_estate", category: "apartments", kind: "rental", period: "month" };
const CONSOLE = { domain: "electronics", category: "gaming", kind: "rental", period: "day" };
const BOOK = { domain: "hobbies", category: "books", place: "Rio de Janeiro", country: "BR" };

const CATALOGUE: Record<string, OfferFacts> = {
  phone: { title: "Old phone", ...PHONE, price: "100 EUR", images: ["https://x.example/1.png"] },
  tv: { title: "Flat television", domain: "electronics", category: "tv", price: "300 EUR", place: "Hamburg" },
  console: { title: "Game console", ...CONSOLE, price: "10 EUR" },
  sofa: {
    title: "Graue Sofas",
    language: "de",
    price: "180 EUR",
    place: "Köln",
    country: "DE",
    words: "Abholung durch Selbstabholer",
  },
  chair: { title: "Wooden chair", price: "0 EUR" },
  lamp: { title: "Paper lamp", category: "decor", price: "9000 JPY", place: "Tokyo" },
  flat: { title: "Sunny flat", ...FLAT, price: "900 EUR" },
  cleaning: { title: "House cleaning", domain: "services", category: "cleaning", kind: "service_offer", price: null },
  book: { title: "Café guide", ...BOOK, price: "5 EUR" },
  riddle: { title: "Something", domain: null, category: null, kind: null, price: null, place: null },
  own: { title: "My phone", ...PHONE, price: "50 EUR", place: "Wien" },
  cloth: { title: "Linen", category: "decor", price: "8 EUR", unit: "meter", place: "Wien" },
  archived: { title: "Archived phone", ...PHONE },
};
/** A word in the text of every offer. */
const EVERYWHERE = "write";
const ALL = Object.keys(CATALOGUE).filter((name) => name !== "archived");

let paging: Awaited<ReturnType<typeof openMarket>>;
let searcher: Caller;
let pager: Caller;
let publisher: Caller;
const names = new Map<string, string>();
const ids = new Map<string, string>();

const setAside = (of: typeof market, assignments: string, id: string | undefined) =>
  of.sql(
    `with off as materialized (select set_config('session_replication_role', 'replica', true))
     update market.offer set ${assignments} from off where id = $1`,
    [id],
  );

test.before(async () => {
  searcher = await market.approved();
  const [verified, other] = [await market.approved(), await market.approved()];
  for (const [name, facts] of Object.entries(CATALOGUE)) {
    const publisher = name === "own" ? searcher : ["phone", "sofa", "lamp"].includes(name) ? verified : other;
    const id = await market.offer(publisher, facts);
    names.set(id, name);
    ids.set(name, id);
  }
  await market.sql`insert into market.proved_method (account_id, method, subject_hash)
    values (${verified.account}, 'email', sha256('x'))`;
  await market.call(other, "archive_offer", { id: ids.get("archived") ?? "" });
  await setAside(market, "reviewed = true", ids.get("sofa"));
  await setAside(market, "published_at = '2026-01-15T23:59:59Z'", ids.get("book"));
  await setAside(market, "published_at = '2026-01-16T00:00:00Z'", ids.get("lamp"));

  paging = await openMarket();
  pager = await paging.approved();
  publisher = await paging.approved();
  // Several offers have the same time and price, so that the id decides their order.
  await paging.sql`insert into market.offer (account_id, status, text, title, location_text, published_at,
    price_thousandths, price_currency)
    select ${publisher.account}, 'published', 'Grey sofa in Berlin', 'Grey sofa ' || n, 'Berlin', now() -
      make_interval(mins => n / 3),
      case when n % 8 > 0 then n / 4 * 1000 end, 'EUR'
    from generate_series(1, 40) as n`;
});

test.after.always(async () => {
  await paging?.close();
});

const search = (
  request: object,
  embedding: string | null = null,
  model: string | null = null,
  extraction: object | null = null,
): Promise<Answer> => market.call(searcher, "search_offers", { request, extraction, embedding, model });

const found = async (request: object, embedding?: string, model?: string): Promise<string[]> =>
  (await search({ limit: 50, ...request }, embedding, model)).results.map((result: Answer) => names.get(result.id));

const without = (...left: string[]) => ALL.filter((name) => !left.includes(name));

const FILTERS: readonly [filters: Record<string, unknown>, names: string[]][] = [
  [{ domain: "electronics" }, ["phone", "tv", "console", "own"]],
  [{ domain: ["electronics", "services"] }, ["phone", "tv", "console", "own", "cleaning"]],
  [{ category: "phones" }, ["phone", "own"]],
  [{ category: ["phones", "decor"] }, ["phone", "own", "lamp", "cloth"]],
  [{ offer_kind: "rental" }, ["console", "flat"]],
  [{ offer_kind: ["rental", "service_offer"] }, ["console", "flat", "cleaning"]],
  [{ domain: "electronics", offer_kind: "sale" }, ["phone", "tv", "own"]],
  [{ domain: "electronics", category: "apartments" }, []],
  [{ price: { min: 180 } }, ["tv", "sofa", "lamp", "flat"]],
  [{ price: { max: 50 } }, ["console", "chair", "book", "own"]],
  [{ price: { min: 5, max: 100 } }, ["phone", "console", "book", "own"]],
  [{ price: { max: 99.99 } }, ["console", "chair", "book", "own"]],
  [{ price: { currency: "JPY" } }, ["lamp", "chair"]],
  [{ price: { period: "month" } }, ["flat"]],
  [{ price: { max: 1000, currency: "EUR", period: "day" } }, ["console"]],
  [{ location: "Köln" }, ["sofa"]],
  [{ location: "koln" }, ["sofa"]],
  [{ location: "BERLIN" }, ["phone", "console", "chair", "flat", "cleaning"]],
  [{ location: "Berlin Köln" }, []],
  [{ location: "in Berlin" }, ["phone", "console", "chair", "flat", "cleaning"]],
  [{ location: "Köln, Deutschland" }, ["sofa"]],
  [{ location: "Germany" }, ["sofa"]],
  [{ location: "DE" }, ["sofa", "book"]],
  [{ location: "Rio de Janeiro" }, ["book"]],
  [{ location: "Brazil" }, ["book"]],
  [{ location: "in" }, []],
  [{ location: "?!" }, []],
  [{ location: "Atlantis" }, []],
  [{ posted_since: "2026-01-16" }, without("book")],
  [{ posted_since: "2026-01-15" }, ALL],
  [{ reviewed: true }, ["sofa"]],
  [{ reviewed: false }, without("sofa")],
  [{ has_images: true }, ["phone"]],
  [{ has_images: false }, without("phone")],
  [{ verified_publisher: true }, ["phone", "sofa", "lamp"]],
  [{ verified_publisher: false }, without("phone", "sofa", "lamp")],
  [{ exclude_own: true }, without("own")],
  [{ exclude_own: false }, ALL],
  [
    {
      category: "phones",
      exclude_own: true,
      verified_publisher: true,
      price: { max: 100 },
      location: "berlin",
      has_images: true,
    },
    ["phone"],
  ],
  [{ category: "phones", exclude_own: true, verified_publisher: true, price: { max: 99 } }, []],
];
for (const [filters, expected] of FILTERS) {
  test(`the filters ${JSON.stringify(filters)} let through ${expected.length}`, async (t) => {
    t.deepEqual((await found({ filters })).sort(), expected.toSorted());
    t.deepEqual((await found({ query: EVERYWHERE, filters })).sort(), expected.toSorted());
  });
}

test("an unknown value of a filter is refused, and the error lists allowed values, in bounded size", async (t) => {
  const { status, extra } = await refusal(
    search({ filters: { domain: ["electronics", "spaceships"], offer_kind: "theft" } }),
  );
  t.is(status, 400);
  t.deepEqual(extra.errors.map((error: Answer) => error.pointer).sort(), ["/filters/domain", "/filters/offer_kind"]);
  t.regex(extra.errors[0].detail, /Allowed: /);
  const many = Array.from({ length: 10_000 }, (_, n) => `no_${n}`);
  t.true(JSON.stringify(await refusal(search({ filters: { category: many } }))).length < 20_000);
});

test("a search needs a query or a filter", async (t) => {
  for (const request of [{}, { query: "  " }, { filters: {} }, { query: "", sort: "newest" }]) {
    t.is(await refused(search(request)), "400 bad_request");
  }
});

const SORTS: readonly [sort: string, filters: object, names: string[]][] = [
  ["price_asc", { price: { currency: "EUR" } }, ["chair", "book", "console", "own", "phone", "sofa", "tv", "flat"]],
  ["price_desc", { price: { currency: "EUR" } }, ["flat", "tv", "sofa", "phone", "own", "console", "book", "chair"]],
  ["price_asc", { location: "Berlin" }, ["chair", "console", "phone", "flat"]],
  ["price_desc", { location: "Berlin" }, ["flat", "phone", "console", "chair"]],
  ["price_desc", { domain: "electronics", price: { max: 299 } }, ["phone", "own", "console"]],
  [
    "newest",
    { domain: ["hobbies", "services", "home_garden"] },
    ["cloth", "cleaning", "chair", "sofa", "lamp", "book"],
  ],
];
for (const [sort, filters, expected] of SORTS) {
  test(`sorted by ${sort}: ${expected.join(", ")}`, async (t) => {
    t.deepEqual(await found({ filters, sort }), expected);
    // With a query, its words select the offers, and the sort still orders them.
    t.deepEqual(await found({ query: EVERYWHERE, filters, sort }), expected);
  });
}

const WORDS: readonly [query: string, first: string[]][] = [
  ["phone", ["own", "phone"]],
  ["PHONES", ["own", "phone"]],
  ["old phones", ["phone"]],
  ["cafe", ["book"]],
  ["CAFÉS", ["book"]],
  ["graues sofa", ["sofa"]],
  ["Selbstabholern", ["sofa"]],
  ["wooden chairs", ["chair"]],
  ["the lamp", ["lamp"]],
  ["cleaned houses", ["cleaning"]],
];
for (const [query, first] of WORDS) {
  test(`"${query}" finds ${first.join(" and ")} first`, async (t) => {
    t.deepEqual((await found({ query })).slice(0, first.length).sort(), first);
  });
}

/** A title, a query that finds it, and one that finds it not. */
const SCRIPTS: readonly [language: string, title: string, query: string, other: string][] = [
  ["ja", "中古の冷蔵庫を売ります", "冷蔵庫", "庫冷"],
  ["zh", "出售双人床", "床", "人双"],
  ["ko", "세탁기를 팝니다", "세탁기", "기탁세"],
  ["th", "ขายตู้เย็นมือสอง", "ตู้เย็น", "กาแฟ"],
  ["pl", "Sprzedam wiertarkę udarową", "wiertarki", "wiersz"],
  ["cs", "Prodám křečka", "křečky", "okno"],
  ["uk", "Продам акваріум", "акваріума", "акварель"],
];

test("a query finds the words of each script, and no others", async (t) => {
  const offers = new Map<string, string>();
  for (const [language, title] of SCRIPTS)
    offers.set(await paging.offer(publisher, { title, language, place: "Hull" }), title);
  const results = async (query: string): Promise<(string | undefined)[]> => {
    const body = { request: { query, limit: 5 }, extraction: null, embedding: null, model: null };
    const answer: Answer = await paging.call(pager, "search_offers", body);
    return answer.results.map(({ id }: Answer) => offers.get(id));
  };
  for (const [, title, query, other] of SCRIPTS) {
    t.deepEqual((await results(query)).slice(0, 1), [title], query);
    t.false((await results(other)).includes(title), other);
  }
});

test("in a market without offers no notice is about a place that nobody named", async (t) => {
  const notices = await paging.value`select search.missing_notices('{}', '{}', true, gen_random_uuid())`;
  t.deepEqual(notices, []);
});

test("an offer that is not live is found by no query or filter", async (t) => {
  const everything = [await found({ query: "archived phone" }), await found({ filters: { category: "phones" } })];
  for (const list of everything) {
    t.true(list.length > 0);
    t.false(list.includes("archived"));
  }
});

test("a query of stop words alone is accepted", async (t) => {
  t.true(Array.isArray(await found({ query: "in the of" })));
  t.deepEqual((await search({ query: "zzzyx" })).next[0].path, "/v1/asks");
});

const HOSTILE = [
  "& | ! ( ) : * < > ' \\ \\\\ '' \" <-> @@",
  "phone:* & !sofa | (lamp",
  "'phone' \\' or 1=1 --",
  "a'b\\c'd",
  "%_%",
  "\u0001\u202e phone",
  "👍🏽 phone",
  "http://example.com/a'b?c=d&e=f",
  "foo@bar.example /usr/local/bin -3.14e10 1.2.3.4",
  "x".repeat(500),
  "🛋".repeat(250),
  "é".repeat(300),
];
for (const query of HOSTILE) {
  test(`operators and odd characters are words or ignored: ${JSON.stringify(query).slice(0, 40)}`, async (t) => {
    const answer = await search({ query });
    t.is(answer.query, query);
    t.true(answer.results.length <= 10);
  });
}

test("a query of five hundred stop words and a filter of thousands of values take bounded time", async (t) => {
  const stopWords = "the of and in der die das und le la les de el los en il di che het een van o os em".split(" ");
  const queries = [
    Array.from({ length: 500 }, (_, n) => stopWords[n % stopWords.length]).join(" "),
    Array.from({ length: 2000 }, (_, n) => `word${n}`).join(" "),
  ];
  const categories = Array.from({ length: 10_000 }, (_, n) => (n % 2 ? "phones" : "tv"));
  for (const request of [
    ...queries.map((query) => ({ query })),
    { query: "phone", filters: { category: categories } },
  ]) {
    const started = performance.now();
    await search(request);
    const took = performance.now() - started;
    // A search takes milliseconds. The login role's statement timeout is five seconds.
    t.true(took < allowed(3000), `${Math.round(took)} ms`);
  }
});

const model = "builtin-meaning-1";

test.serial("a vector finds near offers, best first; one of another model or of a wrong size none", async (t) => {
  const query = "qqq";
  await market.embed("offer", ids.get("lamp") ?? "", vectorOf("light"));
  await market.embed("offer", ids.get("chair") ?? "", vectorOf("light", { name: "seat", share: 0.4 }));
  t.deepEqual(await found({ query }, vectorOf("light"), model), ["lamp", "chair"]);
  t.deepEqual(await found({ query }, vectorOf("seat"), model), ["chair"]);
  t.deepEqual(await found({ query }, vectorOf("light"), "text-embedding-3-small"), []);
  t.deepEqual(await found({ query }, vectorOf("another thing"), model), []);
  t.deepEqual(await found({ query, filters: { category: "decor" } }, vectorOf("light"), model), ["lamp"]);

  const values = JSON.parse(vectorOf("light")) as number[];
  const wrong: Record<string, string> = {
    short: JSON.stringify(values.slice(1)),
    long: JSON.stringify([...values, 0]),
    zero: JSON.stringify(values.map(() => 0)),
    huge: JSON.stringify(values.map((value) => value * 3)),
    infinite: JSON.stringify(values).replace(/^\[[^,]+/, "[Infinity"),
    nothing: JSON.stringify(values).replace(/^\[[^,]+/, "[NaN"),
    words: "[a, b]",
    empty: "",
  };
  for (const [what, vector] of Object.entries(wrong)) {
    t.deepEqual(await found({ query }, vector, model), [], `asked with: ${what}`);
    t.false(await market.work("store_offer_embedding", ids.get("phone") ?? "", vector, model), `stored: ${what}`);
  }
  t.deepEqual(await market.sql`select from market.offer_embedding where offer_id = ${ids.get("phone")}`, []);
  t.true((await found({ query: "old phone" })).includes("phone"), "still found by its words");
});

test.serial("after a change of the model, vectors of the former model find nothing", async (t) => {
  await market.embed("offer", ids.get("lamp") ?? "", vectorOf("light"));
  t.deepEqual(
    await found({ query: "qqq" }, vectorOf("light"), model),
    ["lamp"].concat((await found({ query: "qqq" }, vectorOf("light"), model)).slice(1)),
  );
  await market.work("use_embedding_model", "text-embedding-3-small");
  try {
    t.deepEqual(await found({ query: "qqq" }, vectorOf("light"), model), []);
    t.deepEqual(await found({ query: "qqq" }, vectorOf("light"), "text-embedding-3-small"), []);
  } finally {
    await market.work("use_embedding_model", model);
  }
});

test.serial("scores are from 0 to 1, best first, and highest for what is near by words and vector", async (t) => {
  await market.embed("offer", ids.get("lamp") ?? "", vectorOf("light"));
  const { results } = await search({ query: "paper lamp phone chair", limit: 50 }, vectorOf("light"), model);
  const scores: number[] = results.map((result: Answer) => result.score);
  t.true(scores.length >= 3);
  t.true(scores.every((score) => score > 0 && score <= 1));
  t.deepEqual(
    scores,
    scores.toSorted((one, other) => other - one),
  );
  t.is(names.get(results[0].id), "lamp");
  t.deepEqual(
    column(results, "rank"),
    results.map((_: Answer, place: number) => place + 1),
  );
});

test.serial("an offer whose account was deleted is found, and has no publisher", async (t) => {
  const leaving = await market.approved();
  const id = await market.offer(leaving, {
    title: "Abandoned piano",
    domain: "hobbies",
    category: "music_instruments",
  });
  const before = (await search({ query: "piano" })).results[0];
  t.deepEqual([before.id, before.publisher.offers], [id, { active: 1, lifetime: 1, removed: 0 }]);
  await market.sql`delete from market.account where id = ${leaving.account}`;
  const after = (await search({ query: "piano" })).results[0];
  t.deepEqual([after.id, after.publisher], [id, undefined]);
  await market.sql`delete from market.offer where id = ${id}`;
});

test("a compact response leaves out only the metadata", async (t) => {
  const full = (await search({ query: "old phone", limit: 1 })).results[0];
  const compact = (await search({ query: "old phone", limit: 1, detail: "compact" })).results[0];
  t.truthy(full.metadata);
  t.deepEqual(compact, { ...full, metadata: null });
});

/** All pages of a search. `between` runs after each page. */
const pages = async (request: object, between: () => Promise<unknown> = async () => {}) => {
  const seen: string[] = [];
  const ranks: number[] = [];
  let cursor: string | null = null;
  do {
    const { results, page }: Answer = await paging.call(pager, "search_offers", {
      request: { ...request, ...(cursor === null ? {} : { cursor }) },
    });
    seen.push(...results.map((result: Answer) => result.id));
    ranks.push(...results.map((result: Answer) => result.rank));
    if (results.length === 0 || page.has_more !== (page.next_cursor !== null)) throw new Error("a page without sense");
    cursor = page.next_cursor;
    await between();
  } while (cursor !== null);
  return { seen, ranks };
};

const PAGED: readonly [what: string, request: object, priced: boolean][] = [
  ["browsed, newest", { filters: { exclude_own: true } }, false],
  ["browsed, cheapest", { filters: { exclude_own: true }, sort: "price_asc" }, true],
  ["browsed, dearest", { filters: { exclude_own: true }, sort: "price_desc" }, true],
  ["browsed in a place, newest", { filters: { location: "Berlin" } }, false],
  ["browsed in a place, cheapest", { filters: { location: "Berlin" }, sort: "price_asc" }, true],
  ["browsed in a place, dearest", { filters: { location: "Berlin" }, sort: "price_desc" }, true],
  ["by words", { query: "grey sofa" }, false],
  ["by words, newest", { query: "grey sofa", sort: "newest" }, false],
  ["by words, cheapest", { query: "grey sofa", sort: "price_asc" }, true],
];
for (const [what, request, priced] of PAGED) {
  test.serial(`paging ${what} returns each offer once, also while others are published`, async (t) => {
    const all = await paging.sql(
      `select id from market.offer where status = 'published' ${priced ? "and price_thousandths is not null" : ""}`,
    );
    const publish = () =>
      paging.sql`insert into market.offer (account_id, status, text, title, location_text, published_at,
        price_thousandths, price_currency)
        values (${publisher.account}, 'published', 'Grey sofa in Berlin', 'Grey sofa', 'Berlin', now(), 3000, 'EUR')`;
    const { seen, ranks } = await pages({ ...request, limit: 7 }, publish);
    t.deepEqual(seen.toSorted(), all.map((row) => row.id).sort());
    t.deepEqual(
      ranks,
      seen.map((_, place) => place + 1),
    );
  });
}

test.serial("pages of three and of fifty offers have the same order", async (t) => {
  const request = { filters: { exclude_own: true }, sort: "price_asc" };
  t.deepEqual((await pages({ ...request, limit: 3 })).seen, (await pages({ ...request, limit: 50 })).seen);
});

test("a cursor is accepted only by the search that it came from", async (t) => {
  const request = { query: "phone", limit: 1 };
  const { page } = await search(request);
  t.true(page.has_more);
  t.is((await search({ ...request, cursor: page.next_cursor, detail: "compact" })).results[0].rank, 2);
  for (const other of [
    { query: "lamp", limit: 1 },
    { ...request, sort: "newest" },
    { ...request, filters: { domain: "electronics" } },
    { ...request, query: "phone " },
  ]) {
    t.is(await refused(search({ ...other, cursor: page.next_cursor })), "400 bad_request", JSON.stringify(other));
  }
  for (const made of ["", "x", "////", Buffer.from("{}").toString("base64url"), `${page.next_cursor}x`]) {
    t.is(await refused(search({ ...request, cursor: made })), "400 bad_request", made);
  }
  const held = JSON.parse(Buffer.from(page.next_cursor, "base64url").toString());
  for (const broken of [{ id: "x" }, { rank: "x" }, { as_of: "x" }, { price: "x" }, { time: "x" }]) {
    const cursor = Buffer.from(JSON.stringify({ ...held, ...broken })).toString("base64url");
    t.is(await refused(search({ ...request, cursor })), "400 bad_request", JSON.stringify(broken));
  }
});
