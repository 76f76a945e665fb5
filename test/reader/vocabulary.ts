import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CLASSIFIER_FILE,
  DATA,
  parseClassifiers,
  TRAINING_FILES,
  trainingSetHash,
} from "../../src/install/data_files.ts";
import type { Words } from "../../src/reader/builtin/knowledge.ts";
import { learnMeaning, type Meaning } from "../../src/reader/embed/learn.ts";
import { meaningSetOf } from "../../src/reader/embed/meaning_set.ts";
import type { Example, Vocabulary } from "../../src/reader/extraction.ts";
import { LEARNING, type Learned, learnClassifiers } from "../../src/reader/training/classifiers.ts";
import { shippedExamples, shippedLesson, shippedWords } from "../../src/reader/training/train.ts";

/** The vocabulary as the database returns it, read from the files of db/data, so that tests use what is installed. */

const READER = new URL("../../src/reader/", import.meta.url);

/** Training takes seconds. Its result is cached for all test files, until one of its sources changes. */
const CACHE = new URL("../../node_modules/.cache/souk/", import.meta.url);

const read = (file: string): string => readFileSync(join(DATA, file), "utf8");

/** The shipped taxonomy and words. */
export const seedWords = (): Words => shippedWords(read);

/** The shipped examples, in the order in which the database returns them. */
export const seedExamples = (): Example[] => shippedExamples(read);

/** Returns what was learned from the current words, examples and reader, and learns it only the first time. */
const learnOnce = <T>(what: string, learn: () => T): T => {
  const hash = createHash("sha256");
  const sources = readdirSync(READER, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => new URL(name, READER));
  for (const file of TRAINING_FILES) hash.update(read(file));
  for (const file of sources) hash.update(readFileSync(file));
  const kept = new URL(`${what}-${hash.digest("hex").slice(0, 16)}.json`, CACHE);
  try {
    return JSON.parse(readFileSync(kept, "utf8"));
  } catch {
    const learned = learn();
    mkdirSync(CACHE, { recursive: true });
    // The file is renamed into place, because other processes may be reading it.
    const aside = new URL(`${kept.href}.${process.pid}.${performance.now()}`);
    writeFileSync(aside, JSON.stringify(learned));
    renameSync(aside, kept);
    return learned;
  }
};

/** The meanings of the shipped words. */
export const seedMeaning = (): Meaning => learnOnce("meaning", () => learnMeaning(meaningSetOf(shippedLesson(read))));

/** The shipped vocabulary with its trained classifiers: the shipped ones, if they are up to date. */
export const seedVocabulary = (): Vocabulary => {
  const shipped = parseClassifiers(read(CLASSIFIER_FILE));
  const classifiers =
    shipped.header.training_set === trainingSetHash(read, LEARNING)
      ? (shipped.classifiers as Learned)
      : learnOnce("learned", () => learnClassifiers(shippedLesson(read)));
  return { ...seedWords(), classifiers };
};
