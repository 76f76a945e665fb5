import type { Hit } from "./lexicon.ts";
import { STATE_CODES } from "./place_words.ts";
import type { Token } from "./tokens.ts";

/** Countries: of a place, of a text, and what is spoken there. ISO 3166-1 alpha-2. */

/** The first half of a British postal code: "S11", "SE6", "E1W". */
export const UK_POSTCODE = /^[a-z]{1,2}\d{1,2}[a-z]?$/;

/** Places of the vocabulary below this weight are words too ("Nice", "Bath") and need something that makes them places. */
export const SURE_PLACE = 2;

/** The country that a term of geography lies in. */
const countryOfHit = ({ value }: Hit): string => value.slice(0, 2);

/** The country of a place by its own words (`tokens`) and the terms among them, surest first. */
export const countryOf = (tokens: readonly Token[], inside: readonly Hit[]): string | null => {
  const last = tokens.at(-1)?.folded ?? "";
  if (tokens.length > 1 && STATE_CODES.has(last)) return STATE_CODES.get(last) ?? null;
  const named = inside.find((hit) => hit.family === "country") ?? inside.find((hit) => hit.family === "region");
  if (named !== undefined) return countryOfHit(named);
  const city = inside.toSorted((a, b) => b.weight - a.weight)[0];
  if (city !== undefined) return countryOfHit(city);
  return tokens.length > 1 && UK_POSTCODE.test(last) ? "GB" : null;
};

/** The country that a text as a whole speaks of: its places, else its money, else its language. For phone numbers and prices. */
export const guessCountry = (
  text: string,
  hits: readonly Hit[],
  place: { country: string | null } | null,
  language: string | null,
): string | null => {
  if (place?.country) return place.country;
  const named = hits.find(
    (hit) =>
      (hit.family === "place" || hit.family === "region" || hit.family === "city") && hit.weight >= SURE_PLACE - 0.5,
  );
  if (named !== undefined) return countryOfHit(named);
  if (/£|\bGBP\b|\bquid\b/.test(text)) return "GB";
  if (/zł|\bPLN\b/i.test(text)) return "PL";
  if (/R\$|\bBRL\b/.test(text)) return "BR";
  if (/C\$|\bCAD\b/.test(text)) return "CA";
  if (/A\$|\bAUD\b/.test(text)) return "AU";
  if (/\bCHF\b/.test(text)) return "CH";
  const euro = /€|\beuros?\b|\bEUR\b/i.test(text);
  if (language === "de" || language === "it" || language === "nl" || language === "pl" || language === "fr")
    return language.toUpperCase();
  if (euro && (language === "es" || language === "pt")) return language.toUpperCase();
  return /\$/.test(text) && language === "en" ? "US" : null;
};

/** What is spoken where, for texts too short to tell; countries of several languages are left out. */
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

/** The language of a country, null where there are several or it is none of the eight. */
export const languageOf = (country: string | null): string | null => LANGUAGE_OF.get(country ?? "") ?? null;
