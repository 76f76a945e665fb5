import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { CONTACT_TYPES, EVENT_TYPES } from "../src/base/enums.ts";
import { WAYS_OF_TYPE } from "../src/reader/decide/contact_discourse.ts";

/**
 * A value that stands in several places is in all of them (.github/CONTRIBUTING.md, "How to add"). The compiler finds
 * the records that lack one, test/db/enums.test.ts what the database lacks, and these tests the texts.
 */

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const textOf = (path: string): Promise<string> => readFile(join(ROOT, path), "utf8");

const textsOf = async (folder: string): Promise<string> => {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")))).join("\n");
};

/** Those values that are no word of the text. */
const missingIn = (text: string, values: readonly string[]): string[] =>
  values.filter((value) => !new RegExp(`(?<![\\w.])${value.replace(".", "\\.")}(?![\\w.])`).test(text));

test("every event type is written by a trigger or a job, and stands in the guide", async (t) => {
  const folders = await Promise.all(["feed", "deals"].map((name) => textsOf(`db/schema/internal/${name}`)));
  const written = [await textOf("db/schema/market/triggers.sql"), ...folders].join("\n");
  t.deepEqual(missingIn(written, EVENT_TYPES), []);
  t.deepEqual(missingIn(await textOf("src/docs/guides/events.md"), EVENT_TYPES), []);
});

test("every contact type has words in the lexicon", async (t) => {
  const concepts = CONTACT_TYPES.map((type) => `contact_${WAYS_OF_TYPE[type][0]}`);
  t.deepEqual(missingIn(await textOf("db/data/label.tsv"), concepts), []);
});
