import { foldedWords, MAX_WORDS, openingsOf, unitsOf } from "./units.ts";
import { addTo, DIMENSIONS, lengthOf, normalise, randomVector } from "./vectors.ts";

/**
 * Learns what words mean from the lexicon and from example texts.
 *
 *   topic    a thing, category or domain of the lexicon
 *   meaning  of a word: some topics with weights. The lexicon says which topics a label names. The examples say with
 *            which topics a word occurs more often than by chance (positive pointwise mutual information, PPMI).
 *   vector   of a topic: a random vector that depends on its name, mixed with the vectors of its neighbours (its
 *            broader topics, its categories, its domain), after Chen et al., "Fast and Accurate Network Embeddings via
 *            Very Sparse Random Projection" (2019)
 *
 * So translations have nearly the same vector, and words of one category have similar ones. Because the random vectors
 * do not depend on the training set, an added label or example changes other words only a little: stored vectors can
 * still be compared with new ones, so they are not embedded again.
 */

/** A label: words that name a topic. `weight`: how surely, between 0 and 1. */
export type TopicLabel = { form: string; topic: string; weight: number };

/** A topic and one that is broader. */
export type Broader = { topic: string; broader: string; weight: number };

/** An example text without marks, with the topics that are known of it. */
type TopicText = { text: string; topics: readonly string[] };

/** What meanings are learned from. */
export type MeaningSet = { labels: readonly TopicLabel[]; broader: readonly Broader[]; texts: readonly TopicText[] };

/**
 * What was learned, as JSON. Arrays of bytes are encoded as base64.
 *
 * `topics`: the names. `vectors`: for each topic DIMENSIONS signed bytes, in 127ths of the largest number of all.
 * `words`: words and phrases, folded and sorted by bytes. `weights`: for each word one byte: how much it says, in
 * WEIGHT_STEPS. `counts`: for each word one byte: how many parts it has. `parts`: for each part a topic (two bytes, the
 * lower one first) and its weight (one byte, in PART_STEPS).
 */
export type Meaning = {
  topics: string[];
  vectors: string;
  words: string[];
  weights: string;
  counts: string;
  parts: string;
};

/** What is learned from nothing: texts are compared by their letters alone. */
export const NO_MEANING: Meaning = { topics: [], vectors: "", words: [], weights: "", counts: "", parts: "" };

/** The steps in which weights and parts are stored as bytes. The largest weights are a bit over 3. */
export const WEIGHT_STEPS = 80;
export const PART_STEPS = 160;

/** A topic whose vector has a component of this weight from its neighbours, and of 1 of its own. */
const NEIGHBOURS = 0.7;
/** How often neighbours are mixed in. The second time brings the neighbours' neighbours, such as the domain. */
const ROUNDS = 2;

/** The topics of a word beyond this number say little and would only need space. */
const MAX_PARTS = 6;
/** A part that is smaller than this share of the largest one is left out. */
const MIN_PART = 0.05;
/** How much the examples count for a word that the lexicon knows, compared to a label of weight 1. */
const TEXT_PART = 0.5;
/** Words in fewer examples are learned from the lexicon only: one or two texts do not show what a word means. */
const MIN_TEXTS = 2;
/** A text of so many units counts once for each pair of a word and a topic; the pairs of a longer one count less. */
const FULL_TEXT = 20;
/** Added to counts, so that a pair that was seen once or twice counts less (discounted PMI). */
const DISCOUNT = 2;
/** How much a text's own topics count for its words, compared to the topics that its words name. */
const OWN_TOPIC = 1.5;
const OWN_DOMAIN = 0.7;
/** A label of at least this weight names a topic in an example. A weaker one only hints at it. */
const NAMES = 0.9;
/** The share of examples with a word at which the word counts half (Arora et al. 2017, "a simple but tough-to-beat"). */
const HALF_AT_SHARE = 0.003;
/** The length of the topics of a word from the examples at which the word counts fully. */
const FULL_EVIDENCE = 4;

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");

