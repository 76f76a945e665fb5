import type { AskExtraction, OfferExtraction } from "./extraction.ts";

/**
 * Grounding: every value of an extraction is checked against the text, and values that the text does not state are
 * dropped.
 *
 * Each value must pass two checks. Does its quote occur in the text? And, for values that a reader will act on (price,
 * place, contact, name, title): do the quoted words state this value? Values that a model invented, or gave because an
 * instruction in the text asked for them, fail one of these checks.
 */

/** `start` counts code points from 1, `end` is exclusive: in PostgreSQL `substr(text, start, end - start) = quote`. */
type Span = { start: number; end: number };

type Found = { value: unknown; quote: string; basis: "stated" | "inferred"; confidence: number };

/** An extraction in which every found value has its span. */
export type Grounded<T> = T extends Found
  ? T & Span
  : T extends readonly (infer E)[]
    ? Grounded<E>[]
    : T extends object
      ? { [K in keyof T]: Grounded<T[K]> }
      : T;

type Located = Span & { quote: string };

/**
 * Longest `title` in code points (extraction.ts). Limits the first line that replaces a title that could not be
 * verified.
 */
const TITLE_LENGTH = 120;

/** A first line is only a fair title, so it gets the lowest confidence that an extractor may give (extraction.ts). */
const FIRST_LINE_CONFIDENCE = 0.5;

/** Longest `price.label` in code points (extraction.ts). */
const LABEL_LENGTH = 200;

/** Longest `location.text` in code points (extraction.ts). A longer quote is prose around a place, not a place. */
const PLACE_LENGTH = 200;

/** Typographic variants that models and keyboards use for one another. */
const VARIANTS = new Map([
  ..."’‘‚‛ʼʹ´`′".split("").map((mark) => [mark, "'"] as const),
  ..."“”„‟«»″".split("").map((mark) => [mark, '"'] as const),
  ..."‐‑‒–—―−".split("").map((mark) => [mark, "-"] as const),
]);

/** Lower case without diacritics, for comparing words. */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss");

const wordsOf = (text: string): string[] => fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];

const codePoints = (text: string): number => [...text].length;

/**
 * Folds whitespace, case and typographic variants, and records where each folded unit came from.
 * For the folded unit `i`, `starts[i]` and `ends[i]` are the bounds of its code point in the text, in UTF-16 units.
 */
const foldWithOrigins = (text: string): { folded: string; starts: number[]; ends: number[] } => {
  let folded = "";
  const starts: number[] = [];
  const ends: number[] = [];
  let position = 0;
  for (const character of text) {
    const end = position + character.length;
    const space = /\s/u.test(character);
    if (space && folded.endsWith(" ")) {
      ends[ends.length - 1] = end;
    } else {
      const unit = space ? " " : (VARIANTS.get(character) ?? character.toLowerCase());
      folded += unit;
      for (let i = 0; i < unit.length; i++) {
        starts.push(position);
        ends.push(end);
      }
    }
    position = end;
  }
  return { folded, starts, ends };
};

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** True if the boundary between `before` and `after` is inside a number: "450" does not occur in "1.450" or "4500". */
const cutsNumber = (before: string, after: string): boolean =>
  /\d[.,'’]?$/u.test(before) && /^[.,'’]?\d/u.test(after) && /\d$|^\d/u.test(`${before.slice(-1)}${after.slice(0, 1)}`);

/** True if the boundary is inside a word. */
const cutsWord = (before: string, after: string): boolean =>
  LETTER_OR_DIGIT.test(before.slice(-1)) && LETTER_OR_DIGIT.test(after.slice(0, 1));

/**
 * The position of `needle` in `haystack` in UTF-16 units, or -1. Whole words come first ("rent", not the end of
 * "current"), then parts of words ("wohnung" in "Dachgeschosswohnung"). A part of a number never matches.
 */
