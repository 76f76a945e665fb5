import type { ASK_KINDS, OFFER_KINDS } from "../../database/enums.ts";
import type { Vocabulary, Weights } from "../extraction.ts";
import { type Classifier, type Features, useWeights } from "./classifier.ts";
import { type FeatureSource, featuresOf } from "./features.ts";
import type { Hit } from "./lexicon.ts";
import type { Tally } from "./weigh.ts";

/**
 * What kind of offer or ask a text is, and of what: for each kind the category among what there is of that kind, so that
 * works are not mixed up with the things that they are done to, and the best of these pairs. Both are learned from examples (learn.ts) over what the
 * vocabulary says (weigh.ts), and their probability is the confidence.
 */

/** What an offer is. */
export type OfferKind = (typeof OFFER_KINDS)[number];
/** What an ask looks for. */
export type AskKind = (typeof ASK_KINDS)[number];

/** A decision, how probable it is, and the term that says most for it. */
export type Decision<T extends string = string> = { value: T; confidence: number; hit: Hit };

/** The kind, domain and category of a text, each with how sure it is. */
export type Classified<K extends string> = {
  kind: Decision<K> | null;
  domain: Decision | null;
  category: Decision | null;
};

/** What categories are told apart by one classifier: those under which offers of the same sort are filed. */
export type LabelGroup = "goods" | "services" | "jobs_projects" | "community" | "general";

/** Where what answers is filed; goods are all that changes hands, for good or for a while. Who only asks may ask of anything. */
const LABEL_GROUPS: Readonly<Partial<Record<AskKind | OfferKind, LabelGroup>>> = {
  hire: "services",
  service_offer: "services",
  offer_service: "jobs_projects",
  project_hire: "jobs_projects",
  dating: "community",
  friendship: "community",
  general: "general",
};

/** The label group of the categories of a kind. */
export const labelGroupOf = (kind: AskKind | OfferKind): LabelGroup => LABEL_GROUPS[kind] ?? "goods";

/** The names of the classifiers, as they are stored. */
export const CLASSIFIERS = [
  "ask_kind",
  "offer_kind",
  "goods",
  "services",
  "jobs_projects",
  "community",
  "general",
] as const;
/** The name of a classifier. */
export type ClassifierName = (typeof CLASSIFIERS)[number];
/** All classifiers that were learned. */
export type Classifiers = Readonly<Record<ClassifierName, Classifier>>;

const UNLEARNED: Weights = { classes: [], bias: [], features: [], weights: "" };

/** Makes ready for use what was learned, as far as the taxonomy still has it. What was not learned yet says nothing. */
export const useLearned = ({ taxonomy, classifiers }: Vocabulary): Classifiers => {
  const categories = new Set(
    taxonomy.flatMap(({ domain, categories }) => categories.map((category) => `${domain}/${category}`)),
  );
  const use = (name: ClassifierName): Classifier => {
    const learned = classifiers[name] ?? UNLEARNED;
    return useWeights(learned, (one) => !one.includes("/") || categories.has(one));
  };
  return {
    ask_kind: use("ask_kind"),
    offer_kind: use("offer_kind"),
    goods: use("goods"),
    services: use("services"),
    jobs_projects: use("jobs_projects"),
    community: use("community"),
    general: use("general"),
  };
};

/** A text of which fewer words were ever heard of, in a row or alone, says nothing: "xyzzy 42". */
const LEAST_KNOWN = 4;

/** As many words as are quoted for what no single term says. */
const OPENING = 8;

/** What is less probable is left open. Of strangers' texts those with a quarter to a half were right as often as not. */
const LEAST_PROBABILITY = 0.25;

const decided = <T extends string>(value: T, probability: number, hit: Hit): Decision<T> | null =>
  probability < LEAST_PROBABILITY ? null : { value, confidence: Math.round(probability * 100) / 100, hit };

/**
 * A kind is the more probable the more certain its category is, by this power of it: "sofa" is bought rather than moved,
 * since only as furniture it is at home. Set by what came out best for examples that were left out.
 */
const WITH_CATEGORY = 0.5;

const NOBODY = { kind: null, found: null, score: 0 };

const bestOf = (tally: Tally, name: string): Hit | undefined => tally.get(name)?.best;

/** The strongest word of any category of a domain. */
const bestOfDomain = (things: Tally, domain: string): Hit | undefined => {
  let best: { hit: Hit; score: number } | undefined;
  for (const [name, { score, best: hit }] of things)
    if (name.split("/")[0] === domain && score > (best?.score ?? 0)) best = { hit, score };
  return best?.hit;
};

/** The best of the categories on a shelf, and how probable it and its domain are; null of an empty shelf. */
type Filed = { domain: string; category: string; ofDomain: number; ofCategory: number };

const file = (shelf: Classifier, features: Features): Filed | null => {
  const categories = shelf.classify(features).map(({ name, probability }) => {
    const [domain = name, category = name] = name.split("/");
    return { domain, category, probability };
  });
  const domains = new Map<string, number>();
  for (const { domain, probability } of categories) domains.set(domain, (domains.get(domain) ?? 0) + probability);
  const [best] = [...domains].sort(([, one], [, other]) => other - one);
  const category = categories.find(({ domain }) => domain === best?.[0]);
  return best === undefined || category === undefined
    ? null
    : { domain: best[0], category: category.category, ofDomain: best[1], ofCategory: category.probability };
};

const NOTHING = { kind: null, domain: null, category: null };

const classify = <K extends AskKind | OfferKind>(
  classifiers: Classifiers,
  name: "ask_kind" | "offer_kind",
  source: FeatureSource,
): Classified<K> => {
  const { tokens } = source.annotations;
  const { features, things, kinds } = featuresOf(source);
  if (things.size === 0 && kinds.size === 0 && classifiers[name].knows(features) < LEAST_KNOWN) return NOTHING;
  const filed: Readonly<Record<LabelGroup, Filed | null>> = {
    goods: file(classifiers.goods, features),
    services: file(classifiers.services, features),
    jobs_projects: file(classifiers.jobs_projects, features),
    community: file(classifiers.community, features),
    general: file(classifiers.general, features),
  };
  const candidates = classifiers[name].classify(features).map(({ name: kind, probability }) => {
    const found = filed[labelGroupOf(kind as K)];
    return { kind: kind as K, found, score: probability * (found?.ofCategory ?? 0) ** WITH_CATEGORY };
  });
  const best = candidates.reduce((one, other) => (other.score > one.score ? other : one), candidates[0] ?? NOBODY);
  const all = candidates.reduce((sum, { score }) => sum + score, 0);
  if (best.kind === null || all === 0) return NOTHING;
  // What only the turns of the text say, it says from its first words on.
  const opening: Hit = {
    family: source.family,
    value: best.kind,
    weight: 0,
    from: 0,
    to: Math.min(tokens.length, OPENING),
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

/** Classifies an ask: domain and category are those under which a matching offer is filed. */
export const classifyAsk = (classifiers: Classifiers, source: Omit<FeatureSource, "family">): Classified<AskKind> =>
  classify(classifiers, "ask_kind", { ...source, family: "ask_kind" });
