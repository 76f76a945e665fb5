import { ASK_KINDS, OFFER_KINDS } from "../../base/enums.ts";
import { type Annotations, annotate } from "../builtin/annotate.ts";
import { type ClassifierName, LABEL_GROUPS, type LabelGroup, labelGroupOf } from "../builtin/classify.ts";
import { featuresOf } from "../builtin/features.ts";
import { type Words, wordKnowledge } from "../builtin/knowledge.ts";
import { roleFeatures, roleOf } from "../builtin/reads_as.ts";
import { titleTextOf } from "../builtin/title_text.ts";
import { CONTACT_TRAINING, learnContacts } from "../decide/contacts.ts";
import { sceneOf } from "../decide/context.ts";
import type { Features } from "../decide/features.ts";
import { type JudgeName, useJudges } from "../decide/models.ts";
import { learnOrders, ORDER_TRAINING } from "../decide/orders.ts";
import { PLACE_TRAINING, placeExamples } from "../decide/place.ts";
import { judgePrices, type PriceModels, readPrice } from "../decide/price.ts";
import { TITLE_TRAINING, titleExamples } from "../decide/title.ts";
import type { Example, Weights } from "../extraction.ts";
import { type Judged, learn, type Ranked, type Training } from "./linear.ts";
import { isMarked, type Mark, parseMarks } from "./marks.ts";
import { learnPrices, PRICE_TRAINING } from "./prices.ts";

/**
 * Trains all models on the examples of the market. This takes some seconds, so the result is stored, and renewed only
 * when words, taxonomy or examples change.
 */

/**
 * Version of the training. Increase it when the same examples would give other models: when features are named or
 * weighted differently. All stored models are then trained again.
 */
export const LEARNING = 11;

/** Prior weights: how much a term of the lexicon counts for its own kind, category or domain before training. */
const KIND_PRIOR = 6;
const CATEGORY_PRIOR = 10;
const DOMAIN_PRIOR = 5;

/** How the classifiers of whole texts are trained. */
const CLASSIFYING: Training = { passes: 6, rate: 0.5, balanced: true };

/** The names of all models. */
type ModelName = ClassifierName | JudgeName;

/** All trained models, by name. */
export type Learned = Partial<Record<ModelName, Weights>>;

/** What an example teaches about its whole text. `category`: the class of the classifier, DOMAIN/CATEGORY. */
type Lesson = { isAsk: boolean; kind: string; category: string | null };

const lessonOf = ({ offer_kind, ask_kind, domain, category }: Example): Lesson => ({
  isAsk: ask_kind !== null,
  kind: ask_kind ?? offer_kind ?? "",
  category: category === null ? null : `${domain}/${category}`,
});

/** Whether an extraction can have the kind. An operator may have added others. */
const isKnown = ({ isAsk, kind }: Lesson): boolean =>
  (isAsk ? (ASK_KINDS as readonly string[]) : (OFFER_KINDS as readonly string[])).includes(kind);

/** An example, as far as a text is read before anything is judged. `marks`: null if it has none. */
type Seen = Lesson & { language: string | null; marks: readonly Mark[] | null; annotations: Annotations };

const see = (words: Words, examples: readonly Example[]): Seen[] => {
  const knowledge = wordKnowledge(words);
  return examples.flatMap((example) => {
    const lesson = lessonOf(example);
    if (!isKnown(lesson)) return [];
    const { text, marks } = parseMarks(example.text);
    const orders = marks.filter(({ role }) => role === "order");
    const annotations = annotate(knowledge, sceneOf(text, knowledge.cues), orders);
    return [{ ...lesson, language: example.language, marks: isMarked(example.text) ? marks : null, annotations }];
  });
};

const markOf = (marks: readonly Mark[], wanted: string): Mark | null =>
  marks.find(({ role }) => role === wanted) ?? null;

