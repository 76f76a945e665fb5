import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import pg from "pg";
import {
  type Answer,
  type AskFacts,
  askOf,
  type Caller,
  type OfferFacts,
  offerOf,
  openMarket,
  refused,
  vectorOf,
} from "./market.ts";

/**
 * What somebody wants, and which offers answer it. An offer is held against asks when it is embedded, an ask against
 * offers when it is read or embedded: both ways give the same verdict.
 *
 *   seller, buyer  agents of two accounts, new ones for every test
 */

const STATUSES = ["draft", "active", "fulfilled", "archived"] as const;
const MOVES = [
  "draft -> active",
  "active -> fulfilled",
  "active -> archived",
  "fulfilled -> active",
  "archived -> active",
];

let market: Awaited<ReturnType<typeof openMarket>>;
let seller: Caller;
let buyer: Caller;

test.before(async () => {
  market = await openMarket();
});

test.after.always(() => market?.close());

test.beforeEach(async () => {
  // An ask has room for a hundred offers: a market of its own for every test.
  await market.sql("delete from market.offer");
  seller = await market.approved("seller");
  buyer = await market.approved("buyer");
});

const matches = (id: string, page: { since?: string; cursor?: string; limit?: number } = {}): Promise<Answer> =>
  market.call(buyer, "list_matches", {
    id,
    since: page.since ?? null,
    limit: page.limit ?? 50,
    cursor: page.cursor ?? null,
  });

const matching = async (id: string): Promise<string[]> =>
  (await matches(id)).results.map((result: Answer) => result.id).sort();

const statusOf = async (id: string): Promise<string> => {
  const [row] = await market.sql("select status from market.ask where id = $1", [id]);
  return row.status;
};

for (const role of ["souk_agent", "souk_person"] as const) {
  test.serial(`of all moves of an ask ${role} makes those of the contract, by plain SQL too`, async (t) => {
    const done: string[] = [];
    const id = await market.ask(buyer);
    for (const from of STATUSES) {
      for (const to of STATUSES) {
        if (from === to) continue;
        await market.sql(
          `with off as materialized (select set_config('session_replication_role', 'replica', true))
           update market.ask set status = $2 from off where id = $1`,
          [id, from],
        );
        try {
          await market.sqlAs(role, buyer, "update market.ask set status = $2 where id = $1", [id, to]);
        } catch (error) {
          if (!/invalid_state/.test(String(error))) throw error;
        }
        if ((await statusOf(id)) === to) done.push(`${from} -> ${to}`);
      }
    }
    t.deepEqual(done, MOVES);
  });
}

test.serial("archiving, fulfilling and reopening an ask twice is doing so once", async (t) => {
  const id = await market.ask(buyer);
  for (const [name, status] of [
    ["archive_ask", "archived"],
    ["reopen_ask", "active"],
    ["fulfill_ask", "fulfilled"],
  ] as const) {
    t.is((await market.call(buyer, name, { id })).status, status);
    t.is((await market.call(buyer, name, { id })).status, status);
  }
  t.is(await refused(market.call(buyer, "archive_ask", { id })), "409 invalid_state");
});

test.serial("an ask of another account does not exist, for reading, matching and moving", async (t) => {
  const id = await market.ask(seller);
  for (const name of ["get_ask", "archive_ask", "fulfill_ask", "reopen_ask"]) {
    t.is(await refused(market.call(buyer, name, { id })), "404 not_found", name);
  }
  t.is(await refused(matches(id)), "404 not_found");
  t.is(await refused(market.call(buyer, "update_ask", { id, body: {}, errors: [] })), "404 not_found");
});

const CLASS_OF: Record<string, OfferFacts & AskFacts> = {
  sale: { domain: "home_garden", category: "furniture" },
  rental: { domain: "home_garden", category: "furniture" },
  service_offer: { domain: "services", category: "repair" },
  project_hire: { domain: "jobs_projects", category: "software" },
  dating: { domain: "community", category: "dating" },
  friendship: { domain: "community", category: "friendship" },
};
const ANSWERS: Record<string, string[]> = {
  buy: ["sale"],
  rent: ["rental"],
  hire: ["service_offer"],
  offer_service: ["project_hire"],
  dating: ["dating"],
  friendship: ["friendship"],
  general: ["sale", "rental", "service_offer", "project_hire", "dating", "friendship"],
  sell: [],
  lease_out: [],
};

