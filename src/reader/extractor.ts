import { createBuiltinExtractor } from "./builtin/extractor.ts";
import type { OpenAiSettings } from "./embedders.ts";
import type { Vocabulary } from "./extraction.ts";
import { type AccountableExtractor, extractorAlone, extractorWithFallback, type Outcome } from "./fallback.ts";
import { extractorBeside } from "./merge.ts";
import { createClient } from "./openai/client.ts";
import { createOpenAiExtractor } from "./openai/extractor.ts";
import { countOutcome } from "./usage.ts";

/** Knows strict schemas, answers in a few seconds (it does not think first), and costs little. */
const DEFAULT_EXTRACTION_MODEL = "gpt-4.1-mini";

/**
 * Chooses who reads: a provider's model when one is configured, else the built-in extractor.
 *
 * Beside a model the built-in extractor reads every text too, and field by field the better-grounded value wins (merge.ts).
 *
 * An extraction falls back to the built-in extractor on: an answer of 4xx or 5xx after bounded tries; a 429 that asks for a
 * longer pause than is waited; no connection or one that breaks; no answer, or one byte by byte, until the deadline; an
 * answer that is not JSON, too long, or of the wrong shape twice; a refusal. An embedding never falls back, since
 * vectors of two models cannot be compared: it throws, and its job tries again later.
 *
 * @param options.extractionDeadlineMs what the provider's model gets for one text, its retries and repair included
 * @param options.onOutcome told once of every extraction
 */
export const createExtractor = (options: {
  openai?: OpenAiSettings | undefined;
  vocabulary: Vocabulary;
  extractionDeadlineMs: number;
  onOutcome: (outcome: Outcome) => void;
}): AccountableExtractor => {
  const { openai, vocabulary } = options;
  const onOutcome = (outcome: Outcome): void => {
    countOutcome(outcome.model, outcome.operation, outcome.outcome, outcome.milliseconds);
    options.onOutcome(outcome);
  };
  const builtin = createBuiltinExtractor(vocabulary);
  if (openai === undefined) return extractorAlone(builtin, { onOutcome });
  const model = openai.extractionModel ?? DEFAULT_EXTRACTION_MODEL;
  const primary = createOpenAiExtractor({ client: createClient(openai), model, vocabulary });
  return extractorWithFallback(extractorBeside(primary, builtin), builtin, {
    deadlineMs: options.extractionDeadlineMs,
    onOutcome,
  });
};
