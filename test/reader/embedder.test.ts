import test, { type ExecutionContext } from "ava";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import { learnMeaning, type MeaningSet, NO_MEANING } from "../../src/reader/embed/learn.ts";
import { EMBEDDING_DIMENSIONS } from "../../src/reader/extraction.ts";
import { createClient } from "../../src/reader/openai/client.ts";
import { createOpenAiEmbedder, EMBEDDING_BATCH } from "../../src/reader/openai/embedder.ts";
import { allowed, processorTime } from "../support/busy.ts";
import {
  type Behaviour,
  cuts,
  hangs,
  huge,
  notJson,
  startProvider,
  status,
  tooManyRequests,
  truncatedJson,
  vectors,
} from "./provider.ts";
import { seedMeaning } from "./vocabulary.ts";

const never = () => new AbortController().signal;

const dot = (a: number[] = [], b: number[] = []): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

const isUnit = (vector: number[]): boolean => Math.abs(Math.hypot(...vector) - 1) < 1e-9;

/** Whether two numbers are equal up to rounding: 16 digits, over sums of 512 terms. */
const close = (a: number, b: number): boolean => Math.abs(a - b) < 1e-9;

const meaning = seedMeaning();

const builtin = createBuiltinEmbedder(() => meaning);

/** The cosine similarity between the first text and each of the others. */
const nearness = async (...texts: string[]): Promise<number[]> => {
  const [first, ...others] = await builtin.embed(texts, never());
  return others.map((other) => dot(first, other));
};

const start = async (t: ExecutionContext, ...script: Behaviour[]) => {
  const provider = await startProvider();
  t.teardown(provider.close);
  provider.next(...script);
  const client = createClient({ apiKey: "sk-test", baseURL: provider.baseURL });
  return { provider, embedder: createOpenAiEmbedder({ client, model: "embed-1" }) };
};

/** A vector of one repeated number. */
const flat = (value: number, length = EMBEDDING_DIMENSIONS) => new Array<number>(length).fill(value);

test("the built-in embedder gives unit vectors of 256 numbers and 256 zeros, the same for the same text", async (t) => {
  const texts = ["Oak table, two metres", "", "!!!", "und der die das", "ночь", "桌子", "Oak table, two metres"];
  const first = await builtin.embed(texts, never());
  t.is(first.length, texts.length);
  for (const vector of first) {
    t.is(vector.length, EMBEDDING_DIMENSIONS);
    t.true(vector.every(Number.isFinite));
    t.true(isUnit(vector));
    t.true(vector.slice(256).every((value) => value === 0));
  }
  t.deepEqual(first[0], first[6]);
  t.deepEqual(await createBuiltinEmbedder(() => structuredClone(meaning)).embed(texts, never()), first);
  t.is(builtin.model, "builtin-meaning-1");
});

/** Two things, and a text about each. */
const SMALL: MeaningSet = {
  labels: [
    { form: "bicycle", topic: "bicycle", weight: 1 },
    { form: "fahrrad", topic: "bicycle", weight: 1 },
    { form: "oak table", topic: "table", weight: 1 },
  ],
  broader: [{ topic: "bicycle", broader: "vehicles", weight: 1 }],
  texts: [
    { text: "bicycle with a saddle", topics: ["vehicles/bicycles", "vehicles"] },
    { text: "saddle for a fahrrad", topics: ["vehicles/bicycles", "vehicles"] },
    { text: "oak table with four chairs", topics: ["home/furniture", "home"] },
    { text: "table with chairs", topics: ["home/furniture", "home"] },
  ],
};

test("built-in vectors must not change, because those in the database were made by the same rules", async (t) => {
  const vectors = await createBuiltinEmbedder(() => learnMeaning(SMALL)).embed(["Fahrrad saddle zorb"], never());
  const [vector = []] = vectors;
  t.is(
    vector
      .slice(0, 16)
      .map((value) => value.toFixed(4))
      .join(" "),
    "0.0027 -0.0010 0.0040 -0.0010 -0.0010 -0.0040 0.0010 -0.0005 -0.0066 -0.0040 0.1879 0.0055 0.0043 -0.0055 0.0005 -0.1916",
  );
});

