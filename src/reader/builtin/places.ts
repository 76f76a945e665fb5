import type { Word } from "../text/tokens.ts";
import { SURE_PLACE, UK_POSTCODE } from "./countries.ts";
import { GEOGRAPHY, type Hit } from "./lexicon.ts";
import { describe, type Place, POSTCODE, type Range } from "./place_details.ts";
import {
  ABOUT,
  AND,
  AREA_WORDS,
  DELIVERIES,
  ELSEWHERE,
  FILLERS,
  JOINING_LINKS,
  LEAVING,
  NAME_ARTICLES,
  NAME_LINKS,
  NAME_OPENERS,
  NOT_PLACES,
  ORIGIN,
  PARTS_OF_TOWNS,
  PLACE_LABELS,
  PLACE_PREPOSITIONS,
  PLAIN_PREPOSITIONS,
  STATE_CODES,
  STREETS,
  TOWARDS,
} from "./place_words.ts";

export type { Place } from "./place_details.ts";

/**
 * Finds where an offer is: the place as the text writes it.
 *
 * Candidates are the places of the vocabulary, names after "in", "near" or "pickup", names with a postal code or a
 * state, and names that stand alone between marks. Each candidate is widened to the whole name ("Köln" to
 * "Köln-Ehrenfeld") and scored, and the best one wins. A place that goods come from or are sent to does not count.
 */

type Candidate = Range & { score: number };

/** Longer names are sentences. In tokens. */
const LONGEST_NAME = 9;

const SCORE = {
  city: 2.2,
  part: 2.1,
  hint: 0.4,
  region: 1.5,
  country: 0.8,
  cue: 1.5,
  label: 1.9,
  name: 0.3,
  code: 1.6,
  price: 1.3,
  alone: 1.5,
  closing: 1.45,
  sentence: 1.6,
  shipped: 1.2,
  listed: 1.4,
};
/** The key in SCORE for each family of geographic terms. */
const SCORE_OF: Readonly<Record<string, "city" | "part" | "region" | "country">> = {
  place: "city",
  city: "part",
  region: "region",
  country: "country",
};
const ELSEWHERE_PENALTY = 1.8;
/** A street is less informative than the town that it is in. */
const STREET_PENALTY = 1.5;
const LOWER_CASE_PENALTY = 0.9;

/** A candidate with a lower score is not a place. */
const LEAST_SCORE = 1.4;

