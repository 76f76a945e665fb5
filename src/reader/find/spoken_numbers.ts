import type { Token } from "../text/tokens.ts";

/**
 * Numbers in words: "a hundred", "fünfhundertfünfzig", "deux cents", "duzentos e cinquenta", "centocinquanta".
 *
 * The eight languages share one list, since no number word of one language means another number in a different one.
 * Compound words are split into pieces. If a part of a word remains, the word is not a number ("einigen" is not "ein").
 */

const VALUES: Readonly<Record<number, string>> = {
  0.5: "einhalb enhalf",
  1.5: "anderthalb anderhalf poltora poltorej",
  1: "one ein eine einen eins un une uno una um uma een jeden jedna",
  2: "two zwei zwo deux dos due dois duas twee dwa dwie couple",
  3: "three drei trois tres tre drie trzy",
  4: "four vier quatre cuatro quattro quatro cztery",
  5: "five funf fuenf cinq cinco cinque vijf piec",
  6: "six sechs seis sei zes szesc",
  7: "seven sieben sept siete sette sete zeven siedem",
  8: "eight acht huit ocho otto oito osiem",
  9: "nine neun neuf nueve nove negen dziewiec",
  10: "ten zehn dix diez dieci dez tien dziesiec",
  11: "eleven elf onze once undici jedenascie",
  12: "twelve zwolf douze doce dodici doze twaalf dwanascie",
  13: "thirteen dreizehn treize trece tredici treze dertien trzynascie",
  14: "fourteen vierzehn quatorze catorce quattordici catorze veertien czternascie",
  15: "fifteen funfzehn quinze quince quindici vijftien pietnascie",
  16: "sixteen sechzehn seize dieciseis sedici dezasseis dezesseis zestien szesnascie",
  17: "seventeen siebzehn diecisiete diciassette dezassete dezessete zeventien siedemnascie",
  18: "eighteen achtzehn dieciocho diciotto dezoito achttien osiemnascie",
  19: "nineteen neunzehn diecinueve diciannove dezanove dezenove negentien dziewietnascie",
  20: "twenty zwanzig vingt vingts veinte veinti venti vent vinte twintig dwadziescia",
  30: "thirty dreissig trente treinta trenta trent trinta dertig trzydziesci",
  40: "forty vierzig quarante cuarenta quaranta quarant quarenta veertig czterdziesci",
  50: "fifty fuffzig funfzig fuenfzig cinquante cincuenta cinquanta cinquant cinquenta vijftig piecdziesiat",
  60: "sixty sechzig soixante sesenta sessanta sessant sessenta zestig szescdziesiat",
  70: "seventy siebzig septante setenta settanta settant zeventig siedemdziesiat",
  80: "eighty achtzig huitante octante ochenta ottanta ottant oitenta tachtig osiemdziesiat",
  90: "ninety neunzig nonante noventa novanta novant negentig dziewiecdziesiat",
  100: "cien ciento cem sto",
  200: "doscientos doscientas duzentos duzentas dwiescie",
  300: "trescientos trescientas trezentos trezentas trzysta",
  400: "cuatrocientos cuatrocientas quatrocentos quatrocentas czterysta",
  500: "quinientos quinientas quinhentos quinhentas piecset",
  600: "seiscientos seiscientas seiscentos seiscentas szescset",
  700: "setecientos setecientas setecentos setecentas siedemset",
  800: "ochocientos ochocientas oitocentos oitocentas osiemset",
  900: "novecientos novecientas novecentos novecentas dziewiecset",
};

/** Words that multiply the number before them ("two hundred"). Alone they count once: "cento" is 100. */
const FACTORS: Readonly<Record<number, string>> = {
  100: "hundred hundert cent cents cento honderd",
  1000: "thousand grand tausend mille mila mil duizend tysiac tysiace tysiecy riesen ruggen",
};

/** Words for sums of money: "a tenner", "zwofuffzig", "une trentaine d'euros". */
const SUMS: Readonly<Record<number, string>> = {
  5: "fiver funfer",
  10: "tenner zehner tientje dycha dyche dizaine",
  15: "quinzaine",
  20: "zwanni zwanziger vingtaine twintigje",
  30: "trentaine",
  40: "quarantaine",
  50: "fuffi fuffziger fuffzig cinquantaine",
  60: "soixantaine",
  100: "hunni hunderter honderdje centaine stowa stowe stowka stowke",
  1000: "tausender tysiak tysiaka millier",
};

/** The words among these that are also used for other things ("une trentaine"). They need a currency. */
const AMBIGUOUS_SUMS = /^(?:\w+aine|millier|funfer|zehner|zwanziger|hunderter|tausender)$/u;

type Piece = { value: number; factor: boolean; money: boolean; joined: boolean };

