import { countriesOf, currencyOf, moneyWords, wordsFor } from "../languages.ts";
import { fold } from "../text/fold.ts";
import type { Token } from "../text/tokens.ts";
import { currencyAt, currencyBefore } from "./currencies.ts";

/** Numbers in prose: "1.200,00", "1,200.00", "1 200", "1'349.-", "12k", "9 grand", "3,5 tys.". */

/**
 * A number: tokens `from` to `to` (exclusive), its value, and whether a dash for money follows it ("450,-"). `factor`: what
 * a word after the digits multiplied them by, or 1. `currency`: the one that this word suggests ("lakh"), or null.
 */
export type Numeral = {
  from: number;
  to: number;
  value: number;
  dashed: boolean;
  factor: number;
  currency: string | null;
};

/** Words and signs after digits that multiply them. Abbreviations may have a full stop: "3,5 tys.". */
const SHORT = wordsFor("short_magnitude");
const MAGNITUDES: ReadonlyMap<string, number> = new Map(
  [...moneyWords("magnitude"), ...moneyWords("short_magnitude")].map(({ word, value }) => [fold(word), Number(value)]),
);

/**
 * Words that multiply digits only where a currency of their language follows: "2,5 mil. Kč" is in millions, but "3 mil" in
 * Spanish in thousands. By word, the factor for each currency.
 */
const LOCAL_MAGNITUDES: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  [...Map.groupBy(moneyWords("local_magnitude"), ({ word }) => word)].map(([word, rows]) => [
    word,
    new Map(
      rows.flatMap(({ language, value }) =>
        countriesOf(language).map((country) => [currencyOf(country) ?? "", Number(value)] as const),
      ),
    ),
  ]),
);

/** The factor of a word at token `at` that depends on the currency after it. Null if that is no currency of its language. */
const localMagnitudeAt = (tokens: readonly Token[], at: number): { factor: number; to: number } | null => {
  const factors = LOCAL_MAGNITUDES.get(tokens[at]?.text ?? "");
  if (factors === undefined) return null;
  const to = tokens[at + 1]?.text === "." && tokens[at + 1]?.gap === "none" ? at + 2 : at + 1;
  const factor = factors.get(currencyAt(tokens, to)?.marker ?? "");
  return factor === undefined ? null : { factor, to };
};

/** Words that multiply only money, and some only money of one currency ("₹5L"): their factors and currencies. */
const OF_MONEY: ReadonlyMap<string, { factor: number; currency: string | undefined }> = new Map(
  moneyWords("money_magnitude").map(({ word, value }) => {
    const [factor, currency] = value.split(" ");
    return [word, { factor: Number(factor), currency }];
  }),
);
/** Words that suggest a currency: lakhs and crores are counted in rupees. */
const SUGGESTED: ReadonlyMap<string, string> = new Map(
  moneyWords("suggested_currency").map(({ word, value }) => [fold(word), value]),
);

const GROUPING = new Set([".", ",", "'"]);

/** A separator and digits that directly continue the number, as in "1.200" or "12,50". Null if the number ends here. */
const continued = (tokens: readonly Token[], at: number): { mark: string; digits: string } | null => {
  const mark = tokens[at];
  const digits = tokens[at + 1];
  if (mark === undefined || digits === undefined || mark.gap !== "none" || digits.gap !== "none") return null;
  return GROUPING.has(mark.text) && digits.kind === "digits" ? { mark: mark.text, digits: digits.text } : null;
};

/**
 * Groups of three digits after single spaces ("1 200"). Only some languages write so, and separate numbers such as
 * sizes also stand side by side.
 */
const spacedGroups = (tokens: readonly Token[], at: number): string[] => {
  const groups: string[] = [];
  for (let i = at; ; i++) {
    const group = tokens[i];
    if (group?.kind !== "digits" || group.gap !== "space" || group.text.length !== 3) return groups;
    groups.push(group.text);
  }
};

const isGroup = (digits: string): boolean => digits.length === 3;

