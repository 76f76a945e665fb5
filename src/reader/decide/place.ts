import { caseOf, type KnownPlace, type PlaceText, proposePlaces } from "../propose/place_spans.ts";
import { type Span, spanOf } from "../text/span.ts";
import type { Token } from "../text/tokens.ts";
import type { Ranked, Training } from "../training/linear.ts";
import type { Mark } from "../training/marks.ts";
import { addContext, partOf, type Range, termOf } from "./context.ts";
import { bucket, createFeatures, type Features, type Term, term } from "./features.ts";
import { chances, type Model } from "./model.ts";

/**
 * Judges which passage of a text names the place of what is offered or wanted. A ranker gives each passage that can be
 * a place (propose/place_spans.ts) a score; the score of "no place" is 0.
 */

/** The names of the models. */
export const PLACE_MODELS = ["place"] as const;
export type PlaceModels = Readonly<Record<(typeof PLACE_MODELS)[number], Model>>;

const T = {
  known: term("known"),
  size: term("size"),
  knownOrder: term("known-order"),
  partly: term("partly-known"),
  rivals: term("rivals"),
  shape: term("shape"),
  width: term("width"),
  word: term("word"),
  opening: term("opening"),
  ending: term("ending"),
  suffix: term("suffix"),
  thing: term("thing"),
  letters: term("letters"),
  beside: term("beside"),
  longer: term("longer"),
  position: term("position-known"),
} as const;

const B = bucket;

/** The concepts of cues that say something about places. */
const CONCEPTS = /^(?:place_|contact_label|contact_call|contact_request|contact_sms|measure|clock|order_)/;
/** Cues up to this distance are features. In tokens. */
const REACH = 7;

/** What these stand for says more than their words. */
const SUM = bucket("<sum>");
const CONTACT = bucket("<contact>");
const PLACE = bucket("<place>");

const MOST = 4;
const few = (count: number): number => Math.min(count, MOST);

/** The last three and four letters of a word: "-gen", "-ngen". */
const suffixesOf = ({ text }: Token): Term[] =>
  [3, 4].flatMap((length) => (text.length > length ? term(`-${text.slice(-length)}`) : []));

/** What is computed once for a text. */
type Prepared = {
  /** The text with the cues that matter. */
  scene: PlaceText;
  letters: Term;
  /** Of each token: 1 + the index of the known place that covers it. */
  knownAt: Int32Array;
  thingAt: Uint8Array;
  sumAt: Uint8Array;
  /** How many known places, countries aside, begin before each token. */
  placesBefore: Int32Array;
  candidates: readonly Range[];
};

const prepare = (scene: PlaceText): Prepared => {
  const { tokens, known, things, sums } = scene;
  const knownAt = new Int32Array(tokens.length + 1);
  known.forEach(({ from, to }, index) => {
    knownAt.fill(index + 1, from, to);
  });
  const thingAt = new Uint8Array(tokens.length + 1);
  for (const { from, to } of things) thingAt.fill(1, from, to);
  const sumAt = new Uint8Array(tokens.length + 1);
  for (const { from, to } of sums) sumAt.fill(1, from, to);
  const cues = scene.cues.filter(({ concept }) => CONCEPTS.test(concept.text));
  const placesBefore = new Int32Array(tokens.length + 1);
  for (let at = 0, place = 0, count = 0; at <= tokens.length; at++) {
    for (; place < known.length && (known[place]?.from ?? 0) < at; place++)
      if (known[place]?.kind !== "country") count++;
    placesBefore[at] = count;
  }
  const letters = B(caseOf(scene.text, tokens));
  const candidates = proposePlaces(scene);
  return { scene: { ...scene, cues }, letters, knownAt, thingAt, sumAt, placesBefore, candidates };
};

const kindOf = ({ kind, form }: KnownPlace): Term => B(`${kind}-${form}`);
const NOT_KNOWN = B("unknown");
const NONE = B("none");

