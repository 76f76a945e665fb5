import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/** How to hold a busy machine to promises that are given for one with nothing else to do. */

const SAMPLE_MS = 100;

/** How many samples make one look: a crowd of a moment slows nothing down. */
const LOOK = 10;

/** How many wait for a processor, or have one, at this moment; Linux tells, elsewhere it is unknown. */
const runnable = (): number => {
  try {
    return Number(/ (\d+)\//.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
};

/** The most that waited in any second since this process began: the load of the last minute comes too late for a crowd. */
let crowd = 0;
const samples: number[] = [];
const sampling = setInterval(() => {
  samples.push(runnable());
  if (samples.length < LOOK) return;
  crowd = Math.max(crowd, samples.reduce((sum, one) => sum + one, 0) / LOOK);
  samples.length = 0;
}, SAMPLE_MS);
sampling.unref();

/**
 * How much may be taken of what is promised for a machine with nothing else to do: milliseconds, or what is sent
 * meanwhile. Where three wait for each processor, everything takes three times as long, and no promise is broken by that.
 */
export const allowed = (amount: number): number => {
  const [lastMinute = 0] = loadavg();
  return Math.ceil(amount * Math.max(1, Math.max(lastMinute, crowd) / availableParallelism()));
};

/**
 * Milliseconds of a processor that some work takes in this process, whatever else the machine does. What goes on in the
 * process meanwhile counts as well.
 */
export const processorTime = async (work: () => unknown): Promise<number> => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};
