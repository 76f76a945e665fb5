import { EMBEDDING_DIMENSIONS, type Embedder } from "../extraction.ts";
import { type Meaning, PART_STEPS, WEIGHT_STEPS } from "./learn.ts";
import { createSpelling } from "./spelling.ts";
import { foldedWords, openingsOf, unitsOf } from "./units.ts";
import { DIMENSIONS, fnv1a, GOLDEN, mixed } from "./vectors.ts";

/**
 * The embedder without a provider: a text is near to texts about the same or related things, in any language of the
 * lexicon. A vector is the sum of the meanings of the words (learn.ts) and, with less weight, of their letters.
 *
 * The database stores this name beside each vector. A change that gives other vectors needs a new name. Training on
 * other words or examples needs none (learn.ts says why).
 */
const MODEL = "builtin-meaning-1";

/** Letters of a word that are used. A longer run of letters is no word. */
const WORD_LENGTH = 40;

/** 4,000 characters contain no more words. Only compatibility characters that expand to whole phrases give more. */
const MAX_WORDS = 2000;

/**
 * The number of words after which a word counts half. The subject of a text stands at its beginning; in a long text the
 * rest would outweigh it.
 */
const HALF_AT_WORD = 20;

/** The weight of a word of a phrase: the phrase as a whole has the meaning. */
const IN_PHRASE = 0.3;

/**
 * How much the letters of a word count beside its meaning: enough that among texts about the same thing those with the
 * same words are nearer. The letters of unknown words, such as names, count more, and those of numbers less.
 */
const LETTERS = 0.35;
const UNKNOWN_LETTERS = 0.6;
const NUMBER_LETTERS = 0.2;

/** Topics with less than this share of the strongest one's weight are left out. In long texts they are most topics. */
const MIN_TOPIC = 0.02;

const NUMBER = /^\d+$/;

/** Lengths of the n-grams of a word with marked edges. 3 finds typos in short words, 4 finds stems. */
const GRAM_LENGTHS = [3, 4];
/** The weight of all n-grams of a word, relative to the word itself. */
const GRAMS_WEIGHT = 1.5;
/** Each letter feature changes so many numbers of the vector. With one, features that collide would look the same. */
const SPREAD = 2;
/** Makes the length of the letters of a word about 1. */
const LETTERS_SCALE = 1 / Math.sqrt(SPREAD * (1 + GRAMS_WEIGHT ** 2));

const addFeature = (vector: Float64Array, hash: number, weight: number): void => {
  let bits = hash;
  for (let times = 0; times < SPREAD; times++) {
    bits = mixed((bits + GOLDEN) >>> 0);
    const at = bits % DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + (bits >>> 31 === 0 ? -weight : weight);
  }
};

/** Adds the letters of a word, as signed feature hashing (Weinberger et al. 2009). */
const addLetters = (vector: Float64Array, word: string, weight: number): void => {
  const scaled = weight * LETTERS_SCALE;
  addFeature(vector, fnv1a(word), scaled);
  const marked = `<${word}>`;
  let grams = 0;
  for (const length of GRAM_LENGTHS) grams += Math.max(0, marked.length - length + 1);
  const each = (scaled * GRAMS_WEIGHT) / Math.sqrt(grams);
  for (const length of GRAM_LENGTHS)
    for (let at = 0; at + length <= marked.length; at++) addFeature(vector, fnv1a(marked, at, at + length), each);
};

const bytesOf = (base64: string): Buffer => Buffer.from(base64, "base64");

