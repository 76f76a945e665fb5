import type { Word } from "../text/tokens.ts";
import type { Hit } from "./lexicon.ts";
import { STATE_CODES } from "./place_words.ts";

/** Derives the country (ISO 3166-1 alpha-2) of a place or a text, and the language of a country. */

/** The first half of a British postal code: "S11", "SE6", "E1W". */
export const UK_POSTCODE = /^[a-z]{1,2}\d{1,2}[a-z]?$/;

/**
 * Place terms with a lower weight are also ordinary words ("Nice", "Bath"). They need further evidence to count as a
 * place.
 */
export const SURE_PLACE = 2;

/** The country of a geographic term. */
const countryOfHit = ({ value }: Hit): string => value.slice(0, 2);

/**
 * The country of a place, from its words (`tokens`) and the geographic terms among them. The most certain evidence
 * comes first.
 */
export const countryOf = (tokens: readonly Word[], inside: readonly Hit[]): string | null => {
  const last = tokens.at(-1)?.folded ?? "";
  if (tokens.length > 1 && STATE_CODES.has(last)) return STATE_CODES.get(last) ?? null;
  const named = inside.find((hit) => hit.family === "country") ?? inside.find((hit) => hit.family === "region");
  if (named !== undefined) return countryOfHit(named);
  const city = inside.toSorted((a, b) => b.weight - a.weight)[0];
  if (city !== undefined) return countryOfHit(city);
  return tokens.length > 1 && UK_POSTCODE.test(last) ? "GB" : null;
};

/**
 * The country of a whole text, for phone numbers and prices: that of its places, otherwise of its currency, otherwise
 * of its language.
 */
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
