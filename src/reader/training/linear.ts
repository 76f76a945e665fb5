import { type Features, join } from "../decide/features.ts";
import { softmax, UNIT } from "../decide/model.ts";
import type { Weights } from "../extraction.ts";

/**
 * Trains a linear model with AdaGrad (Duchi, Hazan and Singer 2011). The order of training is fixed, so that the same
 * examples give the same weights on every machine.
 */

type Named = Pick<Features, "names" | "keys" | "values" | "count" | "scaled">;

/** A thing that was judged, with its named features: the name is one of the classes of the model. */
export type Judged = { features: Named; name: string };

/** The candidates of one text. `right` is the index of the one that is sought, -1 if none is. */
export type Ranked = { candidates: readonly Named[]; right: number };

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
const orderOf = (examples: readonly (readonly Named[])[]): ((pass: number) => number[]) => {
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

const rowOf = (numbers: ReadonlyMap<string, number>, { names, values, scaled }: Named): Row => {
  const known: number[] = [];
  const weights: number[] = [];
  let squares = 0;
  let toScale = 0;
  for (const [at, name] of (names ?? []).entries()) {
    const number = numbers.get(name);
    if (number === undefined) continue;
    const value = values[at] ?? 0;
    known.push(number);
    weights.push(value);
    if (at < scaled) {
      squares += value * value;
      toScale++;
    }
  }
  const factor = squares > 0 ? 1 / Math.sqrt(squares) : 1;
  for (let at = 0; at < toScale; at++) weights[at] = (weights[at] ?? 0) * factor;
  return { numbers: Int32Array.from(known), values: Float64Array.from(weights) };
};

/** The one class of a ranker. */
const SCORE = "score";

/**
 * Trains a model that tells classes apart (multinomial logistic regression), or a ranker: it gives each candidate of a
 * text a score, such that the one that is sought has the highest (conditional logistic regression; the score of "none"
 * is 0). Both choose among alternatives: the classes of one row of features, or the rows of one class.
 *
 * The weights are averaged over the second half of the passes, so that the order of the examples matters less.
 * @param prior the weights of features before training, by feature and class; weights without examples keep these
 */
export const learn = (
  examples: readonly (Judged | Ranked)[],
  training: Training = {},
  prior: ReadonlyMap<string, Readonly<Record<string, number>>> = new Map(),
): Weights => {
  const { passes, rate, decay, leastExamples, balanced, leastUnits } = { ...DEFAULTS, ...training };
  const lessons = examples.map((one) =>
    "name" in one ? { candidates: [one.features], name: one.name, right: -1 } : { ...one, name: SCORE },
  );
  const counts = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const { candidates, name } of lessons) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const feature of new Set(candidates.flatMap(({ names }) => names ?? [])))
      seen.set(feature, (seen.get(feature) ?? 0) + 1);
  }
  // A class without examples is known only by its prior weights: a category that an operator has just added.
  const classes = [
    ...new Set([...counts.keys(), ...[...prior.values()].flatMap((weights) => Object.keys(weights))]),
  ].sort();
  const width = classes.length;
  const known = new Set(prior.keys());
  for (const [feature, count] of seen) if (count >= leastExamples) known.add(feature);
  const numbers = new Map([...known].sort().map((feature, number) => [feature, number]));

  const start = new Float32Array(numbers.size * width);
  for (const [feature, weights] of prior)
    classes.forEach((name, one) => {
      start[(numbers.get(feature) ?? 0) * width + one] = weights[name] ?? 0;
    });
  const weights = start.slice();
  const squares = new Float32Array(weights.length).fill(1e-6);
  const sums = new Float64Array(weights.length);
  const bias = new Float64Array(width);

  const groups = lessons.map(({ candidates, name, right }) => {
    const rows = candidates.map((features) => rowOf(numbers, features));
    const isRanked = name === SCORE;
    return {
      rows,
      scores: rows.length * width + (isRanked ? 1 : 0),
      right: isRanked ? right : classes.indexOf(name),
      weight: balanced ? Math.sqrt(examples.length / width / (counts.get(name) ?? 1)) : 1,
    };
  });
  const order = orderOf(lessons.map(({ candidates }) => candidates));
  const averaged = Math.floor(passes / 2);
  for (let pass = 0; pass < passes; pass++) {
    for (const next of order(pass)) {
      const group = groups[next];
      if (group === undefined) continue;
      const scores = new Float64Array(group.scores);
      for (const [index, row] of group.rows.entries()) {
        const first = index * width;
        scores.set(bias, first);
        for (let at = 0; at < row.numbers.length; at++) {
          const from = (row.numbers[at] ?? 0) * width;
          const value = row.values[at] ?? 0;
          for (let one = 0; one < width; one++)
            scores[first + one] = (scores[first + one] ?? 0) + (weights[from + one] ?? 0) * value;
        }
      }
      softmax(scores);
      for (const [index, row] of group.rows.entries())
        for (let one = 0; one < width; one++) {
          const alternative = index * width + one;
          const error = group.weight * ((scores[alternative] ?? 0) - (alternative === group.right ? 1 : 0));
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
    if (pass >= averaged) for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] ?? 0) + (weights[at] ?? 0);
  }

  // Stored in units, without features that say next to nothing.
  const units = Int8Array.from(sums, (sum) => inUnits(Math.fround(sum / (passes - averaged))));
  const rowIn = (number: number): Int8Array => units.subarray(number * width, (number + 1) * width);
  const kept = [...numbers].filter(
    ([feature, number]) => prior.has(feature) || rowIn(number).some((unit) => Math.abs(unit) >= leastUnits),
  );
  return {
    classes,
    bias: Array.from(bias, (value) => Math.round(value * 1000) / 1000),
    features: kept.map(([feature]) => feature),
    weights: Buffer.from(kept.flatMap(([, number]) => [...rowIn(number)])).toString("base64"),
  };
};
