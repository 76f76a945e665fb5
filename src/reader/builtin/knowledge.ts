import type { Vocabulary } from "../extraction.ts";
import { type Classifiers, useLearned } from "./classify.ts";
import { compileLexicon, type Lexicon } from "./lexicon.ts";

/** What the built-in extractors read with: the words, and what was learned from examples. */
export type Knowledge = { lexicon: Lexicon; classifiers: Classifiers };

const make = (vocabulary: Vocabulary): Knowledge => ({
  lexicon: compileLexicon(vocabulary),
  classifiers: useLearned(vocabulary),
});

let latest: { version: string; knowledge: Knowledge } | null = null;

/** A vocabulary made ready, once for each edition: an API and a worker in one process read with the same. */
export const knowledgeOf = (vocabulary: Vocabulary): Knowledge => {
  const { version } = vocabulary;
  if (version === undefined) return make(vocabulary);
  if (latest?.version !== version) latest = { version, knowledge: make(vocabulary) };
  return latest.knowledge;
};
