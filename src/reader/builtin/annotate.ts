import { findRuns, isDateOrAmount, isShapedLikePhone } from "../find/phones.ts";
import type { Scene } from "../judge/context.ts";
import { term } from "../judge/features.ts";
import { findCues } from "../text/cues.ts";
import { overlaps, type Span } from "../text/span.ts";
import { type Token, tokensIn, type Word, wordsIn } from "../text/tokens.ts";
import { guessCountry, languageOf } from "./countries.ts";
import type { WordKnowledge } from "./knowledge.ts";
import { detectLanguage } from "./language.ts";
import { findTerms, type Hit } from "./lexicon.ts";
import { findPlace, type Place } from "./places.ts";

/** Words inside addresses are ignored: "golf7@example.com" is not a car. */
const ADDRESS = /@|:\/\/|www\.|\[at\]|\(at\)/iu;

/** Evidence for a language that each vocabulary word of that language adds. */
const LANGUAGE_EVIDENCE = 0.15;

/** A term of at least this weight among the first words says what a text is about. At most MOST_TOPICS are kept. */
const LEAST_TOPIC_WEIGHT = 1.5;
const TOPIC_WORDS = 40;
const MOST_TOPICS = 3;

/** Everything that is read in a text before it is classified as an offer or an ask. */
export type Annotations = Scene & {
  /** The words outside addresses and instructions. */
  words: readonly Word[];
  hits: readonly Hit[];
  language: string | null;
  /** Sentences that are addressed to a model, in order. */
  addressed: readonly Span[];
  /** Links and e-mail addresses, in order. */
  addresses: readonly Span[];
  place: Place | null;
  country: string | null;
  /** True for tokens of addresses, phone numbers and instructions, in which no number is a price. */
  isHidden: (at: number) => boolean;
};

/** The words outside the given spans. */
const wordsOutside = (words: readonly Word[], ignored: readonly Span[]): Word[] => {
  const kept: Word[] = [];
  let next = 0;
  let cut = false;
  for (const word of words) {
    while ((ignored[next]?.end ?? Number.POSITIVE_INFINITY) <= word.start) next += 1;
    const span = ignored[next];
    if (span !== undefined && overlaps(span, word)) {
      cut = true;
      continue;
    }
    // The words before and after a passage that was left out do not belong together.
    kept.push(cut ? { ...word, opens: true } : word);
    cut = false;
  }
  return kept;
};

/** The tokens inside the given spans and inside phone numbers. */
const hiddenIn = (tokens: readonly Token[], ignored: readonly Span[]): Uint8Array => {
  const hidden = new Uint8Array(tokens.length);
  let next = 0;
  tokens.forEach((token, at) => {
    while ((ignored[next]?.end ?? Number.POSITIVE_INFINITY) <= token.start) next += 1;
    const span = ignored[next];
    if (span !== undefined && overlaps(span, token)) hidden[at] = 1;
  });
  for (const run of findRuns(tokens)) {
    if (isShapedLikePhone(run) && !isDateOrAmount(tokens, run)) hidden.fill(1, run.from, run.to);
  }
  return hidden;
};

/**
 * Annotates a text with its words, terms, cues, language and place. Passages that give instructions to a model are left
 * out.
 */
export const annotate = ({ lexicon, cues, findOrders }: WordKnowledge, text: string): Annotations => {
  const tokens = tokensIn(text);
  const scene = { text, tokens, cues: findCues(tokens, cues), topics: [] };
  const addressed = findOrders(scene);
  const addresses = Array.from(text.matchAll(/\S+/gu))
    .filter(([word]) => ADDRESS.test(word))
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));
  const ignored = [...addressed, ...addresses].sort((a, b) => a.start - b.start);
  const words = wordsOutside(wordsIn(text), ignored);
  const hints = new Map<string, number>();
  for (const word of words) {
    for (const entry of lexicon.exact.get(word.folded)?.entries ?? []) {
      if (entry.language !== null) hints.set(entry.language, (hints.get(entry.language) ?? 0) + LANGUAGE_EVIDENCE);
    }
  }
  const language = detectLanguage(text, words, hints);
  const hits = findTerms(lexicon, words, language);
  const topics = new Set<string>();
  for (const { family, value, weight, from } of hits)
    if (family === "category" && weight >= LEAST_TOPIC_WEIGHT && from < TOPIC_WORDS) topics.add(value);
  const place = findPlace(text, words, hits, language);
  const country = guessCountry(text, hits, place, language);
  const hidden = hiddenIn(tokens, ignored);
  return {
    ...scene,
    topics: [...topics].slice(0, MOST_TOPICS).map(term),
    words,
    hits,
    // "Garmin Forerunner 255, £140, Bristol" has no words of a language, so the language of its country is used.
    language: language ?? languageOf(country),
    addressed,
    addresses,
    place,
    country,
    isHidden: (at) => hidden[at] === 1,
  };
};
