import type { QueryExtraction, Vocabulary } from "../extraction.ts";
import { readPrice } from "../judge/price.ts";
import { findCues } from "../text/cues.ts";
import { overlaps, type Span } from "../text/span.ts";
import { tokensIn, type Word, wordsIn } from "../text/tokens.ts";
import { type AskKind, classifyAsk, type OfferKind } from "./classify.ts";
import { guessCountry, SURE_PLACE } from "./countries.ts";
import { knowledgeOf } from "./knowledge.ts";
import { detectLanguage } from "./language.ts";
import { findTerms, type Hit, type Lexicon, namingsOf } from "./lexicon.ts";
import { ELSEWHERE } from "./place_words.ts";
import { findPlace, type Place } from "./places.ts";
import { isStopWord, languageHints, modifiersFrom } from "./query_words.ts";
import { createCorrector } from "./spelling.ts";

/**
 * Reads a search query: "flat to rent in London under 1200" contains a kind, a place and a price, and the remaining
 * words name the thing. It uses the same grammars as the extractor of asks.
 */

/** The kind of offer that each kind of ask looks for. Nobody sells or lets by searching. */
const LOOKED_FOR: Readonly<Record<AskKind, OfferKind | null>> = {
  buy: "sale",
  sell: null,
  rent: "rental",
  lease_out: null,
  hire: "service_offer",
  offer_service: "project_hire",
  dating: "dating",
  friendship: "friendship",
  general: null,
};

/** Kinds whose offer terms have the same meaning in a query. Others do not: "wanted" and "we clean". */
const SAME_IN_OFFERS: ReadonlySet<string> = new Set(["sale", "rental", "dating", "friendship"]);

/** A kind term of at least this weight makes the kind certain (on the weight scale of the vocabulary). */
const CERTAIN_WEIGHT = 3;

/**
 * The best language needs this many times the evidence of the next one. Without a clear language, the terms of all
 * eight languages count.
 */
const CLEAR_LANGUAGE = 1.5;

/** Terms about the rent of homes that are ordinary words elsewhere: "warm winter coat". */
const HOMES = "real_estate";
const HOME_TERMS = new Set(["warm", "kalt", "sleeps", "charges", "incl", "media", "utilities", "professionals"]);

/** Terms that only hint at a kind have a lower weight ("flat", because most flats are let). */
const LEAST_CUE = 2;

/** A misspelt word is corrected to a word for one of these. */
const MEANT: ReadonlySet<string> = new Set(["category", "place", "city"]);

/** Least weight of a term that names the thing. Only the words after such a term can be modifiers. */
const LEAST_HEAD = 1.5;

/** Each further word of a phrase adds this to the evidence for a kind. */
const PER_WORD = 0.1;

/** Least confidence of a classification. It affects the ranking only, never the filters. */
const LEAST_CONFIDENCE = 0.5;

/** Least confidence of a price that filters: it has a currency or a word for a limit. */
const CERTAIN_PRICE = 0.7;

/** The confidence that readPrice gives to a leading "free" (not "free delivery"). */
const LEADING_FREE = 0.95;

/** Words that belong to a price: limits before it, periods after it. Folded, in the eight languages. */
const LIMITS = new Set(
  `under below up to max maximum less than within budget of about around for until not more over
  unter bis maximal hochstens fur ca circa moins de jusqu a sous maximum pour environ hasta menos por maximo
  meno di fino sotto massimo per circa ate abaixo menos tot onder maximaal minder dan voor ponizej maksymalnie do za`.split(
    /\s+/,
  ),
);
const PERIODS = new Set(
  `a an per each the month monthly week weekly day daily night hour hourly year pcm pw pm h hr mo p
  pro im je monat woche tag nacht stunde jahr monatlich warm kalt par mois semaine jour nuit heure
  al a la por mes semana dia noche hora mese settimana giorno notte ora ao por mes noite
  maand week dag nacht uur za miesiac tydzien dzien noc godzine miesiecznie`.split(/\s+/),
);
const MOST_LIMITS = 3;
const MOST_PERIODS = 2;

