import { currencyAt, currencyBefore, type Marker } from "../find/currencies.ts";
import { endOfDigits, type Numeral, numeralAt } from "../find/numbers.ts";
import {
  AFTER_BARE,
  BEFORE_AMOUNT,
  BEFORE_NAME,
  CLOSES_CEILING,
  FILLERS,
  MEASURES,
  PER,
  PERIOD_OF_UNIT,
  PERIODS,
  type Period,
  PRICE_WORDS,
} from "./price_words.ts";
import { phraseAt } from "../text/phrases.ts";
import { startsSentence, type Token } from "../text/tokens.ts";
import { spokenNumberAt } from "../find/spoken_numbers.ts";

/**
 * An amount of money in a text, whatever its role: tokens `from` to `to` (exclusive), currency and period included.
 * `marker` is null for a bare number, which may not be money. `max` is the upper end of a range.
 */
export type Amount = {
  from: number;
  to: number;
  value: number;
  max: number | null;
  marker: Marker | null;
  period: Period | null;
  /** True inside brackets, where the price is rarely stated. */
  aside: boolean;
};

/** The most words between an amount and its unit of time, as in "for a full week". */
const MAX_PER = 4;

/** The most words between an amount and "per", as in "15 EUR netto max /h". */
const MAX_FILLERS = 2;

/** "per 60 min" is per hour; "pro Person und Stunde" is per hour too. */
const MINUTES_OF_AN_HOUR = /^(?:60|55|50)$/u;
const MINUTES = new Set("min mins minutes minuten minute minutos minuti minuut minut '".split(" "));
const PER_HEAD = new Set(
  "person head mann personne persona pessoa persoon osoba osobe helfer mover cleaner worker man".split(" "),
);
const AND = new Set("and und et y e en i & + /".split(" "));

/** The period that follows an amount at token `at`. */
const periodAt = (tokens: readonly Token[], at: number): { period: Period; to: number } | null => {
  for (let skipped = 0; skipped <= MAX_FILLERS; skipped++) {
    const first = tokens[at + skipped];
    if (first === undefined || startsSentence(tokens, at + skipped)) return null;
    const phrase = phraseAt(tokens, at + skipped, PERIODS);
    if (phrase !== null) return { period: phrase.sense, to: phrase.to };
    const isPer = PER.has(first.text) || first.text === "for";
    // "/mån" folds to the English word "man".
    if (first.text === "/" && tokens[at + skipped + 1]?.text === "man")
      return { period: "month", to: at + skipped + 2 };
    if (
      isPer &&
      MINUTES_OF_AN_HOUR.test(tokens[at + skipped + 1]?.text ?? "") &&
      MINUTES.has(tokens[at + skipped + 2]?.text ?? "")
    )
      return { period: "hour", to: at + skipped + 3 };
    if (isPer && PER_HEAD.has(tokens[at + skipped + 1]?.text ?? "")) {
      const then = tokens[at + skipped + 2]?.text ?? "";
      const unit = at + skipped + (AND.has(then) || PER.has(then) ? 3 : 2);
      const heads = PERIOD_OF_UNIT.get(tokens[unit]?.text ?? "");
      if (heads !== undefined && unit > at + skipped + 2) return { period: heads, to: unit + 1 };
    }
    for (let length = 1; length <= MAX_PER && PER.has(tokens[at + skipped + length - 1]?.text ?? ""); length++) {
      const unit = tokens[at + skipped + length];
      const period = unit?.gap === "line" ? undefined : PERIOD_OF_UNIT.get(unit?.text ?? "");
      // "an" is a year in French and an article in English.
      const again = PERIOD_OF_UNIT.has(tokens[at + skipped + length + 1]?.text ?? "") && PER.has(unit?.text ?? "");
      // "$350 for the night" pays an evening's work, not a night's stay.
      if (first.text === "for" && unit?.text === "night") return null;
      const weekend =
        unit?.text === "week" &&
        tokens[at + skipped + length + 1]?.text === "-" &&
        tokens[at + skipped + length + 2]?.text === "end";
      if (weekend) return null;
      if (period !== undefined && !again) return { period, to: at + skipped + length + 1 };
    }
    const currency = currencyAt(tokens, at + skipped);
    if (!FILLERS.has(first.text) && currency === null) return null;
  }
  return null;
};

