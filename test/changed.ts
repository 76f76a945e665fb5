import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * `npm test -- --changed` runs the test files that the changes since the branch left main can affect.
 *
 *   source   a TypeScript file: its text, by its path from the root of the repository
 *   input    a file or folder that a source depends on: the source imports it, or names it by
 *            `new URL("...", import.meta.url)`, which is how templates, SQL, shipped rows and forked processes are
 *            found
 *
 * The root of the repository is an input only of a test file that names it (guards.test.ts reads every file). Other
 * sources name the root to start processes in it.
 */

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Files that every test uses. */
const EVERYTHING =
  /^(package\.json|package-lock\.json|tsconfig\.json|ava\.config\.js|test\/run\.ts|test\/support\/.*)$/;

const TEST_FILE = /^test\/.*\.test\.ts$/;

/** Imports and exports with a relative path, static or dynamic, and paths that are made into URLs. */
const INPUTS = [/\b(?:from|import)\s*\(?\s*"(\.[^"]*)"/g, /\bnew URL\(\s*"([^":]+)",\s*import\.meta\.url,?\s*\)/g];

const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)("git", args, { cwd: ROOT, maxBuffer: 2 ** 26 })).stdout.trim();

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** The paths of a source's inputs. A folder has no slash at its end; "." is the root. */
export const inputsOf = (path: string, text: string): string[] =>
  INPUTS.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, named = ""]) =>
      posix.normalize(posix.join(posix.dirname(path), named)).replace(/(?<=.)\/$/, ""),
    ),
  );

/** The test files among `sources` that the changed files can affect, sorted. */
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
 * The test files that the difference from main can affect, committed or not.
 * @throws when the repository has neither a branch main nor origin/main
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
  // Git still lists a file that was deleted without a commit.
  const texts = await Promise.all(paths.map((path) => readFile(`${ROOT}/${path}`, "utf8").catch(() => null)));
  const sources = new Map(paths.flatMap((path, place) => (texts[place] == null ? [] : [[path, texts[place]]])));
  return affectedTests(changed, sources);
};