/** The sign of a token in the shape of a name: a capital or small letter, a known place, digits, a mark. */
const signOf = ({ scene, knownAt }: Prepared, at: number): string => {
  const token = scene.tokens[at];
  if (token === undefined) return "";
  if (token.kind === "digits") return token.text.length >= 4 ? "p" : "9";
  if (token.kind === "mark") return /^[-,(/]$/.test(token.text) ? token.text : ".";
  const raw = scene.text.slice(token.start, token.end);
  if (token.text.length <= 3 && token.capital && raw === raw.toUpperCase()) return "S";
  return knownAt[at] !== 0 ? "k" : token.capital ? "C" : "c";
};
/** The signs of at most so many tokens make the shape. */
const MAX_SIGNS = 5;

/** Adds the features of the candidate at `index`. */
const addPlaceFeatures = (features: Features, prepared: Prepared, index: number): void => {
  const { scene, candidates, knownAt, thingAt, sumAt, letters } = prepared;
  const { tokens, known, isHidden } = scene;
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const { from, to } = candidate;

  // What is known of the name.
  let covered = 0;
  let firstKnown = NOT_KNOWN;
  let exact = NOT_KNOWN;
  for (let at = from; at < to; at++) if (knownAt[at] !== 0) covered++;
  for (let at = from; at < to; at++) {
    const hit = known[(knownAt[at] ?? 0) - 1];
    if (hit === undefined) continue;
    firstKnown = kindOf(hit);
    features.add(T.size, B(Math.floor(hit.weight)), hit.from === from && hit.to === to ? firstKnown : NONE);
    if (hit.from === from && hit.to === to) exact = firstKnown;
    break;
  }
  const cut = known[(knownAt[from] ?? 0) - 1];
  const cutEnd = known[(knownAt[to - 1] ?? 0) - 1];
  const isCut = (cut !== undefined && cut.from < from) || (cutEnd !== undefined && cutEnd.to > to);
  const state = exact !== NOT_KNOWN ? exact : firstKnown;
  const grade = B(isCut ? "cut" : exact !== NOT_KNOWN ? "exact" : covered > 0 ? "partly" : "unknown");
  features.add(T.known, exact, letters);
  features.add(T.known, grade);
  features.add(T.partly, firstKnown, grade);

  // Its shape and its words.
  let signs = "";
  for (let at = from; at < Math.min(to, from + MAX_SIGNS); at++) signs += signOf(prepared, at);
  const shape = B(signs);
  features.add(T.shape, shape, letters);
  features.add(T.width, B(Math.min(to - from, 6)), grade);
  const opening = tokens[from] as Token;
  const ending = tokens[to - 1] as Token;
  for (let at = from; at < to; at++) {
    const token = tokens[at] as Token;
    if (token.kind === "word") features.add(T.word, termOf(token));
  }
  features.add(T.opening, termOf(opening));
  features.add(T.ending, termOf(ending));
  if (ending.kind === "word") for (const suffix of suffixesOf(ending)) features.add(T.suffix, suffix);
  let things = 0;
  for (let at = from; at < to; at++) things += thingAt[at] ?? 0;
  if (things > 0) features.add(T.thing, B(things === to - from ? "all" : "some"), grade);

  const standsFor = (at: number): Term | null => {
    if (tokens[at] !== undefined && isHidden(at)) return CONTACT;
    if (sumAt[at] === 1) return SUM;
    return (knownAt[at] ?? 0) !== 0 && knownAt[from] !== knownAt[at] ? PLACE : null;
  };
  const size = opening.capital ? letters : B(`small-${letters.text}`);
  addContext(features, scene, candidate, {
    standsFor,
    states: [grade, size, state, shape],
    reach: REACH,
  });

  // Its place in the text, and the other candidates.
  features.add(T.position, partOf(scene, candidate), grade);
  const order = prepared.placesBefore[from] ?? 0;
  const others = order + (prepared.placesBefore[tokens.length] ?? 0) - (prepared.placesBefore[to] ?? 0);
  features.add(T.knownOrder, B(few(order)), grade);
  features.add(T.rivals, B(few(others)), grade);
  // Another candidate goes on where this one ends, or begins before it.
  const left = candidates[index - 1];
  let wider = 0;
  for (let at = index + 1; at < candidates.length && candidates[at]?.from === from; at++) wider++;
  features.add(T.longer, B(few(wider)), grade);
  if (left !== undefined && left.to > from && left.from < from) features.add(T.longer, B("tail"), grade);
  const hitBefore = known[(knownAt[from - 1] ?? 0) - 1];
  const hitAfter = known[(knownAt[to] ?? 0) - 1];
  if (hitBefore !== undefined) features.add(T.beside, B("before"), grade);
  if (hitAfter !== undefined) features.add(T.beside, B("after"), grade);
  if (tokens[to]?.text === "," && known[(knownAt[to + 1] ?? 0) - 1] !== undefined)
    features.add(T.beside, B("comma-after"), grade);
  if (tokens[from - 1]?.text === "," && knownAt[from - 2] !== 0 && from > 1)
    features.add(T.beside, B("comma-before"), grade);
};

/** The tokens that a span covers, or null if it covers none. */
export const rangeOf = (tokens: readonly Token[], { start, end }: Span): Range | null => {
  let from = 0;
  while (from < tokens.length && (tokens[from]?.end ?? 0) <= start) from++;
  let to = from;
  while (to < tokens.length && (tokens[to]?.start ?? end) < end) to++;
  return to > from ? { from, to } : null;
};

/** What may stand between two marked parts of one place. */
const BETWEEN = /^(?:,?\s*|\s*[(/–-]\s*)$/u;

/** The places that are marked in a text; adjacent ones are one. */
const markedPlaces = (text: string, marks: readonly Mark[]): Span[] => {
  const places: Span[] = [];
  for (const { role, start, end } of marks) {
    if (role !== "place") continue;
    const last = places.at(-1);
    if (last !== undefined && BETWEEN.test(text.slice(last.end, start))) last.end = end;
    else places.push({ start, end });
  }
  return places;
};

/** A candidate that shares less of its tokens with the marked place is another one. */
const MIN_SHARE = 0.4;

/** One of so many labelled texts is also an example without its place. More of them cost places in other texts. */
const WITHOUT_PLACE = 8;

/** How the model is trained: the settings with the best results on held-out texts. */
export const PLACE_TRAINING: Training = { passes: 12, rate: 0.05, leastExamples: 3 };

/**
 * The examples that a labelled text gives for the model. There is none if its place is not among the candidates. Few
 * labelled texts name no place, so some of them are also examples without their place.
 * @param marks the marks of the text
 */
export const placeExamples = (scene: PlaceText, marks: readonly Mark[]): Ranked[] => {
  const prepared = prepare(scene);
  const { candidates } = prepared;
  const places = markedPlaces(scene.text, marks).flatMap((span) => rangeOf(scene.tokens, span) ?? []);
  const [main, ...others] = places;
  let right = -1;
  if (main !== undefined) {
    let most = MIN_SHARE;
    candidates.forEach(({ from, to }, index) => {
      const shared = Math.min(to, main.to) - Math.max(from, main.from);
      const share = shared / (Math.max(to, main.to) - Math.min(from, main.from));
      if (share <= most) return;
      most = share;
      right = index;
    });
    if (right < 0) return [];
  }
  const judged = candidates.map((_, index) => {
    const features = createFeatures(true);
    addPlaceFeatures(features, prepared, index);
    return features;
  });
  const isPlace = ({ from, to }: Range): boolean => places.some((place) => from < place.to && place.from < to);
  // The other places of the text are right, too.
  const isOther = ({ from, to }: Range): boolean => others.some((other) => from < other.to && other.from < to);
  const kept = [...candidates.keys()].filter((index) => index === right || !isOther(candidates[index] as Range));
  const pick = (index: number): Ranked["candidates"][number] => judged[index] as Features;
  const examples: Ranked[] = [{ candidates: kept.map(pick), right: kept.indexOf(right) }];
  const rest = [...candidates.keys()].filter((index) => !isPlace(candidates[index] as Range));
  if (right >= 0 && rest.length > 0 && scene.text.length % WITHOUT_PLACE === 0)
    examples.push({ candidates: rest.map(pick), right: -1 });
  return examples;
};

/** The place of a text. */
type FoundPlace = Range & {
  span: Span;
  /** The probability that the passage, in this or another extent, is the place. */
  confidence: number;
};

/** Where a text says that its thing is. `remote`: the words that say that the work is done from afar. */
export type Location = { place: FoundPlace | null; remote: Span | null };

/** Less probable candidates do not count. */
const MIN_CHANCE = 0.01;

const REMOTE = "place_remote";

const features = createFeatures(false);

/** Finds the place of a text with a trained model. */
export const findLocation = (scene: PlaceText, { place: model }: PlaceModels): Location => {
  const prepared = prepare(scene);
  const { candidates } = prepared;
  const scores = candidates.map((_, index) => {
    features.clear();
    addPlaceFeatures(features, prepared, index);
    return model.score(features);
  });
  const probable = chances(scores);
  const none = probable[candidates.length] ?? 1;
  // Candidates of different extent are one place: their chances add up.
  const likely = [...candidates.keys()].filter((index) => (probable[index] ?? 0) > MIN_CHANCE);
  let best: FoundPlace | null = null;
  let most = none;
  for (const index of likely) {
    const { from, to } = candidates[index] as Range;
    let sum = 0;
    let highest = index;
    for (const other of likely) {
      const range = candidates[other] as Range;
      if (range.from >= to || range.to <= from) continue;
      sum += probable[other] ?? 0;
      if ((probable[other] ?? 0) > (probable[highest] ?? 0)) highest = other;
    }
    if (sum <= most + 1e-9 || highest !== index) continue;
    most = sum;
    const span = spanOf(scene.tokens, { from, to });
    best = { from, to, span, confidence: Math.min(sum, 1) };
  }
  const cue = scene.cues.find(({ concept, from }) => concept.text === REMOTE && !scene.isHidden(from));
  return { place: best, remote: cue === undefined ? null : spanOf(scene.tokens, cue) };
};
