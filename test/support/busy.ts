import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/** Adapts time limits that hold on an idle machine to a busy one. */

const SAMPLE_MS = 100;

/** The number of samples in one average: one second. A shorter peak of load does not slow a test down noticeably. */
const LOOK = 10;

/** Returns the number of runnable threads at this moment on Linux, and 0 on other systems. */
const runnable = (): number => {
  try {
    return Number(/ (\d+)\//.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
};

/**
 * The highest average of runnable threads over one second since this process began. The system's load average covers a
 * minute, so it shows a sudden load too late.
 */
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
 * Scales a limit that holds on an idle machine, in milliseconds or in requests, by the load of this machine. With
 * three runnable threads for each processor, everything takes three times as long, which is not a fault of the service.
 */
export const allowed = (amount: number): number => {
  const [lastMinute = 0] = loadavg();
  return Math.ceil(amount * Math.max(1, Math.max(lastMinute, crowd) / availableParallelism()));
};

/**
 * Returns the processor time in milliseconds that this process spends while `work` runs. Other processes do not count,
 * but other work in this process does.
 */
export const processorTime = async (work: () => unknown): Promise<number> => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

/** The bound for a run time that is linear: four times the input takes four times as long, and if quadratic, sixteen times. */
export const LINEAR = 9;

/** Processor times below this, in milliseconds, are noise: the compiler and the collector of V8 take as long. */
const NOISE_MS = 5;

/** More rounds than a busy machine needs, so that only work that really grows too much uses them up. */
const ROUNDS = 40;

/**
 * Returns how many times as much processor time `large` takes as `small`, which has a quarter of the input. The least
 * time of each counts, and the two take turns, so that other work on the machine and the compiler of V8 affect both. The
 * rounds end as soon as the growth is below LINEAR: more of them would only show shorter times.
 */
export const growthOf = async (small: () => unknown, large: () => unknown): Promise<number> => {
  let shorter = Number.POSITIVE_INFINITY;
  let longer = Number.POSITIVE_INFINITY;
  let growth = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && growth >= LINEAR; round++) {
    shorter = Math.min(shorter, await processorTime(small));
    longer = Math.min(longer, await processorTime(large));
    growth = longer / Math.max(shorter, NOISE_MS);
  }
  return growth;
};
