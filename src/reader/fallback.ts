import { within } from "../base/within.ts";
import type {
  AskExtraction,
  BuiltinExtractor,
  Extractor,
  Located,
  MaySend,
  OfferExtraction,
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

type Operation = Outcome["operation"];
/** Reads a text with the built-in extractor (`own`), or with a model. */
type Read<R> = {
  own: (text: string, signal: AbortSignal) => Promise<Located<R>>;
  ask: (model: Extractor, text: string, signal: AbortSignal, maySend: MaySend) => Promise<R>;
};
type Attempt = <R extends OfferExtraction | AskExtraction>(
  operation: Operation,
  read: Read<R>,
  text: string,
  signal: AbortSignal,
  maySend: MaySend,
) => Promise<Located<R>[]>;

const always: MaySend = async () => true;

const readerOf = (model: string, builtin: BuiltinExtractor, attempt: Attempt): Reader => {
  const offer: Read<OfferExtraction> = { own: builtin.extractOffer, ask: (one, ...rest) => one.extractOffer(...rest) };
  const ask: Read<AskExtraction> = { own: builtin.extractAsk, ask: (one, ...rest) => one.extractAsk(...rest) };
  return {
    model,
    readOffer: async (text, signal, maySend = always) => ({
      extractions: await attempt("read_offer", offer, text, signal, maySend),
      addressed: builtin.findOrders(text),
    }),
    readAsk: async (text, signal, maySend = always) => ({
      extractions: await attempt("read_ask", ask, text, signal, maySend),
      addressed: builtin.findOrders(text),
    }),
  };
};

/** Lets only the built-in extractor read, and reports that it did. */
const readAlone =
  (builtin: BuiltinExtractor, onOutcome: (outcome: Outcome) => void): Attempt =>
  async (operation, { own }, text, signal) => {
    const start = performance.now();
    const extraction = await own(text, signal);
    const milliseconds = performance.now() - start;
    onOutcome({ model: builtin.model, operation, outcome: "ok", milliseconds });
    return [extraction];
  };

/**
 * Creates a reader that asks the primary extractor within a deadline, and then the built-in extractor, which says what of
 * the answer the text states. If the primary
 * fails in any way (an error response, an invalid answer, or one that is too late, too long or of the wrong shape), the
 * built-in extraction stands alone. It also does if the text may not be sent to a model (again). An abort by the caller
 * is no failure of the extractor: it is thrown on, and nothing is read.
 *
 * @param primary the messages of its errors are reported, so they must contain neither text nor key
 * @param builtin its errors are thrown to the caller
 * @param options.deadlineMs how long the primary extractor may take; the built-in extractor then takes a few
 *   milliseconds more
 * @param options.onOutcome called once for each text that was read
 */
export const readerWithFallback = (
  primary: Extractor & { isRepaired?(extraction: OfferExtraction | AskExtraction): boolean },
  builtin: BuiltinExtractor,
  options: { deadlineMs: number; onOutcome: (outcome: Outcome) => void },
): Reader => {
  const alone = readAlone(builtin, options.onOutcome);
  return readerOf(primary.model, builtin, async (operation, read, text, signal, maySend) => {
    const start = performance.now();
    const report = (rest: Pick<Outcome, "outcome" | "error">) =>
      options.onOutcome({ model: primary.model, operation, milliseconds: performance.now() - start, ...rest });

    if (!(await maySend())) return alone(operation, read, text, signal, maySend);
    const first = await within(options.deadlineMs, signal, (inner) => read.ask(primary, text, inner, maySend)).then(
      (extraction) => ({ extraction }),
      (error: unknown) => ({
        error: error instanceof Error ? error.message : "The extractor failed without a reason.",
      }),
    );
    signal.throwIfAborted();
    const own = await read.own(text, signal);
    if ("error" in first) {
      report({ outcome: "fallback", error: first.error });
      return [own];
    }
    report({ outcome: primary.isRepaired?.(first.extraction) ? "repaired" : "ok" });
    return [builtin.keepStated(text, first.extraction), own];
  });
};

/** The built-in extractor without a primary one. Reports outcomes in the same way. */
export const readerAlone = (builtin: BuiltinExtractor, options: { onOutcome: (outcome: Outcome) => void }): Reader =>
  readerOf(builtin.model, builtin, readAlone(builtin, options.onOutcome));
