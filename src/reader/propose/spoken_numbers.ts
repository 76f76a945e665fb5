import { LANGUAGES, moneyWords, wordsFor } from "../languages.ts";
import type { Token } from "../text/tokens.ts";

/**
 * Numbers in words: "a hundred", "fünfhundertfünfzig", "deux cents", "duzentos e cinquenta", "centocinquanta".
 *
 * The words are rows of money_word.tsv. Compound words are split into pieces. If a part of a word remains, the word is not a
 * number ("einigen" is not "ein"). All pieces are of one language: "zweiten" is not the German "zwei" and the English "ten".
 */

/** `languages`: the languages in which the word has this value, one bit for each. */
type Piece = { value: number; factor: boolean; money: boolean; joined: boolean; languages: number };

const CODES = Object.keys(LANGUAGES);
const ALL_LANGUAGES = 2 ** CODES.length - 1;

/** The roles of words that are pieces of a number. Of a word with several, the last one counts. */
const PIECE_ROLES = ["number", "factor", "round", "sum"] as const;

const PIECES: Map<string, Piece> = new Map();
for (const role of PIECE_ROLES) {
  for (const { language, word, ...row } of moneyWords(role)) {
    const value = Number(row.value);
    if (value === 0) continue;
    const languages = (PIECES.get(word)?.languages ?? 0) | (1 << CODES.indexOf(language));
    PIECES.set(word, { value, factor: role === "factor", money: role === "sum", joined: false, languages });
  }
}
const LONGEST = Math.max(...Array.from(PIECES.keys(), (word) => word.length));
const SHORTEST = 2;
/** In signs of Chinese, one is a word. */
const SIGNS = /^\p{Script=Han}+$/u;

/** No price has more letters in one word. */
const LONGEST_WORD = 40;

/** "three hundred and forty-five thousand six hundred and seventy-eight" has thirteen tokens with its hyphens. */
const MAX_WORDS = 16;

/** Words between the pieces of a number, inside one word or between several. */
const JOINERS = wordsFor("joiner").add("-");
const INNER_JOINERS = [...wordsFor("inner_joiner")].sort((one, other) => other.length - one.length);

/** The number pieces that a word consists of, in one of some languages. Null if it is not a number. */
const piecesOf = (word: string, languages: number): Piece[] | null => {
  const whole = PIECES.get(word);
  const shortest = SIGNS.test(word) ? 1 : SHORTEST;
  if (word.length < shortest || word.length > LONGEST_WORD) return null;
  if (whole !== undefined) return (whole.languages & languages) === 0 ? null : [whole];
  // Positions and languages in which the rest of the word is no number. "trecento" fails with "trece" and succeeds with
  // "tre".
  const failed = new Set<number>();
  const from = (at: number, joined: boolean, left: number): Piece[] | null => {
    if (at === word.length) return [];
    const state = at * (ALL_LANGUAGES + 1) + left;
    if (failed.has(state)) return null;
    for (let length = Math.min(LONGEST, word.length - at); length >= shortest; length--) {
      const piece = PIECES.get(word.slice(at, at + length));
      const common = left & (piece?.languages ?? 0);
      const rest = common === 0 ? null : from(at + length, false, common);
      if (piece !== undefined && rest !== null) return [{ ...piece, joined }, ...rest];
    }
    const joiner = at > 0 && !joined ? INNER_JOINERS.find((one) => word.startsWith(one, at)) : undefined;
    const rest = joiner === undefined ? null : from(at + joiner.length, true, left);
    if (rest === null || rest.length === 0) {
      failed.add(state);
      return null;
    }
    return rest;
  };
  return from(0, false, languages);
};

/** Words that alone mean something else: "Grand salon", "mil gracias", "40 cents". */
const NEVER_ALONE = wordsFor("not_alone");

/** True if the hundreds are not named: "zwofuffzig", "two fifty". */
const isHundreds = (current: number, { value, factor, joined }: Piece): boolean =>
  !factor && !joined && current >= 1 && current <= 9 && Number.isInteger(current) && value >= 10 && value < 100;

const FOUR = 4;
const TWENTY = 20;

/** Articles before a sum or a factor are not a number: "a hundred", "nen Hunni", "une trentaine". */
const ARTICLES = wordsFor("article");
const SUM_OR_FACTOR = new Set([...wordsFor("sum"), ...wordsFor("round"), ...wordsFor("factor")]);

/** "seven and a half grand". */
const HALVES = Array.from(wordsFor("half"), (phrase) => phrase.split(" "));
const halfAt = (tokens: readonly Token[], at: number): readonly string[] | undefined =>
  HALVES.find((half) => half.every((word, i) => tokens[at + i]?.text === word));

const sumOf = (pieces: readonly Piece[]): number => {
  let total = 0;
  // What was multiplied since the last thousand, and what was not yet: "三百五十" is 300 and 5 times ten.
  let hundreds = 0;
  let current = 0;
  for (const piece of pieces) {
    const { value, factor } = piece;
    if (factor && value >= 1000) {
      total += Math.max(1, hundreds + current) * value;
      hundreds = 0;
      current = 0;
    } else if (factor) {
      hundreds += Math.max(1, current) * value;
      current = 0;
    }
    // "quatre-vingts" is four times twenty.
    else if (value === TWENTY && current % 100 === FOUR) current += FOUR * TWENTY - FOUR;
    else if (isHundreds(current, piece)) current = current * 100 + value;
    else current += value;
  }
  return total + hundreds + current;
};

/**
 * The longest number in words that starts at token `at`, or null.
 *
 * @returns its value, the token after it, and whether its words name a sum of money
 */
export const spokenNumberAt = (
  tokens: readonly Token[],
  at: number,
): { value: number; to: number; money: boolean } | null => {
  const pieces: Piece[] = [];
  let languages = ALL_LANGUAGES;
  let end = at;
  // In "a hundred" the article stands for one.
  let next = ARTICLES.has(tokens[at]?.text ?? "") && SUM_OR_FACTOR.has(tokens[at + 1]?.text ?? "") ? at + 1 : at;
  for (let token = tokens[next]; token !== undefined && next - at < MAX_WORDS; token = tokens[next]) {
    if (next > at && token.gap === "line") break;
    const own = token.kind === "word" ? piecesOf(token.text, languages) : null;
    if (own !== null) {
      // "four or five hundred" is two numbers, "two and fifty" is one.
      const [first, ...others] = own;
      if (first !== undefined) pieces.push({ ...first, joined: first.joined || next > end }, ...others);
      for (const piece of own) languages &= piece.languages;
      next += 1;
      end = next;
      continue;
    }
    if (pieces.length === 0 || next > end) break;
    const half = halfAt(tokens, next);
    if (half !== undefined) {
      pieces.push({ value: 0.5, factor: false, money: false, joined: true, languages });
      next += half.length;
      end = next;
    } else if (JOINERS.has(token.text)) next += 1;
    else break;
  }
  const alone = pieces.length === 1 && end === at + 1 && NEVER_ALONE.has(tokens[at]?.text ?? "");
  return pieces.length === 0 || alone
    ? null
    : { value: sumOf(pieces), to: end, money: pieces.some(({ money }) => money) };
};
