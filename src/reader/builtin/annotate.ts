import { findAddressedToModel } from "./addressed.ts";
import { guessCountry, languageOf } from "./countries.ts";
import { detectLanguage } from "./language.ts";
import { findTerms, type Hit, type Lexicon } from "./lexicon.ts";
import { findPlace, type Place } from "./places.ts";
import { overlaps, type Span } from "../text/span.ts";
import { type Word, wordsIn } from "../text/tokens.ts";

/** Words inside addresses are ignored: "golf7@example.com" is not a car. */
const ADDRESS = /@|:\/\/|www\.|\[at\]|\(at\)/iu;

/** Evidence for a language that each vocabulary word of that language adds. */
const LANGUAGE_EVIDENCE = 0.15;

/** Everything that is read in a text before it is classified as an offer or an ask. */
export type Annotations = {
  text: string;
  tokens: Word[];
  hits: Hit[];
  language: string | null;
  addressed: Span[];
  /** Links and e-mail addresses, in order. */
  addresses: Span[];
  place: Place | null;
  country: string | null;
};

/**
 * Annotates a text with its words, terms, language and place. Passages that give instructions to a model are left out.
 */
export const annotate = (lexicon: Lexicon, text: string): Annotations => {
  const addressed = findAddressedToModel(text);
  const addresses = Array.from(text.matchAll(/\S+/gu))
    .filter(([word]) => ADDRESS.test(word))
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));
  const ignored = [...addressed, ...addresses].sort((a, b) => a.start - b.start);
  const tokens: Word[] = [];
  let next = 0;
  let cut = false;
  for (const token of wordsIn(text)) {
    while ((ignored[next]?.end ?? Number.POSITIVE_INFINITY) <= token.start) next += 1;
    const span = ignored[next];
    if (span !== undefined && overlaps(span, token)) {
      cut = true;
      continue;
    }
    // The words before and after a passage that was left out do not belong together.
    tokens.push(cut ? { ...token, opens: true } : token);
    cut = false;
  }
  const hints = new Map<string, number>();
  for (const token of tokens) {
    for (const entry of lexicon.exact.get(token.folded)?.entries ?? []) {
      if (entry.language !== null) hints.set(entry.language, (hints.get(entry.language) ?? 0) + LANGUAGE_EVIDENCE);
    }
  }
  const language = detectLanguage(text, tokens, hints);
  const hits = findTerms(lexicon, tokens, language);
  const place = findPlace(text, tokens, hits, language);
  const country = guessCountry(text, hits, place, language);
  // "Garmin Forerunner 255, £140, Bristol" has no words of a language, so the language of its country is used.
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
