/**
 * The number of requests of a test file that run at the same time. ava starts all tests of a file together, and a
 * service has 14 database connections. A request that waits two seconds for a connection is refused, which happens on
 * a busy machine.
 */
const AT_ONCE = 6;

/** Returns a function that runs work, at most `atOnce` at the same time. Further work waits in order. */
export const takingTurns = (atOnce = AT_ONCE): (<T>(work: () => Promise<T>) => Promise<T>) => {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((begin) => waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The next work takes over the place, so the number of free places stays the same.
      if (next) next();
      else free += 1;
    }
  };
};
