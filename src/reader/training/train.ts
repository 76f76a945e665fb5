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
 * them to db/data/classifier.jsonl and db/data/meaning.jsonl, so that a new installation need not train.
 * `npm run train -- --check` writes nothing, and fails if a file is out of date.
 * The same input files give the same bytes on every machine: everything is sorted by bytes, and training is
 * deterministic.
 */

/** Returns the text of a file of db/data. */
type Read = (file: string) => string;

/** The rows of a file as objects by column. An empty field is null. */
const rowsOf = <Row>(read: Read, file: string): Row[] => {
  const { columns, rows } = parseRows(file, read(file));
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])) as Row);
};

type LabelRow = { concept: string; language: string | null; form: string; weight: string; is_prefix: string | null };

/** Whether a concept is a thing. Only the search and the embedder use things. */
const isThing = (read: Read): ((concept: string) => boolean) => {
  const rows = rowsOf<{ concept: string; type: string }>(read, "concept.tsv");
  const things = new Set(rows.flatMap(({ concept, type }) => (type === "thing" ? concept : [])));
  return (concept) => things.has(concept);
};

const byPosition = (a: { position: string }, b: { position: string }): number =>
  Number(a.position) - Number(b.position);

/** The shipped taxonomy and words, as `jobs.get_vocabulary` returns them. */
export const shippedWords = (read: Read): Words => {
  const isOne = isThing(read);
  const domains = rowsOf<{ domain: string; kinds: string; position: string }>(read, "domain.tsv");
  const categories = rowsOf<{ domain: string; category: string; position: string }>(read, "category.tsv");
  return {
    taxonomy: domains.toSorted(byPosition).map(({ domain, kinds }) => ({
      domain,
      // A PostgreSQL array whose elements need no quotes.
      kinds: kinds.slice(1, -1).split(","),
      categories: categories
        .filter((one) => one.domain === domain)
        .toSorted(byPosition)
        .map(({ category }) => category),
    })),
    concepts: rowsOf<Concept>(read, "concept.tsv").filter(({ concept }) => !isOne(concept)),
    labels: rowsOf<LabelRow>(read, "label.tsv").flatMap(({ concept, language, form, weight, is_prefix }): Label[] =>
      isOne(concept) ? [] : [[concept, language, form, Number(weight), is_prefix === "true"]],
    ),
    places: { place: read("place.tsv"), place_name: read("place_name.tsv"), place_member: read("place_member.tsv") },
  };
};

/** The shipped labels of things, and the broader concepts. */
const shippedThings = (read: Read): Things => {
  const isOne = isThing(read);
  return {
    labels: rowsOf<LabelRow>(read, "label.tsv").flatMap(({ concept, form }) =>
      isOne(concept) ? [[concept, form] as const] : [],
    ),
    broader: rowsOf<{ concept: string; broader: string }>(read, "broader.tsv").map(
      ({ concept, broader }) => [concept, broader] as const,
    ),
  };
};

/** The shipped examples, in the order of `jobs.get_training_set`. */
export const shippedExamples = (read: Read): Example[] =>
  rowsOf<Example>(read, "example.tsv").toSorted((a, b) => Buffer.compare(Buffer.from(a.text), Buffer.from(b.text)));

/** The training set of the shipped words and examples. */
export const shippedLesson = (read: Read): TrainingSet => ({
  vocabulary: shippedWords(read),
  things: shippedThings(read),
  examples: shippedExamples(read),
});

/** The files that training makes. */
const TRAINED = [CLASSIFIER_FILE, MEANING_FILE] as const;

/**
 * Trains the classifiers and learns the meanings of words from the shipped words and examples, which takes seconds.
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
