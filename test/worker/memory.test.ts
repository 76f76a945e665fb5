import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import test from "ava";
import type { JobHelpers } from "graphile-worker";
import { createLog, type Log } from "../../src/base/log.ts";
import { inOneGo } from "../../src/base/steps.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { createQueryExtractor } from "../../src/reader/builtin/query.ts";
import type { Embedder, Vocabulary, Weights } from "../../src/reader/extraction.ts";
import { compileGazetteer } from "../../src/reader/propose/gazetteer.ts";
import { createReader } from "../../src/reader/reader.ts";
import { startWorker } from "../../worker/main.ts";
import { taskList } from "../../worker/tasks.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/market.ts";
import { sql } from "../support/sql.ts";

/** What is kept. All of it runs in this process, so that the heap can be measured right after a collection. */

/** How often the worker starts again, after a first time in which code is compiled and pools are filled. */
const RESTARTS = 4;
/** Some 0.1 MB is measured, most of it graphile-worker's. One vocabulary is 30 MB. */
const KEPT_MB = 1;
/** The rows of the places take 5 MB, as text. Compiled, they are in buffers outside of the heap. */
const PLACES_MB = 1;

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** The megabytes that are in use. What a run has ended may be released only a moment later. */
const heap = async (): Promise<number> => {
  await sleep(1_000);
  collect();
  await sleep(100);
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

test.serial("a worker that loses the database again and again keeps nothing of its earlier runs", async (t) => {
  const database = await createDatabase(t);
  let ready = 0;
  const note = (_: unknown, message?: string) => {
    if (message === "worker ready") ready += 1;
  };
  const worker = await startWorker({
    url: database.url,
    directUrl: null,
    embedded: false,
    alone: false,
    // No text is read, so the provider is never called.
    openai: { apiKey: "scripted", baseURL: "http://127.0.0.1:1/v1" },
    extractionDeadlineMs: 1_000,
    webhooks: { keys: [], anyAddress: false },
    mailer: null,
    baseUrl: () => "",
    metrics: createMetrics(false),
    log: { debug: note, info: note, warn: note, error: note } as unknown as Log,
  });
  t.teardown(worker.stop);
  const runs = (count: number) =>
    eventually(
      async () => ready,
      (made) => made >= count,
      60_000,
    );
  /** Ends the session that listens for jobs. A run opens it a moment after it is ready. */
  const startAgain = async (): Promise<void> => {
    const before = ready;
    await eventually(
      () =>
        sql(
          database.url,
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and state = 'idle' and query like 'LISTEN "jobs:insert"%'`,
        ),
      (ended) => ended.length > 0,
    );
    await runs(before + 1);
  };

  await runs(1);
  await startAgain();
  const before = await heap();
  for (let n = 0; n < RESTARTS; n++) await startAgain();
  const kept = ((await heap()) - before) / RESTARTS;
  t.true(kept < KEPT_MB, `${kept.toFixed(2)} MB are kept of each run`);
});

test.serial("of a vocabulary, what reads texts and queries keeps only what it has compiled", async (t) => {
  const database = await createDatabase(t);
  let parts: Record<string, WeakRef<object>> = {};
  const compile = async () => {
    const [row] = await sql<{ text: string }>(database.url, "select jobs.get_vocabulary()::text as text");
    const vocabulary: Vocabulary = JSON.parse(row?.text ?? "");
    const trained: Weights = { classes: ["yes", "no"], bias: [0, 0], features: ["word sofa"], weights: "AQI=" };
    const changed = { ...vocabulary, version: "changed", classifiers: { ...vocabulary.classifiers, goods: trained } };
    const { labels, places, taxonomy } = changed;
    parts = Object.fromEntries(
      Object.entries({ changed, labels, places, trained, taxonomy }).map(([name, part]) => [name, new WeakRef(part)]),
    );
    return {
      reader: await createReader({
        openai: { apiKey: "scripted", baseURL: "http://127.0.0.1:1/v1" },
        vocabulary: changed,
        extractionDeadlineMs: 1_000,
        onOutcome: () => undefined,
      }),
      extractQuery: createQueryExtractor(changed),
    };
  };
  const { reader, extractQuery } = await compile();
  await heap();
  const alive = Object.keys(parts).filter((name) => parts[name]?.deref() !== undefined);
  // The prompts of the provider name the taxonomy.
  t.deepEqual(alive, ["taxonomy"]);
  t.is((await reader.readOffer("Grey sofa", AbortSignal.timeout(60_000), async () => false)).addressed.length, 0);
  t.is(extractQuery("sofa in Berlin").places[0]?.city, "Berlin");
});

test.serial("the compiled places do not keep the text of their rows", async (t) => {
  const database = await createDatabase(t);
  const compile = async () => {
    const [row] = await sql<{ text: string }>(database.url, "select reading.places()::text as text");
    return inOneGo(compileGazetteer(JSON.parse(row?.text ?? "")));
  };
  // The first one compiles the code.
  await compile();
  const before = await heap();
  const gazetteer = await compile();
  const kept = (await heap()) - before;
  t.true(kept < PLACES_MB, `${kept.toFixed(2)} MB are kept`);
  t.true(gazetteer.named("berlin").length > 0);
});

test.serial("no task keeps the signals of its calls to a provider", async (t) => {
  const signals: WeakRef<AbortSignal>[] = [];
  const embedder: Embedder = {
    model: "scripted",
    paid: true,
    embed: async (texts, signal) => {
      signals.push(new WeakRef(signal));
      // As the openai package does, which leaves the listener there.
      signal.addEventListener("abort", () => {}, { once: true });
      return texts.map(() => [1]);
    },
  };
  const nothing = { extractions: [], addressed: [], withheld: () => ({ spans: [], images: [] }) };
  const given: Record<string, unknown> = {
    get_embedding_input: "Grey sofa",
    take_batch: { model: "scripted", items: [{ kind: "offer", id: randomUUID(), words: "Grey sofa" }] },
    get_submission: { kind: "create_ask", text: "Grey sofa", embed: true },
  };
  const tasks = taskList({
    call: async <Result>(name: string) => [(given[name] ?? null) as Result],
    deliver: async () => undefined,
    reader: () => ({ model: "scripted", readOffer: async () => nothing, readAsk: async () => nothing }),
    embedder,
    mailer: null,
    baseUrl: () => "",
    log: createLog("silent"),
  });
  // A worker's jobs share one signal for as long as the worker runs.
  const helpers = { job: { id: "1" }, abortSignal: new AbortController().signal } as unknown as JobHelpers;
  for (const name of ["embed_offer", "embed_ask", "reembed", "complete_submission"]) {
    signals.length = 0;
    for (let n = 0; n < 20; n++) await tasks[name]?.({ id: randomUUID() }, helpers);
    t.is(signals.length, 20, name);
    await heap();
    const kept = signals.filter((signal) => signal.deref() !== undefined).length;
    // The last one may still be in a register.
    t.true(kept <= 1, `${name} keeps ${kept} of 20`);
  }
});
