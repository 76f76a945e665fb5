import { readContacts } from "../decide/contacts.ts";
import { sceneOf } from "../decide/context.ts";
import { findOrders } from "../decide/orders.ts";
import { findLocation } from "../decide/place.ts";
import { explainPrice, judgePrices, type PriceFound, readPrice } from "../decide/price.ts";
import { findTitle } from "../decide/title.ts";
import type {
  AskExtraction,
  BuiltinExtractor,
  Located,
  OfferExtraction,
  OwnReading,
  Vocabulary,
} from "../extraction.ts";
import { findNear } from "../propose/near.ts";
import { countryOfNumber } from "../propose/phones.ts";
import { locateQuotes } from "../quotes.ts";
import { fold } from "../text/fold.ts";
import { codePointsBefore, inCodePoints, overlaps, quoteOf, type Span, spanOf } from "../text/span.ts";
import { type Annotations, annotate } from "./annotate.ts";
import { type Classified, classifyAsk, classifyOffer, type Decision, type OfferKind } from "./classify.ts";
import { findExclusions, findKeywords, findRequirements } from "./criteria.ts";
import { findCondition, findFeatures, findSpace } from "./details.ts";
import { type Knowledge, knowledgeOf } from "./knowledge.ts";
import type { IsWord } from "./lexicon.ts";
import { locate, type Resolved } from "./locate.ts";
import { keepStated } from "./stated.ts";
import { type Decided, titleTextOf } from "./title_text.ts";

/**
 * The built-in extractor: rules, a vocabulary and classifiers instead of a language model. It needs no provider,
 * answers within milliseconds, and always reads the same text in the same way.
 *
 *   text -> tokens -> terms of the vocabulary -> kind and category together, place, title, details
 *        -> contacts and prices, by grammars of their own
 *
 * Passages that give instructions to a model are not part of the offer: they are not used for classification, title or
 * place.
 */

/** An extractor leaves out values of lower confidence (extraction.ts). */
const MIN_CONFIDENCE = 0.5;

/** A location of lower confidence is left out: half of those were wrong on held-out texts. */
const MIN_LOCATION = 0.3;

/** A name that the gazetteer does not have may be no place at all. */
const MIN_UNKNOWN_LOCATION = 0.55;

/** A postal code in a location. */
const POSTCODE = /\b(?:\d{2}-\d{3}|\d{4,5}(?:-\d{3})?(?: ?[A-Z]{2}\b)?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})\b/;

const DETAIL_CONFIDENCE = 0.8;

/** A span as an extraction has it: its words, and where they stand in the text. */
type Quoter = (span: Span) => { quote: string } & Span;

const quoterOf =
  (text: string, before: readonly number[]): Quoter =>
  (span) => ({ quote: quoteOf(text, span), ...inCodePoints(before, span) });

type Offer = Located<OfferExtraction>;
type Ask = Located<AskExtraction>;

const inferred = <T extends string>({ words }: Annotations, quoted: Quoter, decision: Decision<T> | null) =>
  decision === null
    ? null
    : {
        value: decision.value,
        ...quoted(spanOf(words, decision.hit)),
        basis: "inferred" as const,
        confidence: decision.confidence,
      };

const locationOf = (quoted: Quoter, located: Resolved | null, remote: boolean): Offer["location"] => {
  if (located === null || located.confidence < (located.place === null ? MIN_UNKNOWN_LOCATION : MIN_LOCATION))
    return null;
  const passage = quoted(located.span);
  const { quote: written } = passage;
  if (written.length > 200) return null;
  const { place } = located;
  return {
    value: {
      text: written,
      country: place?.country ?? null,
      region: place?.region ?? null,
      city: place?.city ?? null,
      district: place?.district ?? null,
      postal_code: POSTCODE.exec(written)?.[0] ?? null,
      point: place?.point ?? null,
      remote,
    },
    ...passage,
    basis: "stated",
    confidence: located.confidence,
  };
};

/** The title of a text that names nothing: its first characters outside the passages that are addressed to software. */
const anyTitle = ({ text, orders }: Annotations, quoted: Quoter): Offer["title"] => {
  const isFree = (at: number): boolean => !orders.some((order) => overlaps(order, { start: at, end: at + 1 }));
  const starts = Array.from(text.matchAll(/\S/gu), ({ index }) => index);
  const start = starts.find(isFree) ?? 0;
  const next = orders.find((order) => order.start > start)?.start ?? text.length;
  const value = [...text.slice(start, next)].slice(0, 120).join("").trim() || text.slice(0, 1);
  const span = { start, end: start + value.length };
  return { value, ...quoted(span), basis: "inferred", confidence: MIN_CONFIDENCE };
};

