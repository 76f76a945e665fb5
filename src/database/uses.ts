/**
 * Which agents have used their tokens. An agent that nobody uses for long is removed (jobs.end_unused_agents), so every
 * use counts, also a read on a replica, whose transaction cannot write. So a process remembers who called, and tells the
 * database once an hour and when it stops. If it is killed, an hour is lost, of months.
 */

const HOUR_MS = 60 * 60 * 1000;

/** More agents than call one process in an hour. Those beyond are noted in another hour. */
const MOST = 50_000;

/**
 * Makes the memory of one process.
 * @param tell tells the database the hashes of the tokens, in hex
 */
export const createUses = (tell: (hashes: string[]) => Promise<unknown>, onError: (error: Error) => void) => {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    const hashes = [...used];
    used.clear();
    if (hashes.length === 0) return;
    await tell(hashes).catch(onError);
  };
  return {
    /** Notes that the token with this hash was used. */
    note(hash: Buffer): void {
      timer ??= setInterval(() => void flush(), HOUR_MS).unref();
      if (used.size < MOST) used.add(hash.toString("hex"));
    },
    /** Tells what is not yet told, for the last time. */
    close(): Promise<void> {
      clearInterval(timer);
      return flush();
    },
  };
};
