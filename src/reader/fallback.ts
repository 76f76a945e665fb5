import type { AskExtraction, Extractor, OfferExtraction } from "./extraction.ts";

/** The outcome of one extraction, for logs and metrics. Contains nothing of the text. */
export type Outcome = {
  /** The extractor that was asked first. */
  model: string;
  operation: "read_offer" | "read_ask";
  /**
   * "ok": the first answer was valid. "repaired": the second was. "fallback": the built-in extractor read the text, for
   * the reason in `error`.
   */
  outcome: "ok" | "repaired" | "fallback";
  milliseconds: number;
  /** The error message of the first extractor. */
  error?: string;
};

/** An extractor that can tell which model made an extraction: the primary one or the fallback. */
export type AccountableExtractor = Extractor & { modelOf(extraction: OfferExtraction | AskExtraction): string };

/**
 * Settles as `work` settles, or rejects when the deadline passes or the caller aborts, even if `work` ignores its
 * signal.
 */
const within = async <T>(
  milliseconds: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  caller.throwIfAborted();
  // An own controller, detached from the caller's signal afterwards. AbortSignal.any would leave listeners on a
  // long-lived signal.
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
 * Creates an extractor that asks the primary extractor within a deadline, and the built-in extractor if the primary
 * fails in any way: an error response, an invalid answer, or one that is too late, too long or of the wrong shape. An
 * abort by the caller is no failure of the extractor: it is thrown on, and nothing is read.
 *
 * @param primary the messages of its errors are reported, so they must contain neither text nor key
 * @param builtin its errors are thrown to the caller
 * @param options.deadlineMs how long the primary extractor may take; the built-in extractor then takes a few
 *   milliseconds more
 * @param options.onOutcome called once for each extraction that was made
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

/** The built-in extractor without a primary one. Reports outcomes in the same way. */
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
