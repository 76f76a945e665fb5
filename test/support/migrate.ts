import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withClient } from "./client.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** `npm run migrate` gives up when it cannot get a lock, and a deployment tries again. */
const MAX_TRIES = 20;
const PAUSE_MS = 500;

/**
 * Runs `npm run migrate` as a process of its own, because it computes for seconds, in which callers in this process
 * could do nothing.
 * @throws if it exits with another code than 0
 */
export const runMigrate = async (url: string): Promise<void> => {
  await promisify(execFile)(process.execPath, ["src/main.ts", "migrate"], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], DATABASE_URL: url },
  });
};

/**
 * Loads the code again into a database in use, as a deployment with changed code does: with a login like souk_migrator,
 * whose password only its operator knows.
 * @param url a superuser's login
 */
export const reloadCode = async (url: string): Promise<void> => {
  const login = `migrator_${randomBytes(6).toString("hex")}`;
  const asMigrator = Object.assign(new URL(url), { username: login, password: login }).href;
  await withClient(url, (client) =>
    client.query(`create role ${login} login noinherit password '${login}' in role souk_owner;
      delete from internal.loaded where name = 'code'`),
  );
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await runMigrate(asMigrator);
      } catch (error) {
        if (tries === MAX_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  } finally {
    await withClient(url, (client) => client.query(`drop role ${login}`));
  }
};
