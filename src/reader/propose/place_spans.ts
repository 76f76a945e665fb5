import type { Range, Scene } from "../decide/context.ts";
import type { Token } from "../text/tokens.ts";
import type { NameForm, PlaceKind } from "./gazetteer.ts";

/**
 * Proposes the passages that can name a place: known places, names in capitals, names with a postal code or a state, and
 * in texts without capitals the words beside a mark or a cue. Several passages of different extent are proposed ("Köln",
 * "Köln-Ehrenfeld"); the judge (decide/place.ts) chooses.
 */

/**
 * A name of the gazetteer in the text, with the kind and the weight (about the logarithm of the population) of its most
 * likely place.
 */
export type KnownPlace = Range & { kind: PlaceKind; form: NameForm; weight: number };

/** What is known of a text before its places are judged. */
export type PlaceText = Scene & {
  /** True for tokens of addresses and numbers of contact, and of passages that are addressed to software. */
  isHidden: (at: number) => boolean;
  /** The known places, by position. */
  known: readonly KnownPlace[];
  /** The names of streets, by position. */
  streets: readonly Range[];
  /** The terms of the lexicon that name things, by position. */
  things: readonly Range[];
  /** The sums of money, by position. */
  sums: readonly Range[];
};

/** How the text uses capital letters. Only in a text with both cases a capital letter marks a name. */
export type Case = "both" | "lower" | "upper";

/** A text with a larger share of words in capitals has only capitals, one with a smaller share only small letters. */
const ONLY_CAPITALS = 0.8;
const ONLY_SMALL = 0.09;

/** Longer names are sentences. In words. */
const MAX_WORDS = 5;
/** Names in a text without capitals are not recognised by their shape, so fewer words are tried. */
const MAX_SMALL_WORDS = 3;
/** In a longer text without capitals, only words that are alone between marks are tried. In tokens. */
const MAX_SMALL_TOKENS = 200;
/** At most this many small words of at most so many letters stand inside a name: "Saint-Rémy de la Vanne". */
const MAX_LINKS = 3;
const LONGEST_LINK = 5;
/** The longest abbreviation in a name: "St.", "Sta.". */
const LONGEST_ABBREVIATION = 3;

/** Returns how a text uses capitals. */
export const caseOf = (text: string, tokens: readonly Token[]): Case => {
  let words = 0;
  let capitals = 0;
  let wholly = 0;
  for (const { kind, text: folded, capital, start } of tokens) {
    if (kind !== "word" || folded.length < 2) continue;
    words++;
    if (!capital) continue;
    capitals++;
    const second = text.charAt(start + 1);
    if (second !== second.toLowerCase()) wholly++;
  }
  if (words === 0) return "both";
  if (wholly / words > ONLY_CAPITALS) return "upper";
  return capitals / words < ONLY_SMALL ? "lower" : "both";
};

const CUE_CONCEPTS: ReadonlySet<string> = new Set(["place_in", "place_label", "place_area"]);

/** Marks between the parts of a place: "Headingley, Leeds", "Frankfurt (Oder)", "Lyon / Villeurbanne". */
const PARTS: ReadonlySet<string> = new Set([",", "(", "/", "&"]);
/** Marks inside a name, without white space. */
const JOINTS: ReadonlySet<string> = new Set(["-", "'", "/"]);

/** A code after a name: "S8" and "SE15 4AB", "3e", "78701". */
const CODE_AFTER =
  /[^\S\r\n]+(?:\p{Lu}{1,2}\p{Nd}{1,2}(?!\p{Nd})(?:\p{L}(?!\p{L}))?(?: \p{Nd}\p{L}{2}(?!\p{L}))?|\p{Nd}{1,2}(?!\p{Nd})(?:\p{L}{1,4}(?!\p{L}))?|\p{Nd}{4,5}(?![\p{Nd}\p{L}]))/uy;
/** A postal code before a name: "44137", "D-44137", "1011 AB", "00-950". */
const CODE_BEFORE =
  /(?<![\p{Nd}\p{L}])(?:\p{Nd}{2}-\p{Nd}{3}|(?:\p{L}{1,3}-)?\p{Nd}{4,5}(?: ?\p{Lu}\p{L})?)[^\S\r\n]{1,2}$/u;
