import { ASK_KINDS, type Vocabulary } from "../reading.ts";
import type { AskKind, Classified } from "./classify.ts";
import { type Learned, learnKinds } from "./learned.ts";

/** What the examples of the vocabulary teach: the kinds of ask, and what of work or company is wanted. */

export type Taught = { kinds: Learned<AskKind>; categories: Learned<string> };

const ASK_KIND: ReadonlySet<string> = new Set<AskKind>(ASK_KINDS);
const isAskKind = (kind: string): kind is AskKind => ASK_KIND.has(kind);

/** Learns from examples. Kinds that there are none of are passed over: an operator's slip must not stop reading. */
export const learnAsks = ({ asks }: Vocabulary, turnsIn: (text: string) => string[]): Taught => {
  const examples = asks.map(({ text, kind, category }) => ({ turns: turnsIn(text), kind, category }));
  return {
    kinds: learnKinds(examples.flatMap(({ turns, kind }) => (isAskKind(kind) ? [{ turns, kind }] : []))),
    categories: learnKinds(
      examples.flatMap(({ turns, category }) => (category === null ? [] : [{ turns, kind: category }])),
    ),
  };
};

/** Where what is wanted of people is filed: what it is done to, or with, says less than how it is said. */
const HOMES: Readonly<Partial<Record<AskKind, string>>> = {
  hire: "services",
  offer_service: "jobs_projects",
  friendship: "community",
};

/** The rest of a domain, which words of nothing in particular lead to. */
const isRest = (category: string): boolean => category.startsWith("other_");

/** The logarithm of how much likelier than chance a category is. Of examples that were left out, two of three above it were right. */
const LIKELY = 1.2;

const BY_EXAMPLE_CONFIDENCE = 0.6;

/** Files an ask for work or company by what examples say of its turns, where its words do not. */
export const fileByExamples = (
  classified: Classified<AskKind>,
  evidence: Partial<Record<string, number>>,
): Classified<AskKind> => {
  const { kind, domain, category } = classified;
  const home = kind === null ? undefined : HOMES[kind.value];
  if (kind === null || home === undefined || (domain !== null && domain.value !== home)) return classified;
  if (category !== null && !isRest(category.value)) return classified;
  const [best] = Object.entries(evidence)
    .filter(([path]) => path.startsWith(`${home}/`))
    .sort(([, one], [, other]) => (other ?? 0) - (one ?? 0));
  if (best === undefined || (best[1] ?? 0) < LIKELY) return classified;
  const { hit } = domain ?? kind;
  return {
    kind,
    domain: domain ?? { value: home, confidence: BY_EXAMPLE_CONFIDENCE, hit },
    category: { value: best[0].slice(home.length + 1), confidence: BY_EXAMPLE_CONFIDENCE, hit },
  };
};
