import { findAddressedToModel } from "./addressed.ts";
import { currencyOf, resolveCurrency, withLocalSigns } from "../find/currencies.ts";
import { findRuns, isDateOrAmount, isShapedLikePhone } from "../find/phones.ts";
import { type Amount, findAmounts } from "./price_amounts.ts";
import { findFree } from "./price_free.ts";
import { isRestatement, type Role, rolesOf } from "./price_roles.ts";
import { AFTER_BARE, NEVER_THE_PRICE, type Period, PRICE_OPEN, PRICE_WORDS } from "./price_words.ts";
import { findPhrases } from "../text/phrases.ts";
import { startsSentence, type Token, tokensIn } from "../text/tokens.ts";

/** The price of an offer. Amounts are in major units of `currency` (ISO 4217). `label` is the quote. */
export type PriceFound = {
  value: {
    amount: number | null;
    amount_max: number | null;
    currency: string | null;
    period: Period | "one_time" | "project" | null;
    type: "fixed" | "range" | "from" | "free" | "on_request" | "exchange";
    negotiable: boolean;
    deposit: number | null;
    label: string;
  };
  quote: string;
  basis: "stated";
  confidence: number;
};

/** The budget of an ask. `max` is the maximum or the stated amount, `min` the lower end of a range. */
export type BudgetFound = {
  value: { min: number | null; max: number | null; currency: string | null; period: Period | null };
  quote: string;
  basis: "stated";
  confidence: number;
};

type Hints = { country: string | null };

/** A text with its amounts and their roles. */
type Reading = {
  text: string;
  tokens: readonly Token[];
  roles: Role[];
  isHidden: (at: number) => boolean;
  country: string | null;
};

const read = (text: string, hints: Hints): Reading => {
  const tokens = withLocalSigns(tokensIn(text), hints.country);
  const hidden = new Uint8Array(tokens.length);
  const hide = (from: number, to: number) => hidden.fill(1, from, to);
  // Hides addresses and links: everything around "@", "www" or "://" without white space.
  tokens.forEach((token, at) => {
    if (token.text !== "@" && token.text !== "www" && !(token.text === "/" && tokens[at - 1]?.text === ":")) return;
    let from = at;
    let to = at + 1;
    while (from > 0 && tokens[from]?.gap === "none" && hidden[from - 1] === 0) from--;
    while (tokens[to]?.gap === "none" && hidden[to] === 0) to++;
    hide(from, to);
  });
  for (const run of findRuns(tokens)) {
    if (isShapedLikePhone(run) && !isDateOrAmount(tokens, run)) hide(run.from, run.to);
  }
  let at = 0;
  for (const { start, end } of findAddressedToModel(text)) {
    while ((tokens[at]?.start ?? end) < start) at++;
    const from = at;
    while ((tokens[at]?.end ?? end + 1) <= end) at++;
    hide(from, at);
  }
  const isHidden = (index: number) => hidden[index] === 1;
  return { text, tokens, roles: rolesOf(tokens, findAmounts(tokens, isHidden)), isHidden, country: hints.country };
};

const quoteFor = ({ text, tokens }: Reading, { from, to }: { from: number; to: number }): string =>
  text.slice(tokens[from]?.start, tokens[to - 1]?.end);

/** The currency of an amount: its own, otherwise that of another amount in the text, otherwise that of the country. */
const currencyFor = (amount: Amount, reading: Reading): string | null => {
  const { marker } = amount;
  if (marker !== null && marker !== ",") return resolveCurrency(marker, reading.country);
  const other = reading.roles.find((role) => role.amount.marker !== null && role.amount.marker !== ",");
  const shared = other === undefined ? null : resolveCurrency(other.amount.marker ?? "", reading.country);
  return shared ?? currencyOf(reading.country);
};

/** Smaller bare numbers between commas are ages and sizes. */
const LEAST_BETWEEN_COMMAS = 100;
/** Smaller bare numbers between dashes are not read as amounts. */
const LEAST_BETWEEN_DASHES = 20;

