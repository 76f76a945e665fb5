import type { Scene } from "../decide/context.ts";
import { createFeatures } from "../decide/features.ts";
import { PERIODS } from "../decide/price.ts";
import {
  addPriceFeatures,
  addTermsFeatures,
  type PriceCandidate,
  priceCandidates,
  rivalsOf,
} from "../decide/price_features.ts";
import type { Amount } from "../propose/money.ts";
import { overlaps, spanOf } from "../text/span.ts";
import type { Judged, Ranked, Training } from "./linear.ts";
import type { Mark } from "./marks.ts";

/** What labelled texts teach about prices, for the models of decide/price.ts. */

/** How the models are trained. */
export const PRICE_TRAINING: Training = { passes: 24, rate: 0.03, leastUnits: 1 };

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
    const mark = sums.find((one) => overlaps(spanOf(scene.tokens, candidate), one));
    if (mark === undefined) return "none";
    const statement = mark.role === "price" && statedBy(mark) === null;
    if (amount === null) return statement ? (mark.args[0] ?? "none") : "none";
    if (statement) return amount.value === 0 ? "price" : "none";
    if (!isValue(amount, mark)) return "none";
    return mark.role === "price" ? "price" : (mark.args[0] ?? "other");
  });
};

/** What a labelled text teaches about prices. */
export type PriceLesson = { price: Ranked[]; sum: Judged[]; price_period: Judged[]; price_type: Judged[] };

/** The roles of candidates that are the price. */
const IS_PRICE: ReadonlySet<string> = new Set(["price", "free", "on_request", "exchange"]);

const FLAGS = ["from", "negotiable"] as const;
const isPeriod = (word: string): boolean => PERIODS.some((period) => period === word);

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
    price: [{ candidates: judged.map(({ features }) => features), right }],
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
    lesson.price_period.push({ features, name: mark.args.find((one) => isPeriod(one)) ?? "none" });
  lesson.price_type.push({
    features,
    name:
      chosen.amount === null
        ? (mark.args[0] ?? "free")
        : FLAGS.filter((flag) => mark.args.includes(flag)).join("+") || "fixed",
  });
  return lesson;
};
