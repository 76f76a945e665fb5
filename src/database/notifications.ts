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
 *
 * Most waits end without an event, and the caller asks again from the same cursor. Then nothing needs to be read: since
 * it read, the process would have heard of an event, and of whatever changes what its token may see (the trigger
 * wake_agent). So the process remembers who rests at which cursor, until it hears something for one of the readers. A
 * connection may be dead without the process knowing, so it is tried out every second, and a wait that began without
 * reading ends with "none" only if the connection has answered since.
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
  /** If the caller may rest after this wait: the cursor at which it does, and the time at which its token ends. */
  rest?: Pick<Rest, "cursor" | "ends"> | undefined;
  /** Whether the call has not read, because its caller rested. */
  isRested?: boolean;
};

/** A caller who has read everything up to a cursor, and for whom nothing was notified since. */
type Rest = { cursor: string; readers: readonly string[]; snapshot: string; ends: number };

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
/** How often the connection is tried out while somebody waits, and how long it may take to answer. */
const TRY_MS = 1_000;
const DEAD_MS = 5_000;
/** A few megabytes. Callers beyond these read each time. */
const RESTING = 20_000;

type Waiting = EventWait & { began: number; until: number; end: (how: "event" | "none") => void };

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

  /** Who rests, by caller; the oldest come first. */
  const rests = new Map<string, Rest>();
  const restsByReader = new Map<string, Set<string>>();
  /** When a question was asked that the connection has answered, and when one was that it has not. */
  let answered = 0;
  let asked: number | null = null;
  /** Gives up the connection and opens another one. */
  let reconnect = (): void => undefined;

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

  const disturb = (caller: string): void => {
    for (const reader of rests.get(caller)?.readers ?? []) {
      const same = restsByReader.get(reader);
      same?.delete(caller);
      if (same?.size === 0) restsByReader.delete(reader);
    }
    rests.delete(caller);
  };
  const disturbAll = (): void => {
    rests.clear();
    restsByReader.clear();
  };
  const letRest = (caller: string, rest: Rest): void => {
    disturb(caller);
    rests.set(caller, rest);
    for (const reader of rest.readers) restsByReader.set(reader, (restsByReader.get(reader) ?? new Set()).add(caller));
    const [oldest] = rests.keys();
    if (rests.size > RESTING && oldest !== undefined) disturb(oldest);
  };

  const hear = (reader: string): void => {
    place += 1;
    for (const caller of [...(restsByReader.get(reader) ?? [])]) disturb(caller);
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

  /** Asks the connection for a sign of life. What was notified before the question arrives before the answer. */
  const tryOut = (now: number): void => {
    const tried = client;
    if (tried === null) return;
    if (asked !== null) {
      if (now - asked > DEAD_MS) reconnect();
      return;
    }
    if (now - answered < TRY_MS) return;
    asked = now;
    tried.query("").then(
      () => {
        if (client !== tried) return;
        answered = now;
        asked = null;
      },
      // The connection has ended, or will.
      () => undefined,
    );
  };

  /** Ends a wait whose time is over. */
  const endInTime = (wait: Waiting): void => {
    // Whoever has not read must do it now, if the connection may be dead.
    const mustRead = wait.isRested === true && answered <= wait.began;
    if (!mustRead && client !== null && !missing && wait.rest !== undefined)
      letRest(wait.caller, { ...wait.rest, readers: wait.readers, snapshot: wait.snapshot });
    wait.end(mustRead ? "event" : "none");
  };

  const tick = (): void => {
    const now = performance.now();
    for (const wait of waits) if (now >= wait.until) endInTime(wait);
    tryOut(now);
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
      asked = null;
      disturbAll();
      // Calls that have not read cannot be told by a poll what they missed before.
      for (const wait of waits) if (wait.isRested) wait.end("event");
      missing = true;
      fresh.end().catch(() => undefined);
      if (!closed) setTimeout(connect, RECONNECT_MS).unref();
    };
    reconnect = again;
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
     * Returns what a caller has read, if it rests at a cursor: then a call with that cursor need not read before it
     * waits. Null if it has to read.
     */
    restOf(caller: string, cursor: string): Rest | null {
      const rest = rests.get(caller);
      return client !== null && rest?.cursor === cursor && performance.now() < rest.ends ? rest : null;
    },
    /**
     * Waits for an event of some readers. @returns "event" if there may be one, "none" when the time is over, the client
     * has hung up or the process stops, and "refused" if the caller has too many calls that wait for events
     */
    async event(given: EventWait): Promise<"event" | "none" | "refused"> {
      if (stopping.aborted || given.gone?.aborted) return "none";
      if ((callers.get(given.caller) ?? 0) >= EACH) return "refused";
      // Notified while the call read, or the process cannot know, because it forgot or did not listen.
      if (given.place < forgottenPlace || given.readers.some((reader) => (lastPlaces.get(reader) ?? 0) > given.place))
        return "event";
      return new Promise((resolve) => {
        const leave = (): void => wait.end("none");
        const began = performance.now();
        const wait: Waiting = {
          ...given,
          began,
          until: began + given.milliseconds,
          end: (how) => {
            if (!waits.has(wait)) return;
            remove(wait);
            given.gone?.removeEventListener("abort", leave);
            resolve(how);
          },
        };
        given.gone?.addEventListener("abort", leave);
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