/**
 * True if an amount is a sentence of its own, or stands between commas or dashes: "Garmin 255, as new. 140. Bristol".
 */
const standsAlone = ({ from, to, value }: Amount, tokens: readonly Token[]): boolean => {
  const isDash = (at: number): boolean => tokens[at]?.text === "-" && tokens[at]?.gap !== "none";
  const dash = isDash(from - 1) && (isDash(to) || to >= tokens.length || startsSentence(tokens, to + 1));
  if (dash && value >= LEAST_BETWEEN_DASHES) return true;
  const comma = tokens[from - 1]?.text === "," && value >= LEAST_BETWEEN_COMMAS;
  const ends = tokens[to]?.kind === "mark" ? to + 1 : to;
  const qualified = tokens[to]?.text === "," && AFTER_BARE.has(tokens[to + 1]?.text ?? "");
  const closes =
    ends >= tokens.length || startsSentence(tokens, ends) || qualified || (comma && tokens[to]?.text === ",");
  return closes && (comma || startsSentence(tokens, from));
};

/** The evidence that an amount is money. */
const moneyScore = ({ amount, near, senses, period, bounds }: Role, wanted: boolean): number => {
  if (amount.marker !== null) return 2;
  if (near.has("restated")) return 1;
  if (near.has("ask") || near.has("negotiable") || near.has("warm") || (senses.has("ask") && !amount.aside)) return 1;
  if (near.has("today")) return 0.5;
  if (wanted && bounds.has("limit")) return 1;
  // "250-280k": in an ask, a range in thousands is money.
  if (wanted && amount.max !== null && amount.value >= 1000) return 0.5;
  return period !== null || near.has("toward") || near.has("each") ? 0.3 : -1;
};

/**
 * The score of an amount as the price of the offer, including the evidence that it is money. It rises with words for
 * the price, falls with the order of the amounts, and falls in brackets. The numbers were set by hand so that one
 * strong word outweighs the order, and the order outweighs two weak words.
 */
const headlineScore = (
  role: Role,
  index: number,
  isSentence: boolean,
  isRestated: boolean,
  isHeaded: boolean,
): number => {
  const { amount, senses, near } = role;
  let score = Math.max(moneyScore(role, false), isSentence || isRestated ? 0.5 : -1);
  if (isRestated || near.has("restated")) score += 2;
  if (senses.has("part") && isHeaded) score -= 2.4;
  // "total budget 600" beside "60 per post" is the sum of the same price.
  if (senses.has("ask")) score += senses.has("packet") ? 1 : 3;
  if (near.has("negotiable")) score += 2;
  // Less than one place in the order, because "solo" means "only" in some languages but not in all.
  if (near.has("toward")) score += 0.25;
  if (senses.has("today")) score += 1.2;
  if (senses.has("aside")) score -= role.period === "hour" ? 0 : 1.9;
  if (senses.has("warm")) score -= 1.4;
  if (senses.has("packet")) score -= 1.5;
  if (senses.has("half")) score -= 2;
  if (isSentence) score += 1;
  if (amount.aside && !isRestated) score -= 2;
  if (senses.has("with")) score -= 1;
  return score - Math.min(index, 5) * 0.3;
};

/** An amount with a lower score is not a price. */
const LEAST_SCORE = -0.5;

const isNever = (role: Role): boolean => [...role.senses].some((sense) => NEVER_THE_PRICE.has(sense));

/** Units of distance. A charge such as "25p a mile" is usually paid in addition to the price. */
const DISTANCES = new Set(
  "mile miles mi km kms kilometer kilometre kilometro chilometro quilometro kilometr".split(" "),
);

const isByDistance = ({ amount }: Role, tokens: readonly Token[]): boolean => {
  for (let at = amount.to; at <= amount.to + 2; at++) {
    // "65 € a day with 200 km" is not a price per distance.
    if (tokens[at]?.kind === "digits" || startsSentence(tokens, at)) return false;
    if (DISTANCES.has(tokens[at]?.text ?? "")) return true;
  }
  return false;
};

