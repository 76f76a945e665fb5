import type { Weights } from "../extraction.ts";
import { type Features, keyOf } from "./features.ts";

/**
 * Linear models over named features (multinomial logistic regression): every decision of the reader that is learned is
 * made by one of them. training/ trains them.
 */

/** A trained model, ready for use. */
export type Model = {
  readonly classes: readonly string[];
  /** The probability of each class, in the order of `classes`. The array is used again by the next call. */
  probabilities: (features: Features) => Float64Array;
  /** The score of the first class before probabilities are made of it: what a ranker compares. */
  score: (features: Features) => number;
  /** How many of the features were seen in training. */
  knows: (features: Features) => number;
  /** What each feature adds to the score of a class (a logarithm), for an explanation. */
  contributions: (features: Features, name: string) => { feature: string; weight: number }[];
};

/** The weights of a model that was not trained yet. */
export const UNTRAINED: Weights = { classes: [], bias: [], features: [], weights: "" };

/** Weights are stored as signed bytes in this unit, a tenth of a logarithm. No weight comes near 127 units. */
export const UNIT = 0.1;

/** Turns scores into probabilities, in place. */
export const softmax = (scores: Float64Array): Float64Array => {
  let most = Number.NEGATIVE_INFINITY;
  for (const score of scores) if (score > most) most = score;
  let sum = 0;
  for (let one = 0; one < scores.length; one++) {
    const value = Math.exp((scores[one] ?? 0) - most);
    scores[one] = value;
    sum += value;
  }
  for (let one = 0; one < scores.length; one++) scores[one] = (scores[one] ?? 0) / sum;
  return scores;
};

/** A hash table from keys to rows, with open addressing: twice as many slots as keys, at least. */
const tableOf = (keys: Int32Array): { mask: number; slots: Int32Array } => {
  let size = 16;
  while (size < keys.length * 2) size *= 2;
  const slots = new Int32Array(size).fill(-1);
  for (let row = 0; row < keys.length; row++) {
    let slot = (keys[row] ?? 0) & (size - 1);
    while ((slots[slot] ?? -1) >= 0) slot = (slot + 1) & (size - 1);
    slots[slot] = row;
  }
  return { mask: size - 1, slots };
};

/** Trained weights in the form in which they are used: a row of signed bytes for each key of a feature. */
type Rows = {
  classes: string[];
  weights: Int8Array;
  bias: Float64Array;
  keys: Int32Array;
  mask: number;
  slots: Int32Array;
};

const rowsOf = (learned: Weights, allowed: (name: string) => boolean): Rows => {
  const columns = [...learned.classes.keys()].filter((column) => allowed(learned.classes[column] ?? ""));
  const stored = new Int8Array(Buffer.from(learned.weights, "base64"));
  const count = columns.length;
  const all = learned.classes.length;
  const weights = new Int8Array(learned.features.length * count);
  for (let row = 0; row < learned.features.length; row++) {
    for (let one = 0; one < count; one++) weights[row * count + one] = stored[row * all + (columns[one] ?? 0)] ?? 0;
  }
  const keys = Int32Array.from(learned.features, keyOf);
  return {
    classes: columns.map((column) => learned.classes[column] ?? ""),
    weights,
    bias: Float64Array.from(columns, (column) => learned.bias[column] ?? 0),
    keys,
    ...tableOf(keys),
  };
};

/**
 * Makes trained weights ready for use.
 * @param allowed the classes that remain; the others are never answered
 */
export const useWeights = (learned: Weights, allowed: (name: string) => boolean = () => true): Model =>
  // Two functions, because closures of one scope keep every variable that any of them uses. Here these would be the names
  // of a hundred thousand features.
  modelOf(rowsOf(learned, allowed));

const modelOf = ({ classes, weights, bias, keys, mask, slots }: Rows): Model => {
  const count = classes.length;
  const rowOf = (key: number): number => {
    for (let slot = key & mask; ; slot = (slot + 1) & mask) {
      const row = slots[slot] ?? -1;
      if (row < 0 || keys[row] === key) return row;
    }
  };
  /** The factor that gives the known ones among the scaled features unit length. */
  const factorOf = ({ keys: asked, values, scaled }: Features): number => {
    let squares = 0;
    for (let at = 0; at < scaled; at++) {
      if (rowOf(asked[at] ?? 0) >= 0) squares += (values[at] ?? 0) ** 2;
    }
    return squares > 0 ? 1 / Math.sqrt(squares) : 1;
  };
  const scores = new Float64Array(count);
  const scoresOf = (features: Features): Float64Array => {
    const { keys: asked, values, scaled } = features;
    scores.set(bias);
    const factor = scaled > 0 ? factorOf(features) : 1;
    for (let at = 0; at < features.count; at++) {
      const row = rowOf(asked[at] ?? 0);
      if (row < 0) continue;
      const value = (values[at] ?? 0) * UNIT * (at < scaled ? factor : 1);
      for (let one = 0, from = row * count; one < count; one++)
        scores[one] = (scores[one] ?? 0) + (weights[from + one] ?? 0) * value;
    }
    return scores;
  };
  return {
    classes,
    probabilities: (features) => softmax(scoresOf(features)),
    score: (features) => scoresOf(features)[0] ?? 0,
    knows: (features) => {
      let known = 0;
      for (let at = 0; at < features.scaled; at++) if (rowOf(features.keys[at] ?? 0) >= 0) known++;
      return known;
    },
    contributions: (features, name) => {
      const column = classes.indexOf(name);
      const factor = factorOf(features);
      return (features.names ?? []).flatMap((feature, at) => {
        const row = rowOf(features.keys[at] ?? 0);
        if (row < 0 || column < 0) return [];
        const value = (features.values[at] ?? 0) * UNIT * (at < features.scaled ? factor : 1);
        return [{ feature, weight: (weights[row * count + column] ?? 0) * value }];
      });
    },
  };
};

/**
 * The probability of each of several candidates to be the one that is sought, and last that none is.
 * @param scores what `score` of a ranker gave for each candidate
 */
export const chances = (scores: readonly number[]): Float64Array => softmax(Float64Array.from([...scores, 0]));
