import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/** The database that the process runs itself if DATABASE_URL is not set. */
export type EmbeddedDatabase = { url: string; close(): Promise<void> };

/** PGlite has one backend; its socket server lets this many connections take turns. */
const MAX_CONNECTIONS = 60;

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("no free port")),
      );
    });
  });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/** Locks the folder for this process, because two PGlites on the same files would destroy them. */
const lock = async (dataDir: string): Promise<string> => {
  const file = join(dataDir, "souk.pid");
  const holder = Number(await readFile(file, "utf8").catch(() => "0"));
  if (holder > 0 && holder !== process.pid && isAlive(holder)) {
    throw new Error(
      `Another process (${holder}) uses the database in ${dataDir}. Stop it, or set DATA_DIR to another folder. If it is no Souk, delete ${file}.`,
    );
  }
  await writeFile(file, String(process.pid));
  return file;
};

/** Messages that end an exchange. The backend answers everything before, and can then serve another connection. */
const SYNC = "S".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);

/** The Sync message: its type and its length. */
const SYNC_MESSAGE = Uint8Array.of(SYNC, 0, 0, 0, 4);

/** Messages that need a Sync after them (the extended protocol): Parse, Bind, Describe, Execute, Close, Flush. */
const OWES_SYNC: ReadonlySet<number> = new Set([..."PBDECH"].map((letter) => letter.charCodeAt(0)));

/**
 * Wraps PGlite so that the messages of one exchange are not mixed with those of another connection. The socket server
 * handles message by message, and stays with one connection only while PGlite reports an open transaction. A statement
 * consists of several messages (Parse, Bind, Execute, Sync), and all connections share one unnamed statement. Mixed up,
 * the parameters of one connection would be bound to the statement of another. So this wrapper reports an open
 * transaction from the first message of an exchange to its Sync.
 */
const inTurns = (db: PGlite): PGlite => {
  let owesSync = false;
  const serve: PGlite["execProtocolRawStream"] = async (message, options) => {
    const type = message[0] ?? 0;
    if (OWES_SYNC.has(type)) owesSync = true;
    try {
      await db.execProtocolRawStream(message, options);
    } finally {
      if (type === SYNC || type === QUERY) owesSync = false;
    }
  };
  const endExchange = async (): Promise<void> => {
    if (!owesSync) return;
    owesSync = false;
    await db.runExclusive(() => db.execProtocolRawStream(SYNC_MESSAGE, { onRawData: () => {} }));
  };
  const turns: Partial<PGlite> = {
    isInTransaction: () => owesSync || db.isInTransaction(),
    execProtocolRawStream: serve,
    // The server calls this to roll back when a connection breaks off.
    exec: async (...statement) => {
      await endExchange();
      return db.exec(...statement);
    },
  };
  return new Proxy(db, {
    get: (target, name) => {
      const own = Reflect.get(turns, name);
      if (own !== undefined) return own;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
};

/**
 * Starts PostgreSQL inside this process (PGlite with pgvector) with its data in `dataDir`. It listens on a loopback
 * socket, so that all other code uses it like a server. After kill -9, it recovers from its write-ahead log.
 */
export const startEmbeddedDatabase = async (dataDir: string): Promise<EmbeddedDatabase> => {
  await mkdir(dataDir, { recursive: true });
  const lockFile = await lock(dataDir);
  const db = await PGlite.create({ dataDir: join(dataDir, "postgres"), extensions: { vector } });
  const port = await freePort();
  const server = new PGLiteSocketServer({ db: inTurns(db), port, host: "127.0.0.1", maxConnections: MAX_CONNECTIONS });
  await server.start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`,
    async close() {
      await server.stop();
      await db.close();
      await rm(lockFile, { force: true });
    },
  };
};