const conditionOf = (annotations: Annotations, quoted: Quoter): Offer["condition"] => {
  const condition = findCondition(annotations.words, annotations.hits, annotations.is);
  return condition === null
    ? null
    : {
        value: condition.value,
        ...quoted(spanOf(annotations.words, condition.hit)),
        basis: "stated",
        confidence: DETAIL_CONFIDENCE,
      };
};

const stated = <T>(quoted: Quoter, { value, span }: { value: T; span: Span }) => ({
  value,
  ...quoted(span),
  basis: "stated" as const,
  confidence: DETAIL_CONFIDENCE,
});

/** The domain in which space is read. In other domains "2 br" and "40 m2" describe something else. */
const SPACE_DOMAIN = "real_estate";

/** A price as the extraction has it. Dating has no price. */
const priceOf = (quoted: Quoter, price: PriceFound | null, { kind }: Classified<OfferKind>): Offer["price"] => {
  if (price === null || kind?.value === "dating") return null;
  const passage = quoted(price.span);
  return {
    value: {
      amount: price.amount,
      amount_max: price.amountMax,
      currency: price.currency,
      period: price.period,
      type: price.type,
      negotiable: price.negotiable,
      deposit: price.deposit,
      label: passage.quote,
    },
    ...passage,
    basis: "stated",
    confidence: price.confidence,
  };
};

/** What an ask would pay at most: the upper end of a range, and a stated amount. "From X" is the least. */
const budgetOf = (quoted: Quoter, price: PriceFound | null): Ask["price"] => {
  if (price?.amount == null || price.type === "free") return null;
  const isLeast = price.type === "from";
  return {
    value: {
      min: isLeast || price.amountMax !== null ? price.amount : null,
      max: isLeast ? null : (price.amountMax ?? price.amount),
      currency: price.currency,
      period: price.period === "project" ? null : price.period,
    },
    ...quoted(price.span),
    basis: "stated",
    confidence: price.confidence,
  };
};

/** The domain of words with which people who look for a home describe themselves: "no pets", "keine Kinder". */
const SELF_DESCRIPTION = "family_pets";

/** Kinds of ask whose amount is a maximum to pay. In the other kinds it is what the author hopes to earn. */
const PAYING: ReadonlySet<string> = new Set(["buy", "rent", "hire", "dating", "friendship"]);

/** The kinds of offer that are about things. */
const GOODS: ReadonlySet<string> = new Set(["sale", "rental"]);

/** What is read of a text in the same way for offers and asks. */
const see = (knowledge: Knowledge, text: string, isAsk: boolean) => {
  const { judges } = knowledge;
  const scene = sceneOf(text, knowledge.cues);
  const annotations = annotate(knowledge, scene, findOrders(scene, judges.order));
  const { language, isHidden, currency } = annotations;
  const stated = findLocation(annotations, judges);
  const first = locate(knowledge, annotations, stated, { currency, phoneCountries: [] });
  const guessed = first.country ?? annotations.country;
  const contacts = isAsk ? [] : readContacts(annotations, judges, { country: guessed, language }, annotations.orders);
  // If the text names no known place, a phone number may show the country.
  const phoneCountries = contacts.flatMap(({ value }) => countryOfNumber(value) ?? []);
  const country = first.country ?? phoneCountries[0] ?? annotations.country;
  const judged = judgePrices(annotations, isHidden, judges, { country, isAsk });
  const price = readPrice(judged, judges);
  const { location, remote } = locate(knowledge, annotations, stated, {
    currency: price?.currency ?? currency,
    phoneCountries,
  });
  const before = codePointsBefore(text);
  const quoted = quoterOf(text, before);
  return {
    annotations,
    before,
    country,
    contacts,
    judged,
    price,
    place: location,
    location: locationOf(quoted, location, remote),
    quoted,
  };
};
type Seen = ReturnType<typeof see>;

/** A title without the small article before its first noun: "a grey sofa" is "grey sofa". */
const withoutArticle = (title: string, is: IsWord): string => {
  const [first = "", ...rest] = title.split(" ");
  return rest.length > 0 && first === first.toLowerCase() && is("article", fold(first)) ? rest.join(" ") : title;
};