/** Marks between the parts of a word. */
const JOINED = /^[-'’]$/;

type Tokens = readonly Word[];

const spanOf = (tokens: Tokens, from: number, to: number): Span => ({
  start: tokens[from]?.start ?? 0,
  end: tokens[to - 1]?.end ?? 0,
});

/** The span of a price with the words around it that belong to it. */
const widenPrice = (tokens: Tokens, { start, end }: Span): Span => {
  let from = tokens.findIndex((token) => token.end > start);
  let to = tokens.findLastIndex((token) => token.start < end) + 1;
  for (let n = 0; n < MOST_LIMITS && from > 0 && LIMITS.has(tokens[from - 1]?.folded ?? ""); n++) from -= 1;
  for (let n = 0; n < MOST_PERIODS && PERIODS.has(tokens[to]?.folded ?? ""); n++) to += 1;
  return spanOf(tokens, from, to);
};

/** The kind of offer that a term looks for; null for other terms. */
const kindOf = ({ family, value }: Hit): OfferKind | null => {
  if (family === "ask_kind") return LOOKED_FOR[value as AskKind] ?? null;
  return family === "kind" && SAME_IN_OFFERS.has(value) ? (value as OfferKind) : null;
};

/** The kind of offer that the query looks for. It is certain if the query says it rather than hints at it. */
const readKind = (
  lexicon: Lexicon,
  hits: readonly Hit[],
  domain: string | null,
  guessed: OfferKind | null,
): QueryExtraction["offer_kind"] => {
  const allowed = lexicon.taxonomy.find((one) => one.domain === domain)?.kinds;
  const cues = new Map<OfferKind, number>();
  for (const hit of hits) {
    if (hit.weight < LEAST_CUE || (domain !== HOMES && HOME_TERMS.has(hit.term))) continue;
    const kind = kindOf(hit);
    if (kind === null || (allowed !== undefined && !allowed.includes(kind))) continue;
    // A longer phrase is stronger evidence.
    cues.set(kind, Math.max(cues.get(kind) ?? 0, hit.weight + (hit.to - hit.from - 1) * PER_WORD));
  }
  const [best, next] = [...cues].sort((a, b) => b[1] - a[1]);
  if (best !== undefined && best[1] > (next?.[1] ?? 0)) {
    // The weight of a term that matches by its stem is slightly lower.
    return { value: best[0], certain: domain !== null && best[1] >= CERTAIN_WEIGHT * 0.9 };
  }
  return guessed === null ? null : { value: guessed, certain: false };
};

/** True for a city, or for a name that the vocabulary maps to one ("GB/London"). */
const isTown = ({ family }: Hit): boolean => family === "place" || family === "city";

/** The places to search in; an offer may be in any of them: "London or Manchester". */
const readPlaces = (
  tokens: Tokens,
  text: string,
  hits: readonly Hit[],
  place: Place | null,
): QueryExtraction["places"] => {
  const cities = hits.filter(
    (hit) =>
      isTown(hit) &&
      hit.weight >= SURE_PLACE &&
      !ELSEWHERE.has(tokens[hit.from - 1]?.folded ?? "") &&
      // A place inside the name of a thing belongs to the thing and stays among the words: "Berlin wall art", "London
      // Fog coat".
      !hits.some((other) => other.family === "category" && other.from <= hit.from && hit.to <= other.to),
  );
  // The vocabulary maps "Peckham" to London and "Munich" to München. If a name has both senses, that city is used.
  const byStart = Map.groupBy(cities, (hit) => hit.from);
  const places = [...byStart.values()].map((same) => {
    const hit = same.find(({ family }) => family === "city") ?? same[0];
    const span = spanOf(tokens, hit?.from ?? 0, hit?.to ?? 0);
    const written = text.slice(span.start, span.end);
    const [country = null, city = written] = (hit?.value ?? "").split("/");
    return { text: written, city, country };
  });
  if (places.length > 0 || place === null || place.confidence < LEAST_CONFIDENCE) return places;
  // A country or a region counts as well. An unknown name stays among the words.
  return place.city !== null || place.region !== null || place.country !== null
    ? [{ text: text.slice(place.span.start, place.span.end), city: place.city, country: place.country }]
    : [];
};

/** Creates the function that reads queries. Deterministic, and takes well under a millisecond for a query. */
export const createQueryExtractor = (vocabulary: Vocabulary): ((query: string) => QueryExtraction) => {
  const { lexicon, classifiers, cues, prices } = knowledgeOf(vocabulary);
  const namings = namingsOf(vocabulary);
  const correct = createCorrector(
    [...namings.map(({ form }) => form), ...LIMITS, ...PERIODS],
    namings.filter(({ family, weight }) => weight >= LEAST_CUE && MEANT.has(family)).map(({ form }) => form),
  );
  return (query) => {
    const corrections: Record<string, string> = {};
    const tokens = wordsIn(query).map((token) => {
      const meant = correct(token.folded);
      if (meant === null) return token;
      corrections[token.folded] = meant;
      return { ...token, folded: meant };
    });
    const language = detectLanguage(query, tokens, languageHints(lexicon, tokens), CLEAR_LANGUAGE);
    const hits = findTerms(lexicon, tokens, language);
    // The language of a few words is often detected wrongly, so phrases count in every language ("van to hire" is not
    // Dutch).
    const phrases = findTerms(lexicon, tokens, null).filter(
      (hit) => hit.to - hit.from > 1 && (hit.family === "ask_kind" || hit.family === "kind"),
    );
    const place = findPlace(query, tokens, hits, language);
    const country = guessCountry(query, hits, place, language);
    const scene = { text: query, tokens: tokensIn(query), cues: findCues(tokensIn(query), cues), topics: [] };
    const budget = readPrice(scene, () => false, prices, { country, isAsk: true });

    const head = hits.find((hit) => hit.family === "category" && hit.weight >= LEAST_HEAD)?.to ?? null;
    // The "for" of "for sale" belongs to the kind. The "for" of "for my daughter" begins the modifiers, although that
    // phrase is a term for the kind "buy".
    const ofKind = hits.filter(({ family, value }) => family === "kind" || (family === "ask_kind" && value === "rent"));
    const aside = modifiersFrom(tokens, head, (at) => ofKind.some((hit) => hit.from <= at && at < hit.to));
    // The modifiers tell little about the thing itself: the kitchen in "fridge for a family kitchen".
    const about = hits.filter((hit) => (hit.family !== "category" && hit.family !== "domain") || hit.from < aside);
    const thing = classifyAsk(classifiers, {
      annotations: { text: query, words: tokens, hits: about, language },
      price: budget,
    });
    const sure = (thing.domain?.confidence ?? 0) >= LEAST_CONFIDENCE;
    const domain = sure ? (thing.domain?.value ?? null) : null;
    const guess = thing.kind === null ? null : LOOKED_FOR[thing.kind.value];
    const kind = readKind(lexicon, [...hits, ...phrases], domain, guess);
    const places = readPlaces(tokens, query, hits, place);

    const said: Span[] = [];
    let price: QueryExtraction["price"] = null;
    if (budget?.type === "free" && budget.confidence >= LEADING_FREE) {
      price = { min: null, max: 0, currency: null, period: null };
    } else if (budget?.amount != null && budget.amount > 0 && budget.confidence >= CERTAIN_PRICE) {
      const { amount, amountMax, currency, period, type, span } = budget;
      price = {
        min: type === "from" || amountMax !== null ? amount : null,
        max: type === "from" ? null : (amountMax ?? amount),
        currency,
        period: period === "project" ? null : period,
      };
      said.push(widenPrice(tokens, span));
    }
    if (places.length > 0 && place !== null) said.push(place.span);
    const things = hits.filter((hit) => hit.family === "category").map((hit) => spanOf(tokens, hit.from, hit.to));
    for (const hit of [...hits, ...phrases]) {
      const span = spanOf(tokens, hit.from, hit.to);
      const isPlace = isTown(hit) && hit.weight >= SURE_PLACE && places.some(({ city }) => city !== null);
      const isKind = kindOf(hit) !== null && kindOf(hit) === kind?.value && hit.weight >= LEAST_CUE;
      if (isPlace || (isKind && !things.some((other) => overlaps(other, span)))) said.push(span);
    }
    const left = tokens.filter((token) => !said.some((span) => overlaps(span, token)));
    const contentWords = left.filter((token) => !isStopWord(token));
    const words = contentWords.length > 0 ? contentWords : left;
    return {
      modifiers: words.filter((token) => tokens.indexOf(token) >= aside).map(({ folded }) => folded),
      words: words
        .map(({ start, end }, n) => {
          const next = words[n + 1]?.start ?? end;
          // Joined words stay joined: "lave-vaisselle" is one name.
          return query.slice(start, end) + (JOINED.test(query.slice(end, next)) ? query.slice(end, next) : " ");
        })
        .join("")
        .trim(),
      language,
      corrections,
      offer_kind: kind,
      domain,
      category: sure ? (thing.category?.value ?? null) : null,
      price,
      places,
    };
  };
};
