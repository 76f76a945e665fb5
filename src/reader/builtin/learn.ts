import { ASK_KINDS, OFFER_KINDS } from "../../database/enums.ts";
import type { Example, Weights } from "../extraction.ts";
import type { Features } from "../judge/features.ts";
import { type Judged, learn, learnRanker, type Training } from "../judge/learn.ts";
import { isMarked, type Mark, parseMarks } from "../judge/marks.ts";
import {
  learnPrices,
  type PRICE_MODELS,
  type PriceLesson,
  type PriceModels,
  readPrice,
  usePrices,
} from "../judge/price.ts";
import { type Annotations, annotate } from "./annotate.ts";
import { CLASSIFIERS, type ClassifierName, type LabelGroup, labelGroupOf } from "./classify.ts";
import { featuresOf } from "./features.ts";
import { type Words, wordKnowledge } from "./knowledge.ts";

/**
 * Trains all models on the examples of the market. This takes some seconds, so the result is stored, and renewed only
 * when words, taxonomy or examples change.
 */

/**
 * Version of the training. Increase it when the same examples would give other models: when features are named or
 * weighted differently. All stored models are then trained again.
 */
export const LEARNING = 3;

/** Prior weights: how much a term of the lexicon counts for its own kind, category or domain before training. */
const KIND_PRIOR = 6;
const CATEGORY_PRIOR = 10;
const DOMAIN_PRIOR = 5;

/** How the classifiers of whole texts are trained, and how the judges of candidates are. */
const CLASSIFYING: Training = { passes: 6, rate: 0.5, balanced: true };
const JUDGING: Training = { passes: 12, rate: 0.05 };

/** The names of all models. */
export type ModelName = ClassifierName | (typeof PRICE_MODELS)[number];

/** All trained models, by name. */
export type Learned = Partial<Record<ModelName, Weights>>;

/** What an example teaches about its whole text. `category`: the class of the classifier, DOMAIN/CATEGORY. */
type Lesson = { document: "ask" | "offer"; kind: string; category: string | null };

const lessonOf = ({ offer_kind, ask_kind, domain, category }: Example): Lesson => ({
  document: ask_kind === null ? "offer" : "ask",
  kind: ask_kind ?? offer_kind ?? "",
  category: category === null ? null : `${domain}/${category}`,
});

/** Whether the contract has the kind. An operator may add others to the taxonomy, but no extraction can have them. */
const isKnown = ({ document, kind }: Lesson): boolean =>
  (document === "ask" ? (ASK_KINDS as readonly string[]) : (OFFER_KINDS as readonly string[])).includes(kind);

/** An example, read as far as a text is read before it is judged. */
type Seen = Lesson & { marks: readonly Mark[] | null; annotations: Annotations };

const see = (words: Words, examples: readonly Example[]): Seen[] => {
  const knowledge = wordKnowledge(words);
  return examples.flatMap((example) => {
    const lesson = lessonOf(example);
    if (!isKnown(lesson)) return [];
    const { text, marks } = parseMarks(example.text);
    return [{ ...lesson, marks: isMarked(example.text) ? marks : null, annotations: annotate(knowledge, text) }];
  });
};

const trainPrices = (seen: readonly Seen[]): Record<(typeof PRICE_MODELS)[number], Weights> => {
  const lessons = seen.flatMap(({ document, marks, annotations }): PriceLesson[] =>
    marks === null ? [] : [learnPrices(annotations, marks, annotations.isHidden, document === "ask")],
  );
  return {
    price: learnRanker(
      lessons.map(({ price }) => price),
      JUDGING,
    ),
    sum: learn(
      lessons.flatMap(({ sum }) => sum),
      JUDGING,
    ),
    price_period: learn(
      lessons.flatMap(({ price_period }) => price_period),
      JUDGING,
    ),
    price_type: learn(
      lessons.flatMap(({ price_type }) => price_type),
      JUDGING,
    ),
  };
};

/** An example with its features. */
type Observed = Lesson & { features: Features };

const observe = (seen: readonly Seen[], prices: PriceModels): Observed[] =>
  seen.map(({ annotations, ...example }) => {
    const isAsk = example.document === "ask";
    const price = readPrice(annotations, annotations.isHidden, prices, { country: annotations.country, isAsk });
    const family = isAsk ? "ask_kind" : "kind";
    return { ...example, features: featuresOf({ annotations, family, price }, true).features };
  });

const trainClassifiers = ({ taxonomy }: Words, observed: readonly Observed[]): Learned => {
  const kindsOf = (document: Lesson["document"], kinds: readonly string[]): Weights =>
    learn(
      observed
        .filter((one) => one.document === document)
        .map(({ features, kind }): Judged => ({ features, name: kind })),
      CLASSIFYING,
      new Map(kinds.map((kind) => [`kind ${kind}`, { [kind]: KIND_PRIOR }])),
    );

  const paths = taxonomy.flatMap(({ domain, categories }) => categories.map((category) => `${domain}/${category}`));
  const otherGroups: readonly string[] = CLASSIFIERS.filter((name) => taxonomy.some(({ domain }) => domain === name));
  const belongsTo = (group: LabelGroup, category: string): boolean => {
    const domain = category.split("/")[0] ?? category;
    if (group === "general") return true;
    return group === "goods" ? !otherGroups.includes(domain) : domain === group;
  };
  const trainGroup = (name: LabelGroup): Weights => {
    const own = paths.filter((category) => belongsTo(name, category));
    const prior = new Map<string, Record<string, number>>();
    for (const category of own) {
      prior.set(`thing ${category}`, { [category]: CATEGORY_PRIOR });
      const domain = `thing ${category.split("/")[0]}`;
      prior.set(domain, { ...prior.get(domain), [category]: DOMAIN_PRIOR });
    }
    const labelled = observed.flatMap(({ kind, category, features }): Judged[] =>
      category !== null &&
      labelGroupOf(kind as Parameters<typeof labelGroupOf>[0]) === name &&
      belongsTo(name, category)
        ? [{ features, name: category }]
        : [],
    );
    return learn(labelled, CLASSIFYING, prior);
  };

  return {
    ask_kind: kindsOf("ask", ASK_KINDS),
    offer_kind: kindsOf("offer", OFFER_KINDS),
    goods: trainGroup("goods"),
    services: trainGroup("services"),
    jobs_projects: trainGroup("jobs_projects"),
    community: trainGroup("community"),
    general: trainGroup("general"),
  };
};

/**
 * The labels of things, and which concept is broader than another: what a word means, for the built-in embedder. They
 * are arrays, because PostgreSQL makes thousands of arrays in half the time of objects.
 */
export type Things = {
  labels: (readonly [concept: string, form: string])[];
  broader: (readonly [concept: string, broader: string])[];
};

/** The examples, the words that determine their features, and the things. */
export type TrainingSet = { vocabulary: Words; things: Things; examples: Example[] };

/**
 * Trains all models on the examples. Texts without marks teach only their kind and category.
 * @throws if a mark in an example is broken
 */
export const learnClassifiers = ({ vocabulary, examples }: Pick<TrainingSet, "vocabulary" | "examples">): Learned => {
  const seen = see(vocabulary, examples);
  const prices = trainPrices(seen);
  const learned: Learned = { ...prices, ...trainClassifiers(vocabulary, observe(seen, usePrices(prices))) };
  // A taxonomy may have no category in a label group.
  return Object.fromEntries(Object.entries(learned).filter(([, { classes }]) => classes.length > 0));
};
