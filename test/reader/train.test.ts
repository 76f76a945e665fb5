import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import {
  CLASSIFIER_FILE,
  DATA,
  MEANING_FILE,
  parseClassifiers,
  trainingSetHash,
} from "../../src/install/data_files.ts";
import { LEARNING } from "../../src/reader/training/classifiers.ts";
import { train } from "../../src/reader/training/train.ts";

/**
 * Tests that the shipped weights were trained from the shipped words and examples. `npm run lint` compares them byte by
 * byte (`npm run train -- --check`), which takes seconds.
 */

/** Every 40th example is enough to learn something of each kind. */
const EXAMPLE_OF = 40;

const read = (file: string): string => readFileSync(join(DATA, file), "utf8");

const few = (file: string): string =>
  file === "example.tsv"
    ? read(file)
        .split("\n")
        .filter((line, at, lines) => at % EXAMPLE_OF === 0 || line === lines.at(-1))
        .join("\n")
    : read(file);

const reversed = (file: string): string => {
  const [header, ...lines] = few(file).split("\n").slice(0, -1);
  return `${[header, ...lines.toReversed()].join("\n")}\n`;
};

test("the shipped weights were trained from the shipped words and examples with the current method", (t) => {
  for (const file of [CLASSIFIER_FILE, MEANING_FILE]) {
    const { header } = parseClassifiers(read(file));
    t.deepEqual(header, { training_set: trainingSetHash(read, LEARNING), learning: LEARNING }, "run: npm run train");
  }
});

test("the same words and examples give the same weights, in any order", (t) => {
  const trained = train(few);
  const anew = train(few);
  const otherwise = train(reversed);
  for (const file of [CLASSIFIER_FILE, MEANING_FILE] as const) {
    t.true(trained[file].length > 10_000);
    t.is(anew[file], trained[file]);
    t.deepEqual(parseClassifiers(otherwise[file]).classifiers, parseClassifiers(trained[file]).classifiers);
  }
});