for (const [wanted, answers] of Object.entries(ANSWERS)) {
  test.serial(
    `an ask to ${wanted} is answered by ${answers.join(", ") || "nothing"}, and by no other kind`,
    async (t) => {
      const got: string[] = [];
      for (const [kind, facts] of Object.entries(CLASS_OF)) {
        const offer = await market.offer(seller, { ...facts, kind });
        const ask = await market.ask(buyer, { ...facts, kind: wanted });
        if ((await matching(ask)).includes(offer)) got.push(kind);
      }
      t.deepEqual(got, answers);
    },
  );
}

const near = vectorOf("sofa");
const far = vectorOf("lamp");

/** What an offer and an ask say of one criterion, and the verdict on it; "none" where the offer does not match at all. */
const VERDICTS: readonly [rule: string, offer: OfferFacts, ask: AskFacts, criterion: string, verdict: string][] = [
  ["the same category is met", {}, {}, "category", "met"],
  ["an ask without a category leaves it unknown, given a shared word", {}, { category: null }, "category", "unknown"],
  ["a shared word is met", {}, { keywords: ["sofas"] }, "keywords", "met"],
  [
    "no shared word but a near vector: violated",
    { vector: near },
    { keywords: ["hammock"], vector: near },
    "keywords",
    "violated",
  ],
  [
    "neither a shared word nor a near vector: no match",
    { vector: far },
    { keywords: ["hammock"], vector: near },
    "",
    "none",
  ],
  [
    "neither a shared word nor any vector: no match",
    {},
    { keywords: ["hammock"], title: "Wanted: grey hammock" },
    "",
    "none",
  ],
  [
    "no category, no shared word, no vector: no match",
    {},
    { category: null, keywords: ["hammock"], title: "Grey hammock" },
    "",
    "none",
  ],
  ["another category by words alone: no match", {}, { category: "decor" }, "", "none"],
  [
    "another category by words and vector: violated",
    { vector: near },
    { category: "decor", vector: near },
    "category",
    "violated",
  ],
  ["another domain: no match", { vector: near }, { domain: "electronics", category: "tv", vector: near }, "", "none"],
  ["an ask without a domain matches nothing", {}, { domain: null, category: null }, "", "none"],
  ["a price within is met", { price: "180 EUR" }, { max: "180 EUR" }, "price", "met"],
  ["a price above: no match", { price: "180.5 EUR" }, { max: "180 EUR" }, "", "none"],
  ["a free offer is met, whatever the currency", { price: "0 USD" }, { max: "180 EUR" }, "price", "met"],
  ["another currency is unknown", { price: "9000 JPY" }, { max: "180 EUR" }, "price", "unknown"],
  ["no price is unknown", { price: null }, { max: "180 EUR" }, "price", "unknown"],
  [
    "a price by the day is unknown against one by the month",
    { kind: "rental", price: "900 EUR", period: "day" },
    { kind: "rent", max: "180 EUR", period: "month" },
    "price",
    "unknown",
  ],
  [
    "a price by the month above one by the month: no match",
    { kind: "rental", price: "900 EUR", period: "month" },
    { kind: "rent", max: "180 EUR", period: "month" },
    "",
    "none",
  ],
  ["what is not wanted, said: no match", { words: "Real leather" }, { exclude: ["leather"] }, "", "none"],
  [
    "what is not wanted, in another form: no match",
    { title: "Grey sofa for smokers" },
    { exclude: ["smoker"] },
    "",
    "none",
  ],
  ["what is not wanted, not said: met", {}, { exclude: ["leather"] }, "exclude", "met"],
  ["the same place is met, whatever the accents", { place: "Köln" }, { place: "Koln" }, "location", "met"],
  ["another word for the same thing is met", {}, { keywords: ["couch"] }, "keywords", "met"],
  [
    "the word of another language is met",
    { title: "Graues Sofa", language: "de" },
    { keywords: ["couch"] },
    "keywords",
    "met",
  ],
  ["a compound is met", { title: "Ledersofa", language: "de" }, { keywords: ["couch"] }, "keywords", "met"],
  [
    "a part of what is named is no shared word: no match",
    { title: "Grand piano", domain: "services", category: "tutoring", kind: "service_offer" },
    { title: "Flute lessons", keywords: ["Flute lessons"], domain: "services", category: "tutoring", kind: "hire" },
    "",
    "none",
  ],
  [
    "either of two towns is met",
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    {
      title: "Wanted: grey sofa in Berlin or Hamburg",
      keywords: ["sofa"],
      place: "Berlin",
      city: "Berlin",
      country: "DE",
    },
    "location",
    "met",
  ],
  [
    "another place: no match",
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    { place: "Berlin", country: "DE" },
    "",
    "none",
  ],
  [
    "another place is violated when the thing can be sent within the country",
    { place: "Hamburg", city: "Hamburg", country: "DE", words: "Shipping possible" },
    { place: "Berlin", country: "DE" },
    "location",
    "violated",
  ],
  [
    "another place when it says that nothing is sent: no match",
    { place: "Hamburg", city: "Hamburg", country: "DE", words: "No shipping" },
    { place: "Berlin", country: "DE" },
    "",
    "none",
  ],
  [
    "another country, though the thing can be sent: no match",
    { place: "Wien", city: "Wien", country: "AT", words: "Shipping possible" },
    { place: "Berlin", country: "DE" },
    "",
    "none",
  ],
  [
    "a continent is met by a country in it",
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    { place: "Europe" },
    "location",
    "met",
  ],
  [
    "what is not wanted, said to be absent: met",
    { words: "No agents please" },
    { exclude: ["agents"] },
    "exclude",
    "met",
  ],
  [
    "another currency in a place that nobody knows: no match",
    { place: null, price: "900 GBP" },
    { place: "Berlin", max: "180 EUR" },
    "",
    "none",
  ],
  ["a quarter whose city nobody knows is unknown", { place: "Altona" }, { place: "Berlin" }, "location", "unknown"],
  [
    "another place for a price that cannot be compared: no match",
    { place: "Hamburg", city: "Hamburg", price: "9000 JPY" },
    { place: "Berlin", max: "180 EUR" },
    "",
    "none",
  ],
  ["no place is unknown", { place: null }, { place: "Berlin" }, "location", "unknown"],
  [
    "a country is met by a place in it",
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    { place: "Deutschland", country: "DE" },
    "location",
    "met",
  ],
  [
    "a country by a place in another: no match",
    { place: "Wien", city: "Wien", country: "AT" },
    { place: "Deutschland", country: "DE" },
    "",
    "none",
  ],
  ["the same condition is met", { condition: "like_new" }, { condition: "like_new" }, "condition", "met"],
  ["another condition is violated", { condition: "for_parts" }, { condition: "like_new" }, "condition", "violated"],
  ["no condition is unknown", {}, { condition: "like_new" }, "condition", "unknown"],
  ["a must that is said is met", { words: "Smoke-free home" }, { must: ["smoke-free"] }, "must", "met"],
  [
    "one of two musts said is unknown",
    { words: "Smoke-free home" },
    { must: ["smoke-free", "foldable"] },
    "must",
    "unknown",
  ],
  ["the same attribute is met", { attributes: { seats: 3 } }, { attributes: { seats: "3" } }, "attributes", "met"],
  [
    "another attribute is violated",
    { attributes: { seats: 3 } },
    { attributes: { seats: 2 } },
    "attributes",
    "violated",
  ],
  [
    "an attribute that is not said leaves them unknown",
    { attributes: { seats: 3 } },
    { attributes: { seats: 3, colour: "red" } },
    "attributes",
    "unknown",
  ],
];
const HARD_PLACES: [string, OfferFacts & AskFacts, string, string][] = [
  ["a rental", CLASS_OF["rental"] ?? {}, "rental", "rent"],
  ["a service", CLASS_OF["service_offer"] ?? {}, "service_offer", "hire"],
  ["a home", { domain: "real_estate", category: "apartments" }, "sale", "buy"],
  ["a job", CLASS_OF["project_hire"] ?? {}, "project_hire", "offer_service"],
  ["a meeting", CLASS_OF["friendship"] ?? {}, "friendship", "friendship"],
];

