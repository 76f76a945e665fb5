import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The shipped rows: for each table, the file of db/data with its rows. Also reads these files. */

/** The folder of the files. */
export const DATA = fileURLToPath(new URL("../../db/data", import.meta.url));

/**
 * A table with a file of shipped rows. The file's header names the columns below in any order, and those that an upgrade
 * updates in a row that no operator has changed (db/schema/market/origin_triggers.sql).
 */
export type ShippedTable = {
  /** The name of the table, with its schema. */
  table: string;
  /** The name of the file in db/data. */
  file: string;
  /** The columns that identify a row. All are text. Two nulls count as equal. */
  key: readonly string[];
  /** The columns that are set when a row is inserted. An upgrade never updates them. */
  initial: readonly string[];
  /**
   * The tables with shipped rows to which a row refers, with the columns that hold the key. If an operator deleted the
   * row referred to, the rows that refer to it are not loaded.
   */
  refersTo: readonly (readonly [table: string, ...columns: string[]])[];
  /** The SQL for the value of a column in a row `s`, where the file does not have it. */
  derived: Readonly<Record<string, string>>;
  /** The columns, in SQL, of the unique index by which a row of the file meets its row of the table. */
  conflict: string;
};

const shipped = (
  table: string,
  key: string[],
  more: Partial<Pick<ShippedTable, "initial" | "refersTo" | "derived" | "conflict">> = {},
): ShippedTable => ({
  table,
  file: `${table.slice(table.indexOf(".") + 1)}.tsv`,
  key,
  initial: [],
  refersTo: [],
  derived: {},
  conflict: key.join(", "),
  ...more,
});

const DOMAIN = ["market.domain", "domain"] as const;
const CATEGORY = ["market.category", "domain", "category"] as const;
const OFFER_KIND = ["market.offer_kind", "offer_kind"] as const;
const ASK_KIND = ["market.ask_kind", "ask_kind"] as const;
const PLACE = ["reading.place", "place"] as const;
const COUNTRY = ["reading.place", "country"] as const;
const REGION = ["reading.place", "region"] as const;
const CITY = ["reading.place", "city"] as const;
const CONCEPT = ["reading.concept", "concept"] as const;

/** Every table with shipped rows. A table comes after the tables that its foreign keys refer to. */
export const SHIPPED_TABLES: readonly ShippedTable[] = [
  shipped("market.offer_kind", ["offer_kind"]),
  shipped("market.domain", ["domain"]),
  shipped("market.category", ["domain", "category"], { refersTo: [DOMAIN] }),
  shipped("market.ask_kind", ["ask_kind"]),
  shipped("market.permission", ["permission"]),
  shipped("market.reason", ["code"]),
  shipped("market.sentence", ["name"]),
  shipped("market.setting", ["name"], { initial: ["value"], derived: { value: "(s.value #>> '{}')::jsonb" } }),
  shipped("market.sign_in_method", ["method"]),
  shipped("market.embedding_model", ["model"]),
  shipped("market.ranking", ["ranking"]),
  shipped("market.invariant", ["invariant"]),
  shipped("market.move", ["machine", "from_status", "to_status", "mover"]),
  shipped("reading.place", ["place"], { refersTo: [COUNTRY, REGION, CITY] }),
  shipped("reading.place_name", ["place", "name"], { refersTo: [PLACE] }),
  shipped("reading.place_member", ["place", "country"], { refersTo: [PLACE, COUNTRY] }),
  shipped("reading.concept", ["concept"], { refersTo: [DOMAIN, CATEGORY, OFFER_KIND, ASK_KIND] }),
  shipped("reading.label", ["concept", "language", "form"], {
    refersTo: [CONCEPT],
    derived: {
      type: "(select c.type from reading.concept as c where c.concept = s.concept)",
      is_prefix: "coalesce(s.is_prefix, false)",
    },
    conflict: "concept, type, language, form",
  }),
  shipped("reading.broader", ["concept", "broader"], { refersTo: [CONCEPT, ["reading.concept", "broader"]] }),
  shipped("reading.example", ["text"], { refersTo: [OFFER_KIND, ASK_KIND, CATEGORY], conflict: "md5(text)" }),
  shipped("reading.question", ["field", "language"]),
];

/** A file of rows. An empty field is null. */
export type DataFile = { columns: string[]; rows: (string | null)[][] };

