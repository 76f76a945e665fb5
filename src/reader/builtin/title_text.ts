import { rangeOf } from "../decide/place.ts";
import type { TitleText } from "../decide/title.ts";
import type { Span } from "../text/span.ts";
import { type Annotations, tokensOfHit } from "./annotate.ts";

/** A term of lower weight only hints at a thing. */
const MIN_THING_WEIGHT = 1;

/** What was decided of a text before its title. `category` is "domain/category". */
export type Decided = { category: string | null; price: Span | null; place: Span | null; isAsk: boolean };

/** Puts together what the judge of titles needs to know of a text. */
export const titleTextOf = (annotations: Annotations, { category, price, place, isAsk }: Decided): TitleText => ({
  ...annotations,
  named: annotations.hits
    .filter(({ family, value, weight }) => family === "category" && weight >= MIN_THING_WEIGHT && value === category)
    .map((hit) => tokensOfHit(annotations.words, hit)),
  kinds: annotations.hits
    .filter(({ family }) => family === "kind" || family === "ask_kind")
    .map((hit) => tokensOfHit(annotations.words, hit)),
  price: price === null ? null : rangeOf(annotations.tokens, price),
  place: place === null ? null : rangeOf(annotations.tokens, place),
  isAsk,
});
