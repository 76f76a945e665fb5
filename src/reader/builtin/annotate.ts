import { findAddressedToModel } from "./addressed.ts";
import { guessCountry, languageOf } from "./countries.ts";
import { detectLanguage } from "./language.ts";
import { findTerms, type Hit, type Lexicon } from "./lexicon.ts";
import { findPlace, type Place } from "./places.ts";
import { overlaps, type Span } from "./span.ts";
import { type Token, tokenize } from "./tokens.ts";

/** Nobody looks for words in addresses: "golf7@example.com" is no car. */
const ADDRESS = /@|:\/\/|www\.|\[at\]|\(at\)/iu;

/** Words of the vocabulary in a language speak for that language, a little. */
const HINT = 0.15;

/** Everything that is found in a text before it is known to be an offer or an ask. */
export type Annotations = {
  text: string;
  tokens: Token[];
  hits: Hit[];
  language: string | null;
  addressed: Span[];
  /** Links and the like, in order. */
  addresses: Span[];
  place: Place | null;
  country: string | null;
};

/** Surveys a text: its words, the terms among them, its language, its place. Sentences that give orders to a model are left out. */
export const annotate = (lexicon: Lexicon, text: string): Annotations => {
  const addressed = findAddressedToModel(text);
  const addresses = Array.from(text.matchAll(/\S+/gu))
    .filter(([word]) => ADDRESS.test(word))
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));
  const ignored = [...addressed, ...addresses].sort((a, b) => a.start - b.start);
  const tokens: Token[] = [];
  let next = 0;
  let cut = false;
  for (const token of tokenize(text)) {
    while ((ignored[next]?.end ?? Number.POSITIVE_INFINITY) <= token.start) next += 1;
    const span = ignored[next];
    if (span !== undefined && overlaps(span, token)) {
      cut = true;
      continue;
    }
    // What stood on both sides of a left-out passage does not belong together.
    tokens.push(cut ? { ...token, opens: true } : token);
    cut = false;
  }
  const hints = new Map<string, number>();
  for (const token of tokens) {
    for (const entry of lexicon.exact.get(token.folded)?.entries ?? []) {
      if (entry.language !== null) hints.set(entry.language, (hints.get(entry.language) ?? 0) + HINT);
    }
  }
  const language = detectLanguage(text, tokens, hints);
  const hits = findTerms(lexicon, tokens, language);
  const place = findPlace(text, tokens, hits, language);
  const country = guessCountry(text, hits, place, language);
  // "Garmin Forerunner 255, £140, Bristol" is in no language; who reads it there speaks English.
  return {
    text,
    tokens,
    hits,
    language: language ?? languageOf(country),
    addressed,
    addresses,
    place,
    country,
  };
};
