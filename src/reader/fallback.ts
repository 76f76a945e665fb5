import type { AskReading, OfferReading, Reader } from "./extraction.ts";

/** What became of one reading, for logs and metrics. Holds nothing of the text. */
export type Outcome = {
  /** The maker that was asked first. */
  maker: string;
  operation: "read_offer" | "read_ask";
  /** "ok": as asked. "repaired": at the second try. "fallback": the built-in reader read it, for the reason in `error`. */
  outcome: "ok" | "repaired" | "fallback";
  milliseconds: number;
  /** Why the first maker failed, in its own words. */
  error?: string;
};

/** A reader that can tell who made a reading: the first maker, or the one that stood in. */
export type AccountableReader = Reader & { makerOf(reading: OfferReading | AskReading): string };

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
type Read<R> = (reader: Reader, text: string, signal: AbortSignal) => Promise<R>;
type Attempt = <R extends OfferReading | AskReading>(
  operation: Operation,
  read: Read<R>,
  text: string,
  signal: AbortSignal,
) => Promise<R>;

const readerOf = (maker: string, attempt: Attempt): Reader => ({
  maker,
  readOffer: (text, signal) => attempt("read_offer", (reader, ...rest) => reader.readOffer(...rest), text, signal),
  readAsk: (text, signal) => attempt("read_ask", (reader, ...rest) => reader.readAsk(...rest), text, signal),
});

/**
 * Reads with the primary maker within a deadline, and with the built-in one when that fails in any way: an error
 * answer, an answer that is none, too late, too long, of the wrong shape. An abort by the caller is not a failure of
 * the maker: it is thrown on, and nothing is read.
 *
 * @param primary its errors' messages are reported: they must hold neither text nor key
 * @param builtin its errors are the caller's
 * @param options.deadlineMs what the primary gets; the built-in reader takes a few milliseconds after it
 * @param options.onOutcome told once of every reading that was made
 */
export const readerWithFallback = (
  primary: Reader & { isRepaired?(reading: OfferReading | AskReading): boolean },
  builtin: Reader,
  options: { deadlineMs: number; onOutcome: (outcome: Outcome) => void },
): AccountableReader => {
  const makers = new WeakMap<OfferReading | AskReading, string>();

  const attempt: Attempt = async (operation, read, text, signal) => {
    const start = performance.now();
    const report = (rest: Pick<Outcome, "outcome" | "error">) =>
      options.onOutcome({ maker: primary.maker, operation, milliseconds: performance.now() - start, ...rest });

    const first = await within(options.deadlineMs, signal, (inner) => read(primary, text, inner)).then(
      (reading) => ({ reading }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : "The maker failed without a reason." }),
    );
    signal.throwIfAborted();
    if ("reading" in first) {
      makers.set(first.reading, primary.maker);
      report({ outcome: primary.isRepaired?.(first.reading) ? "repaired" : "ok" });
      return first.reading;
    }
    const reading = await read(builtin, text, signal);
    makers.set(reading, builtin.maker);
    report({ outcome: "fallback", error: first.error });
    return reading;
  };

  return { ...readerOf(primary.maker, attempt), makerOf: (reading) => makers.get(reading) ?? primary.maker };
};

/** The built-in reader by itself, reporting like one with a primary. */
export const readerAlone = (builtin: Reader, options: { onOutcome: (outcome: Outcome) => void }): AccountableReader => {
  const attempt: Attempt = async (operation, read, text, signal) => {
    const start = performance.now();
    const reading = await read(builtin, text, signal);
    const milliseconds = performance.now() - start;
    options.onOutcome({ maker: builtin.maker, operation, outcome: "ok", milliseconds });
    return reading;
  };
  return { ...readerOf(builtin.maker, attempt), makerOf: () => builtin.maker };
};
