import { COUNTRIES, currencyOf, localSignOf, moneyWords } from "../languages.ts";
import { fold } from "../text/fold.ts";
import { compilePhrases, phraseAt } from "../text/phrases.ts";
import type { Token } from "../text/tokens.ts";

/**
 * Currencies as people write them, and the meaning of ambiguous signs by country. Codes and names are rows of
 * money_word.tsv; signs are those of the CLDR, which Intl has.
 *
 * A marker is an ISO 4217 code or one of these ambiguous signs: "$" (dollars or pesos), "pesos", "kr" (crowns), "dh"
 * (dirhams), "riyal", "dinar", "¥" (yen or yuan), "," (the dash of "450,-": an amount in the local currency), "¢" (hundredths of the
 * local currency).
 */
export type Marker = string;

/** The short sign of a currency in the CLDR: "$" for many, "CHF" for one. */
const signOf = (currency: string): string =>
  new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay: "narrowSymbol" })
    .formatToParts(0)
    .find(({ type }) => type === "currency")?.value ?? currency;
const SIGNS = new Map(Array.from(new Set(COUNTRIES.map(({ currency }) => currency)), (one) => [one, signOf(one)]));

/** The currencies that a sign stands for, as far as several do. */
const sharing = (sign: string): string[] => [...SIGNS].flatMap(([currency, own]) => (own === sign ? [currency] : []));

/** What each ambiguous sign can mean, in any country, and what it means in a country without such a currency. */
const AMBIGUOUS: Readonly<Record<Marker, { meanings: readonly string[]; elsewhere: string | null }>> = {
  $: { meanings: [...sharing("$"), "PHP"], elsewhere: "USD" },
  pesos: { meanings: [...sharing("$"), "PHP"], elsewhere: null },
  kr: { meanings: sharing("kr"), elsewhere: null },
  "¥": { meanings: sharing("¥"), elsewhere: "JPY" },
  dh: { meanings: ["MAD", "AED"], elsewhere: "AED" },
  riyal: { meanings: ["SAR", "QAR", "OMR", "YER"], elsewhere: "SAR" },
  dinar: { meanings: ["KWD", "JOD", "BHD", "IQD", "TND", "DZD", "LYD"], elsewhere: null },
};

/** Signs of one currency only, without letters: "€", "₹". */
const ownSigns = [...SIGNS].filter(([, sign]) => /^\p{Sc}$/u.test(sign) && sharing(sign).length === 1);

const WORDS = compilePhrases<Marker>([
  ...moneyWords("currency").map(({ value, word }) => ({ form: word, sense: value })),
  ...ownSigns.map(([currency, sign]) => ({ form: sign, sense: currency })),
]);

/** The currency of each name that stands for one alone. */
const NAMES = new Map([
  ...moneyWords("currency").map(({ word, value }) => [word, value] as const),
  ...ownSigns.map(([currency, sign]) => [sign, currency] as const),
]);

/** Returns the ISO 4217 code for a name of one currency, such as "eur", "€", "zł" or "euros"; null if it names none alone. */
export const currencyNamed = (name: string): string | null => {
  const plain = name.normalize("NFKC").trim();
  if (/^[a-z]{3}$/i.test(plain)) return NAMES.get(plain.toLowerCase()) ?? plain.toUpperCase();
  const code = NAMES.get(fold(plain)) ?? NAMES.get(plain.toLowerCase());
  return code !== undefined && /^[A-Z]{3}$/.test(code) ? code : null;
};

/** A currency at token `at`. "A$" is one, "a $" is not. */
const hitAt = (tokens: readonly Token[], at: number) => {
  const hit = phraseAt(tokens, at, WORDS);
  if (hit === null) return null;
  const inner = tokens.slice(at + 1, hit.to);
  if (inner.every((token) => token.kind === "word" || token.gap === "none")) return hit;
  const sign = tokens[at]?.kind === "mark";
  return sign ? { sense: hit.sense, from: at, to: at + 1 } : null;
};

/** The currency at token `at` and the token after it. Null if there is none. */
export const currencyAt = (tokens: readonly Token[], at: number): { marker: Marker; to: number } | null => {
  const hit = hitAt(tokens, at);
  return hit === null ? null : { marker: hit.sense, to: hit.to };
};

/** The currency that ends directly before token `end`, at most three tokens long. Null if there is none. */
export const currencyBefore = (tokens: readonly Token[], end: number): { marker: Marker; from: number } | null => {
  for (let from = Math.max(0, end - 3); from < end; from++) {
    const hit = hitAt(tokens, from);
    // It must not belong to another amount: in "5€ 20" there is no "€20".
    if (hit?.to === end && tokens[from - 1]?.kind !== "digits") return { marker: hit.sense, from };
    if (hit?.to === end && tokens[from]?.gap !== "none") return { marker: hit.sense, from };
  }
  return null;
};

/** Replaces the sign of a country by the code of its currency, so that the other functions recognise it. */
export const withLocalSigns = (tokens: readonly Token[], country: string | null): readonly Token[] => {
  const local = localSignOf(country);
  if (local === null) return tokens;
  return tokens.map((token, at) => {
    const beside = tokens[at + 1]?.kind === "digits" || tokens[at - 1]?.kind === "digits";
    return token.text === local.sign && beside ? { ...token, text: local.currency.toLowerCase() } : token;
  });
};

/**
 * The ISO 4217 code of a marker in a country. "$" is USD if the country has no dollars or pesos of its own, or is
 * unknown. "¥" is JPY outside China. "kr" is null unless the country has crowns.
 */
export const resolveCurrency = (marker: Marker, country: string | null): string | null => {
  const own = currencyOf(country);
  if (marker === ",") return own;
  if (marker === "¢") return own ?? "USD";
  const ambiguous = AMBIGUOUS[marker];
  if (ambiguous === undefined) return marker;
  return own !== null && ambiguous.meanings.includes(own) ? own : ambiguous.elsewhere;
};

/** The currencies that a marker can mean; null for the dash and the cent, which are written in every currency. */
export const meaningsOf = (marker: Marker): readonly string[] | null =>
  marker === "," || marker === "¢" ? null : (AMBIGUOUS[marker]?.meanings ?? [marker]);

/** True if people of a country may mean their own currency by a marker: "$" is written for Canadian dollars, too. */
export const isCurrencyOf = (marker: Marker, country: string): boolean => {
  const own = currencyOf(country);
  // The dash and the cent are written in every currency.
  return own !== null && marker !== "," && marker !== "¢" && resolveCurrency(marker, country) === own;
};

/** The country that a currency suggests in a text of a language, or null. */
export const countryOfCurrency = (marker: Marker, language: string | null): string | null => {
  const home = COUNTRIES.find(({ currency, isHome }) => isHome && currency === marker);
  if (home !== undefined) return home.country;
  if (marker === "$" && language === "en") return "US";
  return marker === "EUR" && (language === "es" || language === "pt") ? language.toUpperCase() : null;
};