/** A weight for each topic, by the topic's number. */
type Row = Map<number, number>;

const largest = (row: Row | undefined): number => {
  let most = 0;
  for (const weight of row?.values() ?? []) most = Math.max(most, weight);
  return most;
};

/** The numbers of the topics, in the order of their names. */
const numberTopics = ({ labels, broader, texts }: MeaningSet): Map<string, number> => {
  const names = new Set<string>();
  for (const { topic } of labels) names.add(topic);
  for (const one of broader) names.add(one.topic).add(one.broader);
  for (const { topics } of texts) for (const topic of topics) names.add(topic);
  return new Map([...names].toSorted(byBytes).map((name, number) => [name, number]));
};

/** The topics of each labelled word or phrase, from the lexicon. */
const labelled = (set: MeaningSet, topics: ReadonlyMap<string, number>): Map<string, Row> => {
  const rows = new Map<string, Row>();
  for (const { form, topic, weight } of set.labels) {
    const words = foldedWords(form);
    if (words.length === 0 || words.length > MAX_WORDS) continue;
    const name = words.join(" ");
    const row = rows.get(name) ?? new Map<number, number>();
    rows.set(name, row);
    const number = topics.get(topic) ?? 0;
    row.set(number, Math.max(row.get(number) ?? 0, weight));
  }
  return rows;
};

/** What the examples say about words: in how many of them a word is, and its PPMI with topics. */
type Observed = { texts: number; counts: Map<string, number>; rows: Map<string, Row> };

const observe = (set: MeaningSet, topics: ReadonlyMap<string, number>, labels: ReadonlyMap<string, Row>): Observed => {
  const openings = openingsOf(labels.keys());
  const texts = set.texts.map((text) => ({
    units: [...new Set(unitsOf(foldedWords(text.text), openings, (name) => labels.has(name)).map(({ name }) => name))],
    topics: text.topics,
  }));
  const counts = new Map<string, number>();
  for (const { units } of texts) for (const unit of units) counts.set(unit, (counts.get(unit) ?? 0) + 1);

  const rows = new Map<string, Row>();
  const ofTopic = new Float64Array(topics.size);
  const ofWord = new Map<string, number>();
  let total = 0;
  for (const { units, topics: own } of texts) {
    const present: Row = new Map();
    for (const topic of own) present.set(topics.get(topic) ?? 0, topic.includes("/") ? OWN_TOPIC : OWN_DOMAIN);
    for (const unit of units)
      for (const [topic, weight] of labels.get(unit) ?? []) if (weight >= NAMES) present.set(topic, 1);
    const share = Math.min(1, FULL_TEXT / units.length);
    for (const unit of units) {
      if ((counts.get(unit) ?? 0) < MIN_TEXTS) continue;
      const row = rows.get(unit) ?? new Map<number, number>();
      rows.set(unit, row);
      for (const [topic, weight] of present) {
        const seen = share * weight;
        row.set(topic, (row.get(topic) ?? 0) + seen);
        ofTopic[topic] = (ofTopic[topic] ?? 0) + seen;
        ofWord.set(unit, (ofWord.get(unit) ?? 0) + seen);
        total += seen;
      }
    }
  }
  for (const [word, row] of rows) {
    for (const [topic, seen] of row) {
      const information = Math.log((seen * total) / ((ofWord.get(word) ?? 1) * (ofTopic[topic] ?? 1)));
      if (information > 0) row.set(topic, (information * seen) / (seen + DISCOUNT));
      else row.delete(topic);
    }
  }
  return { texts: texts.length, counts, rows };
};

