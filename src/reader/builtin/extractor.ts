import type { AskExtraction, BuiltinExtractor, OfferExtraction, PriceReason, Vocabulary } from "../extraction.ts";
import { findNear } from "../find/near.ts";
import { countryOfNumber } from "../find/phones.ts";
import { readContacts } from "../judge/contacts.ts";
import { findOrders } from "../judge/orders.ts";
import { findLocation } from "../judge/place.ts";
import { explainPrice, judgePrices, type PriceFound, readPrice } from "../judge/price.ts";
import { findTitle } from "../judge/title.ts";
import { findCues } from "../text/cues.ts";
import { fold } from "../text/fold.ts";
import { quoteOf, type Span, spanOf } from "../text/span.ts";
import { tokensIn } from "../text/tokens.ts";
import { type Annotations, annotate } from "./annotate.ts";
import { type Classified, classifyAsk, classifyOffer, type Decision, type OfferKind } from "./classify.ts";
import { findExclusions, findKeywords, findRequirements } from "./criteria.ts";
import { findCondition, findFeatures, findSpace } from "./details.ts";
import { type Knowledge, knowledgeOf } from "./knowledge.ts";
import type { IsWord } from "./lexicon.ts";
import { type Located, locate } from "./locate.ts";
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
const LEAST_CONFIDENCE = 0.5;

/** A location of lower confidence is left out: half of those were wrong on held-out texts. */
const LEAST_LOCATION = 0.3;

/** A name that the gazetteer does not have may be no place at all. */
const LEAST_UNKNOWN_LOCATION = 0.55;

/** A postal code in a location. */
const POSTCODE = /\b(?:\d{2}-\d{3}|\d{4,5}(?:-\d{3})?(?: ?[A-Z]{2}\b)?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})\b/;

const DETAIL_CONFIDENCE = 0.8;

const inferred = <T extends string>({ text, words }: Annotations, decision: Decision<T> | null) =>
  decision === null
    ? null
    : {
        value: decision.value,
        quote: quoteOf(text, spanOf(words, decision.hit)),
        basis: "inferred" as const,
        confidence: decision.confidence,
      };

const locationOf = ({ text }: Annotations, located: Located | null, remote: boolean): OfferExtraction["location"] => {
  if (located === null || located.confidence < (located.place === null ? LEAST_UNKNOWN_LOCATION : LEAST_LOCATION))
    return null;
  const written = quoteOf(text, located.span);
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
    quote: written,
    basis: "stated",
    confidence: located.confidence,
  };
};

/** The title of a text that names nothing: its first characters. */
const anyTitle = (text: string): OfferExtraction["title"] => {
  const start = text.search(/\S/u);
  const value = [...text.slice(Math.max(start, 0))].slice(0, 120).join("").trim() || text.slice(0, 1);
  return { value, quote: value, basis: "inferred", confidence: LEAST_CONFIDENCE };
};

const conditionOf = (annotations: Annotations): OfferExtraction["condition"] => {
  const condition = findCondition(annotations.words, annotations.hits, annotations.is);
  return condition === null
    ? null
    : {
        value: condition.value,
        quote: quoteOf(annotations.text, spanOf(annotations.words, condition.hit)),
        basis: "stated",
        confidence: DETAIL_CONFIDENCE,
      };
};

const stated = <T>({ text }: Annotations, { value, span }: { value: T; span: Span }) => ({
  value,
  quote: quoteOf(text, span),
  basis: "stated" as const,
  confidence: DETAIL_CONFIDENCE,
});

/** The domain in which space is read. In other domains "2 br" and "40 m2" describe something else. */
const SPACE_DOMAIN = "real_estate";

/** A price as the extraction has it. Dating has no price. */
const priceOf = (
  { text }: Annotations,
  price: PriceFound | null,
  { kind }: Classified<OfferKind>,
): OfferExtraction["price"] => {
  if (price === null || kind?.value === "dating") return null;
  const quote = quoteOf(text, price.span);
  return {
    value: {
      amount: price.amount,
      amount_max: price.amountMax,
      currency: price.currency,
      period: price.period,
      type: price.type,
      negotiable: price.negotiable,
      deposit: price.deposit,
      label: quote,
    },
    quote,
    basis: "stated",
    confidence: price.confidence,
  };
};

