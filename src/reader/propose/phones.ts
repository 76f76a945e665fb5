import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max";
import { moneyWords, wordsFor } from "../languages.ts";
import type { Token } from "../text/tokens.ts";
import { currencyAt, currencyBefore } from "./currencies.ts";
import { areDates } from "./dates.ts";
import { spokenNumberAt } from "./spoken_numbers.ts";

/**
 * Phone numbers. Runs of digits are found by their shape and converted to E.164 by the numbering plan of a country: the
 * number is in use there, reserved for fiction, or has at least the length of the numbers there, because plans change.
 */

/**
 * A run of digit groups, tokens `from` to `to` (exclusive). `isDisguised`: some digits are words or letters, or stand
 * between marks that few people write there, so that the run is a number only if it can be dialled.
 */
export type Run = {
  from: number;
  to: number;
  groups: Group[];
  international: boolean;
  isDisguised: boolean;
};

/** `words`: how many of the digits are written as words. */
type Group = { digits: string; at: number; to: number; words: number };

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
 * "Meia" is half a dozen.
 */
const DIGIT_WORDS: ReadonlyMap<string, string> = new Map([
  ...moneyWords("number").flatMap(({ word, value }) => (/^\d$/.test(value) ? [[word, value] as const] : [])),
  ["o", "0"],
  ["meia", "6"],
]);

/** Fewer digit words in a row are prose. */
const MIN_DIGIT_WORDS = 3;

/** Words before a digit that say it several times: "oh double seven". */
const TIMES: ReadonlyMap<string, number> = new Map([
  ...["double", "doble", "doppel", "doppelt", "doppio", "duplo", "dubbel"].map((word) => [word, 2] as const),
  ...["triple", "treble", "dreifach", "triplo", "tripel"].map((word) => [word, 3] as const),
]);

const JOINERS = wordsFor("joiner");

/** The value of a word for a number from ten to 99; null if it is none. */
const tensOf = (token: Token): number | null => {
  const value = token.kind === "word" ? (spokenNumberAt([token], 0)?.value ?? 0) : 0;
  return value >= 10 && value < 100 && Number.isInteger(value) ? value : null;
};

/** Digits in words that begin at token `at`: "seven", "double seven", "trente-neuf", "treinta y nueve". */
const wordAt = (tokens: readonly Token[], at: number): { digits: string; to: number; words: number } | null => {
  const token = tokens[at];
  if (token?.kind !== "word") return null;
  const times = TIMES.get(token.text) ?? 1;
  if (times > 1) {
    const digit = DIGIT_WORDS.get(tokens[at + 1]?.text ?? "");
    return digit === undefined ? null : { digits: digit.repeat(times), to: at + 2, words: times };
  }
  let to = at + 1;
  const skipsHyphen = (): number => (tokens[to]?.text === "-" && tokens[to]?.gap === "none" ? 1 : 0);
  // "quatre-vingt" is four times twenty.
  const four = token.text === "quatre" && /^vingts?$/u.test(tokens[at + 2]?.text ?? "") && skipsHyphen() === 1;
  const digit = DIGIT_WORDS.get(token.text);
  if (digit !== undefined && !four) return { digits: digit, to, words: 1 };
  const tens = four ? 80 : tensOf(token);
  if (tens === null) return null;
  if (four) to = at + 3;
  if (tens < 20 || tens % 10 !== 0) return { digits: String(tens), to, words: 1 };
  let next = to + skipsHyphen();
  if (JOINERS.has(tokens[next]?.text ?? "")) next += 1;
  const after = tokens[next];
  if (after === undefined || after.gap === "line") return { digits: String(tens), to, words: 1 };
  let ones = Number(DIGIT_WORDS.get(after.text) ?? (tens === 60 || tens === 80 ? (tensOf(after) ?? 0) : 0));
  if (ones === 0 || ones > 19) return { digits: String(tens), to, words: 1 };
  to = next + 1;
  // "quatre-vingt-dix-huit" is eighty and ten and eight.
  const unit = ones === 10 && skipsHyphen() === 1 ? Number(DIGIT_WORDS.get(tokens[to + 1]?.text ?? "") ?? 0) : 0;
  if (unit > 6) {
    ones += unit;
    to += 2;
  }
  return { digits: String(tens + ones), to, words: 1 };
};

