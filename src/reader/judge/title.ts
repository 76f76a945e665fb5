import type { PlaceText } from "../find/place_spans.ts";
import type { Span } from "../text/span.ts";
import type { Token } from "../text/tokens.ts";
import { type Range, termOf } from "./context.ts";
import { bucket, createFeatures, type Features, type Term, term } from "./features.ts";
import type { Ranked, Training } from "./learn.ts";
import type { Mark } from "./marks.ts";
import { chances, type Model } from "./model.ts";
import { rangeOf } from "./place.ts";

/**
 * Judges which words of a text are its title: what is offered or wanted, without price, contact and place. One ranker
 * scores the tokens at which the title can begin; a second one scores, for the best of these, the tokens at which it can
 * end.
 */

/** The names of the models. */
export const TITLE_MODELS = ["title_begin", "title_end"] as const;
export type TitleModels = Readonly<Record<(typeof TITLE_MODELS)[number], Model>>;

/** How the models are trained. */
export const TITLE_TRAINING: Training = { passes: 7, rate: 0.05, leastExamples: 3 };

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

/** The longest title, in UTF-16 units. */
const LONGEST = 120;

/**
 * All words of the beginning of a text can begin a title; then only those that open a clause or name a thing, and at
 * last those that open a sentence or name a thing of the category. In tokens.
 */
const ALL_BEGINS = 60;
const CLAUSE_BEGINS = 120;

/** This many beginnings are tried. */
const BEGINS_TRIED = 6;

