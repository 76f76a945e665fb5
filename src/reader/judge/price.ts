import type { PriceReason, Weights } from "../extraction.ts";
import { currencyOf, resolveCurrency, withLocalSigns } from "../find/currencies.ts";
import { type Amount, findMoney } from "../find/money.ts";
import type { Cue } from "../text/cues.ts";
import type { Span } from "../text/span.ts";
import type { Token } from "../text/tokens.ts";
import {
  addContext,
  CUE_REACH,
  distance,
  firstCueFrom,
  type Range,
  type Scene,
  sentenceEnd,
  sentenceStart,
  termOf,
} from "./context.ts";
import { bucket, createFeatures, type Features, type Term, term } from "./features.ts";
import { type Judged, learn, learnRanker, type Ranked, type Training } from "./learn.ts";
import type { Mark } from "./marks.ts";
import { chances, type Model } from "./model.ts";

/**
 * Judges which passage of a text states the price. Candidates are all numbers, and words such as "free" and "offers
 * invited"; for each, a model gives the probability of each role. The most probable price is the price.
 */

/** The unit of time of a price; `project` is a fixed sum for a whole job. */
type Period = "hour" | "day" | "week" | "month" | "year" | "project";

/** A candidate: an amount, or the words of a statement. */
type PriceCandidate = Range & { amount: Amount | null };

/** The models of this judge: which candidate is the price; what the other sums are; how the price is to be understood. */
export const PRICE_MODELS = ["price", "sum", "price_period", "price_type"] as const;
/** The models, ready for use. */
export type PriceModels = Readonly<Record<(typeof PRICE_MODELS)[number], Model>>;

/** How the models are trained. */
const PRICE_TRAINING: Training = { passes: 24, rate: 0.03, leastUnits: 1 };

/** The concepts of cues that may state the price without an amount. */
const STATEMENTS: ReadonlySet<string> = new Set(["price_given", "price_free", "price_open", "price_exchange"]);

/** The candidates of a text, in order. */
const priceCandidates = (scene: Scene, isHidden: (at: number) => boolean): PriceCandidate[] => {
  const amounts = findMoney(scene.tokens, isHidden).map((amount) => ({ from: amount.from, to: amount.to, amount }));
  const statements = scene.cues
    .filter((cue) => STATEMENTS.has(cue.concept.text) && !isHidden(cue.from))
    .map(({ from, to }) => ({ from, to, amount: null }))
    .filter((one, index, all) => all.findIndex((other) => other.from <= one.from && other.to >= one.to) === index);
  return [...amounts, ...statements].sort((one, other) => one.from - other.from || other.to - one.to);
};

const T = {
  ask: term("ask"),
  type: term("type"),
  marker: term("marker"),
  magnitude: term("magnitude"),
  shape: term("shape"),
  place: term("place"),
  order: term("order"),
  money: term("money"),
  unit: term("unit"),
  word: term("word"),
  sentence: term("sentence"),
  line: term("line"),
  rival: term("rival"),
  only: term("only"),
  inside: term("inside"),
  markerUnit: term("marker-unit"),
  previous: term("previous"),
  following: term("following"),
  text: term("text"),
  topic: term("topic"),
  unitAfter: term("unit-after"),
  unitBefore: term("unit-before"),
  opening: term("opening"),
} as const;

const B = (value: string | number): Term => bucket(value);

const markerOf = ({ marker, sum }: Amount): Term =>
  marker === null ? B(sum ? "sum" : "bare") : marker === "," ? B("dash") : B("money");

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
type Rivals = {
  candidates: readonly PriceCandidate[];
  /** The candidates with a currency, and the place of each among them. */
  money: readonly PriceCandidate[];
  places: ReadonlyMap<PriceCandidate, number>;
  most: number;
  least: number;
  /** How many candidates are amounts. */
  amounts: number;
};

const rivalsOf = (candidates: readonly PriceCandidate[]): Rivals => {
  const money = candidates.filter(({ amount }) => amount !== null && amount.marker !== null);
  let most = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const { amount } of money) {
    most = Math.max(most, amount?.value ?? 0);
    least = Math.min(least, amount?.value ?? 0);
  }
  return {
    candidates,
    money,
    places: new Map(money.map((one, place) => [one, place])),
    most,
    least,
    amounts: candidates.filter(({ amount }) => amount !== null).length,
  };
};

