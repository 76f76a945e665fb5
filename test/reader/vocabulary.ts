import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLASSIFIER_FILE, DATA, LESSON_FILES, lessonHash, parseClassifiers } from "../../src/database/data_files.ts";
import { LEARNING, type Learned, learnClassifiers } from "../../src/reader/builtin/learn.ts";
import type { Example, Vocabulary } from "../../src/reader/extraction.ts";
import { shippedExamples, shippedLesson, shippedWords } from "../../src/reader/train.ts";

/** The vocabulary as the database would hand it out, from the files of db/data: what tests read with is what is installed. */

const READER = new URL("../../src/reader/builtin/", import.meta.url);

/** Learning takes seconds: done once for all test files, until what it is made from changes. */
const CACHE = new URL("../../node_modules/.cache/souk/", import.meta.url);

const read = (file: string): string => readFileSync(join(DATA, file), "utf8");

/** The taxonomy and the words that ship. */
export const seedWords = (): Pick<Vocabulary, "taxonomy" | "terms"> => shippedWords(read);

/** The examples that ship, in the order in which the database hands them out. */
export const seedExamples = (): Example[] => shippedExamples(read);

/** Somebody who changes words or the reader tests with what would be learned, before training (npm run train). */
const learnAnew = (): Learned => {
  const hash = createHash("sha256");
  const sources = readdirSync(READER).map((name) => new URL(name, READER));
  for (const file of LESSON_FILES) hash.update(read(file));
  for (const file of sources) hash.update(readFileSync(file));
  const kept = new URL(`learned-${hash.digest("hex").slice(0, 16)}.json`, CACHE);
  try {
    return JSON.parse(readFileSync(kept, "utf8"));
  } catch {
    const learned = learnClassifiers(shippedLesson(read));
    mkdirSync(CACHE, { recursive: true });
    // Written aside: others may be reading.
    const aside = new URL(`${kept.href}.${process.pid}.${performance.now()}`);
    writeFileSync(aside, JSON.stringify(learned));
    renameSync(aside, kept);
    return learned;
  }
};

/** The vocabulary that ships, with what was learned from it. */
export const seedVocabulary = (): Vocabulary => {
  const shipped = parseClassifiers(read(CLASSIFIER_FILE));
  const classifiers =
    shipped.header.lesson === lessonHash(read, LEARNING) ? (shipped.classifiers as Learned) : learnAnew();
  return { ...seedWords(), classifiers };
};
