import type pg from "pg";

/**
 * Quick reads share a few connections of a pool: one sends its statement without waiting for the answers to those before
 * it (node-postgres' pipeline mode). Then a busy process needs fewer writes, reads and switches between processes for the
 * same statements.
 *
 * Each statement is its own transaction, so an error, a refusal or a statement timeout ends only that statement. The
 * answers come in the order of the statements, so only statements of a few milliseconds may share. A longer one checks
 * a connection out of the pool and has it alone.
 */

/** Runs a statement on a connection that is shared, or fails as the statement does. */
type RunShared = <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) => Promise<pg.QueryResult<Row>>;

type Shared = {
  client: pg.PoolClient;
  /** Whether its socket holds statements back until the end of this turn of the event loop. */
  corked: boolean;
  /** The statements that have not been answered yet. */
  open: number;
  /** Once an unexpected error was seen, no further statement uses the connection. It closes after the last answer. */
  failed: boolean;
};

/** PostgreSQL knows no prepared statement of this name, so it ran nothing. */
const UNKNOWN_STATEMENT = "26000";

/**
 * Shares connections of a pool whose clients have `pipeline` set.
 * @param max the number of connections that are shared at a time
 * @param leavesUsable whether a connection can be used again after this error
 */
export const shareConnections = (pool: pg.Pool, max: number, leavesUsable: (error: unknown) => boolean): RunShared => {
  const shared = new Set<Shared>();
  let opening: Promise<Shared> | null = null;

  const open = async (): Promise<Shared> => {
    const one: Shared = { client: await pool.connect(), corked: false, open: 0, failed: false };
    shared.add(one);
    return one;
  };

  /** Returns the connection with the fewest open statements. Takes another one from the pool while all are busy. */
  const choose = (): Shared | Promise<Shared> => {
    let best: Shared | null = null;
    for (const one of shared) if (best === null || one.open < best.open) best = one;
    if (best !== null && (best.open === 0 || shared.size >= max || opening !== null)) return best;
    opening ??= open().finally(() => {
      opening = null;
    });
    return opening;
  };

  /** Statements that begin in one turn of the event loop are sent with one write. */
  const sendTogether = (one: Shared): void => {
    if (one.corked) return;
    one.corked = true;
    const { stream } = one.client.connection;
    stream.cork();
    setImmediate(() => {
      one.corked = false;
      stream.uncork();
    });
  };

  return async <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) => {
    const chosen = choose();
    const one = chosen instanceof Promise ? await chosen : chosen;
    one.open += 1;
    sendTogether(one);
    try {
      return await one.client.query<Row>(statement);
    } catch (error) {
      if (!leavesUsable(error)) {
        one.failed = true;
        shared.delete(one);
      }
      // The statement that should have prepared it failed, for example because it waited too long for a lock.
      if ((error as { code?: unknown }).code === UNKNOWN_STATEMENT) return await pool.query<Row>(statement);
      throw error;
    } finally {
      one.open -= 1;
      if (one.open === 0) {
        shared.delete(one);
        one.client.release(one.failed);
      }
    }
  };
};
