import { performance } from "node:perf_hooks";

/**
 * Fair use of something scarce, such as database connections: callers take turns.
 *
 *   caller  one who shares: an agent, a session, or a network (src/database/callers.ts)
 *   pool    what is shared, in a number of places
 *   lane    a kind of call: the pool that it uses, and how many of that pool's places all calls of this kind may hold
 *   turn    the use of one place by one call
 *
 * Each caller has a queue of its own in each lane. A place that becomes free goes to the first call of the next queue,
 * one caller after the other. So however many calls a caller has open, another caller waits for few of them. A caller
 * is in memory only while it has calls, and there is one timer for all.
 */

/** A kind of call: the name of the pool that it uses, and how many places all calls of this kind may hold. */
export type Lane = { pool: string; most?: number };

/** How one call takes its turn. */
type CallOptions = {
  /**
   * The call belongs to a request that has had a turn, or waits for one. So it goes before the caller's other calls, is
   * never refused, and does not count as waiting.
   */
  isStarted?: boolean | undefined;
  /** Makes the signal with which the call leaves the queue. It is asked for only if the call has to wait. */
  gone?: (() => AbortSignal) | undefined;
};

/** Ends a turn. @param succeeded false if the pool could not be used, for example because a statement timed out */
export type EndTurn = (succeeded?: boolean) => void;

/** The turns of all callers of a process. */
export type Turns<Name extends string> = {
  /**
   * Waits for the caller's turn.
   * @throws an Error in the form of a refusal by the database, so that src/base/problem.ts understands it: 429 if the
   * caller has too many calls waiting, 503 if nothing succeeds any more, the client has hung up or the process stops
   */
  take(caller: string, lane: Name, options?: CallOptions): Promise<EndTurn>;
  /** Returns how many calls wait for a place, by pool. */
  waiting(): Record<string, number>;
  /** Returns how many calls were refused because their caller had too many waiting. */
  refused(): number;
  /** Refuses all calls that wait, because the process stops. */
  close(): void;
};

/** At most this many calls of a caller run at once. */
const RUNNING = 8;
/** At most this many further calls of a caller wait. */
const WAITING = 256;
/**
 * A call that has waited this long, while nothing that it waits for has succeeded, is refused: the database is stuck.
 * Longer than a statement waits for a lock (2 s), so that the calls behind a locked row get their turn first; both
 * waits together stay below five seconds.
 */
const STUCK_MS = 3_000;
/** The interval of this check. */
const CHECK_MS = 250;

const refusal = (code: string, message: string, problem?: { detail: string; retryAfter: number }): Error =>
  Object.assign(
    new Error(message),
    { code },
    problem && { detail: problem.detail, hint: JSON.stringify({ retry_after: problem.retryAfter }) },
  );

const tooMany = (): Error =>
  refusal("PT429", "rate_limited", {
    detail: `Too many of your calls are open at once: ${RUNNING} run, and ${WAITING} wait. This one was not started and is not counted. Wait until some are answered, then send it again.`,
    retryAfter: 1,
  });

// The codes are SQLSTATEs: too_many_connections, query_canceled, admin_shutdown. Each becomes a 503.
const stuck = (): Error => refusal("53300", "No connection of the database became free in time.");
const hungUp = (): Error => refusal("57014", "The client hung up while its call waited.");
const stopping = (): Error => refusal("57P03", "The process stops.");

type Waiting = { isStarted: boolean; since: number; begin: (end: EndTurn) => void; refuse: (why: Error) => void };

/** What a caller has open: its running calls by pool and by lane (both as objects), and its waiting calls by lane. */
type Caller = {
  key: string;
  running: number;
  held: Map<object, number>;
  waiting: number;
  queues: Map<string, Waiting[]>;
  succeededAt: number;
};

/**
 * Makes the turns of a process.
 * @param options.pools the sizes of the pools by name
 * @param options.stuckMs shorter than STUCK_MS in tests
 */
