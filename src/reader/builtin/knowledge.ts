import type { Vocabulary } from "../extraction.ts";
import { type Judges, useJudges } from "../judge/models.ts";
import { type Classifiers, useLearned } from "./classify.ts";
import { type WordKnowledge, wordKnowledge } from "./words.ts";

/** The data that the built-in extractors use: compiled words and trained models. */
export type Knowledge = WordKnowledge & { classifiers: Classifiers; judges: Judges };

const make = (vocabulary: Vocabulary): Knowledge => ({
  ...wordKnowledge(vocabulary),
  classifiers: useLearned(vocabulary),
  judges: useJudges(vocabulary.classifiers),
});

let latest: { version: string; knowledge: Knowledge } | null = null;

/** Compiles a vocabulary, once for each version. An API and a worker in the same process share the result. */
export const knowledgeOf = (vocabulary: Vocabulary): Knowledge => {
  const { version } = vocabulary;
  if (version === undefined) return make(vocabulary);
  if (latest?.version !== version) latest = { version, knowledge: make(vocabulary) };
  return latest.knowledge;
};
