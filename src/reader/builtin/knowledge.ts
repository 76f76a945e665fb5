import { besideOthers, inOneGo, type Steps } from "../../base/steps.ts";
import { type Judges, useJudges } from "../decide/models.ts";
import type { Vocabulary } from "../extraction.ts";
import { type Classifiers, useLearned } from "./classify.ts";
import { compileWords, type WordKnowledge } from "./words.ts";

/** The data that the built-in extractors use: compiled words and trained models. */
export type Knowledge = WordKnowledge & { classifiers: Classifiers; judges: Judges };

function* compile(vocabulary: Vocabulary): Steps<Knowledge> {
  const words = yield* compileWords(vocabulary);
  yield;
  const classifiers = yield* useLearned(vocabulary);
  yield;
  return { ...words, classifiers, judges: useJudges(vocabulary.classifiers) };
}

let latest: { version: string; knowledge: Knowledge } | null = null;
let coming: { version: string; ready: Promise<void> } | null = null;

const prepare = async (vocabulary: Vocabulary, version: string): Promise<void> => {
  latest = { version, knowledge: await besideOthers(compile(vocabulary)) };
};

/**
 * Compiles a vocabulary for `knowledgeOf` in steps. Between them the process answers requests and reads texts with the
 * words that it has.
 */
export const prepareKnowledge = async (vocabulary: Vocabulary): Promise<void> => {
  const { version } = vocabulary;
  if (version === undefined || latest?.version === version) return;
  if (coming?.version !== version) coming = { version, ready: prepare(vocabulary, version) };
  await coming.ready;
};

/** Compiles a vocabulary, once for each version. An API and a worker in the same process share the result. */
export const knowledgeOf = (vocabulary: Vocabulary): Knowledge => {
  const { version } = vocabulary;
  if (version === undefined) return inOneGo(compile(vocabulary));
  if (latest?.version !== version) latest = { version, knowledge: inOneGo(compile(vocabulary)) };
  return latest.knowledge;
};
