import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withClient } from "./client.ts";
import { currentMigration, isEmptyMigration } from "./sql_files.ts";

/**
 * Earlier states of the sources, from the history of this repository.
 *
 *   previous commit   if there are uncommitted changes, the last commit, or else its parent
 *   previous release  the newest earlier commit with other committed migrations, by name, and with none in progress
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const run = promisify(execFile);
const git = async (...args: string[]): Promise<string> =>
  (await run("git", args, { cwd: ROOT, maxBuffer: 2 ** 26 })).stdout.trim();

/** The previous commit: HEAD if files have been changed since, else its parent. Null where there is no git history. */
export const previousCommit = async (): Promise<string | null> => {
  const changed = await git("status", "--porcelain", "--", "src", "db", "worker").catch(() => null);
  if (changed === null) return null;
  const commit = changed === "" ? "HEAD^" : "HEAD";
  return git("rev-parse", "--verify", "--quiet", `${commit}^{commit}`).catch(() => null);
};

/** The previous release, or null where the history does not reach back to one. */
export const previousRelease = async (): Promise<string | null> => {
  const changed = await previousCommit();
  if (changed === null) return null;
  const inProgress = !isEmptyMigration(await currentMigration());
  // By name: a commit that corrects a comment of a migration applies none.
  const committed = (commit: string) => git("ls-tree", "-r", "--name-only", `${commit}:db/migrations`, "committed");
  const now = await committed("HEAD");
  const log = await git("log", "--first-parent", "--format=%H", "HEAD", "--", "db/migrations").catch(() => "");
  for (const commit of log.split("\n").filter((line) => line !== "")) {
    // Before each change of the migrations, the sources had the earlier ones.
    const before = await git("rev-parse", "--verify", "--quiet", `${commit}^1^{commit}`).catch(() => null);
    if (before === null) return null;
    const current = await git("show", `${before}:db/migrations/current.sql`).catch(() => null);
    if (current === null || !isEmptyMigration(current)) continue;
    if (inProgress || (await committed(before)) !== now) return before;
  }
  return null;
};

/** The sources of a commit, in a folder that uses this checkout's packages. */
export const sourcesOf = async (
  commit: string,
  t: { teardown: (clean: () => Promise<void>) => void },
): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "souk-previous-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const archive = join(folder, "sources.tar");
  await git("archive", `--output=${archive}`, commit, "package.json", "src", "worker", "db");
  await run("tar", ["-xf", archive, "-C", folder]);
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
};

/** A migration that cannot get its lock gives up, and a deployment tries again. */
const MIGRATION_TRIES = 20;
const MIGRATION_PAUSE_MS = 500;

/**
 * Runs `npm run migrate` of these sources, or of those of `sourcesOf`. It is a process of its own, because it computes
 * for seconds, in which callers in this process could do nothing.
 */
export const runMigrate = async (url: string, sources = ROOT): Promise<void> => {
  await run(process.execPath, [join(sources, "src/main.ts"), "migrate"], {
    cwd: sources,
    env: { PATH: process.env["PATH"], DATABASE_URL: url },
  });
};

/**
 * Brings a database in use up to date, the migration in progress included. Tries again as a deployment does.
 * @param options.reload loads the code even if it has not changed
 */
export const deployDatabase = async (url: string, { reload = false } = {}): Promise<void> => {
  const current = await currentMigration();
  const steps = [() => runMigrate(url)];
  if (reload) {
    steps.unshift(() =>
      withClient(url, async (client) => void (await client.query("delete from internal.loaded where name = 'code'"))),
    );
  }
  if (!isEmptyMigration(current)) {
    const text = `begin;\nset local lock_timeout = '5s';\n${current}\n;commit`;
    steps.unshift(() => withClient(url, async (client) => void (await client.query(text))));
  }
  for (const step of steps) {
    for (let tries = 1; ; tries++) {
      const failure = await step().then(
        () => null,
        (error: unknown) => error,
      );
      if (failure === null) break;
      if (tries === MIGRATION_TRIES) throw failure;
      await new Promise((resolve) => setTimeout(resolve, MIGRATION_PAUSE_MS));
    }
  }
};
