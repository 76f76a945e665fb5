import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { DATA, parseRows } from "../../src/install/data_files.ts";
import { fold } from "../../src/reader/text/fold.ts";
import { wordsIn } from "../../src/reader/text/tokens.ts";
import { openMarket } from "../db/market.ts";

/** The reader and the database fold texts alike, and see the same words in everything in db/data. */

let market: Awaited<ReturnType<typeof openMarket>>;

test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.close());

/** A generator of numbers below `below` that gives the same numbers in each run (xorshift32). */
const numbers = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
};

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => String.fromCodePoint(from + n));

/** What texts are made of. Every text takes pieces from a few of these. */
const PIECES: readonly (readonly string[])[] = [
  "sofa Sofa SOFA 128gb 3-Zimmer don't O’Neil 1.200,50 x2 A1b2C3 über Straße STRASSE".split(" "),
  "Łódź ŻÓŁĆ zażółć gęślą jaźń ĆMA Ślązak ŁÓŻKO".split(" "),
  "Ø Æ æ Œ œ ð Þ þ đ Đ ħ Ħ ŋ ß ẞ ı İ I ſ ŉ ĸ ƒ Ɓ ɓ ŁØÆ smørrebrød Þór œuvre İstanbul ISPARTA ısı".split(" "),
  "Σίσυφος ΣΊΣΥΦΟΣ ΟΔΟΣ οδός ς Σ σ Ἀθήνα ᾼ ᾳ ΐ ϴ ϐ ϰ Ϲ ΆΈ".split(" "),
  "Москва МОСКВА Їжак Ґанок ёлка Ёлка Ђорђе Ӏ Ҙ".split(" "),
  "Երևան ԵՐԵՎԱՆ ﬓ Ⴀ Ა ა Ꭰ ꭰ Ꚁ Ɐ Ꞓ 𐐀 𐐨".split(" "),
  ["ﬀ", "ﬁne", "ﬄ", "ﬅ", "ǆ", "ǅ", "Ǆ", "Ĳssel", "㎡", "㎏", "℃", "№5", "™", "℠", "Ω", "K", "Å", "ℌ", "𝒜𝓫", "🄰", "㈱"],
  [
    "１２３",
    "ＡＢＣ",
    "ａｂｃ",
    "ｶﾞ",
    "ﾊﾟ",
    "￥500",
    "＠",
    "．",
    "½",
    "3½",
    "⅓",
    "⅞kg",
    "m²",
    "m³",
    "x⁴",
    "H₂O",
    "①",
    "⑴",
    "⒈",
    "Ⅳ",
  ],
  ["٣", "३", "৪", "๕", "𝟘𝟙", "Ⅻ", "ↀ", "〇", "十", "²³¹"],
  range(0x0300, 0x036f),
  [
    ..."\u0591\u05b0\u064b\u0651\u0670\u093c\u094d\u0e38\u0e48\u0f71\u0f72\u0f74\u3099\u309a\u20d0\u20e3\u1ab0\u1dc4\ufe20\u034f",
  ],
  ["\u0344", "\u0f73", "\u0f75", "\u0f81", "\uff9e", "\uff9f", "\u1d165", "\u{1d165}", "\u{1d16d}", "\u0345", "\u0fb5"],
  ["😀", "👍🏽", "👩‍💻", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "❤️", "☎️", "✅", "1️⃣", "#️⃣", "🛋️", "™️", "🅰️", "🫠", "🪑"],
  [
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\u00a0",
    "\u2009",
    "\u202f",
    "\u3000",
    "\u200b",
    "\u200d",
    "\u2060",
    "\ufeff",
    "\u2028",
    "\u00ad",
    "\u1680",
  ],
  [..."-–—−‐‑/|·•…,.;:!?¡¿'’‘ʼ´`\"“”„«»()[]{}<>@#&*+=%‰°§¶©®€$£¥zł№_~^\\"],
  "東京 トウキョウ ソファ 소파 대한민국 서울 ספה أريكة भारत โซฟา ქართული ཀ".split(" "),
  range(0x00a0, 0x00ff),
  range(0x2150, 0x218b),
  range(0x02b0, 0x02ff),
];

const generated = (count: number): string[] => {
  const next = numbers(20_260_311);
  const pick = <T>(of: readonly T[]): T => of[next(of.length)] as T;
  return Array.from({ length: count }, () => {
    const kinds = Array.from({ length: 1 + next(4) }, () => pick(PIECES));
    return Array.from({ length: 1 + next(12) }, () => pick(pick(kinds)) + (next(3) === 0 ? " " : "")).join("");
  });
};

/** How the database folds texts. One statement for all texts. */
const foldedInDatabase = async (texts: readonly string[]): Promise<string[]> => {
  const [{ answer }] = await market.sql(
    `select jsonb_agg(reading.fold(t.text) order by t.n) as answer
     from jsonb_array_elements_text($1::jsonb) with ordinality as t (text, n)`,
    [JSON.stringify(texts)],
  );
  return answer;
};