const T = {
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

const B = bucket;
const START = B("<start>");
const END = B("<end>");
const SUM = B("<sum>");
const CONTACT = B("<contact>");
const PLACE = B("<place>");

const GROWING = [0, 1, 2, 3, 4, 5, 6, 6, 8, 8, 10, 10, 12, 12, 12, 15, 15, 15, 15, 15];
/** A number in buckets that grow. */
const grown = (count: number): number => GROWING[count] ?? (count < 30 ? 20 : count < 60 ? 30 : count < 120 ? 60 : 120);

/** What is computed once for a text. */
type Prepared = {
  scene: TitleText;
  /** The first token of the sentence of each token, and the token after it. */
  first: Int32Array;
  last: Int32Array;
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
  /** For each token, the first cue that begins there or later. */
  cueFrom: Int32Array;
  /** For each token, 1 if its word stands in the text before, 2 if it does after, 3 for both. */
  again: Uint8Array;
};

const AFTER_ROLE = [0, 1, 2, 3, 4, 5].map((role) => B(`after-${role}`));
const NEXT_ROLE = [0, 1, 2, 3, 4, 5].map((role) => B(`role-${role}`));
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

const prepare = (scene: TitleText): Prepared => {
  const { tokens, things, named, kinds, sums, known, price, place, isHidden, cues } = scene;
  const size = tokens.length + 1;
  const first = new Int32Array(size);
  const last = new Int32Array(size);
  const sentence = new Int32Array(size);
  const line = new Int32Array(size);
  const again = new Uint8Array(size);
  const seen = new Map<string, number>();
  tokens.forEach((token, at) => {
    first[at] = at === 0 || token.opens ? at : (first[at - 1] ?? 0);
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
  for (let at = tokens.length - 1; at >= 0; at--)
    last[at] = at + 1 >= tokens.length || tokens[at + 1]?.opens ? at + 1 : (last[at + 1] ?? 0);
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
  const cueFrom = new Int32Array(size);
  for (let at = 0, cue = 0; at < size; at++) {
    while (cue < cues.length && (cues[cue]?.from ?? 0) < at) cue++;
    cueFrom[at] = cue;
  }
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
  return { scene, first, last, sentence, line, lines, ...of, clauseEnd, roleAt, kindAt, leadsAt, cueFrom, again };
};

/** The role of a token that stands for its word, or the word. */
const wordAt = ({ scene, roleAt }: Prepared, at: number): Term => {
  const token = scene.tokens[at];
  if (token === undefined) return at < 0 ? START : END;
  const role = roleAt[at] ?? 0;
  return (role === 5 ? null : ROLES[role]) ?? termOf(token);
};

/** Marks that join two words to one. */
const JOINTS: ReadonlySet<string> = new Set(["-", "'", ".", "/", "&", "+", "_", ","]);

/** True if a word or number begins at `at`. */
const isFree = (tokens: readonly Token[], at: number): boolean => {
  const token = tokens[at];
  const before = tokens[at - 1];
  if (token === undefined || token.kind === "mark") return false;
  if (before === undefined || token.gap !== "none") return true;
  return before.kind === "mark" && !(JOINTS.has(before.text) && before.gap === "none");
};

/** The tokens at which the title can begin. */
const beginsOf = ({ scene, roleAt, thingAt, namedAt }: Prepared): number[] => {
  const { tokens } = scene;
  const begins: number[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const role = roleAt[at] ?? 0;
    if (role === 2 || role === 3 || !isFree(tokens, at)) continue;
    const opens = tokens[at]?.opens === true;
    if (at >= CLAUSE_BEGINS && !opens && namedAt[at] !== 1) continue;
    if (at >= ALL_BEGINS && !opens && thingAt[at] !== 1 && tokens[at - 1]?.kind !== "mark") continue;
    begins.push(at);
  }
  return begins;
};

/** How the token at `at` is joined to what stands before it. */
const joinOf = ({ scene, first, roleAt }: Prepared, at: number): Term => {
  const before = scene.tokens[at - 1];
  if (before === undefined) return START;
  if (scene.tokens[at]?.gap === "line") return B("line");
  const role = roleAt[at - 1] ?? 0;
  if (role > 0 && role < 5) return AFTER_ROLE[role] as Term;
  if (first[at] === at) return B("sentence");
  if (before.kind === "mark") return termOf(before);
  return B(before.kind);
};

const lettersOf = (token: Token | undefined): Term =>
  B(token === undefined ? "none" : token.kind === "word" ? (token.capital ? "capital" : "small") : token.kind);

const NONE = B("none");

/** Adds the features of a title that begins at token `at`. */
const addBeginFeatures = (features: Features, prepared: Prepared, at: number): void => {
  const { scene, first, last, sentence, line, lines, thingAt, thingsBefore, nextThing, kindAt, roleAt } = prepared;
  const { tokens, cues, isAsk } = scene;
  const token = tokens[at];
  if (token === undefined) return;
  const opens = first[at] ?? 0;
  const word = wordAt(prepared, at);
  const before = at === opens ? START : wordAt(prepared, at - 1);
  const next = wordAt(prepared, at + 1);
  const join = joinOf(prepared, at);
  const letters = lettersOf(token);
  features.add(T.word, word);
  features.add(T.next, next);
  features.add(T.third, wordAt(prepared, at + 2));
  features.add(T.pair, word, next);
  features.add(T.before1, before);
  features.add(T.pairBefore, before, word);
  if (before !== START) {
    const second = at - 1 === opens ? START : wordAt(prepared, at - 2);
    features.add(T.before2, second);
    features.add(T.before2, second, before);
  } else if (at > 0) features.add(T.before2, B("<previous>"), wordAt(prepared, at - 1));
  features.add(T.join, join, letters);
  features.add(T.letters, lettersOf(tokens[at - 1]), letters);
  features.add(T.letters, letters, lettersOf(tokens[at + 1]));
  // The things that are named here, or soon.
  const apart = Math.min((nextThing[at] ?? 0) - at, 9);
  const sameSentence = (nextThing[at] ?? 0) < (last[at] ?? 0);
  const thing = B(thingAt[at] === 2 ? "within" : sameSentence ? apart : "later");
  features.add(T.thing, thing, join);
  features.add(T.thing, thing);
  features.add(T.thing, thing, letters);
  features.add(T.thingOrder, B(Math.min(thingsBefore[at] ?? 0, 5)), thing);
  features.add(T.thingOrder, B(Math.min(thingsBefore[at] ?? 0, 5)), join);
  const ends = prepared.clauseEnd[at] ?? 0;
  const until = (prepared.nextNamed[at] ?? 0) - at;
  const nearest = prepared.namedAt[at] === 2 ? "within" : until < ends - at ? Math.min(until, 6) : "later";
  const naming = B(nearest);
  const namedBefore = B(Math.min(prepared.namedBefore[at] ?? 0, 4));
  features.add(T.named, naming, join);
  features.add(T.named, naming);
  features.add(T.named, naming, letters);
  features.add(T.named, naming, B(Math.min(sentence[at] ?? 0, 3)));
  features.add(T.namedOrder, naming, namedBefore);
  features.add(T.namedOrder, namedBefore, B(Math.min(sentence[at] ?? 0, 3)));
  features.add(T.namedOrder, scene.named.length === 0 ? NONE : naming, B(grown(at)));
  features.add(T.clause, B(grown(ends - at)), join);
  features.add(T.clause, B(roleAt[ends] ?? 0), tokens[ends] === undefined ? END : B(tokens[ends]?.kind ?? ""));
  const kindNow = kindAt[at] ?? 0;
  const kindBefore = at > 0 ? (kindAt[at - 1] ?? 0) : 0;
  features.add(T.kind, B(10 * kindBefore + kindNow), join);
  if ((roleAt[at] ?? 0) > 0) features.add(T.place, B(roleAt[at] ?? 0));
  for (let index = prepared.cueFrom[Math.max(0, at - 4)] ?? 0; index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > at) break;
    if (cue.from === at) features.add(T.cue, cue.concept, B("here"));
    else if (cue.to === at) features.add(T.cue, cue.concept, B("before"));
  }
  // Its place in the text.
  features.add(T.position, B(grown(at)));
  features.add(T.position, B(grown(at)), join);
  features.add(T.position, B(grown(at)), thing);
  features.add(T.sentence, B(grown(sentence[at] ?? 0)), B(Math.min(at - opens, 4)));
  features.add(T.sentence, B(Math.min(sentence[at] ?? 0, 3)), thing);
  features.add(
    T.line,
    B(Math.min(line[at] ?? 0, 3)),
    B(lines > 1 ? `${token.gap === "line" ? "starts" : "in"}` : "one"),
  );
  features.add(T.rest, B(grown((last[at] ?? at) - at)), B(Math.min(sentence[at] ?? 0, 3)));
  const again = prepared.again[at] ?? 0;
  if (again > 0) features.add(T.again, B(again), join);
  if (again > 0) features.add(T.again, B(again), thing);
  features.add(T.ask, B(isAsk ? "ask" : "offer"), join);
  features.add(T.ask, B(isAsk ? "ask" : "offer"), before);
  // What is named after the price is seldom the thing.
  const { price } = scene;
  features.add(T.price, price === null ? NONE : B(price.from > at ? "before" : "after"), join);
};

/** Marks with which a title can end. */
const CLOSING: ReadonlySet<string> = new Set([")", '"', "”", "“", "'", "%", "+", "!", "?", "″", "»", "]"]);

/** Words of at most this many letters are abbreviations before a full stop inside a sentence: "120 Stk.", "8 pers.". */
const ABBREVIATED = 5;

const endsAbbreviation = (tokens: readonly Token[], at: number): boolean => {
  const word = tokens[at - 1];
  if (tokens[at]?.text !== "." || tokens[at]?.gap !== "none" || word?.kind !== "word") return false;
  return word.text.length <= ABBREVIATED && tokens[at + 1]?.opens !== true;
};

/** The tokens after which a title that begins at `from` can end, as the token after its last one. */
const endsOf = ({ scene, roleAt, leadsAt }: Prepared, from: number): number[] => {
  const { tokens } = scene;
  const start = tokens[from]?.start ?? 0;
  const ends: number[] = [];
  for (let to = from + 1; to <= tokens.length; to++) {
    const last = tokens[to - 1];
    if (last === undefined || last.end - start > LONGEST) break;
    const role = roleAt[to - 1] ?? 0;
    // No title goes on beyond the price, the place or a contact.
    if (role >= 2 && role <= 4) break;
    if (to > from + 1 && last.gap === "line") break;
    const next = tokens[to];
    // "Garden tools near" is the stump of "Garden tools near Leeds".
    if ((roleAt[to] ?? 0) >= 4 && leadsAt[to - 1] === 1) continue;
    if (last.kind === "mark" && !CLOSING.has(last.text) && !endsAbbreviation(tokens, to - 1)) continue;
    // A word is not cut: "128gb", "T-Shirt", "1.6".
    if (next !== undefined && next.gap === "none") {
      if (next.kind !== "mark") continue;
      const beyond = tokens[to + 1];
      if (beyond?.gap === "none" && beyond.kind !== "mark" && JOINTS.has(next.text)) continue;
    }
    ends.push(to);
  }
  return ends;
};

/** Adds the features of a title of the tokens from `from` to `to`. */
const addEndFeatures = (features: Features, prepared: Prepared, from: number, to: number): void => {
  const { scene, first, last: lastOf, thingAt, thingsBefore, kindAt, roleAt, sentence } = prepared;
  const { tokens, cues, isAsk } = scene;
  const final = tokens[to - 1];
  const next = tokens[to];
  if (final === undefined) return;
  const closes = lastOf[to - 1] ?? tokens.length;
  const word = wordAt(prepared, to - 1);
  const after = to >= closes ? END : wordAt(prepared, to);
  const opens = joinOf(prepared, from);
  // What follows: a mark, a role, or a word of some shape.
  const role = roleAt[to] ?? 0;
  const follows =
    next === undefined
      ? END
      : role > 0
        ? (NEXT_ROLE[role] as Term)
        : next.gap === "line"
          ? B("line")
          : to >= closes
            ? B("sentence")
            : next.kind === "mark"
              ? B(`mark-${next.gap}`)
              : lettersOf(next);
  features.add(T.follows, follows);
  features.add(T.follows, follows, lettersOf(final));
  features.add(T.follows, follows, opens);
  features.add(T.last, word);
  features.add(T.last, word, follows);
  if (to - 2 >= from) features.add(T.lastBut, wordAt(prepared, to - 2), word);
  else features.add(T.lastBut, START, word);
  features.add(T.after1, after);
  features.add(T.pairAfter, word, after);
  if (after !== END) {
    features.add(T.after2, to + 1 >= closes ? END : wordAt(prepared, to + 1));
    features.add(T.after2, after, to + 1 >= closes ? END : wordAt(prepared, to + 1));
    if (next?.kind === "mark" && tokens[to + 1] !== undefined) {
      features.add(T.marks, after, lettersOf(tokens[to + 1]));
      const beyond = roleAt[to + 1] ?? 0;
      if (beyond > 0) features.add(T.marks, after, NEXT_ROLE[beyond] as Term);
    }
  }
  features.add(T.letters, lettersOf(final), lettersOf(next));
  // The things that it names.
  const inside = (thingsBefore[to] ?? 0) - (thingsBefore[from] ?? 0);
  const state = B(`${Math.min(inside, 3)}${thingAt[to] === 2 ? "cut" : ""}`);
  features.add(T.inside, state, follows);
  features.add(T.inside, state);
  const endsThing = (thingAt[to - 1] ?? 0) > 0 && thingAt[to] !== 2;
  if (endsThing) features.add(T.thing, follows);
  if ((thingAt[to] ?? 0) === 1) features.add(T.thing, B("next"));
  const named = Math.min((prepared.namedBefore[to] ?? 0) - (prepared.namedBefore[from] ?? 0), 2);
  const naming = B(`${named}${prepared.namedAt[to] === 2 ? "cut" : ""}`);
  features.add(T.named, naming, follows);
  features.add(
    T.named,
    naming,
    B((prepared.nextNamed[to] ?? 0) < closes ? Math.min((prepared.nextNamed[to] ?? 0) - to, 4) : 9),
  );
  const ahead = (prepared.nextThing[to] ?? 0) < closes ? Math.min((prepared.nextThing[to] ?? 0) - to, 6) : 9;
  features.add(T.thing, B(`ahead${ahead}`), state);
  if ((kindAt[to] ?? 0) > 0) features.add(T.kind, B(`next${kindAt[to]}`));
  if ((kindAt[to - 1] ?? 0) > 0) features.add(T.kind, B("last"), state);
  for (let index = prepared.cueFrom[Math.max(0, to - 4)] ?? 0; index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > to + 1) break;
    if (cue.from === to) features.add(T.cue, cue.concept, B("here"));
    else if (cue.from === to + 1) features.add(T.cue, cue.concept, B("next"));
    else if (cue.to === to) features.add(T.cue, cue.concept, B("last"));
  }
  // Its length.
  let words = 0;
  let digits = 0;
  let commas = 0;
  let depth = 0;
  let capitals = 0;
  let smalls = 0;
  for (let at = from; at < to; at++) {
    const token = tokens[at] as Token;
    if (token.kind === "word") {
      words++;
      if (token.capital) capitals++;
      else smalls++;
    } else if (token.kind === "digits") digits++;
    else if (token.text === ",") commas++;
    else if (token.text === "(") depth++;
    else if (token.text === ")") depth--;
  }
  const width = B(grown(words + digits));
  features.add(T.width, width);
  features.add(T.width, width, follows);
  features.add(T.width, width, state);
  features.add(T.width, width, opens);
  features.add(T.size, B(Math.floor((final.end - (tokens[from]?.start ?? 0)) / 12)));
  features.add(T.marks, B("commas"), B(Math.min(commas, 3)));
  features.add(T.marks, B("sentences"), B(Math.min((sentence[to - 1] ?? 0) - (sentence[from] ?? 0), 2)));
  features.add(T.bracket, B(Math.sign(depth)), follows);
  features.add(
    T.letters,
    B(digits > 0 ? "digits" : "words"),
    B(capitals === 0 ? "small" : smalls === 0 ? "capital" : "both"),
  );
  features.add(T.rest, B(grown(closes - to)), B(first[from] === from ? "opens" : "within"));
  if (to === closes) features.add(T.rest, B("all"), first[from] === from ? width : NONE);
  features.add(T.ask, B(isAsk ? "ask" : "offer"), after);
};

/** The examples that a labelled text gives for the two models: there is none if its title is not among the candidates. */
export const titleExamples = (
  scene: TitleText,
  marks: readonly Mark[],
): Record<(typeof TITLE_MODELS)[number], Ranked[]> => {
  const mark = marks.find(({ role }) => role === "title");
  const title = mark === undefined ? null : rangeOf(scene.tokens, mark);
  if (title === null) return { title_begin: [], title_end: [] };
  const prepared = prepare(scene);
  const begins = beginsOf(prepared);
  const ends = endsOf(prepared, title.from);
  const judge = (
    candidates: readonly number[],
    right: number,
    add: (features: Features, at: number) => void,
  ): Ranked[] =>
    right < 0
      ? []
      : [
          {
            candidates: candidates.map((at) => {
              const features = createFeatures(true);
              add(features, at);
              return features;
            }),
            right,
          },
        ];
  return {
    title_begin: judge(begins, begins.indexOf(title.from), (features, at) => addBeginFeatures(features, prepared, at)),
    title_end: judge(ends, ends.indexOf(title.to), (features, at) =>
      addEndFeatures(features, prepared, title.from, at),
    ),
  };
};

/** The title of a text: the words, with single spaces, and where they stand. */
export type FoundTitle = Range & { title: string; span: Span; confidence: number };

/**
 * What the probabilities do not say, as logarithms that are added to them. The labels mark the most precise words of a
 * text as its title, also where a shorter clause before them names the thing as well; a headline that does not name the
 * thing is worse than one that leaves out a detail. The values gave the best titles of the texts in test/eval/texts.
 */
const TUNING = {
  /** Of two ends of which the longer one is at most this less probable, the longer one says more. */
  longer: 1,
  /** Of two beginnings in one clause of which the earlier one is at most this less probable, the earlier one does. */
  earlier: 1,
  /** The title is in the first sentence. */
  opening: 0.5,
  /** The title is at the beginning of the text. */
  first: 1.25,
  /** The title contains the first term of the lexicon that names a thing of the category. */
  naming: 1,
};

const features = createFeatures(false);

const rank = (model: Model, candidates: readonly number[], add: (at: number) => void): Float64Array =>
  chances(
    candidates.map((at) => {
      features.clear();
      add(at);
      return model.score(features);
    }),
  );

/** The first beginning in the clause of the one at `index` that is nearly as probable. */
const earlier = ({ clauseEnd }: Prepared, begins: readonly number[], likely: Float64Array, index: number): number => {
  const end = clauseEnd[begins[index] ?? 0];
  const least = (likely[index] ?? 0) * Math.exp(-TUNING.earlier);
  let first = index;
  for (let one = index - 1; one >= 0 && clauseEnd[begins[one] ?? 0] === end; one--)
    if ((likely[one] ?? 0) >= least) first = one;
  return first;
};

/** Finds the title of a text with trained models, null for a text in which no word can be one. */
export const findTitle = (scene: TitleText, models: TitleModels): FoundTitle | null => {
  const prepared = prepare(scene);
  const begins = beginsOf(prepared);
  const likely = rank(models.title_begin, begins, (at) => addBeginFeatures(features, prepared, at));
  const tried = [...begins.keys()]
    .sort((one, other) => (likely[other] ?? 0) - (likely[one] ?? 0))
    .slice(0, BEGINS_TRIED)
    .map((index) => begins[earlier(prepared, begins, likely, index)] ?? 0);
  const naming = scene.named[0];
  let best: Range | null = null;
  let most = Number.NEGATIVE_INFINITY;
  let confidence = 0;
  for (const from of new Set(tried)) {
    const chance = likely[begins.indexOf(from)] ?? 0;
    const ends = endsOf(prepared, from);
    const probable = rank(models.title_end, ends, (to) => addEndFeatures(features, prepared, from, to));
    let top = 0;
    for (let at = 0; at < ends.length; at++) top = Math.max(top, probable[at] ?? 0);
    const least = top * Math.exp(-TUNING.longer);
    const to = ends.findLast((_, at) => (probable[at] ?? 0) >= least);
    if (to === undefined) continue;
    const names = naming !== undefined && naming.from >= from && naming.to <= to;
    const score =
      Math.log(chance * top) +
      (prepared.sentence[from] === 0 ? TUNING.opening : 0) +
      (from === 0 ? TUNING.first : 0) +
      (names ? TUNING.naming : 0);
    if (score <= most) continue;
    most = score;
    confidence = chance * top;
    best = { from, to };
  }
  if (best === null) return null;
  const span = { start: scene.tokens[best.from]?.start ?? 0, end: scene.tokens[best.to - 1]?.end ?? 0 };
  const title = scene.text.slice(span.start, span.end).replace(/\s+/gu, " ");
  return { ...best, span, title, confidence };
};
