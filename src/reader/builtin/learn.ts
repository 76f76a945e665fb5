import { ASK_KINDS, OFFER_KINDS } from "../../database/enums.ts";
import type { Example, Vocabulary, Weights } from "../extraction.ts";
import { annotate } from "./annotate.ts";
import { type Features, learn } from "./classifier.ts";
import { CLASSIFIERS, type ClassifierName, type LabelGroup, labelGroupOf } from "./classify.ts";
import { featuresOf } from "./features.ts";
import { compileLexicon } from "./lexicon.ts";
import { readBudget, readPrice } from "./prices.ts";

/** Learns to classify from the examples of the market: takes some seconds, so it is done when they change and kept. */

/**
 * Counted up when the same examples would teach something else: when a word is seen as another feature, or weighed
 * otherwise. What was learned before is then learned anew.
 */
export const LEARNING = 1;

/** What a word of the vocabulary says for its own kind or category before any example does. */
const KIND_PRIOR = 6;
const CATEGORY_PRIOR = 10;
const DOMAIN_PRIOR = 5;

type Taught = { features: Features; name: string };

/** All that was learned, by the name of the classifier. */
export type Learned = Partial<Record<ClassifierName, Weights>>;

/** What is learned from: words and taxonomy say what is seen of an example. */
export type Words = Pick<Vocabulary, "taxonomy" | "terms">;

const isKnown = ({ document, kind }: Example): boolean =>
  (document === "ask" ? (ASK_KINDS as readonly string[]) : (OFFER_KINDS as readonly string[])).includes(kind);

/** An example and what classifiers see of it. */
type Observed = Example & { features: Features };

/** Looks at all examples. Those of kinds that there are not are passed over: an operator's slip must not stop reading. */
export const observe = (vocabulary: Words, examples: readonly Example[]): Observed[] => {
  const lexicon = compileLexicon(vocabulary);
  return examples.filter(isKnown).map((example) => {
    const annotations = annotate(lexicon, example.text);
    const price = (example.document === "ask" ? readBudget : readPrice)(example.text, { country: annotations.country });
    const family = example.document === "ask" ? "ask_kind" : "kind";
    return { ...example, features: featuresOf({ annotations, family, price }).features };
  });
};

/** Learns from what was observed. */
const learnFrom = ({ taxonomy }: Words, observed: readonly Observed[]): Learned => {
  const kindsOf = (document: Example["document"], kinds: readonly string[]): Weights =>
    learn(
      observed
        .filter((one) => one.document === document)
        .map(({ features, kind }): Taught => ({ features, name: kind })),
      new Map(kinds.map((kind) => [`kind:${kind}`, { [kind]: KIND_PRIOR }])),
    );

  const paths = taxonomy.flatMap(({ domain, categories }) => categories.map((category) => `${domain}/${category}`));
  const works: readonly string[] = CLASSIFIERS.filter((name) => taxonomy.some(({ domain }) => domain === name));
  const isOn = (shelf: LabelGroup, category: string): boolean => {
    const domain = category.split("/")[0] ?? category;
    if (shelf === "general") return true;
    return shelf === "goods" ? !works.includes(domain) : domain === shelf;
  };
  const shelf = (name: LabelGroup): Weights => {
    const own = paths.filter((category) => isOn(name, category));
    const prior = new Map<string, Record<string, number>>();
    for (const category of own) {
      prior.set(`thing:${category}`, { [category]: CATEGORY_PRIOR });
      const domain = `thing:${category.split("/")[0]}`;
      prior.set(domain, { ...prior.get(domain), [category]: DOMAIN_PRIOR });
    }
    const taught = observed.flatMap(({ kind, category, features }): Taught[] =>
      category !== null && labelGroupOf(kind as Parameters<typeof labelGroupOf>[0]) === name && isOn(name, category)
        ? [{ features, name: category }]
        : [],
    );
    return learn(taught, prior);
  };

  const learned: Required<Learned> = {
    ask_kind: kindsOf("ask", ASK_KINDS),
    offer_kind: kindsOf("offer", OFFER_KINDS),
    goods: shelf("goods"),
    services: shelf("services"),
    jobs_projects: shelf("jobs_projects"),
    community: shelf("community"),
    general: shelf("general"),
  };
  // A taxonomy may have nothing for a shelf.
  return Object.fromEntries(Object.entries(learned).filter(([, { classes }]) => classes.length > 0));
};

/** The examples, and the words by which they are seen. */
export type TrainingSet = { vocabulary: Words; examples: Example[] };

/** Learns to classify from examples. */
export const learnClassifiers = ({ vocabulary, examples }: TrainingSet): Learned =>
  learnFrom(vocabulary, observe(vocabulary, examples));
