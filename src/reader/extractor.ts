import { createBuiltinExtractor } from "./builtin/extractor.ts";
import type { OpenAiSettings } from "./embedders.ts";
import type { Vocabulary } from "./extraction.ts";
import { type Outcome, type Reader, readerOf } from "./fallback.ts";
import { countOutcome } from "./usage.ts";

/** The default model supports strict schemas, answers within seconds (it is not a reasoning model) and is cheap. */
const DEFAULT_EXTRACTION_MODEL = "gpt-4.1-mini";

/**
 * Creates the reader of a process: a provider's model if one is configured, and the built-in extractor, which reads every
 * text too. The database uses, for each field, the first extraction that the text states (`reading.choose_field`).
 *
 * The built-in extraction stands alone if the provider
 * - answers 4xx or 5xx twice, or 429 with a longer pause than the client waits;
 * - cannot be reached, or the connection breaks;
 * - does not answer before the deadline, or answers too slowly to finish;
 * - answers with something that is not JSON, is too long, or has the wrong shape twice;
 * - refuses;
 * - may not get the text, or has got it twice.
 * An embedding never falls back, because vectors of two models cannot be compared: it throws, and its job is retried
 * later.
 *
 * @param options.extractionDeadlineMs how long the provider's model may take for one text, including a second request
 * @param options.onOutcome called once for each extraction
 */
export const createReader = async (options: {
  openai?: OpenAiSettings | undefined;
  vocabulary: Vocabulary;
  extractionDeadlineMs: number;
  onOutcome: (outcome: Outcome) => void;
}): Promise<Reader> => {
  // The reader keeps what its functions use. The vocabulary, many megabytes, must not be among it.
  const { openai, vocabulary, extractionDeadlineMs: deadlineMs, onOutcome: tell } = options;
  const onOutcome = (outcome: Outcome): void => {
    countOutcome(outcome.model, outcome.operation, outcome.outcome, outcome.milliseconds);
    tell(outcome);
  };
  const builtin = createBuiltinExtractor(vocabulary);
  if (openai === undefined) return readerOf(builtin, { onOutcome });
  const model = openai.extractionModel ?? DEFAULT_EXTRACTION_MODEL;
  // Imported only here, because most processes have no provider and the modules of its client are many.
  const { createClient } = await import("./openai/client.ts");
  const { createOpenAiExtractor } = await import("./openai/extractor.ts");
  const extractor = createOpenAiExtractor({ client: createClient(openai), model, vocabulary });
  return readerOf(builtin, { primary: { extractor, deadlineMs }, onOutcome });
};
