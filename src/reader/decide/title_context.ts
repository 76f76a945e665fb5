import type { PlaceText } from "../propose/place_spans.ts";
import type { Token } from "../text/tokens.ts";
import { type Range, sentenceStart, termOf } from "./context.ts";
import { bucket, type Term, term } from "./features.ts";

/** What is computed once for a text whose title is judged, and the features that its beginning and its end share. */

/** What is known of a text before its title is judged. */
export type TitleText = PlaceText & {
  /** The terms of the lexicon that name things of the category of the text, by position. */
  named: readonly Range[];
  /** The words that state a kind of offer or ask ("for sale", "suche"), by position. */
  kinds: readonly Range[];
  /** The passage that states the price, and the one that names the place; null if there is none. */
  price: Range | null;
  place: Range | null;
  isAsk: boolean;
};

export const T = {
  word: term("word"),
  next: term("next"),
  third: term("third"),
  before1: term("before1"),
  before2: term("before2"),
  pairBefore: term("pair-before"),
  pair: term("pair"),
  pairNext: term("pair-next"),
  join: term("join"),
  letters: term("letters"),
  thing: term("thing"),
  thingOrder: term("thing-order"),
  named: term("named"),
  namedOrder: term("named-order"),
  clause: term("clause"),
  kind: term("kind"),
  cue: term("cue"),
  place: term("place"),
  position: term("position"),
  sentence: term("sentence"),
  line: term("line"),
  again: term("again"),
  ask: term("ask"),
  price: term("price"),
  last: term("last"),
  lastBut: term("last-but"),
  after1: term("after1"),
  after2: term("after2"),
  pairAfter: term("pair-after"),
  inside: term("inside"),
  width: term("width"),
  size: term("size"),
  marks: term("marks"),
  rest: term("rest"),
  bracket: term("bracket"),
  follows: term("follows"),
} as const;

export const B = bucket;
export const START = B("<start>");
export const END = B("<end>");
const SUM = B("<sum>");
const CONTACT = B("<contact>");
const PLACE = B("<place>");

const GROWING = [0, 1, 2, 3, 4, 5, 6, 6, 8, 8, 10, 10, 12, 12, 12, 15, 15, 15, 15, 15];
/** A number in buckets that grow. */
export const grown = (count: number): number =>
  GROWING[count] ?? (count < 30 ? 20 : count < 60 ? 30 : count < 120 ? 60 : 120);

/** What is computed once for a text. */
export type Prepared = {
  scene: TitleText;
  /** The number of the sentence and of the line of each token. */
  sentence: Int32Array;
  line: Int32Array;
  lines: number;
  /** 1 for the first token of a thing, 2 for its further ones. */
  thingAt: Uint8Array;
  /** How many things begin before each token. */
  thingsBefore: Int32Array;
  /** For each token, where the next thing begins. */
  nextThing: Int32Array;
  /** The same for the things of the category of the text. */
  namedAt: Uint8Array;
  namedBefore: Int32Array;
  nextNamed: Int32Array;
  /** For each token, the next mark, line, sum, contact or place. */
  clauseEnd: Int32Array;
  /** 1 for sums of money, 2 for the price, 3 for contacts, 4 for the place, 5 for other places. */
  roleAt: Uint8Array;
  /** 1 for the first token of words of a kind, 2 for its further ones. */
  kindAt: Uint8Array;
  /** 1 for words that lead to a place: "in", "near", "region". */
  leadsAt: Uint8Array;
  /** For each token, 1 if its word stands in the text before, 2 if it does after, 3 for both. */
  again: Uint8Array;
};

const AFTER_ROLE = [0, 1, 2, 3, 4, 5].map((role) => B(`after-${role}`));
const ROLES = [null, SUM, SUM, CONTACT, PLACE, PLACE] as const;

const fillRanges = (into: Uint8Array, ranges: readonly Range[]): void => {
  for (const { from, to } of ranges) {
    into.fill(2, from, to);
    into[from] = 1;
  }
};

/** The concepts of words that lead to a place. */
const LEADING: ReadonlySet<string> = new Set([
  "place_in",
  "place_label",
  "place_area",
  "place_about",
  "place_origin",
  "place_towards",
]);

/** How many ranges begin before each token. */
const countBefore = (at: Uint8Array): Int32Array => {
  const counts = new Int32Array(at.length);
  for (let one = 1; one < at.length; one++) counts[one] = (counts[one - 1] ?? 0) + (at[one - 1] === 1 ? 1 : 0);
  return counts;
};

