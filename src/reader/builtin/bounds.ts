import type { Scene } from "../decide/context.ts";
import { wordsFor } from "../languages.ts";
import { type Amount, findMoney } from "../propose/money.ts";
import type { Span } from "../text/span.ts";
import { phraseAt, type Word } from "../text/tokens.ts";
import type { IsWord } from "./lexicon.ts";

/**
 * Finds bounds of a price without a currency in a query: "under 200", "max 200", "<200", "200-280". Whether a number
 * without a currency is a price, the words around it say: most such numbers are sizes, years and models. The words are
 * classes of the lexicon: `bound_most` and `bound_least` before a number, the same with `_after` after one, and
 * `bound_unit` for units that make the number something else.
 */

/** A bound. `span` is the passage that states it, `money` the amounts without the words around them. */
export type Bound = { min: number | null; max: number | null; span: Span; money: Span };

/** The text in which bounds are looked for. */
export type BoundScene = { scene: Scene; words: readonly Word[]; is: IsWord; isHidden: (at: number) => boolean };

/** What may stand between the words of a bound and its number: "max. 200", "budget: 200". */
const BESIDE = /^[\s.:~]*$/u;

const MOST_WORDS = 4;

/** The number of words of a class that end before word `at`; 0 if none does. */
const phraseBefore = (words: readonly Word[], at: number, name: string, is: IsWord): number => {
  for (let length = Math.min(MOST_WORDS, at); length > 0; length--)
    if (phraseAt(words, at - length, (phrase) => is(name, phrase)) === length) return length;
  return 0;
};

/** Concepts of cues that say, beside a number, that it is a measure. */
const isMeasure = (concept: string): boolean => concept === "measure" || concept.startsWith("space_");

/** A year, unless it is as round as prices are. */
const isYear = (value: number): boolean => Number.isInteger(value) && value > 1900 && value < 2100 && value % 50 !== 0;

/** Less than this, with a noun directly after it, is a number of things. */
const COUNTABLE = 20;

/** A range that no word introduces is of prices if its ends are as round as prices are, and are no sizes. */
const LEAST_OF_RANGE = 20;
const SURE = 100;
const WIDE = 1.5;

const looksLikePrices = (low: number, high: number): boolean => {
  const isRound = (step: number): boolean => low % step === 0 && high % step === 0;
  if (low < LEAST_OF_RANGE || isYear(low) || isYear(high)) return false;
  return isRound(low >= SURE ? 5 : 10) && (low >= SURE || high >= low * WIDE);
};

const OPENS_RANGE = wordsFor("before_range");

type Said = { from: number; to: number; most: boolean; least: boolean };

/** The words around an amount that make it a bound, as a range of words; null if none do. */
const wordsAround = ({ words, is }: BoundScene, first: number, last: number, isRange: boolean): Said | null => {
  const word = words[first];
  const after = words[last + 1];
  if (word === undefined) return null;
  if (BESIDE.test(word.before)) {
    if (isRange && OPENS_RANGE.has(words[first - 1]?.folded ?? ""))
      return { from: first - 1, to: last + 1, most: true, least: true };
    const most = phraseBefore(words, first, "bound_most", is);
    const least = phraseBefore(words, first, "bound_least", is);
    if (most + least > 0)
      return { from: first - Math.max(most, least), to: last + 1, most: most >= least, least: least > most };
  }
  if (after === undefined || !/^[\s(]*$/u.test(after.before)) return null;
  const most = phraseAt(words, last + 1, (phrase) => is("bound_most_after", phrase));
  const least = phraseAt(words, last + 1, (phrase) => is("bound_least_after", phrase));
  if (most + least === 0) return null;
  return { from: first, to: last + 1 + Math.max(most, least), most: most >= least, least: least > most };
};

/** True if what stands beside an amount says that it is no sum of money. */
const isOfThings = ({ scene, words, is }: BoundScene, { from, to, value }: Amount, last: number): boolean => {
  const { cues, tokens } = scene;
  const next = words[last + 1];
  const isBeside = next !== undefined && next.from === to && /^[\s-]*$/u.test(next.before);
  return (
    cues.some((cue) => isMeasure(cue.concept.text) && cue.from === to && tokens[to]?.opens !== true) ||
    cues.some((cue) => cue.concept.text === "measure_before" && cue.to === from && tokens[from]?.opens !== true) ||
    (isBeside && is("bound_unit", next.folded)) ||
    // "up to 6 guests"
    (isBeside && value < COUNTABLE && /^\s/u.test(next.before) && !is("function_word", next.folded))
  );
};

/** The marks that state a bound, directly before a number. */
const MARKS: ReadonlyMap<string, "most" | "least"> = new Map([
  ["<", "most"],
  ["≤", "most"],
  [">", "least"],
  ["≥", "least"],
]);

/** The mark before token `at`, where it begins. "<=" is two tokens. */
const markBefore = ({ tokens }: Scene, at: number): { side: "most" | "least"; from: number } | null => {
  const from = tokens[at - 1]?.text === "=" ? at - 2 : at - 1;
  const side = MARKS.get(tokens[from]?.text ?? "");
  return side === undefined ? null : { side, from };
};

/** The bound that a query states without a currency; null if it states none. */
export const findBound = (read: BoundScene): Bound | null => {
  const { scene, words, isHidden } = read;
  const { tokens } = scene;
  let bound: Bound | null = null;
  for (const amount of findMoney(tokens, isHidden)) {
    const { value, max, marker } = amount;
    if (marker !== null && marker !== ",") continue;
    const first = words.findIndex(({ from, to }) => from <= amount.from && amount.from < to);
    const last = words.findLastIndex(({ from, to }) => from < amount.to && amount.to <= to);
    if (first < 0 || last < first || words[first]?.from !== amount.from || isOfThings(read, amount, last)) continue;
    const mark = markBefore(scene, amount.from);
    const said = wordsAround(read, first, last, max !== null);
    const isRange =
      max !== null && (said?.most === true || (said === null && looksLikePrices(value, max)) || said?.least === true);
    if (mark === null && said === null && !isRange) continue;
    if (isYear(value) && (max === null || isYear(max)) && mark === null) continue;
    const money = { start: tokens[amount.from]?.start ?? 0, end: tokens[amount.to - 1]?.end ?? 0 };
    const span = {
      start: Math.min(
        money.start,
        words[said?.from ?? first]?.start ?? 0,
        tokens[mark?.from ?? amount.from]?.start ?? 0,
      ),
      end: Math.max(money.end, words[(said?.to ?? last + 1) - 1]?.end ?? 0),
    };
    const isLeast = mark?.side === "least" || said?.least === true;
    const found = max !== null ? { min: value, max } : isLeast ? { min: value, max: null } : { min: null, max: value };
    // "over 100, under 200" states both.
    bound =
      bound === null
        ? { ...found, span, money }
        : {
            min: bound.min ?? found.min,
            max: bound.max ?? found.max,
            span: { start: bound.span.start, end: span.end },
            money: { start: bound.money.start, end: money.end },
          };
  }
  return bound !== null && bound.max !== null && bound.min !== null && bound.min > bound.max ? null : bound;
};
