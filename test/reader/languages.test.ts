import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { DATA, parseRows } from "../../src/install/data_files.ts";
import { stem } from "../../src/reader/builtin/stem.ts";
import { COUNTRIES, countriesOf, LANGUAGES, moneyWords } from "../../src/reader/languages.ts";
import { tokensIn } from "../../src/reader/text/tokens.ts";
import { withClient } from "../support/client.ts";
import { createDatabase } from "../support/database.ts";

/**
 * A language stands in every place that the recipe in CONTRIBUTING.md names. A missing place would fail silently: its
 * texts would be read, but without its numbers, or asked for what is missing in English.
 */

const CODES = Object.keys(LANGUAGES);

const rowsOf = (file: string): Record<string, string | null>[] => {
  const { columns, rows } = parseRows(file, readFileSync(join(DATA, file), "utf8"));
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])));
};

/** How many rows each language has. */
const count = (rows: readonly { language?: string | null }[]): Record<string, number> =>
  Object.fromEntries(CODES.map((code) => [code, rows.filter(({ language }) => language === code).length]));

/** The languages that have fewer rows than they need. */
const lacking = (rows: readonly { language?: string | null }[], needed: number): string[] =>
  Object.entries(count(rows)).flatMap(([code, found]) => (found < needed ? [`${code}: ${found}`] : []));

test("the database knows the languages of the reader", async (t) => {
  const database = await createDatabase(t);
  const known = await withClient(database.url, (client) => client.query("select unnest(reading.languages()) as code"));
  t.deepEqual(known.rows.map(({ code }) => code).sort(), [...CODES].sort());
});

/** The languages without a stemmer in PostgreSQL. */
const WITHOUT_STEMMER = ["pl", "uk", "cs", "zh", "ja", "ko"];

test("the database stems the words of a language, and knows whether it writes compounds as one word", async (t) => {
  const database = await createDatabase(t);
  const names = new Intl.DisplayNames("en", { type: "language" });
  const found = await withClient(database.url, (client) =>
    client.query(
      `select l.code, reading.search_config(l.code)::text as config, l.code = any (reading.compound_languages()) as compounds,
         ts_lexize((l.name || '_stem')::regdictionary, w.word) = reading.stem(w.word, l.code) as stems
       from unnest($1::text[], $2::text[]) as l (code, name) cross join (values ('lagenheterna')) as w (word)`,
      [
        CODES.filter((code) => !WITHOUT_STEMMER.includes(code)),
        CODES.filter((code) => !WITHOUT_STEMMER.includes(code)).map((code) => names.of(code)?.toLowerCase()),
      ],
    ),
  );
  t.deepEqual(
    found.rows,
    CODES.filter((code) => !WITHOUT_STEMMER.includes(code)).map((code) => ({
      code,
      config: names.of(code)?.toLowerCase(),
      compounds: LANGUAGES[code]?.compounds,
      stems: true,
    })),
  );
});

test("the database cuts the endings of languages without a stemmer as the reader does", async (t) => {
  const words = [
    "smartfonami",
    "lodowki",
    "rowerem",
    "kola",
    "dum",
    "lednicku",
    "телефона",
    "велосипедами",
    "дім",
    "a1b2ami",
  ];
  const languages = ["pl", "cs", "uk", "zh"];
  const database = await createDatabase(t);
  const { rows } = await withClient(database.url, (client) =>
    client.query("select l, reading.without_endings($1, l) as cut from unnest($2::text[]) as l", [
      words.join(" "),
      languages,
    ]),
  );
  t.deepEqual(
    rows,
    languages.map((l) => ({ l, cut: words.map((word) => stem(word, l)).join(" ") })),
  );
});

test("a language has its frequent words, its cues and things, its questions and its texts", (t) => {
  const labels = rowsOf("label.tsv");
  const isFrequent = ({ concept }: Record<string, string | null>): boolean => concept === "function_word";
  t.deepEqual(lacking(labels.filter(isFrequent), 40), []);
  t.deepEqual(
    lacking(
      labels.filter((row) => !isFrequent(row)),
      100,
    ),
    [],
  );
  const fields = new Set(rowsOf("question.tsv").map(({ field }) => field));
  t.deepEqual(lacking(rowsOf("question.tsv"), fields.size), []);
  t.deepEqual(lacking(rowsOf("example.tsv"), 20), []);
});

test("a language counts to a million, and has a country", (t) => {
  const numbers = [...moneyWords("number"), ...moneyWords("factor")];
  for (const value of [...Array(16).keys()].slice(1).concat(20, 30, 40, 50, 60, 100, 1000))
    t.deepEqual(
      lacking(
        numbers.filter((one) => Number(one.value) === value),
        1,
      ),
      [],
      `a word for ${value}`,
    );
  // Some languages put nothing between the parts of a number, and some nothing before a range.
  const lackingRole = (role: Parameters<typeof moneyWords>[0], unused: string): string[] =>
    lacking(moneyWords(role), 1).filter((code) => !unused.split(" ").includes(code.slice(0, 2)));
  t.deepEqual(lackingRole("range", ""), []);
  t.deepEqual(lackingRole("joiner", "ru uk tr cs hi zh ja ko"), []);
  t.deepEqual(lackingRole("before_range", "tr hi zh ja ko"), []);
  t.deepEqual(
    lacking(
      moneyWords("magnitude")
        .concat(moneyWords("short_magnitude"))
        .filter(({ value }) => value === "1000000"),
      1,
    ),
    [],
  );
  t.deepEqual(
    CODES.filter((code) => countriesOf(code).length === 0),
    [],
  );
});

test("words for numbers and money are folded, and of one value in a role", (t) => {
  const words = rowsOf("money_word.tsv").filter(({ role }) => role !== "currency");
  const folded = ({ word }: Record<string, string | null>): string =>
    tokensIn(word ?? "")
      .map((token) => token.text)
      .join(" ");
  t.deepEqual(
    words.filter((row) => row["language"] !== null && folded(row) !== row["word"]),
    [],
  );
  const values = Map.groupBy(words, ({ role, word }) => `${role} ${word}`);
  t.deepEqual(
    [...values].filter(([, same]) => new Set(same.map(({ value }) => value)).size > 1).map(([name]) => name),
    [],
  );
});

test("a language in the list of a country is one of the market", (t) => {
  t.deepEqual(
    COUNTRIES.flatMap(({ languages }) => languages).filter((code) => !CODES.includes(code)),
    [],
  );
});
