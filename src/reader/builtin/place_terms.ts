import { type Gazetteer, wordsOfName } from "../find/gazetteer.ts";
import { resolvePlace } from "../find/place_choice.ts";
import type { KnownPlace } from "../find/place_spans.ts";
import type { PlaceHit } from "../find/places.ts";
import type { Word } from "../text/tokens.ts";
import type { Hit } from "./lexicon.ts";

/** Gives the places of a text as terms, as the classifier and the search for the location (places.ts) use them. */

/** A name that means a place; a name that is also a word. */
const NAME_WEIGHT = 3;
const WORD_WEIGHT = 1;

/** By position, as terms are ordered. */
export const byPosition = (a: Hit, b: Hit): number => a.from - b.from || a.to - b.to;

/** What a name says, in the families of terms. */
const termOf = (
  gazetteer: Gazetteer,
  hit: PlaceHit,
  all: readonly PlaceHit[],
): Pick<Hit, "family" | "value"> | null => {
  const resolved = resolvePlace(gazetteer, [hit], { others: all });
  const { country, city, region } = resolved ?? {};
  if (country === undefined || country === null) return null;
  if (city != null) return { family: "city", value: `${country}/${city}` };
  return region != null ? { family: "region", value: country } : { family: "country", value: country };
};

/** What the judge of places needs to know of the names. */
export const knownPlaces = (gazetteer: Gazetteer, hits: readonly PlaceHit[]): KnownPlace[] =>
  hits.map(({ from, to, ids, form }) => {
    const id = ids[0] ?? 0;
    return { from, to, kind: gazetteer.kind(id), form, population: gazetteer.population(id) };
  });

/**
 * Finds the places among the words of a text. A town in its own name is of the family `place`; a district, or a name in
 * another language, is of the family `city` and gives the name of the city.
 * @param words the words in which places count
 */
export const placeTerms = (gazetteer: Gazetteer, hits: readonly PlaceHit[], words: readonly Word[]): Hit[] => {
  if (hits.length === 0) return [];
  const starts = new Map(words.map((word, at) => [word.from, at]));
  const terms: Hit[] = [];
  for (const hit of hits) {
    const from = starts.get(hit.from);
    if (from === undefined || hit.form === "beside") continue;
    let to = from;
    while ((words[to]?.from ?? Number.POSITIVE_INFINITY) < hit.to) to += 1;
    const told = termOf(gazetteer, hit, hits);
    if (told === null || to === from) continue;
    const term = words
      .slice(from, to)
      .map(({ folded }) => folded)
      .join(" ");
    const weight = hit.form === "name" ? NAME_WEIGHT : WORD_WEIGHT;
    const [country = "", city = ""] = told.value.split("/");
    const own = told.family === "city" && wordsOfName(city) === term;
    terms.push({ ...(own ? { family: "place", value: country } : told), weight, from, to, term });
  }
  return terms;
};
