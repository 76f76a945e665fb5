import test from "ava";
import { tokensIn, wordsIn } from "../../src/reader/text/tokens.ts";

/** Where a sentence ends, and a word that no space ends. */

const sentences = (text: string): string[] => {
  const tokens = tokensIn(text);
  const starts = tokens.filter(({ opens }) => opens).map(({ start }) => start);
  return starts.map((start, at) => text.slice(start, starts[at + 1]).trim());
};

const ROWS: readonly (readonly string[])[] = [
  ["I report it.", "Sofa, £40."],
  ["Providence, RI.", "Ask for Theo."],
  ["Near St. Gallen.", "Free."],
  ["Call Mr. Harrow."],
  ["Tel. 030 1234, ca. 50 m"],
  ["J. Harrow, z. B. Montag"],
  ["ソファ、中古です。", "「三万円！」", "（渋谷）"],
  ["सोफ़ा बिकाऊ है।", "दिल्ली"],
  ["هل السيارة متوفرة؟", "نعم"],
  ["Mail jo@example.fr.", "Thanks"],
];

for (const row of ROWS)
  test(`"${row.join(" ")}" has ${row.length} sentences`, (t) => {
    t.deepEqual(sentences(row.join(" ")), row);
    if (/[。।]/.test(row[0] ?? "")) t.deepEqual(sentences(row.join("")), row);
  });

for (const [text, words] of [
  ["中古の冷蔵庫を3万5千円で", "中古 の 冷蔵庫 を 3 万 5 千 円 で"],
  ["二手冰箱出售", "二手 冰箱 出售"],
  ["강남에서 고양이를 50만원에", "강남 에서 고양 이 를 50 만 원 에"],
  ["وبالقاهرة السيارة", "وب ال قاهره ال سياره"],
  ["iPhone13用128GB", "iphone13 用 128gb"],
] as const)
  test(`"${text}" has the words of its language`, (t) => {
    t.is(
      wordsIn(text)
        .map(({ folded }) => folded)
        .join(" "),
      words,
    );
  });
