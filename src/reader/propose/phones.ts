import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max";
import { moneyWords } from "../languages.ts";
import type { Token } from "../text/tokens.ts";
import { currencyAt, currencyBefore } from "./currencies.ts";

/**
 * Phone numbers. Runs of digits are found by their shape and converted to E.164 by the numbering plan of a country. A
 * number has to be possible in the plan, not valid: plans change, and numbers reserved for fiction are in no plan.
 */

/** A run of digit groups, tokens `from` to `to` (exclusive). */
export type Run = {
  from: number;
  to: number;
  groups: { digits: string; at: number; to: number }[];
  international: boolean;
};

/**
 * E.164 allows 15 digits, to which a trunk prefix and "00" may be added. Runs of fewer than seven digits are sizes and
 * prices.
 */
const MAX_DIGITS = 18;
const MIN_DIGITS = 7;

/** No phone number is written in more groups. */
const MAX_GROUPS = 9;

/**
 * Digits as words. Words with other meanings ("sei", "dos", "one") are listed too, because only runs of words are read.
 */
const DIGIT_WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  moneyWords("number").flatMap(({ word, value }) => (/^\d$/.test(value) ? [[word, value]] : [])),
);

/** Fewer digit words in a row are prose. */
const MIN_DIGIT_WORDS = 3;

/** Words before a digit that say it several times: "oh double seven". */
const TIMES: Readonly<Record<string, number>> = { double: 2, triple: 3, treble: 3 };

/** The digits at token `at`, written as digits or words, and where they end. Null if there are none. */
const groupAt = (tokens: readonly Token[], at: number): { digits: string; at: number; to: number } | null => {
  const token = tokens[at];
  if (token?.kind === "digits") return { digits: token.text, at, to: at + 1 };
  // Some people write a letter O to hide the first zero.
  const behind = tokens[at + 1];
  if (token?.text === "o" && behind?.kind === "digits" && behind.gap === "none")
    return { digits: `0${behind.text}`, at, to: at + 2 };
  let digits = "";
  let to = at;
  for (let word = tokens[to]; word?.kind === "word" && (to === at || word.gap === "space"); word = tokens[++to]) {
    const times = TIMES[word.text] ?? 1;
    const digit = DIGIT_WORDS[times === 1 ? word.text : (tokens[to + 1]?.text ?? "")];
    if (digit === undefined) break;
    digits += digit.repeat(times);
    if (times > 1) to++;
  }
  return digits.length >= MIN_DIGIT_WORDS ? { digits, at, to } : null;
};

/** The number of separators from token `at` to the next group of the same number; -1 if the number ends there. */
const separators = (tokens: readonly Token[], at: number): number => {
  for (let count = 0; count <= 2; count++) {
    const token = tokens[at + count];
    if (token === undefined || token.gap === "line") return -1;
    if (token.kind !== "mark") return count;
    // A comma may separate digit words: "oh one six three two, nine six oh".
    const pauses = token.text === "," && DIGIT_WORDS[tokens[at + count + 1]?.text ?? ""] !== undefined;
    if (!/^[-./()]$/u.test(token.text) && !pauses) return -1;
    // "0221 471 / 0176 123" is two numbers, and a full stop with a space ends a sentence.
    const after = tokens[at + count + 1]?.gap;
    if (token.text === "/" && token.gap === "space" && after === "space") return -1;
    if (token.text === "." && after !== "none") return -1;
  }
  return -1;
};

