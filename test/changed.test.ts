import test from "ava";
import { affectedTests, inputsOf } from "./changed.ts";

/** `npm test -- --changed` selects at least every test file that a change can affect. */

const SOURCES = new Map([
  ["src/main.ts", 'const later = () => import("./pages/render.ts");'],
  ["src/pages/render.ts", 'import { escape } from "./escape.ts";\nconst T = new URL("./templates/", import.meta.url);'],
  ["src/pages/escape.ts", ""],
  ["src/reader/read.ts", 'export type { Word } from "./word.ts";'],
  ["src/reader/word.ts", 'import "../reader/read.ts";'],
  ["test/support/service.ts", 'new URL("../../src/main.ts", import.meta.url); new URL("../..", import.meta.url)'],
  ["test/guards.test.ts", 'const ROOT = new URL("..", import.meta.url);'],
  ["test/pages/pages.test.ts", 'import { render } from "../../src/pages/render.ts";'],
  ["test/reader/read.test.ts", 'import {\n  read,\n} from "../../src/reader/read.ts";'],
  ["test/http/http.test.ts", 'import { start } from "../support/service.ts";'],
]);

const affected = (...changed: string[]): string[] => affectedTests(changed, SOURCES);

test("a change affects the test file itself and the test files that import it, directly or indirectly", (t) => {
  t.deepEqual(affected("test/reader/read.test.ts"), ["test/guards.test.ts", "test/reader/read.test.ts"]);
  t.deepEqual(affected("src/reader/word.ts"), ["test/guards.test.ts", "test/reader/read.test.ts"]);
  t.deepEqual(affected("src/pages/escape.ts"), [
    "test/guards.test.ts",
    "test/http/http.test.ts",
    "test/pages/pages.test.ts",
  ]);
});

test("a file that is not code affects the tests of the code that names the file or its folder", (t) => {
  const pages = ["test/guards.test.ts", "test/http/http.test.ts", "test/pages/pages.test.ts"];
  t.deepEqual(affected("src/pages/templates/home.eta"), pages);
  t.deepEqual(affected("src/pages/templates.md"), ["test/guards.test.ts"]);
});

test("a change of a file that every test uses affects every test, and no change affects none", (t) => {
  const all = [...SOURCES.keys()].filter((path) => path.endsWith(".test.ts")).sort();
  for (const path of ["package.json", "package-lock.json", "test/run.ts", "test/support/service.ts"]) {
    t.deepEqual(affected(path), all, path);
  }
  t.deepEqual(affected(), []);
});

test("inputs are found in every form that the sources use", (t) => {
  const text = [
    'import one from "./one.ts";',
    'export * from "../two.ts";',
    'const three = await import("./three.ts");',
    'const four = new URL("../../db/four/", import.meta.url);',
    'import test from "ava";',
    'new URL("https://example.com/five", import.meta.url);',
  ].join("\n");
  t.deepEqual(inputsOf("src/room/file.ts", text), ["src/room/one.ts", "src/two.ts", "src/room/three.ts", "db/four"]);
});
