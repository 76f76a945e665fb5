import { performance } from "node:perf_hooks";
import { setImmediate as letOthersRun } from "node:timers/promises";

/** A computation in steps, between which a process can do other work. A step takes a few milliseconds at most. */
export type Steps<Result> = Generator<undefined, Result>;

/** The rows of a step, which take about a millisecond. */
const ROWS = 512;

/** Returns whether the step ends with the row of this number. */
export const endsStep = (row: number): boolean => row % ROWS === ROWS - 1;

/** Steps run for this long before other work: the pauses take little time, and nobody notices. */
const AT_ONCE_MS = 10;

/** Takes all steps at once, where nothing else waits. */
export const inOneGo = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
};

/** Takes the steps, and lets the process answer requests and read texts in between. */
export const besideOthers = async <Result>(steps: Steps<Result>): Promise<Result> => {
  for (;;) {
    await letOthersRun();
    const until = performance.now() + AT_ONCE_MS;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (performance.now() < until);
  }
};
