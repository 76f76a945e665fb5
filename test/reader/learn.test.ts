import test from "ava";
import { inOneGo } from "../../src/base/steps.ts";
import { annotate } from "../../src/reader/builtin/annotate.ts";
import { classifyAsk, useLearned } from "../../src/reader/builtin/classify.ts";
import { featuresOf } from "../../src/reader/builtin/features.ts";
import { type Words, wordKnowledge } from "../../src/reader/builtin/knowledge.ts";
import { sceneOf } from "../../src/reader/decide/context.ts";
import { createFeatures, term } from "../../src/reader/decide/features.ts";
import { chances, useWeights } from "../../src/reader/decide/model.ts";
import type { Example } from "../../src/reader/extraction.ts";
import { learnClassifiers } from "../../src/reader/training/classifiers.ts";
import { learn } from "../../src/reader/training/linear.ts";
import { seedWords } from "./vocabulary.ts";

const HEARD = new Set(["boat", "van", "caravan", "sofa", "berlin"]);
const seed = seedWords();
/** The small training set needs only a few words of the vocabulary. */
const words = {
  ...seed,
  labels: seed.labels.filter(([, , form]) => HEARD.has(form)),
};
const ask = (kind: string, path: string | null, ...texts: string[]): Example[] => {
  const [domain = null, category = null] = path?.split("/") ?? [];
  return texts.map((text) => ({ text, language: null, offer_kind: null, ask_kind: kind, domain, category }));
};

/** A small training set: a thing that stands idle is let, a thing that takes up room is sold. */
const EXAMPLES = [
  ...ask(
    "lease_out",
    "vehicles/boats",
    "Our boat stands idle, who would have it by the week",
    "The boat stands idle, anybody who would have it by the day",
  ),
  ...ask(
    "sell",
    "vehicles/trucks_vans",
    "My van takes up room, who would have it for good",
    "The van takes up room, anybody who would have it for good",
  ),
];

const annotated = (vocabulary: Words, text: string) => {
  const knowledge = wordKnowledge(vocabulary);
  return annotate(knowledge, sceneOf(text, knowledge.cues), []);
};

const kindOf = (text: string, examples = EXAMPLES): string | undefined => {
  const classifiers = inOneGo(useLearned({ ...words, classifiers: learnClassifiers({ vocabulary: words, examples }) }));
  return classifyAsk(classifiers, { annotations: annotated(words, text), price: null }).kind?.value;
};

test("a phrase learned with one thing applies to other things", (t) => {
  t.is(kindOf("The caravan stands idle, who would have it by the month"), "lease_out");
  t.is(kindOf("The caravan takes up room, who would have it for good"), "sell");
});

test("the same examples give exactly the same weights", (t) => {
  t.deepEqual(
    learnClassifiers({ vocabulary: words, examples: EXAMPLES }),
    learnClassifiers({ vocabulary: words, examples: EXAMPLES }),
  );
});

test("features name the category of things, places as places, numbers as numbers, and the size of prices", (t) => {
  const annotations = annotated(words, "a sofa in Berlin for 90 €");
  const price = { amount: 90, period: null, deposit: null };
  const { names } = featuresOf({ annotations, family: "ask_kind", price }, true).features;
  for (const name of [
    "word sofa",
    "word <home_garden>",
    "pair a <home_garden>",
    "pair in <place>",
    "pair for #",
    "sum 3",
    "thing home_garden/furniture",
  ])
    t.true(names?.includes(name), name);
});

test("additional examples change the classification", (t) => {
  const text = "Blorping my flurb until somebody quibbles";
  t.not(kindOf(text), "sell");
  t.is(
    kindOf(text, [
      ...EXAMPLES,
      ...ask("sell", null, "Blorping my gork until somebody quibbles", "Blorping two zogs until somebody quibbles"),
    ]),
    "sell",
  );
});

test("an unknown kind in an example is not learned", (t) => {
  const learned = learnClassifiers({
    vocabulary: words,
    examples: [...EXAMPLES, ...ask("blorp", null, "Blorping my gork")],
  });
  t.false(learned.ask_kind?.classes.includes("blorp") ?? true);
});