test("a text without words has a fixed vector, not zeros", async (t) => {
  const [empty, marks] = await builtin.embed(["", " ?! 🚲"], never());
  t.deepEqual(empty, [1, ...flat(0, EMBEDDING_DIMENSIONS - 1)]);
  t.deepEqual(marks, empty);
});

test("meanings are learned the same in any order", (t) => {
  const turned = {
    labels: SMALL.labels.toReversed(),
    broader: SMALL.broader.toReversed(),
    texts: SMALL.texts.toReversed(),
  };
  t.deepEqual(learnMeaning(turned), learnMeaning(SMALL));
});

test("a new word hardly changes the vectors of texts without it, so that stored vectors stay comparable", async (t) => {
  const more = {
    ...SMALL,
    labels: [...SMALL.labels, { form: "velo", topic: "bicycle", weight: 1 }],
    texts: [...SMALL.texts, { text: "velo for sale", topics: ["vehicles/bicycles", "vehicles"] }],
  };
  const texts = ["Fahrrad", "oak table"];
  const before = await createBuiltinEmbedder(() => learnMeaning(SMALL)).embed(texts, never());
  const after = await createBuiltinEmbedder(() => learnMeaning(more)).embed(texts, never());
  for (const [index, vector] of before.entries())
    t.true(dot(vector, after[index]) > 0.95, `${dot(vector, after[index])}`);
});

test("newly learned meanings are used from the next text on, and without any an error says what to do", async (t) => {
  let latest: ReturnType<typeof learnMeaning> | null = null;
  const embedder = createBuiltinEmbedder(() => latest);
  await t.throwsAsync(embedder.embed(["Fahrrad"], never()), { message: /No meanings of words are stored yet/ });
  const nearness = async (): Promise<number> => {
    const [one, other] = await embedder.embed(["Fahrrad", "bicycle"], never());
    return dot(one, other);
  };
  latest = NO_MEANING;
  t.true((await nearness()) < 0.2);
  latest = learnMeaning(SMALL);
  t.true((await nearness()) > 0.8);
});

for (const [what, text, near, far] of [
  ["case and marks", "Vélo électrique", "VELO ELECTRIQUE", "Canapé d'angle"],
  ["ß, ł and ø", "große Łódź smørrebrød", "GROSSE LODZ SMORREBROD", "kleine Warschau Brot"],
  ["typos", "used macbok pro", "MacBook Pro 14 inch, used", "Mountain bike, size L"],
  ["typos and language", "kinderwgen", "pram", "Kühlschrank"],
  ["word forms", "Kinderfahrräder", "Kinderfahrrad 20 Zoll", "Kühlschrank mit Gefrierfach"],
  ["parts of compounds", "Wohnung mieten", "Dachgeschosswohnung zu vermieten", "Rasenmäher zu verkaufen"],
  ["Polish cases", "rower górski", "rowery górskie na sprzedaż", "kanapa na sprzedaż"],
  ["language", "Kinderwagen", "pram in good condition", "lawn mower"],
  ["language, without English", "poussette", "cochecito de bebé", "tondeuse"],
  ["wording", "my tap is leaking", "plumber, all repairs", "guitar teacher"],
  ["what the thing is for", "someone to take my dog out", "Hundesitter", "Kindersitz"],
] as const) {
  test(`texts that differ in ${what} are similar`, async (t) => {
    const [alike = 0, apart = 0] = await nearness(text, near, far);
    t.true(alike > 0.25, `near: ${alike}`);
    t.true(apart < alike / 2, `near: ${alike}, far: ${apart}`);
  });
}

test("a thing is nearest to itself, then to related things, then to others", async (t) => {
  const [same = 0, related = 0, other = 0] = await nearness("pram", "Kinderwagen", "baby car seat", "winter tyres");
  t.true(same > related && related > 0.4 && other < 0.2, `${same}, ${related}, ${other}`);
});