const occurrence = (haystack: string, needle: string): number => {
  let insideWord = -1;
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1)) {
    const end = at + needle.length;
    // The boundary checks look at no more than two characters on each side.
    const before = haystack.slice(Math.max(0, at - 2), at);
    const after = haystack.slice(end, end + 2);
    const head = needle.slice(0, 2);
    const tail = needle.slice(-2);
    if (cutsNumber(before, head) || cutsNumber(tail, after)) continue;
    if (!cutsWord(before, head) && !cutsWord(tail, after)) return at;
    if (insideWord < 0) insideWord = at;
  }
  return insideWord;
};

/**
 * Creates the function that locates a quote in this text: first exactly, then folded. The returned quote is always the
 * text's own words.
 */
const createLocator = (text: string): ((quote: string) => Located | null) => {
  // The number of code points before each UTF-16 unit, so that each conversion is one array access.
  const before: number[] = [];
  let count = 0;
  for (const character of text) {
    for (let i = 0; i < character.length; i++) before.push(count);
    count++;
  }
  before.push(count);
  const spanOf = (start: number, end: number): Located => ({
    quote: text.slice(start, end),
    start: (before[start] ?? 0) + 1,
    end: (before[end] ?? count) + 1,
  });
  let origins: ReturnType<typeof foldWithOrigins> | null = null;

  return (quote) => {
    const wanted = quote.normalize("NFC").trim();
    // Half a surrogate pair would match inside a whole pair.
    if (wanted === "" || !wanted.isWellFormed()) return null;
    const exact = occurrence(text, wanted);
    if (exact >= 0) return spanOf(exact, exact + wanted.length);
    origins ??= foldWithOrigins(text);
    const folded = foldWithOrigins(wanted).folded;
    const at = occurrence(origins.folded, folded);
    const start = origins.starts[at];
    const end = origins.ends[at + folded.length - 1];
    return at < 0 || start === undefined || end === undefined ? null : spanOf(start, end);
  };
};

/** First letters of magnitude words after a number: k, grand, mille, mil, tys., Tsd., thousand, duizend, Mio. */
const MAGNITUDE_WORD = /^\s?[kmtdg]/iu;

/** Words for hundredths after a number: cents, centimes, pence. */
const CENTS_WORD = /^\s?(?:¢|c|p)/iu;

/** The factors that a magnitude word can stand for. */
const MAGNITUDES = [1e3, 1e6];

/**
 * Every number that a passage can be read to state. It accepts all notations (1.200 is 1200 and 1.2, "1 200" is also 1
 * and 200, "1,2k" is also 1200), so that a correct value is never rejected. Only numbers that the passage does not
 * contain are excluded.
 */
