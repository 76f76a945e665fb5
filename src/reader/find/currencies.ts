import { compilePhrases, phraseAt } from "../text/phrases.ts";
import type { Token } from "../text/tokens.ts";
import { GRAMMARS } from "./languages/all.ts";

/**
 * Currencies as people write them, and the meaning of ambiguous signs by country.
 *
 * A marker is an ISO 4217 code or one of these ambiguous signs: "$" (dollars or pesos), "pesos", "kr" (crowns), "dh"
 * (dirhams), "¥" (yen or yuan), "," (the dash of "450,-": an amount in the local currency), "¢" (hundredths of the
 * local currency).
 */
export type Marker = string;

/** Signs and codes, the same in every language. The names of currencies are in languages/. */
const SIGNS: Readonly<Record<string, string>> = {
  EUR: "€ | eur | euro | euros",
  GBP: "£ | gbp",
  USD: "usd | us$ | us $ | u$s",
  CAD: "cad | c$ | ca$ | cad$ | can$",
  AUD: "aud | a$ | au$ | aud$",
  NZD: "nzd | nz$",
  SGD: "sgd | s$",
  HKD: "hkd | hk$",
  MXN: "mxn | mx$",
  ARS: "ars | ar$",
  COP: "cop",
  CLP: "clp",
  UYU: "uyu",
  CHF: "chf | sfr | fr. | chf.",
  PLN: "zł | zl | pln",
  CZK: "kč | kc | czk",
  HUF: "huf | forint | forints",
  RON: "ron | lei",
  SEK: "sek | kronor | spann | krona",
  NOK: "nok | kroner norske",
  DKK: "dkk",
  ISK: "isk",
  BRL: "r$ | brl",
  JPY: "jpy | yen | 円",
  CNY: "cny | rmb | yuan | 元",
  INR: "₹ | inr",
  TRY: "₺ | tl",
  UAH: "₴ | uah | грн | гривень",
  RUB: "₽ | rub | руб | рубль | рубля | рублей",
  KRW: "₩ | krw | 원",
  ILS: "₪ | nis",
  ZAR: "zar | rand",
  AED: "aed",
  EGP: "egp | جنيه",
  MYR: "myr | ringgit",
  PHP: "₱ | php",
  THB: "฿ | thb | baht",
  VND: "₫ | vnd",
  KES: "kes | ksh | kshs",
  NGN: "₦ | ngn | naira",
  GHS: "₵ | ghs | cedis",
  TWD: "nt$ | twd",
  RSD: "rsd | dinara",
  PEN: "s/.",
  CRC: "₡",
  PYG: "₲",
  DOP: "rd$",
  XOF: "fcfa",
  KZT: "₸",
  GEL: "₾",
  dh: "dirhams | dirham",
  $: "$",
  kr: "kr. | kr | kroner",
  "¥": "¥ | ￥",
  "¢": "¢",
};

const WORDS = compilePhrases(
  Object.fromEntries(
    [...new Set([SIGNS, ...GRAMMARS.map(({ currencies }) => currencies)].flatMap(Object.keys))].map((marker) => [
      marker,
      [SIGNS[marker] ?? "", ...GRAMMARS.map(({ currencies }) => currencies[marker] ?? "")].join(" | "),
    ]),
  ),
);

/** The meaning of "$" by country. */
const DOLLARS: Readonly<Record<string, string>> = {
  US: "USD",
  CA: "CAD",
  AU: "AUD",
  NZ: "NZD",
  SG: "SGD",
  HK: "HKD",
  TW: "TWD",
  MX: "MXN",
  AR: "ARS",
  CL: "CLP",
  CO: "COP",
  UY: "UYU",
  DO: "DOP",
  JM: "JMD",
  TT: "TTD",
  BB: "BBD",
  BS: "BSD",
  FJ: "FJD",
  GU: "USD",
  PR: "USD",
  EC: "USD",
  SV: "USD",
  PA: "USD",
  ZW: "USD",
  BM: "BMD",
  PH: "PHP",
  CU: "CUP",
  NA: "NAD",
};

const CROWNS: Readonly<Record<string, string>> = { SE: "SEK", NO: "NOK", DK: "DKK", IS: "ISK", FO: "DKK", GL: "DKK" };

