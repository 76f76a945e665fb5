import type { Range, Scene } from "../decide/context.ts";
import { term } from "../decide/features.ts";
import { countryOfLanguage, languagesOf } from "../languages.ts";
import { countryOfCurrency, currencyAt, type Marker } from "../propose/currencies.ts";
import type { Gazetteer } from "../propose/gazetteer.ts";
import { findMoney } from "../propose/money.ts";
import { findRuns, isDateOrAmount, isShapedLikePhone } from "../propose/phones.ts";
import type { KnownPlace, PlaceText } from "../propose/place_spans.ts";
import { findPlaces, type PlaceHit } from "../propose/places.ts";
import { findStreets } from "../propose/streets.ts";
import { overlaps, type Span } from "../text/span.ts";
import { struckIn } from "../text/struck.ts";
import { type Token, type Word, withAddressesApart, wordsIn } from "../text/tokens.ts";
import { detectLanguage } from "./language.ts";
import { findTerms, type Hit, type IsWord, type Lexicon } from "./lexicon.ts";

/** Words inside addresses are ignored: "golf7@example.com" is not a car. */
const ADDRESS = /[@＠﹫]|:\/\/|www\.|[[({]at[\])}]|&(?:#64|#x40|commat);/iu;

/** Evidence for a language that each word of the lexicon in that language adds. */
const LANGUAGE_EVIDENCE = 0.15;

/** A term of at least this weight among the first words says what a text is about. At most MAX_TOPICS are kept. */
const MIN_TOPIC_WEIGHT = 1.5;
const TOPIC_WORDS = 40;
const MAX_TOPICS = 3;

/** A term of lower weight only hints at a thing. */
const MIN_THING_WEIGHT = 1;

/** Everything that is found in a text before anything is judged. */
export type Annotations = PlaceText & {
  /** The words outside addresses and instructions. */
  words: readonly Word[];
  /** The terms of the lexicon, as ranges of `words`. */
  hits: readonly Hit[];
  language: string | null;
  /** Sentences that are addressed to a model, in order. */
  orders: readonly Span[];
  /** Links and e-mail addresses, in order. */
  addresses: readonly Span[];
  /** The names of places, as ranges of tokens. */
  placeHits: readonly PlaceHit[];
  /** Tells whether a folded word belongs to a closed class of words. */
  is: IsWord;
  /** The country that the text is probably from, whatever its place: by its currency and language. */
  country: string | null;
  /** The currency of its first sum of money, as it is written. */
  currency: Marker | null;
};

/** The words without those of which a token is marked. */
const wordsWithout = (words: readonly Word[], marked: Uint8Array): Word[] => {
  let cut = false;
  return words.flatMap((word) => {
    const isCut = cut;
    cut = marked.subarray(word.from, word.to).includes(1);
    // The words before and after a passage that was left out do not belong together.
    return cut ? [] : [isCut ? { ...word, opens: true } : word];
  });
};

/** Marks the tokens inside the given spans. */
const markInside = (tokens: readonly Token[], spans: readonly Span[]): Uint8Array => {
  let next = 0;
  return Uint8Array.from(tokens, (token) => {
    while ((spans[next]?.end ?? Number.POSITIVE_INFINITY) <= token.start) next += 1;
    const span = spans[next];
    return span !== undefined && overlaps(span, token) ? 1 : 0;
  });
};

/** The country that the currencies of a text mean: that of the first one that only one country has. */
const countryByMoney = (tokens: readonly Token[], language: string | null): string | null => {
  for (let at = 0; at < tokens.length; at++) {
    const marker = currencyAt(tokens, at)?.marker;
    const country = marker === undefined ? null : countryOfCurrency(marker, language);
    if (country !== null) return country;
  }
  return null;
};

/** The names of places with the kind and the weight of the most likely place of each. */
export const knownPlaces = (gazetteer: Gazetteer, hits: readonly PlaceHit[]): KnownPlace[] =>
  hits.map(({ from, to, ids, form }) => {
    const id = ids[0] ?? 0;
    return { from, to, kind: gazetteer.kind(id), form, weight: gazetteer.weight(id) };
  });

/** The tokens of a term. */
export const tokensOfHit = (words: readonly Word[], { from, to }: Pick<Hit, "from" | "to">): Range => ({
  from: words[from]?.from ?? 0,
  to: words[to - 1]?.to ?? 0,
});

/** The evidence for a language that a word of the lexicon gives for each of so many languages that have it. */
export type LanguageEvidence = { perLabel: (languages: number) => number; margin: number };

const IN_TEXTS: LanguageEvidence = { perLabel: () => LANGUAGE_EVIDENCE, margin: 0 };

/**
 * Annotates a text with its words, terms, cues, language, names of places and sums.
 * @param orders passages that give instructions to a model, in order; they are left out
 */
export const annotate = (
  { lexicon, gazetteer }: { lexicon: Lexicon; gazetteer: Gazetteer },
  scene: Scene,
  orders: readonly Span[],
  { perLabel, margin }: LanguageEvidence = IN_TEXTS,
): Annotations => {
  const { text, tokens } = scene;
  const addresses = Array.from(withAddressesApart(text).matchAll(/\S+/gu))
    .filter(([word]) => ADDRESS.test(word))
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));
  const ignored = [...orders, ...addresses, ...struckIn(text)].sort((a, b) => a.start - b.start);
  const hidden = markInside(tokens, ignored);
  const words = wordsWithout(wordsIn(text, tokens), hidden);
  for (const run of findRuns(tokens))
    if (isShapedLikePhone(run) && !isDateOrAmount(tokens, run)) hidden.fill(1, run.from, run.to);
  const detected = detectLanguage(text, words, lexicon, perLabel, margin);
  const hits = findTerms(lexicon, words, detected);
  const topics = new Set<string>();
  for (const { family, value, weight, from } of hits)
    if (family === "category" && weight >= MIN_TOPIC_WEIGHT && from < TOPIC_WORDS) topics.add(value);
  const isHidden = (at: number): boolean => hidden[at] === 1;
  const named = findPlaces(gazetteer, tokens, detected).filter(({ from }) => !isHidden(from));
  const streets = findStreets(scene, named);
  const placeHits = named.filter((hit) => !streets.some(({ from, to }) => from <= hit.from && hit.to <= to));
  const country = countryByMoney(tokens, detected) ?? countryOfLanguage(detected);
  const sums = findMoney(tokens, isHidden).filter(({ marker, sum }) => marker !== null || sum);
  return {
    ...scene,
    topics: [...topics].slice(0, MAX_TOPICS).map(term),
    words,
    hits,
    // "Garmin Forerunner 255, £140, Bristol" has no words of a language, so the language of its country is used.
    language: detected ?? languagesOf(country)[0] ?? null,
    orders,
    addresses,
    is: lexicon.is,
    country,
    currency: sums.find(({ marker }) => marker !== null)?.marker ?? null,
    isHidden,
    placeHits,
    known: knownPlaces(gazetteer, placeHits),
    streets,
    things: hits
      .filter(({ family, weight }) => family === "category" && weight >= MIN_THING_WEIGHT)
      .map((hit) => tokensOfHit(words, hit)),
    sums,
  };
};
