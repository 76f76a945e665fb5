import { findHaggling } from "../propose/haggling.ts";
import { type Amount, findMoney } from "../propose/money.ts";
import { type UnitWords, unitAfter, unitBefore } from "../propose/units.ts";
import type { Cue } from "../text/cues.ts";
import type { Token } from "../text/tokens.ts";
import { addContext, distance, partOf, type Range, type Scene, termOf } from "./context.ts";
import { bucket, type Features, type Term, term } from "./features.ts";

/**
 * The passages of a text that may state its price, and their features: what stands in and around each, and how it
 * compares with the others.
 */

/** A candidate: an amount, with the unit that it is for, or the words of a statement. */
export type PriceCandidate = Range & { amount: Amount | null; unit: UnitWords | null };

/** The concepts of cues that may state the price without an amount. */
const STATEMENTS: ReadonlySet<string> = new Set(["price_given", "price_free", "price_open", "price_exchange"]);

/** The candidates of a text, in order. */
export const priceCandidates = (scene: Scene, isHidden: (at: number) => boolean): PriceCandidate[] => {
  let taken = 0;
  const amounts = findMoney(scene.tokens, isHidden).map((amount): PriceCandidate => {
    const { from, to } = amount;
    const isMoney = amount.marker !== null && scene.tokens[to - 1]?.kind !== "digits";
    const unit = unitAfter(scene, to, isMoney) ?? unitBefore(scene, from, taken);
    // A bare number is mostly no price, so it takes no unit from the next one.
    if (amount.marker !== null || unit !== null) taken = Math.max(to, unit?.to ?? to);
    return { from, to, amount, unit };
  });
  // Cues are in the order in which they begin, so one is inside an earlier one if that ends later.
  let end = 0;
  const statements: PriceCandidate[] = [];
  for (const { concept, from, to } of scene.cues) {
    if (!STATEMENTS.has(concept.text) || isHidden(from) || to <= end) continue;
    // "Sugar-free" does not say what a thing costs.
    if (scene.tokens[from]?.gap === "none" && scene.tokens[from - 1]?.text === "-") continue;
    end = to;
    statements.push({ from, to, amount: null, unit: null });
  }
  // Without a sum, words for haggling may be all that is said of the price: "Preis VB".
  const isStated = (at: number): boolean => statements.some(({ from, to }) => at >= from && at < to);
  if (!amounts.some(({ amount }) => amount !== null && (amount.marker !== null || amount.sum)))
    for (const { from, to, isOffer, isRefused } of findHaggling(scene.tokens))
      if (!isOffer && !isRefused && !isHidden(from) && !isStated(from))
        statements.push({ from, to, amount: null, unit: null });
  return [...amounts, ...statements].sort((one, other) => one.from - other.from || other.to - one.to);
};

const T = {
  ask: term("ask"),
  type: term("type"),
  marker: term("marker"),
  magnitude: term("magnitude"),
  shape: term("shape"),
  order: term("order"),
  money: term("money"),
  unit: term("unit"),
  rival: term("rival"),
  only: term("only"),
  inside: term("inside"),
  previous: term("previous"),
  following: term("following"),
  per: term("per"),
  haggling: term("haggling"),
  text: term("text"),
  topic: term("topic"),
  unitAfter: term("unit-after"),
  unitBefore: term("unit-before"),
  opening: term("opening"),
} as const;

const B = (value: string | number): Term => bucket(value);

const markerOf = (amount: Amount | null): Term => {
  if (amount === null) return B("statement");
  const { marker, sum } = amount;
  return B(marker === null ? (sum ? "sum" : "bare") : marker === "," ? "dash" : "money");
};

/** The order of magnitude of an amount, in steps of half a power of ten. */
const magnitudeOf = (value: number): number => (value <= 0 ? -1 : Math.floor(Math.log10(value) * 2));

