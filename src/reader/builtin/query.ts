import { inOneGo, type Steps } from "../../base/steps.ts";
import { type Range, type Scene, sceneOf } from "../decide/context.ts";
import { findLocation } from "../decide/place.ts";
import { judgePrices, readPrice } from "../decide/price.ts";
import type { QueryExtraction, QueryWord, Vocabulary } from "../extraction.ts";
import { countryOfLanguage, currencyOf, wordsFor } from "../languages.ts";
import { findMoney } from "../propose/money.ts";
import { findNear } from "../propose/near.ts";
import { resolvePlace } from "../propose/place_choice.ts";
import type { PlaceText } from "../propose/place_spans.ts";
import type { PlaceHit } from "../propose/places.ts";
import { blanked } from "../text/blank.ts";
import { overlaps, quoteOf, type Span, spanOf } from "../text/span.ts";
import { phraseAt, tokensIn, type Word, wordsIn } from "../text/tokens.ts";
import { annotate, knownPlaces, type LanguageEvidence } from "./annotate.ts";
import { findBound } from "./bounds.ts";
import { type AskKind, classifyAsk, type OfferKind } from "./classify.ts";
import { type Criterion, findExclusions } from "./criteria.ts";
import { type Knowledge, knowledgeOf } from "./knowledge.ts";
import { findTerms, type Hit, type IsWord, type Lexicon } from "./lexicon.ts";
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
 * A query has few words, so that each word of the lexicon says more about its language. The best language needs 1.5 times
 * the evidence of the next one: without a clear language, the terms of all languages count.
 */
const IN_QUERIES: LanguageEvidence = { perLabel: (languages) => 0.7 / languages, margin: 1.5 };

/** Terms about the rent of homes (cue home_term) are ordinary words elsewhere: "warm winter coat". */
const HOMES = "real_estate";

/** Terms that only hint at a kind have a lower weight ("flat", because most flats are let). */
const MIN_CUE = 2;

/** A misspelt word is corrected to the name of a thing, or of a place with at least so many inhabitants. */
const MIN_POPULATION = 100_000;

/** Least weight of a term that names the thing. Only the words after such a term can be modifiers. */
const MIN_HEAD = 1.5;

/** Each further word of a phrase adds this to the evidence for a kind. */
const PER_WORD = 0.1;

/** Least confidence of a classification. It affects the ranking only, never the filters. */
const MIN_CONFIDENCE = 0.5;

/** Least confidence of a price that filters: queries are short, so that little confirms it. */
const CERTAIN_PRICE = 0.4;

/** Least confidence of "free" that filters: "free delivery" is no price. */
const LEADING_FREE = 0.7;

const MAX_LIMITS = 3;
const MAX_PERIODS = 2;

type Tokens = readonly Word[];

