import { inOneGo, type Steps } from "../../base/steps.ts";
import type { Vocabulary } from "../extraction.ts";
import { compileGazetteer, type Gazetteer } from "../propose/gazetteer.ts";
import { type CueIndex, type CueLabel, compileCues } from "../text/cues.ts";
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
export function* compileWords(words: Words): Steps<WordKnowledge> {
  const lexicon = yield* compileLexicon(words);
  const gazetteer = yield* compileGazetteer(words.places);
  yield;
  return { lexicon, gazetteer, cues: compileCues(cuesOf(words)) };
}

/** Compiles the words of a vocabulary at once, where nothing else waits. */
export const wordKnowledge = (words: Words): WordKnowledge => inOneGo(compileWords(words));
