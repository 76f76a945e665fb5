import test from "ava";
import { tokensIn } from "../../src/reader/text/tokens.ts";

/** Where a sentence ends. */

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
  ["Mail jo@example.fr.", "Thanks"],
];

for (const row of ROWS)
  test(`"${row.join(" ")}" has ${row.length} sentences`, (t) => {
    t.deepEqual(sentences(row.join(" ")), row);
  });