const allVerdicts = [
  ...VERDICTS,
  ...HARD_PLACES.map(([what, facts, kind, wanted]): (typeof VERDICTS)[number] => [
    `${what} in another place: no match`,
    { ...facts, kind, place: "Hamburg", city: "Hamburg" },
    { ...facts, kind: wanted, place: "Berlin" },
    "",
    "none",
  ]),
];

for (const [rule, offerFacts, askFacts, criterion, verdict] of allVerdicts) {
  test.serial(`matching: ${rule}`, async (t) => {
    const offer = await market.offer(seller, offerFacts);
    const ask = await market.ask(buyer, askFacts);
    const reasons = async () => {
      const result = (await matches(ask)).results.find((each: Answer) => each.id === offer);
      if (!result) return "none";
      t.true(result.score >= 0 && result.score <= 1);
      return result.match.reasons.find((reason: Answer) => reason.criterion === criterion)?.verdict;
    };
    t.is(await reasons(), verdict, "the ask held against the offer");
    await market.sql("delete from market.match");
    await market.embed("offer", offer, offerFacts.vector);
    t.is(await reasons(), verdict, "the offer held against the ask");
  });
}

test.serial(
  "what an ask leaves open is no reason, and what it states is one, with what was wanted and found",
  async (t) => {
    await market.offer(seller, { price: "150 EUR" });
    const open = await matches(await market.ask(buyer, {}));
    t.deepEqual(
      open.results[0].match.reasons.map((reason: Answer) => reason.criterion),
      ["kind", "category", "keywords"],
    );
    const priced = await matches(await market.ask(buyer, { max: "200 EUR" }));
    t.deepEqual(
      priced.results[0].match.reasons.find((reason: Answer) => reason.criterion === "price"),
      { criterion: "price", verdict: "met", wanted: { max: 200, currency: "EUR" }, found: "150 EUR" },
    );
  },
);