export const createTurns = <Name extends string>(options: {
  pools: Readonly<Record<string, number>>;
  lanes: Readonly<Record<Name, Lane>>;
  stuckMs?: number;
}): Turns<Name> => {
  const { stuckMs = STUCK_MS } = options;
  const pools = new Map(
    Object.entries(options.pools).map(([name, size]) => [
      name,
      // One caller never holds all places of a pool or of a lane, so that the next caller does not have to wait for its
      // slowest call.
      { size, each: Math.min(RUNNING, Math.max(1, size - 1)), running: 0, waiting: 0, succeededAt: 0 },
    ]),
  );
  const lanes = Object.entries<Lane>(options.lanes).map(([name, { pool: poolName, most }]) => {
    const pool = pools.get(poolName);
    if (pool === undefined) throw new Error(`There is no pool ${poolName}.`);
    // The ring holds the callers with waiting calls, in the order of their turns.
    const places = most ?? pool.size;
    // The calls of a lane with fewer places keep a processor busy, each of them. So one caller has half of these places:
    // with more, a call of another would run beside so many that it took several times as long.
    const each = Math.max(1, most === undefined ? places - 1 : Math.ceil(places / 2));
    return { name, pool, most: places, each, running: 0, ring: new Set<Caller>() };
  });
  type LaneState = (typeof lanes)[number];
  const lanesByName = new Map<string, LaneState>(lanes.map((lane) => [lane.name, lane]));
  const callers = new Map<string, Caller>();
  let refused = 0;
  /** The lane that is asked first when a place becomes free. */
  let first = 0;
  let timer: NodeJS.Timeout | null = null;

  const held = (caller: Caller, what: object): number => caller.held.get(what) ?? 0;
  const mayRun = (caller: Caller, lane: LaneState): boolean =>
    caller.running < RUNNING && held(caller, lane.pool) < lane.pool.each && held(caller, lane) < lane.each;
  const hasPlace = ({ running, most, pool }: LaneState): boolean => running < most && pool.running < pool.size;

  const callerOf = (key: string): Caller => {
    let caller = callers.get(key);
    if (caller === undefined) {
      caller = { key, running: 0, held: new Map(), waiting: 0, queues: new Map(), succeededAt: 0 };
      callers.set(key, caller);
    }
    return caller;
  };
  const forgetIdle = ({ key, running, queues }: Caller): void => {
    if (running === 0 && queues.size === 0) callers.delete(key);
  };

  const begin = (caller: Caller, lane: LaneState): EndTurn => {
    const { pool } = lane;
    const hold = (change: 1 | -1): void => {
      lane.running += change;
      pool.running += change;
      caller.running += change;
      caller.held.set(pool, held(caller, pool) + change);
      caller.held.set(lane, held(caller, lane) + change);
    };
    hold(1);
    let ended = false;
    return (succeeded = true) => {
      if (ended) return;
      ended = true;
      hold(-1);
      if (succeeded) {
        pool.succeededAt = performance.now();
        caller.succeededAt = pool.succeededAt;
      }
      serve();
      forgetIdle(caller);
    };
  };

  const enqueue = (caller: Caller, lane: LaneState, call: Waiting): void => {
    const queue = caller.queues.get(lane.name) ?? [];
    caller.queues.set(lane.name, queue);
    const place = call.isStarted ? queue.findIndex(({ isStarted }) => !isStarted) : -1;
    queue.splice(place < 0 ? queue.length : place, 0, call);
    if (!call.isStarted) caller.waiting += 1;
    lane.pool.waiting += 1;
    lane.ring.add(caller);
  };
  const dequeue = (caller: Caller, lane: LaneState, call: Waiting): void => {
    const queue = caller.queues.get(lane.name) ?? [];
    queue.splice(queue.indexOf(call), 1);
    if (!call.isStarted) caller.waiting -= 1;
    lane.pool.waiting -= 1;
    if (queue.length > 0) return;
    caller.queues.delete(lane.name);
    lane.ring.delete(caller);
  };

  const serveNext = (lane: LaneState): boolean => {
    if (!hasPlace(lane)) return false;
    // Few callers are skipped, because each of them already holds places.
    for (const caller of lane.ring) {
      const call = mayRun(caller, lane) ? caller.queues.get(lane.name)?.[0] : undefined;
      if (call === undefined) continue;
      dequeue(caller, lane, call);
      // If more of its calls wait, the caller goes to the end of the ring.
      if (lane.ring.delete(caller)) lane.ring.add(caller);
      call.begin(begin(caller, lane));
      return true;
    }
    return false;
  };

  /** Gives the free places to waiting calls, one lane after the other. */
  const serve = (): void => {
    // The timer runs while calls wait.
    if (timer === null) return;
    for (let idle = 0; idle < lanes.length; ) {
      const lane = lanes[first];
      first = (first + 1) % lanes.length;
      idle = lane !== undefined && serveNext(lane) ? 0 : idle + 1;
    }
  };

  const waitingCalls = () =>
    lanes.flatMap((lane) =>
      [...lane.ring].flatMap((caller) => (caller.queues.get(lane.name) ?? []).map((call) => ({ lane, caller, call }))),
    );

  const refuseStuck = (): void => {
    const now = performance.now();
    for (const { lane, caller, call } of waitingCalls()) {
      // A caller that may not run waits for its own calls. Otherwise it waits for the pool.
      const { succeededAt } = mayRun(caller, lane) ? lane.pool : caller;
      if (now - Math.max(call.since, succeededAt) >= stuckMs) call.refuse(stuck());
    }
    if (lanes.some(({ ring }) => ring.size > 0) || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  const wait = (caller: Caller, lane: LaneState, { isStarted = false, gone }: CallOptions): Promise<EndTurn> =>
    new Promise((resolve, reject) => {
      const signal = gone?.();
      const leave = (): void => call.refuse(hungUp());
      const call: Waiting = {
        isStarted,
        since: performance.now(),
        begin: (end) => {
          signal?.removeEventListener("abort", leave);
          resolve(end);
        },
        refuse: (why) => {
          signal?.removeEventListener("abort", leave);
          dequeue(caller, lane, call);
          forgetIdle(caller);
          reject(why);
        },
      };
      enqueue(caller, lane, call);
      if (signal?.aborted) return leave();
      signal?.addEventListener("abort", leave);
      // The timer does not keep the process alive: the sockets of waiting clients do.
      timer ??= setInterval(refuseStuck, CHECK_MS).unref();
    });

  return {
    async take(key, name, options = {}) {
      const lane = lanesByName.get(name);
      if (lane === undefined) throw new Error(`There is no lane ${name}.`);
      const caller = callerOf(key);
      if (hasPlace(lane) && mayRun(caller, lane)) return begin(caller, lane);
      if (!options.isStarted && caller.waiting >= WAITING) {
        refused += 1;
        throw tooMany();
      }
      return wait(caller, lane, options);
    },
    waiting: () => Object.fromEntries([...pools].map(([name, { waiting }]) => [name, waiting])),
    refused: () => refused,
    close() {
      for (const { call } of waitingCalls()) call.refuse(stopping());
    },
  };
};