/** The title, once the category is known. */
const readTitle = (
  knowledge: Knowledge,
  annotations: Annotations,
  quoted: Quoter,
  { domain, category }: Classified<string>,
  decided: Pick<Decided, "price" | "place" | "isAsk">,
): Offer["title"] | null => {
  const path = category === null ? null : `${domain?.value ?? ""}/${category.value}`;
  const found = findTitle(titleTextOf(annotations, { ...decided, category: path }), knowledge.judges);
  const value = found === null ? "" : withoutArticle(found.title, annotations.is);
  return found === null
    ? null
    : {
        value,
        ...quoted(found.span),
        basis: "stated",
        confidence: found.confidence,
      };
};

const offerOf = (
  knowledge: Knowledge,
  { annotations, contacts, price, judged, place, location, quoted }: Seen,
): Offer => {
  const { text } = annotations;
  const classified = classifyOffer(knowledge.classifiers, { annotations, price });
  const space = classified.domain?.value === SPACE_DOMAIN ? findSpace(annotations) : null;
  const decided = { price: price?.span ?? null, place: place?.span ?? null, isAsk: false };
  return {
    language: annotations.language,
    title: readTitle(knowledge, annotations, quoted, classified, decided) ?? anyTitle(annotations, quoted),
    domain: inferred(annotations, quoted, classified.domain),
    category: inferred(annotations, quoted, classified.category),
    offer_kind: inferred(annotations, quoted, classified.kind),
    price: priceOf(quoted, price, classified),
    location,
    contacts: contacts.map(({ type, value, preferred, span, confidence }) => ({
      value: { type, value, preferred },
      ...quoted(span),
      basis: "stated",
      confidence,
    })),
    party: null,
    // Only things that are sold or lent have a condition.
    condition: GOODS.has(classified.kind?.value ?? "sale") ? conditionOf(annotations, quoted) : null,
    space: space === null ? null : stated(quoted, space),
    features: findFeatures(text, annotations.words, annotations.hits, annotations.is).map((feature) =>
      stated(quoted, feature),
    ),
    attributes: [],
    price_reasons: explainPrice(judged, knowledge.judges),
  };
};

const askOf = (knowledge: Knowledge, { annotations, price, place, location, quoted }: Seen): Ask => {
  const { text, hits, words, is } = annotations;
  const classified = classifyAsk(knowledge.classifiers, { annotations, price });
  // People who look for a flat write "no pets" about themselves.
  const describesThemselves = classified.domain?.value === SPACE_DOMAIN;
  const isOwn = (at: number): boolean =>
    describesThemselves &&
    hits.some(
      (hit) =>
        (hit.family === "category" || hit.family === "domain") &&
        hit.value.startsWith(SELF_DESCRIPTION) &&
        hit.from <= at &&
        at < hit.to,
    );
  const { currency, language } = annotations;
  const near = findNear(knowledge.gazetteer, { ...annotations, hints: { currency, language } });
  const excluded = findExclusions(text, words, annotations.language, is, isOwn);
  const decided = { price: price?.span ?? null, place: place?.span ?? null, isAsk: true };
  return {
    language: annotations.language,
    title: readTitle(knowledge, annotations, quoted, classified, decided),
    domain: inferred(annotations, quoted, classified.domain),
    category: inferred(annotations, quoted, classified.category),
    ask_kind: inferred(annotations, quoted, classified.kind),
    price: PAYING.has(classified.kind?.value ?? "buy") ? budgetOf(quoted, price) : null,
    location,
    near: near?.circle == null ? null : stated(quoted, { value: near.circle, span: near.span }),
    condition: conditionOf(annotations, quoted),
    keywords: findKeywords(text, words, hits, excluded),
    must: findRequirements(text, words, is).map((criterion) => stated(quoted, criterion)),
    exclude: excluded.map((criterion) => stated(quoted, criterion)),
    attributes: [],
  };
};

/** Creates the extractor that needs no model. Deterministic, and linear in the length of the text. */
export const createBuiltinExtractor = (vocabulary: Vocabulary): BuiltinExtractor => {
  const knowledge = knowledgeOf(vocabulary);
  const { gazetteer } = knowledge;
  const reading =
    <R extends OfferExtraction | AskExtraction>(
      isAsk: boolean,
      extract: (knowledge: Knowledge, seen: Seen) => Located<R>,
    ) =>
    (text: string): OwnReading<R> => {
      const seen = see(knowledge, text, isAsk);
      const { orders } = seen.annotations;
      return {
        extraction: extract(knowledge, seen),
        addressed: orders.map((order) => inCodePoints(seen.before, order)),
        keepStated: (extraction) => keepStated(locateQuotes(text, extraction, orders), { gazetteer, ...seen }),
      };
    };
  return { model: "builtin", readOffer: reading(false, offerOf), readAsk: reading(true, askOf) };
};