test.serial("a better answer stands before a worse one", async (t) => {
  const abroad = await market.offer(seller, {
    place: "Hamburg",
    city: "Hamburg",
    country: "DE",
    words: "Shipping possible",
  });
  const here = await market.offer(seller, { place: "Berlin" });
  const { results } = await matches(await market.ask(buyer, { place: "Berlin", country: "DE" }));
  t.deepEqual(
    results.map((result: Answer) => [result.id, result.rank]),
    [
      [here, 1],
      [abroad, 2],
    ],
  );
  t.true(results[0].score > results[1].score);
});

test.serial("a vector that points the other way is no error, and no reason against words", async (t) => {
  const opposite = JSON.stringify((JSON.parse(near) as number[]).map((value) => -value));
  const offer = await market.offer(seller, { place: "Hamburg", condition: "for_parts", vector: near });
  const ask = await market.ask(buyer, { place: "Berlin", condition: "new", vector: opposite });
  t.deepEqual(await matching(ask), [offer]);
});

test.serial("an account's own offers never answer its asks, whichever of its agents published", async (t) => {
  await market.offer(buyer);
  const ask = await market.ask(buyer);
  await market.offer(buyer);
  t.deepEqual(await matching(ask), []);
  const other = await market.offer(seller);
  t.deepEqual(await matching(ask), [other]);
});

test.serial(
  "an offer that is archived or removed leaves the answer at once, and is back when it is live again",
  async (t) => {
    const ask = await market.ask(buyer);
    const [archived, removed] = [await market.offer(seller), await market.offer(seller)];
    t.is((await matching(ask)).length, 2);
    await market.call(seller, "archive_offer", { id: archived });
    t.deepEqual(await matching(ask), [removed]);
    await market.sql("update market.offer set status = 'removed' where id = $1", [removed]);
    t.deepEqual(await matching(ask), []);
    await market.call(seller, "republish_offer", { id: archived });
    await market.embed("offer", archived);
    t.deepEqual(await matching(ask), [archived]);
  },
);

test.serial("a changed offer loses the asks it no longer answers, and finds those it does", async (t) => {
  const [sofa, phone] = [
    await market.ask(buyer),
    await market.ask(buyer, { title: "Wanted: phone", domain: "electronics", category: "phones", keywords: ["phone"] }),
  ];
  const offer = await market.offer(seller);
  t.deepEqual([await matching(sofa), await matching(phone)], [[offer], []]);
  await market.change(seller, offer, { title: "Old phone", domain: "electronics", category: "phones" });
  t.deepEqual([await matching(sofa), await matching(phone)], [[], [offer]]);
});

