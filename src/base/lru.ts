/** Many times the callers that one process serves at a time. So many entries with a hash as key take a few megabytes. */
const REMEMBERED = 10_000;

/** A memory of what this process has seen lately. It forgets its oldest entry when it has too many. */
export const createMemory = <Value>() => {
  const entries = new Map<string, Value>();
  return {
    get: (key: string): Value | undefined => entries.get(key),
    delete: (key: string): boolean => entries.delete(key),
    set(key: string, value: Value): void {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= REMEMBERED) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
};
