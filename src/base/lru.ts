/** Many times the callers that one process serves at a time. This many entries by hash take a few megabytes. */
const REMEMBERED = 10_000;

/** A memory of this process. It forgets its oldest entry when it has too many. */
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