/** The number, from its pieces between separators. Null if the pieces make no number (a date, a version). */
const assemble = (head: string, rest: { mark: string; digits: string }[]): string | null => {
  const last = rest.at(-1);
  if (last === undefined) return head;
  const earlier = rest.slice(0, -1);
  // Lakhs: "1,50,000".
  const isLakh = earlier.every((piece) => piece.digits.length === 2 && piece.mark === ",") && earlier.length > 0;
  if (isLakh && isGroup(last.digits) && last.mark === "," && head.length <= 2)
    return head + rest.map((piece) => piece.digits).join("");
  const grouped = earlier.every((piece) => isGroup(piece.digits) && piece.mark === earlier[0]?.mark);
  const groupable = head.length <= 3 && !head.startsWith("0");
  if (!grouped || (earlier.length > 0 && !groupable)) return null;
  const whole = head + earlier.map((piece) => piece.digits).join("");
  const sameMark = earlier.length === 0 || earlier[0]?.mark === last.mark;
  if (isGroup(last.digits) && sameMark && groupable) return whole + last.digits;
  // Three decimals are groups, unless nothing, or another mark, stands before them.
  const decimal = last.digits.length <= (head === "0" ? 4 : earlier.length > 0 ? 3 : 2);
  return decimal && (earlier.length === 0 || !sameMark) && last.mark !== "'" ? `${whole}.${last.digits}` : null;
};

/** The number of tokens in ",-", ".-", ":-" or ",--" after a number; 0 if there is none. */
const dashLength = (tokens: readonly Token[], at: number): number => {
  const mark = tokens[at];
  if (mark?.gap !== "none" || !/^[,.:]$/u.test(mark.text)) return 0;
  let length = 1;
  while (tokens[at + length]?.text === "-" && tokens[at + length]?.gap === "none" && length < 4) length++;
  // "450.-5" is a kind of range, not a dash for money.
  return length > 1 && !(tokens[at + length]?.kind === "digits" && tokens[at + length]?.gap === "none") ? length : 0;
};

/** A magnitude after a number: its factor, where the word ends, and the currency that the word suggests. */
type Magnitude = { factor: number; to: number; currency: string | null };

/** The signs of East Asia follow each other: "5천만" is five times a thousand times ten thousand. */
const EAST_ASIAN = /^[\p{Script=Han}\p{Script=Hangul}]+$/u;

/**
 * The magnitude word after a number ("k", "grand", "tys."). Null if there is none, or if it is part of another word.
 * "m" is a million only beside a currency ("£10m", "10M€"); otherwise it is metres.
 * @param currency the currency before the number, as it is written
 */
const magnitudeAt = (tokens: readonly Token[], at: number, currency: string | null): Magnitude | null => {
  const word = tokens[at];
  if (word === undefined || word.kind === "digits" || word.gap === "line") return null;
  const local = localMagnitudeAt(tokens, at);
  if (local !== null) return { ...local, currency: null };
  const after = tokens[at + 1];
  const next = currencyAt(tokens, at + 1)?.marker ?? null;
  const money = OF_MONEY.get(word.text);
  const isMoney =
    money !== undefined &&
    (money.currency === undefined ? currency !== null || next !== null : [currency, next].includes(money.currency)) &&
    // "£10 m" is no million, "1,2 M€" is.
    (money.currency !== undefined || word.gap === "none" || (next !== null && after?.gap === "none"));
  const factor = isMoney ? money.factor : MAGNITUDES.get(word.text);
  // "€ 389.000 k.k." (Dutch: the buyer pays the costs) is not in thousands.
  if (word.text === "k" && after?.text === "." && tokens[at + 2]?.text === "k") return null;
  // "1,5 k€" is in thousands, "4 k owners" is not. "Cr2032" is no crore.
  const spacedK = word.text === "k" && word.gap !== "none" && currency === null && next === null;
  const isPart = after?.kind === "digits" && after.gap === "none" && !EAST_ASIAN.test(word.text);
  if (factor === undefined || spacedK || isPart) return null;
  const dotted = SHORT.has(word.text) && after?.text === "." && after.gap === "none";
  const more = EAST_ASIAN.test(word.text) && after?.gap === "none" ? magnitudeAt(tokens, at + 1, currency) : null;
  return {
    factor: factor * (more?.factor ?? 1),
    to: more?.to ?? at + (dotted ? 2 : 1),
    currency: SUGGESTED.get(word.text) ?? null,
  };
};

/** "½", as it is folded. */
const HALF = fold("½");

/**
 * The number that starts at the digits token `at`. Null if the digits are not a number (a date, a version).
 *
 * @param options.spaced whether "1 200" is one number here
 * @param options.currency the currency before the number, as it is written
 */