const shapeOf = ({ value, spoken, max }: Amount): string[] => {
  const shapes = [];
  if (spoken) shapes.push("spoken");
  if (max !== null) shapes.push("range");
  if (value >= 1900 && value < 2100 && Number.isInteger(value)) shapes.push("year");
  if (!Number.isInteger(value)) shapes.push("fraction");
  else if (value >= 100 && value % 100 === 0) shapes.push("hundreds");
  else if (value % 10 === 0) shapes.push("tens");
  else if (value % 5 === 0) shapes.push("fives");
  else if (value % 10 === 9) shapes.push("nine");
  else shapes.push("odd");
  return shapes;
};

/** How many of the first and last candidates are told apart by their number. */
const COUNTED = 4;
const count = (value: number): number => Math.min(value, COUNTED);

const isMoney = ({ amount }: PriceCandidate): boolean => amount === null || amount.marker !== null || amount.sum;

/** The candidates of a text, and what is compared between them. */
export type Rivals = {
  candidates: readonly PriceCandidate[];
  /** The candidates with a currency, and the place of each among them. */
  money: readonly PriceCandidate[];
  places: ReadonlyMap<PriceCandidate, number>;
  most: number;
  least: number;
  /** How many candidates are amounts. */
  amounts: number;
  /** The candidates that are money, and how many of them stand before each candidate. */
  sums: readonly PriceCandidate[];
  sumsBefore: Int32Array;
};

export const rivalsOf = (candidates: readonly PriceCandidate[]): Rivals => {
  const money = candidates.filter(({ amount }) => amount !== null && amount.marker !== null);
  let most = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const { amount } of money) {
    most = Math.max(most, amount?.value ?? 0);
    least = Math.min(least, amount?.value ?? 0);
  }
  const sums: PriceCandidate[] = [];
  const sumsBefore = Int32Array.from(candidates, (one) => (isMoney(one) ? sums.push(one) - 1 : sums.length));
  return {
    candidates,
    money,
    places: new Map(money.map((one, place) => [one, place])),
    most,
    least,
    amounts: candidates.filter(({ amount }) => amount !== null).length,
    sums,
    sumsBefore,
  };
};

/** "1 200" is proposed as one number and as two: candidates that overlap stand next to each other in the list. */
const OVERLAPPING = 3;

/** Adds the features of the candidate at `index`. */
export const addPriceFeatures = (
  features: Features,
  scene: Scene,
  rivals: Rivals,
  index: number,
  isAsk: boolean,
): void => {
  const { candidates, money, places, most, least, amounts, sums, sumsBefore } = rivals;
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const { tokens } = scene;
  const { from, to, amount } = candidate;
  // Words beyond another sum are probably about that sum. A bare number is mostly none.
  let before = (sumsBefore[index] ?? 0) - 1;
  while (before >= 0 && (sums[before]?.to ?? 0) > from) before--;
  let behind = sumsBefore[index] ?? 0;
  while (behind < sums.length && (sums[behind]?.from ?? to) < to) behind++;
  const marker = markerOf(amount);
  // What is said around a sum means something else in an ask: "up to", "budget", "I earn".
  const state = isAsk ? B(`${marker.text}-asked`) : marker;
  addContext(features, scene, candidate, { previous: sums[before], next: sums[behind], states: [state] });
  if (amount === null) {
    features.add(T.type, B("statement"));
    for (let at = from; at < to; at++) features.add(T.inside, termOf(tokens[at] as (typeof tokens)[number]));
    features.add(T.money, B(count(money.length)));
    return;
  }
  const magnitude = B(magnitudeOf(amount.value));
  const close = candidates.slice(Math.max(0, index - OVERLAPPING), index + OVERLAPPING + 1);
  const around = close.some((one) => one !== candidate && one.from <= from && one.to >= to);
  const within = close.some((one) => one !== candidate && one.from >= from && one.to <= to);
  if (around || within) features.add(T.shape, B(around ? "part" : "whole"), marker);
  features.add(T.marker, marker);
  features.add(T.marker, marker, magnitude);
  for (const shape of shapeOf(amount)) features.add(T.shape, B(shape), marker);
  // The unit directly after the number ("128gb"), and the word before it ("iPhone 13").
  const after = tokens[to];
  if (after !== undefined) features.add(T.unit, termOf(after), B(after.gap));
  const word = tokens[from - 1];
  if (word !== undefined) {
    features.add(T.type, B(word.kind), B(`${word.capital ? "capital" : "small"}-${tokens[from]?.gap}`));
  }
  // Its place among the sums of money, and among all numbers.
  const place = places.get(candidate) ?? -1;
  features.add(T.money, B(count(money.length)), marker);
  if (place >= 0) {
    features.add(T.order, B(count(place)), B(count(money.length - 1 - place)));
    if (money.length > 1) {
      features.add(
        T.rival,
        B(amount.value === most ? "most" : amount.value === least ? "least" : "between"),
        B(count(money.length)),
      );
      features.add(T.rival, B("of-most"), B(Math.round(Math.log2(most / Math.max(amount.value, 0.01)))));
    }
    for (const [template, neighbour] of [
      [T.previous, money[place - 1]],
      [T.following, money[place + 1]],
    ] as const) {
      if (neighbour === undefined) continue;
      const value = neighbour.amount?.value ?? 0;
      const sign = value > amount.value ? "higher" : value < amount.value ? "lower" : "same";
      features.add(template, B(sign));
      features.add(
        template,
        B("apart"),
        B(Math.min(3, Math.floor(Math.log2(1 + Math.abs(neighbour.from - from) / 4)))),
      );
    }
  } else if (money.length === 0) {
    features.add(T.only, B(count(amounts)), magnitude);
    features.add(T.order, B(`bare${count(index)}`), B(count(candidates.length - 1 - index)));
  }
  features.add(T.per, B(candidate.unit?.unit ?? "whole"), marker);
  features.add(T.text, partOf(scene, candidate));
  if (isAsk) features.add(T.ask, marker, magnitude);
};

