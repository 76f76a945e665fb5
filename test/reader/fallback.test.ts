import test, { type ExecutionContext } from "ava";
import type {
  AskExtraction,
  BuiltinExtractor,
  Extractor,
  Located,
  OfferExtraction,
} from "../../src/reader/extraction.ts";
import { createClient } from "../../src/reader/openai/client.ts";
import { createOpenAiExtractor } from "../../src/reader/openai/extractor.ts";
import { NO_PLACES } from "../../src/reader/propose/gazetteer.ts";
import { readerOf } from "../../src/reader/reader.ts";
import type { Outcome } from "../../src/reader/usage.ts";
import { allowed } from "../support/busy.ts";
import {
  type Behaviour,
  cuts,
  drips,
  hangs,
  huge,
  notJson,
  obeys,
  slowly,
  startProvider,
  status,
  tooManyRequests,
  truncatedJson,
  well,
  wrongTypes,
} from "./provider.ts";

const TEXT = "Oak table, 120 EUR, write to anna@example.org";
const KEY = "sk-test-51c9";

const OFFER: OfferExtraction = {
  language: "en",
  title: { value: "Oak table", quote: "Oak table", basis: "stated", confidence: 0.8 },
  domain: null,
  category: null,
  offer_kind: null,
  price: null,
  location: null,
  contacts: [],
  party: null,
  condition: null,
  space: null,
  features: [],
  attributes: [],
};

const ASK: AskExtraction = {
  language: "en",
  title: null,
  domain: null,
  category: null,
  ask_kind: { value: "buy", quote: "Oak", basis: "inferred", confidence: 0.6 },
  price: null,
  location: null,
  condition: null,
  keywords: [],
  must: [],
  exclude: [],
  attributes: [],
};

const asIs = <R extends OfferExtraction | AskExtraction>(extraction: R): Located<R> => extraction as Located<R>;

/** An extractor of a model. */
const primaryOf = (model: string, extractOffer: Extractor["extractOffer"]): Extractor => ({
  model,
  extractOffer,
  extractAsk: async () => structuredClone(ASK),
});

const nothing = () => ({ spans: [], images: [] });

/** Stands for the built-in extractor. Its extractions are always the same, so that tests recognise them. */
const standIn: BuiltinExtractor = {
  model: "builtin",
  readOffer: () => ({ extraction: structuredClone(OFFER), addressed: [], withheld: nothing, keepStated: asIs }),
  readAsk: () => ({ extraction: structuredClone(ASK), addressed: [], withheld: nothing, keepStated: asIs }),
};

/** A reading with these extractions, of a text that addresses no software. */
const alone = (extraction: OfferExtraction | AskExtraction) => ({
  extractions: [extraction],
  addressed: [],
  withheld: nothing,
});

const never = () => new AbortController().signal;

const start = async (t: ExecutionContext, deadlineMs: number, ...script: Behaviour[]) => {
  const provider = await startProvider();
  t.teardown(provider.close);
  provider.next(...script);
  const outcomes: Outcome[] = [];
  const client = createClient({ apiKey: KEY, baseURL: provider.baseURL });
  const primary = createOpenAiExtractor({
    client,
    model: "reader-1",
    vocabulary: { taxonomy: [], concepts: [], labels: [], places: NO_PLACES, classifiers: {} },
  });
  const onOutcome = (outcome: Outcome) => outcomes.push(outcome);
  return { provider, outcomes, reader: readerOf(standIn, { primary: { extractor: primary, deadlineMs }, onOutcome }) };
};

/** The outcomes without their times. Checks that the times are plausible. */
const timeless = (t: ExecutionContext, outcomes: Outcome[]) =>
  outcomes.map(({ milliseconds, ...rest }) => {
    t.true(milliseconds >= 0 && milliseconds < 60_000);
    return rest;
  });

/** Long enough for any response in these tests, even on a busy machine. */
const AMPLE_MS = 30_000;

