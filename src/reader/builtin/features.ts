import { bucket, createFeatures, type Features, type Term, term } from "../decide/features.ts";
import type { PriceFound } from "../decide/price.ts";
import type { Annotations } from "./annotate.ts";
import { stem } from "./stem.ts";
import { type Tally, weighKinds, weighThings } from "./weigh.ts";

/**
 * Computes the features of a text for the classifiers.
 *
 * Words: each word, each pair of adjacent words, and both with vocabulary terms replaced by their meaning, so that what
 * is learned from "rent out my van" also applies to a boat.
 * Facts: the total evidence of the vocabulary for things and kinds, and the price.
 */

/** What is read from a text before it is classified. */
export type FeatureSource = {
  annotations: Pick<Annotations, "text" | "words" | "hits" | "placeHits" | "language" | "is">;
  family: "kind" | "ask_kind";
  price: Pick<PriceFound, "amount" | "period" | "deposit"> | null;
};

/** Only the first words of a longer text are used: they tell what is wanted. */
const MAX_WORDS = 120;

/**
 * The value of a word falls exponentially from 1 at the start of the text towards MIN_VALUE. DECAY_LENGTH is in
 * words.
 */
const DECAY_LENGTH = 24;
const MIN_VALUE = 0.35;

/** The score of vocabulary evidence at which its feature value is 0.5 (of at most 1). */
export const HALF_SCORE = { things: 6, kinds: 8 };

/** The value of a fact that is either true or false. The other facts have values from 0 to 1. */
const BOOLEAN_VALUE = 0.3;

export const T = {
  word: term("word"),
  pair: term("pair"),
  thing: term("thing"),
  kind: term("kind"),
  askKind: term("ask-kind"),
  says: term("says"),
  price: term("price"),
  sum: term("sum"),
  length: term("length"),
  question: term("question"),
} as const;

const NUMBER = bucket("#");
const PLACE = bucket("<place>");
const START = bucket("^");
const FIRST = bucket("^^");

export const addWords = (
  features: Features,
  { words: tokens, hits, placeHits, language }: FeatureSource["annotations"],
): void => {
  const words = tokens
    .slice(0, MAX_WORDS)
    .map(({ folded }) => (/^\d/.test(folded) ? NUMBER : term(stem(folded, language ?? "en"))));
  // Copies of the words in which places and things are replaced by their meaning: by domain in `broad`, by category in
  // `narrow`.
  const broad = [...words];
  const narrow = [...words];
  for (const { family, value, from, to } of hits) {
    if (family !== "category" && family !== "domain") continue;
    for (let at = from; at < to && at < words.length; at++) {
      broad[at] = bucket(`<${value.split("/")[0]}>`);
      if (family === "category") narrow[at] = bucket(`<${value}>`);
    }
  }
  let next = 0;
  words.forEach((_, at) => {
    const token = tokens[at]?.from ?? 0;
    while ((placeHits[next]?.to ?? Number.POSITIVE_INFINITY) <= token) next += 1;
    const place = placeHits[next];
    if (place !== undefined && place.form === "name" && place.from <= token) broad[at] = PLACE;
  });
  const note = (at: number, template: Term, one: Term, other?: Term): void =>
    features.add(template, one, other, MIN_VALUE + (1 - MIN_VALUE) * Math.exp(-at / DECAY_LENGTH));
  broad.forEach((word, at) => {
    const before = at === 0 ? FIRST : tokens[at]?.opens ? START : (broad[at - 1] ?? START);
    note(at, T.word, words[at] ?? word);
    note(at, T.word, word);
    note(at, T.word, narrow[at] ?? word);
    if (before.hash !== word.hash) note(at, T.pair, before, word);
  });
  features.unite();
  features.scaled = features.count;
};

export const addEvidence = (features: Features, tally: Tally, template: Term, half: number): void => {
  for (const [name, { score }] of tally) features.add(template, bucket(name), undefined, score / (score + half));
};

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

const addPrice = (features: Features, price: FeatureSource["price"], domain: string | null): void => {
  const fact = (template: Term, one: string | number, other?: string): void =>
    features.add(template, bucket(one), other === undefined ? undefined : bucket(other), BOOLEAN_VALUE);
  if (price === null) {
    fact(T.price, "none");
    return;
  }
  fact(T.price, price.period ?? "once");
  if (price.amount !== null) {
    const size = magnitude(price.amount);
    fact(T.sum, size);
    if (price.period === null) {
      fact(T.sum, size, "once");
      fact(T.sum, size, domain ?? "-");
    }
  }
  if (price.deposit !== null) fact(T.price, "deposit");
};

/** The features of a text, and the vocabulary evidence (`things`, `kinds`) with the terms that give it. */
export const featuresOf = (
  { annotations, family, price }: FeatureSource,
  named: boolean,
): { features: Features; things: Tally; kinds: Tally } => {
  const { text, words: tokens, hits, language, is } = annotations;
  const things = weighThings(tokens, hits, family, language, is);
  const kinds = weighKinds(tokens, hits, family, is);
  const features = createFeatures(named);
  addWords(features, annotations);
  addEvidence(features, things, T.thing, HALF_SCORE.things);
  addEvidence(features, kinds, T.kind, HALF_SCORE.kinds);
  addPrice(features, price, strongest(things));
  features.add(T.length, bucket(Math.floor(Math.log2(tokens.length + 1))), undefined, BOOLEAN_VALUE);
  if (text.includes("?"))
    features.add(T.question, bucket(text.trimEnd().endsWith("?") ? "last" : "within"), undefined, BOOLEAN_VALUE);
  return { things, kinds, features };
};
