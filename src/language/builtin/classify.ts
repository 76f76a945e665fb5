import type { ASK_KINDS, OFFER_KINDS, Vocabulary, Weights } from "../reading.ts";
import { type Classifier, type Features, useWeights } from "./classifier.ts";
import { type Seen, see } from "./features.ts";
import type { Hit } from "./lexicon.ts";
import type { Tally } from "./weigh.ts";

/**
 * What kind of offer or ask a text is, and of what. First the kind; then, among what there is of that kind, the category:
 * works are not mixed up with the things that they are done to. Both are learned from examples (learn.ts) over what the
 * vocabulary says (weigh.ts), and their probability is the confidence.
 */

export type OfferKind = (typeof OFFER_KINDS)[number];
export type AskKind = (typeof ASK_KINDS)[number];

/** A decision, how probable it is, and the term that says most for it. */
export type Decision<T extends string = string> = { value: T; confidence: number; hit: Hit };

export type Classified<K extends string> = {
  kind: Decision<K> | null;
  domain: Decision | null;
  category: Decision | null;
};

/** What categories are told apart by one classifier: those under which offers of the same sort are filed. */
export type Shelf = "goods" | "services" | "jobs_projects" | "community";

/** Where what answers is filed; goods are all that changes hands, for good or for a while. */
const SHELVES: Readonly<Partial<Record<AskKind | OfferKind, Shelf>>> = {
  hire: "services",
  service_offer: "services",
  offer_service: "jobs_projects",
  project_hire: "jobs_projects",
  dating: "community",
  friendship: "community",
};

export const shelfOf = (kind: AskKind | OfferKind): Shelf => SHELVES[kind] ?? "goods";

/** The names of the classifiers, as they are stored. */
export const CLASSIFIERS = ["ask_kind", "offer_kind", "goods", "services", "jobs_projects", "community"] as const;
export type ClassifierName = (typeof CLASSIFIERS)[number];
export type Classifiers = Readonly<Record<ClassifierName, Classifier>>;

const UNLEARNED: Weights = { classes: [], bias: [], features: {} };

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
  };
};

/** A text of which fewer words were ever heard of, in a row or alone, says nothing: "xyzzy 42". */
const LEAST_KNOWN = 4;

/** As many words as are quoted for what no single term says. */
const OPENING = 8;

/** What is less probable is left open: it would be wrong more often than right. */
const LEAST_PROBABILITY = 0.25;

const decided = <T extends string>(decision: Decision<T>): Decision<T> | null =>
  decision.confidence < LEAST_PROBABILITY ? null : decision;

const round = (probability: number): number => Math.round(probability * 100) / 100;

const bestOf = (tally: Tally, name: string): Hit | undefined => tally.get(name)?.best;

/** The strongest word of any category of a domain. */
const bestOfDomain = (things: Tally, domain: string): Hit | undefined => {
  let best: { hit: Hit; score: number } | undefined;
  for (const [name, { score, best: hit }] of things)
    if (name.split("/")[0] === domain && score > (best?.score ?? 0)) best = { hit, score };
  return best?.hit;
};

const file = (
  classifier: Classifier,
  features: Features,
  things: Tally,
  fallback: Hit,
): Pick<Classified<string>, "domain" | "category"> => {
  const categories = classifier.classify(features);
  const domains = new Map<string, number>();
  for (const { name, probability } of categories) {
    const domain = name.split("/")[0] ?? name;
    domains.set(domain, (domains.get(domain) ?? 0) + probability);
  }
  const [domain] = [...domains].sort(([, one], [, other]) => other - one);
  if (domain === undefined) return { domain: null, category: null };
  const category = categories.find(({ name }) => name.startsWith(`${domain[0]}/`));
  const hit = bestOfDomain(things, domain[0]) ?? fallback;
  return {
    domain: decided({ value: domain[0], confidence: round(domain[1]), hit }),
    category:
      category === undefined
        ? null
        : decided({
            value: category.name.slice(domain[0].length + 1),
            confidence: round(category.probability),
            hit: bestOf(things, category.name) ?? hit,
          }),
  };
};

const NOTHING = { kind: null, domain: null, category: null };

const classify = <K extends AskKind | OfferKind>(
  classifiers: Classifiers,
  name: "ask_kind" | "offer_kind",
  seen: Seen,
): Classified<K> => {
  const { tokens } = seen.read;
  const { features, things, kinds } = see(seen);
  const unheard = things.size === 0 && kinds.size === 0 && classifiers[name].knows(features) < LEAST_KNOWN;
  const [best] = classifiers[name].classify(features);
  if (best === undefined || unheard) return NOTHING;
  const kind = best.name as K;
  // What only the turns of the text say, it says from its first words on.
  const opening: Hit = {
    family: seen.family,
    value: kind,
    weight: 0,
    from: 0,
    to: Math.min(tokens.length, OPENING),
    term: "",
  };
  return {
    kind: decided({ value: kind, confidence: round(best.probability), hit: bestOf(kinds, kind) ?? opening }),
    ...file(classifiers[shelfOf(kind)], features, things, opening),
  };
};

/** Classifies an offer. */
export const classifyOffer = (classifiers: Classifiers, seen: Omit<Seen, "family">): Classified<OfferKind> =>
  classify(classifiers, "offer_kind", { ...seen, family: "kind" });

/** Classifies an ask: domain and category are those under which a matching offer is filed. */
export const classifyAsk = (classifiers: Classifiers, seen: Omit<Seen, "family">): Classified<AskKind> =>
  classify(classifiers, "ask_kind", { ...seen, family: "ask_kind" });
