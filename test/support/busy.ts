import { availableParallelism, loadavg } from "node:os";

/**
 * How much may be taken of what is promised for a machine with nothing else to do: milliseconds, or what is sent
 * meanwhile. Where three wait for each processor, everything takes three times as long, and no promise is broken by that.
 */
export const allowed = (amount: number): number => {
  const [lastMinute = 0] = loadavg();
  return Math.ceil(amount * Math.max(1, lastMinute / availableParallelism()));
};
