import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { SOCKET, takeDataFolder } from "./data_folder.ts";

/**
 * The thread of the embedded database: PGlite behind a Unix socket. It posts the URL when the database is up, and closes
 * the database when it receives a message. Every connection has the rights of a superuser without a password, so the
 * socket is in a folder that only the user of this process can open.
 */

/** PGlite has one backend; its socket server lets this many connections take turns. */
const MAX_CONNECTIONS = 60;

/**
 * PostgreSQL's own cache. PGlite fills all of it at the start, and its default of 128 MB would be a quarter of the
 * service's memory. The kernel's cache is behind it.
 */
const SHARED_BUFFERS = "32MB";

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
const folder = await takeDataFolder(dataDir);
const db = await PGlite.create({
  dataDir: folder.files,
  extensions: { vector },
  startParams: [...PGlite.defaultStartParams, "-c", `shared_buffers=${SHARED_BUFFERS}`],
});
const path = join(folder.sockets, SOCKET);
const server = new PGLiteSocketServer({ db: inTurns(db), path, maxConnections: MAX_CONNECTIONS });
await server.start();
parentPort?.once("message", async () => {
  await server.stop();
  await db.close();
  await folder.release();
  process.exit();
});
parentPort?.postMessage(`postgres://postgres@${encodeURIComponent(folder.sockets)}/postgres?sslmode=disable`);
