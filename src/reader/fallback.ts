import type { AskExtraction, Extractor, OfferExtraction } from "./extraction.ts";

/** What became of one extraction, for logs and metrics. Holds nothing of the text. */
export type Outcome = {
  /** The extractor that was asked first. */
  model: string;
  operation: "read_offer" | "read_ask";
  /** "ok": as asked. "repaired": at the second try. "fallback": the built-in extractor read it, for the reason in `error`. */
  outcome: "ok" | "repaired" | "fallback";
  milliseconds: number;
  /** Why the first extractor failed, in its own words. */
  error?: string;
};

/** An extractor that can tell who made an extraction: the first, or the one that stood in. */
export type AccountableExtractor = Extractor & { modelOf(extraction: OfferExtraction | AskExtraction): string };

/**
 * Settles with what `work` gives, or rejects when the deadline passes or the caller aborts, whether or not the work
 * heeds its signal.
 */
const within = async <T>(
  milliseconds: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  caller.throwIfAborted();
  // A controller of our own, taken off the caller's signal afterwards: AbortSignal.any would hang on a long-lived one.
  const controller = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (reason: unknown) => {
    controller.abort(reason);
    reject(reason);
  };
  const onAbort = () => stop(caller.reason);
  caller.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => stop(new Error(`No reading within ${milliseconds} ms.`)), milliseconds);
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    caller.removeEventListener("abort", onAbort);
  }
};

type Operation = Outcome["operation"];
type Read<R> = (extractor: Extractor, text: string, signal: AbortSignal) => Promise<R>;
type Attempt = <R extends OfferExtraction | AskExtraction>(
  operation: Operation,
  read: Read<R>,
  text: string,
  signal: AbortSignal,
) => Promise<R>;

const extractorOf = (model: string, attempt: Attempt): Extractor => ({
  model,
  extractOffer: (text, signal) =>
    attempt("read_offer", (extractor, ...rest) => extractor.extractOffer(...rest), text, signal),
  extractAsk: (text, signal) =>
    attempt("read_ask", (extractor, ...rest) => extractor.extractAsk(...rest), text, signal),
});

/**
 * Reads with the primary extractor within a deadline, and with the built-in one when that fails in any way: an error
 * answer, an answer that is none, too late, too long, of the wrong shape. An abort by the caller is not a failure of
 * the extractor: it is thrown on, and nothing is read.
 *
 * @param primary its errors' messages are reported: they must hold neither text nor key
 * @param builtin its errors are the caller's
 * @param options.deadlineMs what the primary gets; the built-in extractor takes a few milliseconds after it
 * @param options.onOutcome told once of every extraction that was made
 */
export const extractorWithFallback = (
  primary: Extractor & { isRepaired?(extraction: OfferExtraction | AskExtraction): boolean },
  builtin: Extractor,
  options: { deadlineMs: number; onOutcome: (outcome: Outcome) => void },
): AccountableExtractor => {
  const models = new WeakMap<OfferExtraction | AskExtraction, string>();

  const attempt: Attempt = async (operation, read, text, signal) => {
    const start = performance.now();
    const report = (rest: Pick<Outcome, "outcome" | "error">) =>
      options.onOutcome({ model: primary.model, operation, milliseconds: performance.now() - start, ...rest });

    const first = await within(options.deadlineMs, signal, (inner) => read(primary, text, inner)).then(
      (extraction) => ({ extraction }),
      (error: unknown) => ({
        error: error instanceof Error ? error.message : "The extractor failed without a reason.",
      }),
    );
    signal.throwIfAborted();
    if ("extraction" in first) {
      models.set(first.extraction, primary.model);
      report({ outcome: primary.isRepaired?.(first.extraction) ? "repaired" : "ok" });
      return first.extraction;
    }
    const extraction = await read(builtin, text, signal);
    models.set(extraction, builtin.model);
    report({ outcome: "fallback", error: first.error });
    return extraction;
  };

  return { ...extractorOf(primary.model, attempt), modelOf: (extraction) => models.get(extraction) ?? primary.model };
};

/** The built-in extractor by itself, reporting like one with a primary. */
export const extractorAlone = (
  builtin: Extractor,
  options: { onOutcome: (outcome: Outcome) => void },
): AccountableExtractor => {
  const attempt: Attempt = async (operation, read, text, signal) => {
    const start = performance.now();
    const extraction = await read(builtin, text, signal);
    const milliseconds = performance.now() - start;
    options.onOutcome({ model: builtin.model, operation, outcome: "ok", milliseconds });
    return extraction;
  };
  return { ...extractorOf(builtin.model, attempt), modelOf: () => builtin.model };
};