/** "1 200" is proposed as one number and as two: candidates that overlap stand next to each other in the list. */
const OVERLAPPING = 3;

/** An opening bracket farther before an amount does not count. In tokens. */
const BRACKET_REACH = 40;

/** Adds the features of the candidate at `index`. */
const addPriceFeatures = (features: Features, scene: Scene, rivals: Rivals, index: number, isAsk: boolean): void => {
  const { candidates, money, places, most, least, amounts } = rivals;
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const { tokens } = scene;
  const { from, to, amount } = candidate;
  // Words beyond another sum are probably about that sum. A bare number is mostly none.
  let before = index - 1;
  while (before >= 0 && !(isMoney(candidates[before] as PriceCandidate) && (candidates[before]?.to ?? 0) <= from))
    before--;
  let behind = index + 1;
  while (
    behind < candidates.length &&
    !(isMoney(candidates[behind] as PriceCandidate) && (candidates[behind]?.from ?? 0) >= to)
  )
    behind++;
  addContext(features, scene, candidate, candidates[before], candidates[behind]);
  const first = sentenceStart(tokens, from);
  const last = sentenceEnd(tokens, to - 1);
  const alone = `${from === first ? "opens" : "within"}-${to >= last - (tokens[last - 1]?.kind === "mark" ? 1 : 0) ? "closes" : "goes-on"}`;
  features.add(T.sentence, B(alone));
  if (amount === null) {
    features.add(T.type, B("statement"));
    for (let at = from; at < to; at++) features.add(T.inside, termOf(tokens[at] as (typeof tokens)[number]));
    features.add(T.money, B(count(money.length)));
    if (isAsk) features.add(T.ask, B("statement"));
    return;
  }
  const marker = markerOf(amount);
  const magnitude = B(magnitudeOf(amount.value));
  const close = candidates.slice(Math.max(0, index - OVERLAPPING), index + OVERLAPPING + 1);
  const around = close.some((one) => one !== candidate && one.from <= from && one.to >= to);
  const within = close.some((one) => one !== candidate && one.from >= from && one.to <= to);
  if (around || within) features.add(T.shape, B(around ? "part" : "whole"), marker);
  features.add(T.marker, marker);
  features.add(T.marker, marker, magnitude);
  features.add(T.marker, marker, B(alone));
  for (const shape of shapeOf(amount)) features.add(T.shape, B(shape), marker);
  // The unit directly after the number ("128gb"), and the word before it ("iPhone 13").
  const after = tokens[to];
  if (after !== undefined) features.add(T.unit, termOf(after), B(after.gap));
  if (after !== undefined) features.add(T.markerUnit, termOf(after), marker);
  const word = tokens[from - 1];
  if (word !== undefined) {
    features.add(T.word, termOf(word), marker);
    features.add(T.type, B(word.kind), B(`${word.capital ? "capital" : "small"}-${tokens[from]?.gap}`));
  }
  features.add(
    T.line,
    B(tokens[from]?.gap === "line" ? "starts" : "in"),
    B(after === undefined || after.gap === "line" ? "ends" : "goes-on"),
  );
  let depth = 0;
  for (let at = Math.max(first, from - BRACKET_REACH); at < from; at++)
    depth += tokens[at]?.text === "(" ? 1 : tokens[at]?.text === ")" ? -1 : 0;
  if (depth > 0) features.add(T.place, B("bracket"), marker);
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
  features.add(T.text, B(Math.min(3, Math.floor((4 * from) / Math.max(tokens.length, 1)))));
  if (isAsk) {
    // What is said around a sum means something else in an ask: "up to", "budget", "I earn".
    features.add(T.ask, marker);
    features.add(T.ask, marker, magnitude);
    for (const cue of cuesNear(scene, from, to)) features.add(T.ask, cue.concept, marker);
  }
};

/** Cues in the sentence of a candidate. */
function* cuesNear({ tokens, cues }: Scene, from: number, to: number): Generator<Cue> {
  const first = sentenceStart(tokens, from);
  const last = sentenceEnd(tokens, to - 1);
  for (let index = firstCueFrom(cues, Math.max(first, from - CUE_REACH)); index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > to + CUE_REACH) return;
    if (cue.to <= last) yield cue;
  }
}

