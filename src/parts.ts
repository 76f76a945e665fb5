/**
 * A process is a list of parts. It runs in three steps:
 *
 *   start     starts the parts one after the other, in the order of the list
 *   prepare   prepares the parts in the same order and in the background, after all of them have started. Work that has
 *             to wait (mostly for the database) belongs here
 *   stop      stops the parts in reverse order, as soon as the process gets a signal to stop or a part fails
 *
 * So a part may use everything that earlier parts in the list created, until it stops.
 */
export type Part = {
  /** A name for error messages and readers of the list. */
  name: string;
  /** @returns a function that stops the part. @throws an error, which stops the whole list */
  start?: () => Stop | Promise<Stop>;
  /**
   * Runs while the process already answers requests.
   * @param stopping aborts when the process has to stop. The work must then end soon; later parts are not prepared
   * @returns a function that stops what was prepared. @throws an error, which stops the whole list
   */
  prepare?: (stopping: AbortSignal) => Promise<Stop>;
};

/** Stops a part; undefined if there is nothing to stop. If it throws, the other parts are still stopped. */
type Stop = (() => void | Promise<void>) | undefined;

/** Resolves when the signal aborts. */
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/**
 * Runs parts until `stopping` aborts or a part fails, and stops every part that was started.
 * @throws the first failure, after all parts have stopped
 */
export const runParts = async (parts: readonly Part[], stopping: AbortSignal): Promise<void> => {
  const failed = new AbortController();
  const ending = AbortSignal.any([stopping, failed.signal]);
  const failures: unknown[] = [];
  const attempt = async <Result>(work: () => Result | Promise<Result>): Promise<Result | undefined> => {
    try {
      return await work();
    } catch (error) {
      failures.push(error);
      failed.abort();
      return undefined;
    }
  };

  const started = new Map<Part, Stop>();
  for (const part of parts) {
    if (ending.aborted) break;
    started.set(part, await attempt<Stop>(() => part.start?.()));
  }
  const prepared = new Map<Part, Stop>();
  const preparing = (async () => {
    for (const part of started.keys()) {
      if (ending.aborted) break;
      prepared.set(part, await attempt<Stop>(() => part.prepare?.(ending)));
    }
  })();

  await aborted(ending);
  for (const part of [...started.keys()].reverse()) {
    // Preparing a part returns the function that stops it, so wait for the end of all preparations.
    if (part.prepare) await preparing;
    await attempt(() => prepared.get(part)?.());
    await attempt(() => started.get(part)?.());
  }
  if (failures.length > 0) throw failures[0];
};
