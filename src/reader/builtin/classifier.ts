import type { Weights } from "../extraction.ts";

/**
 * A text classifier: multinomial logistic regression over named features, trained with AdaGrad (Duchi, Hazan and Singer
 * 2011). The training order is fixed, so that the same examples give the same weights.
 */

/** A property of a text and its value. */
export type Feature = readonly [name: string, value: number];

/**
 * The features of a text. `words` are many and similar: those that the classifier knows are scaled to unit length
 * together, so that a long text does not count more. `facts` keep their values.
 */
export type Features = { words: readonly Feature[]; facts: readonly Feature[] };

/** A trained classifier, ready for use. */
export type Classifier = {
  /** The probability of each class, most probable first. */
  classify: (features: Features) => { name: string; probability: number }[];
  /** How many of the word features occurred in training. */
  knows: (features: Features) => number;
};

/** A feature of fewer examples is ignored: it describes those examples rather than the next text. */
const LEAST_EXAMPLES = 2;

/**
 * Training parameters, chosen by the results on held-out examples: passes over the examples, learning rate of the
 * weights, strength of the pull towards the prior weights, learning rate of the bias.
 */
const PASSES = 6;
const RATE = 0.5;
const DECAY = 1e-3;
const BIAS_RATE = 0.02;

/** Smaller errors are skipped. They change nothing, and they are the majority. */
const LEAST_ERROR = 1e-3;

/**
 * Examples of one class are stored together, so training visits the examples in steps of a prime number. The second
 * prime is used if the number of examples is a multiple of the first.
 */
const STRIDES = [7919, 7907] as const;

/** The weights: one row for each feature number, one column for each class. `unit` is the size of one stored step. */
type Matrix = {
  numbers: ReadonlyMap<string, number>;
  classes: readonly string[];
  weights: Float32Array | Int8Array;
  unit: number;
  bias: Float64Array;
};

type Row = { numbers: Int32Array; values: Float64Array };

const rowOf = (numbers: ReadonlyMap<string, number>, { words, facts }: Features): Row => {
  const known = words.filter(([name]) => numbers.has(name));
  const length = Math.sqrt(known.reduce((sum, [, value]) => sum + value * value, 0)) || 1;
  const features = [
    ...known.map(([name, value]): Feature => [name, value / length]),
    ...facts.filter(([name]) => numbers.has(name)),
  ];
  return {
    numbers: Int32Array.from(features, ([name]) => numbers.get(name) ?? 0),
    values: Float64Array.from(features, ([, value]) => value),
  };
};

/** Writes the probability of each class into `out` (softmax). */
const weigh = ({ classes, weights, unit, bias }: Matrix, { numbers, values }: Row, out: Float64Array): void => {
  const count = classes.length;
  out.set(bias);
  for (let at = 0; at < numbers.length; at++) {
    const start = (numbers[at] ?? 0) * count;
    const value = (values[at] ?? 0) * unit;
    for (let one = 0; one < count; one++) out[one] = (out[one] ?? 0) + (weights[start + one] ?? 0) * value;
  }
  const most = Math.max(...out);
  let sum = 0;
  for (let one = 0; one < count; one++) {
    out[one] = Math.exp((out[one] ?? 0) - most);
    sum += out[one] ?? 0;
  }
  for (let one = 0; one < count; one++) out[one] = (out[one] ?? 0) / sum;
};

/**
 * Weights are stored as signed bytes in this unit. One example changes a weight by more than a unit, and no weight
 * comes near 127 units.
 */
const UNIT = 0.1;
const MOST_UNITS = 127;

const inUnits = (weight: number): number => Math.max(-MOST_UNITS, Math.min(MOST_UNITS, Math.round(weight / UNIT)));

/**
 * Trains a classifier.
 *
 * @param prior the weights of features before training; weights without examples keep these values
 */
