import { rowsOf } from "./rows.ts";

/**
 * The languages of the market, and what code has to know of each. Their words are rows of db/data: label.tsv and
 * money_word.tsv. How to add one stands in .github/CONTRIBUTING.md.
 */

/** What distinguishes a language. */
export type Language = {
  /**
   * Letters by which the language is recognised, before folding: few other languages have them. Those of its script, if no
   * other language of the market has it. Null if there are none.
   */
  letters: RegExp | null;
  /** Letters that the language never has, although it has the others: with kana, Chinese signs are Japanese. */
  foreign?: RegExp;
  /** Whether compounds are written as one word: "Dachgeschosswohnung" is a "Wohnung". */
  compounds: boolean;
  /** Whether the last noun of a compound says what it is, also if it is written apart: "camera bag". */
  headLast: boolean;
  /** The endings that are cut from words, so that their forms meet; longest first. */
  endings: readonly string[];
  /** The country that most texts of the language are from (ISO 3166-1 alpha-2). Null if there are several. */
  country: string | null;
};

/** By ISO 639-1 code, as `reading.languages()` in SQL. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: { letters: null, compounds: false, headLast: true, endings: "'s es s".split(" "), country: null },
  de: {
    letters: /[äß]/giu,
    compounds: true,
    headLast: true,
    endings: "ern en er es em n e s".split(" "),
    country: "DE",
  },
  fr: { letters: /[êœûîë]/giu, compounds: false, headLast: false, endings: "es s x e".split(" "), country: "FR" },
  es: { letters: /[ñ¿¡]/giu, compounds: false, headLast: false, endings: "es as os s a o e".split(" "), country: null },
  it: { letters: /[ìò]/giu, compounds: false, headLast: false, endings: "hi he i e a o".split(" "), country: "IT" },
  pt: { letters: /[ãõ]/giu, compounds: false, headLast: false, endings: "es as os s a o e".split(" "), country: null },
  nl: { letters: null, compounds: true, headLast: true, endings: "en es s e".split(" "), country: "NL" },
  pl: {
    letters: /[łąężśćń]/giu,
    compounds: false,
    headLast: false,
    endings: "ami ach ego emu ymi imi iem ow om em ej ym ych ich im ie ia iu a e i o u y".split(" "),
    country: "PL",
  },
  zh: {
    letters: /\p{Script=Han}/gu,
    foreign: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
    compounds: false,
    headLast: true,
    endings: [],
    country: "CN",
  },
  ja: {
    letters: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu,
    compounds: false,
    headLast: true,
    endings: [],
    country: "JP",
  },
  ko: { letters: /\p{Script=Hangul}/gu, compounds: false, headLast: true, endings: [], country: "KR" },
  sv: {
    letters: /[åä]/giu,
    compounds: true,
    headLast: true,
    endings: "heterna heten heter arna erna orna aren het ar or er en et an na a e n t s".split(" "),
    country: "SE",
  },
  da: {
    letters: /[æø]/giu,
    compounds: true,
    headLast: true,
    endings: "heder hed erne ene ers ens er en et es e s t".split(" "),
    country: "DK",
  },
  cs: {
    letters: /[ěřůčšťďň]/giu,
    compounds: false,
    headLast: false,
    endings: "ami emi ach ich ych eho emu ovi ou um em im ym ej mi a e i o u y".split(" "),
    country: "CZ",
  },
  ro: {
    letters: /[ășțţ]/giu,
    compounds: false,
    headLast: false,
    endings: "urilor elor ilor ului urile uri ele ile lor ul ei le a e i u".split(" "),
    country: "RO",
  },
  tr: {
    letters: /[ğışİ]/giu,
    compounds: false,
    headLast: true,
    endings: "larini lerini lari leri lar ler nin nun dan den tan ten da de ta te si su yi yu a e i u m".split(" "),
    country: "TR",
  },
  ru: {
    letters: /[ыэъё]/giu,
    compounds: false,
    headLast: false,
    endings:
      "ами ями ого его ому ему ыми ими ах ях ов ев ей ой ом ем ам ям ый ий ая яя ое ее ые ие ую юю а я о е ы и у ю ь й".split(
        " ",
      ),
    country: "RU",
  },
  uk: {
    letters: /[іїєґ]/giu,
    compounds: false,
    headLast: false,
    endings:
      "ами ями ого його ому ьому ими іми ах ях ові еві ів їв ей ою ею ій ом ем ам ям ий а я о е є и і ї у ю ь й".split(
        " ",
      ),
    country: "UA",
  },
  ar: {
    letters: /\p{Script=Arabic}/gu,
    compounds: false,
    headLast: false,
    endings: "ات ين ون ان ها هم نا ي ه".split(" "),
    country: null,
  },
  hi: {
    letters: /\p{Script=Devanagari}/gu,
    compounds: false,
    headLast: false,
    endings: "ियों ियां ाओं ों ें ीं ां े ी ा ि ो".split(" "),
    country: "IN",
  },
};

/** What a word for numbers or money does (db/data/README.md). */
type Role =
  | "number"
  | "factor"
  | "sum"
  | "round"
  | "magnitude"
  | "short_magnitude"
  | "local_magnitude"
  | "article"
  | "joiner"
  | "inner_joiner"
  | "range"
  | "weak_range"
  | "before_range"
  | "half"
  | "not_alone"
  | "currency"
  | "money_magnitude"
  | "suggested_currency"
  | "unit"
  | "unit_phrase"
  | "unit_before"
  | "per"
  | "per_article"
  | "beside_unit";

