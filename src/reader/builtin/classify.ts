import type { ASK_KINDS, OFFER_KINDS } from "../../base/enums.ts";
import type { Steps } from "../../base/steps.ts";
import type { Features } from "../decide/features.ts";
import { type Model, UNTRAINED, useWeights } from "../decide/model.ts";
import type { Vocabulary } from "../extraction.ts";
import { type FeatureSource, featuresOf } from "./features.ts";
import type { Hit } from "./lexicon.ts";
import type { Tally } from "./weigh.ts";

/**
 * Decides the kind of an offer or ask, and its domain and category.
 *
 * For each kind, only the categories of its label group are candidates, so that services are not confused with the
 * goods they are about. The best pair of kind and category is chosen. Both classifiers are trained on examples
 * (training/); the evidence of the vocabulary (weigh.ts) is among their features. The probability is the confidence.
 */

/** What an offer is. */
export type OfferKind = (typeof OFFER_KINDS)[number];
/** What an ask looks for. */
export type AskKind = (typeof ASK_KINDS)[number];

/** A decision, its probability, and the term that supports it most. */
export type Decision<T extends string = string> = { value: T; confidence: number; hit: Hit };

/** The kind, domain and category of a text, each with its confidence. */
export type Classified<K extends string> = {
  kind: Decision<K> | null;
  domain: Decision | null;
  category: Decision | null;
};

/** The groups of categories, each with a classifier of its own. */
export const LABEL_GROUPS = ["goods", "services", "jobs_projects", "community", "general"] as const;
/** A group of categories that one classifier tells apart: those under which offers of the same sort are filed. */
export type LabelGroup = (typeof LABEL_GROUPS)[number];

/**
 * The label group of each kind. Kinds that are not listed have "goods": everything that is sold or lent. A general ask
 * may be about anything.
 */
const GROUP_OF_KIND: Readonly<Partial<Record<AskKind | OfferKind, LabelGroup>>> = {
  hire: "services",
  service_offer: "services",
  offer_service: "jobs_projects",
  project_hire: "jobs_projects",
  dating: "community",
  friendship: "community",
  general: "general",
};

/** The label group of the categories of a kind. */
export const labelGroupOf = (kind: AskKind | OfferKind): LabelGroup => GROUP_OF_KIND[kind] ?? "goods";

/** The names under which the classifiers are stored. */
const CLASSIFIERS = ["ask_kind", "offer_kind", "reads_as", ...LABEL_GROUPS] as const;
/** The name of a classifier. */
export type ClassifierName = (typeof CLASSIFIERS)[number];
/** All trained classifiers, ready for use. */
export type Classifiers = Readonly<Record<ClassifierName, Model>>;

/**
 * Loads the stored classifiers, without categories that the taxonomy no longer has. A classifier that was not trained
 * yet has no classes.
 */
export function* useLearned({ taxonomy, classifiers }: Vocabulary): Steps<Classifiers> {
  const categories = new Set(
    taxonomy.flatMap(({ domain, categories }) => categories.map((category) => `${domain}/${category}`)),
  );
  const models: [ClassifierName, Model][] = [];
  for (const name of CLASSIFIERS) {
    yield;
    models.push([name, useWeights(classifiers[name] ?? UNTRAINED, (one) => !one.includes("/") || categories.has(one))]);
  }
  return Object.fromEntries(models) as Classifiers;
}

/**
 * A text without vocabulary terms is not classified if fewer of its words and word pairs are known from training:
 * "xyzzy 42".
 */
const MIN_KNOWN = 4;

/** How many words are quoted if no single term supports the decision. */
const QUOTED_WORDS = 8;

/**
 * A less probable decision is left open. In texts by strangers, decisions with a probability of 0.25 to 0.5 were right
 * about half of the time.
 */
const MIN_PROBABILITY = 0.25;

const decided = <T extends string>(value: T, probability: number, hit: Hit): Decision<T> | null =>
  probability < MIN_PROBABILITY ? null : { value, confidence: Math.round(probability * 100) / 100, hit };

