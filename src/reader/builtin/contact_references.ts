import type { Hit } from "../text/phrases.ts";
import { startsSentence, type Token } from "../text/tokens.ts";
import { type Clause, type Clauses, firstAfter, gapBetween, lastBefore, type Mention } from "./contact_clauses.ts";
import type { PreferenceSense } from "./preference_words.ts";

/**
 * Finds what a word of praise or reservation is about: a contact that its own clause mentions or, for senses that can
 * refer to something, one of the neighbouring clause.
 */

/** Where a word looks for its contact: `inside` its clause first, then `beyond` it if the clause mentions none. */
export type Manner = {
  points: number;
  inside: "before" | "after" | "ahead" | "nearest";
  beyond: readonly ("before" | "after")[];
};

const within = (
  clause: Clause,
  hit: Hit<PreferenceSense>,
  inside: Manner["inside"],
  isCompared: boolean,
): Mention | undefined => {
  const { mentions } = clause;
  const before = lastBefore(mentions, hit.from);
  const after = firstAfter(mentions, hit.to);
  // In "Who rings is quicker than who writes", the contact after "than" is not the quicker one.
  if (inside === "before") return before ?? (isCompared ? undefined : after);
  if (inside === "after") return after ?? before;
  if (inside === "ahead") return after;
  if (before === undefined || after === undefined) return before ?? after;
  return gapBetween(before, hit) < gapBetween(after, hit) ? before : after;
};

/** First words of a sentence that refers to the sentence before it. */
const REFERS = /^(?:that|this|which|it|its|das|dies|c|ca|cela|es|eso|esto|e|isso|dat|dit|to|ten)$/u;

/** Words between two alternatives. */
export const ALTERNATIVE = /^(?:or|oder|ou|o|oppure|of|lub|albo|and|und|et|y|e|en|i)$/u;

/**
 * Longest clause that can be a condition ("if that fails, ..."), in tokens. A longer clause is about something else.
 */
const CONDITION_LENGTH = 9;

/** Pronouns for something that was named before: "I am rarely there". */
const PRONOUN = /^(?:that|there|them|darauf|dort|damit|dessus|ahi|alli|daar|daarop|ermee|tam|nim|nia|ci)$/u;

/** True if a clause refers to something in the sentence before it. */
const refersBack = (tokens: readonly Token[], { from }: Clause): boolean => {
  if (REFERS.test(tokens[from]?.text ?? "")) return true;
  for (let at = from; at < from + CONDITION_LENGTH && (at === from || !startsSentence(tokens, at)); at++) {
    if (PRONOUN.test(tokens[at]?.text ?? "")) return true;
  }
  return false;
};

/** How many clauses a word may look back: "WhatsApp me on ..., please, that's best". */
const LOOK_BACK = 2;

/** The mention that an aside is about, before or after its brackets: "(preferably) jo@...", "jo@... (preferably)". */
const besideAside = (tokens: readonly Token[], list: readonly Clause[], clause: Clause): Mention | undefined => {
  const outer = list[clause.outer];
  if (outer === undefined) return undefined;
  const from = clause.opening;
  const before = lastBefore(outer.mentions, from);
  const after = firstAfter(outer.mentions, clause.to);
  return ALTERNATIVE.test(tokens[from - 1]?.text ?? "") ? (after ?? before) : (before ?? after);
};

const beyond = (
  tokens: readonly Token[],
  { list }: Clauses,
  index: number,
  hit: Hit<PreferenceSense>,
  direction: "before" | "after",
): Mention | undefined => {
  const clause = list[index];
  if (clause === undefined) return undefined;
  if (direction === "after") {
    if (clause.to - clause.from > CONDITION_LENGTH) return undefined;
    const next = list[index + 1];
    const asks = tokens[(next?.from ?? 0) - 1]?.text === "?" && (hit.sense === "way" || hit.sense === "fallback");
    if (next === undefined || (next.sentence !== clause.sentence && !asks)) return undefined;
    return firstAfter(next.mentions, clause.from);
  }
  for (let back = 1; back <= LOOK_BACK; back++) {
    const previous = list[index - back];
    if (previous === undefined) return undefined;
    if (previous.sentence !== clause.sentence) {
      if (previous.sentence !== clause.sentence - 1 || !refersBack(tokens, clause)) return undefined;
    }
    const mention = lastBefore(previous.mentions, clause.from);
    if (mention !== undefined) return mention;
  }
  return undefined;
};

const outside = (
  tokens: readonly Token[],
  clauses: Clauses,
  index: number,
  hit: Hit<PreferenceSense>,
  manner: Manner,
) => {
  const clause = clauses.list[index];
  if (clause === undefined || manner.beyond.length === 0) return undefined;
  if (clause.outer >= 0) return besideAside(tokens, clauses.list, clause);
  // "Quickest: text ..."
  const announces = tokens[hit.to]?.text === ":";
  for (const direction of announces ? (["after"] as const) : manner.beyond) {
    const mention = beyond(tokens, clauses, index, hit, direction);
    if (mention !== undefined) return mention;
  }
  return undefined;
};

/**
 * The mention that the word `hit` in clause `index` is about; undefined if it is about no contact. `isCompared`: a
 * "than" follows the word.
 */
export const mentionFor = (
  tokens: readonly Token[],
  clauses: Clauses,
  index: number,
  hit: Hit<PreferenceSense>,
  manner: Manner,
  isCompared: boolean,
): Mention | undefined => {
  const clause = clauses.list[index];
  return clause === undefined
    ? undefined
    : (within(clause, hit, manner.inside, isCompared) ?? outside(tokens, clauses, index, hit, manner));
};
