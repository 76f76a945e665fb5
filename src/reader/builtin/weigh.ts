import { LANGUAGES } from "../languages.ts";
import type { Word } from "../text/tokens.ts";
import type { Hit, IsWord } from "./lexicon.ts";

/** Computes the evidence of the terms in a text for each category, domain and kind. */

const SECONDARY_FACTOR = 0.55;
const NEGATED_FACTOR = 0.2;

/**
 * The weight of a thing falls exponentially with its position, from NEAREST at the start of the text towards FARTHEST:
 * the first words name the thing, later words describe it. DECAY_LENGTH is in words.
 */
const DECAY_LENGTH = 16;
const NEAREST = 2;
const FARTHEST = 0.3;

/**
 * A thing within AFTER_KIND words after a kind term ("selling my", "suche") gets this bonus on its position weight.
 * Kind terms of a weight below MIN_CUE do not count here.
 */
const AFTER_KIND = 6;
const AFTER_KIND_BONUS = 0.8;
const MIN_CUE = 2;

/** Factor for a term that occurs again: it adds little evidence. */
const REPEATED_FACTOR = 0.15;

/** For each name a score, and the hit that contributed most to it. */
export type Tally = Map<string, { score: number; best: Hit; most: number; contributions: number[] }>;

/**
 * Factor for each further term of the same thing, applied to the next strongest term each time: many weak terms do not
 * add up to strong evidence.
 */
const NEXT_FACTOR = 0.6;

const contribute = (tally: Tally, name: string, score: number, hit: Hit): void => {
  const entry = tally.get(name) ?? { score: 0, best: hit, most: 0, contributions: [] };
  tally.set(name, entry);
  entry.contributions.push(score);
  if (score > entry.most) {
    entry.most = score;
    entry.best = hit;
  }
};

const sum = (tally: Tally): Tally => {
  for (const entry of tally.values()) {
    entry.score = entry.contributions
      .toSorted((a, b) => b - a)
      .reduce((total, contribution, order) => total + contribution * NEXT_FACTOR ** order, 0);
  }
  return tally;
};

/** The factor for a hit that is secondary or negated according to the two words before it; 1 if it is neither. */
const contextOf = (tokens: readonly Word[], hit: Hit, is: IsWord, isCue: (at: number) => boolean): number => {
  for (let back = 1; back <= 2; back++) {
    const at = hit.from - back;
    const token = tokens[at];
    if (token === undefined || tokens[at + 1]?.opens) return 1;
    if (isCue(at)) return 1;
    if (is("negation", token.folded)) return NEGATED_FACTOR;
    if (is("secondary", token.folded)) return SECONDARY_FACTOR;
  }
  return 1;
};

/**
 * Factor for a modifier, a thing that describes another thing: a "camera bag" is a bag, a "house move" is not a house.
 */
const MODIFIER_FACTOR = 0.4;

/** A term of a lower weight is not the head of a compound: "sofa set". */
const MIN_HEAD = 1.5;

/** True if the last noun of a compound is the head; also if the language is unknown. */
const isHeadLast = (language: string | null): boolean => language === null || LANGUAGES[language]?.headLast === true;

/** The hits that only modify the thing that another hit names. */
const findModifiers = (
  tokens: readonly Word[],
  things: readonly Hit[],
  language: string | null,
  is: IsWord,
): Set<Hit> => {
  const modifiers = new Set<Hit>();
  const starting = Map.groupBy(things, (hit) => hit.from);
  for (const hit of things) {
    const joined = tokens[hit.to];
    if (joined === undefined || joined.opens || !/^[\s'’-]+$/u.test(joined.before)) continue;
    const heads = isHeadLast(language) ? (starting.get(hit.to) ?? []) : [];
    if (heads.some((head) => head.weight >= MIN_HEAD) && heads.every((head) => head.value !== hit.value))
      modifiers.add(hit);
    if (!is("of", joined.folded) || hit.weight < MIN_HEAD) continue;
    for (const over of [1, 2]) {
      const complements = starting.get(hit.to + over) ?? [];
      if (complements.every((one) => one.value !== hit.value)) for (const one of complements) modifiers.add(one);
    }
  }
  return modifiers;
};

/** Evidence for categories ("domain/category") and domains. */
export const weighThings = (
  tokens: readonly Word[],
  hits: readonly Hit[],
  cueFamily: "kind" | "ask_kind",
  language: string | null,
  is: IsWord,
): Tally => {
  const tally: Tally = new Map();
  const cues = hits.filter((hit) => hit.family === cueFamily && hit.weight >= MIN_CUE);
  const cueAt = new Set<number>();
  for (const cue of cues) for (let at = cue.from; at < cue.to; at++) cueAt.add(at);
  const afterCue = (at: number): boolean => {
    for (let back = at - 1; back >= 0 && back >= at - AFTER_KIND; back--) {
      if (cueAt.has(back)) return !/[,(;]/.test(tokens[back + 1]?.before ?? "");
      if (tokens[back + 1]?.opens || /[,(;]/.test(tokens[back + 1]?.before ?? "")) return false;
    }
    return false;
  };
  const seen = new Set<string>();
  const things = hits.filter((hit) => hit.family === "category" || hit.family === "domain");
  const modifiers = findModifiers(tokens, things, language, is);
  for (const hit of things) {
    const key = `${hit.value} ${hit.term}`;
    const nearness = FARTHEST + (NEAREST - FARTHEST) * Math.exp(-hit.from / DECAY_LENGTH);
    const factor =
      (nearness + (afterCue(hit.from) ? AFTER_KIND_BONUS : 0)) *
      contextOf(tokens, hit, is, (at) => cueAt.has(at)) *
      (modifiers.has(hit) ? MODIFIER_FACTOR : 1);
    contribute(tally, hit.value, hit.weight * factor * (seen.has(key) ? REPEATED_FACTOR : 1), hit);
    seen.add(key);
  }
  return sum(tally);
};

const KIND_NEGATION_REACH = 2;

/** True if a word before a kind term negates it. */
const isNegated = (tokens: readonly Word[], hit: Hit, is: IsWord): boolean => {
  for (let at = hit.from - 1; at >= Math.max(0, hit.from - KIND_NEGATION_REACH); at--) {
    if (tokens[at + 1]?.opens || /[,(]/.test(tokens[at + 1]?.before ?? "")) return false;
    if (is("kind_negation", tokens[at]?.folded ?? "")) return true;
  }
  return false;
};

/** Evidence for kinds. */
export const weighKinds = (
  tokens: readonly Word[],
  hits: readonly Hit[],
  family: "kind" | "ask_kind",
  is: IsWord,
): Tally => {
  const tally: Tally = new Map();
  const seen = new Set<string>();
  for (const hit of hits) {
    if (hit.family !== family || isNegated(tokens, hit, is)) continue;
    const key = `${hit.value} ${hit.term}`;
    const factor = 0.5 + 0.7 * Math.exp(-hit.from / DECAY_LENGTH);
    contribute(tally, hit.value, hit.weight * factor * (seen.has(key) ? REPEATED_FACTOR : 1), hit);
    seen.add(key);
  }
  return sum(tally);
};
