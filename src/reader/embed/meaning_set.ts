import type { TrainingSet } from "../training/classifiers.ts";
import { parseMarks } from "../training/marks.ts";
import type { Broader, MeaningSet, TopicLabel } from "./learn.ts";

/** Makes the set that meanings are learned from out of the market's training set. */

/**
 * How surely a label names its topic. A thing is most specific. The label of a category says what the thing is only
 * roughly, and that of a domain hardly at all; their own weights go up to FULL_WEIGHT.
 */
const THING = 1;
const CATEGORY = 0.6;
const DOMAIN = 0.25;
const FULL_WEIGHT = 3;

/** How near a category is to its domain, compared to a thing and the broader thing. */
const CATEGORY_TO_DOMAIN = 0.5;

/** The name of a category as people write it: the text of an offer that is embedded contains it. */
const nameOf = (key: string): string => key.replaceAll("_", " ");

/** Returns the topics, their labels and the example texts of a training set. */
export const meaningSetOf = ({ vocabulary, things, examples }: TrainingSet): MeaningSet => {
  const concepts = new Map(vocabulary.concepts.map((concept) => [concept.concept, concept]));
  const labels: TopicLabel[] = things.labels.map(([topic, form]) => ({ form, topic, weight: THING }));
  for (const [name, , form, weight] of vocabulary.labels) {
    const concept = concepts.get(name);
    const share = Math.min(weight, FULL_WEIGHT) / FULL_WEIGHT;
    if (concept?.type === "category")
      labels.push({ form, topic: `${concept.domain}/${concept.category}`, weight: CATEGORY * share });
    if (concept?.type === "domain") labels.push({ form, topic: concept.domain, weight: DOMAIN * share });
  }
  const broader: Broader[] = things.broader.map(([topic, name]) => ({ topic, broader: name, weight: 1 }));
  for (const { domain, categories } of vocabulary.taxonomy) {
    labels.push({ form: nameOf(domain), topic: domain, weight: 1 });
    for (const category of categories) {
      const topic = `${domain}/${category}`;
      labels.push({ form: nameOf(category), topic, weight: 1 });
      broader.push({ topic, broader: domain, weight: CATEGORY_TO_DOMAIN });
    }
  }
  return {
    labels,
    broader,
    texts: examples.map(({ text, domain, category }) => ({
      text: parseMarks(text).text,
      topics: domain === null || category === null ? [] : [`${domain}/${category}`, domain],
    })),
  };
};