test("case, accents and ligatures make no difference at all", async (t) => {
  const [same = 0] = await nearness("Große Straße, Œuvre", "GROSSE STRASSE, oeuvre");
  t.true(close(same, 1));
});

test("stop words do not make texts similar", async (t) => {
  const [stop = 0, topic = 0] = await nearness(
    "I am looking for a table with the best of it",
    "I am not for the and with it of my",
    "table",
  );
  t.true(topic > 2 * stop, `stop words: ${stop}, topic: ${topic}`);
});

test("unrelated texts are not similar", async (t) => {
  const [cosine = 1] = await nearness(
    "Two-bedroom flat to let near the river, bills included, no smokers",
    "Yamaha trumpet, silver plated, hard case",
  );
  t.true(Math.abs(cosine) < 0.15, `${cosine}`);
});

test("4,000 characters are embedded in milliseconds, also if they are one word", async (t) => {
  const words = Array.from({ length: 700 }, (_, index) => (index * 7919).toString(36)).join(" ");
  const texts = [words.slice(0, 4000), "x".repeat(4000), "ﷺ".repeat(4000)];
  await builtin.embed(texts, never());
  const took = await processorTime(async () => {
    for (let i = 0; i < 20; i++) await builtin.embed(texts, never());
  });
  const each = took / (20 * texts.length);
  // It took 2 ms on the author's machine. The service counts on 5 ms, and another processor may be four times slower.
  t.true(each < 20, `${each} ms`);
});

test("an aborted signal stops the built-in embedder", async (t) => {
  const reason = new Error("stopped");
  t.is(await t.throwsAsync(builtin.embed(["x"], AbortSignal.abort(reason))), reason);
});

test("a provider's vectors are sorted like the texts and scaled to unit length", async (t) => {
  const { provider, embedder } = await start(t, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const data = [
      { index: 1, embedding: flat(-3) },
      { index: 0, embedding: flat(2) },
    ];
    response.end(JSON.stringify({ object: "list", data }));
  });
  const [first = [], second = [], ...others] = await embedder.embed(["one", "two"], never());
  t.deepEqual(others, []);
  t.true(isUnit(first) && isUnit(second));
  t.true(first.every((value) => close(value, 1 / Math.sqrt(512))));
  t.true(second.every((value) => close(value, -1 / Math.sqrt(512))));
  t.is(embedder.model, "embed-1");
  t.deepEqual(
    provider.requests.map(({ path, body }) => ({ path, body })),
    [
      {
        path: "/v1/embeddings",
        body: { model: "embed-1", input: ["one", "two"], dimensions: 512, encoding_format: "float" },
      },
    ],
  );
});

test("texts are sent in batches", async (t) => {
  const { provider, embedder } = await start(t);
  const texts = Array.from({ length: 2 * EMBEDDING_BATCH + 1 }, (_, index) => `text number ${index}`);
  const given = await embedder.embed(texts, never());
  t.deepEqual(
    provider.requests.map((request) => request.body.input),
    [texts.slice(0, EMBEDDING_BATCH), texts.slice(EMBEDDING_BATCH, 2 * EMBEDDING_BATCH), texts.slice(-1)],
  );
  const expected = await createBuiltinEmbedder(() => NO_MEANING).embed(texts, never());
  t.is(given.length, texts.length);
  t.true(given.every((vector, index) => close(dot(vector, expected[index]), 1)));
});

test("no request is sent for no texts, and a blank text is sent as a space", async (t) => {
  const { provider, embedder } = await start(t);
  t.deepEqual(await embedder.embed([], never()), []);
  t.is((await embedder.embed([""], never())).length, 1);
  t.deepEqual(
    provider.requests.map((request) => request.body.input),
    [[" "]],
  );
});

const SHAPE = "The provider's answer does not hold vectors of the right shape.";
const zero = "The provider answered with a vector that has no direction.";

