import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** The database that the process runs itself if DATABASE_URL is not set. */
export type EmbeddedDatabase = { url: string; close(): Promise<void> };

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/** Locks the folder for this process, because two PGlite instances on the same files would destroy them. */
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
 * Starts PostgreSQL (PGlite with pgvector) in this process, with its data in `dataDir`. It listens on a loopback
 * socket, so that all other code uses it like a server. It has its own thread, because its queries would otherwise
 * block the service while they compute. After kill -9, PostgreSQL recovers from its write-ahead log.
 * @throws when another process uses the folder, or the database cannot start
 */
export const startEmbeddedDatabase = async (dataDir: string): Promise<EmbeddedDatabase> => {
  await mkdir(dataDir, { recursive: true });
  const lockFile = await lock(dataDir);
  const thread = new Worker(new URL("./embedded_server.ts", import.meta.url), { workerData: { dataDir } });
  // An error before the first message rejects this promise. A later error has no listener, so it ends the process.
  const [url] = (await once(thread, "message")) as [string];
  return {
    url,
    async close() {
      const exited = once(thread, "exit");
      thread.postMessage("close");
      await exited;
      await rm(lockFile, { force: true });
    },
  };
};
