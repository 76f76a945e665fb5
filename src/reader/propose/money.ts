import { wordsFor } from "../languages.ts";
import type { Token } from "../text/tokens.ts";
import { currencyAt, currencyBefore, type Marker } from "./currencies.ts";
import { endOfDigits, fractionAt, type Numeral, numeralAt } from "./numbers.ts";
import { spokenNumberAt } from "./spoken_numbers.ts";

/**
 * Finds everything in a text that can be a sum of money: every number that is not part of a date, a name or an address.
 * It proposes and decides nothing: most numbers are sizes and years, and the judge (decide/price.ts) says so.
 */

/**
 * A number in a text: tokens `from` to `to` (exclusive), its currency included. `max` is the upper end of a range.
 * `marker` is the currency as written, null for a bare number. `spoken` is true for numbers in words, `sum` if the words
 * name a sum of money ("a tenner") or a dash for money follows the digits ("450,-").
 */
export type Amount = {
  from: number;
  to: number;
  value: number;
  max: number | null;
  marker: Marker | null;
  spoken: boolean;
  sum: boolean;
  /** What a word after the digits multiplied them by, or 1: "9-10k" are nine and ten thousand. */
  factor: number;
};

/** Marks that join digits to a date, a time, a ratio or a name. */
const JOINS = /^[/:.,'x#*@_=-]$/u;

/** The end of a word of a script that puts no spaces between words, so that a number directly after it stands alone. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u;

const isJoinedBefore = (tokens: readonly Token[], at: number): boolean => {
  const before = tokens[at - 1];
  if (before === undefined || tokens[at]?.gap !== "none") return false;
  if (before.kind === "word" || before.text === "#") return !UNSPACED.test(before.text);
  const beyond = tokens[at - 2];
  if (!JOINS.test(before.text) || before.gap !== "none" || beyond === undefined) return false;
  if (UNSPACED.test(beyond.text)) return false;
  // "75-95" is a range and "price:50" is an amount; "A-55" and "24/7" are neither.
  if (before.text === "-")
    return beyond.kind === "word" && currencyAt(tokens, at - 2) === null && beyond.text.length < 3;
  return beyond.kind === "digits" || (before.text !== ":" && before.text !== "=" && beyond.kind === "word");
};

/** True if marks directly after the digits make them something else: 50%, 27", 16:30, 03/2016, 4+. */
const isJoinedAfter = (tokens: readonly Token[], to: number): boolean => {
  const after = tokens[to];
  if (after?.kind !== "mark" || after.gap !== "none") return false;
  if (/^[%"″′°:*#]$/u.test(after.text)) return tokens[to + 1]?.kind === "digits" || !/^:$/u.test(after.text);
  return after.text === "/" && tokens[to + 1]?.kind === "digits" && tokens[to + 1]?.gap === "none";
};

/** The cents after the currency sign: "12€50". */
const centsAt = (tokens: readonly Token[], at: number): number | null => {
  const cents = tokens[at];
  if (cents?.kind !== "digits" || cents.gap !== "none" || cents.text.length !== 2) return null;
  const after = tokens[at + 1];
  const beyond = tokens[at + 2];
  const goesOn =
    after?.gap === "none" && (after.kind === "word" || (beyond?.gap === "none" && beyond.kind === "digits"));
  return goesOn ? null : Number(cents.text) / 100;
};

/** True for signs that another currency word can make unambiguous: "$50/h CAD". */
const isAmbiguous = (marker: Marker | null): boolean =>
  marker === "$" || marker === "kr" || marker === "¥" || marker === ",";

/** The currency after the unit of an amount: "$50/h CAD". Null if there is none. */
const currencyAfterUnit = (tokens: readonly Token[], to: number): Marker | null =>
  tokens[to]?.text === "/" && tokens[to + 1]?.kind === "word" && tokens[to + 2]?.gap === "space"
    ? (currencyAt(tokens, to + 2)?.marker ?? null)
    : null;

/** True for digits of a date, a time or a code: "ab 01.10.". */
const isPadded = (token: Token | undefined): boolean => /^0\d/u.test(token?.text ?? "");

/**
 * Currencies whose smallest unit is a thousandth (ISO 4217), and the mark that people write before it: "12.500 KWD" is
 * twelve and a half. In all others, such digits are thousands, also of Iraq, where nobody counts in smaller units.
 */
const THOUSANDTHS: ReadonlyMap<Marker | null, string> = new Map([
  ["BHD", "."],
  ["JOD", "."],
  ["KWD", "."],
  ["LYD", "."],
  ["OMR", "."],
  ["TND", ","],
]);

/** True for a number of two pieces, the second of which has the thousandths of this currency. */
const hasThousandths = (tokens: readonly Token[], { from, to }: Numeral, marker: Marker | null): boolean =>
  to === from + 3 && tokens[from + 1]?.text === THOUSANDTHS.get(marker) && tokens[from + 2]?.text.length === 3;

const readAmount = (tokens: readonly Token[], at: number, spaced: boolean): Amount | null => {
  const fraction = fractionAt(tokens, at);
  const before = currencyBefore(tokens, fraction?.from ?? at);
  if (before === null && fraction === null && isJoinedBefore(tokens, at)) return null;
  const numeral: Numeral | null =
    fraction === null
      ? numeralAt(tokens, at, { spaced, currency: before?.marker ?? null })
      : { ...fraction, dashed: false, factor: 1, currency: null };
  if (numeral === null || (before === null && isJoinedAfter(tokens, numeral.to))) return null;
  let { value, to } = numeral;
  let marker = before?.marker ?? null;
  const after = tokens[to]?.gap === "line" ? null : currencyAt(tokens, to);
  // A currency after the number belongs to it, unless the next number directly follows the sign: "5 €20".
  const cents = after === null ? null : centsAt(tokens, after.to);
  // "0.6ct" is a weight: a cent has no fraction.
  const isCarat = after?.marker === "¢" && !Number.isInteger(value);
  const taken =
    after !== null &&
    !isCarat &&
    (tokens[to]?.gap === "none" || tokens[after.to]?.kind !== "digits" || tokens[after.to]?.gap !== "none");
  if (after !== null && taken && (marker === null || isAmbiguous(marker) || marker === after.marker)) {
    marker = after.marker;
    to = after.to;
    if (marker === "¢") value = Math.round(value) / 100;
    else if (cents !== null && before === null) {
      value += cents;
      to++;
    }
  } else if (marker === null && tokens[to]?.text === "p" && tokens[to]?.gap === "none") {
    marker = "GBP";
    value = Math.round(value) / 100;
    to++;
  }
  if (hasThousandths(tokens, numeral, marker) && Number.isInteger(value)) value /= 1000;
  marker ??= numeral.currency;
  // ",89" without a currency is not 89.
  if (marker === null && (fraction !== null || isPadded(tokens[at]))) return null;
  if (isAmbiguous(marker)) marker = currencyAfterUnit(tokens, to) ?? marker;
  if (marker === null && numeral.dashed) marker = ",";
  const from = before?.from ?? numeral.from;
  return { from, to, value, max: null, marker, spoken: false, sum: numeral.dashed, factor: numeral.factor };
};

/** "une trentaine d'euros" */
const currencyOfRound = (tokens: readonly Token[], at: number): { marker: Marker; to: number } | null => {
  if (tokens[at]?.text !== "d" && tokens[at]?.text !== "de") return null;
  return currencyAt(tokens, tokens[at + 1]?.text === "'" ? at + 2 : at + 1);
};

/** "One" is an article in most languages, so it is not a price. */
const MIN_IN_WORDS = 2;

const amountInWords = (tokens: readonly Token[], at: number): Amount | null => {
  const number = spokenNumberAt(tokens, at);
  if (number === null || number.value < MIN_IN_WORDS) return null;
  const behind = currencyAt(tokens, number.to);
  // "all six £100": the sign belongs to the digits after it.
  const isOfNext = behind !== null && tokens[behind.to]?.kind === "digits" && tokens[number.to]?.kind === "mark";
  const named = (isOfNext ? null : behind) ?? (behind === null ? currencyOfRound(tokens, number.to) : null);
  return {
    from: at,
    to: named?.to ?? number.to,
    value: number.value,
    max: null,
    marker: named?.marker ?? null,
    spoken: true,
    sum: number.money,
    factor: 1,
  };
};

/**
 * Words between the ends of a range. Those of WEAK_TO have other meanings, so they count only between two currencies or
 * after a word of OPENS_RANGE.
 */
const TO = wordsFor("range").add("-").add("~").add("- -");
const WEAK_TO = wordsFor("weak_range");
const OPENS_RANGE = wordsFor("before_range");

/**
 * True if the tokens between two numbers make them a range.
 * @param isSpaced the numbers have groups of digits ("2 500 à 3 000 €"), so neither is a count: "3 à 10 €"
 */
const isRange = (tokens: readonly Token[], low: Amount, high: Amount, isSpaced: boolean): boolean => {
  const between = tokens.slice(low.to, high.from);
  if (between.length === 0 || between.length > 2 || high.value <= low.value || tokens[high.from]?.opens) return false;
  const words = between.map((token) => token.text).join(" ");
  if (!WEAK_TO.has(words)) return TO.has(words);
  const opened = isSpaced || OPENS_RANGE.has(tokens[low.from - 1]?.text ?? "");
  return opened || (TO.has(words) && low.marker !== null && high.marker !== null);
};

/** Joins the ends of a range. They share the magnitude and the currency if these are written once: "9-10k", "18-22 EUR". */
const joined = (low: Amount, high: Amount): Amount => {
  const isShared = low.factor === 1 && low.value * high.factor <= high.value;
  return {
    ...high,
    from: low.from,
    value: isShared ? low.value * high.factor : low.value,
    max: high.value,
    marker: high.marker ?? low.marker,
  };
};

/** The ends of a bare range have the same magnitude: "300-450". */
const WIDEST_RANGE = 10;

/** The next number, at most three tokens after token `at`; -1 if there is none. */
const nextNumber = (tokens: readonly Token[], at: number): number => {
  for (let i = at; i < at + 4; i++) if (tokens[i]?.kind === "digits") return i;
  return -1;
};

/**
 * All numbers of a text that can be sums of money, from left to right. A range is one amount. "1 200" is proposed as
 * one number and as two.
 *
 * @param isHidden true for tokens that are no numbers: addresses, phone numbers, instructions to a model
 */
export const findMoney = (tokens: readonly Token[], isHidden: (at: number) => boolean): Amount[] => {
  const amounts: Amount[] = [];
  /** The range that begins with an amount; null if none does. */
  const rangeFrom = (low: Amount, isSpaced: boolean): Amount | null => {
    const next = nextNumber(tokens, low.to);
    const high = next < 0 || isHidden(next) ? null : readAmount(tokens, next, isSpaced);
    if (high === null || !isRange(tokens, low, high, isSpaced)) return null;
    const range = joined(low, high);
    return range.marker !== null || high.value < range.value * WIDEST_RANGE ? range : null;
  };
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined || token.kind === "mark" || isHidden(at)) continue;
    if (token.kind === "word") {
      const spoken = amountInWords(tokens, at);
      if (spoken === null) continue;
      amounts.push(spoken);
      at = spoken.to - 1;
      continue;
    }
    const low = readAmount(tokens, at, false);
    const spaced = readAmount(tokens, at, true);
    if (spaced !== null && low !== null && spaced.to > low.to) {
      const whole = rangeFrom(spaced, true) ?? spaced;
      amounts.push(whole);
      if (whole.max !== null || whole.marker !== null || whole.sum) {
        at = whole.to - 1;
        continue;
      }
    }
    if (low === null) {
      at = endOfDigits(tokens, at) - 1;
      continue;
    }
    const amount = rangeFrom(low, false) ?? low;
    amounts.push(amount);
    at = amount.to - 1;
  }
  return amounts;
};