const PIECES: ReadonlyMap<string, Piece> = new Map(
  [
    { list: VALUES, factor: false, money: false },
    { list: FACTORS, factor: true, money: false },
    { list: SUMS, factor: false, money: true },
  ].flatMap(({ list, factor, money }) =>
    Object.entries(list).flatMap(([value, words]) =>
      words
        .split(" ")
        .map(
          (word) =>
            [
              word,
              { value: Number(value), factor, money: money && !AMBIGUOUS_SUMS.test(word), joined: false },
            ] as const,
        ),
    ),
  ),
);
const LONGEST = Math.max(...Array.from(PIECES.keys(), (word) => word.length));
const SHORTEST = 2;

/** No price has more letters in one word. */
const LONGEST_WORD = 40;

/** "three hundred and forty-five thousand six hundred and seventy-eight" has thirteen tokens with its hyphens. */
const MOST_WORDS = 16;

/** Words between the pieces of a number, inside one word or between several. */
const JOINERS = new Set("and und y e et en i of -".split(" "));
const JOINED_INSIDE = /^(?:und|en|e|y)/u;

/** The number pieces that a word consists of. Null if it is not a number. */
const piecesOf = (word: string): Piece[] | null => {
  if (word.length < SHORTEST || word.length > LONGEST_WORD) return null;
  const whole = PIECES.get(word);
  if (whole !== undefined) return [whole];
  // Positions from which the rest of the word is no number. "trecento" fails with "trece" and succeeds with "tre".
  const failed = new Set<number>();
  const from = (at: number, joined: boolean): Piece[] | null => {
    if (at === word.length) return [];
    if (failed.has(at)) return null;
    for (let length = Math.min(LONGEST, word.length - at); length >= SHORTEST; length--) {
      const piece = PIECES.get(word.slice(at, at + length));
      const rest = piece === undefined ? null : from(at + length, false);
      if (piece !== undefined && rest !== null) return [{ ...piece, joined }, ...rest];
    }
    const joiner = at > 0 && !joined ? JOINED_INSIDE.exec(word.slice(at)) : null;
    const rest = joiner === null ? null : from(at + joiner[0].length, true);
    if (rest === null || rest.length === 0) {
      failed.add(at);
      return null;
    }
    return rest;
  };
  return from(0, false);
};

/** Words that alone mean something else: "Grand salon", "mil gracias", "40 cents". */
const NEVER_ALONE = new Set("grand cent cents mila mil couple".split(" "));

/** True if the hundreds are not named: "zwofuffzig", "two fifty". */
const isHundreds = (current: number, { value, factor, joined }: Piece): boolean =>
  !factor && !joined && current >= 1 && current <= 9 && Number.isInteger(current) && value >= 10 && value < 100;

const FOUR = 4;
const TWENTY = 20;

/** Articles before a sum or a factor are not a number: "a hundred", "nen Hunni", "une trentaine". */
const ARTICLES = new Set("a einen nen n ein une een".split(" "));
const SUM_OR_FACTOR = new Set(
  [SUMS, FACTORS].flatMap((list) => Object.values(list).flatMap((words) => words.split(" "))),
);

/** "seven and a half grand". */
const HALF = ["and", "a", "half"];

const sumOf = (pieces: readonly Piece[]): number => {
  let total = 0;
  let current = 0;
  for (const piece of pieces) {
    const { value, factor } = piece;
    if (factor && value >= 1000) {
      total += Math.max(1, current) * value;
      current = 0;
    } else if (factor) current = Math.max(1, current) * value;
    // "quatre-vingts" is four times twenty.
    else if (value === TWENTY && current % 100 === FOUR) current += FOUR * TWENTY - FOUR;
    else if (isHundreds(current, piece)) current = current * 100 + value;
    else current += value;
  }
  return total + current;
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
  let end = at;
  // In "a hundred" the article stands for one.
  let next = ARTICLES.has(tokens[at]?.text ?? "") && SUM_OR_FACTOR.has(tokens[at + 1]?.text ?? "") ? at + 1 : at;
  for (let token = tokens[next]; token !== undefined && next - at < MOST_WORDS; token = tokens[next]) {
    if (next > at && token.gap === "line") break;
    const own = token.kind === "word" ? piecesOf(token.text) : null;
    if (own !== null) {
      // "four or five hundred" is two numbers, "two and fifty" is one.
      const [first, ...others] = own;
      if (first !== undefined) pieces.push({ ...first, joined: first.joined || next > end }, ...others);
      next += 1;
      end = next;
    } else if (pieces.length > 0 && next === end && HALF.every((word, i) => tokens[next + i]?.text === word)) {
      pieces.push({ value: 0.5, factor: false, money: false, joined: true });
      next += HALF.length;
      end = next;
    } else if (pieces.length > 0 && next === end && JOINERS.has(token.text)) next += 1;
    else break;
  }
  const alone = pieces.length === 1 && end === at + 1 && NEVER_ALONE.has(tokens[at]?.text ?? "");
  return pieces.length === 0 || alone
    ? null
    : { value: sumOf(pieces), to: end, money: pieces.some(({ money }) => money) };
};