/** A word for numbers or money. A word of another script or a sign is of no language: "". */
type MoneyWord = { language: string; role: Role; value: string; word: string };

const MONEY_WORDS = rowsOf<keyof MoneyWord>("money_word.tsv") as MoneyWord[];

/** The words of a role, in all languages, with their values. No number word of one language has another value in another. */
export const moneyWords = (role: Role): MoneyWord[] => MONEY_WORDS.filter((one) => one.role === role);

/** The words of a role, in all languages. */
export const wordsFor = (role: Role): Set<string> => new Set(moneyWords(role).map(({ word }) => word));

/** More than any position of a country. */
const LAST = 1000;

/** A country, and what it says of texts: its currency, its official languages among those of the market. */
export type Country = {
  /** ISO 3166-1 alpha-2. */
  country: string;
  /** ISO 4217. */
  currency: string;
  /** A word that means the currency only there, beside digits: "R 500". "" if there is none. */
  sign: string;
  /** Whether a text with the currency is probably from the country. */
  isHome: boolean;
  /** Most spoken first. Only countries from which most texts are have some. */
  languages: readonly string[];
};

/**
 * The countries whose people are likely to write here. First those from which most texts are, in the order in which texts
 * are to be expected. Texts from other countries are read as well, but a language or a name alone does not suggest them.
 */
export const COUNTRIES: readonly Country[] = rowsOf<
  "country" | "currency" | "sign" | "is_home" | "languages" | "position"
>("country.tsv")
  // A country without a position comes after the others.
  .toSorted((one, other) => (Number(one.position) || LAST) - (Number(other.position) || LAST))
  .map(({ country, currency, sign, is_home, languages }) => ({
    country,
    currency,
    sign,
    isHome: is_home === "true",
    languages: languages.match(/[a-z]{2}/g) ?? [],
  }));

const byCode = new Map(COUNTRIES.map((country) => [country.country, country]));

/** The countries from which most texts are. */
const MARKET: readonly string[] = COUNTRIES.flatMap(({ country, languages }) =>
  languages.length > 0 ? [country] : [],
);

/** The languages of a country of the market, most spoken first. None for other countries. */
export const languagesOf = (country: string | null): readonly string[] => byCode.get(country ?? "")?.languages ?? [];

/** The word that means money only in a country, and the currency; null if there is none. */
export const localSignOf = (country: string | null): Pick<Country, "sign" | "currency"> | null => {
  const found = byCode.get(country ?? "");
  return found === undefined || found.sign === "" ? null : found;
};

/** The currency of a country (ISO 3166-1 alpha-2), or null. */
export const currencyOf = (country: string | null): string | null => byCode.get(country ?? "")?.currency ?? null;

/** The countries of the market in which a language is official, first those in which it is spoken most. */
export const countriesOf = (language: string): string[] =>
  MARKET.filter((country) => languagesOf(country).includes(language)).sort(
    (one, other) => languagesOf(one).indexOf(language) - languagesOf(other).indexOf(language),
  );

/** The country that a text of a language is probably from, or null. */
export const countryOfLanguage = (language: string | null): string | null => LANGUAGES[language ?? ""]?.country ?? null;