export const numeralAt = (
  tokens: readonly Token[],
  at: number,
  options: { spaced: boolean; currency: string | null },
): Numeral | null => {
  const head = tokens[at];
  if (head?.kind !== "digits" || head.text.length > 12) return null;
  const rest: { mark: string; digits: string }[] = [];
  let to = at + 1;
  for (let next = continued(tokens, to); next !== null; next = continued(tokens, to)) {
    rest.push(next);
    to += 2;
  }
  const spaced = options.spaced && rest.length === 0 && head.text.length <= 3 ? spacedGroups(tokens, to) : [];
  to += spaced.length;
  const decimals = spaced.length > 0 ? continued(tokens, to) : null;
  if (decimals !== null) to += 2;
  const written =
    spaced.length > 0 ? `${head.text}${spaced.join("")}.${decimals?.digits ?? "0"}` : assemble(head.text, rest);
  if (written === null) return null;
  const half = tokens[to]?.text === HALF && tokens[to]?.gap === "none" ? 0.5 : 0;
  if (half > 0) to += 1;
  const dash = dashLength(tokens, to);
  to += dash;
  const magnitude = magnitudeAt(tokens, to, options.currency);
  // Rounded to four decimals: 4.35 * 1000 is not exactly 4350 in floating point.
  const value = Math.round((Number(written) + half) * (magnitude?.factor ?? 1) * 1e4) / 1e4;
  to = magnitude?.to ?? to;
  // "3억5000만" and "3억 5천만" are one number.
  const isSpaced = tokens[to]?.gap === "space" && EAST_ASIAN.test(tokens[to - 1]?.text ?? "");
  const next = magnitude !== null && (isSpaced || tokens[to]?.gap === "none") ? numeralAt(tokens, to, options) : null;
  const isMore = !isSpaced || (next !== null && next.factor > 1 && next.factor < (magnitude?.factor ?? 1));
  const more = isMore ? next : null;
  return {
    from: at,
    to: more?.to ?? to,
    value: value + (more?.value ?? 0),
    dashed: dash > 0,
    factor: magnitude?.factor ?? 1,
    currency: magnitude?.currency ?? null,
  };
};

/**
 * The number of a decimal mark and the digits at token `at`: ",89", "$.50". Null if nothing shows that a nought was left
 * out.
 */
export const fractionAt = (
  tokens: readonly Token[],
  at: number,
): { from: number; to: number; value: number } | null => {
  const mark = tokens[at - 1];
  const digits = tokens[at];
  const isMark = digits?.gap === "none" && (mark?.text === "," || mark?.text === ".") && digits.text.length <= 2;
  if (!isMark || continued(tokens, at + 1) !== null) return null;
  const isFree = mark.gap !== "none" || currencyBefore(tokens, at - 1) !== null || tokens[at - 2]?.text === "(";
  return isFree ? { from: at - 1, to: at + 1, value: Number(`0.${digits.text}`) } : null;
};

/** The end of the run of digits and separators that starts at `at`, even if it is not a valid number. */
export const endOfDigits = (tokens: readonly Token[], at: number): number => {
  let to = at + 1;
  while (continued(tokens, to) !== null) to += 2;
  return to;
};

/** Reading a number backwards from its unit: at most "1.200,5" and a mark such as "-" or an ordinal ending. */
const MAX_NUMBER_TOKENS = 6;

/** The number that ends directly before token `end`: "2,5" in "2,5-Zimmer", "3" in "3rd floor". Null if there is none. */
export const numberBefore = (tokens: readonly Token[], end: number): { value: number; from: number } | null => {
  const last = tokens[end - 1];
  // A hyphen, or the ending of an ordinal directly after the digits.
  const isEnding = last?.kind === "word" && last.gap === "none" && last.text.length <= 3;
  const to = isEnding || /^[-.°]$/.test(last?.text ?? "") ? end - 1 : end;
  for (let from = Math.max(0, to - MAX_NUMBER_TOKENS); from < to; from++) {
    const before = tokens[from - 1];
    const continues = tokens[from]?.gap === "none" && (before?.kind === "digits" || GROUPING.has(before?.text ?? ""));
    if (tokens[from]?.kind !== "digits" || continues) continue;
    const numeral = numeralAt(tokens, from, { spaced: true, currency: null });
    if (numeral?.to === to) return { value: numeral.value, from };
  }
  return null;
};