/** The span of a price with the words around it that belong to it. */
const widenPrice = (tokens: Tokens, { start, end }: Span, is: IsWord): Span => {
  let from = tokens.findIndex((token) => token.end > start);
  let to = tokens.findLastIndex((token) => token.start < end) + 1;
  for (let n = 0; n < MAX_LIMITS && from > 0 && is("limit_word", tokens[from - 1]?.folded ?? ""); n++) from -= 1;
  for (let n = 0; n < MAX_PERIODS && is("period_word", tokens[to]?.folded ?? ""); n++) to += 1;
  return spanOf(tokens, { from, to });
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
    if (hit.weight < MIN_CUE || (domain !== HOMES && lexicon.is("home_term", hit.term))) continue;
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

/** A place to search in, and where the query names it. */
type PlaceSought = QueryExtraction["places"][number] & { span: Span };

/** What the query says about places, as its places are found. */
type PlaceScene = PlaceText & { placeHits: readonly PlaceHit[] };

/** A name that is also a word, without a capital letter, needs more confidence. */
const MIN_WORD_CONFIDENCE = 0.75;

/** The weight of a town of some hundred thousand inhabitants, whose name needs no capital letter. */
const LARGE_TOWN = 5;

/** A word that says that the place after it is not where the thing is: "from Berlin". */
const ELSEWHERE = "place_elsewhere";

/** The place that names mean, or null if it is unknown which. */
const soughtIn = (
  { gazetteer }: Knowledge,
  scene: PlaceScene,
  hits: readonly PlaceHit[],
  range: Range,
): PlaceSought | null => {
  const resolved = resolvePlace(gazetteer, hits, { others: scene.placeHits });
  if (resolved === null) return null;
  const span = spanOf(scene.tokens, range);
  const { city, country } = resolved;
  return { text: scene.text.slice(span.start, span.end), city, country, span };
};

/** The places to search in, and a name that surely stands for a place, but for none that is known. */
type PlacesRead = { places: PlaceSought[]; unknown?: string };

/** The places to search in; an offer may be in any of them: "London or Manchester". */
const readPlaces = (knowledge: Knowledge, scene: PlaceScene): PlacesRead => {
  const { gazetteer, judges } = knowledge;
  const { placeHits, cues, things } = scene;
  const towns = placeHits.filter(
    ({ from, to, ids, form }) =>
      form === "name" &&
      // People write queries without capitals, so the name of a small town may be a word: "bookcase of walnut".
      (scene.tokens[from]?.capital === true || gazetteer.weight(ids[0] ?? 0) >= LARGE_TOWN) &&
      /^(?:city|district)$/.test(gazetteer.kind(ids[0] ?? 0)) &&
      !cues.some((cue) => cue.concept.text === ELSEWHERE && cue.to === from) &&
      // A place inside the name of a thing belongs to the thing and stays among the words: "London Fog coat".
      !things.some((thing) => thing.from <= from && to <= thing.to),
  );
  if (towns.length > 0) return { places: towns.flatMap((hit) => soughtIn(knowledge, scene, [hit], hit) ?? []) };
  const { place } = findLocation(scene, judges);
  if (place === null || place.confidence < MIN_CONFIDENCE) return { places: [] };
  const inside = placeHits.filter(({ from, to }) => from >= place.from && to <= place.to);
  const isSure = inside.some(({ from, form }) => form === "name" || scene.tokens[from]?.capital === true);
  if (!isSure && place.confidence < MIN_WORD_CONFIDENCE) return { places: [] };
  // An unknown name stays among the words.
  const span = spanOf(scene.tokens, place);
  if (inside.length === 0)
    return {
      places: [],
      ...(scene.tokens[place.from]?.capital === true ? { unknown: quoteOf(scene.text, span) } : {}),
    };
  // A country or a region counts as well.
  return { places: [soughtIn(knowledge, scene, inside, place) ?? []].flat() };
};

/**
 * The words to search for.
 * @param aside where the modifiers begin
 */
const wordsSaid = (
  query: string,
  words: Tokens,
  corrections: ReadonlyMap<number, string>,
  aside = query.length,
): QueryWord[] => {
  const found: QueryWord[] = [];
  let end: number | null = null;
  for (const word of words) {
    const said = quoteOf(query, word);
    const meant = corrections.get(word.start);
    const last = found.at(-1);
    // "lave-vaisselle" is one name, and so is "中古車", which the database knows by the pairs of its letters.
    const joint = end === null ? null : query.slice(end, word.start);
    const isJoined = (joint === "-" || joint === "") && meant === undefined;
    if (isJoined && last !== undefined && last.meant === undefined) last.said += `${joint}${said}`;
    else
      found.push({
        said,
        ...(meant === undefined ? {} : { meant }),
        ...(word.start < aside ? {} : { is_modifier: true }),
      });
    end = word.end;
  }
  return found;
};

/** "I" counts only before a verb, because in Polish and Italian it is another word. */
const SHORT_PERSON = "i";

/** Marks that begin a new sentence or clause. */
const BREAK = /[,;.!?:]/;

/**
 * The index of the token at which the modifiers begin (the words that tell what the thing is for). The number of tokens
 * if there are none.
 *
 * @param head the token after the first term that names a thing; null if nothing is named
 * @param saysKind true for a token that belongs to a kind term, such as "for" in "for sale"
 */
const modifiersFrom = (
  tokens: readonly Word[],
  head: number | null,
  saysKind: (at: number) => boolean,
  is: IsWord,
): number => {
  for (let at = 1; at < tokens.length; at++) {
    const { folded, before } = tokens[at] as Word;
    const person = folded === SHORT_PERSON ? is("after_i", tokens[at + 1]?.folded ?? "") : is("first_person", folded);
    // "…, I have a cat" describes the person, whatever comes before it.
    if (person && (BREAK.test(before) || (head !== null && at >= head))) return at;
    if (head !== null && at >= head && is("modifier_opener", folded) && !saysKind(at)) return at;
  }
  return tokens.length;
};

/** True for a name that ends the words of a limit, and so is none: the town of Most in "at most 200". */
const endsLimit = (words: Tokens, { to }: Range, is: IsWord): boolean => {
  const last = words.findIndex((word) => word.to === to);
  const phrase = `${words[last - 1]?.folded ?? ""} ${words[last]?.folded ?? ""}`;
  return is("bound_most", phrase) || is("bound_least", phrase);
};

/** The passage that says "near me"; null if none does. */
const nearMe = (words: Tokens, is: IsWord): Span | null => {
  for (let at = 0; at < words.length; at++) {
    const length = phraseAt(words, at, (phrase) => is("near_me", phrase));
    if (length > 0) return spanOf(words, { from: at, to: at + length });
  }
  return null;
};

/** A postal code, as it is written by itself, and how one may look after "in". */
const POSTAL = /(?<![\p{L}\d])(?:\d{4}-\d{3}|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})(?![\p{L}\d-])/u;
const MAYBE_POSTAL = /^(?:\d{2}-\d{3}|\d{4,5}|\d{4} ?[A-Z]{2}|[A-Z]{1,2}\d[A-Z\d]?)(?![\p{L}\d-])/u;