/** How the models of the judges are trained, each on what the marked texts teach under its name. */
const JUDGING: Readonly<Record<JudgeName, Training>> = {
  order: ORDER_TRAINING,
  place: PLACE_TRAINING,
  price: PRICE_TRAINING,
  sum: PRICE_TRAINING,
  price_period: PRICE_TRAINING,
  price_type: PRICE_TRAINING,
  ...CONTACT_TRAINING,
  title_begin: TITLE_TRAINING,
  title_end: TITLE_TRAINING,
};

/** What a marked text teaches each judge. */
const teach = (
  { annotations, language, category, isAsk }: Seen,
  marks: readonly Mark[],
): Record<JudgeName, readonly (Judged | Ranked)[]> => {
  const hints = { country: null, language: language ?? annotations.language };
  const [price, place] = [markOf(marks, "price"), markOf(marks, "place")];
  return {
    order: learnOrders(annotations, marks),
    place: placeExamples(annotations, marks),
    ...learnPrices(annotations, marks, annotations.isHidden, isAsk),
    ...learnContacts(annotations, marks, hints),
    ...titleExamples(titleTextOf(annotations, { category, price, place, isAsk }), marks),
  };
};

/**
 * Trains the models of judges.
 * @param lessons what each text teaches, by the name of the model
 */
export const trainJudges = <Name extends JudgeName>(
  lessons: readonly Readonly<Record<Name, readonly (Judged | Ranked)[]>>[],
): Partial<Record<Name, Weights>> => {
  const names = Object.keys(lessons[0] ?? {}) as Name[];
  const examplesOf = (name: Name) => lessons.flatMap((lesson) => lesson[name]);
  return Object.fromEntries(names.map((name) => [name, learn(examplesOf(name), JUDGING[name])])) as Partial<
    Record<Name, Weights>
  >;
};

/** An example with its features, those of its kind and category and those of what its author does. */
type Observed = Lesson & { features: Features; ofRole: Features };

const observe = (seen: readonly Seen[], judges: PriceModels): Observed[] =>
  seen.map(({ annotations, isAsk, kind, category }) => {
    const hints = { country: annotations.country, isAsk };
    const price = readPrice(judgePrices(annotations, annotations.isHidden, judges, hints), judges);
    const family = isAsk ? "ask_kind" : "kind";
    const { features } = featuresOf({ annotations, family, price }, true);
    return { isAsk, kind, category, features, ofRole: roleFeatures(annotations, true) };
  });

const trainClassifiers = ({ taxonomy }: Words, observed: readonly Observed[]): Learned => {
  const kindsOf = (ofAsks: boolean, kinds: readonly string[]): Weights =>
    learn(
      observed.filter(({ isAsk }) => isAsk === ofAsks).map(({ features, kind }): Judged => ({ features, name: kind })),
      CLASSIFYING,
      new Map(kinds.map((kind) => [`kind ${kind}`, { [kind]: KIND_PRIOR }])),
    );

  const paths = taxonomy.flatMap(({ domain, categories }) => categories.map((category) => `${domain}/${category}`));
  const otherGroups: readonly string[] = LABEL_GROUPS.filter((name) => taxonomy.some(({ domain }) => domain === name));
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
    ask_kind: kindsOf(true, ASK_KINDS),
    offer_kind: kindsOf(false, OFFER_KINDS),
    reads_as: learn(
      observed.flatMap(({ ofRole: features, kind, isAsk }): Judged[] => {
        const name = roleOf(kind, isAsk);
        return name === null ? [] : [{ features, name }];
      }),
      CLASSIFYING,
    ),
    ...Object.fromEntries(LABEL_GROUPS.map((name) => [name, trainGroup(name)])),
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
  const judges = trainJudges(seen.flatMap((one) => (one.marks === null ? [] : teach(one, one.marks))));
  const learned: Learned = { ...judges, ...trainClassifiers(vocabulary, observe(seen, useJudges(judges))) };
  // A taxonomy may have no category in a label group.
  return Object.fromEntries(Object.entries(learned).filter(([, { classes }]) => classes.length > 0));
};