/** The longest code before a name, in UTF-16 units. */
const LONGEST_CODE = 14;

/** The end of a code after a name; `to` itself if there is none. */
const endOfCode = ({ text, tokens, isHidden }: PlaceText, to: number): number => {
  CODE_AFTER.lastIndex = tokens[to - 1]?.end ?? 0;
  if (isHidden(to) || !CODE_AFTER.test(text)) return to;
  let end = to;
  while ((tokens[end]?.end ?? Number.POSITIVE_INFINITY) <= CODE_AFTER.lastIndex) end++;
  return end;
};

/** The beginning of a postal code before a name; `from` itself if there is none. */
const startOfCode = ({ text, tokens, isHidden }: PlaceText, from: number): number => {
  const end = tokens[from]?.start ?? 0;
  const code = CODE_BEFORE.exec(text.slice(Math.max(0, end - LONGEST_CODE), end))?.[0];
  if (code === undefined || isHidden(from - 1)) return from;
  let start = from;
  while ((tokens[start - 1]?.start ?? -1) >= end - code.length) start--;
  return start;
};

/** The candidates of a text by position, without duplicates. */
export const proposePlaces = (scene: PlaceText): Range[] => {
  const { text, tokens, cues, isHidden, known, streets, sums } = scene;
  const letters = caseOf(text, tokens);
  const thorough = tokens.length <= MAX_SMALL_TOKENS;
  const found: Range[] = [];
  const seen = new Set<number>();
  const isSureName = new Uint8Array(tokens.length + 1);
  for (const { from, to, form } of known) if (form === "name") isSureName.fill(1, from, to);
  const isOrdinary = new Uint8Array(tokens.length + 1);
  const isStreet = new Uint8Array(tokens.length + 1);
  for (const { concept, from, to } of cues) {
    if (concept.text === "place_not") isOrdinary.fill(1, from, to);
    if (concept.text === "place_street") isStreet[from] = 1;
  }
  /** True for months, days, languages and the like, and for what begins and ends in the name of a street: "London Road". */
  const isNoPlace = (from: number, to: number): boolean => {
    if (to - from > 1 && isStreet[to - 1] === 1) return true;
    if (isStreet[to] === 1 && tokens[to]?.gap === "space" && tokens[to]?.capital === true) return true;
    if (streets.some((street) => street.from <= from && to <= street.to)) return true;
    if (streets.some((street) => street.from < from && from < street.to)) return true;
    for (let at = from; at < to; at++) if (isOrdinary[at] === 0 || isSureName[at] === 1) return false;
    return true;
  };
  const propose = (from: number, to: number): void => {
    if (to <= from || to > tokens.length || isNoPlace(from, to)) return;
    const key = from * 64 + Math.min(63, to - from);
    if (seen.has(key)) return;
    seen.add(key);
    found.push({ from, to });
  };

  const isKnown = new Uint8Array(tokens.length);
  for (const { from, to } of known) isKnown.fill(1, from, to);
  const isCued = new Uint8Array(tokens.length + 1);
  for (const { concept, to } of cues) if (CUE_CONCEPTS.has(concept.text)) isCued[to] = 1;
  const isSum = new Uint8Array(tokens.length + 1);
  for (const { from, to } of sums) isSum.fill(1, from, to);

  const isWord = (at: number): boolean => tokens[at]?.kind === "word" && !isHidden(at) && isSum[at] === 0;
  const isName = (at: number): boolean =>
    isWord(at) && (isKnown[at] === 1 || (letters === "both" && tokens[at]?.capital === true));
  /** True if a name cannot go on from the token before `at`. */
  const isFree = (at: number): boolean => {
    const token = tokens[at];
    const before = tokens[at - 1];
    return token === undefined || before === undefined || token.gap !== "none" || token.apart || before.kind === "mark";
  };
  /** True if nothing of the same clause stands directly before `at`. */
  const isBoundary = (at: number): boolean => {
    const token = tokens[at];
    const before = tokens[at - 1];
    if (token === undefined || before === undefined || token.opens || token.gap === "line") return true;
    return before.kind !== "word" || isHidden(at - 1) || isSum[at - 1] === 1 || isCued[at] === 1;
  };
  const endsClause = (at: number): boolean => {
    const token = tokens[at];
    return token === undefined || token.gap === "line" || token.kind !== "word" || isHidden(at) || isSum[at] === 1;
  };

  /** The token at which the name goes on after `to`, or -1. */
  const nextName = (to: number): number => {
    const next = tokens[to];
    if (next === undefined || next.gap === "line" || isHidden(to)) return -1;
    if (next.kind === "word") {
      if (next.gap !== "space") return -1;
      if (isName(to)) return to;
      let link = to;
      while (link - to < MAX_LINKS && isWord(link) && (tokens[link]?.text.length ?? 9) <= LONGEST_LINK) {
        link++;
        if (tokens[link]?.gap !== "space") return -1;
        if (isName(link)) return link;
      }
      return -1;
    }
    const beyond = tokens[to + 1];
    if (next.gap === "none" && JOINTS.has(next.text) && beyond?.gap === "none" && isWord(to + 1)) return to + 1;
    const abbreviated = (tokens[to - 1]?.text.length ?? 9) <= LONGEST_ABBREVIATION;
    return next.text === "." && next.gap === "none" && abbreviated && isName(to + 1) ? to + 1 : -1;
  };

  /** Proposes the names that begin at `at`. @returns the end of the longest one */
  const proposeFrom = (at: number): number => {
    let to = at + 1;
    for (let words = 1; ; words++) {
      propose(at, to);
      const coded = endOfCode(scene, to);
      if (coded > to) propose(at, coded);
      const next = words < MAX_WORDS ? nextName(to) : -1;
      if (next < 0) return Math.max(to, coded);
      to = next + 1;
    }
  };
  /** Proposes names of two or three parts: "Leith, Edinburgh". */
  const proposeParts = (from: number, first: number): void => {
    let to = first;
    for (let parts = 0; parts < 2; parts++) {
      const mark = tokens[to];
      const next = tokens[to + 1];
      if (mark === undefined || next === undefined || !PARTS.has(mark.text) || next.gap === "line") return;
      const bracket = mark.text === "(";
      if (!isWord(to + 1) || !(isName(to + 1) || (letters !== "both" && bracket))) return;
      let end = to + 2;
      for (let name = nextName(end); name >= 0 && end - to < 2 * MAX_WORDS; name = nextName(end)) end = name + 1;
      // The first word of the next part, too: "Mölln, Abholung nur abends".
      if (isKnown[to + 1] === 1) propose(from, to + 2);
      end = Math.max(end, endOfCode(scene, end));
      if (bracket && tokens[end]?.text === ")") end++;
      propose(from, end);
      to = end;
    }
  };

  for (let at = 0; at < tokens.length; at++) {
    if (!isWord(at) || !isFree(at)) continue;
    const name = isName(at);
    if (name || (letters !== "both" && isCued[at] === 1)) {
      const to = proposeFrom(at);
      const opens = isBoundary(at) || !isName(at - 1);
      if (opens) proposeParts(at, to);
      const coded = startOfCode(scene, at);
      if (coded < at) {
        propose(coded, at + 1);
        propose(coded, to);
      }
    }
    if (letters === "both") {
      // A small word after a cue that is alone: "collect from athlone".
      if (!name && isCued[at] === 1 && endsClause(at + 1)) propose(at, at + 1);
      continue;
    }
    const opens = isBoundary(at);
    if (!opens && !thorough) continue;
    for (let to = at + 1; to <= at + MAX_SMALL_WORDS && isWord(to - 1); to++) {
      if (to > at + 1 && tokens[to - 1]?.gap !== "space") break;
      if (thorough ? opens || endsClause(to) : endsClause(to)) propose(at, to);
    }
    if (opens) proposeParts(at, at + 1);
  }
  for (const { from, to } of known) {
    if (isHidden(from)) continue;
    propose(from, to);
    const coded = startOfCode(scene, from);
    if (coded < from) propose(coded, to);
    const end = endOfCode(scene, to);
    if (end > to) propose(from, end);
  }
  return found.sort((one, other) => one.from - other.from || one.to - other.to);
};