/** The words of texts in the database, joined by spaces. */
const wordsInDatabase = async (texts: readonly string[]): Promise<string[]> => {
  const [{ answer }] = await market.sql(
    `select jsonb_agg(array_to_string(reading.words(t.text), ' ') order by t.n) as answer
     from jsonb_array_elements_text($1::jsonb) with ordinality as t (text, n)`,
    [JSON.stringify(texts)],
  );
  return answer;
};

/** Letters of scripts whose words the database does not know, and replaces by pairs of letters. */
const UNSPACED =
  /[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]&&[\p{L}\p{M}\p{Nl}]]+/gv;

const pairsOf = (run: string): string => {
  const letters = Array.from(run);
  const pairs = letters.slice(1).map((letter, at) => letters[at] + letter);
  return ` ${letters.length === 1 ? run : pairs.join(" ")} `;
};

/** The words of the reader as the database has them: those that nothing parts are one. */
const wordsInReader = (text: string): string =>
  wordsIn(text)
    .map((word, at, words) => (word.start === words[at - 1]?.end ? "" : " ") + word.folded)
    .join("")
    .replace(UNSPACED, pairsOf)
    .replace(/ +/g, " ")
    .trim();

/** Shows invisible characters. */
const shown = (text: string): string => text.replace(/[^ -~]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);

test("generated texts are folded alike", async (t) => {
  const texts = generated(6000);
  const stored = await foldedInDatabase(texts);
  t.deepEqual(
    texts
      .filter((text, n) => fold(text) !== stored[n])
      .map(shown)
      .slice(0, 5),
    [],
  );
});

test("every character is folded alike", async (t) => {
  // The first plane, and mathematical letters, signs and pictures of the second. The letters that Unicode got last are
  // left out, because PostgreSQL and JavaScript learn of them at different times.
  const texts = [
    range(1, 0xa7ef),
    range(0xa800, 0xd7ff),
    range(0xe000, 0xffff),
    range(0x1d000, 0x1d7ff),
    range(0x1f000, 0x1faff),
  ]
    .flat()
    .map((character) => `a${character}b`);
  const stored = await foldedInDatabase(texts);
  t.deepEqual(
    texts
      .filter((text, n) => fold(text) !== stored[n])
      .map(shown)
      .slice(0, 20),
    [],
  );
});

/** A fraction in one character ("3½") is one word to the reader and two to the database. */
const FRACTION = /[\u00bc-\u00be\u2150-\u215e]/;

for (const file of ["label.tsv", "example.tsv", "place.tsv", "place_name.tsv", "money_word.tsv", "question.tsv"])
  test(`the reader and the database see the same words in ${file}`, async (t) => {
    const { rows } = parseRows(file, readFileSync(join(DATA, file), "utf8"));
    const cells = new Set(rows.flat().flatMap((cell) => (cell === null || FRACTION.test(cell) ? [] : [cell])));
    const texts = [...cells];
    const stored = await wordsInDatabase(texts);
    t.deepEqual(
      texts
        .filter((text, n) => wordsInReader(text) !== stored[n])
        .map(shown)
        .slice(0, 20),
      [],
    );
  });

for (const [text, folded, words] of [
  ["Größe: 3 m², ŁÓDŹ", "grosse: 3 m2, lodz", "grosse 3 m2 lodz"],
  ["ΟΔΟΣ οδός", "οδοσ οδοσ", "οδοσ οδοσ"],
  ["İSTANBUL ısı", "istanbul isi", "istanbul isi"],
  ["ＡＢＣ １２３", "abc 123", "abc 123"],
  ["Ø ÆØÅ ŒUVRE ẞ", "o aeoa oeuvre ss", "o aeoa oeuvre ss"],
  ["👩‍💻Sofa🛋️180€", "👩‍💻sofa🛋180€", "sofa 180"],
  ["٢٥٠ ५०० ৩", "250 500 3", "250 500 3"],
  ["Ёлка МОЙ Київ", "елка мой киів", "елка мой киів"],
  ["أحمر السيّارة مـكتب", "احمر السياره مكتب", "احمر السياره مكتب"],
  ["सोफ़ा हिंदी", "सोफा हिंदी", "सोफा हिंदी"],
  ["한국어를 ｶﾞｽ3台", "한국어를 ガス3台", "한국 국어 어를 ガス 3 台"],
  ["冷蔵庫、中古", "冷蔵庫、中古", "冷蔵 蔵庫 中古"],
  ["don’t/canʼt 3-Zimmer", "don’t/canʼt 3-zimmer", "don t can t 3 zimmer"],
] as const) {
  test(`"${text}" has the words ${words}`, async (t) => {
    t.deepEqual([fold(text), wordsInReader(text)], [folded, words]);
    t.deepEqual([await foldedInDatabase([text]), await wordsInDatabase([text])], [[folded], [words]]);
  });
}

test("a word has the span of its characters", (t) => {
  const text = "🛋️ Größe: 3½ e\u0301te\u0301.";
  t.deepEqual(
    wordsIn(text).map(({ start, end }) => text.slice(start, end)),
    ["Größe", "3½", "e\u0301te\u0301"],
  );
});
