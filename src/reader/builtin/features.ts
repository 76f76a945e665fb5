import type { AskExtraction, OfferExtraction } from "../extraction.ts";
import type { Annotations } from "./annotate.ts";
import type { Feature, Features } from "./classifier.ts";
import { GEOGRAPHY } from "./lexicon.ts";
import { describesPerson } from "./persons.ts";
import { stem } from "./stem.ts";
import { type Tally, weighKinds, weighThings } from "./weigh.ts";

/**
 * Computes the features of a text for the classifiers.
 *
 * Words: each word, each pair of adjacent words, and both with vocabulary terms replaced by their meaning, so that what
 * is learned from "rent out my van" also applies to a boat.
 * Facts: the total evidence of the vocabulary for things and kinds, the price, and whether a person is described.
 */

/** What is read from a text before it is classified. */
export type FeatureSource = {
  annotations: Pick<Annotations, "text" | "tokens" | "hits" | "language">;
  family: "kind" | "ask_kind";
  price: AskExtraction["price"] | OfferExtraction["price"];
};

/** Only the first words of a longer text are used: they tell what is wanted. */
const MOST_WORDS = 120;

/**
 * The value of a word falls exponentially from 1 at the start of the text towards LEAST_VALUE. DECAY_LENGTH is in
 * words.
 */
const DECAY_LENGTH = 24;
const LEAST_VALUE = 0.35;

/** The score of vocabulary evidence at which its feature value is 0.5 (of at most 1). */
const HALF_SCORE = { things: 6, kinds: 8 };

/** The value of a fact that is either true or false. The other facts have values from 0 to 1. */
const BOOLEAN_VALUE = 0.3;

const wordsOf = ({ tokens, hits, language }: FeatureSource["annotations"]): Feature[] => {
  const words = tokens
    .slice(0, MOST_WORDS)
    .map(({ folded }) => (/^\d/.test(folded) ? "#" : stem(folded, language ?? "en")));
  // Copies of the words in which places and things are replaced by their meaning: by domain in `broad`, by category in
  // `narrow`.
  const broad = [...words];
  const narrow = [...words];
  for (const { family, value, from, to } of hits) {
    const place = GEOGRAPHY.has(family);
    if (!place && family !== "category" && family !== "domain") continue;
    for (let at = from; at < to && at < words.length; at++) {
      broad[at] = place ? "<place>" : `<${value.split("/")[0]}>`;
      if (family === "category") narrow[at] = `<${value}>`;
    }
  }
  const found = new Map<string, number>();
  const note = (name: string, at: number) => {
    if (!found.has(name)) found.set(name, LEAST_VALUE + (1 - LEAST_VALUE) * Math.exp(-at / DECAY_LENGTH));
  };
  broad.forEach((word, at) => {
    const before = at === 0 ? "^^" : tokens[at]?.opens ? "^" : (broad[at - 1] ?? "");
    note(words[at] ?? "", at);
    note(word, at);
    note(narrow[at] ?? "", at);
    if (before !== word) note(`${before} ${word}`, at);
  });
  return [...found];
};

const evidenceFeatures = (tally: Tally, prefix: string, half: number): Feature[] =>
  [...tally].map(([name, { score }]): Feature => [`${prefix}:${name}`, score / (score + half)]);

/**
 * The domain with the most evidence. It is combined with the price, since the same amount rents a flat and buys a boat.
 */
const strongest = (things: Tally): string | null => {
  let best: { domain: string; score: number } | null = null;
  for (const [name, { score }] of things) {
    if (score > (best?.score ?? 0)) best = { domain: name.split("/")[0] ?? name, score };
  }
  return best?.domain ?? null;
};

/** Order of magnitude of an amount, in half powers of ten. */
const magnitude = (amount: number): number => (amount <= 0 ? 0 : Math.floor(Math.log10(amount) * 2));

const pricesOf = (price: FeatureSource["price"], domain: string | null): string[] => {
  if (price === null) return ["price:none"];
  const { value } = price;
  const amount = "amount" in value ? value.amount : (value.max ?? value.min);
  const facts = [`price:${value.period ?? "once"}`];
  if (amount !== null) {
    facts.push(`sum:${magnitude(amount)}`);
    if (value.period === null) facts.push(`sum:${magnitude(amount)} once`, `sum:${magnitude(amount)} ${domain ?? "-"}`);
  }
  if ("deposit" in value && value.deposit !== null) facts.push("price:deposit");
  return facts;
};

/** The features of a text, and the vocabulary evidence (`things`, `kinds`) with the terms that give it. */
export const featuresOf = ({
  annotations,
  family,
  price,
}: FeatureSource): { features: Features; things: Tally; kinds: Tally } => {
  const { text, tokens, hits, language } = annotations;
  const things = weighThings(tokens, hits, family, language);
  const kinds = weighKinds(tokens, hits, family);
  const plain = [
    ...pricesOf(price, strongest(things)),
    `length:${Math.floor(Math.log2(tokens.length + 1))}`,
    ...(text.trimEnd().endsWith("?") ? ["question:last"] : text.includes("?") ? ["question:within"] : []),
    ...(describesPerson(tokens) ? ["person"] : []),
  ];
  return {
    things,
    kinds,
    features: {
      words: wordsOf(annotations),
      facts: [
        ...evidenceFeatures(things, "thing", HALF_SCORE.things),
        ...evidenceFeatures(kinds, "kind", HALF_SCORE.kinds),
        ...plain.map((name): Feature => [name, BOOLEAN_VALUE]),
      ],
    },
  };
};
