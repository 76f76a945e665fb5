import { startsSentence, type Token } from "./prose.ts";

/** The clauses of a text with the contacts and ways that each mentions, so that a word finds what it is about. */

/** What a clause mentions: a contact or a way, with the contacts meant, by index. */
export type Mention = { from: number; to: number; meant: number[] };

/** `outer` is the clause that an aside stands in, by index, and `opening` its bracket, a token; -1 for none. */
export type Clause = {
  from: number;
  to: number;
  sentence: number;
  outer: number;
  opening: number;
  mentions: Mention[];
};

/** Marks that end a clause. */
export const MARKS = /^[,;:()]$/u;

/** Words with which a clause sets itself against the one before. */
const AGAINST = new Set(
  "but although though whereas while however aber allerdings obwohl mais pero aunque ma mas embora maar hoewel ale choc because".split(
    " ",
  ),
);

/** True when an aside opens at token `at`; "(03) 5550" opens none. */
const opensAside = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.text === "(" && !(tokens[at + 1]?.kind === "digits" && tokens[at + 2]?.text === ")");

/** All clauses in order, and the index of the one that each token is in. */
export type Clauses = { list: Clause[]; of: Int32Array };

/**
 * The text in clauses, without mentions. What goes on behind an aside is of the clause before it.
 *
 * @param isContact 1 where a contact begins, 2 where it goes on; marks within it end nothing
 * @param isCue 1 where a word speaks of a contact, and so opens no clause
 */
export const clausesOf = (tokens: readonly Token[], isContact: Uint8Array, isCue: Uint8Array): Clauses => {
  const of = new Int32Array(tokens.length);
  const list: Clause[] = [];
  let sentence = -1;
  let outer = -1;
  let opening = -1;
  let current = -1;
  const open = (at: number) => {
    list.push({ from: at, to: at, sentence, outer, opening, mentions: [] });
    current = list.length - 1;
  };
  for (let at = 0; at < tokens.length; at++) {
    const { text = "" } = tokens[at] ?? {};
    const begins = startsSentence(tokens, at) && isContact[at] !== 2;
    if (begins) {
      sentence++;
      outer = opening = -1;
      open(at);
    } else if (isContact[at] === 0) {
      if (opensAside(tokens, at)) {
        // Of brackets in brackets the first ones count.
        if (outer < 0) [outer, opening] = [current, at];
        open(at);
      } else if (text === ")" && outer >= 0) {
        current = outer;
        outer = opening = -1;
      } else if (MARKS.test(text) && text !== "(" && text !== ")") open(at);
      else if (AGAINST.has(text) && isCue[at] === 0) open(at);
      else if (text === "-" && tokens[at]?.gap !== "none" && tokens[at + 1]?.gap !== "none") open(at);
    }
    of[at] = current;
    const clause = list[current];
    if (clause !== undefined) clause.to = at + 1;
  }
  return { list, of };
};

/** How many tokens stand between two stretches that do not overlap. */
export const gapBetween = (a: { from: number; to: number }, b: { from: number; to: number }): number =>
  a.to <= b.from ? b.from - a.to : a.from - b.to;

/** A number with a word for its use is meant in that use. */
export const narrowed = (mentions: readonly Mention[]): Mention[] => {
  const single = new Set(mentions.flatMap(({ meant }) => (meant.length === 1 ? meant : [])));
  return mentions.filter(({ meant }) => meant.length < 2 || !meant.some((index) => single.has(index)));
};

/** The number of mentions that begin before token `at`, by binary search. */
const countBefore = (mentions: readonly Mention[], at: number): number => {
  let low = 0;
  let high = mentions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((mentions[middle]?.from ?? at) < at) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The last mention before token `at`. */
export const lastBefore = (mentions: readonly Mention[], at: number) => mentions[countBefore(mentions, at) - 1];
/** The first mention at token `at` or behind it. */
export const firstAfter = (mentions: readonly Mention[], at: number) => mentions[countBefore(mentions, at)];
