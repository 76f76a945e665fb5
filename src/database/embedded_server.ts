import { createServer } from "node:net";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/**
 * The thread of the embedded database: PGlite behind a loopback socket. It posts the URL when the database is up, and
 * closes the database when it receives a message.
 */

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

/** Messages that end an exchange: the backend answers all messages before, and can then serve another connection. */
const SYNC = "S".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);

/** The Sync message: its type and its length. */
const SYNC_MESSAGE = Uint8Array.of(SYNC, 0, 0, 0, 4);

/** Messages that need a Sync after them (the extended protocol): Parse, Bind, Describe, Execute, Close, Flush. */
const OWES_SYNC: ReadonlySet<number> = new Set([..."PBDECH"].map((letter) => letter.charCodeAt(0)));

/**
 * Wraps PGlite so that the messages of one exchange are not mixed with those of another connection. The socket server
 * handles message by message, and stays with one connection only while PGlite reports an open transaction. A statement
 * consists of several messages (Parse, Bind, Execute, Sync), and all connections share one unnamed statement. If their
 * messages were mixed, the parameters of one connection would be bound to the statement of another. So this wrapper
 * reports an open transaction from the first message of an exchange to its Sync.
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

const { dataDir } = workerData as { dataDir: string };
const db = await PGlite.create({ dataDir: join(dataDir, "postgres"), extensions: { vector } });
const port = await freePort();
const server = new PGLiteSocketServer({ db: inTurns(db), port, host: "127.0.0.1", maxConnections: MAX_CONNECTIONS });
await server.start();
parentPort?.once("message", async () => {
  await server.stop();
  await db.close();
  process.exit();
});
parentPort?.postMessage(`postgres://postgres@127.0.0.1:${port}/postgres?sslmode=disable`);
