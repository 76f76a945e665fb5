import type { Token } from "../text/tokens.ts";
import type { Gazetteer, Meaning, NameForm } from "./gazetteer.ts";

/**
 * Finds the names of places in a text. It only proposes: whether "Reading" is the town, and which of the places is the
 * location, is decided elsewhere. Which Perth is meant, `resolvePlace` says (place_choice.ts).
 */

/**
 * A name that was found: tokens `from` (inclusive) to `to` (exclusive), and the places with this name, the most likely
 * one first, as ids of the gazetteer. `form` is how surely the name means a place.
 */
export type PlaceHit = { from: number; to: number; ids: readonly number[]; form: NameForm };

/** Marks inside a name: "Stoke-on-Trent", "L'Aquila", "Frankfurt/Oder". They are not written, or written without gaps. */
const INNER = /^[-'/]$/;

/** "St. Gallen": words of at most this many letters may be followed by a full stop. */
const ABBREVIATED = 4;

/** Shorter names are found only with a capital letter: "pau", "bo". */
const MIN_LETTERS = 4;

/** Names in scripts without capital letters are shorter. */
const MIN_SIGNS = 2;
const WITHOUT_CASE = /^[\p{Lo}\p{M}\p{Lm}]+$/u;

/** A name without spaces has at most so many words of the dictionary: "東京都渋谷区". */
const MAX_PARTS = 6;

/** In a text in which at most one of so many words has a capital letter, names have none either. */
const WORDS_PER_CAPITAL = 12;

/** Names of at most this many letters are abbreviations of states and countries. */
const CODE_LETTERS = 3;

/**
 * Endings that names of towns have after a preposition, and what the name has instead, folded: "в Москве", "у Львові",
 * "v Praze", "Ankarada". Names in Polish have rows for their cases.
 */
const CASES: Readonly<Record<string, readonly (readonly [ending: string, name: string])[]>> = Object.fromEntries(
  Object.entries({
    ru: "ом:ый е:а е: и:ь и:а ы:а у:а а: ой:а ью:ь ом:",
    uk: "єві:ів ові:ів єва:ів ова:ів і:а і:о і:я і:ь і: у: и:а у:а а:",
    cs: "ze:ha icich:ice ic:ice ci:ec ni:en e:a e:o e: i: y:a u:a a:o u:",
    tr: "dan: den: tan: ten: da: de: ta: te:",
  }).map(([language, cases]) => [
    language,
    cases.split(" ").map((one) => {
      const [ending = "", name = ""] = one.split(":");
      return [ending, name] as const;
    }),
  ]),
);

/** A shorter name has too many forms that are other words, and so has a smaller town. */
const MIN_INFLECTED = 5;
const MIN_WEIGHT = 4.3;

/** The places of which a folded word is a case in a language; in a Cyrillic text without one, in any of them. */
const namedInCase = (gazetteer: Gazetteer, word: string, language: string | null): readonly Meaning[] => {
  if (word.length < MIN_INFLECTED) return [];
  const cyrillic = language === null && /^\p{Script=Cyrillic}/u.test(word) ? ["ru", "uk"] : [];
  for (const one of language === null ? cyrillic : [language])
    for (const [ending, name] of CASES[one] ?? []) {
      if (!word.endsWith(ending)) continue;
      const meanings = gazetteer
        .named(word.slice(0, -ending.length) + name)
        .filter(({ id, form }) => form === "name" && gazetteer.weight(id) >= MIN_WEIGHT);
      if (meanings.length > 0) return meanings;
    }
  return [];
};

type Found = { from: number; to: number; meanings: readonly Meaning[] };

/** The token of the next word of a name after token `at`, or -1. `bracket` is set if a bracket opens before it. */
const nextWord = (tokens: readonly Token[], at: number): { at: number; bracket: boolean } | null => {
  const next = tokens[at + 1];
  if (next === undefined || next.gap === "line" || next.opens) return null;
  if (next.kind !== "mark") return { at: at + 1, bracket: false };
  const beyond = tokens[at + 2];
  if (beyond === undefined || beyond.kind === "mark" || beyond.gap === "line" || beyond.opens) return null;
  if (next.text === "(") return beyond.gap === "none" ? { at: at + 2, bracket: true } : null;
  if (next.text === "." && next.gap === "none")
    return (tokens[at]?.text.length ?? 0) <= ABBREVIATED ? { at: at + 2, bracket: false } : null;
  return INNER.test(next.text) && next.gap === "none" && beyond.gap === "none" ? { at: at + 2, bracket: false } : null;
};

/** The longest name that begins at token `from`. */
const foundAt = (gazetteer: Gazetteer, tokens: readonly Token[], from: number): Found | null => {
  const first = tokens[from];
  if (first === undefined || first.kind !== "word") return null;
  const most = first.apart ? MAX_PARTS : gazetteer.longest(first.text);
  if (most === 0) return null;
  let words = first.text;
  let at = from;
  let bracket = false;
  let best: Found | null = null;
  for (let length = 1, glued = 0; glued < MAX_PARTS; ) {
    const meanings = gazetteer.named(words);
    const closes: boolean = bracket && tokens[at + 1]?.text === ")";
    if (meanings.length > 0 && bracket === closes) {
      best = { from, to: at + (closes ? 2 : 1), meanings };
    }
    const next = nextWord(tokens, at);
    if (next === null) break;
    const { text = "", gap = "none", apart = false } = tokens[next.at] ?? {};
    const isGlued = apart && gap === "none" && next.at === at + 1;
    if (length >= most && !isGlued) break;
    words += isGlued ? text : ` ${text}`;
    if (isGlued) glued++;
    else length++;
    at = next.at;
    bracket ||= next.bracket;
  }
  return best;
};

/** True if one place lies in the other, or both lie in the same city. */
const belongs = (gazetteer: Gazetteer, one: number, other: number): boolean =>
  gazetteer.city(one) === other ||
  gazetteer.city(other) === one ||
  gazetteer.region(other) === one ||
  gazetteer.region(one) === other ||
  (gazetteer.kind(one) === "country" && gazetteer.country(other) === one) ||
  (gazetteer.kind(other) === "country" && gazetteer.country(one) === other);

/** A name that counts only beside another place may have this many tokens between itself and the other place. */
const MAX_BETWEEN = 2;

/** True if two names stand beside each other in one line: "Perth, WA". */
export const areNeighbours = (
  tokens: readonly Token[],
  left: Pick<PlaceHit, "to">,
  right: Pick<PlaceHit, "from">,
): boolean => {
  if (right.from - left.to > MAX_BETWEEN) return false;
  for (let at = left.to; at <= right.from; at++) if (tokens[at]?.gap === "line") return false;
  return true;
};

/** True for a text that is written without capital letters. */
const isLowerCase = (tokens: readonly Token[]): boolean => {
  let words = 0;
  let capitals = 0;
  for (const { kind, capital } of tokens) {
    if (kind === "word") words += 1;
    if (capital) capitals += 1;
  }
  return capitals * WORDS_PER_CAPITAL <= words;
};

/**
 * Finds the names of places, from left to right. The longest name wins, and names do not overlap. In a text with capital
 * letters, a short name needs one, and so does a name that is also a word. A name that counts only beside its city or
 * region needs that place beside it.
 */
export const findPlaces = (
  gazetteer: Gazetteer,
  tokens: readonly Token[],
  language: string | null = null,
): PlaceHit[] => {
  const found: Found[] = [];
  const plain = isLowerCase(tokens);
  for (let at = 0; at < tokens.length; ) {
    const { capital = false, text = "" } = tokens[at] ?? {};
    const inflected = capital ? namedInCase(gazetteer, text, language) : [];
    const one =
      foundAt(gazetteer, tokens, at) ?? (inflected.length > 0 ? { from: at, to: at + 1, meanings: inflected } : null);
    const least = WITHOUT_CASE.test(text) ? MIN_SIGNS : MIN_LETTERS;
    const short = one !== null && one.to === at + 1 && text.length < least;
    if (one !== null && (capital || (!short && one.meanings.some(({ form }) => form === "name" || plain))))
      found.push(one);
    at = found.at(-1)?.from === at ? (found.at(-1)?.to ?? at + 1) : at + 1;
  }
  const hits: PlaceHit[] = [];
  for (const [order, one] of found.entries()) {
    const { from, to, meanings } = one;
    const before = found[order - 1];
    const after = found[order + 1];
    // "WA" says something about the place before it, not about the place after it.
    const isCode = to === from + 1 && (tokens[from]?.text.length ?? 0) <= CODE_LETTERS;
    const near = [
      ...(before !== undefined && areNeighbours(tokens, before, one) ? before.meanings : []),
      ...(after !== undefined && !isCode && areNeighbours(tokens, one, after) ? after.meanings : []),
    ];
    const isSupported = ({ id }: Meaning): boolean => near.some((other) => belongs(gazetteer, id, other.id));
    const supported = meanings.filter((meaning) => meaning.form === "beside" && isSupported(meaning));
    const others = meanings.filter(({ form }) => form !== "beside");
    const ids = [...supported, ...others].map(({ id }) => id);
    if (ids.length === 0) continue;
    const form = supported.length > 0 ? "beside" : others.some((meaning) => meaning.form === "name") ? "name" : "word";
    hits.push({ from, to, ids, form });
  }
  return hits;
};
