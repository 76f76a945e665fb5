import { type Features, join } from "../decide/features.ts";
import { softmax, UNIT } from "../decide/model.ts";
import type { Weights } from "../extraction.ts";

/**
 * Trains a linear model with AdaGrad (Duchi, Hazan and Singer 2011). The order of training is fixed, so that the same
 * examples give the same weights on every machine.
 */

/** A thing that was judged, with its named features. */
export type Judged = { features: Pick<Features, "names" | "keys" | "values" | "count" | "scaled">; name: string };

/** How a model is trained. The defaults were chosen by the results on held-out examples. */
export type Training = {
  /** Passes over the examples. */
  passes?: number;
  /** Learning rate of the weights. */
  rate?: number;
  /** Strength of the pull towards the prior weights. */
  decay?: number;
  /** A feature of fewer examples is ignored: it describes those examples rather than the next text. */
  leastExamples?: number;
  /** Whether rare classes count more, by the square root of their rarity. */
  balanced?: boolean;
  /**
   * A feature whose weights all are smaller, in units, is left out of the model. A model of many features that each say
   * little keeps more of them.
   */
  leastUnits?: number;
};

const DEFAULTS: Required<Training> = {
  passes: 6,
  rate: 0.5,
  decay: 1e-3,
  leastExamples: 2,
  balanced: false,
  leastUnits: 2,
};

/** The learning rate of the bias. */
const BIAS_RATE = 0.02;

/** Smaller errors are skipped. They change nothing, and they are the majority. */
const MIN_ERROR = 1e-3;

const MAX_UNITS = 127;
const inUnits = (weight: number): number => Math.max(-MAX_UNITS, Math.min(MAX_UNITS, Math.round(weight / UNIT)));

/**
 * The order in which a pass visits the examples: by a hash of their features and of the pass. Examples of one class are
 * stored together, so their own order would teach one class after another. A hash does not depend on how many examples
 * there are: one more changes the models by what it teaches, and not by another order of all others.
 */
const orderOf = (examples: readonly (readonly Judged["features"][])[]): ((pass: number) => number[]) => {
  const hashes = Int32Array.from(examples, (candidates) => {
    // A sum: the order of features follows the order of rows in a table, which means nothing.
    let sum = 0;
    for (const { keys, count } of candidates) for (let at = 0; at < count; at++) sum = (sum + (keys[at] ?? 0)) | 0;
    return sum;
  });
  return (pass) => {
    const ranks = hashes.map((hash) => join(hash, pass));
    // Of examples with equal features, none is always the last.
    const turn = pass % 2 === 0 ? 1 : -1;
    return [...hashes.keys()].sort((one, other) => (ranks[one] ?? 0) - (ranks[other] ?? 0) || turn * (one - other));
  };
};

type Row = { numbers: Int32Array; values: Float64Array };

const rowOf = (numbers: ReadonlyMap<string, number>, { names, values, scaled }: Judged["features"]): Row => {
  const known: number[] = [];
  const weights: number[] = [];
  let squares = 0;
  (names ?? []).forEach((name, at) => {
    const number = numbers.get(name);
    if (number === undefined) return;
    known.push(number);
    const value = values[at] ?? 0;
    weights.push(value);
    if (at < scaled) squares += value * value;
  });
  if (squares > 0) {
    const factor = 1 / Math.sqrt(squares);
    let at = 0;
    (names ?? []).forEach((name, index) => {
      if (!numbers.has(name)) return;
      if (index < scaled) weights[at] = (weights[at] ?? 0) * factor;
      at++;
    });
  }
  return { numbers: Int32Array.from(known), values: Float64Array.from(weights) };
};

/**
 * Averages weights over the second half of the passes, so that the order of the examples matters less.
 * `add` is called after each pass.
 */
const averageOf = (
  weights: Float32Array,
  passes: number,
): { add: (pass: number) => void; mean: () => Float32Array } => {
  const sum = new Float64Array(weights.length);
  let added = 0;
  return {
    add: (pass) => {
      if (pass < Math.floor(passes / 2)) return;
      for (let at = 0; at < weights.length; at++) sum[at] = (sum[at] ?? 0) + (weights[at] ?? 0);
      added++;
    },
    mean: () => Float32Array.from(sum, (value) => value / added),
  };
};

/**
 * Trains a model.
 * @param prior the weights of features before training, by feature and class; weights without examples keep these
 */
