import { type Cue, type CueIndex, findCues, firstCueFrom } from "../text/cues.ts";
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
  /** For each token, how many more brackets were opened than closed before it. */
  brackets: Int32Array;
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
  const brackets = new Int32Array(tokens.length + 1);
  tokens.forEach(({ text }, at) => {
    brackets[at + 1] = (brackets[at] ?? 0) + (text === "(" ? 1 : text === ")" ? -1 : 0);
  });
  for (let at = tokens.length - 1; at >= 0; at--)
    ends[at] = at === tokens.length - 1 || tokens[at + 1]?.opens ? at + 1 : (ends[at + 1] ?? 0);
  return { text, tokens, starts, ends, brackets, cues: findCues(tokens, index), topics: [] };
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
const CUE_STATE = term("cue-state");
const BEFORE_STATE = term("before-state");
const AFTER_STATE = term("after-state");
const ALONE = term("alone");
const LINE = term("line");
const BRACKET = term("bracket");

const NUMBER = bucket("#");
const START = bucket("<start>");
const END = bucket("<end>");
const OTHER = bucket("<other>");

/** Words up to this distance are features in no particular order. */
const NEAR = 6;
/** Cues up to this distance are features, also beyond the end of the sentence. In tokens. */
const CUE_REACH = 24;

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

/** How a range is looked at. */
export type View = {
  /** The candidates before and after the range: a cue beyond one of them is probably about that one. */
  previous?: Range | undefined;
  next?: Range | undefined;
  /** What a token is, if that says more than its word: a sum, a contact. Null for an ordinary word. */
  standsFor?: (at: number) => Term | null;
  /** What the range is in itself. What stands around it says something together with this, mostly with the first. */
  states?: readonly Term[];
  /** Cues up to this distance are features, also beyond the end of the sentence. In tokens. */
  reach?: number;
};

/** Adds the features of what stands around a range: words, cues, and its position in line and sentence. */
export const addContext = (
  features: Features,
  scene: Scene,
  { from, to }: Range,
  { previous, next, standsFor = () => null, states = [], reach = CUE_REACH }: View,
): void => {
  const { tokens, cues } = scene;
  const [state] = states;
  const first = sentenceStart(scene, from);
  const last = sentenceEnd(scene, Math.max(from, to - 1));
  const isIn = (at: number, range: Range | undefined): boolean =>
    range !== undefined && at >= range.from && at < range.to;
  const wordAt = (at: number): Term => {
    if (at < first) return START;
    if (at >= last) return END;
    if (isIn(at, previous) || isIn(at, next)) return OTHER;
    return standsFor(at) ?? termOf(tokens[at] as Token);
  };
  for (let away = 0; away < BEFORE.length; away++) {
    if (from - away >= first) features.add(BEFORE[away] as Term, wordAt(from - away - 1));
    if (to + away <= last) features.add(AFTER[away] as Term, wordAt(to + away));
  }
  const [before, after] = [wordAt(from - 1), wordAt(to)];
  if (from - 2 >= first) features.add(PAIR_BEFORE, wordAt(from - 2), before);
  if (to + 1 < last) features.add(PAIR_AFTER, after, wordAt(to + 1));
  features.add(AROUND, before, after);
  if (state !== undefined) {
    features.add(BEFORE_STATE, before, state);
    features.add(AFTER_STATE, after, state);
  }
  for (let at = Math.max(first, from - NEAR); at < Math.min(last, to + NEAR); at++) {
    if ((at >= from - 1 && at <= to) || tokens[at]?.kind !== "word") continue;
    features.add(at < from ? NEAR_BEFORE : NEAR_AFTER, wordAt(at));
  }
  for (let index = firstCueFrom(cues, from - reach); index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > to + reach) break;
    const isBefore = cue.from < from && cue.to <= from;
    if (!isBefore && cue.from < to) features.add(CUE_INSIDE, cue.concept);
    else if (cue.from < first || cue.from >= last) features.add(CUE_NEXT, cue.concept);
    else {
      const past = isBefore
        ? previous !== undefined && cue.to <= previous.from
        : next !== undefined && cue.from >= next.to;
      const template = past ? (isBefore ? CUE_PAST_BEFORE : CUE_PAST_AFTER) : isBefore ? CUE_BEFORE : CUE_AFTER;
      features.add(template, cue.concept, distance(isBefore ? from - cue.to : cue.from - to));
      features.add(template, cue.concept);
      features.add(CUE_SENTENCE, cue.concept);
      if (state !== undefined) features.add(CUE_STATE, cue.concept, state);
    }
  }
  if (states.length > 0) addPosition(features, scene, { from, to }, { standsFor, states });
};

/** An opening bracket farther before a range does not count. In tokens. */
const BRACKET_REACH = 40;

/** In which quarter of a text a range is, or whether it is the first or the last of it. */
export const partOf = ({ tokens }: Scene, { from, to }: Range): Term =>
  bucket(from === 0 ? "first" : to >= tokens.length - 1 ? "last" : Math.floor((4 * from) / tokens.length));

/** Adds whether anything of its sentence and line stands beside a range. */
const addPosition = (
  features: Features,
  scene: Scene,
  { from, to }: Range,
  { standsFor, states }: Required<Pick<View, "standsFor" | "states">>,
): void => {
  const { tokens, brackets } = scene;
  const first = sentenceStart(scene, from);
  const last = sentenceEnd(scene, Math.max(from, to - 1));
  const before = tokens[from - 1];
  const after = tokens[to];
  const opens =
    from === first ? "opens" : standsFor(from - 1) !== null ? "after" : before?.kind === "mark" ? "marked" : "within";
  const isLast = to >= last || (to === last - 1 && after?.kind === "mark");
  const closes = isLast ? "closes" : standsFor(to) !== null ? "before" : after?.kind === "mark" ? "marked" : "goes-on";
  const depth = (brackets[from] ?? 0) - (brackets[Math.max(first, from - BRACKET_REACH)] ?? 0);
  const alone = bucket(`${opens}-${closes}`);
  features.add(ALONE, alone);
  for (const state of states) features.add(ALONE, alone, state);
  const starts = tokens[from]?.gap === "line";
  features.add(
    LINE,
    bucket(starts ? "starts" : "in"),
    bucket(after?.gap === "line" || after === undefined ? "ends" : "goes-on"),
  );
  if (depth > 0) features.add(BRACKET, states[0]);
};
