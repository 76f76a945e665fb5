import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

/** The database that the process brings along when it is given none. */
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
    // Another user's process lives, too.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/** One process at a time: two PGlites on the same files would destroy them. */
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

/**
 * Starts PostgreSQL inside this process (PGlite with pgvector), kept in `dataDir`, behind a socket on loopback, so that
 * everything else talks to it as to a server. Survives kill -9: PostgreSQL's own write-ahead log brings it back.
 */
export const startEmbeddedDatabase = async (dataDir: string): Promise<EmbeddedDatabase> => {
  await mkdir(dataDir, { recursive: true });
  const lockFile = await lock(dataDir);
  const db = await PGlite.create({ dataDir: join(dataDir, "postgres"), extensions: { vector } });
  const port = await freePort();
  const server = new PGLiteSocketServer({ db, port, host: "127.0.0.1", maxConnections: MAX_CONNECTIONS });
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
