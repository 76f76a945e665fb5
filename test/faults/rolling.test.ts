import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { createDatabase } from "../support/database.ts";
import { connectedAgent } from "../support/market.ts";
import { startPart } from "../support/service.ts";

/**
 * A rolling deployment: the database is migrated and its code reloaded, while API processes of the previous commit run
 * on.
 *
 *   before   the previous commit; if there are uncommitted changes, the last commit
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const run = promisify(execFile);
const git = async (...args: string[]): Promise<string> => (await run("git", args, { cwd: ROOT })).stdout.trim();

const TEXT = "Grey three-seat sofa, good condition. 180 EUR, pick up in Berlin. Write to lena@example.com";

/** The previous commit: HEAD if files have been changed since, else its parent. Null where there is no git history. */
const previousCommit = async (): Promise<string | null> => {
  const changed = await git("status", "--porcelain", "--", "src", "db", "worker").catch(() => null);
  if (changed === null) return null;
  const commit = changed === "" ? "HEAD^" : "HEAD";
  return git("rev-parse", "--verify", "--quiet", `${commit}^{commit}`).catch(() => null);
};

/** The sources of a commit, in a folder that uses this checkout's packages. */
const sourcesOf = async (commit: string, t: { teardown: (clean: () => Promise<void>) => void }): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "souk-previous-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const archive = join(folder, "sources.tar");
  await git("archive", `--output=${archive}`, commit, "package.json", "src", "worker", "db");
  await run("tar", ["-xf", archive, "-C", folder]);
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
};

test("an API of the previous commit works on this commit's database", async (t) => {
  const previous = await previousCommit();
  // A copy of the sources without git history has no previous commit. There the API of this copy has to work.
  const folder = previous === null ? ROOT : await sourcesOf(previous, t);
  const { url } = await createDatabase(t);
  await startPart("worker", { database: url, env: { BASE_URL: "http://127.0.0.1" } }, t);
  const api = await startPart("api", { database: url, sources: folder }, t);
  const seller = await connectedAgent(api.url, url);
  const buyer = await connectedAgent(api.url, url);

  const published = await seller.call("POST", "/v1/offers", { text: TEXT });
  t.is(published.status, 201, published.text);
  const id: string = published.body.offer_id;
  const asked = await buyer.call("POST", "/v1/asks", { text: "Looking for a grey sofa in Berlin, up to 200 EUR" });
  t.is(asked.status, 201, asked.text);
  const answers = await Promise.all([
    seller.call("GET", "/v1/me"),
    seller.call("GET", "/v1/offers"),
    buyer.call("GET", `/v1/offers/${id}`),
    buyer.call("GET", "/v1/asks"),
    buyer.call("GET", `/v1/asks/${asked.body.id}/matches`),
    buyer.call("POST", "/v1/offers/search", { query: "sofa", filters: { location: "Berlin" } }),
    buyer.call("POST", `/v1/offers/${id}/report`, { reason: "spam" }),
    seller.call("POST", "/v1/offers/preview", { text: TEXT }),
    seller.call("PATCH", `/v1/offers/${id}`, { text: TEXT.replace("180", "150") }),
  ]);
  t.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
    answers.map(({ text }) => text).join("\n"),
  );
  t.is((await seller.call("POST", `/v1/offers/${id}/archive`)).status, 200);
  t.is((await seller.call("POST", `/v1/offers/${id}/republish`)).status, 200);
});
