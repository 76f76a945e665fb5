import test from "ava";
import { z } from "zod";
import {
  type AskExtraction,
  askExtraction,
  type OfferExtraction,
  offerExtraction,
} from "../../src/reader/extraction.ts";
import { locateQuotes as locate } from "../../src/reader/quotes.ts";
import { type Behaviour, content, type Provider, startProvider, well } from "../reader/provider.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, connectedAgent } from "../support/market.ts";
import { type Service, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * A model that gives absurd values. For each place in the schema of a reading, the model gives every kind of value that
 * does not belong there; then it gives the longest and largest values that the text states. The caller gets the same
 * answer as from a good model or from the built-in extractor, and no text is sent to the model more than twice.
 */

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Schema = { type?: string; anyOf?: Schema[]; properties?: Record<string, Schema>; items?: Schema; enum?: string[] };
type Place = (string | number)[];

/** Calls at a time: as many as a worker has jobs. Each is of another account, because one account gets only half of them. */
const AT_ONCE = 8;

let database: Database;
let provider: Provider;
let service: Service;
let agents: Agent[];

test.before(async () => {
  [database, provider] = await Promise.all([createDatabase(), startProvider()]);
  service = await startService({
    database: database.url,
    env: { EXTRACTION_DEADLINE_MS: "60000", OPENAI_BASE_URL: provider.baseURL, OPENAI_API_KEY: "scripted" },
  });
  await sql(database.url)`update market.setting set value = '10000'
    where name in ('publish_offer_cap', 'create_ask_cap')`;
  agents = await Promise.all(Array.from({ length: AT_ONCE }, () => connectedAgent(service.url, database.url)));
});
test.after.always(async () => {
  await service?.stop();
  await provider?.close();
  await database?.drop();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, database.url));

const found = (value: Json, quote: string): Json => ({ value, quote, basis: "stated", confidence: 0.9 });

const OFFER = "Grey sofa by Acme Ltd in good condition, 3 rooms, 180 EUR, Berlin. Write to lena@example.com";
const ASK = "Looking for a grey sofa in good condition without stains, up to 250 EUR, Berlin";

/** A reading of OFFER in which every field is set, so that every place of the schema can be changed. */
const OFFER_READING: Json = {
  language: "en",
  title: found("Grey sofa", "Grey sofa"),
  domain: found("home_garden", "sofa"),
  category: found("furniture", "sofa"),
  offer_kind: found("sale", "180 EUR"),
  price: found(
    {
      amount: 180,
      amount_max: null,
      currency: "EUR",
      period: "one_time",
      type: "fixed",
      negotiable: false,
      deposit: null,
      unit: null,
      label: "180 EUR",
    },
    "180 EUR",
  ),
  location: found(
    { text: "Berlin", country: "DE", region: null, city: "Berlin", district: null, postal_code: null, remote: false },
    "Berlin",
  ),
  contacts: [found({ type: "email", value: "lena@example.com", preferred: true }, "lena@example.com")],
  party: found({ name: "Acme Ltd", kind: "organization", role: null }, "Acme Ltd"),
  condition: found("used_good", "good condition"),
  space: found(
    {
      area_m2: null,
      rooms: 3,
      bedrooms: null,
      bathrooms: null,
      floor: null,
      furnished: null,
      available_from: null,
      pets_allowed: null,
    },
    "3 rooms",
  ),
  features: [found("good condition", "good condition")],
  attributes: [found({ name: "rooms", value: 3 }, "3 rooms")],
};

/** The same of ASK. */
const ASK_READING: Json = {
  language: "en",
  title: found("grey sofa", "grey sofa"),
  domain: found("home_garden", "sofa"),
  category: found("furniture", "sofa"),
  ask_kind: found("buy", "Looking for"),
  price: found({ min: null, max: 250, currency: "EUR", period: null, unit: null }, "up to 250 EUR"),
  location: found(
    { text: "Berlin", country: "DE", region: null, city: "Berlin", district: null, postal_code: null, remote: false },
    "Berlin",
  ),
  condition: found("used_good", "good condition"),
  keywords: ["sofa", "grey"],
  must: [found("good condition", "good condition")],
  exclude: [found("stains", "stains")],
  attributes: [found({ name: "colour", value: "grey" }, "grey")],
};

/** JSON has no such numbers, but models write them. The placeholders are replaced in the text of the answer. */
const RAW = { "@NaN@": "NaN", "@Infinity@": "Infinity", "@huge@": "1e999", "@tiny@": "-1e-999" };

const LONG = "x".repeat(5_000);

/** Values that belong nowhere, whatever the type. */
const ANYWHERE: Json[] = [
  null,
  "",
  7,
  true,
  [],
  {},
  { value: { value: { value: 1 } } },
  "\0",
  "\ud800",
  ...Object.keys(RAW),
];

/** Values of the right type that are out of range. */
const absurdOf = (schema: Schema, value: Json | undefined): Json[] => {
  if (Array.isArray(value)) return [Array.from({ length: 2_000 }, () => value[0] ?? "x"), [[value]], [null]];
  if (typeof value === "object" && value !== null)
    return [
      { ...value, more: 1 },
      { ...value, quote: LONG },
    ];
  if (schema.enum) return ["nonsense", LONG];
  if (schema.type === "number") return [-1, 1e300, 1e13, 0.1234567890123, "12"];
  // A tag of 21 characters once made every statement fail.
  return [LONG, "abc-abcdefgh-abcdefgh", "EURO", "'; drop table market.offer; --", "\u202e\u200b", "﷽".repeat(120)];
};

const branch = (schema: Schema): Schema => schema.anyOf?.find((one) => one.type !== "null") ?? schema;

/** Every place of a schema with the absurd values for it. */
const placesOf = (schema: Schema, value: Json | undefined, at: Place = []): { place: Place; absurd: Json }[] => {
  const own = branch(schema);
  const here = at.length === 0 ? [] : [...ANYWHERE, ...absurdOf(own, value)].map((absurd) => ({ place: at, absurd }));
  const members = Object.entries(own.properties ?? {}).flatMap(([name, member]) =>
    placesOf(member, (value as Record<string, Json> | null | undefined)?.[name], [...at, name]),
  );
  const entry = own.items ? placesOf(own.items, (value as Json[] | undefined)?.[0], [...at, 0]) : [];
  return [...here, ...members, ...entry];
};

const changed = (reading: Json, [first, ...rest]: Place, absurd: Json): Json => {
  if (first === undefined) return absurd;
  const copy = structuredClone(reading) as Record<string | number, Json>;
  copy[first] = changed(copy[first] ?? {}, rest, absurd);
  return copy;
};

const written = (reading: Json): string =>
  Object.entries(RAW).reduce((text, [mark, raw]) => text.replaceAll(`"${mark}"`, raw), JSON.stringify(reading));

/** Answers each text with the reading whose number it begins with. Vectors are well. */
const answering =
  (readings: string[]): Behaviour =>
  (request, response) => {
    const number = Number(/^No\. (\d+):/.exec(request.text ?? "")?.[1]);
    return (request.kind === null ? well() : content(readings[number] ?? "{}"))(request, response);
  };

/** Sends every text, a few at a time. Returns the answers in order. */
const sendAll = async (count: number, send: (agent: Agent, number: number) => Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = [];
  let next = 0;
  await Promise.all(
    agents.map(async (agent) => {
      while (next < count) {
        const number = next++;
        answers[number] = await send(agent, number);
      }
    }),
  );
  return answers;
};

const CASES = [
  { kind: "offer", path: "/v1/offers", text: OFFER, reading: OFFER_READING, schema: offerExtraction },
  { kind: "ask", path: "/v1/asks", text: ASK, reading: ASK_READING, schema: askExtraction },
] as const;

/** One in so many of the readings is tried over HTTP, and another one in SQL. All of them would take minutes. */
const EVERY = 12;

/** On a machine that does twenty other things. */
const PATIENCE_MS = 600_000;

const SUBMISSION = "01979e5c-0000-7000-8000-000000000000";

for (const { kind, path, text, reading, schema } of CASES) {
  const places = placesOf(z.toJSONSchema(schema) as Schema, reading);

  test.serial(`an ${kind} is answered whatever the model puts into a place of its reading`, async (t) => {
    t.timeout(PATIENCE_MS);
    const tried = places.filter((_, n) => n % EVERY === 0);
    t.true(tried.length > 40, `${tried.length} readings`);
    provider.reset();
    provider.always(answering(tried.map(({ place, absurd }) => written(changed(reading, place, absurd)))));
    const answers = await sendAll(tried.length, (agent, number) =>
      agent.call("POST", path, { text: `No. ${number}: ${text}` }),
    );
    const sent = new Map<string, number>();
    for (const request of provider.requests)
      if (request.text !== null) sent.set(request.text, (sent.get(request.text) ?? 0) + 1);
    for (const [number, { place, absurd }] of tried.entries()) {
      const what = `${place.join(".")} = ${JSON.stringify(absurd).slice(0, 60)}`;
      const answer = answers[number];
      t.is(answer?.status, 201, `${what}: ${answer?.text}`);
      if (kind === "offer") t.is(answer?.body.contact, "lena@example.com", what);
      else t.is(answer?.body.criteria.price.max, 250, what);
      const times = sent.get(`No. ${number}: ${text}`) ?? 0;
      t.true(times >= 1 && times <= 2, `${what}: sent ${times} times`);
    }
    t.notRegex(service.logs(), /what the model read could not be stored/, "the bounds hold before the database");
  });

  test.serial(`the database stores an ${kind} whatever stands in a place of its reading`, async (t) => {
    t.timeout(PATIENCE_MS);
    const located = locate(text, reading as unknown as OfferExtraction | AskExtraction, []);
    const sound = JSON.parse(JSON.stringify(located)) as Json;
    await withClient(database.url, async (client) => {
      // As for the worker's login.
      await client.query("set jit = off");
      for (const { place, absurd } of places.filter((_, n) => n % EVERY === 1)) {
        const made = written([changed(sound, place, absurd)]);
        // What is no JSON for PostgreSQL cannot be sent to it.
        if (/\\u0000|\\ud800|NaN|Infinity|1e-?999/.test(made)) continue;
        await client.query("begin");
        await client.query(
          `with own as (select account_id, id from market.agent where id = $1),
             ask as (
               insert into market.ask (account_id, agent_id, text) select account_id, id, $3 from own where $2 = 'ask'
               returning id)
           insert into market.submission (id, kind, account_id, agent_id, target_id, text)
           select $4, case $2 when 'ask' then 'create_ask' else 'publish_offer' end,
             account_id, id, coalesce((select id from ask), internal.uuid_v7()), $3 from own`,
          [agents[0]?.id, kind, text, SUBMISSION],
        );
        await t.notThrowsAsync(
          client.query("select jobs.complete_submission($1, $2)", [SUBMISSION, made]),
          `${place.join(".")} = ${JSON.stringify(absurd).slice(0, 60)}`,
        );
        await client.query("rollback");
      }
    });
  });
}

test.serial("the longest and largest values that a text states are stored", async (t) => {
  const word = "abcdefghij".repeat(6);
  const long = Array.from({ length: 30 }, (_, n) => `${word}${n}`);
  const words = (count: number) => long.slice(0, count).join(" ");
  const url = `https://example.com/${"p".repeat(1_900)}`;
  const text = `No. 0: ${words(30).slice(0, 1_500)} 1000000000000 EUR, 999999999999 EUR, 1000 rooms, 300 rooms\nBerlin ${url} lena@example.com`;
  const most = (count: number, entry: Json): Json[] => Array.from({ length: count }, () => entry);
  const amount = { amount: 1e12, amount_max: 999999999999, deposit: 1e12 };
  const offer = {
    ...(OFFER_READING as Record<string, Json>),
    language: "deu-Latn-419",
    title: found(words(1).slice(0, 60), words(1)),
    price: found(
      {
        ...amount,
        currency: "EUR",
        period: null,
        unit: null,
        type: "on_request",
        negotiable: true,
        label: "l".repeat(200),
      },
      "1000000000000 EUR, 999999999999 EUR",
    ),
    location: found(
      {
        text: words(2).slice(0, 123),
        country: "ZZ",
        region: "r".repeat(100),
        city: "c".repeat(100),
        district: "d".repeat(100),
        postal_code: "1".repeat(20),
        remote: true,
      },
      words(2),
    ),
    contacts: most(10, found({ type: "url", value: url, preferred: true }, url)),
    party: found({ name: words(1), kind: "person", role: words(1).slice(0, 80) }, words(1)),
    space: found(
      {
        area_m2: 1000,
        rooms: 1000,
        bedrooms: 1000,
        bathrooms: 1000,
        floor: 300,
        furnished: true,
        available_from: "9999-99-99",
        pets_allowed: false,
      },
      "1000 rooms, 300 rooms",
    ),
    features: most(20, found(words(1).slice(0, 80), words(1))),
    attributes: most(20, found({ name: "a".repeat(60), value: words(3).slice(0, 191) }, words(3))),
  };
  const wish = {
    ...(ASK_READING as Record<string, Json>),
    language: "deu-Latn-419",
    title: found(words(1).slice(0, 60), words(1)),
    price: found(
      { min: 999999999999, max: 1e12, currency: "EUR", period: null, unit: null },
      "1000000000000 EUR, 999999999999 EUR",
    ),
    keywords: long.slice(0, 20).map((one) => one.slice(0, 60)),
    must: long.slice(0, 10).map((one) => found(one, one)),
    exclude: long.slice(10, 20).map((one) => found(one, one)),
    attributes: offer.attributes,
  };
  for (const [path, reading, schema] of [
    ["/v1/offers", offer, offerExtraction],
    ["/v1/asks", wish, askExtraction],
  ] as const) {
    t.true(schema.safeParse(reading).success, `the schema allows it: ${schema.safeParse(reading).error?.message}`);
    provider.reset();
    provider.always(answering([JSON.stringify(reading)]));
    const answer = await (agents[0] as Agent).call("POST", path, { text });
    t.is(answer.status, 201, answer.text);
    t.is(provider.requests.filter((request) => request.text !== null).length, 1);
    const [table, id] = answer.body.offer_id ? ["offer", answer.body.offer_id] : ["ask", answer.body.id];
    t.is(
      await sqlValue(database.url, `select language from market.${table} where id = $1`, [id]),
      "deu-Latn-419",
      "it is what the model gave",
    );
  }
  t.notRegex(service.logs(), /what the model read could not be stored/);
});
