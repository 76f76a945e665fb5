import pg from "pg";
import type { Log } from "../log.ts";

/**
 * Waiting for submissions to be completed. One LISTEN connection a process hears of them; a poll under it finds them where
 * notifications do not arrive (PGlite, a transaction pooler, a connection that is being made anew).
 */
export type SubmissionListener = {
  /** Resolves when the submission may have been completed, or after `milliseconds` at the latest. */
  next(submissionId: string, milliseconds: number): Promise<void>;
  /** Whether notifications arrive at present. */
  listens(): boolean;
  close(): Promise<void>;
};

/** Between an answer of the database and the call of `next`, a notification may pass: this many are remembered. */
const REMEMBERED = 2_000;
const RECONNECT_MS = 500;

/** Listens on a connection of its own, and makes it anew when it is lost. @param url null: nothing notifies, and waiting ends by its time alone */
export const listenForSubmissions = (url: string | null, log: Log): SubmissionListener => {
  const waiters = new Map<string, () => void>();
  const completed = new Set<string>();
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
      completed.add(payload);
      if (completed.size > REMEMBERED) {
        const [oldest] = completed;
        if (oldest !== undefined) completed.delete(oldest);
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
      if (completed.delete(submissionId)) return;
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiters.delete(submissionId);
          completed.delete(submissionId);
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
