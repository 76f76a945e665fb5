import { type Span, spanOf } from "../text/span.ts";
import type { Ranked, Training } from "../training/linear.ts";
import type { Mark } from "../training/marks.ts";
import type { Range } from "./context.ts";
import { createFeatures, type Features } from "./features.ts";
import { chances, type Model } from "./model.ts";
import { rangeOf } from "./place.ts";
import { addBeginFeatures, beginsOf } from "./title_begin.ts";
import { type Prepared, prepare, type TitleText } from "./title_context.ts";
import { addEndFeatures, endsOf } from "./title_end.ts";

/**
 * Judges which words of a text are its title: what is offered or wanted, without price, contact and place. One ranker
 * scores the tokens at which the title can begin; a second one scores, for the best of these, the tokens at which it can
 * end.
 */

/** The names of the models. */
export const TITLE_MODELS = ["title_begin", "title_end"] as const;
export type TitleModels = Readonly<Record<(typeof TITLE_MODELS)[number], Model>>;

/** How the models are trained. */
export const TITLE_TRAINING: Training = { passes: 7, rate: 0.05, leastExamples: 3 };

/** This many beginnings are tried. */
const BEGINS_TRIED = 6;

/** The examples that a labelled text gives for the two models: there is none if its title is not among the candidates. */
export const titleExamples = (
  scene: TitleText,
  marks: readonly Mark[],
): Record<(typeof TITLE_MODELS)[number], Ranked[]> => {
  const mark = marks.find(({ role }) => role === "title");
  const title = mark === undefined ? null : rangeOf(scene.tokens, mark);
  if (title === null) return { title_begin: [], title_end: [] };
  const prepared = prepare(scene);
  const begins = beginsOf(prepared);
  const ends = endsOf(prepared, title.from);
  const judge = (
    candidates: readonly number[],
    right: number,
    add: (features: Features, at: number) => void,
  ): Ranked[] =>
    right < 0
      ? []
      : [
          {
            candidates: candidates.map((at) => {
              const features = createFeatures(true);
              add(features, at);
              return features;
            }),
            right,
          },
        ];
  return {
    title_begin: judge(begins, begins.indexOf(title.from), (features, at) => addBeginFeatures(features, prepared, at)),
    title_end: judge(ends, ends.indexOf(title.to), (features, at) =>
      addEndFeatures(features, prepared, title.from, at),
    ),
  };
};

/** The title of a text: the words, with single spaces, and where they stand. */
export type FoundTitle = Range & { title: string; span: Span; confidence: number };

/**
 * What the probabilities do not say, as logarithms that are added to them. The labels mark the most precise words of a
 * text as its title, also where a shorter clause before them names the thing as well; a headline that does not name the
 * thing is worse than one that leaves out a detail. The values gave the best titles of the texts in test/eval/texts.
 */
const TUNING = {
  /** Of two ends of which the longer one is at most this less probable, the longer one says more. */
  longer: 1,
  /** Of two beginnings in one clause of which the earlier one is at most this less probable, the earlier one does. */
  earlier: 1,
  /** The title is in the first sentence. */
  opening: 0.5,
  /** The title is at the beginning of the text. */
  first: 1.25,
  /** The title contains the first term of the lexicon that names a thing of the category. */
  naming: 1,
};

const features = createFeatures(false);

const rank = (model: Model, candidates: readonly number[], add: (at: number) => void): Float64Array =>
  chances(
    candidates.map((at) => {
      features.clear();
      add(at);
      return model.score(features);
    }),
  );

/** The first beginning in the clause of the one at `index` that is nearly as probable. */
const earlier = ({ clauseEnd }: Prepared, begins: readonly number[], likely: Float64Array, index: number): number => {
  const end = clauseEnd[begins[index] ?? 0];
  const least = (likely[index] ?? 0) * Math.exp(-TUNING.earlier);
  let first = index;
  for (let one = index - 1; one >= 0 && clauseEnd[begins[one] ?? 0] === end; one--)
    if ((likely[one] ?? 0) >= least) first = one;
  return first;
};

/** Finds the title of a text with trained models, null for a text in which no word can be one. */
export const findTitle = (scene: TitleText, models: TitleModels): FoundTitle | null => {
  const prepared = prepare(scene);
  const begins = beginsOf(prepared);
  const likely = rank(models.title_begin, begins, (at) => addBeginFeatures(features, prepared, at));
  const tried = [...begins.keys()]
    .sort((one, other) => (likely[other] ?? 0) - (likely[one] ?? 0))
    .slice(0, BEGINS_TRIED)
    .map((index) => begins[earlier(prepared, begins, likely, index)] ?? 0);
  const naming = scene.named[0];
  let best: Range | null = null;
  let most = Number.NEGATIVE_INFINITY;
  let confidence = 0;
  for (const from of new Set(tried)) {
    const chance = likely[begins.indexOf(from)] ?? 0;
    const ends = endsOf(prepared, from);
    const probable = rank(models.title_end, ends, (to) => addEndFeatures(features, prepared, from, to));
    let top = 0;
    for (let at = 0; at < ends.length; at++) top = Math.max(top, probable[at] ?? 0);
    const least = top * Math.exp(-TUNING.longer);
    const to = ends.findLast((_, at) => (probable[at] ?? 0) >= least);
    if (to === undefined) continue;
    const names = naming !== undefined && naming.from >= from && naming.to <= to;
    const score =
      Math.log(chance * top) +
      (prepared.sentence[from] === 0 ? TUNING.opening : 0) +
      (from === 0 ? TUNING.first : 0) +
      (names ? TUNING.naming : 0);
    if (score <= most) continue;
    most = score;
    confidence = chance * top;
    best = { from, to };
  }
  if (best === null) return null;
  const span = spanOf(scene.tokens, best);
  const title = scene.text.slice(span.start, span.end).replace(/\s+/gu, " ");
  return { ...best, span, title, confidence };
};
