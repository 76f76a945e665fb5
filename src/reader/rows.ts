import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DATA, parseRows } from "../install/data_files.ts";

/** Rows of db/data that the reader reads by itself: facts of the languages that no operator changes. */

/** The rows of a file as objects by column. An empty field is "". */
export const rowsOf = <C extends string>(file: string): Record<C, string>[] => {
  const { columns, rows } = parseRows(file, readFileSync(join(DATA, file), "utf8"));
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? ""]))) as Record<
    C,
    string
  >[];
};

const LISTED = rowsOf<"list" | "word">("word_list.tsv");

/** The words of a closed list. */
export const wordsOfList = (name: string): string[] => LISTED.flatMap(({ list, word }) => (list === name ? word : []));