/** Letters that are written for nought and one. "10l" is a volume: only between digits "l" is a one. */
const LETTERS: Readonly<Record<string, string>> = { o: "0", l: "1", i: "1" };
const WITH_LETTERS = /^[oli\d]*[\do]$/u;

/** The digits at token `at` with letters or words among them: "O77OO", "077seven". Null if there is anything else. */
const lettersAt = (tokens: readonly Token[], at: number): { digits: string; to: number } | null => {
  let written = "";
  let to = at;
  for (let token = tokens[to]; token !== undefined && token.kind !== "mark"; token = tokens[++to]) {
    if (to > at && token.gap !== "none") break;
    written += DIGIT_WORDS.get(token.text) ?? token.text;
  }
  if (!/\d/u.test(written) || !WITH_LETTERS.test(written)) return null;
  return { digits: written.replace(/[oli]/gu, (letter) => LETTERS[letter] ?? ""), to };
};

/** The digits at token `at`, written as digits or words, and where they end. Null if there are none. */
const groupAt = (tokens: readonly Token[], at: number): (Group & { isDisguised: boolean }) | null => {
  const isGluedOn = (token: Token | undefined): boolean =>
    token?.gap === "none" && token.kind !== "mark" && !token.apart;
  const first = tokens[at];
  if (first === undefined || first.kind === "mark") return null;
  if (first.kind === "digits" && (first.text.length > 1 || isGluedOn(tokens[at + 1]))) {
    const mixed = isGluedOn(tokens[at + 1]) ? lettersAt(tokens, at) : null;
    if (mixed !== null) return { ...mixed, at, words: 0, isDisguised: true };
    return { digits: first.text, at, to: at + 1, words: 0, isDisguised: false };
  }
  if (first.kind === "word" && isGluedOn(tokens[at + 1])) {
    const mixed = lettersAt(tokens, at);
    return mixed === null ? null : { ...mixed, at, words: 0, isDisguised: true };
  }
  // "06 39 98 OO 12".
  if (first.text === "oo") return { digits: "00", at, to: at + 1, words: 0, isDisguised: true };
  // Words and single digits, one by one: "null 1 sieben 6", "oh double seven", "two-zero-two".
  let digits = "";
  let words = 0;
  let to = at;
  for (let next = at; ; ) {
    const token = tokens[next];
    if (token === undefined || (next > at && token.gap === "line")) break;
    const isDigit = token.kind === "digits" && token.text.length === 1 && !isGluedOn(tokens[next + 1]);
    const word = isDigit ? null : wordAt(tokens, next);
    if (!isDigit && word === null) break;
    digits += word?.digits ?? token.text;
    words += word?.words ?? 0;
    to = word?.to ?? next + 1;
    next = to;
    // A hyphen between words; between digits it parts groups.
    if (word !== null && tokens[next]?.text === "-" && tokens[next]?.gap === "none" && tokens[next + 1]?.gap === "none")
      next += 1;
  }
  return digits === "" ? null : { digits, at, to, words, isDisguised: words > 0 };
};

/** Marks between the groups of a number, and those with which people hide a number from software. */
const SEPARATOR = /^[-./()]$/u;
const ODD_SEPARATOR = /^[_·•∙⋅~|*]$/u;

