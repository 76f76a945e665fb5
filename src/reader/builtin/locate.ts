import type { Location } from "../decide/place.ts";
import type { Marker } from "../propose/currencies.ts";
import { namesIn, type ResolvedPlace, resolvePlace } from "../propose/place_choice.ts";
import type { Span } from "../text/span.ts";
import type { Annotations } from "./annotate.ts";
import type { WordKnowledge } from "./knowledge.ts";

/** Says where the thing of a text is: which words say so, and which place they mean. */

/** What else a text says about the country of its place. */
export type LocationHints = {
  /** The currency of the price; as it is written, as long as the country is unknown. */
  currency: Marker | null;
  /** The countries of its phone numbers, ISO 3166-1 alpha-2. */
  phoneCountries: readonly string[];
};

/** A location: the words that state it, and the place that they mean, if the gazetteer has it. */
export type Resolved = {
  span: Span;
  confidence: number;
  place: ResolvedPlace | null;
  /** The towns among which nothing decides: then `place` is null. */
  rivals: readonly string[];
};

/** No confidence is higher: the words are stated, but a village of the same name may be meant. */
const MAX_CONFIDENCE = 0.95;

/**
 * Resolves the location of a text.
 * @param stated where the text says that its thing is
 * @returns `location` is null if the text states none; `remote`: the words that say that the work is done from afar; `country`: the
 *   country of the location, otherwise of the first place that the text names
 */
export const locate = (
  { gazetteer }: WordKnowledge,
  annotations: Annotations,
  { place, remote }: Location,
  { currency, phoneCountries }: LocationHints,
): { location: Resolved | null; remote: Span | null; country: string | null } => {
  const { placeHits: others, language } = annotations;
  const hints = { others, currency, phoneCountries, language };
  const inside = place === null ? [] : namesIn(annotations.tokens, others, place);
  const resolved = inside.length === 0 ? null : resolvePlace(gazetteer, inside, hints);
  const named = others.find(({ form }) => form === "name");
  const country = resolved?.country ?? (named === undefined ? null : resolvePlace(gazetteer, [named], hints)?.country);
  // Of several towns of a name none is guessed.
  const isSure = resolved === null || resolved.rivals.length === 0;
  return {
    location:
      place === null
        ? null
        : {
            span: place.span,
            confidence: Math.min(MAX_CONFIDENCE, place.confidence) * (isSure ? (resolved?.confidence ?? 1) : 1),
            place: isSure ? resolved : null,
            rivals: resolved?.rivals ?? [],
          },
    remote,
    country: country ?? null,
  };
};
