import { type Cue, type CueIndex, findCues } from "../text/cues.ts";
import { hashOf } from "../text/hash.ts";
import { type Token, tokensIn } from "../text/tokens.ts";
import { bucket, type Features, type Term, term } from "./features.ts";

/** Features of the words around a candidate: the same for every kind of candidate. */

/** A text as it is before anything is judged: made once, and passed on. */
export type Scene = {
  text: string;
  tokens: readonly Token[];
  /** For each token, the first token of its sentence, and the token after its last one. */
  starts: Int32Array;
  ends: Int32Array;
  /** The cues of the text, by position. */
  cues: readonly Cue[];
  /** What the first words name: categories, most important first, at most a few. */
  topics: readonly Term[];
};

/** Reads the tokens, sentences and cues of a text. */
export const sceneOf = (text: string, index: CueIndex, tokens: readonly Token[] = tokensIn(text)): Scene => {
  const starts = new Int32Array(tokens.length);
  const ends = new Int32Array(tokens.length);
  for (let at = 0; at < tokens.length; at++) starts[at] = tokens[at]?.opens || at === 0 ? at : (starts[at - 1] ?? 0);
  for (let at = tokens.length - 1; at >= 0; at--)
    ends[at] = at === tokens.length - 1 || tokens[at + 1]?.opens ? at + 1 : (ends[at + 1] ?? 0);
  return { text, tokens, starts, ends, cues: findCues(tokens, index), topics: [] };
};

/** The first token of the sentence of token `at`. */
export const sentenceStart = ({ starts }: Scene, at: number): number => starts[at] ?? at;

/** The token after the sentence of token `at`. */
export const sentenceEnd = ({ tokens, ends }: Scene, at: number): number => ends[at] ?? tokens.length;

/** A range of tokens: `from` inclusive, `to` exclusive. */
export type Range = { from: number; to: number };

const BEFORE = [term("before1"), term("before2"), term("before3")] as const;
const AFTER = [term("after1"), term("after2"), term("after3")] as const;
const NEAR_BEFORE = term("near-before");
const NEAR_AFTER = term("near-after");
const PAIR_BEFORE = term("pair-before");
const PAIR_AFTER = term("pair-after");
const AROUND = term("around");
const CUE_BEFORE = term("cue-before");
const CUE_AFTER = term("cue-after");
const CUE_PAST_BEFORE = term("cue-past-before");
const CUE_PAST_AFTER = term("cue-past-after");
const CUE_INSIDE = term("cue-inside");
const CUE_SENTENCE = term("cue-sentence");
const CUE_NEXT = term("cue-next-sentence");

const NUMBER = bucket("#");
const START = bucket("<start>");
const END = bucket("<end>");
const OTHER = bucket("<other>");

/** Words up to this distance are features in no particular order. */
const NEAR = 6;
/** Cues up to this distance are features, also beyond the end of the sentence. In tokens. */
export const CUE_REACH = 24;

const words = new WeakMap<Token, Term>();

/** The word of a token as a term; all numbers are one. */
export const termOf = (token: Token): Term => {
  if (token.kind === "digits") return NUMBER;
  const known = words.get(token);
  if (known !== undefined) return known;
  const made = { text: token.text, hash: hashOf(token.text) };
  words.set(token, made);
  return made;
};

const DISTANCE = [0, 1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5].map((value) => bucket(`d${value}`));
const FAR = bucket("d6");

/** A distance in tokens, in buckets. */
export const distance = (tokens: number): Term => DISTANCE[tokens] ?? FAR;

/** The index of the first cue that ends after token `at`, by binary search over the starts. */
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

/**
 * Adds the features of the words and cues around a range.
 * @param previous the candidate before the range, and `next` the one after it: a cue beyond one of them is probably
 *   about that one
 */
export const addContext = (
  features: Features,
  scene: Scene,
  { from, to }: Range,
  previous: Range | undefined,
  next: Range | undefined,
): void => {
  const { tokens, cues } = scene;
  const first = sentenceStart(scene, from);
  const last = sentenceEnd(scene, Math.max(from, to - 1));
  const wordAt = (at: number): Term => {
    const token = tokens[at];
    if (token === undefined) return at < 0 ? START : END;
    if (previous !== undefined && at >= previous.from && at < previous.to) return OTHER;
    if (next !== undefined && at >= next.from && at < next.to) return OTHER;
    return termOf(token);
  };
  for (let back = 1; back <= BEFORE.length; back++) {
    const at = from - back;
    features.add(BEFORE[back - 1] as Term, at < first ? START : wordAt(at));
    if (at < first) break;
  }
  for (let ahead = 0; ahead < AFTER.length; ahead++) {
    const at = to + ahead;
    features.add(AFTER[ahead] as Term, at >= last ? END : wordAt(at));
    if (at >= last) break;
  }
  if (from - 2 >= first) features.add(PAIR_BEFORE, wordAt(from - 2), wordAt(from - 1));
  if (to + 1 < last) features.add(PAIR_AFTER, wordAt(to), wordAt(to + 1));
  features.add(AROUND, from - 1 < first ? START : wordAt(from - 1), to >= last ? END : wordAt(to));
  for (let at = Math.max(first, from - NEAR); at < from - 1; at++) {
    if (tokens[at]?.kind === "word") features.add(NEAR_BEFORE, wordAt(at));
  }
  for (let at = to + 1; at < Math.min(last, to + NEAR); at++) {
    if (tokens[at]?.kind === "word") features.add(NEAR_AFTER, wordAt(at));
  }
  for (let index = firstCueFrom(cues, from - CUE_REACH); index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > to + CUE_REACH) break;
    if (cue.from < from && cue.to <= from) {
      const apart = distance(from - cue.to);
      if (cue.from < first) features.add(CUE_NEXT, cue.concept);
      else {
        const past = previous !== undefined && cue.to <= previous.from;
        features.add(past ? CUE_PAST_BEFORE : CUE_BEFORE, cue.concept, apart);
        features.add(past ? CUE_PAST_BEFORE : CUE_BEFORE, cue.concept);
        features.add(CUE_SENTENCE, cue.concept);
      }
    } else if (cue.from >= to) {
      const apart = distance(cue.from - to);
      if (cue.from >= last) features.add(CUE_NEXT, cue.concept);
      else {
        const past = next !== undefined && cue.from >= next.to;
        features.add(past ? CUE_PAST_AFTER : CUE_AFTER, cue.concept, apart);
        features.add(past ? CUE_PAST_AFTER : CUE_AFTER, cue.concept);
        features.add(CUE_SENTENCE, cue.concept);
      }
    } else features.add(CUE_INSIDE, cue.concept);
  }
};
