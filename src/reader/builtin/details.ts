import type { CONDITIONS } from "../../base/enums.ts";
import { numeralAt } from "../propose/numbers.ts";
import { type Span, spanOf } from "../text/span.ts";
import type { Token, Word } from "../text/tokens.ts";
import type { Annotations } from "./annotate.ts";
import type { Hit, IsWord } from "./lexicon.ts";

/** Reads the details of the thing itself: condition, space, features. */

type Condition = (typeof CONDITIONS)[number];
/** Details of a home or another space. */
export type Space = {
  area_m2: number | null;
  rooms: number | null;
  bedrooms: number | null;
  bathrooms: number | null;
  floor: number | null;
  furnished: boolean | null;
  available_from: string | null;
  pets_allowed: boolean | null;
};

const CONDITION_NAMES: ReadonlySet<string> = new Set([
  "new",
  "like_new",
  "used_good",
  "used_fair",
  "refurbished",
  "for_parts",
]);
const isCondition = (name: string): name is Condition => CONDITION_NAMES.has(name);

/** Terms of another language than that of the text have a lower weight. Here they are mostly chance matches. */
const MIN_WEIGHT = 1.5;

/** True if one of the two words before is a negation. */
export const isNegated = (tokens: readonly Word[], hit: Hit, is: IsWord): boolean => {
  for (let back = 1; back <= 2; back++) {
    if (tokens[hit.from - back + 1]?.opens) return false;
    if (is("negation", tokens[hit.from - back]?.folded ?? "")) return true;
  }
  return false;
};

/** The condition of the thing: the term with the most weight, or the first of several with the same weight. */
export const findCondition = (
  tokens: readonly Word[],
  hits: readonly Hit[],
  is: IsWord,
): { value: Condition; hit: Hit } | null => {
  let best: { value: Condition; hit: Hit; score: number } | null = null;
  for (const hit of hits) {
    if (hit.family !== "condition" || hit.weight < MIN_WEIGHT || !isCondition(hit.value) || isNegated(tokens, hit, is))
      continue;
    const score = hit.weight * (1 + 0.3 * (hit.to - hit.from));
    if (best === null || score > best.score) best = { value: hit.value, hit, score };
  }
  return best;
};

/** The longest list that an extraction may hold. */
const MAX_FEATURES = 20;

/** Features in the words of the text, each once. */
export const findFeatures = (
  text: string,
  tokens: readonly Word[],
  hits: readonly Hit[],
  is: IsWord,
): { value: string; span: Span }[] => {
  const features: { value: string; span: Span }[] = [];
  const seen = new Set<string>();
  for (const hit of hits) {
    if (hit.family !== "feature" || hit.weight < MIN_WEIGHT || seen.has(hit.term) || isNegated(tokens, hit, is))
      continue;
    seen.add(hit.term);
    const span = spanOf(tokens, hit);
    features.push({ value: text.slice(span.start, span.end).replace(/\s+/gu, " ").slice(0, 80), span });
    if (features.length === MAX_FEATURES) break;
  }
  return features;
};

const SQUARE_METRES: Readonly<Record<string, number>> = {
  space_m2: 1,
  space_sqft: 0.09290304,
  space_hectare: 10_000,
  space_acre: 4046.86,
};

/** Reading a number backwards from its unit: at most "1.200,5" and a mark such as "-" or an ordinal ending. */
const MAX_NUMBER_TOKENS = 6;

/** The number that ends directly before token `end`: "2,5" in "2,5-Zimmer", "3" in "3rd floor". Null if there is none. */
const numberBefore = (tokens: readonly Token[], end: number): { value: number; from: number } | null => {
  let to = end;
  // A hyphen, or the ending of an ordinal directly after the digits.
  if (tokens[to - 1]?.text === "-" || tokens[to - 1]?.text === "." || tokens[to - 1]?.text === "°") to -= 1;
  else if (tokens[to - 1]?.kind === "word" && tokens[to - 1]?.gap === "none" && (tokens[to - 1]?.text.length ?? 9) <= 3)
    to -= 1;
  for (let from = Math.max(0, to - MAX_NUMBER_TOKENS); from < to; from++) {
    const before = tokens[from - 1];
    const continues = tokens[from]?.gap === "none" && (before?.kind === "digits" || /^[.,']$/.test(before?.text ?? ""));
    if (tokens[from]?.kind !== "digits" || continues) continue;
    const numeral = numeralAt(tokens, from, { spaced: true, isMoney: false });
    if (numeral?.to === to) return { value: numeral.value, from };
  }
  return null;
};

/** A flat of so many rooms: "T2", "F3". In Portugal "T2" counts bedrooms; this is not distinguished. */
const TYPOLOGY = /^[tf]([0-6])$/;
const ISO_DAY = /(?<!\d)(20\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?!\d)/u;

/** The greatest numbers that count: more rooms or floors are something else. */
const MAX_ROOMS = 60;
const MAX_FLOORS = 60;

/**
 * Reads rooms, areas and the like: numbers before the unit words of the lexicon (cues space_*). Null if the text states
 * none. `span` reaches from the first statement to the end of the last.
 */
export const findSpace = ({ text, tokens, cues, words }: Pick<Annotations, "text" | "tokens" | "cues" | "words">) => {
  const value: Space = {
    area_m2: null,
    rooms: null,
    bedrooms: null,
    bathrooms: null,
    floor: null,
    furnished: null,
    available_from: null,
    pets_allowed: null,
  };
  const spans: Span[] = [];
  const state = <K extends keyof Space>(name: K, stated: Space[K], span: Span): void => {
    if (value[name] !== null) return;
    value[name] = stated;
    spans.push(span);
  };
  for (const { concept, from, to } of cues) {
    const name = concept.text;
    if (!name.startsWith("space_")) continue;
    if (name === "space_ground_floor") state("floor", 0, spanOf(tokens, { from, to }));
    else if (name === "space_furnished") state("furnished", true, spanOf(tokens, { from, to }));
    else if (name === "space_unfurnished") state("furnished", false, spanOf(tokens, { from, to }));
    else if (name === "space_pets") state("pets_allowed", true, spanOf(tokens, { from, to }));
    else if (name === "space_no_pets") state("pets_allowed", false, spanOf(tokens, { from, to }));
    else {
      const number = numberBefore(tokens, from);
      if (number === null) continue;
      const span = spanOf(tokens, { from: number.from, to });
      const metres = SQUARE_METRES[name];
      if (metres !== undefined) state("area_m2", Math.round(number.value * metres * 10) / 10, span);
      else if (name === "space_floor" && number.value <= MAX_FLOORS) state("floor", number.value, span);
      else if (number.value > MAX_ROOMS) continue;
      else if (name === "space_room") state("rooms", number.value, span);
      else if (name === "space_bedroom") state("bedrooms", number.value, span);
      else if (name === "space_bathroom") state("bathrooms", number.value, span);
    }
  }
  if (value.rooms === null && value.bedrooms === null) {
    const typed = words.find(({ folded }) => TYPOLOGY.test(folded));
    if (typed !== undefined) state("rooms", Number(typed.folded.slice(1)), { start: typed.start, end: typed.end });
  }
  const day = ISO_DAY.exec(text);
  if (day !== null) state("available_from", day[0], { start: day.index, end: day.index + day[0].length });
  if (spans.length === 0) return null;
  const start = Math.min(...spans.map((span) => span.start));
  return { value, span: { start, end: Math.max(...spans.map((span) => span.end)) } };
};
