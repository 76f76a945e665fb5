import type { Vocabulary } from "../extraction.ts";
import type { Scene } from "../judge/context.ts";
import { type PriceModels, usePrices } from "../judge/price.ts";
import { type CueIndex, type CueLabel, compileCues } from "../text/cues.ts";
import type { Span } from "../text/span.ts";
import { findAddressedToModel } from "./addressed.ts";
import { type Classifiers, useLearned } from "./classify.ts";
import { compileLexicon, type Lexicon } from "./lexicon.ts";

/** The part of the vocabulary that determines the features of a text: everything but what was learned. */
export type Words = Pick<Vocabulary, "taxonomy" | "concepts" | "labels" | "terms">;

/** What is known before a text is judged. */
export type WordKnowledge = {
  lexicon: Lexicon;
  cues: CueIndex;
  /** Finds the sentences that are addressed to a model, in order. */
  findOrders: (scene: Scene) => readonly Span[];
};

/** The data that the built-in extractors use: compiled words and trained models. */
export type Knowledge = WordKnowledge & { classifiers: Classifiers; prices: PriceModels };

/** The labels of cues. */
const cuesOf = ({ concepts, labels }: Words): CueLabel[] => {
  const names = new Set(concepts.filter(({ type }) => type === "cue").map(({ concept }) => concept));
  return labels.flatMap(([concept, , form, , prefix]) => (names.has(concept) ? [{ concept, form, prefix }] : []));
};

/** Compiles the words of a vocabulary. */
export const wordKnowledge = (words: Words): WordKnowledge => ({
  lexicon: compileLexicon(words),
  cues: compileCues(cuesOf(words)),
  findOrders: ({ text }) => findAddressedToModel(text),
});

const make = (vocabulary: Vocabulary): Knowledge => ({
  ...wordKnowledge(vocabulary),
  classifiers: useLearned(vocabulary),
  prices: usePrices(vocabulary.classifiers),
});

let latest: { version: string; knowledge: Knowledge } | null = null;

/** Compiles a vocabulary, once for each version. An API and a worker in the same process share the result. */
export const knowledgeOf = (vocabulary: Vocabulary): Knowledge => {
  const { version } = vocabulary;
  if (version === undefined) return make(vocabulary);
  if (latest?.version !== version) latest = { version, knowledge: make(vocabulary) };
  return latest.knowledge;
};