/** The number of separators from token `at` to the next group of the same number; -1 if the number ends there. */
const separators = (tokens: readonly Token[], at: number): number => {
  for (let count = 0; count <= 2; count++) {
    const token = tokens[at + count];
    if (token === undefined || token.gap === "line") return -1;
    if (token.kind !== "mark") return count;
    const next = tokens[at + count + 1];
    // A comma may separate digit words: "oh one six three two, nine six oh".
    const pauses = token.text === "," && next?.kind === "word";
    // "0171 234567 | 030 123456" is two numbers.
    const isOdd = ODD_SEPARATOR.test(token.text) && token.gap === "none" && next?.gap === "none";
    if (!SEPARATOR.test(token.text) && !pauses && !isOdd) return -1;
    // "0221 471 / 0176 123" is two numbers, and a full stop with a space ends a sentence.
    const after = next?.gap;
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
    tokens[from]?.gap === "none" &&
    before !== undefined &&
    ((before.kind === "word" && !before.apart) || /^[#=\d]/u.test(before.text));
  return (
    gluedBefore ||
    (after?.kind === "word" && !after.apart && after.gap === "none") ||
    (after?.text === "%" && after.gap === "none")
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
    const before = tokens[at - 1];
    const ofWord =
      tokens[at]?.gap === "none" && tokens[at]?.kind !== "mark" && before?.kind === "word" && !before.apart;
    const first = ofWord ? null : groupAt(tokens, at);
    if (first === null) {
      at++;
      continue;
    }
    const found = [first];
    for (let to = first.to, skip = separators(tokens, to); skip >= 0; skip = separators(tokens, to)) {
      const group = groupAt(tokens, to + skip);
      if (group === null) break;
      found.push(group);
      to = group.to;
    }
    at = found.at(-1)?.to ?? at + 1;
    // "Call one 206-555-0143": one or two words beside a number do not belong to it.
    const isSpelt = found.reduce((sum, { words }) => sum + words, 0) >= MIN_DIGIT_WORDS;
    const groups = isSpelt ? found : found.slice(found.findIndex(({ words }) => words === 0));
    while (!isSpelt && (groups.at(-1)?.words ?? 0) > 0) groups.pop();
    const head = groups[0];
    if (head === undefined || (!isSpelt && groups.some(({ words }) => words > 0))) continue;
    const to = groups.at(-1)?.to ?? head.to;
    let { from, international } = startOf(tokens, head.at);
    // The bracket of "(tel. (030) 123)" is part of the number, that of "(01632 960802)" is not.
    while (tokens[from]?.text === "(" && !closes(tokens, from + 1, to)) from++;
    const length = groups.reduce((sum, group) => sum + group.digits.length, 0);
    if (length < min || groups.length > MAX_GROUPS || isGlued(tokens, from, to)) continue;
    const isOdd = groups.slice(1).some((group) => ODD_SEPARATOR.test(tokens[group.at - 1]?.text ?? ""));
    const isDisguised = isOdd || groups.some((group) => group.isDisguised);
    runs.push({ from, to, groups, international, isDisguised });
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
    isDisguised: run.isDisguised,
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

/** Units of sizes and weights that are no other words: "120 200 180 cm". */
const UNIT = /^(?:cm|mm|km|kg|ml|watt|kw|kwh|ps|hp|ccm|qm|m2|sqm|sqft|rpm|mah|gb|mb|tb|zoll|inch|inches|cali)$/u;

/** True if the run is a date, times, a book number, a size, or an amount of money. */
export const isDateOrAmount = (tokens: readonly Token[], run: Run): boolean => {
  const lengths = lengthsOf(run);
  const isPlain = !run.international && run.groups.every(({ words }) => words === 0);
  if (isPlain && areDates(writtenAs(tokens, run))) return true;
  // "48 502 000 142" is a number with its country code, "48.502.000.142" is an amount.
  const isSpaced = tokens[run.groups[1]?.at ?? 0]?.gap === "space";
  const thousands = isSpaced ? /^[12](?: 3){2}$/u : /^[12](?: 3){2,3}$/u;
  if (thousands.test(lengths) && !/^0/u.test(run.groups[0]?.digits ?? "")) return true;
  // Book numbers: "0-393-30705-6", "978-3-16-148410-0".
  const hyphens = run.groups.slice(1).every((group) => tokens[group.at - 1]?.text === "-");
  const book = run.groups.length >= 4 && run.groups.at(-1)?.digits.length === 1 && hyphens;
  if (book && (digitsOf(run).length === 10 || digitsOf(run).length === 13)) return true;
  if (run.international || /^0/u.test(digitsOf(run))) return false;
  // The sign in "612 345 678, €50" and in "50 € 612 345 678" belongs to the other sum.
  const [before, after] = [currencyBefore(tokens, run.from), currencyAt(tokens, run.to)];
  const isPaid = before !== null && tokens[before.from - 1]?.kind !== "digits";
  const isSum = after !== null && tokens[after.to]?.kind !== "digits";
  return isPaid || isSum || UNIT.test(tokens[run.to]?.text ?? "");
};

/** The digits and marks of a run, with one space where there is white space between them. */
const writtenAs = (tokens: readonly Token[], { from, to }: Run): string =>
  tokens
    .slice(from, to)
    .map(({ text, gap }, at) => (at > 0 && gap !== "none" ? ` ${text}` : text))
    .join("");

/** Where a number is dialled: `isValid` if it is in use there or reserved for fiction, else it has the right length. */
export type Dialled = { e164: string; isValid: boolean; isMobile: boolean };

/** Numbers in E.164 that are reserved for fiction in Britain, France, Ireland and Australia: no plan assigns them. */
const FICTION =
  /^\+(?:44(?:7700900|1632960|1(?:1[3-8]|21|[3-6]1)4960|2079460|1914980|2890180|2920180|8081570|9098790|3069990)\d{3}|33(?:19900|26191|35301|46571|53649|63998)\d{4}|3532091\d{5}|614915[78]\d{4})$/u;

/** A national number begins with a nought only in Italy. */
const WITH_NOUGHT = "39";

/**
 * Converts a run to E.164 by the plan of a country (ISO 3166-1 alpha-2), or returns null if that country has no such
 * number. A number with its country code is what it is.
 */
export const dial = (run: Run, country: string): Dialled | null => {
  const digits = digitsOf(run);
  if (digits.length > MAX_DIGITS) return null;
  if (run.international || digits.startsWith("00")) {
    const number = parsePhoneNumberFromString(run.international ? `+${digits}` : `+${digits.slice(2)}`);
    return number?.isPossible() ? dialledAs(number.number, number.isValid(), number.getType()) : null;
  }
  if (!isSupportedCountry(country)) return null;
  const number = parsePhoneNumberFromString(digits, { defaultCountry: country as CountryCode, extract: false });
  if (number?.isValid()) return dialledAs(number.number, true, number.getType());
  if (number !== undefined && FICTION.test(number.number)) return dialledAs(number.number, true, "MOBILE");
  // "48 502 000 142" is a Polish number without its plus sign.
  const whole = parsePhoneNumberFromString(`+${digits}`);
  if (whole?.country === country && whole.isValid()) return dialledAs(whole.number, true, whole.getType());
  const isFit =
    number !== undefined &&
    isTrunkRight(digits, number.countryCallingCode) &&
    (number.countryCallingCode === WITH_NOUGHT || !number.nationalNumber.startsWith("0")) &&
    parsePhoneNumberFromString(number.number)?.isPossible() === true;
  return isFit ? dialledAs(number.number, false, number.getType()) : null;
};

const dialledAs = (e164: string, isValid: boolean, type: string | undefined): Dialled => ({
  e164,
  isValid: isValid || FICTION.test(e164),
  isMobile: type === "MOBILE",
});

/** The country (ISO 3166-1 alpha-2) of a number in E.164, or null. Of several with one code, the most likely one. */
export const countryOfNumber = (e164: string): string | null =>
  parsePhoneNumberFromString(e164)?.getPossibleCountries()[0] ?? null;

/** Calling codes of plans in which national numbers start with a zero, and of plans in which none does. */
const WITH_TRUNK = new Set("44 353 33 49 31 32 43 41 61 64 46 358 27 90 40".split(" "));
const WITHOUT_TRUNK = new Set("1 34 351 48 47 45 420 52 55 57".split(" "));

/** True if the number has a leading zero where its plan requires one, and none where the plan has none. */
const isTrunkRight = (digits: string, callingCode: string): boolean =>
  digits.startsWith("0") ? !WITHOUT_TRUNK.has(callingCode) : !WITH_TRUNK.has(callingCode);
