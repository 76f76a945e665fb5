import { execFile, spawn } from "node:child_process";
import { cp, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Cluster } from "./postgres.ts";

/**
 * A small file system of its own for the tables of a cluster, so that a test can fill a disk without filling the
 * machine's.
 *
 * Only `data/base`, which has the tables and indexes, is on it. The write-ahead log stays where it was, as the guide to
 * backups tells operators to arrange it.
 */

const run = promisify(execFile);

/** Far more than a test writes. Memory is only used for what is written. */
const SIZE = "8g";

/** Writers may use a block between looking and shrinking. */
const TRIES = 50;

/** The volume of a cluster's tables. */
export type Volume = {
  /** Takes all free space away: from now on, no file can grow. */
  fill: () => Promise<void>;
  /** Gives the space back. */
  empty: () => Promise<void>;
  /** Unmounts it. The cluster must have been stopped. */
  remove: () => Promise<void>;
};

/** Waits until its standard input closes, which happens however its parent process ends, and then unmounts. */
const WATCHDOG = 'cat > /dev/null; umount --lazy "$1" 2> /dev/null; rm -rf "$(dirname "$(dirname "$1")")"';

/**
 * Moves the tables of a cluster to a file system of their own. The cluster is restarted.
 * @returns the volume, or a sentence that says why this process cannot mount one
 */
export const giveOwnVolume = async (cluster: Cluster): Promise<Volume | string> => {
  if (process.platform !== "linux") return "only Linux has a file system in memory that can be mounted";
  if (process.getuid?.() !== 0) return "only root may mount a file system";
  const folder = join(cluster.directory, "data", "base");
  const aside = `${folder}.aside`;
  await cluster.halt("fast");
  const { uid, gid } = await stat(folder);
  const mount = (options: string) => run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  try {
    await rename(folder, aside);
    await run("install", ["-d", "-m", "0700", "-o", String(uid), "-g", String(gid), folder]);
    await mount(`size=${SIZE},mode=0700,uid=${uid},gid=${gid}`);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
    await cluster.start();
    return `this process may not mount a file system: ${error instanceof Error ? error.message : error}`;
  }
  const watchdog = spawn("/bin/sh", ["-c", WATCHDOG, "watchdog", folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  await cp(aside, folder, { recursive: true });
  await run("chown", ["-R", `${uid}:${gid}`, folder]);
  await rm(aside, { recursive: true });
  await cluster.start();

  const resize = (size: string) => run("mount", ["-o", `remount,size=${size}`, folder]);
  return {
    async fill() {
      for (let tries = 1; ; tries++) {
        const { blocks, bfree, bsize } = await statfs(folder);
        // Linux refuses a size below what is used.
        const failure = await resize(String((blocks - bfree) * bsize)).then(
          () => null,
          (error: unknown) => error,
        );
        if (failure === null) return;
        if (tries === TRIES) throw failure;
      }
    },
    empty: async () => void (await resize(SIZE)),
    async remove() {
      await run("umount", ["--lazy", folder]);
      watchdog.stdin.end();
    },
  };
};
