import type { Vocabulary } from "../extraction.ts";
import { type Classifiers, useLearned } from "./classify.ts";
import { compileLexicon, type Lexicon } from "./lexicon.ts";

/** The data that the built-in extractors use: compiled words and trained classifiers. */
export type Knowledge = { lexicon: Lexicon; classifiers: Classifiers };

const make = (vocabulary: Vocabulary): Knowledge => ({
  lexicon: compileLexicon(vocabulary),
  classifiers: useLearned(vocabulary),
});

let latest: { version: string; knowledge: Knowledge } | null = null;

/** Compiles a vocabulary, once for each version. An API and a worker in the same process share the result. */
export const knowledgeOf = (vocabulary: Vocabulary): Knowledge => {
  const { version } = vocabulary;
  if (version === undefined) return make(vocabulary);
  if (latest?.version !== version) latest = { version, knowledge: make(vocabulary) };
  return latest.knowledge;
};
