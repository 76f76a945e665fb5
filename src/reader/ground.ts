import type { AskExtraction, OfferExtraction } from "./extraction.ts";

/**
 * Grounding: what an extraction claims is looked up in the text, and what the text does not say goes.
 *
 * Two questions are asked of every value. Where are its words (the quote)? And, for what a stranger will act on (price,
 * place, contact, name, title): do these words say this value? A model that obeyed an order in the text, or made
 * something up, fails one of the two.
 */

/** `start` counts code points from 1, `end` is exclusive: PostgreSQL's `substr(text, start, end - start) = quote`. */
type Span = { start: number; end: number };

type Found = { value: unknown; quote: string; basis: "stated" | "inferred"; confidence: number };

/** An extraction whose found values carry their spans. */
export type Grounded<T> = T extends Found
  ? T & Span
  : T extends readonly (infer E)[]
    ? Grounded<E>[]
    : T extends object
      ? { [K in keyof T]: Grounded<T[K]> }
      : T;

type Located = Span & { quote: string };

/** Title of an offer whose own title could not be verified: how long `title` may be, in code points (extraction.ts). */
const TITLE_LENGTH = 120;

/** A first line is a fair title and no more: the least that an extractor may give (extraction.ts). */
const FIRST_LINE_CONFIDENCE = 0.5;

/** Longest `price.label` (extraction.ts). */
const LABEL_LENGTH = 200;

/** Longest `location.text` (extraction.ts); a longer quote is prose around a place, not a place. */
const PLACE_LENGTH = 200;

/** Typographic variants that models and keyboards exchange for one another. */
const TWINS = new Map([
  ..."’‘‚‛ʼʹ´`′".split("").map((mark) => [mark, "'"] as const),
  ..."“”„‟«»″".split("").map((mark) => [mark, '"'] as const),
  ..."‐‑‒–—―−".split("").map((mark) => [mark, "-"] as const),
]);

/** Lower case without marks, for comparing words. */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss");

const wordsOf = (text: string): string[] => fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];

const codePoints = (text: string): number => [...text].length;

/**
 * Folds whitespace, case and typographic variants, remembering where each folded unit came from.
 * `starts[i]` and `ends[i]` bound, in UTF-16 units of the text, the code point behind the folded unit `i`.
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
      const unit = space ? " " : (TWINS.get(character) ?? character.toLowerCase());
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

/** True when the edge between `before` and `after` runs through a number: "450" is not said by "1.450" or "4500". */
const cutsNumber = (before: string, after: string): boolean =>
  /\d[.,'’]?$/u.test(before) && /^[.,'’]?\d/u.test(after) && /\d$|^\d/u.test(`${before.slice(-1)}${after.slice(0, 1)}`);

/** True when the edge runs through a word. */
const cutsWord = (before: string, after: string): boolean =>
  LETTER_OR_DIGIT.test(before.slice(-1)) && LETTER_OR_DIGIT.test(after.slice(0, 1));

/**
 * Where `needle` stands in `haystack`, in UTF-16 units: whole words first ("rent" rather than the end of "current"),
 * else inside a word ("wohnung" in "Dachgeschosswohnung"), never a part of a number. -1 when nowhere.
 */
