import { within } from "../base/within.ts";
import type {
  AskExtraction,
  BuiltinExtractor,
  Extractor,
  MaySend,
  OfferExtraction,
  OwnReading,
  Reading,
} from "./extraction.ts";

/** The outcome of one extraction, for logs and metrics. Contains nothing of the text. */
export type Outcome = {
  /** The extractor that was asked first. */
  model: string;
  operation: "read_offer" | "read_ask";
  /**
   * "ok": the first answer was valid. "repaired": the second was. "fallback": only the built-in extractor read the text,
   * for the reason in `error`.
   */
  outcome: "ok" | "repaired" | "fallback";
  milliseconds: number;
  /** The error message of the first extractor. */
  error?: string;
};

/**
 * Reads texts. Each text has one or two extractions: what it states of the model's first, if there is a model and it
 * answered well, and the built-in extractor's last.
 */
export type Reader = {
  /** The name in logs: "builtin", or the name of the model. */
  readonly model: string;
  /**
   * @param maySend asked each time before the text is sent to a model; absent: it may be
   * @throws the signal's reason after an abort, or an error of `maySend` or of the built-in extractor
   */
  readOffer(text: string, signal: AbortSignal, maySend?: MaySend): Promise<Reading<OfferExtraction>>;
  readAsk(text: string, signal: AbortSignal, maySend?: MaySend): Promise<Reading<AskExtraction>>;
};

type Extraction = OfferExtraction | AskExtraction;

/** An extractor that asks a model. */
type Primary = Extractor & { isRepaired?(extraction: Extraction): boolean };

/** How a text is read: by the model, and by the built-in extractor. */
type Ways<R> = {
  operation: Outcome["operation"];
  ask: ((text: string, signal: AbortSignal, mayRepeat?: MaySend) => Promise<R>) | undefined;
  own: (text: string) => OwnReading<R>;
};

/**
 * Creates a reader that asks the primary extractor within a deadline, and then the built-in extractor, which says what of
 * the answer the text states. If the primary fails in any way (an error response, an invalid answer, or one that is too
 * late, too long or of the wrong shape), the built-in extraction stands alone. It also does if there is no primary, or
 * if the text may not be sent to a model (again). An abort by the caller is no failure of the extractor: it is thrown on,
 * and nothing is read.
 *
 * @param builtin its errors are thrown to the caller
 * @param options.primary the messages of its errors are reported, so they must contain neither text nor key.
 *   `deadlineMs`: how long it may take; the built-in extractor then takes a few milliseconds more
 * @param options.onOutcome called once for each text that was read
 */
export const readerOf = (
  builtin: BuiltinExtractor,
  options: { primary?: { extractor: Primary; deadlineMs: number }; onOutcome: (outcome: Outcome) => void },
): Reader => {
  const { primary, onOutcome } = options;
  const read =
    <R extends Extraction>({ operation, ask, own }: Ways<R>) =>
    async (text: string, signal: AbortSignal, maySend?: MaySend): Promise<Reading<R>> => {
      const start = performance.now();
      const report = (model: string, rest: Pick<Outcome, "outcome" | "error">): void =>
        onOutcome({ model, operation, milliseconds: performance.now() - start, ...rest });
      const isAsked = primary !== undefined && ask !== undefined && (maySend === undefined || (await maySend()));
      if (!isAsked) {
        signal.throwIfAborted();
        const { extraction, addressed } = own(text);
        report(builtin.model, { outcome: "ok" });
        return { extractions: [extraction], addressed };
      }
      const { extractor, deadlineMs } = primary;
      const answer = await within(deadlineMs, signal, (inner) => ask(text, inner, maySend)).then(
        (extraction) => ({ extraction }),
        (error: unknown) => ({
          error: error instanceof Error ? error.message : "The extractor failed without a reason.",
        }),
      );
      signal.throwIfAborted();
      const { extraction, addressed, keepStated } = own(text);
      if ("error" in answer) {
        report(extractor.model, { outcome: "fallback", error: answer.error });
        return { extractions: [extraction], addressed };
      }
      report(extractor.model, { outcome: extractor.isRepaired?.(answer.extraction) ? "repaired" : "ok" });
      return { extractions: [keepStated(answer.extraction), extraction], addressed };
    };
  return {
    model: primary?.extractor.model ?? builtin.model,
    readOffer: read({ operation: "read_offer", ask: primary?.extractor.extractOffer, own: builtin.readOffer }),
    readAsk: read({ operation: "read_ask", ask: primary?.extractor.extractAsk, own: builtin.readAsk }),
  };
};