/** A unit of time without "per" after an amount: "70 € día laborable". */
const unitAt = (tokens: readonly Token[], at: number): { period: Period; to: number } | null => {
  const unit = tokens[at];
  const period = PERIOD_OF_UNIT.get(unit?.text ?? "");
  // "an" is an article, "days" are counted, and "ora" before another amount means "now".
  if (period === undefined || unit?.gap !== "space" || /^(?:an|days|ora)$/u.test(unit.text)) return null;
  return tokens[at + 1]?.text === "-" || tokens[at + 1]?.kind === "digits" ? null : { period, to: at + 1 };
};

/** The unit directly before an amount ("Tag 40 €", "1 day: £50"), unless several units are counted ("2 days £90"). */
const unitBefore = (tokens: readonly Token[], from: number): Period | null => {
  const at = tokens[from - 1]?.text === ":" ? from - 2 : from - 1;
  const period = PERIOD_OF_UNIT.get(tokens[at]?.text ?? "");
  if (period === undefined || startsSentence(tokens, from)) return null;
  const before = tokens[at - 1];
  const opens = startsSentence(tokens, at) || before === undefined || /^(?:[,/(+-]|1)$/u.test(before.text);
  return opens || PER.has(before?.text ?? "") ? period : null;
};

/** Marks that join digits to a date, a time, a ratio or a name. */
const JOINS = /^[/:.,'x#*@_=-]$/u;

const isJoinedBefore = (tokens: readonly Token[], at: number): boolean => {
  const before = tokens[at - 1];
  if (before === undefined || tokens[at]?.gap !== "none") return false;
  if (before.kind === "word") return true;
  if (before.text === "#") return true;
  const beyond = tokens[at - 2];
  if (!JOINS.test(before.text) || before.gap !== "none" || beyond === undefined) return false;
  // "75-95" is a range and "price:50" is an amount; "A-55" and "24/7" are neither.
  if (before.text === "-")
    return beyond.kind === "word" && currencyAt(tokens, at - 2) === null && !PERIOD_OF_UNIT.has(beyond.text);
  return beyond.kind === "digits" || (before.text !== ":" && before.text !== "=" && beyond.kind === "word");
};

/** "7pm", "7.30 pm": here "pm" is a time of day, not "per month". */
const isTime = (tokens: readonly Token[], { to, value }: Numeral): boolean =>
  value <= 12.59 && (tokens[to]?.text === "pm" || tokens[to]?.text === "am");

/** True if words at token `to` follow only amounts: "4 800 à débattre", "25 p.st.", "1500 como mucho". */
const isQualified = (tokens: readonly Token[], to: number): boolean => {
  if (tokens[to] === undefined || tokens[to]?.gap === "line") return false;
  const said = phraseAt(tokens, to, PRICE_WORDS);
  if (said?.sense === "negotiable" || (said?.sense === "each" && said.to > to + 1)) return true;
  return phraseAt(tokens, to, CLOSES_CEILING) !== null;
};

/** True if a bare number can be an amount: it neither counts the next word nor belongs to the name before it. */
const mayBeAmount = (tokens: readonly Token[], numeral: Numeral): boolean => {
  const { from, to, value } = numeral;
  if (isTime(tokens, numeral)) return false;
  const head = tokens[from];
  const before = tokens[from - 1];
  const after = tokens[to];
  if (head === undefined || (head.text.startsWith("0") && value >= 1)) return false;
  if (before?.kind === "digits" || (before?.kind === "word" && BEFORE_NAME.has(before.text))) return false;
  if (/^\d{4}$/u.test(head.text) && to === from + 1 && value >= 1900 && value < 2100) return false;
  if (after === undefined || after.gap === "line") return true;
  if (after.kind === "digits") return false;
  if (after.kind === "mark") {
    // 50%, 27", 40°, 16:30, 03/2016, 4+, 9-10
    if (after.gap === "none" && /^[%"″′°+:*#'²³½]$/u.test(after.text)) return false;
    const beyond = tokens[to + 1];
    // "2-3 days a week"
    const counted = after.text === "-" && beyond?.kind === "digits" && MEASURES.has(tokens[to + 2]?.text ?? "");
    if (counted) return false;
    return !(after.text === "/" && after.gap === "none" && beyond?.kind === "digits");
  }
  if (after.gap === "none") return phraseAt(tokens, to, PERIODS) !== null || after.text === "ish";
  // "450k ceiling"
  if (value >= 1000 && Number(head.text) < 1000 && tokens[to - 1]?.kind === "word" && !MEASURES.has(after.text))
    return true;
  if (BEFORE_AMOUNT.has(before?.text ?? "") && !MEASURES.has(after.text)) return true;
  if (isQualified(tokens, to)) return true;
  return AFTER_BARE.has(after.text) || periodAt(tokens, to) !== null;
};

/**
 * True if letters directly after a number make it something other than an amount. "28ish" and "150pcm" remain amounts.
 */
const isGluedUnit = (tokens: readonly Token[], to: number): boolean => {
  const after = tokens[to];
  return (
    after?.kind === "word" && after.gap === "none" && after.text !== "ish" && phraseAt(tokens, to, PERIODS) === null
  );
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

/** Words for hundredths of a currency: "12 cents per word". */
const CENTS = new Set("¢ cent cents ct cts centimes centimos centavos centesimi".split(" "));

/** "Euro 6" is an emission standard for cars. */
const EMISSION_STANDARD = /^[3-7]$/u;

const readAmount = (tokens: readonly Token[], at: number): Amount | null => {
  const before = currencyBefore(tokens, at);
  if (
    tokens[at - 1]?.text === "euro" &&
    EMISSION_STANDARD.test(tokens[at]?.text ?? "") &&
    endOfDigits(tokens, at) === at + 1
  )
    return null;
  if (before === null && isJoinedBefore(tokens, at)) return null;
  const isMoney = before !== null;
  const spaced = numeralAt(tokens, at, { spaced: true, isMoney });
  const closed =
    spaced !== null &&
    (isMoney ||
      spaced.dashed ||
      currencyAt(tokens, spaced.to) !== null ||
      isQualified(tokens, spaced.to) ||
      periodAt(tokens, spaced.to) !== null);
  const numeral = closed ? spaced : numeralAt(tokens, at, { spaced: false, isMoney });
  if (numeral === null) return null;
  let { value, to } = numeral;
  let marker = before?.marker ?? null;
  const after = tokens[to]?.gap === "line" ? null : currencyAt(tokens, to);
  // A currency after the number belongs to it, unless the next number directly follows the sign: "5 €20".
  const cents = after === null ? null : centsAt(tokens, after.to);
  const taken =
    after !== null &&
    (tokens[to]?.gap === "none" || tokens[after.to]?.kind !== "digits" || tokens[after.to]?.gap !== "none");
  if (after !== null && taken && (marker === null || isAmbiguous(marker) || marker === after.marker)) {
    marker = after.marker;
    to = after.to;
    if (cents !== null && before === null) {
      value += cents;
      to++;
    }
  } else if (marker === null && tokens[to]?.text === "p" && tokens[to]?.gap === "none") {
    marker = "GBP";
    value = Math.round(value) / 100;
    to++;
  } else if (
    marker === null &&
    Number.isInteger(value) &&
    CENTS.has(tokens[to]?.text ?? "") &&
    tokens[to]?.gap !== "line"
  ) {
    marker = "¢";
    value = Math.round(value) / 100;
    to++;
  }
  if (marker === null && (numeral.dashed || tokens[to - 1]?.text === "grand")) marker = ",";
  if (marker === null ? !mayBeAmount(tokens, numeral) : after === null && isMoney && isGluedUnit(tokens, to))
    return null;
  return { from: before?.from ?? at, to, value, max: null, marker, period: null, aside: false };
};

/** "One" is an article in most languages, so it is not a price. */
const LEAST_IN_WORDS = 2;
/** A smaller number in words without a currency may be an age. */
const LEAST_ALONE_IN_WORDS = 90;

/** "une trentaine d'euros" */
const currencyOfRound = (tokens: readonly Token[], at: number): { marker: Marker; to: number } | null => {
  if (tokens[at]?.text !== "d" && tokens[at]?.text !== "de") return null;
  return currencyAt(tokens, tokens[at + 1]?.text === "'" ? at + 2 : at + 1);
};

/** Words for a thousand that are used for money, as "grand" is. */
const THOUSANDS = /^(?:mille|riesen|ruggen)$/u;

/**
 * An amount in words: "a hundred quid", "fünfzig Euro", "two grand". It needs a currency or another sign of money;
 * otherwise it is a count.
 */
const amountInWords = (tokens: readonly Token[], at: number): Amount | null => {
  const number = spokenNumberAt(tokens, at);
  if (number === null || number.value < LEAST_IN_WORDS) return null;
  const behind = currencyAt(tokens, number.to);
  // "all six £100": the sign belongs to the digits after it.
  const isOfNext = behind !== null && tokens[behind.to]?.kind === "digits" && tokens[number.to]?.kind === "mark";
  const currency = isOfNext ? null : behind;
  // "vier mille, Meppel" is an amount, "deux mille pages" is not.
  const next = tokens[number.to];
  const closes = next === undefined || next.kind === "mark" || next.gap === "line";
  const last = tokens[number.to - 1]?.text ?? "";
  const grand = last === "grand" || (closes && number.to > at + 1 && THOUSANDS.test(last));
  const of = behind === null ? currencyOfRound(tokens, number.to) : null;
  const named = currency ?? of;
  // A number in words that is a sentence of its own ("Zweihundertfünfzig, ...") is an amount if it is too large for an
  // age.
  const alone = number.value >= LEAST_ALONE_IN_WORDS && startsSentence(tokens, at) && /^[.,!]$/u.test(next?.text ?? "");
  const told = grand || alone || number.money || isQualified(tokens, number.to);
  if (named === null && !told) return null;
  const to = named?.to ?? number.to;
  const period = periodAt(tokens, to);
  return {
    from: at,
    to: period?.to ?? to,
    value: number.value,
    max: null,
    marker: named?.marker ?? (grand || alone || number.money ? "," : null),
    period: period?.period ?? unitBefore(tokens, at),
    aside: false,
  };
};

/**
 * Words between the ends of a range. Those of AMBIGUOUS_TO have other meanings, so they count only after a word of
 * OPENS_RANGE, or (if also in TO) between two currencies.
 */
const TO = /^(?:-|~|to|bis|until|a|al|ao|tot|do|till)$/u;
const AMBIGUOUS_TO = /^(?:a|al|ao|do|and|und|et|y|e|en|i|und|ed)$/u;
const OPENS_RANGE = new Set(
  "between zwischen entre tra fra tussen pomiedzy miedzy from von de da dalle dai desde van od des".split(" "),
);

/** True if the tokens between two numbers make them a range. */
const isRange = (tokens: readonly Token[], low: Amount, high: Amount): boolean => {
  const between = tokens.slice(low.to, high.from);
  if (between.length === 0 || between.length > 2 || high.value <= low.value || startsSentence(tokens, high.from))
    return false;
  const words = between.map((token) => token.text).join(" ");
  if (words === "up to" || words === "bis zu" || words === "- -") return true;
  if (between.length > 1) return false;
  if (!AMBIGUOUS_TO.test(words)) return TO.test(words);
  const opened = OPENS_RANGE.has(tokens[low.from - 1]?.text ?? "");
  return opened || (TO.test(words) && low.marker !== null && high.marker !== null);
};

/** A number that is an amount only as the lower end of a range ("18" in "18-22 EUR"). */
const lowEnd = (tokens: readonly Token[], at: number): Amount | null => {
  if (isJoinedBefore(tokens, at)) return null;
  const numeral = numeralAt(tokens, at, { spaced: false, isMoney: false });
  if (numeral === null || (tokens[at]?.text.startsWith("0") && numeral.value >= 1)) return null;
  return { ...numeral, max: null, marker: null, period: null, aside: false };
};

/**
 * Joins the ends of a range. They share the magnitude and the currency if these are written once: "9-10k", "18-22 EUR".
 */
const joined = (low: Amount, high: Amount, tokens: readonly Token[]): Amount => {
  const magnitude =
    tokens[low.to - 1]?.kind === "digits" && high.value >= 1000 && low.value < 1000 && isMagnified(tokens, high);
  return {
    ...high,
    from: low.from,
    value: magnitude ? low.value * 1000 : low.value,
    max: high.value,
    marker: high.marker ?? low.marker,
  };
};

const isMagnified = (tokens: readonly Token[], amount: Amount): boolean =>
  tokens
    .slice(amount.from, amount.to)
    .some(
      (token) =>
        token.kind === "word" && /^(?:k|grand|thousand|tys|tsd|tausend|mil|mille|mila|duizend)$/u.test(token.text),
    );

/**
 * All amounts of a text from left to right. A range is one amount.
 *
 * @param isHidden true for tokens that must not be read as a price: addresses, phone numbers, instructions to a model
 */
export const findAmounts = (tokens: readonly Token[], isHidden: (at: number) => boolean): Amount[] => {
  const amounts: Amount[] = [];
  let depth = 0;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token?.text === "(") depth++;
    if (token?.text === ")" || token?.gap === "line") depth = 0;
    const spoken = token?.kind === "word" && !isHidden(at) ? amountInWords(tokens, at) : null;
    if (spoken !== null) {
      amounts.push({ ...spoken, aside: depth > 0 });
      at = spoken.to - 1;
      continue;
    }
    if (token?.kind !== "digits" || isHidden(at)) continue;
    const read = readAmount(tokens, at);
    const amount = read ?? lowEnd(tokens, at);
    if (amount === null) {
      at = endOfDigits(tokens, at) - 1;
      continue;
    }
    const next = nextDigits(tokens, amount.to);
    const high = next < 0 || isHidden(next) ? null : readAmount(tokens, next);
    const range = high !== null && isRange(tokens, amount, high) && (amount.marker ?? high.marker) !== null;
    const ends = high === null ? null : joined(amount, high, tokens);
    // Without a currency, the ends of a range must be of the same magnitude: "300-450", "9-10k".
    const bare =
      high !== null && ends !== null && read !== null && isRange(tokens, amount, high) && high.value < ends.value * 10;
    const whole = ends !== null && (range || bare) ? ends : read;
    if (whole === null) {
      at = endOfDigits(tokens, at) - 1;
      continue;
    }
    const period = periodAt(tokens, whole.to) ?? (whole.marker === null ? null : unitAt(tokens, whole.to));
    const named = period === null ? currencyAt(tokens, whole.to) : currencyAt(tokens, period.to);
    const exact = isAmbiguous(whole.marker) && named !== null && !isAmbiguous(named.marker) ? named : null;
    amounts.push({
      ...whole,
      to: Math.max(whole.to, period?.to ?? 0, exact?.to ?? 0),
      marker: exact?.marker ?? whole.marker,
      period: period?.period ?? unitBefore(tokens, whole.from),
      aside: depth > 0,
    });
    at = Math.max(at, whole.to - 1);
  }
  return amounts;
};

/** The next digits, at most four tokens after token `at`; -1 if there are none. */
const nextDigits = (tokens: readonly Token[], at: number): number => {
  for (let i = at; i < at + 5; i++) if (tokens[i]?.kind === "digits") return i;
  return -1;
};
