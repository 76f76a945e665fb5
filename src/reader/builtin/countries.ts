/** The language of a country, and the country that a language suggests. ISO 3166-1 alpha-2 and ISO 639-1. */

/** The language of a country, for texts too short to detect one. Countries with several languages are left out. */
const LANGUAGE_OF: ReadonlyMap<string, string> = new Map([
  ...["US", "GB", "IE", "AU", "NZ"].map((country) => [country, "en"] as const),
  ...["DE", "AT"].map((country) => [country, "de"] as const),
  ...["ES", "MX", "AR", "CL", "CO", "UY", "PE"].map((country) => [country, "es"] as const),
  ...["PT", "BR"].map((country) => [country, "pt"] as const),
  ["FR", "fr"],
  ["IT", "it"],
  ["NL", "nl"],
  ["PL", "pl"],
]);

/** The language of a country. Null if it has several, or none of the eight supported ones. */
export const languageOf = (country: string | null): string | null => LANGUAGE_OF.get(country ?? "") ?? null;

/** The languages that mostly are written in the country of their code. English, Spanish and Portuguese are not. */
const OF_ONE_COUNTRY: ReadonlySet<string> = new Set(["de", "it", "nl", "pl", "fr"]);

/** The country that a text of a language is probably from, or null. */
export const countryOfLanguage = (language: string | null): string | null =>
  language !== null && OF_ONE_COUNTRY.has(language) ? language.toUpperCase() : null;