/** The postal code that a query names as a place; null if it names none. */
const postalCodeIn = ({ text, tokens, cues }: Scene): string | null => {
  const sure = POSTAL.exec(text)?.[0];
  if (sure !== undefined) return sure;
  for (const { concept, to } of cues) {
    const start = tokens[to]?.start;
    const code =
      concept.text === "place_in" && start !== undefined ? MAYBE_POSTAL.exec(text.slice(start))?.[0] : undefined;
    if (code !== undefined && /\d/u.test(code)) return code;
  }
  return null;
};

const NOWHERE: Span = { start: 0, end: 0 };

const tokenAt = ({ tokens }: Scene, at: number): Span => tokens[at] ?? NOWHERE;

/** True if a price has a currency, or stands for none: a number alone may be anything. */
const hasCurrency = ({ tokens }: Scene, span: Span): boolean =>
  !findMoney(tokens, () => false).some(
    ({ from, to, marker, sum }) =>
      marker === null && !sum && overlaps(span, { start: tokens[from]?.start ?? 0, end: tokens[to - 1]?.end ?? 0 }),
  );

/** What a query excludes. Something is left to look for: in "not leather sofa" the sofa. */
const unwantedIn = (knowledge: Knowledge, query: string): Criterion[] => {
  const { is } = knowledge.lexicon;
  const annotations = annotate(knowledge, sceneOf(query, knowledge.cues), [], IN_QUERIES);
  const found = findExclusions({ ...annotations, isQuery: true }, () => false);
  const last = found.at(-1);
  const rest = wordsIn(
    blanked(
      query,
      found.map(({ span }) => span),
    ),
  );
  if (last === undefined || rest.some(({ folded }) => !is("stop_word", folded) && !is("function_word", folded)))
    return found;
  const words = wordsIn(last.value);
  const kept = words.at(-2);
  if (kept === undefined) return found;
  const value = last.value.slice(0, kept.end);
  return [
    ...found.slice(0, -1),
    { value, span: { ...last.span, end: last.span.end - last.value.length + value.length } },
  ];
};

type QueryExtractor = (query: string) => QueryExtraction;

