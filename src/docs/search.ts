import { PROBLEMS } from "../base/problem.ts";
import type { Guide } from "./guides.ts";
import type { Reference } from "./reference.ts";

/** The search of /docs: over the sections of guides, the calls, and the codes of problems, all in memory. */

/** Something that can be found. `path` is relative to the address of the service. */
type Entry = { kind: string; title: string; path: string; text: string };

/** A result: an entry, and the words around the first match. */
export type Result = { kind: string; title: string; path: string; snippet: string };

/** A reader looks at one screen of results. */
const MAX_RESULTS = 20;

/** The longest query. Nobody types more, and a longer one would cost more. */
export const QUERY_LENGTH = 100;

/** The characters of the text that a result shows. */
const SNIPPET_LENGTH = 160;

const folded = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();

/** Text without Markdown's marks, on one line. */
const plain = (text: string): string =>
  text
    .replaceAll(/\]\([^)]*\)/g, "")
    .replaceAll(/[`*|[\]]|^-+$/gm, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

/** Makes the index of the documentation. */
export const indexOf = (guides: readonly Guide[], { tags }: Reference): Entry[] => [
  ...guides.flatMap(({ slug, title, sections }) =>
    sections.map((section) => ({
      kind: section.anchor === "" ? "Guide" : title,
      title: section.title,
      path: `/docs/${slug}${section.anchor === "" ? "" : `#${section.anchor}`}`,
      text: plain(section.text),
    })),
  ),
  ...tags.flatMap(({ operations }) =>
    operations.map(({ id, method, path, summary, description, parameters, body }) => ({
      kind: "Reference",
      title: `${method} ${path}`,
      path: `/docs/reference/${id}`,
      text: plain(`${summary}. ${description} ${id} ${[...parameters, ...body].map(({ name }) => name).join(" ")}`),
    })),
  ),
  ...Object.entries(PROBLEMS).map(([code, { status, title, help }]) => ({
    kind: "Error",
    title: `${status} ${code}`,
    path: `/errors#${code}`,
    text: plain(`${title}. ${help}`),
  })),
];

const snippetOf = (text: string, word: string): string => {
  const start = Math.max(0, folded(text).indexOf(word) - SNIPPET_LENGTH / 4);
  const cut = text.slice(start, start + SNIPPET_LENGTH).trim();
  return `${start > 0 ? "…" : ""}${cut}${start + SNIPPET_LENGTH < text.length ? "…" : ""}`;
};

/** Finds the entries that contain every word of a query: those with the words in the title come first. */
export const find = (entries: readonly Entry[], query: string): Result[] => {
  const words = folded(query).match(/[\p{L}\p{N}_/]+/gu) ?? [];
  const [first] = words;
  if (first === undefined) return [];
  return entries
    .map((entry) => ({ entry, title: folded(entry.title), all: folded(`${entry.title} ${entry.text}`) }))
    .filter(({ all }) => words.every((word) => all.includes(word)))
    .map(({ entry, title }) => ({ entry, inTitle: words.filter((word) => title.includes(word)).length }))
    .toSorted((one, other) => other.inTitle - one.inTitle)
    .slice(0, MAX_RESULTS)
    .map(({ entry: { kind, title, path, text } }) => ({ kind, title, path, snippet: snippetOf(text, first) }));
};
