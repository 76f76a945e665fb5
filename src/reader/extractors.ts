import { createBuiltinReader } from "./builtin/reader.ts";
import { createEmbedder, type OpenAiSettings } from "./embedders.ts";
import type { Embedder, Vocabulary } from "./extraction.ts";
import { type AccountableReader, type Outcome, readerAlone, readerWithFallback } from "./fallback.ts";
import { readerBeside } from "./merge.ts";
import { createClient } from "./openai/client.ts";
import { createOpenAiReader } from "./openai/reader.ts";
import { countOutcome } from "./usage.ts";

/** Knows strict schemas, answers in a few seconds (it does not think first), and costs little. */
const DEFAULT_EXTRACTION_MODEL = "gpt-4.1-mini";

/** Who reads and who embeds. */
export type Makers = { reader: AccountableReader; embedder: Embedder };

/**
 * Chooses who reads and who embeds: a provider's models when one is configured, else the built-in makers.
 *
 * Beside a model the built-in reader reads every text too, and field by field the better-grounded value wins (merge.ts).
 *
 * A reading falls back to the built-in reader on: an answer of 4xx or 5xx after bounded tries; a 429 that asks for a
 * longer pause than is waited; no connection or one that breaks; no answer, or one byte by byte, until the deadline; an
 * answer that is not JSON, too long, or of the wrong shape twice; a refusal. An embedding never falls back, since
 * vectors of two models cannot be compared: it throws, and its job tries again later.
 *
 * @param options.extractionDeadlineMs what the provider's model gets for one reading, its retries and repair included
 * @param options.onOutcome told once of every reading
 */
export const createMakers = (options: {
  openai?: OpenAiSettings | undefined;
  vocabulary: Vocabulary;
  extractionDeadlineMs: number;
  onOutcome: (outcome: Outcome) => void;
}): Makers => {
  const { openai, vocabulary } = options;
  const onOutcome = (outcome: Outcome): void => {
    countOutcome(outcome.maker, outcome.operation, outcome.outcome, outcome.milliseconds);
    options.onOutcome(outcome);
  };
  const builtin = createBuiltinReader(vocabulary);
  if (openai === undefined) {
    return { reader: readerAlone(builtin, { onOutcome }), embedder: createEmbedder(openai) };
  }
  const client = createClient(openai);
  const model = openai.extractionModel ?? DEFAULT_EXTRACTION_MODEL;
  return {
    reader: readerWithFallback(readerBeside(createOpenAiReader({ client, model, vocabulary }), builtin), builtin, {
      deadlineMs: options.extractionDeadlineMs,
      onOutcome,
    }),
    embedder: createEmbedder(openai),
  };
};
