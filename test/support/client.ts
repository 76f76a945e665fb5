import pg from "pg";

/** Calls `fn` with a connection to the database of a URL, and closes the connection afterwards. */
export async function withClient<T>(url: string, fn: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // Without a listener, a lost server would end the test process. The running query reports the error.
  client.on("error", () => {});
  await client.connect();
  try {
    return await fn(client);
  } finally {
    await client.end();
  }
}

/** A connection until the test ends. Its database may be dropped before. */
export const openClient = async (
  url: string,
  t: { teardown: (end: () => Promise<void>) => void },
): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  t.teardown(() => client.end());
  return client;
};

const pools = new Map<string, pg.Pool>();

/** Longer than the pauses of a test that asks again and again. */
const KEPT_MS = 3_000;

/**
 * Returns a pool of sessions for single statements. A new session costs PostgreSQL some five milliseconds of processor
 * time, and compiles each function again, so it stays open for a moment. A statement must leave no setting behind.
 */
export const keptSessions = (url: string): pg.Pool => {
  const known = pools.get(url);
  if (known !== undefined) return known;
  const pool = new pg.Pool({ connectionString: url, max: 20, idleTimeoutMillis: KEPT_MS, allowExitOnIdle: true });
  // A session ends with its database or its server, and the next statement opens another one.
  pool.on("error", () => {});
  pools.set(url, pool);
  return pool;
};

/** Returns the URL of another database on the same server. */
export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
