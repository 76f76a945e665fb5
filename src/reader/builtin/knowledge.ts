import { besideOthers, inOneGo, type Steps } from "../../base/steps.ts";
import { type Judges, useJudges } from "../decide/models.ts";
import type { Vocabulary } from "../extraction.ts";
import { compileGazetteer, type Gazetteer } from "../propose/gazetteer.ts";
import { type CueIndex, type CueLabel, compileCues } from "../text/cues.ts";
import { type Classifiers, useLearned } from "./classify.ts";
import { compileLexicon, type Lexicon } from "./lexicon.ts";

/** The part of the vocabulary that determines the features of a text: everything but what was learned. */
export type Words = Pick<Vocabulary, "taxonomy" | "concepts" | "labels" | "places">;

/** What is known before a text is judged. */
export type WordKnowledge = {
  lexicon: Lexicon;
  gazetteer: Gazetteer;
  cues: CueIndex;
};

/** The labels of cues. */
const cuesOf = ({ concepts, labels }: Words): CueLabel[] => {
  const names = new Set(concepts.filter(({ type }) => type === "cue").map(({ concept }) => concept));
  return labels.flatMap(([concept, , form, , prefix]) => (names.has(concept) ? [{ concept, form, prefix }] : []));
};

/** Compiles the words of a vocabulary. */
function* compileWords(words: Words): Steps<WordKnowledge> {
  const lexicon = yield* compileLexicon(words);
  const gazetteer = yield* compileGazetteer(words.places);
  yield;
  return { lexicon, gazetteer, cues: compileCues(cuesOf(words)) };
}

/** Compiles the words of a vocabulary at once, where nothing else waits. */
export const wordKnowledge = (words: Words): WordKnowledge => inOneGo(compileWords(words));

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
