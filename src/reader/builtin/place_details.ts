import type { Span } from "../text/span.ts";
import type { Word } from "../text/tokens.ts";
import { countryOf, UK_POSTCODE } from "./countries.ts";
import type { Hit } from "./lexicon.ts";
import { REMOTE_WORDS, STATE_CODES } from "./place_words.ts";

/** Reads the details of a place that places.ts found. */

/** A place and the details that are certain. */
export type Place = {
  span: Span;
  confidence: number;
  country: string | null;
  region: string | null;
  city: string | null;
  district: string | null;
  postalCode: string | null;
  remote: boolean;
};

/** A range of tokens: `from` inclusive, `to` exclusive. */
export type Range = { from: number; to: number };

/** A postal code of digits, as it stands before a town. */
export const POSTCODE = /^\d{4,5}$/;

/** Length of the prefix of a value such as "GB/London". */
const COUNTRY_PREFIX = 3;

/** Reads the details of the place at `range`: country, city, district, postal code. */
export const describe = (
  text: string,
  tokens: readonly Word[],
  geography: readonly Hit[],
  { range, confidence }: { range: Range; confidence: number },
): Place => {
  const start = tokens[range.from]?.start ?? 0;
  let end = tokens[range.to - 1]?.end ?? start;
  if (text.slice(start, end).includes("(") && text.charAt(end) === ")") end += 1;
  const written = (hit: Hit | undefined): string | null =>
    hit === undefined ? null : text.slice(tokens[hit.from]?.start, tokens[hit.to - 1]?.end);
  const inside = geography.filter((hit) => hit.from >= range.from && hit.to <= range.to);
  const part = inside.find((hit) => hit.family === "city");
  // "Peckham, London" names the city itself. For "Peckham" or "Munich", the vocabulary gives the city.
  const city = inside.find(
    (hit) => hit.family === "place" && (part === undefined || hit.to <= part.from || hit.from >= part.to),
  );
  const code = tokens
    .slice(range.from, range.to)
    .find((token) => POSTCODE.test(token.folded) || UK_POSTCODE.test(token.folded));
  const after = city === undefined ? undefined : tokens[city.to];
  // A term that is also a place by itself ("Munich") is another name of the city, not a district.
  const isNamed = part !== undefined && !inside.some((hit) => hit.family === "place" && hit.from === part.from);
  const isDistrict =
    city !== undefined &&
    city.to < range.to &&
    after?.capital &&
    after !== code &&
    !inside.some((hit) => hit.from === city.to);
  return {
    span: { start, end },
    confidence,
    country: countryOf(tokens.slice(range.from, range.to), inside),
    region: written(inside.find((hit) => hit.family === "region")),
    city: written(city) ?? part?.value.slice(COUNTRY_PREFIX) ?? null,
    district: isNamed
      ? written(part)
      : isDistrict && !STATE_CODES.has(after.folded)
        ? text.slice(after.start, tokens[range.to - 1]?.end)
        : null,
    postalCode: code === undefined ? null : text.slice(code.start, code.end),
    remote: tokens.some((token) => REMOTE_WORDS.has(token.folded)),
  };
};