/** Makes the function of `createQueryExtractor` in steps. */
export function* queryExtractorOf(vocabulary: Vocabulary): Steps<QueryExtractor> {
  const knowledge = knowledgeOf(vocabulary);
  const { lexicon, gazetteer, classifiers, judges } = knowledge;
  const { is, namings } = lexicon;
  const largest = gazetteer.largest(MIN_POPULATION);
  yield;
  const correct = createCorrector(
    [
      ...namings.map(({ form }) => form),
      ...(lexicon.words.get("limit_word") ?? []),
      ...(lexicon.words.get("period_word") ?? []),
      ...(lexicon.words.get("near_radius") ?? []),
      ...(lexicon.words.get("near_word") ?? []),
      ...wordsFor("before_range"),
    ],
    [
      ...namings.filter(({ family, weight }) => weight >= MIN_CUE && family === "category").map(({ form }) => form),
      ...largest,
    ],
    (word) => gazetteer.named(word).length > 0,
  );
  return (asking) => {
    const unwanted = unwantedIn(knowledge, asking);
    const query = blanked(
      asking,
      unwanted.map(({ span }) => span),
    );
    const written = tokensIn(query);
    // By the start of the misspelt word.
    const corrections = new Map(
      wordsIn(query, written).flatMap(({ folded, start }) => {
        const meant = correct(folded);
        return meant === null ? [] : [[start, meant] as const];
      }),
    );
    const corrected = written.map((token) => ({ ...token, text: corrections.get(token.start) ?? token.text }));
    const annotations = annotate(knowledge, sceneOf(query, knowledge.cues, corrected), [], IN_QUERIES);
    const { words: tokens, hits, placeHits, language } = annotations;
    // The language of a few words is often detected wrongly, so phrases count in every language ("van to hire" is not
    // Dutch).
    const phrases = findTerms(lexicon, tokens, null).filter(
      (hit) => hit.to - hit.from > 1 && (hit.family === "ask_kind" || hit.family === "kind"),
    );
    // A query has no phone numbers, whatever its numbers look like.
    const isHidden = (): boolean => false;
    const scene = { ...annotations, isHidden };
    const circle = findNear(gazetteer, { ...scene, hints: { language } });
    const beside = placeHits.filter((hit) => hit !== circle?.hit && !endsLimit(tokens, hit, is));
    const { places, unknown } = readPlaces(knowledge, {
      ...scene,
      placeHits: beside,
      known: knownPlaces(gazetteer, beside),
    });
    const nowhere = unknown ?? (places.length === 0 && circle === null ? postalCodeIn(scene) : null);
    // Nobody knows where "near me" is.
    const here = circle === null && places.length === 0 ? nearMe(tokens, is) : null;
    const near = circle ?? (here === null ? null : { circle: null, span: here });
    const country = places[0]?.country ?? countryOfLanguage(language) ?? (/\$/.test(query) ? "US" : null);
    const budget = readPrice(judgePrices(scene, isHidden, judges, { country, isAsk: true }), judges);

    const head = hits.find((hit) => hit.family === "category" && hit.weight >= MIN_HEAD)?.to ?? null;
    // The "for" of "for sale" belongs to the kind. The "for" of "for my daughter" begins the modifiers, although that
    // phrase is a term for the kind "buy".
    const ofKind = hits.filter(({ family, value }) => family === "kind" || (family === "ask_kind" && value === "rent"));
    const aside = modifiersFrom(tokens, head, (at) => ofKind.some((hit) => hit.from <= at && at < hit.to), is);
    // The modifiers tell little about the thing itself: the kitchen in "fridge for a family kitchen".
    const about = hits.filter((hit) => (hit.family !== "category" && hit.family !== "domain") || hit.from < aside);
    const thing = classifyAsk(classifiers, {
      annotations: { ...annotations, hits: about },
      price: budget,
    });
    const sure = (thing.domain?.confidence ?? 0) >= MIN_CONFIDENCE;
    const domain = sure ? (thing.domain?.value ?? null) : null;
    const guess = thing.kind === null ? null : LOOKED_FOR[thing.kind.value];
    const kind = readKind(lexicon, [...hits, ...phrases], domain, guess);

    const said: Span[] = [];
    let price: QueryExtraction["price"] = null;
    const isMoney = budget?.span !== undefined && hasCurrency(scene, budget.span);
    const bound = isMoney
      ? null
      : findBound({
          scene,
          words: tokens,
          is,
          isHidden: (at) => near !== null && overlaps(near.span, tokenAt(scene, at)),
        });
    if (budget?.type === "free" && budget.confidence >= LEADING_FREE) {
      price = { min: null, max: 0, currency: null, period: null };
    } else if (bound !== null) {
      const isSame = budget?.span !== undefined && overlaps(budget.span, bound.money);
      price = {
        min: bound.min,
        max: bound.max,
        currency: currencyOf(places[0]?.country ?? null),
        period: isSame && budget.period !== "project" ? budget.period : null,
        no_currency: true,
      };
      said.push(widenPrice(tokens, bound.span, is));
    } else if (isMoney && budget?.amount != null && budget.amount > 0 && budget.confidence >= CERTAIN_PRICE) {
      const { amount, amountMax, currency, period, type, unit, span } = budget;
      // The price of a unit is no limit for what a whole costs.
      if (unit === null)
        price = {
          min: type === "from" || amountMax !== null ? amount : null,
          max: type === "from" ? null : (amountMax ?? amount),
          currency,
          period: period === "project" ? null : period,
        };
      said.push(widenPrice(tokens, span, is));
    }
    said.push(...places.map(({ span }) => span), ...(near === null ? [] : [near.span]));
    const things = hits.filter((hit) => hit.family === "category").map((hit) => spanOf(tokens, hit));
    for (const hit of [...hits, ...phrases]) {
      const span = spanOf(tokens, hit);
      const isKind = kindOf(hit) !== null && kindOf(hit) === kind?.value && hit.weight >= MIN_CUE;
      if (isKind && !things.some((other) => overlaps(other, span))) said.push(span);
    }
    const left = tokens.filter((token) => !said.some((span) => overlaps(span, token)));
    const contentWords = left.filter((token) => !is("stop_word", token.folded));
    return {
      words: wordsSaid(query, contentWords.length > 0 ? contentWords : left, corrections, tokens[aside]?.start),
      language,
      corrections: [...new Set(corrections.values())],
      offer_kind: kind,
      domain,
      category: sure ? (thing.category?.value ?? null) : null,
      price,
      exclude: unwanted.map(({ value }) => value),
      asked: query.trim(),
      ...(nowhere === null ? {} : { unknown_place: nowhere }),
      places: places.map(({ text, city, country }) => ({ text, city, country })),
      ...(near === null ? {} : { near: { ...(near.circle ?? { lat: null }), quote: quoteOf(query, near.span) } }),
    };
  };
}

/** Creates the function that reads queries. Deterministic, and takes well under a millisecond for a query. */
export const createQueryExtractor = (vocabulary: Vocabulary): QueryExtractor => inOneGo(queryExtractorOf(vocabulary));