/** The escapes of PostgreSQL's COPY text format that a file may have. */
const ESCAPES: Readonly<Record<string, string>> = { "\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t" };
const WRITTEN = new Map(Object.entries(ESCAPES).map(([written, character]) => [character, written]));

/**
 * Reads a file of rows. Fields are separated by tabs; the first line has the names of the columns.
 * @param name the name of the file, for errors
 * @throws if a line has more or fewer fields than the first line, if a backslash does not begin a known escape, or if
 *   the last line does not end with a newline
 */
export const parseRows = (name: string, text: string): DataFile => {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Error(`${name}: the last line has no end, so the file may be cut off.`);
  const [columns = [], ...rows] = lines.map((line) => line.split("\t"));
  const unescaped = (field: string, index: number): string =>
    field.replace(/\\.?/gu, (written) => {
      const character = ESCAPES[written];
      if (character === undefined) throw new Error(`${name}, line ${index + 2}: "${written}" is not an escape.`);
      return character;
    });
  return {
    columns,
    rows: rows.map((fields, index) => {
      if (fields.length !== columns.length)
        throw new Error(
          `${name}, line ${index + 2}: ${fields.length} fields, and the first line has ${columns.length}.`,
        );
      return fields.map((field) => (field === "" ? null : field.includes("\\") ? unescaped(field, index) : field));
    }),
  };
};

/** Returns the text of a file of rows, in the order of the rows. */
export const formatRows = ({ columns, rows }: DataFile): string =>
  [columns, ...rows]
    .map((fields) =>
      fields.map((field) => (field ?? "").replace(/[\\\n\r\t]/g, (one) => WRITTEN.get(one) ?? one)).join("\t"),
    )
    .map((line) => `${line}\n`)
    .join("");

/** Returns the SHA-256 of a text in hex, to detect that a file has changed. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The classifiers that `npm run train` has trained on the shipped words and examples. */
export const CLASSIFIER_FILE = "classifier.jsonl";

/** The meanings of words that `npm run train` has learned from the same words and examples, in the same form. */
export const MEANING_FILE = "meaning.jsonl";

/**
 * The files of the training set: the lexicon and the taxonomy, which give the features, and the examples. The reader
 * itself reads the words for numbers, currencies and signs, and the countries.
 */
export const TRAINING_FILES = [
  "money_word.tsv",
  "country.tsv",
  "word_list.tsv",
  "domain.tsv",
  "category.tsv",
  "concept.tsv",
  "label.tsv",
  "broader.tsv",
  "place.tsv",
  "place_name.tsv",
  "place_member.tsv",
  "example.tsv",
] as const;

/**
 * Returns a hash that identifies a training set, so that the file of classifiers can name the set it was trained on.
 * @param read returns the text of a file of TRAINING_FILES
 * @param learning the version of the training algorithm (LEARNING in src/reader/training/classifiers.ts)
 */
export const trainingSetHash = (read: (file: string) => string, learning: number): string =>
  hashOf([`learning ${learning}`, ...TRAINING_FILES.map((file) => hashOf(read(file)))].join("\n"));

/** The first line of CLASSIFIER_FILE: the hash of the training set, and the version of the training algorithm. */
type ClassifierHeader = { training_set: string; learning: number };

/** The content of CLASSIFIER_FILE. Each line after the first is one `{name, classes, bias, features, weights}`. */
export type ClassifierFile = { header: ClassifierHeader; classifiers: Record<string, unknown> };

/** Parses CLASSIFIER_FILE. @throws if a line is not JSON, or if the first line is not a header */
export const parseClassifiers = (text: string): ClassifierFile => {
  const [header, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  if (typeof header?.training_set !== "string" || typeof header.learning !== "number")
    throw new Error(`The first line of ${CLASSIFIER_FILE} has to say what the weights were learned from.`);
  return { header, classifiers: Object.fromEntries(lines.map(({ name, ...learned }) => [name, learned])) };
};

/** Returns the text of CLASSIFIER_FILE. The order of `classifiers` does not matter. */
export const formatClassifiers = ({ header, classifiers }: ClassifierFile): string =>
  [
    { training_set: header.training_set, learning: header.learning },
    ...Object.keys(classifiers)
      .toSorted()
      .map((name) => ({ name, ...(classifiers[name] as object) })),
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

/** Reads files of a folder. @returns their texts by name. @throws if a file does not exist */
export const readFiles = async (folder: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)));
