import { AsyncLocalStorage } from "node:async_hooks";
import { performance } from "node:perf_hooks";
import pg from "pg";
import type { Log } from "../base/log.ts";

/**
 * Waits for notifications: a submission is completed, or something happened to an account. Each process has one LISTEN
 * connection. Notifications do not arrive on PGlite, through a transaction pooler, or while the connection is opened
 * again. Then calls that wait for submissions poll, and one query at a time asks for all that wait for events.
 *
 *   reader     an account or agent whose events somebody waits for (internal.event_readers)
 *   snapshot   the transactions that were finished when a reader read
 *   place      how many notifications of events the process had heard at a moment
 *
 * A reader first notes its place, then reads, then waits. So it learns at once of an event that was notified while it
 * read. One timer serves all readers.
 */

/** One call that waits for events. */
type EventWait = {
  /** Who waits: a caller may have EACH calls waiting. */
  caller: string;
  readers: readonly string[];
  /** Where the process was before the call read. */
  place: number;
  /** What the call has read. */
  snapshot: string;
  milliseconds: number;
  gone?: AbortSignal | undefined;
};

/** A notification may arrive before somebody waits for it, so this many of the latest are kept. */
const REMEMBERED = 2_000;
const RECONNECT_MS = 500;
/**
 * The interval of the timer that all readers share. It ends waits whose time is over, and polls if nothing is notified:
 * a match must reach its reader within a second.
 */
const TICK_MS = 250;
/**
 * Calls of a caller that may wait, as many as may run at once. An agent needs one, and a few more if it runs in several
 * places.
 */
const EACH = 8;

type Waiting = EventWait & { until: number; end: (how: "event" | "none") => void };

/**
 * Listens on a connection of its own, and opens a new one when it is lost.
 * @param options.url null: there are no notifications, so submissions always wait for their full time
 * @param options.readersSince asks the database whom events after a snapshot concern
 * @param options.stopping ends all waits for events, because the process stops
 */
