import type { PriceUnit } from "../../base/enums.ts";
import type { PriceReason } from "../extraction.ts";
import { currencyOf } from "../languages.ts";
import { resolveCurrency, withLocalSigns } from "../propose/currencies.ts";
import { findHaggling } from "../propose/haggling.ts";
import type { Amount } from "../propose/money.ts";
import { type Span, spanOf } from "../text/span.ts";
import type { Scene } from "./context.ts";
import { createFeatures, type Features } from "./features.ts";
import { chances, type Model } from "./model.ts";
import {
  addPriceFeatures,
  addTermsFeatures,
  type PriceCandidate,
  priceCandidates,
  type Rivals,
  rivalsOf,
} from "./price_features.ts";

/**
 * Judges which passage of a text states the price. Candidates are all numbers, and words such as "free" and "offers
 * invited"; for each, a model gives the probability of each role. The most probable price is the price.
 */

/** The unit of time of a price; `project` is a fixed sum for a whole job. */
export const PERIODS = ["hour", "day", "week", "month", "year", "project"] as const;
type Period = (typeof PERIODS)[number];

/** The models of this judge: which candidate is the price; what the other sums are; how the price is to be understood. */
export const PRICE_MODELS = ["price", "sum", "price_period", "price_type"] as const;
/** The models, ready for use. */
export type PriceModels = Readonly<Record<(typeof PRICE_MODELS)[number], Model>>;

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
  unit: PriceUnit | null;
  span: Span;
  confidence: number;
};

/** A less probable price is left out: the best value on held-out texts. */
const MIN_CHANCE = 0.35;
/** A sum of a less probable role has none. */
const MIN_ROLE = 0.5;

const scratch = createFeatures(false);

/** The class of the highest probability. */
const mostProbable = (model: Model, features: Features): { name: string; probability: number } => {
  const probabilities = model.probabilities(features);
  let best = 0;
  for (let one = 1; one < probabilities.length; one++)
    if ((probabilities[one] ?? 0) > (probabilities[best] ?? 0)) best = one;
  return { name: model.classes[best] ?? "", probability: probabilities[best] ?? 0 };
};

/** The candidates of a text with the chance of each to be the price, and last that none is. */
export type JudgedPrices = { scene: Scene; rivals: Rivals; probable: Float64Array; hints: PriceHints };

/** Judges the candidates of a text. `readPrice` says which is the price, and `explainPrice` says why. */
export const judgePrices = (
  read: Scene,
  isHidden: (at: number) => boolean,
  models: PriceModels,
  hints: PriceHints,
): JudgedPrices => {
  const scene = { ...read, tokens: withLocalSigns(read.tokens, hints.country) };
  const rivals = rivalsOf(priceCandidates(scene, isHidden));
  const scores = rivals.candidates.map((_, index) => {
    scratch.clear();
    addPriceFeatures(scratch, scene, rivals, index, hints.isAsk);
    return models.price.score(scratch);
  });
  return { scene, rivals, probable: chances(scores), hints };
};

/** The currency of an amount: its own, otherwise that of another amount in the text, otherwise that of the country. */
export const currencyFor = (
  amount: Amount,
  candidates: readonly PriceCandidate[],
  country: string | null,
): string | null => {
  const { marker } = amount;
  if (marker !== null && marker !== ",") return resolveCurrency(marker, country);
  const other = candidates.find((one) => one.amount?.marker != null && one.amount.marker !== ",")?.amount?.marker;
  const shared = other === undefined || other === null ? null : resolveCurrency(other, country);
  return shared ?? currencyOf(country);
};

/** The concepts of units of time begin so. */
const PER = "per_";

/** The most words between an amount and its unit of time: "15 EUR per full hour". */
const MAX_PER = 3;

/** The token after the words that state the period of an amount, and the periods that they can mean: "410 € pro Monat". */
const periodAfter = ({ tokens, cues }: Scene, { to, unit: of }: PriceCandidate): { to: number; periods: Period[] } => {
  // The words for what the price is for are no period: "km" is also a rent without costs.
  const isOf = (at: number): boolean => of !== null && at >= of.from && at < of.to;
  const most = Math.max(to, of?.to ?? to) + MAX_PER;
  const units = cues.filter(
    ({ from, concept }) => from >= to && from <= most && !isOf(from) && concept.text.startsWith(PER),
  );
  const [unit] = units;
  const isBroken = (end: number): boolean =>
    tokens
      .slice(to, end)
      .some((token, n) => !isOf(to + n) && (token.opens || token.kind === "digits" || /^[,;()]$/.test(token.text)));
  if (unit === undefined || isBroken(unit.to)) return { to, periods: [] };
  const beside = units.filter((one) => !isBroken(one.to));
  return { to: unit.to, periods: beside.map(({ concept }) => concept.text.slice(PER.length) as Period) };
};