test("a category that the taxonomy no longer has is not given", (t) => {
  const learned = learnClassifiers({ vocabulary: words, examples: EXAMPLES });
  const taxonomy = words.taxonomy.map((one) => ({
    ...one,
    categories: one.categories.filter((name) => name !== "boats"),
  }));
  const annotations = annotated(words, "Our boat stands idle, who would have it by the week");
  const category = (now: typeof taxonomy) =>
    classifyAsk(inOneGo(useLearned({ ...words, taxonomy: now, classifiers: learned })), { annotations, price: null })
      .category?.value;
  t.is(category(words.taxonomy), "boats");
  t.not(category(taxonomy), "boats");
});

test("a category without examples is recognised by its words", (t) => {
  const taxonomy = words.taxonomy.map((one) =>
    one.domain === "vehicles" ? { ...one, categories: [...one.categories, "zorbs"] } : one,
  );
  const vocabulary: Words = {
    ...words,
    taxonomy,
    concepts: [
      ...words.concepts,
      {
        concept: "vehicles/zorbs",
        type: "category",
        domain: "vehicles",
        category: "zorbs",
        offer_kind: null,
        ask_kind: null,
        condition: null,
      },
    ],
    labels: [...words.labels, ["vehicles/zorbs", null, "zorb", 3, false]],
  };
  const classifiers = inOneGo(
    useLearned({ ...vocabulary, classifiers: learnClassifiers({ vocabulary, examples: EXAMPLES }) }),
  );
  const annotations = annotated(vocabulary, "A zorb, who would have it");
  t.is(classifyAsk(classifiers, { annotations, price: null }).category?.value, "zorbs");
});

test("without examples, no kind is given", (t) => {
  t.is(kindOf("The caravan stands idle", []), undefined);
  const classifiers = inOneGo(useLearned({ ...words, classifiers: {} }));
  t.deepEqual(classifyAsk(classifiers, { annotations: annotated(words, "a sofa"), price: null }), {
    kind: null,
    domain: null,
    category: null,
  });
});

const named = (...names: string[]) => {
  const features = createFeatures(true);
  for (const name of names) {
    const [template = "", one, other] = name.split(" ");
    features.add(
      term(template),
      one === undefined ? undefined : term(one),
      other === undefined ? undefined : term(other),
    );
  }
  return features;
};

test("a prior weight of a feature decides until examples say otherwise", (t) => {
  const prior = new Map([["told a", { a: 4 }]]);
  const examples = ["a", "b"].map((name) => ({ name, features: named() }));
  const { probabilities, classes } = useWeights(learn(examples, { balanced: true }, prior));
  t.deepEqual(classes, ["a", "b"]);
  t.true((probabilities(named("told a"))[0] ?? 0) > 0.9);
  t.is(probabilities(named())[0], 0.5);
});

test("a ranker learns which candidate of a text is sought, and when none is", (t) => {
  const groups = Array.from({ length: 40 }, (_, n) =>
    n % 4 === 3
      ? { candidates: [named("word paid"), named("word fee")], right: -1 }
      : { candidates: [named("word paid"), named("word asking"), named("word fee")], right: 1 },
  );
  const { score } = useWeights(learn(groups, { rate: 0.3 }));
  const chancesOf = (...candidates: string[]) => [...chances(candidates.map((one) => score(named(one))))];
  const [, asking = 0] = chancesOf("word paid", "word asking");
  t.true(asking > 0.8);
  t.true((chancesOf("word paid", "word fee").at(-1) ?? 0) > 0.8);
});

test("a feature has the same key by its name as by its parts", (t) => {
  const learned = learn(
    Array.from({ length: 8 }, (_, n) => ({ name: n % 2 === 0 ? "a" : "b", features: named(`pair x ${n % 2}`) })),
    { rate: 0.5 },
  );
  const { probabilities } = useWeights(learned);
  t.true((probabilities(named("pair x 0"))[0] ?? 0) > 0.7);
  t.true((probabilities(named("pair x 1"))[0] ?? 0) < 0.3);
});
