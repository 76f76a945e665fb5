import type { AskExtraction, Extractor, OfferExtraction, Vocabulary } from "../extraction.ts";
import { countryOfNumber } from "../find/phones.ts";
import { type PriceFound, readPrice } from "../judge/price.ts";
import { quoteOf, type Span } from "../text/span.ts";
import type { Word } from "../text/tokens.ts";
import { type Annotations, annotate } from "./annotate.ts";
import { type Classified, classifyAsk, classifyOffer, type Decision, type OfferKind } from "./classify.ts";
import { readContacts } from "./contacts.ts";
import { findExclusions, findKeywords, findRequirements } from "./criteria.ts";
import { findCondition, findFeatures, findSpace } from "./details.ts";
import { type Knowledge, knowledgeOf } from "./knowledge.ts";
import type { Hit } from "./lexicon.ts";
import { nameThing } from "./title.ts";

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

/** A title that contains the term which decided the category is more certain than one from the opening of the text. */
const TITLE_CONFIDENCE = { sure: 0.85, opening: 0.6 };
const DETAIL_CONFIDENCE = 0.8;

/** A term of at least this weight names a thing; weaker terms only hint at one. */
const LEAST_NAMING_WEIGHT = 1.5;

/** The span of a hit in the text. */
const spanOfHit = (tokens: readonly Word[], hit: Hit): Span => ({
  start: tokens[hit.from]?.start ?? 0,
  end: tokens[hit.to - 1]?.end ?? 0,
});

const inferred = <T extends string>({ text, words }: Annotations, decision: Decision<T> | null) =>
  decision === null
    ? null
    : {
        value: decision.value,
        quote: quoteOf(text, spanOfHit(words, decision.hit)),
        basis: "inferred" as const,
        confidence: decision.confidence,
      };

const locationOf = ({ text, place }: Annotations): OfferExtraction["location"] => {
  if (place === null || place.confidence < LEAST_CONFIDENCE) return null;
  const written = quoteOf(text, place.span);
  if (written.length > 200) return null;
  return {
    value: {
      text: written,
      country: place.country,
      region: place.region,
      city: place.city,
      district: place.district,
      postal_code: place.postalCode,
      remote: place.remote,
    },
    quote: written,
    basis: "stated",
    confidence: place.confidence,
  };
};

/**
 * The first term that names the thing. The term with the most evidence may come later ("Kittens ... litter trained").
 */
const firstNaming = (hits: readonly Hit[], { domain, category }: Classified<string>): Hit | null => {
  const best = category?.hit ?? domain?.hit;
  if (best === undefined) return null;
  const sense = `${domain?.value ?? ""}/${category?.value ?? ""}`;
  return (
    hits.find((hit) => hit.family === "category" && hit.value === sense && hit.weight >= LEAST_NAMING_WEIGHT) ?? best
  );
};

const titleOf = (annotations: Annotations, classified: Classified<string>): OfferExtraction["title"] | null => {
  const decisive = firstNaming(annotations.hits, classified) ?? classified.kind?.hit ?? null;
  const named = nameThing(annotations.text, annotations.words, decisive, annotations.addressed, annotations.addresses);
  if (named === null) return null;
  return {
    value: named.title,
    quote: quoteOf(annotations.text, named.span),
    basis: named.title === quoteOf(annotations.text, named.span) ? "stated" : "inferred",
    confidence: named.sure ? TITLE_CONFIDENCE.sure : TITLE_CONFIDENCE.opening,
  };
};

/** The title of a text that names nothing: its first characters. */
const anyTitle = (text: string): OfferExtraction["title"] => {
  const start = text.search(/\S/u);
  const value = [...text.slice(Math.max(start, 0))].slice(0, 120).join("").trim() || text.slice(0, 1);
  return { value, quote: value, basis: "inferred", confidence: LEAST_CONFIDENCE };
};

const conditionOf = (annotations: Annotations): OfferExtraction["condition"] => {
  const condition = findCondition(annotations.words, annotations.hits);
  return condition === null
    ? null
    : {
        value: condition.value,
        quote: quoteOf(annotations.text, spanOfHit(annotations.words, condition.hit)),
        basis: "stated",
        confidence: DETAIL_CONFIDENCE,
      };
};

const stated = ({ text }: Annotations, { value, span }: { value: string; span: Span }) => ({
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

const extractOffer = (knowledge: Knowledge, text: string): OfferExtraction => {
  const annotations = annotate(knowledge, text);
  const contacts = readContacts(text, { country: annotations.country });
  // If the text names no known place, a phone number may show the country.
  const number = contacts.find(({ value }) => value.value.startsWith("+"))?.value.value;
  const country = annotations.country ?? (number === undefined ? null : countryOfNumber(number));
  const price = readPrice(annotations, annotations.isHidden, knowledge.prices, { country, isAsk: false });
  const classified = classifyOffer(knowledge.classifiers, { annotations, price });
  const space = classified.domain?.value === SPACE_DOMAIN ? findSpace(text) : null;
  return {
    language: annotations.language,
    title: titleOf(annotations, classified) ?? anyTitle(text),
    domain: inferred(annotations, classified.domain),
    category: inferred(annotations, classified.category),
    offer_kind: inferred(annotations, classified.kind),
    price: priceOf(annotations, price, classified),
    location: locationOf(annotations),
    contacts,
    party: null,
    // Only things that are sold or lent have a condition.
    condition: GOODS.has(classified.kind?.value ?? "sale") ? conditionOf(annotations) : null,
    space:
      space === null
        ? null
        : { value: space.value, quote: quoteOf(text, space.span), basis: "stated", confidence: DETAIL_CONFIDENCE },
    features: findFeatures(text, annotations.words, annotations.hits).map((feature) => stated(annotations, feature)),
    attributes: [],
  };
};

const extractAsk = (knowledge: Knowledge, text: string): AskExtraction => {
  const annotations = annotate(knowledge, text);
  const price = readPrice(annotations, annotations.isHidden, knowledge.prices, {
    country: annotations.country,
    isAsk: true,
  });
  const classified = classifyAsk(knowledge.classifiers, { annotations, price });
  // People who look for a flat write "no pets" about themselves.
  const describesThemselves = classified.domain?.value === SPACE_DOMAIN;
  const excluded = findExclusions(
    text,
    annotations.words,
    annotations.language,
    (at) =>
      describesThemselves &&
      annotations.hits.some(
        (hit) =>
          (hit.family === "category" || hit.family === "domain") &&
          hit.value.startsWith(SELF_DESCRIPTION) &&
          hit.from <= at &&
          at < hit.to,
      ),
  );
  return {
    language: annotations.language,
    title: titleOf(annotations, classified),
    domain: inferred(annotations, classified.domain),
    category: inferred(annotations, classified.category),
    ask_kind: inferred(annotations, classified.kind),
    price: PAYING.has(classified.kind?.value ?? "buy") ? budgetOf(annotations, price) : null,
    location: locationOf(annotations),
    condition: conditionOf(annotations),
    keywords: findKeywords(text, annotations.words, annotations.hits, excluded),
    must: findRequirements(text, annotations.words).map((criterion) => stated(annotations, criterion)),
    exclude: excluded.map((criterion) => stated(annotations, criterion)),
    attributes: [],
  };
};

/** Creates the extractor that needs no model. Deterministic, and linear in the length of the text. */
export const createBuiltinExtractor = (vocabulary: Vocabulary): Extractor => {
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
  };
};