const YEAR = /^(?:19|20)\d\d$/u;

/** "Recapped in 2020 for $260" states what was paid in the past. */
const isOfYear = ({ amount }: Role, tokens: readonly Token[]): boolean =>
  /^(?:for|fur|pour|por|per|voor|za)$/u.test(tokens[amount.from - 1]?.text ?? "") &&
  YEAR.test(tokens[amount.from - 2]?.text ?? "");

/** Of a weekly and a daily rate, the daily rate is the price. */
const preferDay = (best: Role, candidates: readonly Role[]): Role => {
  if (best.period !== "week") return best;
  return (
    candidates.find((role) => role.period === "day" && !role.senses.has("half") && role.amount.marker !== null) ?? best
  );
};

/** Words for seasons. If the price depends on the season, the lower one is used. */
const SEASONS = new Set(
  `ns hs vs laagseizoen hoogseizoen season seasons saison saisons hauptsaison nebensaison hochsaison temporada stagione epoca seizoen hoogseizoen laagseizoen sezon sezonie sezonem peak
  rest shoulder otherwise sonst altrimenti autrement anders winter summer sommer ete hiver verano invierno estate inverno verao zomer lato zima july august
  juli juillet aout julio agosto luglio julho lipiec lipcu sierpien sierpniu jul aug ferien vacances weekdays weekends midweek`.split(
    /\s+/u,
  ),
);
const SEASON_REACH = 6;

/** True if two amounts in one sentence are the prices of two seasons. */
const isTier = ({ amount: one }: Role, { amount: other }: Role, tokens: readonly Token[]): boolean => {
  if (other.value <= one.value || other.value > one.value * 4 || other.from - one.to > SEASON_REACH) return false;
  for (let at = one.to; at <= other.from; at++) if (startsSentence(tokens, at)) return false;
  return tokens.slice(one.to, other.from).some((token) => SEASONS.has(token.text));
};

/** Of two prices for the same period in different seasons, the lower one. */
const preferLowSeason = (best: Role, candidates: readonly Role[], tokens: readonly Token[]): Role => {
  const { amount } = best;
  // In "NS 65 €, HS 110 € pro Nacht" the period is stated once for both.
  const next = candidates[candidates.indexOf(best) + 1];
  const shared =
    best.period === null && next !== undefined && next.amount.marker === amount.marker && isTier(best, next, tokens);
  if (shared) return { ...best, period: next.period };
  const { period } = best;
  if (period === null || period === "hour" || amount.marker === null) return best;
  const isSeasonal = ({ amount: { from, to } }: Role): boolean =>
    tokens.slice(Math.max(0, from - SEASON_REACH), to + SEASON_REACH).some((token) => SEASONS.has(token.text));
  if (!isSeasonal(best)) return best;
  const low = candidates.find(
    (role) =>
      role.amount.marker === amount.marker &&
      role.amount.value < amount.value &&
      role.amount.value > amount.value / 4 &&
      (role.period === period || role.period === null) &&
      !role.senses.has("half") &&
      !role.senses.has("aside") &&
      !role.near.has("each") &&
      isSeasonal(role),
  );
  return low === undefined ? best : { ...low, period };
};

/** Words that may follow a bare amount at the start of a sentence: "4,750 and I throw in the tank bag". */
const GOES_ON = new Set(
  "and und et y e en i takes gets firm ono obo cash for fur pour por per voor za fest ferme negotiable".split(" "),
);

/** True if a sentence opens with a bare number that cannot be a count. */
const opensBare = ({ amount: { from, to, value, marker } }: Role, tokens: readonly Token[]): boolean =>
  marker === null &&
  value >= LEAST_BETWEEN_DASHES &&
  startsSentence(tokens, from) &&
  GOES_ON.has(tokens[to]?.text ?? "");

