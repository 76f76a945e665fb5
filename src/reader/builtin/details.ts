import { CONDITIONS } from "../../base/enums.ts";
import { numberBefore } from "../propose/numbers.ts";
import { type Span, spanOf } from "../text/span.ts";
import type { Word } from "../text/tokens.ts";
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

const isCondition = (name: string): name is Condition => (CONDITIONS as readonly string[]).includes(name);

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

/** The units of areas, in square metres. */
export const SQUARE_METRES: Readonly<Record<string, number>> = {
  space_m2: 1,
  space_sqft: 0.09290304,
  space_hectare: 10_000,
  space_acre: 4046.86,
};

/** A flat of so many rooms: "T2", "F3". In Portugal "T2" counts bedrooms; this is not distinguished. */
const TYPOLOGY = /^[tf]([0-6])$/;
const ISO_DAY = /(?<!\d)(20\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?!\d)/u;

/** The greatest numbers that count: more rooms or floors are something else. */
const MAX_ROOMS = 60;
const MAX_FLOORS = 60;

/** What cues say of a space by themselves. */
const SAYS: Readonly<Record<string, Partial<Space>>> = {
  space_ground_floor: { floor: 0 },
  space_furnished: { furnished: true },
  space_unfurnished: { furnished: false },
  space_pets: { pets_allowed: true },
  space_no_pets: { pets_allowed: false },
};
/** What is counted before a unit, and the greatest number that is believed. */
const COUNTS: Readonly<Record<string, readonly [name: keyof Space, most: number]>> = {
  space_floor: ["floor", MAX_FLOORS],
  space_room: ["rooms", MAX_ROOMS],
  space_bedroom: ["bedrooms", MAX_ROOMS],
  space_bathroom: ["bathrooms", MAX_ROOMS],
};

/** What a cue and the number before it say of a space. */
const saidBy = (name: string, number: number | undefined): Partial<Space> => {
  if (number === undefined) return {};
  const metres = SQUARE_METRES[name];
  if (metres !== undefined) return { area_m2: Math.round(number * metres * 10) / 10 };
  const [field, most = 0] = COUNTS[name] ?? [];
  return field === undefined || number > most ? {} : { [field]: number };
};

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
  /** What is said first of something counts. */
  const state = (said: Partial<Space>, span: Span): void => {
    const isNew = Object.keys(said).filter((name) => value[name as keyof Space] === null);
    if (isNew.length === 0) return;
    Object.assign(value, said);
    spans.push(span);
  };
  for (const { concept, from, to } of cues) {
    if (!concept.text.startsWith("space_")) continue;
    const own = SAYS[concept.text];
    const number = own === undefined ? numberBefore(tokens, from) : null;
    state(own ?? saidBy(concept.text, number?.value), spanOf(tokens, { from: number?.from ?? from, to }));
  }
  const typed = words.find(({ folded }) => TYPOLOGY.test(folded));
  if (typed !== undefined && value.rooms === null && value.bedrooms === null)
    state({ rooms: Number(typed.folded.slice(1)) }, typed);
  const day = ISO_DAY.exec(text);
  if (day !== null) state({ available_from: day[0] }, { start: day.index, end: day.index + day[0].length });
  if (spans.length === 0) return null;
  const start = Math.min(...spans.map((span) => span.start));
  return { value, span: { start, end: Math.max(...spans.map((span) => span.end)) } };
};