const queued = async (task: string, id: string): Promise<boolean> =>
  (await market.sql("select from graphile_worker.jobs where key = $1", [`${task}:${id}`])).length > 0;

test.serial("an ask at rest keeps what it had, is not matched, and catches up when it is reopened", async (t) => {
  const first = await market.offer(seller);
  const ask = await market.ask(buyer);
  await market.call(buyer, "archive_ask", { id: ask });
  const second = await market.offer(seller);
  await market.embed("offer", first);
  t.deepEqual(await matching(ask), [first]);
  t.false(await queued("embed_ask", ask));
  await market.call(buyer, "reopen_ask", { id: ask });
  t.true(await queued("embed_ask", ask));
  await market.embed("ask", ask);
  t.deepEqual(await matching(ask), [first, second].sort());
});

test.serial("an ask that does not watch is matched once, keeps that, and catches up when it watches", async (t) => {
  const first = await market.offer(seller);
  const ask = await market.ask(buyer, { watch: false });
  const second = await market.offer(seller);
  // The first one is embedded again, as after a change of the model.
  await market.embed("offer", first);
  t.deepEqual(await matching(ask), [first]);
  await market.call(buyer, "update_ask", { id: ask, body: { watch_enabled: true }, errors: [] });
  t.true(await queued("embed_ask", ask));
  await market.embed("ask", ask);
  t.deepEqual(await matching(ask), [first, second].sort());
});

test.serial("an ask with a new text keeps its id and has the matches of the new text", async (t) => {
  const sofa = await market.offer(seller);
  const phone = await market.offer(seller, { title: "Old phone", domain: "electronics", category: "phones" });
  const ask = await market.ask(buyer);
  t.deepEqual(await matching(ask), [sofa]);
  const { text, reading } = askOf({
    title: "Wanted: phone",
    domain: "electronics",
    category: "phones",
    keywords: ["phone"],
  });
  const { submission } = await market.call(buyer, "update_ask", { id: ask, body: { text }, errors: [] });
  t.deepEqual(await matching(ask), [sofa], "until the new text is read");
  await market.work("finish_reading", submission, reading);
  t.deepEqual(await matching(ask), [phone]);
});

test.serial("an ask whose text was not read in time stands, and is filled in later", async (t) => {
  const offer = await market.offer(seller);
  const { text, reading } = askOf({});
  const { submission } = await market.call(buyer, "create_ask", {
    body: { text },
    idempotency_key: null,
    request_hash: null,
    errors: [],
  });
  const { status, body } = await market.call(buyer, "withdraw_submission", { submission_id: submission });
  t.deepEqual([status, body.status, body.title, body.domain, body.ask_kind], [201, "active", null, null, null]);
  const waiting = await matches(body.id);
  t.deepEqual([waiting.results, waiting.next[0].path], [[], `/v1/asks/${body.id}/matches`]);
  t.true(await market.work("finish_reading", submission, reading));
  t.deepEqual(await matching(body.id), [offer]);
  t.false(await market.work("finish_reading", submission, reading));
});

test.serial("asks to sell and to let match nothing and say to publish with origin_ask_id", async (t) => {
  await market.offer(seller);
  for (const kind of ["sell", "lease_out"]) {
    const { results, next } = await matches(await market.ask(buyer, { kind }));
    t.deepEqual(
      [results, next],
      [
        [],
        [
          {
            summary: "Nothing matches an ask to sell or to let. Publish an offer, with origin_ask_id set to this ask.",
            method: "POST",
            path: "/v1/offers",
          },
        ],
      ],
    );
  }
});

test.serial("since gives only what matched after that answer", async (t) => {
  const ask = await market.ask(buyer);
  const first = await market.offer(seller);
  const one = await matches(ask);
  t.deepEqual(
    one.results.map((result: Answer) => result.id),
    [first],
  );
  const two = await matches(ask, { since: one.since });
  t.deepEqual(two.results, []);
  await market.embed("offer", first);
  t.deepEqual((await matches(ask, { since: two.since })).results, [], "matched again is not new");
  const second = await market.offer(seller);
  t.deepEqual(
    (await matches(ask, { since: two.since })).results.map((result: Answer) => result.id),
    [second],
  );
  await market.call(seller, "archive_offer", { id: second });
  const three = await matches(ask, { since: one.since });
  t.deepEqual(three.results, []);
  t.deepEqual((await matches(ask, { since: three.since })).results, [], "nothing comes back because something left");
});