/** What an ask would pay at most: the upper end of a range, and a stated amount. "From X" is the least. */
const budgetOf = ({ text }: Annotations, price: PriceFound | null): AskExtraction["price"] => {
  if (price?.amount == null || price.type === "free") return null;
  const isLeast = price.type === "from";
  return {
    value: {
      min: isLeast || price.amountMax !== null ? price.amount : null,
      max: isLeast ? null : (price.amountMax ?? price.amount),
      currency: price.currency,
      period: price.period === "project" ? null : price.period,
    },
    quote: quoteOf(text, price.span),
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

/** The passages of a text that are addressed to software. */
const ordersIn = ({ cues, judges }: Knowledge, text: string): Span[] => {
  const tokens = tokensIn(text);
  return findOrders({ text, tokens, cues: findCues(tokens, cues), topics: [] }, judges.order);
};

/** What is read of a text in the same way for offers and asks. */
const read = (knowledge: Knowledge, text: string, isAsk: boolean) => {
  const { judges } = knowledge;
  const annotations = annotate(knowledge, text, ordersIn(knowledge, text));
  const { language, isHidden } = annotations;
  const { currency } = annotations;
  const stated = findLocation(annotations, judges);
  const first = locate(knowledge, annotations, stated, { currency, phoneCountries: [] });
  const guessed = first.country ?? annotations.country;
  const contacts = isAsk ? [] : readContacts(annotations, judges, { country: guessed, language }, annotations.orders);
  // If the text names no known place, a phone number may show the country.
  const phoneCountries = contacts.flatMap(({ value }) => countryOfNumber(value) ?? []);
  const country = first.country ?? phoneCountries[0] ?? annotations.country;
  const hints = { country, isAsk };
  const judged = judgePrices(annotations, isHidden, judges, hints);
  const price = readPrice(judged, judges);
  const reasons = (): PriceReason[] => explainPrice(judged, judges);
  const { location, remote } = locate(knowledge, annotations, stated, {
    currency: price?.currency ?? currency,
    phoneCountries,
  });
  return { annotations, contacts, price, reasons, location, remote };
};

/** A title without the small article before its first noun: "a grey sofa" is "grey sofa". */
const withoutArticle = (title: string, is: IsWord): string => {
  const [first = "", ...rest] = title.split(" ");
  return rest.length > 0 && first === first.toLowerCase() && is("article", fold(first)) ? rest.join(" ") : title;
};

/** The title, once the category is known. */
const readTitle = (
  knowledge: Knowledge,
  annotations: Annotations,
  { domain, category }: Classified<string>,
  decided: Pick<Decided, "price" | "place" | "isAsk">,
): OfferExtraction["title"] | null => {
  const path = category === null ? null : `${domain?.value ?? ""}/${category.value}`;
  const found = findTitle(titleTextOf(annotations, { ...decided, category: path }), knowledge.judges);
  const value = found === null ? "" : withoutArticle(found.title, annotations.is);
  return found === null
    ? null
    : {
        value,
        quote: quoteOf(annotations.text, found.span),
        basis: "stated",
        confidence: found.confidence,
      };
};

const extractOffer = (knowledge: Knowledge, text: string): OfferExtraction => {
  const { annotations, contacts, price, reasons, location, remote } = read(knowledge, text, false);
  const classified = classifyOffer(knowledge.classifiers, { annotations, price });
  const space = classified.domain?.value === SPACE_DOMAIN ? findSpace(annotations) : null;
  const decided = { price: price?.span ?? null, place: location?.span ?? null, isAsk: false };
  return {
    language: annotations.language,
    title: readTitle(knowledge, annotations, classified, decided) ?? anyTitle(text),
    domain: inferred(annotations, classified.domain),
    category: inferred(annotations, classified.category),
    offer_kind: inferred(annotations, classified.kind),
    price: priceOf(annotations, price, classified),
    location: locationOf(annotations, location, remote),
    contacts: contacts.map(({ type, value, preferred, quote, confidence }) => ({
      value: { type, value, preferred },
      quote,
      basis: "stated",
      confidence,
    })),
    party: null,
    // Only things that are sold or lent have a condition.
    condition: GOODS.has(classified.kind?.value ?? "sale") ? conditionOf(annotations) : null,
    space:
      space === null
        ? null
        : { value: space.value, quote: quoteOf(text, space.span), basis: "stated", confidence: DETAIL_CONFIDENCE },
    features: findFeatures(text, annotations.words, annotations.hits, annotations.is).map((feature) =>
      stated(annotations, feature),
    ),
    attributes: [],
    price_reasons: reasons(),
  };
};

const extractAsk = (knowledge: Knowledge, text: string): AskExtraction => {
  const { annotations, price, location, remote } = read(knowledge, text, true);
  const { hits, words, is } = annotations;
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
  const decided = { price: price?.span ?? null, place: location?.span ?? null, isAsk: true };
  return {
    language: annotations.language,
    title: readTitle(knowledge, annotations, classified, decided),
    domain: inferred(annotations, classified.domain),
    category: inferred(annotations, classified.category),
    ask_kind: inferred(annotations, classified.kind),
    price: PAYING.has(classified.kind?.value ?? "buy") ? budgetOf(annotations, price) : null,
    location: locationOf(annotations, location, remote),
    near: near?.circle == null ? null : stated(annotations, { value: near.circle, span: near.span }),
    condition: conditionOf(annotations),
    keywords: findKeywords(text, words, hits, excluded),
    must: findRequirements(text, words, is).map((criterion) => stated(annotations, criterion)),
    exclude: excluded.map((criterion) => stated(annotations, criterion)),
    attributes: [],
  };
};

/** Creates the extractor that needs no model. Deterministic, and linear in the length of the text. */
export const createBuiltinExtractor = (vocabulary: Vocabulary): BuiltinExtractor => {
  const knowledge = knowledgeOf(vocabulary);
  return {
    model: "builtin",
    extractOffer: async (text, signal) => {
      signal.throwIfAborted();
      return extractOffer(knowledge, text);
    },
    extractAsk: async (text, signal) => {
      signal.throwIfAborted();
      return extractAsk(knowledge, text);
    },
    findOrders: (text) => ordersIn(knowledge, text),
  };
};