const numbersIn = (passage: string): Set<number> => {
  const numbers = new Set<number>();
  // "12€50" is 12.50.
  const text = passage.replace(/(\d)\s?[€$£](\d{2})(?!\d)/gu, "$1.$2");
  for (const match of text.matchAll(/\d(?:[\d.,'’]|\s(?=\d{3}(?!\d)))*/gu)) {
    const end = match.index + match[0].length;
    const rest = text.slice(end, end + 2);
    for (const piece of [match[0], ...match[0].split(/\s/u)]) {
      const written = piece.replace(/(?<![.,'’])[.,'’]+$/u, "");
      const mark = Math.max(written.lastIndexOf("."), written.lastIndexOf(","));
      const whole = Number(written.replace(/\D/gu, ""));
      const values = [whole];
      if (mark > 0) values.push(Number(`${written.slice(0, mark).replace(/\D/gu, "")}.${written.slice(mark + 1)}`));
      for (const value of values) {
        numbers.add(value);
        if (MAGNITUDE_WORD.test(rest)) for (const magnitude of MAGNITUDES) numbers.add(value * magnitude);
        if (CENTS_WORD.test(rest)) numbers.add(value / 100);
      }
    }
  }
  return numbers;
};

/** Compares amounts as rounded hundredths, because 1.2 * 1000 is not exactly 1200 in floating point. */
const containsAmount = (numbers: Set<number>, amount: number): boolean =>
  [...numbers].some((number) => Math.round(number * 100) === Math.round(amount * 100));

/**
 * True if the passage can state the amount. An amount of 0 needs no digits. A passage without digits is accepted
 * (number words).
 */
const statesAmount = (passage: string, amount: number): boolean =>
  amount === 0 || !/\d/u.test(passage) || containsAmount(numbersIn(passage), amount);

/** True if all words of `value` occur in `passage`, in any order. */
const containsWords = (passage: string, value: string): boolean => {
  const said = new Set(wordsOf(passage));
  return wordsOf(value).every((word) => said.has(word));
};

/**
 * How many of the last digits of a phone number the quote must contain. The first digits may be missing or written
 * differently (country code, trunk prefix). Six digits still identify a line in a town.
 */
const PHONE_TAIL = 6;

/** True if the passage states this contact. An e-mail address may be obfuscated ("kev [at] example [dot] com"). */
const statesContact = (passage: string, contact: { type: string; value: string }): boolean => {
  if (contact.type !== "email" && contact.type !== "url") {
    // Some people write the letter O for a zero to hide the number.
    const digits = (text: string) => text.replace(/[oO]/gu, "0").replace(/\D/gu, "");
    const tail = digits(contact.value).slice(-PHONE_TAIL);
    return tail !== "" && digits(passage).includes(tail);
  }
  const said = fold(passage);
  const pieces = wordsOf(contact.value.replace(/^https?:\/\/(www\.)?/iu, ""));
  let from = 0;
  for (const piece of pieces) {
    const at = said.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return pieces.length > 0;
};

/** True if every word of the title occurs in the text, alone or inside another word ("Fahrrad" in "Fahrräder"). */
const consistsOfWordsFrom = (text: string, title: string): boolean => {
  const said = fold(text);
  return wordsOf(title).every((word) => said.includes(word));
};

/** The first line of the text as its title, cut to length between code points. Null for a text without words. */
const firstLine = (text: string) => {
  const line = text.split(/[\r\n\u2028\u2029]/u).find((candidate) => candidate.trim() !== "");
  if (line === undefined) return null;
  const value = [...line.trim()].slice(0, TITLE_LENGTH).join("").trim();
  // Only blank lines precede it, so the first occurrence is the line itself.
  const start = codePoints(text.slice(0, text.indexOf(value))) + 1;
  const end = start + codePoints(value);
  return { value, basis: "inferred" as const, confidence: FIRST_LINE_CONFIDENCE, quote: value, start, end };
};

const createGrounding = (text: string) => {
  const locate = createLocator(text);

  /** The value with its span, or null if its quote does not occur in the text or does not state the value. */
  const value = <F extends Found>(
    found: F | null,
    says: (quote: string, value: F["value"]) => boolean = () => true,
  ): (F & Span) | null => {
    if (found === null) return null;
    const located = locate(found.quote);
    return located && says(located.quote, found.value) ? { ...found, ...located } : null;
  };

  return {
    value,

    values: <F extends Found>(all: F[], says?: (quote: string, value: F["value"]) => boolean): (F & Span)[] =>
      all.map((found) => value(found, says)).filter((found) => found !== null),

    title: (found: (Found & { value: string }) | null) =>
      found && (value(found, (_, title) => consistsOfWordsFrom(text, title)) ?? firstLine(text)),

    price: (found: OfferExtraction["price"]) => {
      const grounded = value(found, (quote, price) => price.amount === null || statesAmount(quote, price.amount));
      if (grounded === null) return null;
      const kept = (passage: string, amount: number | null) =>
        amount !== null && statesAmount(passage, amount) ? amount : null;
      const price = grounded.value;
      const label = locate(price.label)?.quote ?? [...grounded.quote].slice(0, LABEL_LENGTH).join("");
      const amount_max = kept(grounded.quote, price.amount_max);
      // The deposit may be stated elsewhere than the price ("Deposit two months: 1,600").
      const deposit = kept(text, price.deposit);
      return { ...grounded, value: { ...price, amount_max, deposit, label } };
    },

    wish: (found: AskExtraction["price"]) => {
      const grounded = value(found);
      if (grounded === null) return null;
      const kept = (amount: number | null) => (amount !== null && statesAmount(grounded.quote, amount) ? amount : null);
      const price = { ...grounded.value, min: kept(grounded.value.min), max: kept(grounded.value.max) };
      return price.min === null && price.max === null ? null : { ...grounded, value: price };
    },

    location: (found: OfferExtraction["location"]) => {
      const grounded = value(found);
      if (grounded === null) return null;
      const place = grounded.value;
      const said = fold(grounded.quote).includes(fold(place.text));
      if (!said && codePoints(grounded.quote) > PLACE_LENGTH) return null;
      const postal = place.postal_code !== null && containsWords(text, place.postal_code) ? place.postal_code : null;
      return { ...grounded, value: { ...place, text: said ? place.text : grounded.quote, postal_code: postal } };
    },
  };
};

const groundOffer = (text: string, extraction: OfferExtraction): Grounded<OfferExtraction> => {
  const grounding = createGrounding(text);
  const title = grounding.title(extraction.title);
  if (title === null) throw new Error("A text without words has no title.");
  return {
    language: extraction.language,
    title,
    domain: grounding.value(extraction.domain),
    category: grounding.value(extraction.category),
    offer_kind: grounding.value(extraction.offer_kind),
    price: grounding.price(extraction.price),
    location: grounding.location(extraction.location),
    contacts: grounding.values(extraction.contacts, statesContact),
    party: grounding.value(extraction.party, (quote, party) => containsWords(quote, party.name)),
    condition: grounding.value(extraction.condition),
    space: grounding.value(extraction.space),
    features: grounding.values(extraction.features),
    attributes: grounding.values(extraction.attributes),
  };
};

const groundAsk = (text: string, extraction: AskExtraction): Grounded<AskExtraction> => {
  const grounding = createGrounding(text);
  return {
    language: extraction.language,
    title: grounding.title(extraction.title),
    domain: grounding.value(extraction.domain),
    category: grounding.value(extraction.category),
    ask_kind: grounding.value(extraction.ask_kind),
    price: grounding.wish(extraction.price),
    location: grounding.location(extraction.location),
    condition: grounding.value(extraction.condition),
    keywords: extraction.keywords,
    must: grounding.values(extraction.must),
    exclude: grounding.values(extraction.exclude),
    attributes: grounding.values(extraction.attributes),
  };
};

/**
 * Locates every value of an extraction in the text and drops those that the text does not state.
 *
 * - A quote that does not occur exactly is compared again with whitespace, case, apostrophes, quotation marks and
 *   dashes folded. It is then replaced by the exact words of the text. It never matches a part of a number.
 * - A single value that is not found becomes null; a list element that is not found is removed. A title that is not
 *   found, or that has words which the text lacks, is replaced by the first line of the text (basis inferred).
 * - The quote must contain: the amount as a number, the parts of an e-mail or web address, the last digits of a phone
 *   number, the name of the party, the place (otherwise the quote becomes the place). A deposit may be stated anywhere
 *   in the text.
 *
 * The database checks the same again (`reading.is_quoted`, `states_amount`, `states_contact`) and decides. It does not
 * accept an amount without digits.
 *
 * @param text the text as stored: NFC, at most 4,000 code points, not blank
 * @returns plain JSON with offsets in code points: `start` from 1, `end` exclusive
 * @throws if the text of an offer is blank
 */
export function ground(text: string, extraction: OfferExtraction): Grounded<OfferExtraction>;
export function ground(text: string, extraction: AskExtraction): Grounded<AskExtraction>;
export function ground(
  text: string,
  extraction: OfferExtraction | AskExtraction,
): Grounded<OfferExtraction> | Grounded<AskExtraction> {
  return "contacts" in extraction ? groundOffer(text, extraction) : groundAsk(text, extraction);
}
