import { findMoney } from "../find/money.ts";
import type { PlaceText } from "../find/place_spans.ts";
import type { Range } from "../judge/context.ts";
import { rangeOf } from "../judge/place.ts";
import type { TitleText } from "../judge/title.ts";
import type { Span } from "../text/span.ts";
import type { Annotations } from "./annotate.ts";
import type { Hit } from "./lexicon.ts";

/** Puts together what the judges of place and title need to know of a text. */

type Read = Pick<Annotations, "text" | "tokens" | "words" | "cues" | "hits" | "known" | "isHidden">;

/** A term of lower weight only hints at a thing. */
const LEAST_THING = 1;

const tokensOf = ({ words }: Read, { from, to }: Hit): Range => ({
  from: words[from]?.from ?? 0,
  to: words[to - 1]?.to ?? 0,
});

/** What the judge of places needs to know of a text. */
export const placeTextOf = (read: Read): PlaceText => {
  const { text, tokens, cues, hits, isHidden } = read;
  return {
    text,
    tokens,
    cues,
    isHidden,
    known: read.known,
    things: hits
      .filter(({ family, weight }) => family === "category" && weight >= LEAST_THING)
      .map((hit) => tokensOf(read, hit)),
    sums: findMoney(tokens, isHidden).filter(({ marker, sum }) => marker !== null || sum),
  };
};

/** What was decided of a text before its title. `category` is "domain/category". */
export type Decided = { category: string | null; price: Span | null; place: Span | null; isAsk: boolean };

/** What the judge of titles needs to know of a text. */
export const titleTextOf = (read: Read, places: PlaceText, { category, price, place, isAsk }: Decided): TitleText => ({
  ...places,
  named: read.hits
    .filter(({ family, value, weight }) => family === "category" && weight >= LEAST_THING && value === category)
    .map((hit) => tokensOf(read, hit)),
  kinds: read.hits.filter(({ family }) => family === "kind" || family === "ask_kind").map((hit) => tokensOf(read, hit)),
  price: price === null ? null : rangeOf(read.tokens, price),
  place: place === null ? null : rangeOf(read.tokens, place),
  isAsk,
});