export const learn = (
  examples: readonly Judged[],
  training: Training = {},
  prior: ReadonlyMap<string, Readonly<Record<string, number>>> = new Map(),
): Weights => {
  const { passes, rate, decay, leastExamples, balanced, leastUnits } = { ...DEFAULTS, ...training };
  const counts = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const { features, name } of examples) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const feature of new Set(features.names)) seen.set(feature, (seen.get(feature) ?? 0) + 1);
  }
  // A class without examples is known only by its prior weights: a category that an operator has just added.
  const classes = [
    ...new Set([...counts.keys(), ...[...prior.values()].flatMap((weights) => Object.keys(weights))]),
  ].sort();
  const known = new Set(prior.keys());
  for (const [feature, count] of seen) if (count >= leastExamples) known.add(feature);
  const numbers = new Map([...known].sort().map((feature, number) => [feature, number]));

  const start = new Float32Array(numbers.size * classes.length);
  for (const [feature, weights] of prior)
    classes.forEach((name, one) => {
      start[(numbers.get(feature) ?? 0) * classes.length + one] = weights[name] ?? 0;
    });
  const weights = start.slice();
  const squares = new Float32Array(weights.length).fill(1e-6);
  const bias = new Float64Array(classes.length);
  const average = averageOf(weights, passes);

  const rows = examples.map(({ features, name }) => ({
    row: rowOf(numbers, features),
    right: classes.indexOf(name),
    exampleWeight: balanced ? Math.sqrt(examples.length / classes.length / (counts.get(name) ?? 1)) : 1,
  }));
  const order = orderOf(examples.map(({ features }) => [features]));
  const scores = new Float64Array(classes.length);
  const width = classes.length;
  for (let pass = 0; pass < passes; pass++) {
    for (const next of order(pass)) {
      const example = rows[next];
      if (example === undefined) continue;
      const { row, right, exampleWeight } = example;
      scores.set(bias);
      for (let at = 0; at < row.numbers.length; at++) {
        const from = (row.numbers[at] ?? 0) * width;
        const value = row.values[at] ?? 0;
        for (let one = 0; one < width; one++) scores[one] = (scores[one] ?? 0) + (weights[from + one] ?? 0) * value;
      }
      softmax(scores);
      for (let one = 0; one < width; one++) {
        const error = exampleWeight * ((scores[one] ?? 0) - (one === right ? 1 : 0));
        if (Math.abs(error) < MIN_ERROR) continue;
        bias[one] = (bias[one] ?? 0) - BIAS_RATE * error;
        for (let feature = 0; feature < row.numbers.length; feature++) {
          const at = (row.numbers[feature] ?? 0) * width + one;
          const gradient = error * (row.values[feature] ?? 0) + decay * ((weights[at] ?? 0) - (start[at] ?? 0));
          squares[at] = (squares[at] ?? 0) + gradient * gradient;
          weights[at] = (weights[at] ?? 0) - (rate * gradient) / Math.sqrt(squares[at] ?? 1);
        }
      }
    }
    average.add(pass);
  }
  return pack(classes, bias, numbers, average.mean(), leastUnits, (feature) => prior.has(feature));
};

/** Weights as they are stored, without features that say next to nothing. */
const pack = (
  classes: readonly string[],
  bias: Float64Array,
  numbers: ReadonlyMap<string, number>,
  weights: Float32Array,
  leastUnits: number,
  isKept: (feature: string) => boolean,
): Weights => {
  const width = classes.length;
  const kept = [...numbers].filter(([feature, number]) => {
    if (isKept(feature)) return true;
    for (let one = 0; one < width; one++)
      if (Math.abs(inUnits(weights[number * width + one] ?? 0)) >= leastUnits) return true;
    return false;
  });
  return {
    classes: [...classes],
    bias: Array.from(bias, (value) => Math.round(value * 1000) / 1000),
    features: kept.map(([feature]) => feature),
    weights: Buffer.from(
      Int8Array.from(
        kept.flatMap(([, number]) => Array.from(weights.subarray(number * width, (number + 1) * width), inUnits)),
      ).buffer,
    ).toString("base64"),
  };
};

/** The candidates of one text. `right` is the index of the one that is sought, -1 if none is. */
export type Ranked = { candidates: readonly Judged["features"][]; right: number };

/**
 * Trains a ranker: it gives each candidate of a text a score, such that the one that is sought has the highest
 * (conditional logistic regression). The score of "none" is 0. @returns weights of the one class "score"
 */
export const learnRanker = (groups: readonly Ranked[], training: Training = {}): Weights => {
  const { passes, rate, decay, leastExamples, leastUnits } = { ...DEFAULTS, ...training };
  const seen = new Map<string, number>();
  for (const { candidates } of groups)
    for (const feature of new Set(candidates.flatMap(({ names }) => names ?? [])))
      seen.set(feature, (seen.get(feature) ?? 0) + 1);
  const known = [...seen].filter(([, count]) => count >= leastExamples).map(([feature]) => feature);
  const numbers = new Map(known.sort().map((feature, number) => [feature, number]));
  const weights = new Float32Array(numbers.size);
  const squares = new Float32Array(numbers.size).fill(1e-6);
  const bias = new Float64Array(1);
  const average = averageOf(weights, passes);
  const rows = groups.map(({ candidates, right }) => ({
    rows: candidates.map((features) => rowOf(numbers, features)),
    right,
  }));
  const order = orderOf(groups.map(({ candidates }) => candidates));
  for (let pass = 0; pass < passes; pass++) {
    for (const next of order(pass)) {
      const group = rows[next];
      if (group === undefined) continue;
      const scores = new Float64Array(group.rows.length + 1);
      group.rows.forEach((row, index) => {
        let score = bias[0] ?? 0;
        for (let at = 0; at < row.numbers.length; at++)
          score += (weights[row.numbers[at] ?? 0] ?? 0) * (row.values[at] ?? 0);
        scores[index] = score;
      });
      softmax(scores);
      group.rows.forEach((row, index) => {
        const error = (scores[index] ?? 0) - (index === group.right ? 1 : 0);
        if (Math.abs(error) < MIN_ERROR) return;
        bias[0] = (bias[0] ?? 0) - BIAS_RATE * error;
        for (let feature = 0; feature < row.numbers.length; feature++) {
          const at = row.numbers[feature] ?? 0;
          const gradient = error * (row.values[feature] ?? 0) + decay * (weights[at] ?? 0);
          squares[at] = (squares[at] ?? 0) + gradient * gradient;
          weights[at] = (weights[at] ?? 0) - (rate * gradient) / Math.sqrt(squares[at] ?? 1);
        }
      });
    }
    average.add(pass);
  }
  return pack(["score"], bias, numbers, average.mean(), leastUnits, () => false);
};
