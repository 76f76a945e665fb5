import { startsSentence, type Token } from "../text/tokens.ts";

/**
 * Splits a text into clauses with the contacts and ways of contact that each mentions, so that a word can be assigned
 * to what it is about.
 */

/** A contact or a word for a way in a clause. `meant` lists the indexes of the contacts it refers to. */
export type Mention = { from: number; to: number; meant: number[] };

/**
 * For an aside in brackets, `outer` is the index of the clause around it and `opening` the token of its bracket;
 * otherwise both are -1.
 */
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

/** Conjunctions that begin a contrasting clause. */
const AGAINST = new Set(
  "but although though whereas while however aber allerdings obwohl mais pero aunque ma mas embora maar hoewel ale choc because".split(
    " ",
  ),
);

/** True if an aside opens at token `at`. The bracket of "(03) 5550" opens none. */
const opensAside = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.text === "(" && !(tokens[at + 1]?.kind === "digits" && tokens[at + 2]?.text === ")");

/** All clauses in order, and for each token the index of its clause. */
export type Clauses = { list: Clause[]; of: Int32Array };

/**
 * Splits a text into clauses, still without mentions. Text after an aside belongs to the clause before the aside.
 *
 * @param isContact 1 at the first token of a contact, 2 at its other tokens; marks inside a contact end nothing
 * @param isCue 1 for words about a contact; such a word begins no clause
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
        // For nested brackets, the outermost counts.
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

/** The number of tokens between two ranges that do not overlap. */
export const gapBetween = (a: { from: number; to: number }, b: { from: number; to: number }): number =>
  a.to <= b.from ? b.from - a.to : a.from - b.to;

/** Drops a mention of several uses of a number (phone, SMS, WhatsApp) if the clause also names one of these uses. */
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
/** The first mention at token `at` or after it. */
export const firstAfter = (mentions: readonly Mention[], at: number) => mentions[countBefore(mentions, at)];
