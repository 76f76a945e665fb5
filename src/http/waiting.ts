import pg from "pg";
import type { Log } from "../log.ts";

/**
 * Waiting for submissions to be settled. One LISTEN connection a process hears of them; a poll under it finds them where
 * notifications do not arrive (PGlite, a transaction pooler, a connection that is being made anew).
 */
export type Waiting = {
  /** Resolves when the submission may have been settled, or after `milliseconds` at the latest. */
  next(submissionId: string, milliseconds: number): Promise<void>;
  /** Whether notifications arrive at present. */
  listens(): boolean;
  close(): Promise<void>;
};

/** Between an answer of the database and the call of `next`, a notification may pass: this many are remembered. */
const REMEMBERED = 2_000;
const RECONNECT_MS = 500;

export const listenForSubmissions = (url: string | null, log: Log): Waiting => {
  const waiters = new Map<string, () => void>();
  const settled = new Set<string>();
  let client: pg.Client | null = null;
  let closed = false;

  const connect = async (): Promise<void> => {
    if (closed || url === null) return;
    const fresh = new pg.Client({ connectionString: url, application_name: "souk_api listen", keepAlive: true });
    let lost = false;
    // An error is followed by an end: one lost connection is made anew once.
    const again = () => {
      if (lost) return;
      lost = true;
      if (client === fresh) client = null;
      fresh.end().catch(() => undefined);
      if (!closed) setTimeout(connect, RECONNECT_MS).unref();
    };
    fresh.on("error", again);
    fresh.on("end", again);
    fresh.on("notification", ({ payload }) => {
      if (!payload) return;
      const waiter = waiters.get(payload);
      if (waiter) {
        waiter();
        return;
      }
      settled.add(payload);
      if (settled.size > REMEMBERED) {
        const [oldest] = settled;
        if (oldest !== undefined) settled.delete(oldest);
      }
    });
    try {
      await fresh.connect();
      await fresh.query("listen submission");
      if (closed) await fresh.end();
      else client = fresh;
    } catch (error) {
      log.debug({ err: error }, "cannot listen for submissions yet");
      again();
    }
  };
  void connect();

  return {
    async next(submissionId, milliseconds) {
      if (settled.delete(submissionId)) return;
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiters.delete(submissionId);
          settled.delete(submissionId);
          resolve();
        };
        const timer = setTimeout(done, milliseconds);
        waiters.set(submissionId, done);
      });
    },
    listens: () => client !== null,
    async close() {
      closed = true;
      await client?.end().catch(() => undefined);
    },
  };
};