/** True if no word calls the amount the price. */
const isNotCalledPrice = ({ senses, near, period, bounds }: Role): boolean =>
  !senses.has("ask") && !near.has("negotiable") && period === null && !bounds.has("from");

const headline = (reading: Reading): { role: Role; score: number; rivals: number } | null => {
  const prices = reading.roles.filter((role) => !isNever(role) && !isOfYear(role, reading.tokens));
  const whole = prices.filter((role) => !isByDistance(role, reading.tokens));
  // A driver's only price may be the one per distance.
  const driven = prices[0] === reading.roles[0] && prices[0] !== whole[0] && prices[0]?.amount.marker !== null;
  const candidates = driven && whole.every((role) => role.amount.marker === null) ? prices.slice(0, 1) : whole;
  // If the text leaves the price open, an amount that is not called the price is not used.
  const open = findPhrases(reading.tokens, PRICE_OPEN).some((hit) => !reading.isHidden(hit.from));
  let best: { role: Role; score: number } | null = null;
  const said = candidates.map((role) => {
    const { amount } = role;
    // "£150." as a sentence of its own is the price.
    const own = startsSentence(reading.tokens, amount.from);
    const alone = standsAlone(amount, reading.tokens);
    const bare = own && alone && amount.value >= LEAST_BETWEEN_DASHES && amount.period === null;
    const isSentence = (own && amount.marker !== null) || bare || opensBare(role, reading.tokens);
    return { role, alone, isSentence, isRestated: isRestatement(amount, reading.tokens) };
  });
  // If nothing else is called the price, the amounts for parts are the prices: "Tune-up $45, brakes $30".
  const isHeaded = said.some(({ role, isSentence, isRestated }) => isSentence || isRestated || role.senses.has("ask"));
  said.forEach(({ role, alone, isSentence, isRestated }, index) => {
    const score = headlineScore(role, index, isSentence, isRestated, isHeaded);
    if (open && isNotCalledPrice(role) && !(role.amount.marker !== null && (isSentence || alone))) return;
    if (score > (best?.score ?? LEAST_SCORE)) best = { role, score };
  });
  const found = best as { role: Role; score: number } | null;
  const money = candidates.filter((role) => role.amount.marker !== null);
  if (found !== null) {
    const role = preferLowSeason(preferDay(found.role, candidates), candidates, reading.tokens);
    return { role, score: found.score, rivals: money.length };
  }
  const alone = candidates.filter((role) => standsAlone(role.amount, reading.tokens));
  const only = alone[0];
  return only !== undefined && alone.length === 1 && reading.country !== null
    ? { role: only, score: 0, rivals: 0 }
    : null;
};

/** True if the price is negotiable anywhere in the text, without a negation: "nicht verhandelbar", "no offers". */
const isNegotiable = ({ tokens, isHidden }: Reading): boolean =>
  findPhrases(tokens, PRICE_WORDS).some((hit) => {
    const before = [tokens[hit.from - 1]?.text ?? "", tokens[hit.from - 2]?.text ?? ""];
    const denied = before.some((word) =>
      /^(?:not|no|non|nicht|kein|keine|ne|pas|sin|nao|niet|geen|nie|bez)$/u.test(word),
    );
    return hit.sense === "negotiable" && !denied && !isHidden(hit.from);
  });

const confidenceOf = (role: Role, score: number, rivals: number): number => {
  if (role.amount.marker === null) return role.senses.has("ask") || role.near.has("negotiable") ? 0.7 : 0.55;
  if (role.senses.has("ask") || rivals === 1) return 0.95;
  return score >= 2 ? 0.85 : 0.65;
};

/** In "Free, biscuits 50p" the amount is for something else. */
const isFreeWithExtras = (free: { from: number; to: number }, role: Role, { tokens }: Reading): boolean => {
  const { from } = role.amount;
  if (role.senses.has("ask") || from < free.to || !startsSentence(tokens, free.from)) return false;
  for (let at = free.to; at <= from; at++) if (startsSentence(tokens, at)) return false;
  return tokens[free.to]?.text === ",";
};

