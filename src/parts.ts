/**
 * A process is a list of parts. The list says in which order they start; they stop in the reverse order.
 *
 *   start     each part in order, one after the other
 *   prepare   when all have started, again in order and in the background: what has to wait, above all for the database
 *   stop      in reverse order, as soon as the process is told to stop or a part fails
 *
 * So a part may use what the parts before it made, and the last part of the list stops first.
 */
export type Part = {
  /** What it is, for whoever reads the list. */
  name: string;
  /** @returns how to stop it. @throws what then stops the whole list */
  start?: () => Stop | Promise<Stop>;
  /**
   * Runs while the process already answers.
   * @param stopping aborts when the process is to stop: the work then has to end soon, and later parts are not prepared
   * @returns how to stop it. @throws what then stops the whole list
   */
  prepare?: (stopping: AbortSignal) => Promise<Stop>;
};

/** Stops a part; nothing for a part that has nothing to stop. Other parts stop although this one throws. */
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
    // What is being prepared has to be there before it can be stopped.
    if (part.prepare) await preparing;
    await attempt(() => prepared.get(part)?.());
    await attempt(() => started.get(part)?.());
  }
  if (failures.length > 0) throw failures[0];
};
