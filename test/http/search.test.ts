import test from "ava";
import { type Agent, type Body, eventually } from "../support/market.ts";
import { type Market, openOwnMarket, settled, telling } from "./contract.ts";

/** Search: which offers are found, by which filters, in which order, page by page. */

/** The texts of all offers in this market, by name. */
const TEXTS = {
  sofa: "Grey three-seat sofa for sale. 180 EUR, pick up in Berlin. Write to lena@example.com",
  table: "Oak dining table for sale. 320 EUR, pick up in Hamburg. Write to lena@example.com",
  bicycle: "City bicycle for sale. 250 EUR, in Berlin. Write to lena@example.com",
  dollars: "Mountain bicycle for sale. 200 USD, in Berlin. Write to lena@example.com",
  flat: "Furnished apartment for rent. 900 EUR per month, in Hamburg. Write to lena@example.com",
  lessons: "Piano lessons for beginners. 30 EUR per hour, in Berlin. Write to lena@example.com",
  books: "Old books for sale, in Munich. Write to lena@example.com",
};
type Name = keyof typeof TEXTS;
const ALL = Object.keys(TEXTS) as Name[];

let market: Market;
let owner: Agent;
let seeker: Agent;
const ids = new Map<string, Name>();

test.before(async () => {
  market = await openOwnMarket();
  owner = await market.agent("Owner");
  seeker = await market.agent("Seeker");
  for (const name of ALL) {
    // The seeker publishes the lessons, so that one offer belongs to the seeker.
    const agent = name === "lessons" ? seeker : owner;
    const images = name === "bicycle" ? ["https://images.example/bicycle.jpg"] : [];
    const answer = await agent.call("POST", "/v1/offers", { text: TEXTS[name], images });
    if (answer.status !== 201) throw new Error(answer.text);
    ids.set(answer.body.offer_id, name);
  }
  const idOf = (name: Name) => [...ids].find(([, other]) => other === name)?.[0];
  // A trigger protects published_at, so triggers are switched off here.
  await market.sql("set session_replication_role = replica");
  await market.sql("update market.offer set published_at = now() - interval '3 days' where id = $1", [idOf("books")]);
  await market.sql("set session_replication_role = default");
  await market.sql("update market.offer set reviewed = true where id = $1", [idOf("table")]);
  await market.sql(
    `insert into market.proved_method (account_id, method, subject_hash)
     select account_id, 'email', sha256('x') from market.offer where id = $1`,
    [idOf("lessons")],
  );
  // Waits until the worker has made every vector, because searches use them.
  await eventually(
    () => market.sql("select count(*)::integer as count from market.offer_embedding"),
    ([row]) => row.count === ALL.length,
  );
});
test.after.always(() => market?.stop());

const search = (body: Body) => seeker.call("POST", "/v1/offers/search", body);
const namesOf = (body: Body): (Name | undefined)[] => body.results.map(({ id }: Body) => ids.get(id));
const except = (...names: Name[]): Name[] => ALL.filter((name) => !names.includes(name));

