import type { PriceUnit } from "../../base/enums.ts";
import { moneyWords, wordsFor } from "../languages.ts";
import { type Cue, firstCueFrom } from "../text/cues.ts";
import { compilePhrases, type Phrases, phraseAt } from "../text/phrases.ts";
import type { Token } from "../text/tokens.ts";

/** Finds what a sum of money is for: "12 €/m²", "2 EUR per kg", "3 € al kilo", "5 each", "Preis pro m²: 80 €". */

/** The words that say it: tokens `from` to `to` (exclusive). */
export type UnitWords = { unit: PriceUnit; from: number; to: number };

const unitsOf = (role: Parameters<typeof moneyWords>[0]): Phrases<PriceUnit> =>
  compilePhrases(moneyWords(role).map(({ word, value }) => ({ form: word, sense: value as PriceUnit })));
const phrasesOf = (role: Parameters<typeof wordsFor>[0]): Phrases<boolean> =>
  compilePhrases([...wordsFor(role)].map((form) => ({ form, sense: true })));

/** Units after a word such as "per", phrases that need none ("each"), and phrases that stand before the amount ("je"). */
const NAMED = unitsOf("unit");
const WHOLE = unitsOf("unit_phrase");
const BEFORE = unitsOf("unit_before");
const PER = phrasesOf("per");
/** "the kilo": no number follows, because "de 12 m²" and "the 2 kg bag" say a size. */
const ARTICLE = phrasesOf("per_article");
/** Words that may stand between an amount and its unit: "net". */
const BESIDE = phrasesOf("beside_unit");

/** At most this many words stand between an amount and its unit. */
const MOST_BESIDE = 4;
/** Units that need no word before them: "150 zł m2". "900 € KM" is a rent without costs. */
const BARE: ReadonlySet<PriceUnit> = new Set(["square_meter", "kilogram"]);
/** The longest words for a unit before an amount, in tokens: "pro laufenden Meter". */
const MOST_BEFORE = 6;

/** A text in which units are found. */
type Text = { tokens: readonly Token[]; cues: readonly Cue[] };

const isClose = (token: Token | undefined): boolean => token !== undefined && !token.opens && token.gap !== "line";

/** The token after the words for a unit of time at token `at`, or `at`. */
const pastPeriod = ({ tokens, cues }: Text, at: number): number => {
  const last = tokens[at]?.text === "/" ? at + 1 : at;
  let past = at;
  for (let index = firstCueFrom(cues, at); index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > last) break;
    if (cue.concept.text.startsWith("per_")) past = Math.max(past, cue.to);
  }
  return past;
};

/** The token after a word that may stand between an amount and its unit, or `at`. */
const pastBeside = (text: Text, at: number): number => {
  if (!isClose(text.tokens[at])) return at;
  return phraseAt(text.tokens, at, BESIDE)?.to ?? pastPeriod(text, at);
};

/** The unit that is named at token `at`, after its number: 100 g are another measure than a gram. */
const namedAt = (tokens: readonly Token[], at: number): { unit: PriceUnit; to: number } | null => {
  const number = tokens[at]?.kind === "digits" ? Number(tokens[at]?.text) : 1;
  const hit = phraseAt(tokens, tokens[at]?.kind === "digits" ? at + 1 : at, NAMED);
  const next = tokens[hit?.to ?? 0];
  // "m" is no unit in "m²", and none in "m1".
  if (hit === null || (next !== undefined && next.gap === "none" && next.kind !== "mark")) return null;
  // "20 € for 3 pieces" is the price of the whole.
  if (number !== 1 && (hit.sense === "item" || hit.sense === "person")) return null;
  return { unit: number === 1 ? hit.sense : "other", to: hit.to };
};

/** The words for a unit at token `at`: "per m²", "/kg", "each". Null if there are none. */
const unitAt = (text: Text, at: number): UnitWords | null => {
  const { tokens } = text;
  if (!isClose(tokens[at])) return null;
  const whole = phraseAt(tokens, at, WHOLE);
  let to = at;
  let isExact = true;
  for (;;) {
    const per = phraseAt(tokens, to, PER);
    const word = per ?? phraseAt(tokens, to, ARTICLE);
    if (word === null || !isClose(tokens[word.to])) break;
    isExact = per !== null;
    to = word.to;
  }
  const named = to > at && (isExact || tokens[to]?.kind === "word") ? namedAt(tokens, to) : null;
  if (named !== null && named.to > (whole?.to ?? 0)) return { from: at, ...named };
  // "each month" is a period.
  if (whole === null || pastPeriod(text, whole.to) > whole.to) return null;
  return { unit: whole.sense, from: at, to: whole.to };
};

/** The unit behind an amount that ends before token `end`. `isMoney`: whether a currency ends the amount. */
export const unitAfter = (text: Text, end: number, isMoney: boolean): UnitWords | null => {
  const { tokens } = text;
  let at = end;
  for (let n = 0; n <= MOST_BESIDE; n++) {
    const found = unitAt(text, at);
    // "Delivery per km: 1 €": the unit is that of the amount behind it.
    if (found !== null) return /^[:=]$/.test(tokens[found.to]?.text ?? "") ? null : found;
    const past = pastBeside(text, at);
    if (past === at) break;
    at = past;
  }
  const bare = isMoney && isClose(tokens[end]) && tokens[end]?.kind === "word" ? namedAt(tokens, end) : null;
  return bare !== null && BARE.has(bare.unit) ? { from: end, ...bare } : null;
};

/**
 * The unit before an amount that begins at token `start`: "Preis pro m²: 80 €".
 * @param taken the token after the amount before it
 */
export const unitBefore = (text: Text, start: number, taken: number): UnitWords | null => {
  const { tokens } = text;
  if (!isClose(tokens[start])) return null;
  for (let at = Math.max(taken, start - MOST_BEFORE); at < start; at++) {
    const before = phraseAt(tokens, at, BEFORE);
    if (before?.to === start) return { unit: before.sense, from: at, to: start };
    const found = unitAt(text, at);
    if (found === null || found.to > start) continue;
    let end = found.to;
    for (let past = pastBeside(text, end); past > end && past <= start; past = pastBeside(text, end)) end = past;
    if (end === start) return found;
  }
  return null;
};