test("a valid answer of the model is used", async (t) => {
  const { reader, outcomes } = await start(t, AMPLE_MS);
  const [offer, ownOffer, ...offers] = (await reader.readOffer(TEXT, never())).extractions;
  const [ask, ownAsk, ...asks] = (await reader.readAsk(TEXT, never())).extractions;
  t.is(offer?.price?.value.amount, 120);
  t.is(ask?.price?.value.max, 120);
  t.deepEqual([ownOffer, ownAsk], [OFFER, ASK], "the built-in extractor reads the text too");
  t.deepEqual([...offers, ...asks], []);
  t.is(reader.model, "reader-1");
  t.deepEqual(timeless(t, outcomes), [
    { model: "reader-1", operation: "read_offer", outcome: "ok" },
    { model: "reader-1", operation: "read_ask", outcome: "ok" },
  ]);
});

test("a repaired answer is used and reported as repaired", async (t) => {
  const { reader, outcomes } = await start(t, AMPLE_MS, wrongTypes(), well());
  const [offer] = (await reader.readOffer(TEXT, never())).extractions;
  t.is(offer?.price?.value.amount, 120);
  t.deepEqual(timeless(t, outcomes), [{ model: "reader-1", operation: "read_offer", outcome: "repaired" }]);
});

test("a text that may not be sent to a model is read by the built-in extractor alone", async (t) => {
  const { provider, reader, outcomes } = await start(t, AMPLE_MS);
  const mayNot = async () => false;
  t.deepEqual(await reader.readOffer(TEXT, never(), mayNot), alone(OFFER));
  t.deepEqual(await reader.readAsk(TEXT, never(), mayNot), alone(ASK));
  t.deepEqual(provider.requests, []);
  t.deepEqual(timeless(t, outcomes), [
    { model: "builtin", operation: "read_offer", outcome: "ok" },
    { model: "builtin", operation: "read_ask", outcome: "ok" },
  ]);
});

test("the reader asks each time before a text is sent", async (t) => {
  const { provider, reader } = await start(t, AMPLE_MS, status(500), well());
  let asked = 0;
  const { extractions } = await reader.readOffer(TEXT, never(), async () => {
    t.is(provider.requests.length, asked, "asked before");
    asked += 1;
    return true;
  });
  const [offer] = extractions;
  t.is(offer?.price?.value.amount, 120);
  t.is(asked, 2);
});

// 1.5 seconds is longer than a good response takes, and shorter than two attempts that are cut.
const SHORT_MS = 1500;

// What a provider does wrong is known before this on a busy machine, too; less than the pause that one of them asks for.
const LONG_MS = 20_000;

