import { createServer } from "node:net";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/**
 * The thread of the embedded database: PGlite behind a socket on loopback. It posts the URL when it is up, and closes the
 * database when it gets a message.
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

/** Messages that end an exchange: the backend answers what came before and is ready for whoever is next. */
const SYNC = "S".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);

/** Sync: type, length. */
const SYNC_MESSAGE = Uint8Array.of(SYNC, 0, 0, 0, 4);

/** Messages of the extended protocol, after which the client still owes a Sync: Parse, Bind, Describe, Execute, Close, Flush. */
const OWES_SYNC: ReadonlySet<number> = new Set([..."PBDECH"].map((letter) => letter.charCodeAt(0)));

/**
 * The socket server serves message by message, and keeps to one connection only while PGlite says that a transaction is
 * open. Statements come in several messages (Parse, Bind, Execute, Sync) and the unnamed statement is one for all: unless
 * they stay together, one connection's parameters meet another's statement. So this PGlite says so from the first message
 * of an exchange to its end.
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
    // How the server takes back what a connection left open that broke off.
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
