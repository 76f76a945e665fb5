import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";

/**
 * Templates: whatever is written into a page is escaped, so that no test of a page has to show it again. Eta escapes
 * `<%= %>`, which is enough in text and in attributes with quotes, and does not escape `<%~ %>`.
 */

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

/** What is HTML already: the page in its frame, a guide made of our Markdown, and the structured data of an offer. */
const OUR_OWN = new Set(["it.body", "it.html", "it.meta.jsonLd"]);

const templates = async (): Promise<[file: string, text: string][]> => {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith(".eta"));
  return Promise.all(
    files.map(async (file): Promise<[string, string]> => [file, await readFile(join(SRC, file), "utf8")]),
  );
};

test("a template inserts without escaping only other templates, and what is named here", async (t) => {
  const all = await templates();
  t.true(all.length > 30, `${all.length} templates`);
  for (const [file, text] of all)
    for (const [, inserted = ""] of text.matchAll(/<%~\s*([\s\S]*?)\s*-?%>/g))
      t.true(inserted.startsWith("include(") || OUR_OWN.has(inserted), `${file}: ${inserted}`);
});

test("what is written into a tag stands in double quotes, or is the name of an attribute", async (t) => {
  for (const [file, text] of await templates()) {
    const marked = text
      .replaceAll(/<%=[\s\S]*?%>/g, "\u0001")
      .replaceAll(/<%[\s\S]*?%>/g, "")
      .replaceAll('\u0001="', '"');
    for (const [tag] of marked.matchAll(/<[a-z][^<>]*>/gi))
      t.false(tag.replaceAll(/"[^"]*"/g, "").includes("\u0001"), `${file}: ${tag}`);
  }
});
