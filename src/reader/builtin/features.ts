import type { AskExtraction, OfferExtraction } from "../extraction.ts";
import type { Annotations } from "./annotate.ts";
import type { Feature, Features } from "./classifier.ts";
import { GEOGRAPHY } from "./lexicon.ts";
import { describesPerson } from "./persons.ts";
import { stem } from "./stem.ts";
import { type Tally, weighKinds, weighThings } from "./weigh.ts";

/**
 * What classifiers see of a text. Words: each word, each pair of neighbours, and both with what the vocabulary knows in
 * their stead, so that what is learned of "rent out my van" holds for a boat. Facts: what the vocabulary says of things
 * and kinds altogether, what the price says, whether a person is described.
 */

/** What was read before a text is classified. */
export type FeatureSource = {
  annotations: Pick<Annotations, "text" | "tokens" | "hits" | "language">;
  family: "kind" | "ask_kind";
  price: AskExtraction["price"] | OfferExtraction["price"];
};

/** Of a longer text the first words tell what is wanted. */
const MOST_WORDS = 120;

/** The first words count whole, later ones less, the last these parts of it; counted in words. */
const FADING = 24;
const FARTHEST = 0.35;

/** Evidence of the vocabulary at which its say is half of what it can be. */
const HALF = { things: 6, kinds: 8 };

/** What a fact that is or is not counts beside those that are measured from 0 to 1. */
const PLAIN = 0.3;

const wordsOf = ({ tokens, hits, language }: FeatureSource["annotations"]): Feature[] => {
  const words = tokens
    .slice(0, MOST_WORDS)
    .map(({ folded }) => (/^\d/.test(folded) ? "#" : stem(folded, language ?? "en")));
  // The same words with places and things named by what they are, once by domain, once by category.
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
    if (!found.has(name)) found.set(name, FARTHEST + (1 - FARTHEST) * Math.exp(-at / FADING));
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

const saysOf = (tally: Tally, prefix: string, half: number): Feature[] =>
  [...tally].map(([name, { score }]): Feature => [`${prefix}:${name}`, score / (score + half)]);

/** The strongest domain that the vocabulary names: the same sum rents a flat and buys a boat. */
const strongest = (things: Tally): string | null => {
  let best: { domain: string; score: number } | null = null;
  for (const [name, { score }] of things) {
    if (score > (best?.score ?? 0)) best = { domain: name.split("/")[0] ?? name, score };
  }
  return best?.domain ?? null;
};

/** Two steps to each power of ten. */
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

/** What classifiers see of a text, and the tallies of the vocabulary, which know the words that say it. */
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
        ...saysOf(things, "thing", HALF.things),
        ...saysOf(kinds, "kind", HALF.kinds),
        ...plain.map((name): Feature => [name, PLAIN]),
      ],
    },
  };
};