export const listenForNotifications = (options: {
  url: string | null;
  readersSince: (snapshot: string) => Promise<{ snapshot: string; readers: string[] }>;
  stopping: AbortSignal;
  log: Log;
}) => {
  const { url, readersSince, stopping, log } = options;
  const waiters = new Map<string, () => void>();
  const completed = new Set<string>();
  let client: pg.Client | null = null;
  let closed = false;

  const waits = new Set<Waiting>();
  const byReader = new Map<string, Set<Waiting>>();
  const callers = new Map<string, number>();
  /** The place at which each reader was last notified; the oldest come first. */
  const lastPlaces = new Map<string, number>();
  let place = 0;
  /** Notifications up to this place are not remembered any more. */
  let forgottenPlace = 0;
  /** What the last poll has seen; null while nobody polls. */
  let polledSnapshot: string | null = null;
  /** Whether the database has to be asked, because notifications may have been missed. */
  let missing = true;
  let isPolling = false;
  let timer: NodeJS.Timeout | null = null;
  /** Runs the timer on behalf of nobody, and not of the request that started it. */
  const onBehalfOfNobody = AsyncLocalStorage.snapshot();

  const hear = (reader: string): void => {
    place += 1;
    lastPlaces.delete(reader);
    lastPlaces.set(reader, place);
    if (lastPlaces.size > REMEMBERED) {
      const [oldest] = lastPlaces;
      if (oldest !== undefined) {
        forgottenPlace = oldest[1];
        lastPlaces.delete(oldest[0]);
      }
    }
    for (const wait of byReader.get(reader) ?? []) wait.end("event");
  };

  /** Returns a snapshot that every waiting call has read. A snapshot begins with its xmin. */
  const earliest = (): string => {
    let earliestXmin: bigint | null = null;
    for (const { snapshot } of waits) {
      const xmin = BigInt(snapshot.split(":", 1)[0] ?? "0");
      if (earliestXmin === null || xmin < earliestXmin) earliestXmin = xmin;
    }
    return `${earliestXmin ?? 1}:${earliestXmin ?? 1}:`;
  };

  /** Asks once for all who wait. */
  const poll = async (): Promise<void> => {
    if (isPolling || waits.size === 0) return;
    isPolling = true;
    const listened = client !== null;
    try {
      const { snapshot, readers } = await readersSince(polledSnapshot ?? earliest());
      polledSnapshot = snapshot;
      for (const reader of readers) hear(reader);
      // If the process listened before it asked, everything missing in the answer is notified.
      if (listened && client !== null) {
        missing = false;
        polledSnapshot = null;
      }
    } catch (error) {
      log.debug({ err: error }, "cannot ask for events yet");
    } finally {
      isPolling = false;
    }
  };

  const tick = (): void => {
    const now = performance.now();
    for (const wait of waits) if (now >= wait.until) wait.end("none");
    if (missing) void poll();
  };

  const connect = async (): Promise<void> => {
    if (closed || url === null) return;
    const fresh = new pg.Client({ connectionString: url, application_name: "souk_api listen", keepAlive: true });
    let lost = false;
    // An "error" event is followed by an "end" event, but only one new connection must be opened.
    const again = () => {
      if (lost) return;
      lost = true;
      if (client === fresh) client = null;
      missing = true;
      fresh.end().catch(() => undefined);
      if (!closed) setTimeout(connect, RECONNECT_MS).unref();
    };
    fresh.on("error", again);
    fresh.on("end", again);
    fresh.on("notification", ({ channel, payload }) => {
      if (!payload) return;
      if (channel === "event") return hear(payload);
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
      await fresh.query("listen submission; listen event");
      if (closed) await fresh.end();
      else {
        client = fresh;
        // If nobody waits, nobody has missed anything. A call that is reading now has noted an earlier place.
        if (waits.size === 0) {
          missing = false;
          polledSnapshot = null;
        }
        place += 1;
        forgottenPlace = place;
      }
    } catch (error) {
      log.debug({ err: error }, "cannot listen for notifications yet");
      again();
    }
  };
  void connect();

  const add = (wait: Waiting): void => {
    waits.add(wait);
    callers.set(wait.caller, (callers.get(wait.caller) ?? 0) + 1);
    for (const reader of wait.readers) byReader.set(reader, (byReader.get(reader) ?? new Set()).add(wait));
    timer ??= onBehalfOfNobody(() => setInterval(tick, TICK_MS).unref());
  };
  const remove = (wait: Waiting): void => {
    waits.delete(wait);
    const others = (callers.get(wait.caller) ?? 1) - 1;
    if (others > 0) callers.set(wait.caller, others);
    else callers.delete(wait.caller);
    for (const reader of wait.readers) {
      const same = byReader.get(reader);
      same?.delete(wait);
      if (same?.size === 0) byReader.delete(reader);
    }
    if (waits.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
    // The next one to wait says from where to ask.
    polledSnapshot = null;
    if (client !== null) missing = false;
  };

  stopping.addEventListener(
    "abort",
    () => {
      for (const wait of waits) wait.end("none");
    },
    { once: true },
  );

  return {
    /** Resolves when the submission may have been completed, or after `milliseconds` at the latest. */
    async completion(submissionId: string, milliseconds: number): Promise<void> {
      if (completed.delete(submissionId)) return;
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timeout);
          waiters.delete(submissionId);
          completed.delete(submissionId);
          resolve();
        };
        const timeout = setTimeout(done, milliseconds);
        waiters.set(submissionId, done);
      });
    },
    /** Returns the place to which everything has been heard. */
    place: () => place,
    /**
     * Waits for an event of some readers. @returns "event" if there may be one, "none" when the time is over, the client
     * has hung up or the process stops, and "refused" if the caller has too many calls that wait for events
     */
    async event(asked: EventWait): Promise<"event" | "none" | "refused"> {
      if (stopping.aborted || asked.gone?.aborted) return "none";
      if ((callers.get(asked.caller) ?? 0) >= EACH) return "refused";
      // Notified while the call read, or the process cannot know, because it forgot or did not listen.
      if (asked.place < forgottenPlace || asked.readers.some((reader) => (lastPlaces.get(reader) ?? 0) > asked.place))
        return "event";
      return new Promise((resolve) => {
        const leave = (): void => wait.end("none");
        const wait: Waiting = {
          ...asked,
          until: performance.now() + asked.milliseconds,
          end: (how) => {
            if (!waits.has(wait)) return;
            remove(wait);
            asked.gone?.removeEventListener("abort", leave);
            resolve(how);
          },
        };
        asked.gone?.addEventListener("abort", leave);
        add(wait);
      });
    },
    /** Returns how many calls wait for events. */
    waiting: () => waits.size,
    /** Returns whether the LISTEN connection is open. */
    listens: () => client !== null,
    async close(): Promise<void> {
      closed = true;
      if (timer !== null) clearInterval(timer);
      await client?.end().catch(() => undefined);
    },
  };
};

/** What waits for notifications. */
export type Notifications = ReturnType<typeof listenForNotifications>;
