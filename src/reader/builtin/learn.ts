import { ASK_KINDS, OFFER_KINDS } from "../../database/enums.ts";
import type { Example, Vocabulary, Weights } from "../extraction.ts";
import { annotate } from "./annotate.ts";
import { type Features, learn } from "./classifier.ts";
import { CLASSIFIERS, type ClassifierName, type LabelGroup, labelGroupOf } from "./classify.ts";
import { featuresOf } from "./features.ts";
import { compileLexicon } from "./lexicon.ts";
import { readBudget, readPrice } from "./prices.ts";

/**
 * Trains the classifiers on the examples of the market. This takes some seconds, so the result is stored, and renewed
 * only when words, taxonomy or examples change.
 */

/**
 * Version of the training. Increase it when the same examples would give other classifiers: when features are named or
 * weighted differently. All stored classifiers are then trained again.
 */
export const LEARNING = 1;

/** Prior weights: how much a vocabulary term counts for its own kind, category or domain before training. */
const KIND_PRIOR = 6;
const CATEGORY_PRIOR = 10;
const DOMAIN_PRIOR = 5;

type LabelledExample = { features: Features; name: string };

/** All trained classifiers, by name. */
export type Learned = Partial<Record<ClassifierName, Weights>>;

/** The part of the vocabulary that determines the features of an example. */
export type Words = Pick<Vocabulary, "taxonomy" | "terms">;

const isKnown = ({ document, kind }: Example): boolean =>
  (document === "ask" ? (ASK_KINDS as readonly string[]) : (OFFER_KINDS as readonly string[])).includes(kind);

/** An example with its features. */
type Observed = Example & { features: Features };

/**
 * Computes the features of all examples. Examples of unknown kinds are skipped: an operator's mistake must not stop the
 * training.
 */
export const observe = (vocabulary: Words, examples: readonly Example[]): Observed[] => {
  const lexicon = compileLexicon(vocabulary);
  return examples.filter(isKnown).map((example) => {
    const annotations = annotate(lexicon, example.text);
    const price = (example.document === "ask" ? readBudget : readPrice)(example.text, { country: annotations.country });
    const family = example.document === "ask" ? "ask_kind" : "kind";
    return { ...example, features: featuresOf({ annotations, family, price }).features };
  });
};

/** Trains all classifiers. */
const learnFrom = ({ taxonomy }: Words, observed: readonly Observed[]): Learned => {
  const kindsOf = (document: Example["document"], kinds: readonly string[]): Weights =>
    learn(
      observed
        .filter((one) => one.document === document)
        .map(({ features, kind }): LabelledExample => ({ features, name: kind })),
      new Map(kinds.map((kind) => [`kind:${kind}`, { [kind]: KIND_PRIOR }])),
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
      prior.set(`thing:${category}`, { [category]: CATEGORY_PRIOR });
      const domain = `thing:${category.split("/")[0]}`;
      prior.set(domain, { ...prior.get(domain), [category]: DOMAIN_PRIOR });
    }
    const labelled = observed.flatMap(({ kind, category, features }): LabelledExample[] =>
      category !== null &&
      labelGroupOf(kind as Parameters<typeof labelGroupOf>[0]) === name &&
      belongsTo(name, category)
        ? [{ features, name: category }]
        : [],
    );
    return learn(labelled, prior);
  };

  const learned: Required<Learned> = {
    ask_kind: kindsOf("ask", ASK_KINDS),
    offer_kind: kindsOf("offer", OFFER_KINDS),
    goods: trainGroup("goods"),
    services: trainGroup("services"),
    jobs_projects: trainGroup("jobs_projects"),
    community: trainGroup("community"),
    general: trainGroup("general"),
  };
  // A taxonomy may have no category in a label group.
  return Object.fromEntries(Object.entries(learned).filter(([, { classes }]) => classes.length > 0));
};

/** The examples, and the vocabulary that determines their features. */
export type TrainingSet = { vocabulary: Words; examples: Example[] };

/** Trains all classifiers on the examples. */
export const learnClassifiers = ({ vocabulary, examples }: TrainingSet): Learned =>
  learnFrom(vocabulary, observe(vocabulary, examples));