/** The strongest topics of a word. */
const strongest = (row: Row): [topic: number, weight: number][] => {
  const sorted = [...row].toSorted((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MAX_PARTS);
  const least = (sorted[0]?.[1] ?? 0) * MIN_PART;
  return sorted.filter(([, weight]) => weight >= least);
};

/** The vectors of the topics: a random one for each, mixed with those of its neighbours. */
const vectorsOf = (
  set: MeaningSet,
  topics: ReadonlyMap<string, number>,
  labels: ReadonlyMap<string, Row>,
): Float64Array[] => {
  const names = [...topics.keys()];
  const neighbours = names.map((): Row => new Map());
  for (const { topic, broader, weight } of set.broader)
    neighbours[topics.get(topic) ?? 0]?.set(topics.get(broader) ?? 0, weight);
  // A thing is a neighbour of the categories that share its labels.
  for (const [number, name] of names.entries()) {
    if (name.includes("/")) continue;
    const shared: Row = new Map();
    let all = 0;
    for (const row of labels.values()) {
      if (!row.has(number)) continue;
      for (const topic of row.keys()) {
        if (!names[topic]?.includes("/")) continue;
        shared.set(topic, (shared.get(topic) ?? 0) + 1);
        all++;
      }
    }
    for (const [topic, count] of shared) neighbours[number]?.set(topic, count / all);
  }
  const own = names.map(randomVector);
  let vectors = own;
  for (let round = 0; round < ROUNDS; round++) {
    const before = vectors;
    vectors = own.map((vector, number) => {
      const near = new Float64Array(DIMENSIONS);
      for (const [topic, weight] of neighbours[number] ?? []) addTo(near, before[topic] ?? [], weight);
      const sum = Float64Array.from(vector);
      addTo(sum, normalise(near), NEIGHBOURS);
      return normalise(sum);
    });
  }
  return vectors;
};

const largestNumber = (vectors: readonly Float64Array[]): number => {
  let most = 0;
  for (const vector of vectors) for (const value of vector) most = Math.max(most, Math.abs(value));
  return most;
};

const toByte = (value: number): number => Math.max(1, Math.min(255, Math.round(value)));

/**
 * Learns the meaning of words.
 * @param set its order does not matter
 * @returns the same bytes on every machine
 */
export const learnMeaning = (set: MeaningSet): Meaning => {
  const topics = numberTopics(set);
  const labels = labelled(set, topics);
  const { texts, counts, rows } = observe(set, topics, labels);
  const vectors = vectorsOf(set, topics, labels);

  const words: string[] = [];
  const weights: number[] = [];
  const partCounts: number[] = [];
  const parts: number[] = [];
  for (const word of [...new Set([...labels.keys(), ...rows.keys()])].toSorted(byBytes)) {
    const label = labels.get(word);
    const seen = new Map(strongest(rows.get(word) ?? new Map()));
    const evidence = lengthOf([...seen.values()]);
    const row: Row = new Map(label);
    const scale = (label === undefined ? 1 : TEXT_PART) / (evidence || 1);
    for (const [topic, weight] of seen) row.set(topic, (row.get(topic) ?? 0) + scale * weight);
    const chosen = strongest(row);
    if (chosen.length === 0) continue;
    const vector = new Float64Array(DIMENSIONS);
    for (const [topic, weight] of chosen) addTo(vector, vectors[topic] ?? [], weight);
    const length = lengthOf(vector);
    const share = (counts.get(word) ?? 0) / texts;
    const says = label === undefined ? Math.min(1, evidence / FULL_EVIDENCE) : 1 + largest(label);
    words.push(word);
    weights.push(toByte((says * WEIGHT_STEPS * HALF_AT_SHARE) / (HALF_AT_SHARE + share)));
    partCounts.push(chosen.length);
    for (const [topic, weight] of chosen) parts.push(topic & 0xff, topic >> 8, toByte((weight / length) * PART_STEPS));
  }
  const most = largestNumber(vectors);
  const bytes = Int8Array.from(
    vectors.flatMap((vector) => [...vector].map((value) => Math.round((value / most) * 127))),
  );
  return {
    topics: [...topics.keys()],
    vectors: base64(new Uint8Array(bytes.buffer)),
    words,
    weights: base64(Uint8Array.from(weights)),
    counts: base64(Uint8Array.from(partCounts)),
    parts: base64(Uint8Array.from(parts)),
  };
};
