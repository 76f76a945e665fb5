import { performance } from "node:perf_hooks";
import type pg from "pg";

/**
 * Reads on replicas (streaming standbys), so that each caller sees its own writes.
 *
 *   mark      a snapshot of the primary, with a WAL position at which a replica has all of the snapshot
 *   reached   the latest mark that a replica is known to have replayed
 *
 * Processes do not pass on the positions of writes: agents keep no cookies, and a process cannot know what it has not
 * received. They are rows: every transaction notes the accounts whose rows it changes
 * (db/schema/internal/platform/note_write.sql). Before a read, the process asks the primary whether the account of the
 * caller has a write that the replica's mark does not contain. If so, the read goes to the primary. The question comes
 * after the read has arrived, so its answer covers every write that any process acknowledged before. All reads that
 * arrive while one question is under way share the next one, so the primary answers one small statement for many reads.
 *
 * What others do may appear on a replica later, but an offer that was taken down is shown nowhere. So before an answer
 * with offers is sent, the primary is asked whether it still shows them all; if not, the read is made there.
 *
 * If the primary cannot be asked, no read uses a replica: a removed agent must not be answered, and only the primary
 * knows who was removed.
 */

/** A replica as it was configured. `size` is the number of calls that it answers at once. */
export type Replica = { name: string; pool: pg.Pool; size: number };

type Mark = { snapshot: string; lsn: bigint; server: string; at: number };
type Question = { hash: Buffer; mark: Mark };

/**
 * A replica that is further behind is not used. Other callers' offers appear there that much later. Much longer than
 * the ten seconds between two heartbeats of a worker, which write WAL even if nobody else does; much shorter than the
 * five minutes for which notes of writes are kept (jobs.purge_keys).
 */
const MAX_BEHIND_MS = 30_000;
/**
 * The interval at which marks are made and replicas are asked. After a write, a caller reads on the primary for about
 * this long. A round costs each server some 0.1 ms.
 */
const ROUND_MS = 100;
/** An answer takes a millisecond. A server that takes this long is stuck, and the read goes elsewhere. */
export const ANSWER_MS = 1_000;

/** What the primary is asked before a read. */
export const CHECK_REPLICAS =
  "select lacking, snapshot::text, lsn::text, server from internal.check_replicas($1, $2, $3::text[]::pg_snapshot[])";
/** What the primary is asked about the offers in an answer. */
export const CHECK_OFFERS = "select internal.taken_down($1) as taken_down";

/**
 * Returns a function that asks a question. Questions asked while others are under way wait, and share one statement.
 * @param answer answers all that wait, in their order. If it fails, each is answered with false: then the reads go to
 * the primary, whose own error says what is wrong
 */
const inBatches = <Asked>(
  answer: (asked: readonly Asked[]) => Promise<readonly boolean[]>,
): ((asked: Asked) => Promise<boolean>) => {
  let waiting: { asked: Asked; resolve: (yes: boolean) => void }[] = [];
  let isAsking = false;
  const answerAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const answers = await answer(batch.map(({ asked }) => asked)).catch(() => []);
      for (const [i, { resolve }] of batch.entries()) resolve(answers[i] === true);
    }
    isAsking = false;
  };
  return (asked) =>
    new Promise((resolve) => {
      waiting.push({ asked, resolve });
      if (isAsking) return;
      isAsking = true;
      void answerAll();
    });
};

/** Converts a position in PostgreSQL's notation, such as "16/B374D848". */
const positionOf = (lsn: string): bigint => {
  const [high = "0", low = "0"] = lsn.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
};

/**
 * Follows the replicas and decides which reads they may answer.
 * @param options.primary a pool of one connection to the primary, for nothing else. Its queries need a time limit
 * @param options.onChange called when a replica comes into use or goes out of use
 * @param options.pooled the primary is behind a pooler, so named statements are not used
 * @param options.mostBehindMs shorter than MAX_BEHIND_MS in tests
 */
