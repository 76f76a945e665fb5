import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The rows that ship with the software: which file of db/data holds the rows of which table, and how a file is read. */

/** The folder of the files. */
export const DATA = fileURLToPath(new URL("../../db/data", import.meta.url));

/** A table whose rows ship as a file. The header of the file names all of `key`, `updated` and `initial`, in any order. */
export type ShippedTable = {
  /** With its schema. */
  table: string;
  /** In db/data. */
  file: string;
  /** The columns that identify a row. All are text; null is a value like any other. */
  key: readonly string[];
  /** What an upgrade changes in a row that an operator has not changed. */
  updated: readonly string[];
  /** What is set when a row is inserted, and belongs to the running market from then on. */
  initial: readonly string[];
};

const shipped = (table: string, key: string[], updated: string[], initial: string[] = []): ShippedTable => ({
  table,
  file: `${table.slice(table.indexOf(".") + 1)}.tsv`,
  key,
  updated,
  initial,
});

/** Every table with shipped rows. A table comes after the tables that its foreign keys refer to. */
export const SHIPPED_TABLES: readonly ShippedTable[] = [
  shipped("market.domain", ["domain"], ["kinds", "position"]),
  shipped("market.category", ["domain", "category"], ["position"]),
  shipped("market.ask_kind", ["ask_kind"], ["answered_by"]),
  shipped("market.permission", ["permission"], ["needs_approval", "writes", "summary", "detail"]),
  shipped("market.reason", ["code"], ["rank", "summary", "sentence"]),
  shipped("market.setting", ["name"], ["summary", "least", "most"], ["value"]),
  shipped("market.sign_in_method", ["method"], ["position"]),
  shipped("market.embedding_model", ["model"], ["min_similarity", "match_min_similarity", "rrf_weight", "by_letters"]),
  shipped("market.invariant", ["invariant"], ["sampled", "summary", "remedy"]),
  shipped("reading.vocabulary", ["sense", "language", "term"], ["weight"]),
  shipped("reading.synonym", ["concept", "language", "term"], []),
  shipped("reading.broader_concept", ["concept", "broader"], []),
  shipped("reading.wide_place", ["term"], ["countries"]),
  shipped("reading.ask_example", ["text"], ["ask_kind", "category"]),
  shipped("reading.offer_example", ["text"], ["offer_kind", "category"]),
  shipped("reading.question", ["field", "language"], ["question"]),
];

/** A file of rows. An empty field is null. */
export type DataFile = { columns: string[]; rows: (string | null)[][] };

/**
 * Reads a file of rows: lines of fields with tabs between them, the first line being the names of the columns.
 * @param name says in errors which file it is
 * @throws when a line has not as many fields as the first, or the last line does not end
 */
export const parseRows = (name: string, text: string): DataFile => {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Error(`${name}: the last line has no end, so the file may be cut off.`);
  const [columns = [], ...rows] = lines.map((line) => line.split("\t"));
  return {
    columns,
    rows: rows.map((fields, index) => {
      if (fields.length !== columns.length)
        throw new Error(
          `${name}, line ${index + 2}: ${fields.length} fields, and the first line has ${columns.length}.`,
        );
      return fields.map((field) => (field === "" ? null : field));
    }),
  };
};

/** The hash by which a change of a file is noticed: SHA-256, in hex. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What was learned from the shipped words and examples, made by `npm run train`. */
export const CLASSIFIER_FILE = "classifier.jsonl";

/** What is learned from: the words and the taxonomy, by which a text is seen, and the examples. */
export const LESSON_FILES = [
  "domain.tsv",
  "category.tsv",
  "vocabulary.tsv",
  "ask_example.tsv",
  "offer_example.tsv",
] as const;

/**
 * Identifies a training set, so that learned weights can say what they were made from.
 * @param read gives the text of a file of LESSON_FILES
 * @param learning the number of the way of learning (LEARNING in learn.ts)
 */
export const trainingSetHash = (read: (file: string) => string, learning: number): string =>
  hashOf([`learning ${learning}`, ...LESSON_FILES.map((file) => hashOf(read(file)))].join("\n"));

/** The first line of CLASSIFIER_FILE: the training set that the weights were made from, and the way of learning. */
type ClassifierHeader = { training_set: string; learning: number };

/** What CLASSIFIER_FILE holds; each further line is one classifier, `{name, classes, bias, features, weights}`. */
export type ClassifierFile = { header: ClassifierHeader; classifiers: Record<string, unknown> };

/** Reads CLASSIFIER_FILE. @throws when it is not made of such lines */
export const parseClassifiers = (text: string): ClassifierFile => {
  const [header, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  if (typeof header?.training_set !== "string" || typeof header.learning !== "number")
    throw new Error(`The first line of ${CLASSIFIER_FILE} has to say what the weights were learned from.`);
  return { header, classifiers: Object.fromEntries(lines.map(({ name, ...learned }) => [name, learned])) };
};

/** Writes CLASSIFIER_FILE: the same text for the same classifiers, whatever order they come in. */
export const formatClassifiers = ({ header, classifiers }: ClassifierFile): string =>
  [
    { training_set: header.training_set, learning: header.learning },
    ...Object.keys(classifiers)
      .toSorted()
      .map((name) => ({ name, ...(classifiers[name] as object) })),
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

/** The texts of some files of a folder, by name. @throws when one is not there */
export const readFiles = async (folder: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)));