for (const [title, behaviour, error] of [
  ["a 500", status(500), /^The provider answered 500\.$|^No answer within 1500 ms\.$/u],
  ["a 429 with a Retry-After beyond the deadline", tooManyRequests("30"), /^The provider answered 429\.$/u],
  ["repeated 429s", tooManyRequests("1"), /^The provider answered 429\.$/u],
  ["no response", hangs(), /^No answer within 1500 ms\.$/u],
  ["a late response", slowly(4000), /^No answer within 1500 ms\.$/u],
  ["a response byte by byte", drips(20), /^No answer within 1500 ms\.$/u],
  ["an error byte by byte", drips(20, 400), /^The provider answered 400\.$/u],
  ["cut connections", cuts(), /^The provider could not be reached|^No answer within 1500 ms\.$/u],
  ["an HTML page", notJson(), /^The provider's answer is not a chat completion\.$/u],
  ["truncated JSON", truncatedJson(), /^The provider's answer is not JSON\.$/u],
  ["wrong types twice", wrongTypes(), /^The model's answer broke the schema twice \(language: invalid_type\)\.$/u],
  ["ten megabytes", huge(), /^The provider's answer is longer than 1000000 bytes\.$/u],
  ["an answer with members that the text asked for", obeys(), /^The model's answer broke the schema twice/u],
] as const) {
  test(`the built-in extractor takes over after ${title}`, async (t) => {
    const isLate = error.source.includes("No answer within");
    const { provider, reader, outcomes } = await start(t, isLate ? SHORT_MS : LONG_MS);
    provider.always(behaviour);
    const begin = performance.now();
    const [offer, ask] = await Promise.all([reader.readOffer(TEXT, never()), reader.readAsk(TEXT, never())]);
    // The short deadline, plus ample time for a busy machine.
    t.true(performance.now() - begin < SHORT_MS + allowed(5000));
    t.deepEqual(offer, alone(OFFER));
    t.deepEqual(ask, alone(ASK));
    const seen = timeless(t, outcomes).map(({ error: reason, ...rest }) => {
      t.regex(reason ?? "", error);
      return rest;
    });
    t.deepEqual(seen.map((outcome) => outcome.operation).sort(), ["read_ask", "read_offer"]);
    t.deepEqual(
      seen.map(({ model, outcome }) => ({ model, outcome })),
      [
        { model: "reader-1", outcome: "fallback" },
        { model: "reader-1", outcome: "fallback" },
      ],
    );
    // The provider repeats the text and the API key in its errors. Neither may be passed on.
    t.notRegex(JSON.stringify(outcomes), /sk-test|anna@|Oak/u);
  });
}

test("the deadline also ends an extractor that ignores its signal", async (t) => {
  const deaf = primaryOf("deaf", () => new Promise(() => {}));
  const outcomes: Outcome[] = [];
  const onOutcome = (outcome: Outcome) => outcomes.push(outcome);
  const reader = readerOf(standIn, { primary: { extractor: deaf, deadlineMs: 50 }, onOutcome });
  t.deepEqual(await reader.readOffer(TEXT, never()), alone(OFFER));
  t.deepEqual(timeless(t, outcomes), [
    { model: "deaf", operation: "read_offer", outcome: "fallback", error: "No answer within 50 ms." },
  ]);
});

test("an error that an extractor throws after its deadline is ignored", async (t) => {
  const late = primaryOf("late", async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    throw new Error("too late");
  });
  const reader = readerOf(standIn, { primary: { extractor: late, deadlineMs: 20 }, onOutcome: () => {} });
  t.deepEqual(await reader.readOffer(TEXT, never()), alone(OFFER));
  // An unhandled rejection would make this test file fail.
  await new Promise((resolve) => setTimeout(resolve, 200));
});

test("an abort by the caller is passed on and is not counted as a failure of the extractor", async (t) => {
  const { provider, reader, outcomes } = await start(t, AMPLE_MS, hangs());
  const controller = new AbortController();
  const reason = new Error("the worker stops");
  // Aborts once the provider has received the request.
  const asked = setInterval(() => provider.requests.length > 0 && controller.abort(reason), 20);
  t.teardown(() => clearInterval(asked));
  const begin = performance.now();
  t.is(await t.throwsAsync(reader.readOffer(TEXT, controller.signal)), reason);
  t.true(performance.now() - begin < AMPLE_MS);
  t.is(await t.throwsAsync(reader.readOffer(TEXT, controller.signal)), reason);
  t.is(provider.requests.length, 1);
  t.deepEqual(outcomes, []);
});

test("an error of the built-in extractor reaches the caller", async (t) => {
  const broken: BuiltinExtractor = {
    ...standIn,
    readOffer: () => {
      throw new Error("broken");
    },
  };
  const failing = primaryOf("failing", () => Promise.reject(new Error("failed")));
  const primary = { extractor: failing, deadlineMs: AMPLE_MS };
  const reader = readerOf(broken, { primary, onOutcome: () => t.fail() });
  await t.throwsAsync(reader.readOffer(TEXT, never()), { message: "broken" });
});

test("the built-in extractor alone reports the same kind of outcomes", async (t) => {
  const outcomes: Outcome[] = [];
  const reader = readerOf(standIn, { onOutcome: (outcome) => outcomes.push(outcome) });
  t.deepEqual(await reader.readOffer(TEXT, never()), alone(OFFER));
  t.deepEqual(await reader.readAsk(TEXT, never()), alone(ASK));
  t.deepEqual(timeless(t, outcomes), [
    { model: "builtin", operation: "read_offer", outcome: "ok" },
    { model: "builtin", operation: "read_ask", outcome: "ok" },
  ]);
});

test("of texts that are read at once, no two are read in the same turn of the event loop", async (t) => {
  let turn = 0;
  let ticking = true;
  const tick = () => {
    turn += 1;
    if (ticking) setImmediate(tick);
  };
  tick();
  const readIn: number[] = [];
  const noting: BuiltinExtractor = {
    ...standIn,
    readOffer: (text) => {
      readIn.push(turn);
      return standIn.readOffer(text);
    },
  };
  const reader = readerOf(noting, { onOutcome: () => {} });
  await Promise.all(Array.from({ length: 8 }, () => reader.readOffer(TEXT, never())));
  ticking = false;
  t.is(new Set(readIn).size, 8, "so a process with an API answers requests in between");
});