export const followReplicas = (options: {
  primary: pg.Pool;
  replicas: readonly Replica[];
  onChange: (name: string, inUse: boolean) => void;
  pooled?: boolean;
  mostBehindMs?: number;
}) => {
  const { primary, pooled = false, mostBehindMs = MAX_BEHIND_MS } = options;
  const replicas = options.replicas.map((replica) => ({
    ...replica,
    /** How many calls it answers. */
    reading: 0,
    reached: null as Mark | null,
    /** What the replica answered in the last round; null if it did not. */
    replayed: null as bigint | null,
    wasInUse: false,
  }));
  type Followed = (typeof replicas)[number];

  let marks: Mark[] = [];
  let closed = false;

  const forget = (): void => {
    marks = [];
    for (const replica of replicas) replica.reached = null;
  };
  // After a crash, the primary reuses lost numbers of transactions and positions in its log.
  primary.on("remove", forget);

  const isInUse = ({ reached }: Followed): boolean =>
    reached !== null && performance.now() - reached.at <= mostBehindMs;

  /** Asks the primary about some callers, and for a mark. */
  const askPrimary = async (asked: readonly Question[]): Promise<{ lacking: boolean[]; mark: Mark }> => {
    const at = performance.now();
    const known = [...new Set(asked.map(({ mark }) => mark))];
    const { rows } = await primary.query<{ lacking: boolean[]; snapshot: string; lsn: string; server: string }>({
      ...(pooled ? {} : { name: "check_replicas" }),
      text: CHECK_REPLICAS,
      values: [
        asked.map(({ hash }) => hash),
        asked.map(({ mark }) => known.indexOf(mark) + 1),
        known.map(({ snapshot }) => snapshot),
      ],
    });
    const [row] = rows;
    if (row === undefined) throw new Error("internal.check_replicas returned no row.");
    const mark = { snapshot: row.snapshot, lsn: positionOf(row.lsn), server: row.server, at };
    return { lacking: row.lacking, mark };
  };

  /** Whether a replica has everything that a caller's account wrote. */
  const mayRead = inBatches<Question>(async (asked) => {
    const { lacking, mark } = await askPrimary(asked);
    return asked.map(({ mark: reached }, i) => lacking[i] === false && reached.server === mark.server);
  });

  /** Whether the primary still shows some offers. */
  const showsAll = inBatches<readonly string[]>(async (asked) => {
    const { rows } = await primary.query<{ taken_down: string[] }>({
      ...(pooled ? {} : { name: "check_offers" }),
      text: CHECK_OFFERS,
      values: [asked.flat()],
    });
    const takenDown = new Set(rows[0]?.taken_down);
    return asked.map((ids) => !ids.some((id) => takenDown.has(id)));
  });

  /** Notes what a replica has replayed, and which marks it has reached. */
  const followReplica = async (replica: Followed, mark: Mark): Promise<void> => {
    const { rows } = await replica.pool.query<{ standby: boolean; lsn: string | null; server: string }>(
      `select pg_is_in_recovery() as standby, pg_last_wal_replay_lsn()::text as lsn,
         extract(epoch from pg_postmaster_start_time())::text as server`,
    );
    const [row] = rows;
    if (row?.standby && row.lsn !== null) {
      replica.replayed = positionOf(row.lsn);
      const { replayed } = replica;
      replica.reached = marks.findLast(({ lsn }) => lsn <= replayed) ?? replica.reached;
      return;
    }
    // A server that is not a standby has everything only if it is the primary itself.
    replica.replayed = null;
    replica.reached = row?.server === mark.server ? mark : null;
  };

  const round = async (): Promise<void> => {
    const { mark } = await askPrimary([]);
    // After a failover, marks of the old primary may be about transactions that the new one never had.
    if (marks.some(({ server }) => server !== mark.server)) forget();
    marks = [...marks.filter(({ at }) => mark.at - at <= mostBehindMs), mark];
    await Promise.all(
      replicas.map(async (replica) => {
        // A standby of this primary cannot have been ahead of where the primary is now.
        const isElsewhere = replica.replayed !== null && replica.replayed > mark.lsn;
        await followReplica(replica, mark).catch(() => failed(replica.pool));
        if (isElsewhere) replica.reached = null;
      }),
    );
  };

  /** Takes a replica out of use until it answers again. */
  const failed = (pool: pg.Pool): void => {
    const replica = replicas.find((one) => one.pool === pool);
    if (replica === undefined) return;
    replica.reached = null;
    replica.replayed = null;
  };

  /** The present round, and the timer of the next one. */
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  const next = async (): Promise<void> => {
    // If the primary does not answer, what the replicas have reached stays known, and becomes too old.
    await round().catch(() => undefined);
    for (const replica of replicas) {
      const inUse = isInUse(replica);
      if (inUse !== replica.wasInUse) options.onChange(replica.name, inUse);
      replica.wasInUse = inUse;
    }
    if (closed) return;
    timer = setTimeout(() => {
      running = next();
    }, ROUND_MS).unref();
  };
  running = next();

  return {
    /**
     * Reads on a replica, if one is in use and has everything that the caller's account wrote.
     * @param hash of the caller's token or session secret
     * @param offersIn returns the ids of the offers that an answer shows
     * @returns null if the caller has to read on the primary
     * @throws the error of `work`
     */
    async read<Result>(
      hash: Buffer,
      work: (pool: pg.Pool) => Promise<Result | null>,
      offersIn: (result: Result) => readonly string[] = () => [],
    ): Promise<Result | null> {
      const [replica] = replicas
        .filter((one) => isInUse(one) && one.reading < one.size)
        .sort((one, other) => one.reading - other.reading);
      const reached = replica?.reached;
      if (replica === undefined || !reached) return null;
      replica.reading += 1;
      try {
        if (!(await mayRead({ hash, mark: reached }))) return null;
        const result = await work(replica.pool);
        if (result === null) return null;
        const offers = offersIn(result);
        return offers.length === 0 || (await showsAll(offers)) ? result : null;
      } finally {
        replica.reading -= 1;
      }
    },
    failed,
    /** The state of each replica, in the order in which they were named. */
    states: () =>
      replicas.map((replica) => ({
        name: replica.name,
        inUse: isInUse(replica),
        secondsBehind: replica.reached === null ? null : (performance.now() - replica.reached.at) / 1_000,
      })),
    async close(): Promise<void> {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      await Promise.all([primary, ...replicas.map(({ pool }) => pool)].map((pool) => pool.end()));
    },
  };
};

/** The replicas of a process. */
export type Replicas = ReturnType<typeof followReplicas>;