/** For each token, where the next range begins; beyond the text if there is none. */
const nextFrom = (at: Uint8Array): Int32Array => {
  const next = new Int32Array(at.length).fill(at.length);
  for (let one = at.length - 2; one >= 0; one--) next[one] = at[one] === 1 ? one : (next[one + 1] ?? at.length);
  return next;
};

export const prepare = (scene: TitleText): Prepared => {
  const { tokens, things, named, kinds, sums, known, price, place, isHidden, cues } = scene;
  const size = tokens.length + 1;
  const sentence = new Int32Array(size);
  const line = new Int32Array(size);
  const again = new Uint8Array(size);
  const seen = new Map<string, number>();
  tokens.forEach((token, at) => {
    sentence[at] = at === 0 ? 0 : (sentence[at - 1] ?? 0) + (token.opens ? 1 : 0);
    line[at] = at === 0 ? 0 : (line[at - 1] ?? 0) + (token.gap === "line" ? 1 : 0);
    if (token.kind !== "word" || token.text.length < 4) return;
    const before = seen.get(token.text);
    if (before !== undefined) {
      again[at] = 1;
      again[before] = (again[before] ?? 0) | 2;
    }
    seen.set(token.text, at);
  });
  const thingAt = new Uint8Array(size);
  fillRanges(thingAt, things);
  const kindAt = new Uint8Array(size);
  fillRanges(kindAt, kinds);
  const namedAt = new Uint8Array(size);
  fillRanges(namedAt, named);
  const thingsBefore = countBefore(thingAt);
  const namedBefore = countBefore(namedAt);
  const nextThing = nextFrom(thingAt);
  const nextNamed = nextFrom(namedAt);
  const roleAt = new Uint8Array(size);
  for (const { from, to } of known) roleAt.fill(5, from, to);
  if (place !== null) roleAt.fill(4, place.from, place.to);
  for (const { from, to } of sums) roleAt.fill(1, from, to);
  if (price !== null) roleAt.fill(2, price.from, price.to);
  for (let at = 0; at < tokens.length; at++) if (isHidden(at)) roleAt[at] = 3;
  const leadsAt = new Uint8Array(size);
  for (const { concept, from, to } of cues) if (LEADING.has(concept.text)) leadsAt.fill(1, from, to);
  const clauseEnd = new Int32Array(size).fill(tokens.length);
  for (let at = tokens.length - 1; at >= 0; at--) {
    const next = tokens[at + 1];
    const ends = next === undefined || next.gap === "line" || next.kind === "mark" || (roleAt[at + 1] ?? 0) > 0;
    clauseEnd[at] = ends ? at + 1 : (clauseEnd[at + 1] ?? 0);
  }
  const lines = (line[tokens.length - 1] ?? 0) + 1;
  const of = { thingAt, thingsBefore, nextThing, namedAt, namedBefore, nextNamed };
  return { scene, sentence, line, lines, ...of, clauseEnd, roleAt, kindAt, leadsAt, again };
};

/** The role of a token that stands for its word, or the word. */
export const wordAt = ({ scene, roleAt }: Prepared, at: number): Term => {
  const token = scene.tokens[at];
  if (token === undefined) return at < 0 ? START : END;
  const role = roleAt[at] ?? 0;
  return (role === 5 ? null : ROLES[role]) ?? termOf(token);
};

/** Marks that join two words to one. */
export const JOINTS: ReadonlySet<string> = new Set(["-", "'", ".", "/", "&", "+", "_", ","]);

/** How the token at `at` is joined to what stands before it. */
export const joinOf = ({ scene, roleAt }: Prepared, at: number): Term => {
  const before = scene.tokens[at - 1];
  if (before === undefined) return START;
  if (scene.tokens[at]?.gap === "line") return B("line");
  const role = roleAt[at - 1] ?? 0;
  if (role > 0 && role < 5) return AFTER_ROLE[role] as Term;
  if (sentenceStart(scene, at) === at) return B("sentence");
  if (before.kind === "mark") return termOf(before);
  return B(before.kind);
};

export const lettersOf = (token: Token | undefined): Term =>
  B(token === undefined ? "none" : token.kind === "word" ? (token.capital ? "capital" : "small") : token.kind);

export const NONE = B("none");