/** A flat price is for the whole project. */
const periodOf = (role: Role): PriceFound["value"]["period"] =>
  role.period ?? (role.near.has("flat") ? "project" : null);

/**
 * Reads the price that an offer asks or pays. Deposits, fees, former prices, running costs and the valuations of others
 * do not count.
 *
 * @param hints.country where the offer is (ISO 3166-1 alpha-2): decides what "$", "kr" and bare numbers mean
 * @returns the lower end of a range, with the upper end in `amount_max`; of several tiers the main one; 0 without a
 *   currency if the thing is free; null if no price is stated
 */
export const readPrice = (text: string, hints: Hints): PriceFound | null => {
  const reading = read(text, hints);
  const best = headline(reading);
  const free = findFree(reading.tokens, reading.isHidden);
  const deposit = reading.roles.find((role) => role.senses.has("deposit"))?.amount.value ?? null;
  if (
    free !== null &&
    (best === null ||
      (free.whole && !best.role.senses.has("ask")) ||
      isFreeWithExtras(free, best.role, reading) ||
      (free.leads && !best.role.senses.has("ask")) ||
      best.role.amount.marker === null)
  ) {
    const quote = quoteFor(reading, free);
    const value = {
      amount: 0,
      amount_max: null,
      currency: null,
      period: null,
      type: "free" as const,
      negotiable: false,
      deposit,
      label: quote,
    };
    return { value, quote, basis: "stated", confidence: free.leads ? 0.95 : 0.8 };
  }
  if (best === null) return null;
  const { role, score, rivals } = best;
  const quote = quoteFor(reading, role.amount);
  const open = role.bounds.has("from") || reading.tokens[role.amount.to]?.text === "+";
  return {
    value: {
      amount: role.amount.value,
      amount_max: role.amount.max,
      currency: currencyFor(role.amount, reading),
      period: periodOf(role),
      type: role.amount.max !== null ? "range" : open ? "from" : "fixed",
      negotiable: isNegotiable(reading),
      deposit,
      label: quote,
    },
    quote,
    basis: "stated",
    confidence: confidenceOf(role, score, rivals),
  };
};

const budgetScore = (role: Role, index: number): number => {
  let score = moneyScore(role, true);
  if (role.bounds.has("limit")) score += 3;
  if (role.senses.has("ask")) score += 2;
  if (role.amount.aside) score -= 1;
  return score - Math.min(index, 5) * 0.3;
};

/**
 * Reads what an ask would pay at most: a maximum, a budget, or the stated amount. It does not check whether the ask
 * wants to pay: in an ask to sell it returns the amount that the author hopes for.
 *
 * @param hints.country where it is wanted (ISO 3166-1 alpha-2)
 * @returns the ends of a range in `min` and `max`; for "about X" and plain amounts X in `max`; for "at least X" X in
 *   `min`
 */
export const readBudget = (text: string, hints: Hints): BudgetFound | null => {
  const reading = read(text, hints);
  let best: { role: Role; score: number } | null = null;
  reading.roles
    // A limit is a maximum even if it is for a fee: "below £100 call-out included".
    .filter((role) => (role.bounds.has("limit") || !isNever(role)) && !isByDistance(role, reading.tokens))
    .forEach((role, index) => {
      const score = budgetScore(role, index);
      if (score > (best?.score ?? 0)) best = { role, score };
    });
  const found = best as { role: Role; score: number } | null;
  if (found === null) return null;
  const { amount, bounds, period } = found.role;
  const least = bounds.has("from") && !bounds.has("limit") && amount.max === null;
  return {
    value: {
      min: least || amount.max !== null ? amount.value : null,
      max: least ? null : (amount.max ?? amount.value),
      currency: currencyFor(amount, reading),
      period,
    },
    quote: quoteFor(reading, amount),
    basis: "stated",
    confidence: amount.marker !== null ? 0.9 : bounds.has("limit") ? 0.75 : 0.55,
  };
};
