/**
 * The countries from which most texts are, with their languages. Texts from other countries are read as well, but a
 * language or a name alone does not suggest them. ISO 3166-1 alpha-2 and ISO 639-1.
 */

/**
 * The official languages of each country, as far as they are among the eight supported ones, most spoken first. The order
 * of the countries of a language is that of the texts to be expected. From GeoNames (https://www.geonames.org, its
 * countryInfo.txt), CC BY 4.0; the choice and the order of the countries are the authors'.
 */
const LANGUAGES: ReadonlyMap<string, readonly string[]> = new Map(
  `US en | GB en | IE en | AU en | NZ en | CA en fr | DE de | AT de | CH de fr it | FR fr | NL nl | BE nl fr de | LU de fr |
   ES es | MX es | AR es | CO es | CL es | UY es | PE es | IT it | PT pt | BR pt | PL pl`
    .split("|")
    .map((row) => row.trim().split(" "))
    .map(([country = "", ...languages]) => [country, languages] as const),
);

/** The countries from which most texts are. */
export const MARKET: readonly string[] = [...LANGUAGES.keys()];

/** The languages of a country of the market, most spoken first. None for other countries. */
export const languagesOf = (country: string | null): readonly string[] => LANGUAGES.get(country ?? "") ?? [];

/** The countries of the market in which a language is official, first those in which it is spoken most. */
export const countriesOf = (language: string): string[] =>
  MARKET.filter((country) => languagesOf(country).includes(language)).sort(
    (one, other) => languagesOf(one).indexOf(language) - languagesOf(other).indexOf(language),
  );

/** The languages that mostly are written in the country of their code. English, Spanish and Portuguese are not. */
const OF_ONE_COUNTRY: ReadonlySet<string> = new Set(["de", "it", "nl", "pl", "fr"]);

/** The country that a text of a language is probably from, or null. */
export const countryOfLanguage = (language: string | null): string | null =>
  language !== null && OF_ONE_COUNTRY.has(language) ? language.toUpperCase() : null;
