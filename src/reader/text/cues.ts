import { type Term, term } from "../decide/features.ts";
import { compilePhrases, type Phrases, visitPhrases } from "./phrases.ts";
import type { Token } from "./tokens.ts";

/**
 * Cues: words and phrases that say what stands beside them ("statt", "no calls", "deposit"), by concept. They are
 * labels of the lexicon (reading.label), and only evidence: the models learn what each concept is worth.
 */

/** A label of a concept. `prefix`: the last word may go on ("verhandel"). */
export type CueLabel = { concept: string; form: string; prefix: boolean };

/** A cue that was found: tokens `from` (inclusive) to `to` (exclusive). */
export type Cue = { concept: Term; from: number; to: number };

/** The labels, ready for use. */
export type CueIndex = Phrases<Term>;

/** Makes labels ready for use. */
export const compileCues = (labels: readonly CueLabel[]): CueIndex => {
  const concepts = new Map(labels.map(({ concept }) => [concept, term(concept)]));
  // Sorted, so that what is found does not depend on the order of the rows.
  const sorted = labels.toSorted((one, other) =>
    one.concept === other.concept ? (one.form < other.form ? -1 : 1) : one.concept < other.concept ? -1 : 1,
  );
  return compilePhrases(
    sorted.map(({ concept, form, prefix }) => ({ form, prefix, sense: concepts.get(concept) as Term })),
  );
};

/**
 * All cues of a text, by position. Of the cues of one concept that begin at one token, only the longest is given; a cue
 * inside a longer cue of the same concept is left out.
 */
export const findCues = (tokens: readonly Token[], index: CueIndex): readonly Cue[] => {
  const cues: Cue[] = [];
  const ends = new Map<Term, number>();
  for (let at = 0; at < tokens.length; at++) {
    if (tokens[at]?.kind === "digits") continue;
    visitPhrases(tokens, at, index, ({ sense: concept, from, to }) => {
      if ((ends.get(concept) ?? 0) < to) {
        ends.set(concept, to);
        cues.push({ concept, from, to });
      }
      return false;
    });
  }
  return cues;
};

/** The index of the first cue that begins at token `at` or later, by binary search. */
export const firstCueFrom = (cues: readonly Cue[], at: number): number => {
  let low = 0;
  let high = cues.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cues[middle]?.from ?? at) >= at) high = middle;
    else low = middle + 1;
  }
  return low;
};