const occurrence = (haystack: string, needle: string): number => {
  let insideWord = -1;
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1)) {
    const end = at + needle.length;
    // Two characters before and after are all that the edges depend on.
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

/** Makes the function that finds a quote in this text: exactly, else folded (then the text's own words are the quote). */
const createLocator = (text: string): ((quote: string) => Located | null) => {
  // Code points before each UTF-16 unit, so that every lookup is one access.
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
    // Half a surrogate pair would be found inside a whole one.
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

/** Magnitudes written behind a number, by their first letter: k, grand, mille, mil, tys., Tsd., thousand, duizend, Mio. */
const MAGNITUDE_WORD = /^\s?[kmtdg]/iu;

/** Hundredths behind a number: cents, centimes, pence. */
const CENTS_WORD = /^\s?(?:¢|c|p)/iu;

/** What such a word can multiply by. */
const MAGNITUDES = [1e3, 1e6];

/**
 * Every number that a passage can be read to state. Generous with notation (1.200 is 1200 and 1.2, "1 200" is also
 * 1 and 200, "1,2k" is also 1200), so that it never disputes a right reading; what it excludes is numbers from nowhere.
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

/** Amounts are compared in hundredths and rounded: 1.2 * 1000 is not 1200 in binary. */
const states = (numbers: Set<number>, amount: number): boolean =>
  [...numbers].some((number) => Math.round(number * 100) === Math.round(amount * 100));

/** True when the passage can state the amount: nothing to pay needs no figure, and words without figures are believed. */
const statesAmount = (passage: string, amount: number): boolean =>
  amount === 0 || !/\d/u.test(passage) || states(numbersIn(passage), amount);

/** True when all words of `value` stand in `passage`, in any order. */
const saysWords = (passage: string, value: string): boolean => {
  const said = new Set(wordsOf(passage));
  return wordsOf(value).every((word) => said.has(word));
};

/**
 * Digits at the end of a phone number that the words must show. The rest may be written otherwise or not at all
 * (country code, trunk zero); six still name one line in a town.
 */
const PHONE_TAIL = 6;

/** True when the words say this contact; an address may be written around ("kev [at] example [dot] com"). */
const saysContact = (passage: string, contact: { type: string; value: string }): boolean => {
  if (contact.type !== "email" && contact.type !== "url") {
    // A letter O is how some people hide a zero.
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

/** True when every word of a title stands in the text, by itself or within another ("Fahrrad" in "Fahrräder"). */
const isMadeOf = (text: string, title: string): boolean => {
  const said = fold(text);
  return wordsOf(title).every((word) => said.includes(word));
};

/** The first line of a text as its title, cut to length at a code point. Null for a text without words. */
const firstLine = (text: string) => {
  const line = text.split(/[\r\n\u2028\u2029]/u).find((candidate) => candidate.trim() !== "");
  if (line === undefined) return null;
  const value = [...line.trim()].slice(0, TITLE_LENGTH).join("").trim();
  // Only blank lines come before it, so that its first occurrence is the line itself.
  const start = codePoints(text.slice(0, text.indexOf(value))) + 1;
  const end = start + codePoints(value);
  return { value, basis: "inferred" as const, confidence: FIRST_LINE_CONFIDENCE, quote: value, start, end };
};

const createGrounding = (text: string) => {
  const locate = createLocator(text);

  /** The value with its span; null when its words are not in the text, or when they do not say it. */
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
      found && (value(found, (_, title) => isMadeOf(text, title)) ?? firstLine(text)),

    price: (found: OfferExtraction["price"]) => {
      const grounded = value(found, (quote, price) => price.amount === null || statesAmount(quote, price.amount));
      if (grounded === null) return null;
      const kept = (passage: string, amount: number | null) =>
        amount !== null && statesAmount(passage, amount) ? amount : null;
      const price = grounded.value;
      const label = locate(price.label)?.quote ?? [...grounded.quote].slice(0, LABEL_LENGTH).join("");
      const amount_max = kept(grounded.quote, price.amount_max);
      // A deposit may stand elsewhere than the price ("Deposit two months: 1,600").
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
      const postal = place.postal_code !== null && saysWords(text, place.postal_code) ? place.postal_code : null;
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
    contacts: grounding.values(extraction.contacts, saysContact),
    party: grounding.value(extraction.party, (quote, party) => saysWords(quote, party.name)),
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
 * Locates every found value of an extraction in the text, and drops those that the text does not say.
 *
 * - A quote that does not occur as it is, is tried with whitespace, case, apostrophes, quotation marks and dashes
 *   folded; it is then replaced by the exact words of the text. It never matches a part of a number.
 * - A single value that is not found becomes null, an element of a list vanishes. A title that is not found, or not
 *   made of the text's words, falls back to the first line of the text (basis inferred).
 * - In its quote must stand: an amount among the numbers, the pieces of an address or the last digits of a number, a
 *   party's name, a place (else the quote is the place). A deposit may stand anywhere in the text.
 *
 * The database asks the same questions again (`reading.is_quoted`, `states_amount`, `states_contact`) and has the last
 * word; it does not believe an amount without digits.
 *
 * @param text the text as stored: NFC, at most 4,000 code points, not blank
 * @returns plain JSON; offsets in code points, `start` from 1 and `end` exclusive
 * @throws when the text of an offer is blank
 */
export function ground(text: string, extraction: OfferExtraction): Grounded<OfferExtraction>;
export function ground(text: string, extraction: AskExtraction): Grounded<AskExtraction>;
export function ground(
  text: string,
  extraction: OfferExtraction | AskExtraction,
): Grounded<OfferExtraction> | Grounded<AskExtraction> {
  return "contacts" in extraction ? groundOffer(text, extraction) : groundAsk(text, extraction);
}