export const learn = (
  examples: readonly { features: Features; name: string }[],
  prior: ReadonlyMap<string, Readonly<Record<string, number>>>,
): Weights => {
  const counts = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const { features, name } of examples) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const [feature] of [...features.words, ...features.facts]) seen.set(feature, (seen.get(feature) ?? 0) + 1);
  }
  // A class without examples is known only by its prior weights: a category that an operator has just added.
  const classes = [
    ...new Set([...counts.keys(), ...[...prior.values()].flatMap((weights) => Object.keys(weights))]),
  ].sort();
  const known = new Set(prior.keys());
  for (const [feature, count] of seen) if (count >= LEAST_EXAMPLES) known.add(feature);
  const numbers = new Map([...known].map((feature, number) => [feature, number]));

  const start = new Float32Array(numbers.size * classes.length);
  for (const [feature, weights] of prior)
    classes.forEach((name, one) => {
      start[(numbers.get(feature) ?? 0) * classes.length + one] = weights[name] ?? 0;
    });
  const weights = start.slice();
  const squares = new Float32Array(weights.length).fill(1e-6);
  const bias = new Float64Array(classes.length);
  const matrix: Matrix = { numbers, classes, weights, unit: 1, bias };

  const rows = examples.map(({ features, name }) => ({
    row: rowOf(numbers, features),
    right: classes.indexOf(name),
    // Examples of rare classes count more, those of frequent classes less.
    exampleWeight: Math.sqrt(examples.length / classes.length / (counts.get(name) ?? 1)),
  }));
  const stride = rows.length % STRIDES[0] === 0 ? STRIDES[1] : STRIDES[0];
  const probabilities = new Float64Array(classes.length);
  for (let pass = 0; pass < PASSES; pass++) {
    for (let step = 0; step < rows.length; step++) {
      const example = rows[(step * stride + pass * 31) % rows.length];
      if (example === undefined) continue;
      const { row, right, exampleWeight } = example;
      weigh(matrix, row, probabilities);
      for (let one = 0; one < classes.length; one++) {
        const error = exampleWeight * ((probabilities[one] ?? 0) - (one === right ? 1 : 0));
        if (Math.abs(error) < LEAST_ERROR) continue;
        bias[one] = (bias[one] ?? 0) - BIAS_RATE * error;
        for (let feature = 0; feature < row.numbers.length; feature++) {
          const at = (row.numbers[feature] ?? 0) * classes.length + one;
          const gradient = error * (row.values[feature] ?? 0) + DECAY * ((weights[at] ?? 0) - (start[at] ?? 0));
          squares[at] = (squares[at] ?? 0) + gradient * gradient;
          weights[at] = (weights[at] ?? 0) - (RATE * gradient) / Math.sqrt(squares[at] ?? 1);
        }
      }
    }
  }

  return {
    classes,
    bias: Array.from(bias, (value) => Math.round(value * 1000) / 1000),
    features: [...numbers.keys()],
    weights: Buffer.from(Int8Array.from(weights, inUnits).buffer).toString("base64"),
  };
};

/** Makes a trained classifier ready for use. Classes that are not `allowed` are removed. */
export const useWeights = (learned: Weights, allowed: (name: string) => boolean = () => true): Classifier => {
  const columns = [...learned.classes.keys()].filter((column) => allowed(learned.classes[column] ?? ""));
  const stored = new Int8Array(Buffer.from(learned.weights, "base64"));
  const matrix: Matrix = {
    numbers: new Map(learned.features.map((feature, number) => [feature, number])),
    classes: columns.map((column) => learned.classes[column] ?? ""),
    weights: new Int8Array(learned.features.length * columns.length).map(
      (_, at) =>
        stored[Math.floor(at / columns.length) * learned.classes.length + (columns[at % columns.length] ?? 0)] ?? 0,
    ),
    unit: UNIT,
    bias: Float64Array.from(columns, (column) => learned.bias[column] ?? 0),
  };
  return {
    classify: (features) => {
      const probabilities = new Float64Array(columns.length);
      weigh(matrix, rowOf(matrix.numbers, features), probabilities);
      return matrix.classes
        .map((name, one) => ({ name, probability: probabilities[one] ?? 0 }))
        .sort((a, b) => b.probability - a.probability);
    },
    knows: ({ words }) => words.filter(([name]) => matrix.numbers.has(name)).length,
  };
};
