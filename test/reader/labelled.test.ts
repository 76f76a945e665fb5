import test from "ava";
import { annotate } from "../../src/reader/builtin/annotate.ts";
import { knowledgeOf } from "../../src/reader/builtin/knowledge.ts";
import { sceneOf } from "../../src/reader/decide/context.ts";
import { useJudges } from "../../src/reader/decide/models.ts";
import { judgePrices, type PriceModels, readPrice } from "../../src/reader/decide/price.ts";
import type { Example } from "../../src/reader/extraction.ts";
import { trainJudges } from "../../src/reader/training/classifiers.ts";
import { isMarked, parseMarks } from "../../src/reader/training/marks.ts";
import { learnPrices } from "../../src/reader/training/prices.ts";
import { seedExamples, seedVocabulary } from "./vocabulary.ts";

/**
 * What a newcomer does when the price of a text is read wrong: add the text with marks to db/data/example.tsv, and train.
 * The models of prices are learned from all shipped texts with marks, once without and once with the line.
 */

/** Another sum than the price says more in each of them, to the shipped models. Which ones changes with the examples. */
const LINES = [
  "Telescope with tripod. Insured for [[sum other 700|700 EUR]], glimmers at [[price 260 EUR|260 EUR]].",
  "Telescope with tripod, insured for [[sum other 700|700 EUR]]. Shake hands at [[price 260 EUR|260 EUR]].",
  "Kayak with paddle. Our nephew floated [[sum other 200|200 EUR]] last week, we shook our heads. We will part with it at " +
    "[[price 320 EUR|320 EUR]].",
  "Upright piano, tuned in May. The shop on the corner has the twin for [[sum other 1400|1400 EUR]]. Bring " +
    "[[price 600 EUR|600 EUR]] and a van.",
  "Loom, four shafts. A dealer muttered [[sum other 880|880 EUR]], [[price 410 EUR|410 EUR]] and I help you carry.",
];

/** Adverts whose price no line may change, each with its price. */
const PLAIN: readonly (readonly [advert: string, price: string])[] = [
  ["Sofa, grey, 180 EUR, pick up in Berlin.", "180 EUR"],
  ["Verkaufe Fahrrad, 26 Zoll, 120 € VB. Köln.", "120 EUR"],
  ["iPhone 13, 128 GB, £350. Leeds.", "350 GBP"],
  ["Vends canapé, 3 places, 250 €. Lyon.", "250 EUR"],
  ["Vendo bicicleta, 90 €. Sevilla.", "90 EUR"],
  ["Affitto bilocale, 700 euro al mese, Torino.", "700 EUR"],
  ["Sprzedam rower, 400 zł, Kraków.", "400 PLN"],
  ["Te koop: bank, € 150. Utrecht.", "150 EUR"],
  ["Vendo sofá, 200 €, Lisboa.", "200 EUR"],
  ["Flat to rent in Leeds, £800 per month, deposit £900.", "800 GBP"],
  ["Guitar lessons, 25 EUR per hour, all levels.", "25 EUR"],
  ["Boxes for free, to be collected on Friday.", "0"],
];

/** One line may change the price of one text in this many. Such a text has two sums that are about as probable. */
const ONE_IN = 200;

const knowledge = knowledgeOf(seedVocabulary());

const see = ({ text: written, ask_kind }: Pick<Example, "text" | "ask_kind">) => {
  const { text, marks } = parseMarks(written);
  const orders = marks.filter(({ role }) => role === "order");
  const annotations = annotate(knowledge, sceneOf(text, knowledge.cues), orders);
  const isAsk = ask_kind !== null;
  return { annotations, isAsk, lesson: learnPrices(annotations, marks, annotations.isHidden, isAsk) };
};
type Seen = ReturnType<typeof see>;

const offer = (text: string): Seen => see({ text, ask_kind: null });

const found = ({ annotations, isAsk }: Seen, models: PriceModels) =>
  readPrice(judgePrices(annotations, annotations.isHidden, models, { country: annotations.country, isAsk }), models);

const priceOf = (one: Seen, models: PriceModels): string => {
  const price = found(one, models);
  return [price?.amount, price?.currency].filter((part) => part != null).join(" ");
};

/** All of a price but its confidence, which changes a little with every example. */
const wholePriceOf = (one: Seen, models: PriceModels): string =>
  JSON.stringify({ ...found(one, models), confidence: undefined });

/** The price that is marked. */
const marked = (line: string): string => /\[\[price ([\d.]+ [A-Z]{3})\|/.exec(line)?.[1] ?? "";

test("one labelled line corrects the price of a text, and hardly that of any other", (t) => {
  const shipped = seedExamples()
    .filter(({ text }) => isMarked(text))
    .map(see);
  t.true(shipped.length > 3000);
  const plain = PLAIN.map(([text]) => offer(text));
  const prices = PLAIN.map(([, price]) => price);
  const before = shipped.map((one) => wholePriceOf(one, knowledge.judges));
  t.deepEqual(
    plain.map((one) => priceOf(one, knowledge.judges)),
    prices,
  );

  const wrong = LINES.filter((line) => priceOf(offer(line), knowledge.judges) !== marked(line));
  t.true(wrong.length > 0, "write a line whose price is read wrong");
  for (const line of wrong) {
    const taught = offer(line);
    const models = useJudges(trainJudges([...shipped, taught].map(({ lesson }) => lesson)));
    t.is(priceOf(taught, models), marked(line), line);
    const changed = shipped.filter((one, at) => wholePriceOf(one, models) !== before[at]).length;
    t.log(`${changed} of ${shipped.length} prices changed: ${line}`);
    t.true(changed * ONE_IN <= shipped.length, `${changed} of ${shipped.length} prices changed: ${line}`);
    t.deepEqual(
      plain.map((one) => priceOf(one, models)),
      prices,
      line,
    );
  }
});