/**
 * The score of a kind is its probability times the probability of its best category raised to this power. "sofa" is
 * bought rather than moved, since it is a clear category only among goods. The value gave the best results on held-out
 * examples.
 */
const CATEGORY_POWER = 0.5;

const NO_CANDIDATE = { kind: null, found: null, score: 0 };

const bestOf = (tally: Tally, name: string): Hit | undefined => tally.get(name)?.best;

/** The strongest term of any category of a domain. */
const bestOfDomain = (things: Tally, domain: string): Hit | undefined => {
  let best: { hit: Hit; score: number } | undefined;
  for (const [name, { score, best: hit }] of things)
    if (name.split("/")[0] === domain && score > (best?.score ?? 0)) best = { hit, score };
  return best?.hit;
};

/** The best category of a label group, and the probabilities of its domain and of the category. */
type BestCategory = { domain: string; category: string; ofDomain: number; ofCategory: number };

const bestCategory = (classifier: Model, features: Features): BestCategory | null => {
  const probabilities = classifier.probabilities(features);
  const categories = classifier.classes
    .map((name, one) => {
      const [domain = name, category = name] = name.split("/");
      return { domain, category, probability: probabilities[one] ?? 0 };
    })
    .sort((a, b) => b.probability - a.probability);
  const domains = new Map<string, number>();
  for (const { domain, probability } of categories) domains.set(domain, (domains.get(domain) ?? 0) + probability);
  const [best] = [...domains].sort(([, one], [, other]) => other - one);
  const category = categories.find(({ domain }) => domain === best?.[0]);
  return best === undefined || category === undefined
    ? null
    : { domain: best[0], category: category.category, ofDomain: best[1], ofCategory: category.probability };
};

const UNCLASSIFIED = { kind: null, domain: null, category: null };

const classify = <K extends AskKind | OfferKind>(
  classifiers: Classifiers,
  name: "ask_kind" | "offer_kind",
  source: FeatureSource,
): Classified<K> => {
  const { words: tokens } = source.annotations;
  const { features, things, kinds } = featuresOf(source, false);
  if (things.size === 0 && kinds.size === 0 && classifiers[name].knows(features) < MIN_KNOWN) return UNCLASSIFIED;
  const bestInGroup = new Map(LABEL_GROUPS.map((group) => [group, bestCategory(classifiers[group], features)]));
  const probabilities = classifiers[name].probabilities(features);
  const candidates = classifiers[name].classes.map((kind, one) => {
    const found = bestInGroup.get(labelGroupOf(kind as K)) ?? null;
    return { kind: kind as K, found, score: (probabilities[one] ?? 0) * (found?.ofCategory ?? 0) ** CATEGORY_POWER };
  });
  const best = candidates.reduce(
    (one, other) => (other.score > one.score ? other : one),
    candidates[0] ?? NO_CANDIDATE,
  );
  const all = candidates.reduce((sum, { score }) => sum + score, 0);
  if (best.kind === null || all === 0) return UNCLASSIFIED;
  // If no single term supports the decision, the first words of the text are quoted.
  const opening: Hit = {
    family: source.family,
    value: best.kind,
    weight: 0,
    from: 0,
    to: Math.min(tokens.length, QUOTED_WORDS),
    term: "",
  };
  const { kind, found, score } = best;
  const hit = found === null ? opening : (bestOfDomain(things, found.domain) ?? opening);
  return {
    kind: decided(kind, score / all, bestOf(kinds, kind) ?? opening),
    domain: found && decided(found.domain, found.ofDomain, hit),
    category:
      found && decided(found.category, found.ofCategory, bestOf(things, `${found.domain}/${found.category}`) ?? hit),
  };
};

/** Classifies an offer. */
export const classifyOffer = (classifiers: Classifiers, source: Omit<FeatureSource, "family">): Classified<OfferKind> =>
  classify(classifiers, "offer_kind", { ...source, family: "kind" });

/** Classifies an ask. Domain and category are those under which a matching offer is filed. */
export const classifyAsk = (classifiers: Classifiers, source: Omit<FeatureSource, "family">): Classified<AskKind> =>
  classify(classifiers, "ask_kind", { ...source, family: "ask_kind" });
