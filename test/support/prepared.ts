import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { urlOf } from "./client.ts";
import { type Cluster, installedVersion, startCluster } from "./postgres.ts";
import { sql } from "./sql.ts";
import { fingerprint, readyTemplate } from "./template.ts";

/**
 * A cluster that has the market's template. It is made once for each state of the sources, and kept: to make a market
 * takes ten seconds of a processor, and to copy these files takes a fifth of a second.
 */

const KEPT = fileURLToPath(new URL("../../node_modules/.cache/souk/clusters", import.meta.url));

/** The files of a cluster are mostly reserved for the write-ahead log. This is the least that PostgreSQL keeps. */
const SMALL = { min_wal_size: "32MB", max_wal_size: "64MB" };

/** Returns the data folder of the stopped cluster that others are copied from. */
export async function preparedData(): Promise<string> {
  const folder = join(KEPT, `${await installedVersion()}-${await fingerprint()}`);
  if (!existsSync(folder)) await prepare(folder);
  return folder;
}

async function prepare(folder: string): Promise<void> {
  const cluster = await startCluster(SMALL);
  const copy = `${folder}.${randomBytes(4).toString("hex")}`;
  try {
    await readyTemplate(cluster.url);
    await cluster.halt("fast");
    await mkdir(KEPT, { recursive: true });
    const former = (await readdir(KEPT)).map((name) => join(KEPT, name));
    await cp(join(cluster.directory, "data"), copy, { recursive: true });
    // Fails if another run has just made the same folder, which serves as well.
    await rename(copy, folder).catch(() => {});
    await Promise.all(former.map((other) => rm(other, { recursive: true, force: true })));
  } finally {
    await rm(copy, { recursive: true, force: true });
    await cluster.destroy();
  }
}

/**
 * Starts a cluster with a market, for tests that break a server.
 * @param settings lines for postgresql.conf
 * @returns the cluster; its `url` is that of the market's database
 */
export async function startMarketCluster(settings: Record<string, string> = {}): Promise<Cluster> {
  const cluster = await startCluster(settings, await preparedData());
  await sql(cluster.url, `create database souk template ${await readyTemplate(cluster.url)}`);
  return { ...cluster, url: urlOf(cluster.url, "souk") };
}
