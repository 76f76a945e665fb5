import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** The database that the process runs itself if DATABASE_URL is not set. */
export type EmbeddedDatabase = { url: string; close(): Promise<void> };

/**
 * Starts PostgreSQL (PGlite with pgvector) in this process, with its data in `dataDir`. It listens on a Unix socket that
 * only the user of this process can reach, so that all other code uses it like a server. It has its own thread, because
 * its queries would otherwise block the service while they compute. After kill -9, PostgreSQL recovers from its
 * write-ahead log.
 * @throws when another process uses the folder, or the database cannot start
 */
export const startEmbeddedDatabase = async (dataDir: string): Promise<EmbeddedDatabase> => {
  const thread = new Worker(new URL("./embedded_server.ts", import.meta.url), { workerData: { dataDir } });
  // An error before the first message rejects this promise. A later error has no listener, so it ends the process.
  const [url] = (await once(thread, "message")) as [string];
  return {
    url,
    async close() {
      const exited = once(thread, "exit");
      thread.postMessage("close");
      await exited;
    },
  };
};
