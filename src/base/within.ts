/**
 * Settles as `work` settles, or rejects when the deadline passes or the caller aborts, even if `work` ignores its
 * signal.
 */
export const within = async <T>(
  milliseconds: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  caller.throwIfAborted();
  // AbortSignal.any would leak: Node keeps its signal while the signal has a listener, and the openai package never
  // removes its own.
  const controller = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (reason: unknown) => {
    controller.abort(reason);
    reject(reason);
  };
  const onAbort = () => stop(caller.reason);
  caller.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => stop(new Error(`No answer within ${milliseconds} ms.`)), milliseconds);
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    caller.removeEventListener("abort", onAbort);
  }
};