/** Creates the function that embeds one text. */
const createVectorOf = (meaning: Meaning): ((text: string) => number[]) => {
  const topics = new Int8Array(bytesOf(meaning.vectors));
  const weights = bytesOf(meaning.weights);
  const counts = bytesOf(meaning.counts);
  const parts = bytesOf(meaning.parts);
  const numbers = new Map(meaning.words.map((word, number) => [word, number]));
  // Where the parts of each word begin.
  const starts = new Uint32Array(meaning.words.length);
  for (let word = 1; word < starts.length; word++) starts[word] = (starts[word - 1] ?? 0) + 3 * (counts[word - 1] ?? 0);
  const openings = openingsOf(meaning.words);
  const isKnown = (name: string): boolean => numbers.has(name);
  const similarTo = createSpelling(meaning.words);

  /** The length of a topic's vector in its bytes. The first one serves for all, because all had the length 1. */
  let topicLength = 0;
  for (let at = 0; at < DIMENSIONS; at++) topicLength += (topics[at] ?? 0) ** 2;
  const topicScale = 1 / (Math.sqrt(topicLength) || 1);

  const about = new Float64Array(meaning.topics.length);
  const addMeaning = (word: number, weight: number): void => {
    const start = starts[word] ?? 0;
    const end = start + 3 * (counts[word] ?? 0);
    for (let at = start; at < end; at += 3) {
      const topic = (parts[at] ?? 0) + 256 * (parts[at + 1] ?? 0);
      about[topic] = (about[topic] ?? 0) + (weight * (parts[at + 2] ?? 0)) / PART_STEPS;
    }
  };

  return (text) => {
    const vector = new Float64Array(DIMENSIONS);
    about.fill(0);
    const words = foldedWords(text)
      .slice(0, MAX_WORDS)
      .map((word) => word.slice(0, WORD_LENGTH));
    for (const { name, at, inPhrase } of unitsOf(words, openings, isKnown)) {
      const place = (HALF_AT_WORD / (HALF_AT_WORD + at)) * (inPhrase ? IN_PHRASE : 1);
      const number = numbers.get(name);
      if (number !== undefined) {
        const weight = (place * (weights[number] ?? 0)) / WEIGHT_STEPS;
        addMeaning(number, weight);
        if (!name.includes(" ")) addLetters(vector, name, weight * (NUMBER.test(name) ? NUMBER_LETTERS : LETTERS));
      } else if (NUMBER.test(name)) addLetters(vector, name, place * NUMBER_LETTERS);
      else {
        addLetters(vector, name, place * UNKNOWN_LETTERS);
        for (const similar of similarTo(name)) addMeaning(similar.word, place * similar.share);
      }
    }
    let least = 0;
    for (const weight of about) least = Math.max(least, weight * MIN_TOPIC);
    for (let topic = 0; topic < about.length; topic++) {
      const weight = about[topic] ?? 0;
      if (weight <= least) continue;
      const start = topic * DIMENSIONS;
      const scaled = weight * topicScale;
      for (let at = 0; at < DIMENSIONS; at++) vector[at] = (vector[at] ?? 0) + scaled * (topics[start + at] ?? 0);
    }
    let length = 0;
    for (const value of vector) length += value * value;
    length = Math.sqrt(length);
    // The rest are zeros: the column has room for the vectors of providers, and zeros change no distance.
    const padded = new Array<number>(EMBEDDING_DIMENSIONS).fill(0);
    // No words, or (very rarely) words that cancel out. A zero vector has no direction, so a fixed one is used.
    if (length < 1e-9) padded[0] = 1;
    else for (let at = 0; at < DIMENSIONS; at++) padded[at] = (vector[at] ?? 0) / length;
    return padded;
  };
};

/**
 * Creates the embedder that works without a provider. The same text has the same vector on every machine.
 * @param latest returns what `learnMeaning` learned last; null if nothing was learned yet, and then `embed` throws.
 *   Whenever it returns another object, that one is used.
 */
export const createBuiltinEmbedder = (latest: () => Meaning | null): Embedder => {
  let used: Meaning | null = null;
  let vectorOf: ((text: string) => number[]) | null = null;
  const refresh = (): typeof vectorOf => {
    const meaning = latest();
    if (meaning !== null && meaning !== used) {
      vectorOf = createVectorOf(meaning);
      used = meaning;
    }
    return vectorOf;
  };
  // Now, so that the first text need not wait for it.
  refresh();
  return {
    model: MODEL,
    paid: false,
    async embed(texts, signal) {
      const embedText = refresh();
      if (embedText === null)
        throw new Error("No meanings of words are stored yet. A worker learns them when it starts.");
      return texts.map((text) => {
        signal.throwIfAborted();
        return embedText(text);
      });
    },
  };
};