/** The names of the offers that a search finds, sorted. */
const found = async (body: Body): Promise<(Name | undefined)[]> =>
  namesOf((await search({ limit: 50, ...body })).body).toSorted();

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
              description: TEXTS.sofa,
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
            },
            content: {
              preview: {
                headline: "Grey three-seat sofa",
                snippet: TEXTS.sofa,
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
              offers: { active: 6, lifetime: 6, removed: 0 },
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

test("a search without results says to create an ask", async (t) => {
  const { status, body } = await search({ filters: { domain: "fashion" } });
  t.deepEqual(
    { status, body },
    {
      status: 200,
      body: {
        type: "results",
        query: "",
        classification: { domain: "fashion", category: null, kind: null },
        results: [],
        page: { next_cursor: null, has_more: false },
        notices: [],
        next: [
          {
            summary: "Nothing is offered yet. State what the person wants as an ask, and read its matches later.",
            method: "POST",
            path: "/v1/asks",
          },
        ],
      },
    },
  );
});

const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const FILTERS: [filters: Body, names: Name[]][] = [
  [{ domain: "home_garden" }, ["sofa", "table"]],
  [{ domain: ["home_garden", "vehicles"] }, ["sofa", "table", "bicycle", "dollars"]],
  [{ category: "bicycles" }, ["bicycle", "dollars"]],
  [{ category: ["bicycles", "apartments"] }, ["bicycle", "dollars", "flat"]],
  [{ offer_kind: "rental" }, ["flat"]],
  [{ offer_kind: ["rental", "service_offer"] }, ["flat", "lessons"]],
  [{ domain: "vehicles", offer_kind: "rental" }, []],
  [{ price: { max: 200, currency: "EUR" } }, ["sofa", "lessons"]],
  [{ price: { min: 250, max: 320, currency: "EUR" } }, ["table", "bicycle"]],
  [{ price: { min: 250 } }, ["table", "bicycle", "flat"]],
  [{ price: { currency: "USD" } }, ["dollars"]],
  [{ price: { period: "month" } }, ["flat"]],
  [{ price: { period: "hour", max: 29 } }, []],
  [{ price: {} }, ALL],
  [{ location: "Hamburg" }, ["table", "flat"]],
  [{ location: "hamburg" }, ["table", "flat"]],
  [{ location: "Paris" }, []],
  [{ posted_since: yesterday }, except("books")],
  [{ posted_since: "2000-01-01" }, ALL],
  [{ posted_since: "2999-01-01" }, []],
  [{ reviewed: true }, ["table"]],
  [{ reviewed: false }, except("table")],
  [{ verified_publisher: true }, ["lessons"]],
  [{ verified_publisher: false }, except("lessons")],
  [{ has_images: true }, ["bicycle"]],
  [{ has_images: false }, except("bicycle")],
  [{ exclude_own: true }, except("lessons")],
  [{ exclude_own: false }, ALL],
];
for (const [filters, names] of FILTERS) {
  test(`only offers that pass are results: ${JSON.stringify(filters)}`.replace(yesterday, "yesterday"), async (t) => {
    t.deepEqual(await found({ filters }), names.toSorted());
    const both = await found({ query: "bicycle sofa lessons apartment", filters });
    t.deepEqual(
      both.filter((name) => name && !names.includes(name)),
      [],
    );
  });
}

test("an offer that passes the filters but does not match the query is not a result", async (t) => {
  t.deepEqual(await found({ query: "sofa", filters: { domain: "real_estate" } }), []);
});

const BAD_SEARCHES: [what: string, body: Body, pointers: string[]][] = [
  ["neither query nor filter", {}, ["/query"]],
  ["an empty query", { query: "  " }, ["/query"]],
  ["empty filters", { filters: {} }, ["/query"]],
  ["a query of 501 characters", { query: "🦊".repeat(501) }, ["/query"]],
  ["a limit of 0", { query: "sofa", limit: 0 }, ["/limit"]],
  ["a limit of 51", { query: "sofa", limit: 51 }, ["/limit"]],
  ["a limit that is no integer", { query: "sofa", limit: 1.5 }, ["/limit"]],
  ["an unknown order", { query: "sofa", sort: "cheapest" }, ["/sort"]],
  ["an unknown detail", { query: "sofa", detail: "tiny" }, ["/detail"]],
  ["a currency in words", { query: "sofa", filters: { price: { currency: "euro" } } }, ["/filters/price/currency"]],
  ["a negative price", { query: "sofa", filters: { price: { min: -1 } } }, ["/filters/price/min"]],
  ["an invalid day", { query: "sofa", filters: { posted_since: "2026-02-30" } }, ["/filters/posted_since"]],
  ["an empty place", { query: "sofa", filters: { location: "" } }, ["/filters/location"]],
  ["a filter of no values", { query: "sofa", filters: { domain: [] } }, ["/filters/domain"]],
  [
    "several mistakes",
    { query: 7, limit: "x", filters: { reviewed: "yes" } },
    ["/query", "/filters/reviewed", "/limit"],
  ],
];
for (const [what, body, pointers] of BAD_SEARCHES) {
  test(`a search with ${what} is refused, and the errors point to the members`, async (t) => {
    const answer = await search(body);
    t.deepEqual(
      [answer.status, answer.body.code, answer.body.errors.map(({ pointer }: Body) => pointer)],
      [400, "bad_request", pointers],
    );
  });
}

test("a query may have 500 characters, however many bytes they take", async (t) => {
  t.is((await search({ query: "🦊".repeat(500) })).status, 200);
});

const NEWEST: Name[] = [...except("books").toReversed(), "books"];
const CHEAPEST: Name[] = ["lessons", "sofa", "dollars", "bicycle", "table", "flat"];
for (const [what, body, names] of [
  ["newest", { filters: { reviewed: false }, sort: "newest" }, NEWEST.filter((name) => name !== "table")],
  ["newest, by a filter alone", { filters: { price: {} } }, NEWEST],
  ["price_asc, which leaves out offers without a price", { filters: { price: {} }, sort: "price_asc" }, CHEAPEST],
  ["price_desc", { filters: { price: {} }, sort: "price_desc" }, CHEAPEST.toReversed()],
  ["price_asc, of a query", { query: "bicycle", sort: "price_asc" }, ["dollars", "bicycle"]],
  ["newest, of a query", { query: "bicycle", sort: "newest" }, ["dollars", "bicycle"]],
] as [string, Body, Name[]][]) {
  test(`results are in the requested order: ${what}`, async (t) => {
    const inOrder = namesOf((await search({ ...body, limit: 50 })).body).filter((name) => name && names.includes(name));
    t.deepEqual(inOrder, names);
    for (const limit of [1, 2, 4]) {
      const pages: (Name | undefined)[][] = [];
      const ranks: number[] = [];
      for (let cursor: string | undefined; pages.length < 20; ) {
        const page: Body = (await search({ ...body, limit, ...(cursor === undefined ? {} : { cursor }) })).body;
        pages.push(namesOf(page));
        ranks.push(...page.results.map(({ rank }: Body) => rank));
        if (!page.page.has_more) break;
        cursor = page.page.next_cursor;
      }
      const read = pages.flat().filter((name) => name && names.includes(name));
      t.deepEqual(read, names, `${limit} a page`);
      t.deepEqual(
        ranks,
        ranks.map((_, n) => n + 1),
      );
      t.true(pages.slice(0, -1).every((page) => page.length === limit));
    }
  });
}

test("kind, place and price in the query are filters, and the response says so", async (t) => {
  const { body } = await search({ query: "apartment to rent in Hamburg under 1000 euros" });
  t.deepEqual(namesOf(body), ["flat"]);
  t.deepEqual(body.classification, { domain: "real_estate", category: "apartments", kind: "rental" });
  t.deepEqual(
    body.notices.map(({ code }: Body) => code),
    ["read_from_query"],
  );
  t.regex(body.notices[0].summary, /only rentals, in Hamburg, up to 1000 EUR/);
  t.deepEqual(namesOf((await search({ query: "apartment to rent in Hamburg under 700 euros" })).body), []);
});

test("a price that no offer can have is no filter", async (t) => {
  for (const price of ["999.999.999.999.999.999.999 EUR", "999999999999 million euro"]) {
    const { status, body } = await search({ query: `sofa up to ${price}` });
    t.is(status, 200, price);
    t.true(body.results.length > 0, price);
  }
});

test("an explicit filter takes precedence over what the query says", async (t) => {
  const { body } = await search({ query: "apartment in Berlin", filters: { location: "Hamburg" } });
  t.is(namesOf(body)[0], "flat");
  t.deepEqual(body.notices, []);
});

test("synonyms, other languages and misspellings find the same offers", async (t) => {
  for (const query of ["couch", "divano", "canapé gris", "settee"])
    t.is(namesOf((await search({ query })).body)[0], "sofa", query);
  for (const query of ["vélo", "Fahrrad", "bicylce"])
    t.true(["bicycle", "dollars"].includes(namesOf((await search({ query })).body)[0] ?? ""), query);
});

test("searches understand a new word of the vocabulary soon, without a restart", async (t) => {
  t.timeout(120_000);
  const classified = async () => (await search({ query: "quibblewort" })).body.classification;
  t.is(await classified(), null);
  const edit = (statement: string) => market.sql(statement);
  await edit("insert into reading.label (concept, form, weight) values ('home_garden/furniture', 'quibblewort', 3)");
  await eventually(classified, (found) => found?.category === "furniture", 30_000);
  await edit("delete from reading.label where form = 'quibblewort'");
  await eventually(classified, (found) => found === null, 30_000);
  t.is(await classified(), null);
});
