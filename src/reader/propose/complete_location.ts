import type { OfferExtraction } from "../extraction.ts";
import { tokensIn } from "../text/tokens.ts";
import type { Gazetteer } from "./gazetteer.ts";
import { namesIn, type PlaceHints, resolvePlace } from "./place_choice.ts";
import { findPlaces } from "./places.ts";

/** Completes a location with what the gazetteer says about the place that it names. */

type Location = NonNullable<OfferExtraction["location"]>["value"];

/** A place that is less sure than this may be any of several, so nothing is said about it. */
const MIN_CONFIDENCE = 0.5;

/**
 * Adds country, region, city and point to a location. What the location states itself stays; a place in another country
 * adds nothing.
 * @param text the text that the location is from, whose other places say which place is meant
 */
export const completeLocation = (
  gazetteer: Gazetteer,
  text: string,
  location: Location,
  hints: Omit<PlaceHints, "others"> = {},
): Location => {
  const start = text.indexOf(location.text);
  const tokens = tokensIn(start < 0 ? location.text : text);
  const from = Math.max(start, 0);
  const hits = findPlaces(gazetteer, tokens);
  const end = from + location.text.length;
  const range = {
    from: tokens.findIndex((token) => token.start >= from),
    to: tokens.findLastIndex((token) => token.end <= end) + 1,
  };
  const countries = location.country === null ? hints.phoneCountries : [location.country];
  const place = resolvePlace(gazetteer, namesIn(tokens, hits, range), {
    ...hints,
    phoneCountries: countries ?? [],
    others: hits,
  });
  if (place === null || place.confidence < MIN_CONFIDENCE) return location;
  if (location.country !== null && location.country !== place.country) return location;
  return {
    ...location,
    country: location.country ?? place.country,
    region: location.region ?? place.region,
    city: location.city ?? place.city,
    point: place.point,
  };
};
