/**
 * So many requests of a test file are under way at once. ava starts all tests of a file together, and a service has 14
 * connections: on a busy machine, what waits for one for two seconds is refused.
 */
const AT_ONCE = 6;

/** Makes what lets so much work go on at once; the rest waits for its turn, in order. */
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
      // Whoever is next takes over the place.
      if (next) next();
      else free += 1;
    }
  };
};