/** The currency of a country, for the countries whose people are likely to write here. */
const OF_COUNTRY: Readonly<Record<string, string>> = {
  ...DOLLARS,
  ...CROWNS,
  ...Object.fromEntries(
    "AT BE CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK MC SM VA AD ME XK RE GP MQ"
      .split(" ")
      .map((country) => [country, "EUR"]),
  ),
  GB: "GBP",
  IM: "GBP",
  JE: "GBP",
  GG: "GBP",
  CH: "CHF",
  LI: "CHF",
  PL: "PLN",
  CZ: "CZK",
  HU: "HUF",
  RO: "RON",
  BG: "EUR",
  BR: "BRL",
  JP: "JPY",
  CN: "CNY",
  IN: "INR",
  TR: "TRY",
  UA: "UAH",
  RU: "RUB",
  KR: "KRW",
  IL: "ILS",
  ZA: "ZAR",
  AE: "AED",
  PE: "PEN",
  EC: "USD",
  SV: "USD",
  PR: "USD",
  AO: "AOA",
  MZ: "MZN",
  MA: "MAD",
  EG: "EGP",
  TH: "THB",
  ID: "IDR",
  MY: "MYR",
  PH: "PHP",
  VN: "VND",
  KE: "KES",
  RS: "RSD",
  BA: "BAM",
  AL: "ALL",
  MK: "MKD",
  GE: "GEL",
  AM: "AMD",
  LK: "LKR",
  NP: "NPR",
  PK: "PKR",
  BD: "BDT",
  TN: "TND",
  JO: "JOD",
  GH: "GHS",
  TZ: "TZS",
  UG: "UGX",
  SN: "XOF",
  CI: "XOF",
  BW: "BWP",
  CV: "CVE",
  NC: "XPF",
  PF: "XPF",
  CR: "CRC",
  GT: "GTQ",
  BO: "BOB",
  PY: "PYG",
  NG: "NGN",
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

/** Signs that mean money in only one country: the word before or after digits, and its code. */
const LOCAL_SIGNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ZA: { r: "zar" },
  ZM: { k: "zmw" },
  GT: { q: "gtq" },
  MY: { rm: "myr" },
  IN: { rs: "inr" },
  HU: { ft: "huf" },
};

/** Replaces the local currency signs of a country by their codes, so that the other functions recognise them. */
export const withLocalSigns = (tokens: readonly Token[], country: string | null): readonly Token[] => {
  const signs = LOCAL_SIGNS[country ?? ""];
  if (signs === undefined) return tokens;
  return tokens.map((token, at) => {
    const code = token.kind === "word" ? signs[token.text] : undefined;
    const beside = tokens[at + 1]?.kind === "digits" || tokens[at - 1]?.kind === "digits";
    return code === undefined || !beside ? token : { ...token, text: code };
  });
};

/** The currency of a country (ISO 3166-1 alpha-2), or null. */
export const currencyOf = (country: string | null): string | null => OF_COUNTRY[country ?? ""] ?? null;

/**
 * The ISO 4217 code of a marker in a country. "$" is USD if the country has no dollars or pesos of its own, or is
 * unknown. "¥" is JPY outside China. "kr" is null unless the country has crowns.
 */
export const resolveCurrency = (marker: Marker, country: string | null): string | null => {
  const here = country ?? "";
  if (marker === "$") return DOLLARS[here] ?? "USD";
  if (marker === "pesos") return DOLLARS[here] ?? null;
  if (marker === "dh") return here === "MA" ? "MAD" : "AED";
  if (marker === "kr") return CROWNS[here] ?? null;
  if (marker === "¥") return here === "CN" ? "CNY" : "JPY";
  if (marker === ",") return currencyOf(country);
  if (marker === "¢") return currencyOf(country) ?? "USD";
  return marker;
};

/** What each ambiguous sign can mean, in any country. */
const MEANINGS: Readonly<Record<Marker, readonly string[]>> = {
  $: ["USD", ...Object.values(DOLLARS)],
  pesos: Object.values(DOLLARS),
  dh: ["MAD", "AED"],
  kr: Object.values(CROWNS),
  "¥": ["JPY", "CNY"],
};

/** The currencies that a marker can mean; null for the dash and the cent, which are written in every currency. */
export const meaningsOf = (marker: Marker): readonly string[] | null =>
  marker === "," || marker === "¢" ? null : (MEANINGS[marker] ?? [marker]);

/** True if people of a country may mean their own currency by a marker: "$" is written for Canadian dollars, too. */
export const isCurrencyOf = (marker: Marker, country: string): boolean => {
  const own = currencyOf(country);
  // The dash and the cent are written in every currency.
  return own !== null && marker !== "," && marker !== "¢" && resolveCurrency(marker, country) === own;
};

/** Countries whose currency no other country has, by marker, and those that most texts with the marker are from. */
const COUNTRY_OF: Readonly<Record<string, string>> = {
  GBP: "GB",
  PLN: "PL",
  BRL: "BR",
  CHF: "CH",
  CAD: "CA",
  AUD: "AU",
  NZD: "NZ",
  CZK: "CZ",
  MXN: "MX",
  INR: "IN",
  ZAR: "ZA",
  JPY: "JP",
  SEK: "SE",
  NOK: "NO",
  DKK: "DK",
};

/** The country that a currency suggests in a text of a language, or null. */
export const countryOfCurrency = (marker: Marker, language: string | null): string | null => {
  const own = COUNTRY_OF[marker];
  if (own !== undefined) return own;
  if (marker === "$" && language === "en") return "US";
  return marker === "EUR" && (language === "es" || language === "pt") ? language.toUpperCase() : null;
};