const overlap = (scene: Scene, { from, to }: Range, mark: Mark): boolean => {
  const start = scene.tokens[from]?.start ?? 0;
  const end = scene.tokens[to - 1]?.end ?? 0;
  return start < mark.end && mark.start < end;
};

/** The value that a mark states: "180" and "800-950" are the first number. */
const statedBy = (mark: Mark): { low: number; high: number | null } | null => {
  const written = mark.role === "price" ? mark.args[0] : mark.args[1];
  const match = /^(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?$/.exec(written ?? "");
  return match === null ? null : { low: Number(match[1]), high: match[2] === undefined ? null : Number(match[2]) };
};

const isValue = (amount: Amount, mark: Mark): boolean => {
  const value = statedBy(mark);
  if (value === null) return false;
  return [value.low, value.high].some((one) => one !== null && Math.abs(one - amount.value) < 0.005);
};

/** The role of each candidate of a labelled text. */
const labelPrices = (scene: Scene, candidates: readonly PriceCandidate[], marks: readonly Mark[]): string[] => {
  const sums = marks.filter(({ role }) => role === "price" || role === "sum");
  return candidates.map((candidate) => {
    const { amount } = candidate;
    const mark = sums.find((one) => overlap(scene, candidate, one));
    if (mark === undefined) return "none";
    const statement = mark.role === "price" && statedBy(mark) === null;
    if (amount === null) return statement ? (mark.args[0] ?? "none") : "none";
    if (statement) return amount.value === 0 ? "price" : "none";
    if (!isValue(amount, mark)) return "none";
    return mark.role === "price" ? "price" : (mark.args[0] ?? "other");
  });
};

/** What a labelled text teaches about prices. */
export type PriceLesson = { price: Ranked; sum: Judged[]; price_period: Judged[]; price_type: Judged[] };

/** The roles of candidates that are the price. */
const IS_PRICE: ReadonlySet<string> = new Set(["price", "free", "on_request", "exchange"]);

const FLAGS = ["from", "negotiable"] as const;
const PERIODS: readonly string[] = ["hour", "day", "week", "month", "year", "project"] satisfies Period[];

/** Returns what a labelled text teaches about prices. */
export const learnPrices = (
  scene: Scene,
  marks: readonly Mark[],
  isHidden: (at: number) => boolean,
  isAsk: boolean,
): PriceLesson => {
  const candidates = priceCandidates(scene, isHidden);
  const names = labelPrices(scene, candidates, marks);
  const rivals = rivalsOf(candidates);
  const judged = names.map((name, index): Judged => {
    const features = createFeatures(true);
    addPriceFeatures(features, scene, rivals, index, isAsk);
    return { features, name };
  });
  const right = names.findIndex((name) => IS_PRICE.has(name));
  const mark = marks.find(({ role }) => role === "price");
  const chosen = candidates[right];
  const lesson: PriceLesson = {
    price: { candidates: judged.map(({ features }) => features), right },
    sum: [],
    price_period: [],
    price_type: [],
  };
  judged.forEach(({ features, name }, index) => {
    if (index !== right && candidates[index]?.amount != null)
      lesson.sum.push({ features, name: name === "price" ? "none" : name });
  });
  if (mark === undefined || chosen === undefined) return lesson;
  const features = createFeatures(true);
  addTermsFeatures(features, scene, chosen);
  if (chosen.amount !== null && chosen.amount.value > 0)
    lesson.price_period.push({ features, name: mark.args.find((one) => PERIODS.includes(one)) ?? "none" });
  lesson.price_type.push({
    features,
    name:
      chosen.amount === null
        ? (mark.args[0] ?? "free")
        : FLAGS.filter((flag) => mark.args.includes(flag)).join("+") || "fixed",
  });
  return lesson;
};

/** Trains the models of prices. */
export const trainPrices = (lessons: readonly PriceLesson[]): Record<(typeof PRICE_MODELS)[number], Weights> => {
  const judged = (name: "sum" | "price_period" | "price_type") => lessons.flatMap((lesson) => lesson[name]);
  return {
    price: learnRanker(
      lessons.map(({ price }) => price),
      PRICE_TRAINING,
    ),
    sum: learn(judged("sum"), PRICE_TRAINING),
    price_period: learn(judged("price_period"), PRICE_TRAINING),
    price_type: learn(judged("price_type"), PRICE_TRAINING),
  };
};

/** The features of how a price is to be understood: its period, and whether it is negotiable or only the lowest. */
const addTermsFeatures = (features: Features, scene: Scene, chosen: PriceCandidate): void => {
  const { tokens, cues } = scene;
  addContext(features, scene, chosen, undefined, undefined);
  const { amount, from, to } = chosen;
  const value = amount === null ? B("statement") : B(magnitudeOf(amount.value));
  features.add(T.magnitude, value);
  features.add(T.marker, amount === null ? B("statement") : markerOf(amount));
  for (let at = from; at < to; at++) features.add(T.inside, termOf(tokens[at] as Token));
  for (const topic of scene.topics) {
    features.add(T.topic, topic);
    features.add(T.topic, topic, value);
  }
  // What the text is about decides what a bare amount means: a flat is paid by the month.
  for (const token of tokens.slice(0, OPENING)) if (token.kind === "word") features.add(T.opening, termOf(token));
  const seen = new Set<Term>();
  for (const { concept } of cues) {
    if (seen.has(concept)) continue;
    seen.add(concept);
    features.add(T.text, concept);
  }
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

/** Where a text is: it decides what "$", "kr" and bare numbers mean. ISO 3166-1 alpha-2; null if unknown. */
export type PriceHints = { country: string | null; isAsk: boolean };

/** The price of a text. Amounts are in major units of `currency`. */
export type PriceFound = {
  amount: number | null;
  amountMax: number | null;
  currency: string | null;
  period: Period | null;
  type: "fixed" | "range" | "from" | "free" | "on_request" | "exchange";
  negotiable: boolean;
  deposit: number | null;
  span: Span;
  confidence: number;
};

/** A less probable price is left out: the best value on held-out texts. */
const LEAST_CHANCE = 0.35;
/** A sum of a less probable role has none. */
const LEAST_ROLE = 0.5;

const scratch = createFeatures(false);

/** The class of the highest probability. */
const mostProbable = (model: Model, features: Features): { name: string; probability: number } => {
  const probabilities = model.probabilities(features);
  let best = 0;
  for (let one = 1; one < probabilities.length; one++)
    if ((probabilities[one] ?? 0) > (probabilities[best] ?? 0)) best = one;
  return { name: model.classes[best] ?? "", probability: probabilities[best] ?? 0 };
};

/** The chance of each candidate to be the price, and last that none is. */
const priceChances = (scene: Scene, rivals: Rivals, models: PriceModels, isAsk: boolean) =>
  chances(
    rivals.candidates.map((_, index) => {
      scratch.clear();
      addPriceFeatures(scratch, scene, rivals, index, isAsk);
      return models.price.score(scratch);
    }),
  );

/** The currency of an amount: its own, otherwise that of another amount in the text, otherwise that of the country. */
const currencyFor = (amount: Amount, candidates: readonly PriceCandidate[], country: string | null): string | null => {
  const { marker } = amount;
  if (marker !== null && marker !== ",") return resolveCurrency(marker, country);
  const other = candidates.find((one) => one.amount?.marker != null && one.amount.marker !== ",")?.amount?.marker;
  const shared = other === undefined || other === null ? null : resolveCurrency(other, country);
  return shared ?? currencyOf(country);
};

/** The most words between an amount and its unit of time: "15 EUR per full hour". */
const MOST_PER = 3;

/** The token after the words that state the period of an amount: "410 € pro Monat". */
const endOfPeriod = ({ tokens, cues }: Scene, { to }: PriceCandidate): number => {
  const unit = cues.find((cue) => cue.from >= to && cue.concept.text.startsWith("per_"));
  if (unit === undefined || unit.from > to + MOST_PER) return to;
  const between = tokens.slice(to, unit.to);
  return between.some((token) => token.opens || token.kind === "digits" || /^[,;()]$/.test(token.text)) ? to : unit.to;
};

/**
 * Reads the price that an offer asks or pays, or the most that an ask would pay.
 * @returns the lower end of a range in `amount` and the upper end in `amountMax`; null if no price is stated
 */
export const readPrice = (
  read: Scene,
  isHidden: (at: number) => boolean,
  models: PriceModels,
  { country, isAsk }: PriceHints,
): PriceFound | null => {
  const scene = { ...read, tokens: withLocalSigns(read.tokens, country) };
  const candidates = priceCandidates(scene, isHidden);
  if (candidates.length === 0) return null;
  const rivals = rivalsOf(candidates);
  const probable = priceChances(scene, rivals, models, isAsk);
  let best = 0;
  for (let index = 1; index < candidates.length; index++)
    if ((probable[index] ?? 0) > (probable[best] ?? 0)) best = index;
  const chosen = candidates[best];
  const confidence = probable[best] ?? 0;
  if (chosen === undefined || confidence < LEAST_CHANCE) return null;
  const { amount } = chosen;
  let deposit: number | null = null;
  candidates.forEach((one, index) => {
    if (index === best || deposit !== null || one.amount === null) return;
    scratch.clear();
    addPriceFeatures(scratch, scene, rivals, index, isAsk);
    const role = mostProbable(models.sum, scratch);
    if (role.name === "deposit" && role.probability >= LEAST_ROLE) deposit = one.amount.value;
  });
  scratch.clear();
  addTermsFeatures(scratch, scene, chosen);
  const { name: terms } = mostProbable(models.price_type, scratch);
  const { name: period } = mostProbable(models.price_period, scratch);
  const flags = terms.split("+");
  const to = period === "none" ? chosen.to : endOfPeriod(scene, chosen);
  const span = { start: scene.tokens[chosen.from]?.start ?? 0, end: scene.tokens[to - 1]?.end ?? 0 };
  const isFree = amount === null ? !flags.includes("on_request") && !flags.includes("exchange") : amount.value === 0;
  if (isFree || amount === null) {
    const type = isFree ? "free" : flags.includes("exchange") ? "exchange" : "on_request";
    return {
      amount: isFree ? 0 : null,
      amountMax: null,
      currency: null,
      period: null,
      type,
      negotiable: false,
      deposit,
      span,
      confidence,
    };
  }
  return {
    amount: amount.value,
    amountMax: amount.max,
    currency: currencyFor(amount, candidates, country),
    period: period === "none" ? null : (period as Period),
    type: amount.max !== null ? "range" : flags.includes("from") ? "from" : "fixed",
    negotiable: flags.includes("negotiable"),
    deposit,
    span,
    confidence,
  };
};

/** The most candidates, and the most features of each, that are explained. A longer name of a feature is cut. */
const MOST_EXPLAINED = 4;
const MOST_FEATURES = 8;
const MOST_FEATURE_LENGTH = 100;

/**
 * Explains a decision of `readPrice`, which takes the candidate of the highest chance.
 * @returns the candidates of the highest chances, most probable first
 */
export const explainPrice = (
  read: Scene,
  isHidden: (at: number) => boolean,
  models: PriceModels,
  { country, isAsk }: PriceHints,
): PriceReason[] => {
  const scene = { ...read, tokens: withLocalSigns(read.tokens, country) };
  const candidates = priceCandidates(scene, isHidden);
  const rivals = rivalsOf(candidates);
  const probable = priceChances(scene, rivals, models, isAsk);
  return candidates
    .map((candidate, index) => ({ candidate, index, chance: probable[index] ?? 0 }))
    .sort((one, other) => other.chance - one.chance)
    .slice(0, MOST_EXPLAINED)
    .map(({ candidate: { amount }, index, chance }) => {
      const features = createFeatures(true);
      addPriceFeatures(features, scene, rivals, index, isAsk);
      const strongest = models.price
        .contributions(features, "score")
        .filter(({ weight }) => weight !== 0)
        .sort((one, other) => Math.abs(other.weight) - Math.abs(one.weight))
        .slice(0, MOST_FEATURES);
      return {
        amount: amount?.value ?? null,
        currency: amount === null ? null : currencyFor(amount, candidates, country),
        chance: Math.round(chance * 100) / 100,
        features: strongest.map(({ feature, weight }) => ({
          feature: feature.slice(0, MOST_FEATURE_LENGTH),
          weight: Math.round(weight * 10) / 10,
        })),
      };
    });
};
