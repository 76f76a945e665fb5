import { currencyAt } from "./currencies.ts";
import type { Token } from "./prose.ts";

/**
 * Numbers in prose: "1.200,00", "1,200.00", "1 200", "1'349.-", "12k", "9 grand", "3,5 tys.".
 */

/** A number: tokens `from` to `to` (exclusive), its value, and whether it was written with the dash of money ("450,-"). */
export type Numeral = { from: number; to: number; value: number; dashed: boolean };

const MAGNITUDES: Readonly<Record<string, number>> = {
  k: 1e3,
  grand: 1e3,
  thousand: 1e3,
  tsd: 1e3,
  tausend: 1e3,
  mille: 1e3,
  mila: 1e3,
  mil: 1e3,
  duizend: 1e3,
  tys: 1e3,
  tysie: 1e3,
  riesen: 1e3,
  ruggen: 1e3,
  lucas: 1e3,
  tysiecy: 1e3,
  tysiace: 1e3,
  mio: 1e6,
  mln: 1e6,
  million: 1e6,
  millionen: 1e6,
  millions: 1e6,
  millones: 1e6,
  milioni: 1e6,
  milhoes: 1e6,
  miljoen: 1e6,
};

const GROUPING = new Set([".", ",", "'"]);

/** Digits that continue the number at once, as in "1.200" or "12,50"; null when the number ends there. */
const continued = (tokens: readonly Token[], at: number): { mark: string; digits: string } | null => {
  const mark = tokens[at];
  const digits = tokens[at + 1];
  if (mark === undefined || digits === undefined || mark.gap !== "none" || digits.gap !== "none") return null;
  return GROUPING.has(mark.text) && digits.kind === "digits" ? { mark: mark.text, digits: digits.text } : null;
};

/** "1 200": groups of three behind single spaces. Only some languages write so, and sizes stand side by side, too. */
const spacedGroups = (tokens: readonly Token[], at: number): string[] => {
  const groups: string[] = [];
  for (let i = at; ; i++) {
    const group = tokens[i];
    if (group?.kind !== "digits" || group.gap !== "space" || group.text.length !== 3) return groups;
    groups.push(group.text);
  }
};

const isGroup = (digits: string): boolean => digits.length === 3;

/** Whole and decimal digits from the pieces between separators; null when they make no number (a date, a version). */
const assemble = (head: string, rest: { mark: string; digits: string }[]): string | null => {
  const last = rest.at(-1);
  if (last === undefined) return head;
  const earlier = rest.slice(0, -1);
  const grouped = earlier.every((piece) => isGroup(piece.digits) && piece.mark === earlier[0]?.mark);
  const groupable = head.length <= 3 && !head.startsWith("0");
  if (!grouped || (earlier.length > 0 && !groupable)) return null;
  const whole = head + earlier.map((piece) => piece.digits).join("");
  const sameMark = earlier.length === 0 || earlier[0]?.mark === last.mark;
  if (isGroup(last.digits) && sameMark && groupable) return whole + last.digits;
  const decimal = last.digits.length <= 2 || (last.digits.length <= 4 && head === "0");
  return decimal && (earlier.length === 0 || !sameMark) && last.mark !== "'" ? `${whole}.${last.digits}` : null;
};

/** ",-" or ".-" or ",--" behind a number: how many tokens it takes. */
const dashLength = (tokens: readonly Token[], at: number): number => {
  const mark = tokens[at];
  if (mark?.gap !== "none" || !/^[,.]$/u.test(mark.text)) return 0;
  let length = 1;
  while (tokens[at + length]?.text === "-" && tokens[at + length]?.gap === "none" && length < 4) length++;
  // "450.-5" would be a range of sorts.
  return length > 1 && !(tokens[at + length]?.kind === "digits" && tokens[at + length]?.gap === "none") ? length : 0;
};

/**
 * The magnitude written behind a number ("k", "grand", "tys."), as a factor, and where it ends.
 * "m" is a million only behind a currency ("£10m"), else metres.
 */
const magnitudeAt = (tokens: readonly Token[], at: number, isMoney: boolean): { factor: number; to: number } | null => {
  const word = tokens[at];
  if (word === undefined || word.gap === "line") return null;
  const factor = word.text === "m" && isMoney && word.gap === "none" ? 1e6 : MAGNITUDES[word.text];
  // "€ 389.000 k.k.": the buyer's costs are no thousands.
  if (word.text === "k" && tokens[at + 1]?.text === "." && tokens[at + 2]?.text === "k") return null;
  // "1,5 k€", but "4 k owners".
  const spacedK = word.text === "k" && word.gap !== "none" && !isMoney && currencyAt(tokens, at + 1) === null;
  if (factor === undefined || spacedK) return null;
  const dotted =
    tokens[at + 1]?.text === "." && tokens[at + 1]?.gap === "none" && /^(?:tys|tsd|mio|mln)$/u.test(word.text);
  return { factor, to: at + (dotted ? 2 : 1) };
};

/**
 * The number that starts at the digits token `at`; null when the digits there are something else (a date, a version).
 *
 * @param options.spaced whether "1 200" is one number here
 * @param options.isMoney whether a currency stands in front
 */
export const numeralAt = (
  tokens: readonly Token[],
  at: number,
  options: { spaced: boolean; isMoney: boolean },
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
  const dash = dashLength(tokens, to);
  to += dash;
  const magnitude = magnitudeAt(tokens, to, options.isMoney);
  // Factors are whole, amounts are not: 4.35 * 1000 is not 4350 in binary.
  const value = Math.round(Number(written) * (magnitude?.factor ?? 1) * 1e4) / 1e4;
  return { from: at, to: magnitude?.to ?? to, value, dashed: dash > 0 };
};

/** Where a run of digits and separators that starts at `at` ends, however little sense it makes as a number. */
export const endOfDigits = (tokens: readonly Token[], at: number): number => {
  let to = at + 1;
  while (continued(tokens, to) !== null) to += 2;
  return to;
};
