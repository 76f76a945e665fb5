import type { ExecutionContext } from "ava";
import { annotate } from "../../src/reader/builtin/annotate.ts";
import { knowledgeOf } from "../../src/reader/builtin/knowledge.ts";
import { type PriceFound, readPrice } from "../../src/reader/judge/price.ts";
import { seedVocabulary } from "./vocabulary.ts";

/** Reads parts of texts with the shipped words and the models that are learned from the shipped examples. */

const knowledge = knowledgeOf(seedVocabulary());

/** The price that the reader finds in a text of a country. */
export const priceIn = (text: string, country: string | null, isAsk: boolean): PriceFound | null => {
  const annotations = annotate(knowledge, text, []);
  return readPrice(annotations, annotations.isHidden, knowledge.prices, { country, isAsk });
};

/**
 * A learned decision may err in a rare case, and which one changes with every example that is added. So a rule holds if
 * at least this share of its rows is right.
 */
const LEAST_SHARE = 0.85;

/** Asserts that nearly all rows are as expected, and shows those that are not. */
export const assertMostly = <T>(t: ExecutionContext, found: readonly T[], expected: readonly T[]): void => {
  const wrong = expected.flatMap((row, index) =>
    JSON.stringify(row) === JSON.stringify(found[index]) ? [] : [{ expected: row, found: found[index] }],
  );
  if (expected.length - wrong.length >= expected.length * LEAST_SHARE - 1e-9 || wrong.length <= 1) t.pass();
  else t.deepEqual(wrong, []);
};
