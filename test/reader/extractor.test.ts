import test from "ava";
import { NO_MEANING } from "../../src/reader/embed/learn.ts";
import { createEmbedder } from "../../src/reader/embedders.ts";
import type { Vocabulary } from "../../src/reader/extraction.ts";
import { NO_PLACES } from "../../src/reader/propose/gazetteer.ts";
import { createReader } from "../../src/reader/reader.ts";
import type { Outcome } from "../../src/reader/usage.ts";
import { startProvider, status } from "./provider.ts";

const TEXT = "Oak table, 120 EUR, write to anna@example.org";

const VOCABULARY: Vocabulary = {
  taxonomy: [{ domain: "home_garden", kinds: ["sale"], categories: ["furniture"] }],
  concepts: [],
  labels: [],
  places: NO_PLACES,
  classifiers: {},
};

/** Half a minute is longer than any call here takes, so no deadline is reached. */
const AMPLE_MS = 30_000;

const never = () => new AbortController().signal;

test("without a provider, the built-in extractor and embedder are used", async (t) => {
  const outcomes: Outcome[] = [];
  const reader = await createReader({
    vocabulary: VOCABULARY,
    extractionDeadlineMs: AMPLE_MS,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  t.is((await reader.readOffer(TEXT, never())).extractions.length, 1);
  t.is(reader.model, "builtin");
  t.deepEqual(
    outcomes.map(({ milliseconds: _, ...rest }) => rest),
    [{ model: "builtin", operation: "read_offer", outcome: "ok" }],
  );
  const embedder = await createEmbedder(undefined, () => NO_MEANING);
  t.is(embedder.model, "builtin-meaning-1");
  t.is((await embedder.embed([TEXT], never()))[0]?.length, 512);
});

test("with a provider, its configured models are used", async (t) => {
  const provider = await startProvider();
  t.teardown(provider.close);
  const openai = {
    apiKey: "sk-test",
    baseURL: provider.baseURL,
    extractionModel: "reader-1",
    embeddingModel: "embed-1",
  };
  const embedder = await createEmbedder(openai, () => null);
  const reader = await createReader({
    openai,
    vocabulary: VOCABULARY,
    extractionDeadlineMs: AMPLE_MS,
    onOutcome: () => {},
  });
  t.is((await reader.readOffer(TEXT, never())).extractions.length, 2);
  t.is(reader.model, "reader-1");
  await embedder.embed([TEXT], never());
  t.deepEqual(
    provider.requests.map(({ path, body }) => [path, body.model]),
    [
      ["/v1/chat/completions", "reader-1"],
      ["/v1/embeddings", "embed-1"],
    ],
  );
  t.is(embedder.model, "embed-1");
});

test("if the provider fails, the built-in extractor is used, and an embedding fails", async (t) => {
  const provider = await startProvider();
  t.teardown(provider.close);
  provider.always(status(401));
  const outcomes: Outcome[] = [];
  const openai = { apiKey: "sk-test", baseURL: provider.baseURL, extractionModel: "reader-1" };
  const embedder = await createEmbedder(openai, () => null);
  const reader = await createReader({
    openai,
    vocabulary: VOCABULARY,
    extractionDeadlineMs: AMPLE_MS,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  t.is((await reader.readAsk(TEXT, never())).extractions.length, 1);
  t.deepEqual(
    outcomes.map(({ milliseconds: _, ...rest }) => rest),
    [{ model: "reader-1", operation: "read_ask", outcome: "fallback", error: "The provider answered 401." }],
  );
  await t.throwsAsync(embedder.embed([TEXT], never()), { message: "The provider answered 401." });
});