test.serial("the since of another ask is refused, and so is one made up", async (t) => {
  const [one, other] = [await market.ask(buyer), await market.ask(buyer)];
  const { since } = await matches(one);
  t.is(await refused(matches(other, { since })), "400 bad_request");
  t.is(await refused(matches(other, { cursor: since })), "400 bad_request");
  for (const made of ["x", "", "bm90aGluZw", Buffer.from("[]").toString("base64url")]) {
    t.is(await refused(matches(one, { since: made })), "400 bad_request", made);
  }
  const crafted = Buffer.from(JSON.stringify({ list: `matches ${one}`, sequence: "many", id: "x" })).toString(
    "base64url",
  );
  t.is(await refused(matches(one, { cursor: crafted })), "400 bad_request");
});

test.serial("following since while offers are matched in parallel sees each once and none twice", async (t) => {
  const asks = [await market.ask(buyer), await market.ask(buyer), await market.ask(buyer, { max: "500 EUR" })];
  const offers: string[] = [];
  for (let n = 0; n < 24; n += 1) {
    await market.sql("delete from market.call");
    const { text, reading } = offerOf({ title: `Grey sofa ${n}` });
    offers.push((await market.publish(seller, text, reading)).body.offer_id);
  }
  let working = true;
  const seen = asks.map((): string[] => []);
  const follow = async (ask: string, into: string[]) => {
    let since: string | undefined;
    for (;;) {
      const last = !working;
      const answer = await matches(ask, since === undefined ? {} : { since });
      into.push(...answer.results.map((result: Answer) => result.id));
      since = answer.since;
      if (last) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const followers = asks.map((ask, place) => follow(ask, seen[place] ?? []));
  // Four connections at once, each with offers and asks in another order, as several workers would.
  const jobs = [
    ...offers.map((id) => ["offer", id] as const),
    ...asks.map((id) => ["ask", id] as const),
    ...offers.map((id) => ["offer", id] as const),
  ];
  const lane = async (first: number) => {
    for (const [n, [kind, id]] of jobs.entries()) if (n % 4 === first) await market.embed(kind, id);
  };
  await Promise.all([lane(0), lane(1), lane(2), lane(3)]);
  working = false;
  await Promise.all(followers);
  for (const ids of seen) t.deepEqual(ids.sort(), offers.toSorted());
});

test.serial("paging through matches visits each once, also while more match", async (t) => {
  const ask = await market.ask(buyer, { place: "Berlin" });
  const offers: string[] = [];
  for (let n = 0; n < 7; n += 1) offers.push(await market.offer(seller, { place: n % 2 ? "Berlin" : "Hamburg" }));
  const seen: string[] = [];
  const ranks: number[] = [];
  let cursor: string | undefined;
  do {
    const { results, page } = await matches(ask, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...results.map((result: Answer) => result.id));
    ranks.push(...results.map((result: Answer) => result.rank));
    cursor = page.next_cursor ?? undefined;
    t.is(page.has_more, cursor !== undefined);
    if (seen.length < 5) await market.offer(seller, { place: "Berlin" });
  } while (cursor !== undefined);
  t.deepEqual(seen.toSorted(), offers.toSorted());
  t.deepEqual(ranks, [1, 2, 3, 4, 5, 6, 7]);
});

for (const embedded of ["offer", "ask"] as const)
  test.serial(`an offer that is taken down while the ${embedded} is matched leaves no match`, async (t) => {
    const id = { offer: await market.offer(seller, { vector: near }), ask: await market.ask(buyer, { vector: near }) };
    t.true((await matching(id.ask)).includes(id.offer));
    const owner = new pg.Client({ connectionString: market.url });
    await owner.connect();
    t.teardown(() => owner.end());
    await owner.query("begin");
    await owner.query("update market.offer set status = 'archived' where id = $1", [id.offer]);
    const matched = market.embed(embedded, id[embedded], near);
    // Long enough to match, if it does not wait.
    await sleep(300);
    await owner.query("commit");
    await matched;
    t.deepEqual(await market.sql("select from market.match where offer_id = $1", [id.offer]), []);
  });
