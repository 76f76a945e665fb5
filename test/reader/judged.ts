import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { annotate } from "../../src/reader/builtin/annotate.ts";
import { knowledgeOf } from "../../src/reader/builtin/knowledge.ts";
import { placeTextOf, titleTextOf } from "../../src/reader/builtin/place_text.ts";
import type { Weights } from "../../src/reader/extraction.ts";
import { learnRanker } from "../../src/reader/judge/learn.ts";
import { isMarked, type Mark, parseMarks } from "../../src/reader/judge/marks.ts";
import { useWeights } from "../../src/reader/judge/model.ts";
import {
  findLocation,
  type Location,
  PLACE_TRAINING,
  type PlaceModels,
  placeExamples,
} from "../../src/reader/judge/place.ts";
import { readPrice } from "../../src/reader/judge/price.ts";
import {
  type FoundTitle,
  findTitle,
  TITLE_TRAINING,
  type TitleModels,
  titleExamples,
} from "../../src/reader/judge/title.ts";
import { seedExamples, seedVocabulary } from "./vocabulary.ts";

/**
 * Reads places and titles with models that are trained here from the marked examples, until `npm run train` makes them.
 * The result is cached for all test files, until one of its sources changes.
 */

const CACHE = new URL("../../node_modules/.cache/souk/", import.meta.url);
const SOURCES = ["judge", "find", "text", "builtin"].map(
  (name) => new URL(`../../src/reader/${name}/`, import.meta.url),
);

const knowledge = knowledgeOf(seedVocabulary());

type Learned = Record<keyof PlaceModels | keyof TitleModels, Weights>;

const spanOf = (marks: readonly Mark[], wanted: string) => marks.find(({ role }) => role === wanted) ?? null;

const learnAnew = (): Learned => {
  const hash = createHash("sha256");
  const examples = seedExamples().filter(({ text }) => isMarked(text));
  for (const { text } of examples) hash.update(text);
  for (const folder of SOURCES) {
    for (const name of readdirSync(folder).toSorted())
      if (name.endsWith(".ts")) hash.update(readFileSync(new URL(name, folder)));
  }
  const kept = new URL(`judged-${hash.digest("hex").slice(0, 16)}.json`, CACHE);
  try {
    return JSON.parse(readFileSync(kept, "utf8"));
  } catch {
    const lessons = examples.map((example) => {
      const { text, marks } = parseMarks(example.text);
      const annotations = annotate(knowledge, text);
      const places = placeTextOf(knowledge.gazetteer, annotations);
      const title = titleTextOf(annotations, places, {
        category: `${example.domain}/${example.category}`,
        price: spanOf(marks, "price"),
        place: spanOf(marks, "place"),
        isAsk: example.ask_kind !== null,
      });
      return { place: placeExamples(places, marks), ...titleExamples(title, marks) };
    });
    const learned: Learned = {
      place: learnRanker(
        lessons.flatMap(({ place }) => place),
        PLACE_TRAINING,
      ),
      title_begin: learnRanker(
        lessons.flatMap((lesson) => lesson.title_begin),
        TITLE_TRAINING,
      ),
      title_end: learnRanker(
        lessons.flatMap((lesson) => lesson.title_end),
        TITLE_TRAINING,
      ),
    };
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(kept, JSON.stringify(learned));
    return learned;
  }
};

const learned = learnAnew();
const models: PlaceModels & TitleModels = {
  place: useWeights(learned.place),
  title_begin: useWeights(learned.title_begin),
  title_end: useWeights(learned.title_end),
};

/** Where a text says that its thing is. */
export const locationIn = (text: string): Location =>
  findLocation(placeTextOf(knowledge.gazetteer, annotate(knowledge, text)), models);

/** The place of a text as it is written, or null. */
export const placeIn = (text: string): string | null => {
  const { place } = locationIn(text);
  return place === null ? null : text.slice(place.span.start, place.span.end);
};

/** The title of an offer of a category ("electronics/phones"). */
export const titleIn = (text: string, category: string | null): FoundTitle | null => {
  const annotations = annotate(knowledge, text);
  const places = placeTextOf(knowledge.gazetteer, annotations);
  const hints = { country: annotations.country, isAsk: false };
  const price = readPrice(annotations, annotations.isHidden, knowledge.prices, hints)?.span ?? null;
  const place = findLocation(places, models).place?.span ?? null;
  return findTitle(titleTextOf(annotations, places, { category, price, place, isAsk: false }), models);
};