/** Finds the place of a text. `hits` are all its terms. */
export const findPlace = (
  text: string,
  tokens: readonly Word[],
  hits: readonly Hit[],
  language: string | null,
): Place | null => {
  // English is mixed into every language, and texts too short to detect their language are mostly English.
  const own = PLACE_PREPOSITIONS[language ?? "en"] ?? [];
  const prepositions = new Set([...own, ...(language === null ? PLAIN_PREPOSITIONS : []), "in", "near"]);
  const capitals = tokens.filter((token) => token.capital).length;
  const letters = text.replace(/[^\p{L}]/gu, "");
  const mostlyUpperCase = letters.length > 0 && letters.replace(/\p{Ll}/gu, "").length / letters.length > 0.6;
  const mostlyLowerCase = capitals <= tokens.length / 12;
  const geography = hits.filter((hit) => GEOGRAPHY.has(hit.family));
  const things = new Set<number>();
  for (const hit of hits) {
    if (hit.family !== "category" && hit.family !== "kind" && hit.family !== "condition") continue;
    // A capitalised compound is a name, not a thing: "Oudebroek" is not a "broek".
    const word = tokens[hit.from];
    const compound = hit.to === hit.from + 1 && word?.capital && !hit.term.startsWith(word.folded.slice(0, 3));
    if (hit.weight >= 1.5 && !compound) for (let at = hit.from; at < hit.to; at++) things.add(at);
  }
  const geographic = new Set<number>();
  const sure = new Set<number>();
  for (const hit of geography) {
    for (let at = hit.from; at < hit.to; at++) {
      geographic.add(at);
      if (hit.weight >= SURE_PLACE) sure.add(at);
    }
  }

  const word = (at: number): string => tokens[at]?.folded ?? "";
  const gap = (at: number): string => tokens[at]?.before ?? "";
  const isSurePlace = (at: number): boolean => sure.has(at);

  /** True if a token can be part of a name: it has a capital letter and is not known to be something else. */
  const isName = (at: number): boolean => {
    const token = tokens[at];
    if (token === undefined) return false;
    if (isSurePlace(at)) return true;
    // "Le Vigan", "La Ciotat"
    if (NAME_ARTICLES.has(token.folded) && token.capital && gap(at + 1) === " " && !mostlyUpperCase) {
      const named = tokens[at + 1];
      return (
        named?.capital === true && !NOT_PLACES.has(named.folded) && !things.has(at + 1) && !/\d/.test(named.folded)
      );
    }
    if (NOT_PLACES.has(token.folded) || PLACE_LABELS.has(token.folded) || /\d/.test(token.folded)) return false;
    if (things.has(at) || token.folded.length < 2) return false;
    return (token.capital && !mostlyUpperCase) || (NAME_OPENERS.has(token.folded) && word(at + 1) !== "of");
  };
  const isCode = (at: number): boolean => {
    const token = tokens[at];
    return token?.capital === true && UK_POSTCODE.test(token.folded) && !things.has(at);
  };
  /** True for a state code directly after a name: "OH" after "Dublin,". */
  const isState = (at: number): boolean =>
    STATE_CODES.has(word(at)) &&
    /^,? $/.test(gap(at)) &&
    text.slice(tokens[at]?.start, tokens[at]?.end).toUpperCase() === text.slice(tokens[at]?.start, tokens[at]?.end);

  const widenRight = (range: Range): Range => {
    let { to } = range;
    while (to < tokens.length && to - range.from < LONGEST_NAME) {
      const between = gap(to);
      const token = tokens[to];
      if (token === undefined) break;
      const adjacent = between === " " || between === "-" || between === "–" || between === "’" || between === "'";
      const slash = between === "/" || between === " / " || between === " & ";
      const comma = between === ", ";
      const bracket = between === " (";
      if ((adjacent || comma || bracket) && AREA_WORDS.has(token.folded) && gap(to + 1) === " " && isName(to + 1)) {
        to += 2;
      } else if (isState(to)) {
        to += 1;
      } else if ((adjacent || comma || bracket) && isCode(to)) {
        to += 1;
      } else if (
        between === " " &&
        /^(?:\d{1,2}(?:e|er|eme|th|st|nd|rd)?)$/.test(token.folded) &&
        isSurePlace(to - 1) &&
        !/^\s?[.,:]?\d|^\s?[€$£%°]|^\s?(?:km|min|m|mi|uhr|h|€)/i.test(text.slice(token.end, token.end + 4))
      ) {
        to += 1;
      } else if ((adjacent || slash) && isName(to)) {
        to += 1;
      } else if ((comma || bracket) && isName(to) && (!token.opens || bracket)) {
        // After a comma another sentence may begin, so the name goes on only if it ends at a mark or is a known place.
        let end = to + 1;
        while (
          end < tokens.length &&
          end - to < LONGEST_NAME &&
          gap(end) === " " &&
          (isName(end) || (NAME_LINKS.has(word(end)) && isName(end + 1)))
        )
          end += 1;
        const closed = end >= tokens.length || !/^[ -]$/.test(gap(end));
        if (!closed && !isSurePlace(to)) break;
        if (language === "de" && comma && !isSurePlace(to)) break;
        to = isSurePlace(to) && !closed ? to + 1 : end;
      } else if ((adjacent || comma) && NAME_LINKS.has(token.folded) && isName(to + 1) && /^[ -]$/.test(gap(to + 1))) {
        if (JOINING_LINKS.has(token.folded) && tokens[to + 1]?.opens) break;
        to += 2;
      } else {
        break;
      }
    }
    return { from: range.from, to };
  };

  const widenLeft = (range: Range): Range => {
    let { from } = range;
    while (from > 0 && range.to - from < LONGEST_NAME) {
      const at = from - 1;
      const between = gap(from);
      if (tokens[from]?.opens) break;
      if ((between === " " || between === "-" || between === "/") && isName(at)) from = at;
      else if (between === " " && POSTCODE.test(word(at)) && isSurePlace(from)) from = at;
      else if (between === " " && AREA_WORDS.has(word(at)) && /^,? $/.test(gap(at)) && isSurePlace(at - 1))
        from = at - 1;
      else if (between === ", " && isName(at) && isSurePlace(from)) {
        // "Headingley, Leeds": the part before the comma must begin where a name can begin.
        let start = at;
        while (
          start > 0 &&
          at - start < LONGEST_NAME &&
          gap(start) === " " &&
          !tokens[start]?.opens &&
          isName(start - 1)
        )
          start -= 1;
        const opens = tokens[start]?.opens || gap(start) === ", " || isCue(start - 1);
        if (!opens || (language === "de" && !isSurePlace(at))) break;
        from = start;
      } else if (
        between === " " &&
        NAME_LINKS.has(word(at)) &&
        !prepositions.has(word(at)) &&
        isName(at - 1) &&
        !JOINING_LINKS.has(word(at))
      )
        from = at - 1;
      else break;
    }
    return { from, to: range.to };
  };

  const isCue = (at: number): boolean => prepositions.has(word(at)) || PLACE_LABELS.has(word(at));

  /** The score of the words before a name. */
  const contextOf = (from: number): number => {
    let score = 0;
    for (let back = 1; back <= 3; back++) {
      const at = from - back;
      if (at < 0 || tokens[at + 1]?.opens) break;
      const folded = word(at);
      if (PLACE_LABELS.has(folded) || (folded === "up" && word(at - 1) === "pick")) return SCORE.label;
      // "shipping from Bangor": goods are sent from where they are.
      if (ORIGIN.has(folded) && back === 1 && (LEAVING.has(word(at - 1)) || LEAVING.has(word(at - 2))))
        return SCORE.shipped;
      if (folded === "to" && word(at - 1) === "off") return -ELSEWHERE_PENALTY;
      if (ELSEWHERE.has(folded)) {
        // "collect from Leeds" states the place, "shipped from Leeds" does not.
        if (PLACE_LABELS.has(word(at - 1)) || PLACE_LABELS.has(word(at - 2))) return SCORE.label;
        // "deliveries around Tacoma" states the place of the offer.
        if (back > 1 && DELIVERIES.has(folded) && ABOUT.has(word(from - 1))) continue;
        return -ELSEWHERE_PENALTY;
      }
      // "à" is a preposition in a text of any language.
      const grave = text.charAt(tokens[at]?.start ?? 0) === "à" && folded === "a";
      if (back === 1 && (prepositions.has(folded) || grave)) score = SCORE.cue;
      else if (
        back === 1 &&
        (folded === "de" || folded === "di" || folded === "of" || folded === "the" || folded === "da") &&
        prepositions.has(word(at - 1))
      )
        score = SCORE.cue;
      else if (back === 1 && !FILLERS.has(folded) && !prepositions.has(folded)) break;
    }
    if (score === 0 && isLabelBefore(from)) score = SCORE.label;
    if (score === 0 && isPriceBefore(from)) score = SCORE.price;
    return score;
  };
  /** A place may follow a price directly: "£340 Dulwich". */
  const isPriceBefore = (from: number): boolean =>
    /^\d/.test(word(from - 1)) &&
    !tokens[from]?.opens &&
    (/^\s$/.test(gap(from))
      ? /[€$£]\s?$|[€$£]\s?\d[\d.,]*$/.test(
          text.slice(Math.max(0, (tokens[from - 1]?.start ?? 0) - 8), tokens[from - 1]?.start),
        )
      : /^\s?[€£$],?\s$/.test(gap(from)));
  /** "Standort: X" and "Location: X": the colon ends the sentence, so this is checked separately. */
  const isLabelBefore = (from: number): boolean => /^\s*[:–-]\s*$/.test(gap(from)) && PLACE_LABELS.has(word(from - 1));

  const candidates: Candidate[] = [];
  /** In "moving from Exeter to Bristol" both places count. */
  const isStart = ({ from, to }: Range): boolean =>
    ORIGIN.has(word(from - 1)) && TOWARDS.has(word(to)) && gap(to) === " " && isName(to + 1);
  const propose = (range: Range, score: number) => {
    const wide = widenLeft(widenRight(range));
    const opens = wide.from > 0 && tokens[wide.from]?.opens === true;
    const sentence = opens && (wide.to >= tokens.length || tokens[wide.to]?.opens === true);
    const coded = isCode(wide.to - 1) || isState(wide.to - 1) || POSTCODE.test(word(wide.from));
    const street = STREETS.has(word(wide.to - 1)) || (gap(wide.to) === " " && STREETS.has(word(wide.to)));
    candidates.push({
      ...wide,
      score:
        score +
        (isStart(wide) ? SCORE.hint : contextOf(wide.from)) +
        (sentence ? SCORE.sentence : 0) +
        (coded ? SCORE.code : 0) -
        (street ? STREET_PENALTY : 0),
    });
  };

  /** True if the text has the term exactly as the vocabulary does, not in another form. */
  const isWritten = ({ from, to, term }: Hit): boolean =>
    tokens
      .slice(from, to)
      .map((token) => token.folded)
      .join(" ") === term;
  for (const hit of geography) {
    // A state code after the name is as good as a capital letter: "halifax NS".
    const lower = !tokens.slice(hit.from, hit.to).some((token) => token.capital) && !isState(hit.to);
    // "bostons" are shoes.
    if (lower && !isWritten(hit)) continue;
    if (lower && !mostlyLowerCase && contextOf(hit.from) <= 0) continue;
    const known = hit.weight >= SURE_PLACE;
    // A place at the start of the text before another name is a brand: "Cambridge Audio amp".
    const brand = hit.from === 0 && gap(hit.to) === " " && isName(hit.to) && !isSurePlace(hit.to);
    const isTown = hit.family === "place" || hit.family === "city";
    const base = isTown && !known ? SCORE.hint : SCORE[SCORE_OF[hit.family] ?? "country"];
    // A name that is also an ordinary word ("Nancy", "Tours") is a place if it stands alone.
    const opened = tokens[hit.from]?.opens === true || /[,(]\s?$/.test(gap(hit.from));
    const closed = hit.to >= tokens.length || tokens[hit.to]?.opens === true || /^[,)]/.test(gap(hit.to));
    // It may be followed by a part of a town ("Reading station", "Hull city centre") or by "and" and a common word.
    const paired =
      AND.has(word(hit.to)) && gap(hit.to) === " " && tokens[hit.to + 1]?.capital === false && gap(hit.to + 1) === " ";
    const named = closed || paired || (gap(hit.to) === " " && PARTS_OF_TOWNS.has(word(hit.to)));
    if (
      isTown &&
      !known &&
      opened &&
      named &&
      hit.from > 0 &&
      (!lower || (mostlyLowerCase && hit.to >= tokens.length - 1))
    ) {
      propose(hit, SCORE.closing);
      continue;
    }
    propose(hit, base - ((lower && !mostlyLowerCase) || brand ? LOWER_CASE_PENALTY : 0));
  }
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined || geographic.has(at) || !isName(at) || !token.capital) continue;
    const starts = token.opens || !/^[ -]$/.test(gap(at)) || !isName(at - 1);
    if (!starts) continue;
    // A postal code counts in "Abholung 79341 Kenzingen" and "…, 79341 Kenzingen", but not in "Lego 10307 Eiffelturm".
    const led = tokens[at - 1]?.opens || !/^\s$/.test(gap(at - 1)) || isCue(at - 2);
    if (/^\d{5}$/.test(word(at - 1)) && gap(at) === " " && led) {
      propose({ from: at - 1, to: at + 1 }, SCORE.name);
      continue;
    }
    // Short words in capitals are abbreviations: "HS 110 €", "LMT, FL".
    const raw = text.slice(token.start, token.end);
    if (!mostlyUpperCase && raw.length <= 3 && raw === raw.toUpperCase() && tokens[at + 1]?.capital !== true) continue;
    const context = contextOf(at);
    if (context > 0) propose({ from: at, to: at + 1 }, SCORE.name);
    else if (at > 0 && context === 0 && language !== "de") {
      const range = widenRight({ from: at, to: at + 1 });
      const after = range.to < tokens.length ? gap(range.to) : ".";
      const ends = range.to >= tokens.length || (tokens[range.to]?.opens ?? true);
      const coded = isCode(range.to - 1) || isState(range.to - 1);
      // A name before a colon is a heading.
      const closed = (ends || coded || /^[,)]/.test(after)) && !/^\s?:/.test(after);
      const opened = token.opens || /[,(]\s?$/.test(gap(at));
      if (!closed || !opened || range.to - range.from > 4) continue;
      // An unknown name in capitals is an abbreviation: the licence in "LMT, FL".
      if (/^\p{Lu}+$/u.test(text.slice(token.start, token.end)) && !mostlyUpperCase) continue;
      const base = ends ? (token.opens ? SCORE.alone : SCORE.closing) : SCORE.listed;
      candidates.push({ ...range, score: base + (coded ? SCORE.code : 0) });
    }
  }

  const best = candidates.reduce<Candidate | null>(
    (top, one) => (top === null || one.score > top.score + 0.01 ? one : top),
    null,
  );
  if (best === null || best.score < LEAST_SCORE) return null;
  return describe(text, tokens, geography, { range: best, confidence: Math.min(0.97, 0.45 + best.score / 8) });
};
