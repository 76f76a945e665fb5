import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { argv } from "node:process";
import {
  CLASSIFIER_FILE,
  DATA,
  formatClassifiers,
  MEANING_FILE,
  parseClassifiers,
  parseRows,
  readFiles,
  TRAINING_FILES,
  trainingSetHash,
} from "../../install/data_files.ts";
import type { Words } from "../builtin/knowledge.ts";
import { learnMeaning } from "../embed/learn.ts";
import { meaningSetOf } from "../embed/meaning_set.ts";
import type { Concept, Example, Label } from "../extraction.ts";
import { LEARNING, learnClassifiers, type Things, type TrainingSet } from "./classifiers.ts";

/**
 * `npm run train` trains the classifiers and learns the meanings of words from the shipped words and examples, and writes
 * them to db/data/classifier.jsonl and db/data/meaning.jsonl, so that a new installation need not train. `npm run train -- --check` writes nothing, and fails if the file is out of
 * date.
 * The same input files give the same bytes on every machine: everything is sorted by bytes, and training is
 * deterministic.
 */

type Read = (file: string) => string;

/** The rows of a file as objects by column. */
const rowsOf = (read: Read, file: string): Record<string, string | null>[] => {
  const { columns, rows } = parseRows(file, read(file));
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));
};

const byPosition = (a: Record<string, string | null>, b: Record<string, string | null>): number =>
  Number(a["position"]) - Number(b["position"]);

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/**
 * The shipped taxonomy and words, as `jobs.get_vocabulary` returns them.
 * @param read returns the text of a file of db/data
 */
export const shippedWords = (read: Read): Words => {
  const categories = rowsOf(read, "category.tsv").toSorted(byPosition);
  const concepts = rowsOf(read, "concept.tsv");
  const things = new Set(concepts.filter(({ type }) => type === "thing").map(({ concept }) => concept));
  return {
    taxonomy: rowsOf(read, "domain.tsv")
      .toSorted(byPosition)
      .map(({ domain, kinds }) => ({
        domain: domain ?? "",
        // A PostgreSQL array whose elements need no quotes.
        kinds: (kinds ?? "").slice(1, -1).split(","),
        categories: categories.filter((one) => one["domain"] === domain).map(({ category }) => category ?? ""),
      })),
    // The constraint of reading.concept guarantees that the columns fit the type.
    concepts: concepts.filter(({ type }) => type !== "thing") as Concept[],
    labels: rowsOf(read, "label.tsv").flatMap(({ concept, language, form, weight, is_prefix }): Label[] =>
      things.has(concept ?? null)
        ? []
        : [[concept ?? "", language ?? null, form ?? "", Number(weight), is_prefix === "true"]],
    ),
    places: { place: read("place.tsv"), place_name: read("place_name.tsv"), place_member: read("place_member.tsv") },
  };
};

/**
 * The shipped labels of things, and the broader concepts.
 * @param read returns the text of a file of db/data
 */
export const shippedThings = (read: Read): Things => {
  const things = new Set(rowsOf(read, "concept.tsv").flatMap(({ concept, type }) => (type === "thing" ? concept : [])));
  return {
    labels: rowsOf(read, "label.tsv").flatMap(({ concept, form }) =>
      things.has(concept) ? [[concept ?? "", form ?? ""] as const] : [],
    ),
    broader: rowsOf(read, "broader.tsv").map(({ concept, broader }) => [concept ?? "", broader ?? ""] as const),
  };
};

/**
 * The shipped examples, in the order of `jobs.get_training_set`.
 * @param read returns the text of a file of db/data
 */
export const shippedExamples = (read: Read): Example[] =>
  rowsOf(read, "example.tsv")
    .map(
      ({ text, language, offer_kind, ask_kind, domain, category }): Example => ({
        text: text ?? "",
        language: language ?? null,
        offer_kind: offer_kind ?? null,
        ask_kind: ask_kind ?? null,
        domain: domain ?? null,
        category: category ?? null,
      }),
    )
    .toSorted((a, b) => byBytes(a.text, b.text));

/**
 * The training set of the shipped words and examples.
 * @param read returns the text of a file of db/data
 */
export const shippedLesson = (read: Read): TrainingSet => ({
  vocabulary: shippedWords(read),
  things: shippedThings(read),
  examples: shippedExamples(read),
});

/** The files that training makes. */
const TRAINED = [CLASSIFIER_FILE, MEANING_FILE] as const;

/**
 * Trains the classifiers and learns the meanings of words from the shipped words and examples, which takes seconds.
 * @param read returns the text of a file of db/data
 * @returns the texts of the files of db/data
 */
export const train = (read: Read): Record<(typeof TRAINED)[number], string> => {
  const header = { training_set: trainingSetHash(read, LEARNING), learning: LEARNING };
  const lesson = shippedLesson(read);
  return {
    [CLASSIFIER_FILE]: formatClassifiers({ header, classifiers: learnClassifiers(lesson) }),
    [MEANING_FILE]: formatClassifiers({ header, classifiers: { meaning: learnMeaning(meaningSetOf(lesson)) } }),
  };
};

const main = async (check: boolean): Promise<void> => {
  const texts = await readFiles(DATA, TRAINING_FILES);
  const trained = train((file) => texts.get(file) ?? "");
  for (const name of TRAINED) {
    if (!check) {
      await writeFile(join(DATA, name), trained[name]);
      continue;
    }
    const kept = (await readFiles(DATA, [name])).get(name) ?? "";
    if (kept === trained[name]) continue;
    const of =
      parseClassifiers(kept).header.training_set === parseClassifiers(trained[name]).header.training_set
        ? "these"
        : "other";
    throw new Error(`db/data/${name} was learned from ${of} words and examples. Run: npm run train`);
  }
};

if (import.meta.main) {
  main(argv.includes("--check")).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