/** The features of how a price is to be understood: its period, and whether it is negotiable or only the lowest. */
export const addTermsFeatures = (features: Features, scene: Scene, chosen: PriceCandidate): void => {
  const { tokens, cues } = scene;
  addContext(features, scene, chosen, {});
  const { amount, from, unit } = chosen;
  const to = Math.max(chosen.to, unit?.to ?? 0);
  const value = amount === null ? B("statement") : B(magnitudeOf(amount.value));
  features.add(T.magnitude, value);
  features.add(T.marker, markerOf(amount));
  for (let at = from; at < chosen.to; at++) features.add(T.inside, termOf(tokens[at] as Token));
  for (const topic of scene.topics) {
    features.add(T.topic, topic);
    features.add(T.topic, topic, value);
    features.add(T.topic, B(topic.text.split("/")[0] ?? ""), value);
  }
  // What the text is about decides what a bare amount means: a flat is paid by the month.
  for (const token of tokens.slice(0, OPENING)) if (token.kind === "word") features.add(T.opening, termOf(token));
  const seen = new Set<Term>();
  for (const { concept } of cues) {
    if (seen.has(concept)) continue;
    seen.add(concept);
    features.add(T.text, concept);
  }
  for (const { isOffer, isRefused } of findHaggling(tokens))
    features.add(T.haggling, B(isRefused ? "refused" : isOffer ? "offer" : "open"));
  // The nearest unit of time on each side, with no other number between.
  const units = cues.filter((cue) => cue.concept.text.startsWith("per_"));
  const isBetween = (one: number, other: number): boolean =>
    tokens.slice(one, other).some((token) => token.kind === "digits");
  const after = units.find((cue) => cue.from >= to);
  if (after !== undefined && !isBetween(to, after.from)) addUnit(features, scene, T.unitAfter, after, after.from - to);
  const before = units.findLast((cue) => cue.to <= from);
  if (before !== undefined && !isBetween(before.to, from))
    addUnit(features, scene, T.unitBefore, before, from - before.to);
};

/** Adds the features of a unit of time beside an amount. */
const addUnit = (
  features: Features,
  { tokens }: Scene,
  template: Term,
  { concept, from }: Cue,
  apart: number,
): void => {
  const word = tokens[from - 1];
  features.add(template, concept);
  features.add(template, concept, distance(apart));
  if (word !== undefined) features.add(template, concept, termOf(word));
};

/** The first words of a text say what it is about. In tokens. */
const OPENING = 12;