const startOf = (tokens: readonly Token[], at: number): { from: number; international: boolean } => {
  let from = at;
  let international = false;
  for (let count = 0; count < 2; count++) {
    const mark = tokens[from - 1];
    if (mark?.kind !== "mark" || tokens[from]?.gap === "line" || !/^[+(]$/u.test(mark.text)) break;
    if (mark.text === "+" && tokens[from]?.gap === "none") international = true;
    from--;
  }
  return { from, international };
};

const isGlued = (tokens: readonly Token[], from: number, to: number): boolean => {
  const before = tokens[from - 1];
  const after = tokens[to];
  const gluedBefore =
    tokens[from]?.gap === "none" && before !== undefined && (before.kind === "word" || /^[#=\d]/u.test(before.text));
  return (
    gluedBefore || (after?.kind === "word" && after.gap === "none") || (after?.text === "%" && after.gap === "none")
  );
};

/** True if a bracket that was opened before token `from` is closed before token `to`. */
const closes = (tokens: readonly Token[], from: number, to: number): boolean => {
  let depth = 1;
  for (let at = from; at < to && depth > 0; at++) {
    if (tokens[at]?.text === "(") depth++;
    else if (tokens[at]?.text === ")") depth--;
  }
  return depth === 0;
};

/** All runs that have the length of a phone number, from left to right. `min`: the least number of digits. */
export const findRuns = (tokens: readonly Token[], min = MIN_DIGITS): Run[] => {
  const runs: Run[] = [];
  for (let at = 0; at < tokens.length; ) {
    // The digit of "m2 0176 ..." belongs to the word before it.
    const ofWord = tokens[at]?.kind === "digits" && tokens[at]?.gap === "none" && tokens[at - 1]?.kind === "word";
    const first = ofWord ? null : groupAt(tokens, at);
    if (first === null) {
      at++;
      continue;
    }
    const groups = [first];
    let to = first.to;
    for (let skip = separators(tokens, to); skip >= 0; skip = separators(tokens, to)) {
      const group = groupAt(tokens, to + skip);
      if (group === null) break;
      groups.push(group);
      to = group.to;
    }
    let { from, international } = startOf(tokens, at);
    // The bracket of "(tel. (030) 123)" is part of the number, that of "(01632 960802)" is not.
    while (tokens[from]?.text === "(" && !closes(tokens, from + 1, to)) from++;
    const length = groups.reduce((sum, group) => sum + group.digits.length, 0);
    if (length >= min && groups.length <= MAX_GROUPS && !isGlued(tokens, from, to)) {
      runs.push({ from, to, groups, international });
    }
    at = to;
  }
  return runs;
};

/** Two numbers that were read as one: "05271 555012 - 0160 55503366". Each way to part them into two. */
export const halvesOf = (run: Run): [Run, Run][] =>
  Array.from({ length: run.groups.length - 1 }, (_, cut): [Run, Run] => [
    part(run, 0, cut + 1),
    part(run, cut + 1, run.groups.length),
  ]).filter((halves) => halves.every((half) => digitsOf(half).length >= MIN_DIGITS));

/** A part of a run: the groups from `first` to `last` (exclusive). */
const part = (run: Run, first: number, last: number): Run => {
  const groups = run.groups.slice(first, last);
  const head = groups[0];
  return {
    from: first === 0 ? run.from : (head?.at ?? run.from),
    to: groups.at(-1)?.to ?? run.to,
    groups,
    international: run.international && first === 0,
  };
};

/** The run itself, then the run without groups at its start or end that may be something else (a year, an hour). */
export const partsOf = (run: Run): Run[] => {
  const parts = [run];
  for (let cut = 1; cut < run.groups.length; cut++) {
    parts.push(part(run, cut, run.groups.length), part(run, 0, run.groups.length - cut));
  }
  return parts.filter((candidate) => digitsOf(candidate).length >= MIN_DIGITS);
};

/** The digits of a run. The "(0)" after a country code is left out, because it is not dialled. */
export const digitsOf = (run: Run): string =>
  run.groups
    .filter((group, index) => !(index === 1 && run.international && group.digits === "0"))
    .map((group) => group.digits)
    .join("");

const lengthsOf = (run: Run): string => run.groups.map((group) => group.digits.length).join(" ");

/** True if the groups are those of a North American number: "(503) 555-0142". */
export const isNorthAmerican = (run: Run): boolean =>
  /^(?:1 )?3 (?:3 4|7)$/u.test(lengthsOf(run)) && /^[2-9]|^1[2-9]/u.test(digitsOf(run)) && !run.international;

/**
 * True if the run has a country code or trunk prefix, or the groups of a phone number. A single group without either is
 * not enough.
 */
export const isShapedLikePhone = (run: Run): boolean => {
  const digits = digitsOf(run);
  if (run.international) return true;
  if (/^0[1-9]|^00[1-9]/u.test(digits)) return digits.length >= (run.groups.length > 1 ? 9 : 10);
  return isNorthAmerican(run) || (run.groups.length > 1 && digits.length >= 9);
};

/** True if the run is a date, two years, a book number, or an amount of money. */
export const isDateOrAmount = (tokens: readonly Token[], run: Run): boolean => {
  const lengths = lengthsOf(run);
  const [first, second, third] = run.groups.map((group) => Number(group.digits));
  const spaced = run.groups.slice(1).every((group) => tokens[group.at]?.gap === "space");
  if (!spaced && /^[12] [12] 4$/u.test(lengths) && (first ?? 99) <= 31 && (second ?? 99) <= 31) return true;
  if (!spaced && /^4 [12] [12]$/u.test(lengths) && (second ?? 99) <= 12 && (third ?? 99) <= 31) return true;
  const isYear = (year: number | undefined) => year !== undefined && year >= 1900 && year < 2100;
  if (lengths === "4 4" && isYear(first) && isYear(second)) return true;
  if (/^[12](?: 3){2,3}$/u.test(lengths) && !/^0/u.test(run.groups[0]?.digits ?? "")) return true;
  // Book numbers: "0-393-30705-6", "978-3-16-148410-0".
  const hyphens = run.groups.slice(1).every((group) => tokens[group.at - 1]?.text === "-");
  const book = run.groups.length >= 4 && run.groups.at(-1)?.digits.length === 1 && hyphens;
  if (book && (digitsOf(run).length === 10 || digitsOf(run).length === 13)) return true;
  const money = currencyAt(tokens, run.to) !== null || currencyBefore(tokens, run.from) !== null;
  return money && !run.international && !/^0/u.test(digitsOf(run));
};

/**
 * Converts a run to E.164, or returns null. The countries are tried in order. The first country in whose plan the
 * number is valid wins, otherwise the first in which it is possible.
 *
 * @param countries ISO 3166-1 alpha-2
 */
export const dial = (run: Run, countries: readonly string[]): { e164: string; valid: boolean } | null => {
  const digits = digitsOf(run);
  if (digits.length > MAX_DIGITS) return null;
  if (run.international || digits.startsWith("00")) {
    const number = parsePhoneNumberFromString(run.international ? `+${digits}` : `+${digits.slice(2)}`);
    return number?.isPossible() ? { e164: number.number, valid: number.isValid() } : null;
  }
  let possible: { e164: string; valid: boolean } | null = null;
  for (const country of countries) {
    if (!isSupportedCountry(country)) continue;
    const number = parsePhoneNumberFromString(digits, { defaultCountry: country as CountryCode, extract: false });
    if (number?.isValid()) return { e164: number.number, valid: true };
    if (number?.isPossible() && isTrunkRight(digits, number.countryCallingCode)) {
      possible ??= { e164: number.number, valid: false };
    }
  }
  return possible;
};

/** The country (ISO 3166-1 alpha-2) of a number in E.164, or null. Of several with one code, the most likely one. */
export const countryOfNumber = (e164: string): string | null =>
  parsePhoneNumberFromString(e164)?.getPossibleCountries()[0] ?? null;

/** Calling codes of plans in which national numbers start with a zero, and of plans in which none does. */
const WITH_TRUNK = new Set("44 353 33 49 31 32 43 41 61 64 46 358 27 90 40".split(" "));
const WITHOUT_TRUNK = new Set("1 34 351 48 47 45 420 52 55 57".split(" "));

/** True if the number has a leading zero where its plan requires one, and none where the plan has none. */
const isTrunkRight = (digits: string, callingCode: string): boolean =>
  digits.startsWith("0") ? !WITHOUT_TRUNK.has(callingCode) : !WITH_TRUNK.has(callingCode);