/** True if a text refuses to haggle. "VB, keine Angebote unter 200" does not. */
const refusesHaggling = ({ tokens }: Scene): boolean => {
  const found = findHaggling(tokens);
  const isOpen = found.some(({ isOffer, isRefused }) => !isOffer && !isRefused);
  return found.some(({ isOffer, isRefused }) => isRefused && (!isOffer || !isOpen));
};

/**
 * Reads the price that an offer asks or pays, or the most that an ask would pay.
 * @returns the lower end of a range in `amount` and the upper end in `amountMax`; null if no price is stated
 */
export const readPrice = (
  { scene, rivals, probable, hints: { country, isAsk } }: JudgedPrices,
  models: PriceModels,
): PriceFound | null => {
  const { candidates } = rivals;
  let best = 0;
  for (let index = 1; index < candidates.length; index++)
    if ((probable[index] ?? 0) > (probable[best] ?? 0)) best = index;
  const chosen = candidates[best];
  const confidence = probable[best] ?? 0;
  if (chosen === undefined || confidence < MIN_CHANCE) return null;
  const deposit = candidates.find((one, index) => {
    if (index === best || one.amount === null) return false;
    scratch.clear();
    addPriceFeatures(scratch, scene, rivals, index, isAsk);
    const role = mostProbable(models.sum, scratch);
    return role.name === "deposit" && role.probability >= MIN_ROLE;
  });
  scratch.clear();
  addTermsFeatures(scratch, scene, chosen);
  const flags = mostProbable(models.price_type, scratch).name.split("+");
  const { name: judged } = mostProbable(models.price_period, scratch);
  // A unit is mostly followed by the period that is stated: "12 €/m² im Monat".
  const after = judged === "none" && chosen.unit === null ? { to: chosen.to, periods: [] } : periodAfter(scene, chosen);
  const found = {
    deposit: deposit?.amount?.value ?? null,
    span: spanOf(scene.tokens, {
      from: Math.min(chosen.from, chosen.unit?.from ?? chosen.from),
      to: Math.max(after.to, chosen.unit?.to ?? after.to),
    }),
    confidence,
  };
  const { amount } = chosen;
  if (amount === null || amount.value === 0) {
    const isOpen = amount === null && (flags.includes("on_request") || flags.includes("exchange"));
    const type = !isOpen ? "free" : flags.includes("exchange") ? "exchange" : "on_request";
    // "Price on request" says nothing of haggling, "make an offer" does.
    const isAsked = scene.cues.some(
      ({ concept, from }) => concept.text === "price_inquiry" && from >= chosen.from && from < chosen.to,
    );
    const nothing = { amountMax: null, currency: null, period: null, unit: null };
    return { amount: isOpen ? null : 0, type, negotiable: type === "on_request" && !isAsked, ...nothing, ...found };
  }
  // "$620 per week" is not by the month, whatever the text is about. In "an hour" the last word counts.
  const isSaid = judged === "project" || after.periods.includes(judged as Period);
  const period = isSaid ? judged : (after.periods.at(-1) ?? judged);
  return {
    amount: amount.value,
    amountMax: amount.max,
    currency: currencyFor(amount, candidates, country),
    period: period === "none" ? null : (period as Period),
    type: amount.max !== null ? "range" : flags.includes("from") ? "from" : "fixed",
    negotiable: flags.includes("negotiable") && !refusesHaggling(scene),
    unit: chosen.unit?.unit ?? null,
    ...found,
  };
};

/** The most candidates, and the most features of each, that are explained. A longer name of a feature is cut. */
const MAX_EXPLAINED = 4;
const MAX_FEATURES = 8;
const MAX_FEATURE_LENGTH = 100;

/**
 * Explains a decision of `readPrice`, which takes the candidate of the highest chance.
 * @returns the candidates of the highest chances, most probable first
 */
export const explainPrice = (
  { scene, rivals, probable, hints: { country, isAsk } }: JudgedPrices,
  models: PriceModels,
): PriceReason[] => {
  const { candidates } = rivals;
  return candidates
    .map((candidate, index) => ({ candidate, index, chance: probable[index] ?? 0 }))
    .sort((one, other) => other.chance - one.chance)
    .slice(0, MAX_EXPLAINED)
    .map(({ candidate: { amount }, index, chance }) => {
      const features = createFeatures(true);
      addPriceFeatures(features, scene, rivals, index, isAsk);
      const strongest = models.price
        .contributions(features, "score")
        .filter(({ weight }) => weight !== 0)
        .sort((one, other) => Math.abs(other.weight) - Math.abs(one.weight))
        .slice(0, MAX_FEATURES);
      return {
        amount: amount?.value ?? null,
        currency: amount === null ? null : currencyFor(amount, candidates, country),
        chance: Math.round(chance * 100) / 100,
        features: strongest.map(({ feature, weight }) => ({
          feature: feature.slice(0, MAX_FEATURE_LENGTH),
          weight: Math.round(weight * 10) / 10,
        })),
      };
    });
};