const REFUSED: [string, Behaviour, string, number][] = [
  ["one number too few", vectors((texts) => texts.map(() => flat(1, 511))), SHAPE, 1],
  ["1,536 numbers", vectors((texts) => texts.map(() => flat(1, 1536))), SHAPE, 1],
  ["a null among the numbers", vectors((texts) => texts.map(() => [null, ...flat(1, 511)])), SHAPE, 1],
  ["a string among the numbers", vectors((texts) => texts.map(() => ["1", ...flat(1, 511)])), SHAPE, 1],
  ["base64", vectors((texts) => texts.map(() => "AACAPwAAgD8=")), SHAPE, 1],
  ["all zeros", vectors((texts) => texts.map(() => flat(0))), zero, 1],
  ["numbers too small for a direction", vectors((texts) => texts.map(() => flat(1e-320))), zero, 1],
  ["numbers of infinite length", vectors((texts) => texts.map(() => flat(1e308))), zero, 1],
  [
    "one vector too few",
    vectors((texts) => texts.slice(1).map(() => flat(1))),
    "The provider answered with 1 vectors for 2 texts.",
    1,
  ],
  [
    "one vector too many",
    vectors((texts) => [...texts, "more"].map(() => flat(1))),
    "The provider answered with 3 vectors for 2 texts.",
    1,
  ],
  ["NaN in the JSON", answers('{"data":[{"index":0,"embedding":[NaN]}]}'), "The provider's answer is not JSON.", 1],
  ["a number that overflows", answers(`{"data":[{"index":0,"embedding":[${"1e999,".repeat(511)}1]}]}`), SHAPE, 1],
  [
    "the same index twice",
    answers(JSON.stringify({ data: [0, 0].map((index) => ({ index, embedding: flat(1) })) })),
    "The provider answered with 2 vectors for 2 texts.",
    1,
  ],
  [
    "a repeated index besides all others",
    answers(JSON.stringify({ data: [0, 1, 1].map((index) => ({ index, embedding: flat(1) })) })),
    "The provider answered with 3 vectors for 2 texts.",
    1,
  ],
  [
    "indexes beyond the texts",
    answers(JSON.stringify({ data: [1, 2].map((index) => ({ index, embedding: flat(1) })) })),
    "The provider's vectors are not numbered as the texts are.",
    1,
  ],
  ["null", answers("null"), SHAPE, 1],
  ["truncated JSON", truncatedJson(), "The provider's answer is not JSON.", 1],
  ["an HTML page", notJson(), SHAPE, 1],
  ["ten megabytes", huge(), "The provider's answer is longer than 1000000 bytes.", 1],
  ["500", status(500), "The provider answered 500.", 1],
  ["a long Retry-After", tooManyRequests("600"), "The provider answered 429.", 1],
  ["a cut connection", cuts(), "The provider could not be reached (UND_ERR_SOCKET).", 1],
];

/** Responds with this body as JSON, valid or not. */
function answers(body: string): Behaviour {
  return (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(body);
  };
}

for (const [title, behaviour, message, requests] of REFUSED) {
  test(`a provider's response with ${title} is refused`, async (t) => {
    const { provider, embedder } = await start(t);
    provider.always(behaviour);
    const error = await t.throwsAsync(embedder.embed(["secret one", "secret two"], never()));
    t.is(error?.message, message);
    t.is(error?.cause, undefined);
    t.is(provider.requests.length, requests);
  });
}

test("one invalid vector in a later batch refuses them all", async (t) => {
  const good = vectors((texts) => texts.map(() => flat(1)));
  const { embedder } = await start(
    t,
    good,
    vectors((texts) => texts.map(() => flat(0))),
  );
  const texts = Array.from({ length: EMBEDDING_BATCH + 1 }, () => "text");
  await t.throwsAsync(embedder.embed(texts, never()), { message: zero });
});

test("an abort ends a call to an embedder that never responds", async (t) => {
  const { embedder } = await start(t, hangs());
  const controller = new AbortController();
  const reason = new Error("the worker stops");
  setTimeout(() => controller.abort(reason), 100);
  const begin = performance.now();
  t.is(await t.throwsAsync(embedder.embed(["x"], controller.signal)), reason);
  t.true(performance.now() - begin < allowed(5000));
});
