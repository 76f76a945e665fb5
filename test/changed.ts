import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * `npm test -- --changed`: the test files that a change can affect, against what the branch left the main line with.
 *
 *   source   a TypeScript file with its text, by its path from the root of the repository
 *   input    what a source depends on: what it imports, and each file or folder that it names by
 *            `new URL("...", import.meta.url)`, which is how templates, SQL, rows and forked processes are found
 *
 * The root of the repository is an input only to a test file that names it (guards.test.ts reads every file): helpers name
 * it to start processes there.
 */

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What every test rests on. */
const EVERYTHING =
  /^(package\.json|package-lock\.json|tsconfig\.json|ava\.config\.js|test\/run\.ts|test\/support\/.*)$/;

const TEST_FILE = /^test\/.*\.test\.ts$/;

/** Imports and exports with a relative path, static or not, and paths made into URLs. */
const INPUTS = [/\b(?:from|import)\s*\(?\s*"(\.[^"]*)"/g, /\bnew URL\(\s*"([^":]+)",\s*import\.meta\.url,?\s*\)/g];

const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)("git", args, { cwd: ROOT, maxBuffer: 2 ** 26 })).stdout.trim();

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Paths of inputs of a source, a folder without a slash at its end; "." is the root. */
export const inputsOf = (path: string, text: string): string[] =>
  INPUTS.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, named = ""]) =>
      posix.normalize(posix.join(posix.dirname(path), named)).replace(/(?<=.)\/$/, ""),
    ),
  );

/** The test files among the sources that changed files can affect, in order. */
export const affectedTests = (changed: readonly string[], sources: ReadonlyMap<string, string>): string[] => {
  const tests = [...sources.keys()].filter((path) => TEST_FILE.test(path)).sort();
  if (changed.some((path) => EVERYTHING.test(path))) return tests;
  const inputs = new Map([...sources].map(([path, text]) => [path, inputsOf(path, text)]));
  const isChanged = (input: string, by: string): boolean =>
    input === "."
      ? TEST_FILE.test(by) && changed.length > 0
      : changed.some((path) => path === input || path.startsWith(`${input}/`));
  return tests.filter((test) => {
    const reached = new Set([test]);
    for (const path of reached) {
      if (changed.includes(path)) return true;
      for (const input of inputs.get(path) ?? []) {
        if (isChanged(input, path)) return true;
        if (sources.has(input)) reached.add(input);
      }
    }
    return false;
  });
};

/**
 * The test files that what is not on the main line can affect, committed or not.
 * @throws when this is no clone with a branch main, its own or its origin's
 */
export const changedTests = async (): Promise<string[]> => {
  const main = await git("rev-parse", "--verify", "--quiet", "main").catch(() => git("rev-parse", "origin/main"));
  const base = await git("merge-base", main, "HEAD");
  const [differing, unknown, known] = await Promise.all([
    git("diff", "--name-only", "--no-renames", base),
    git("ls-files", "--others", "--exclude-standard"),
    git("ls-files"),
  ]);
  const changed = [...new Set([...lines(differing), ...lines(unknown)])];
  const paths = [...lines(known), ...lines(unknown)].filter((path) => path.endsWith(".ts"));
  // A file that was deleted and not yet committed is known and not there.
  const texts = await Promise.all(paths.map((path) => readFile(`${ROOT}/${path}`, "utf8").catch(() => null)));
  const sources = new Map(paths.flatMap((path, place) => (texts[place] == null ? [] : [[path, texts[place]]])));
  return affectedTests(changed, sources);
};
