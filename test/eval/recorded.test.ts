import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { askExtraction, offerExtraction } from "../../src/reader/extraction.ts";
import { createClient } from "../../src/reader/openai/client.ts";
import { createOpenAiExtractor } from "../../src/reader/openai/extractor.ts";
import { NO_PLACES } from "../../src/reader/propose/gazetteer.ts";
import { startProvider } from "../reader/provider.ts";
import { readLabels } from "./labels.ts";
import { readAnswers, recordedOnly, startRecorder, startReplay } from "./recorded.ts";

/** Answers of a model are recorded and replayed. */

const FILE = fileURLToPath(new URL("recorded/answers.jsonl", import.meta.url));
const TEXTS = fileURLToPath(new URL("texts", import.meta.url));

const { signal } = new AbortController();
const VOCABULARY = { taxonomy: [], concepts: [], labels: [], places: NO_PLACES, classifiers: {} };

test("every recorded answer keeps to the schema, and belongs to a labelled text", async (t) => {
  const answers = await readAnswers(FILE);
  for (const { kind, text, answer } of answers.values()) {
    const { error } = (kind === "offer" ? offerExtraction : askExtraction).safeParse(answer);
    t.is(error, undefined, `${text}: ${error?.message}`);
  }
  const { offers, asks } = recordedOnly(await readLabels(TEXTS), answers);
  t.is(answers.size, [...offers, ...asks].flatMap(({ lines }): unknown[] => lines).length);
  t.true(answers.size >= 40);
});

test("what a provider answers is recorded, and replayed for the same texts only", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "souk-recorded-"));
  const provider = await startProvider();
  const recorder = await startRecorder({ baseURL: provider.baseURL, apiKey: "sk-operator" });
  const file = join(folder, "answers.jsonl");
  const extractorAt = (baseURL: string) =>
    createOpenAiExtractor({
      client: createClient({ apiKey: "sk-test", baseURL }),
      model: "reader-1",
      vocabulary: VOCABULARY,
    });
  try {
    const recorded = await extractorAt(recorder.baseURL).extractOffer("Oak table, 120 EUR, anna@example.org", signal);
    t.is(recorded.price?.value.amount, 120);
    t.is(provider.requests[0]?.authorization, "Bearer sk-operator");
    t.is(await recorder.save(file), 1);
    t.notRegex(await readFile(file, "utf8"), /sk-/u);

    const replay = await startReplay(await readAnswers(file));
    try {
      const replayed = extractorAt(replay.baseURL);
      t.deepEqual(await replayed.extractOffer("Oak table, 120 EUR, anna@example.org", signal), recorded);
      await t.throwsAsync(replayed.extractOffer("Another text", signal), { message: "The provider answered 404." });
    } finally {
      await replay.close();
    }
  } finally {
    await recorder.close();
    await provider.close();
    await rm(folder, { recursive: true });
  }
});
