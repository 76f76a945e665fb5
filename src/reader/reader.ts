import { within } from "../base/within.ts";
import { ownTurn } from "../database/own_turn.ts";
import { createBuiltinExtractor } from "./builtin/extractor.ts";
import type { OpenAiSettings } from "./embedders.ts";
import type {
  AskExtraction,
  BuiltinExtractor,
  Extractor,
  MaySend,
  OfferExtraction,
  OwnReading,
  Reading,
  Vocabulary,
} from "./extraction.ts";
import { countOutcome, type Outcome } from "./usage.ts";

/** What reads texts in a process: the built-in extractor, and a provider's model before it if one is configured. */

type Read<R> = (text: string, signal: AbortSignal, maySend?: MaySend) => Promise<Reading<R>>;

/**
 * Reads texts. Each text has one or two extractions: what it states of the model's first, if there is a model and it
 * answered well, and the built-in extractor's last.
 *
 * `maySend` is asked each time before the text is sent to a model; absent: it may be. Both functions throw the signal's
 * reason after an abort, or an error of `maySend` or of the built-in extractor.
 */
export type Reader = {
  /** The name in logs: "builtin", or the name of the model. */
  readonly model: string;
  readOffer: Read<OfferExtraction>;
  readAsk: Read<AskExtraction>;
};

/**
 * Creates a reader that asks the primary extractor within a deadline, and then the built-in extractor, which says what of
 * the answer the text states. The database uses, for each field, the first extraction that the text states
 * (`reading.choose_field`). The built-in extraction stands alone if there is no primary, if the text may not be sent to a
 * model (again), or if the primary fails in any way: an error response, an invalid answer, or one that is too late, too
 * long or of the wrong shape. An abort by the caller is no failure of the extractor: it is thrown on, and nothing is read.
 *
 * @param builtin its errors are thrown to the caller
 * @param options.primary the messages of its errors are reported, so they must contain neither text nor key.
 *   `deadlineMs`: how long it may take; the built-in extractor then takes a few milliseconds more
 * @param options.onOutcome called once for each text that was read
 */
export const readerOf = (
  builtin: BuiltinExtractor,
  options: { primary?: { extractor: Extractor; deadlineMs: number }; onOutcome: (outcome: Outcome) => void },
): Reader => {
  const { primary, onOutcome } = options;
  const reading =
    <R extends OfferExtraction | AskExtraction>(
      operation: Outcome["operation"],
      ask: ((text: string, signal: AbortSignal, mayRepeat?: MaySend) => Promise<R>) | undefined,
      own: (text: string) => OwnReading<R>,
    ): Read<R> =>
    async (text, signal, maySend) => {
      const start = performance.now();
      const report = (model: string, rest: Pick<Outcome, "outcome" | "error">): void =>
        onOutcome({ model, operation, milliseconds: performance.now() - start, ...rest });
      const isAsked = primary !== undefined && ask !== undefined && (maySend === undefined || (await maySend()));
      const answer = isAsked
        ? await within(primary.deadlineMs, signal, (inner) => ask(text, inner, maySend)).then(
            (extraction) => ({ extraction }),
            (error: unknown) => ({
              error: error instanceof Error ? error.message : "The extractor failed without a reason.",
            }),
          )
        : null;
      signal.throwIfAborted();
      // A worker reads several texts at once. In one go they would take tens of milliseconds, in which a process that
      // also has an API would answer nobody.
      await ownTurn();
      signal.throwIfAborted();
      const { extraction, addressed, withheld, keepStated } = own(text);
      if (answer === null || !isAsked) report(builtin.model, { outcome: "ok" });
      else if ("error" in answer) report(primary.extractor.model, { outcome: "fallback", error: answer.error });
      else {
        const { model, isRepaired } = primary.extractor;
        report(model, { outcome: isRepaired?.(answer.extraction) ? "repaired" : "ok" });
        return { extractions: [keepStated(answer.extraction), extraction], addressed, withheld };
      }
      return { extractions: [extraction], addressed, withheld };
    };
  return {
    model: primary?.extractor.model ?? builtin.model,
    readOffer: reading("read_offer", primary?.extractor.extractOffer, builtin.readOffer),
    readAsk: reading("read_ask", primary?.extractor.extractAsk, builtin.readAsk),
  };
};

/** The default model supports strict schemas, answers within seconds (it is not a reasoning model) and is cheap. */
const DEFAULT_EXTRACTION_MODEL = "gpt-4.1-mini";

/**
 * Creates the reader of a process.
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
