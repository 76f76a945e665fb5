import pg from "pg";
import type { Log } from "../log.ts";

/**
 * Waits for submissions to be completed. Each process has one LISTEN connection. Callers also poll, because
 * notifications do not arrive on PGlite, through a transaction pooler, or while the connection is opened again.
 */
export type SubmissionListener = {
  /** Resolves when the submission may have been completed, or after `milliseconds` at the latest. */
  next(submissionId: string, milliseconds: number): Promise<void>;
  /** Returns whether the LISTEN connection is open. */
  listens(): boolean;
  close(): Promise<void>;
};

/** A notification may arrive before `next` is called for its submission, so this many of the latest are kept. */
const REMEMBERED = 2_000;
const RECONNECT_MS = 500;

/**
 * Listens on a connection of its own, and opens a new one when it is lost.
 * @param url null: there are no notifications, so `next` always waits for its full time
 */
export const listenForSubmissions = (url: string | null, log: Log): SubmissionListener => {
  const waiters = new Map<string, () => void>();
  const completed = new Set<string>();
  let client: pg.Client | null = null;
  let closed = false;

  const connect = async (): Promise<void> => {
    if (closed || url === null) return;
    const fresh = new pg.Client({ connectionString: url, application_name: "souk_api listen", keepAlive: true });
    let lost = false;
    // An "error" event is followed by an "end" event, but only one new connection must be opened.
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
