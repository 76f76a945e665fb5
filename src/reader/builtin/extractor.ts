import type { AskExtraction, Extractor, OfferExtraction, Vocabulary } from "../extraction.ts";
import { type Annotations, annotate } from "./annotate.ts";
import { type Classified, classifyAsk, classifyOffer, type Decision, type OfferKind } from "./classify.ts";
import { readContacts } from "./contacts.ts";
import { findExclusions, findKeywords, findRequirements } from "./criteria.ts";
import { findCondition, findFeatures, findSpace } from "./details.ts";
import { type Knowledge, knowledgeOf } from "./knowledge.ts";
import type { Hit } from "./lexicon.ts";
import { countryOfNumber } from "./phones.ts";
import { readBudget, readPrice } from "./prices.ts";
import { quoteOf, type Span } from "./span.ts";
import { nameThing } from "./title.ts";
import type { Token } from "./tokens.ts";

/**
 * The built-in extractor: rules and a vocabulary instead of a model. It needs no provider, answers in milliseconds, and
 * reads the same text always the same way.
 *
 *   text -> words -> terms of the vocabulary -> kind and category together, place, title, details
 *        -> contacts and prices, by grammars of their own
 *
 * Sentences that give orders to a model are content of no offer: they neither classify nor name nor place anything.
 */

/** What an extractor would be less sure of it leaves out (extraction.ts). */
const LEAST_CONFIDENCE = 0.5;

/** A title in words that decided the category is surer than the first line. */
const TITLE_CONFIDENCE = { sure: 0.85, opening: 0.6 };
const DETAIL_CONFIDENCE = 0.8;

/** A term of this weight names a thing rather than hinting at it. */
const NAMING = 1.5;

/** The words of a hit as they stand in the text. */
const spanOfHit = (tokens: readonly Token[], hit: Hit): Span => ({
  start: tokens[hit.from]?.start ?? 0,
  end: tokens[hit.to - 1]?.end ?? 0,
});

const inferred = <T extends string>({ text, tokens }: Annotations, decision: Decision<T> | null) =>
  decision === null
    ? null
    : {
        value: decision.value,
        quote: quoteOf(text, spanOfHit(tokens, decision.hit)),
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

/** Where the thing is first named: what decides most may come later ("Kittens ... litter trained"). */
const firstNaming = (hits: readonly Hit[], { domain, category }: Classified<string>): Hit | null => {
  const best = category?.hit ?? domain?.hit;
  if (best === undefined) return null;
  const sense = `${domain?.value ?? ""}/${category?.value ?? ""}`;
  return hits.find((hit) => hit.family === "category" && hit.value === sense && hit.weight >= NAMING) ?? best;
};

const titleOf = (annotations: Annotations, classified: Classified<string>): OfferExtraction["title"] | null => {
  const decisive = firstNaming(annotations.hits, classified) ?? classified.kind?.hit ?? null;
  const named = nameThing(annotations.text, annotations.tokens, decisive, annotations.addressed, annotations.addresses);
  if (named === null) return null;
  return {
    value: named.title,
    quote: quoteOf(annotations.text, named.span),
    basis: named.title === quoteOf(annotations.text, named.span) ? "stated" : "inferred",
    confidence: named.sure ? TITLE_CONFIDENCE.sure : TITLE_CONFIDENCE.opening,
  };
};

/** A title for a text that names nothing: its first signs. */
const anyTitle = (text: string): OfferExtraction["title"] => {
  const start = text.search(/\S/u);
  const value = [...text.slice(Math.max(start, 0))].slice(0, 120).join("").trim() || text.slice(0, 1);
  return { value, quote: value, basis: "inferred", confidence: LEAST_CONFIDENCE };
};

const conditionOf = (annotations: Annotations): OfferExtraction["condition"] => {
  const condition = findCondition(annotations.tokens, annotations.hits);
  return condition === null
    ? null
    : {
        value: condition.value,
        quote: quoteOf(annotations.text, spanOfHit(annotations.tokens, condition.hit)),
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

/** Domains whose offers hold space: elsewhere "2 br" and "40 m2" describe something else. */
const SPACE_DOMAIN = "real_estate";

/** Rents that are paid by the month where nothing else is said. */
const RENTED_BY_MONTH = new Set(["apartments", "houses", "rooms", "parking_storage", "commercial"]);

/** Where people meet, ages and times stand about: only what is surely money is a price there. */
const SURELY_MONEY = 0.8;

/** The price in the light of what is offered: a rent is by the month, and nobody is paid for a date. */
const priceInContext = (
  price: OfferExtraction["price"],
  { kind, domain, category }: Classified<OfferKind>,
): OfferExtraction["price"] => {
  if (price === null) return null;
  if (kind?.value === "dating" || (kind?.value === "friendship" && price.confidence < SURELY_MONEY)) return null;
  const { value } = price;
  const silent = value.period === null || value.period === "project";
  const rent = kind?.value === "rental" && domain?.value === SPACE_DOMAIN && RENTED_BY_MONTH.has(category?.value ?? "");
  return rent && silent && value.amount !== null && value.amount > 0
    ? { ...price, value: { ...value, period: "month" } }
    : price;
};

/** What who looks for a home says of themselves: "no pets", "keine Kinder". */
const OWN = "family_pets";

/** Who wants something for money names a ceiling; who sells or looks for work hopes for a sum. */
const PAYING: ReadonlySet<string> = new Set(["buy", "rent", "hire", "dating", "friendship"]);

/** The kinds of offer of things. */
const GOODS: ReadonlySet<string> = new Set(["sale", "rental"]);

const extractOffer = ({ lexicon, classifiers }: Knowledge, text: string): OfferExtraction => {
  const annotations = annotate(lexicon, text);
  const contacts = readContacts(text, { country: annotations.country });
  // A text that names no place we know may still leave a number.
  const number = contacts.find(({ value }) => value.value.startsWith("+"))?.value.value;
  const country = annotations.country ?? (number === undefined ? null : countryOfNumber(number));
  const price = readPrice(text, { country });
  const classified = classifyOffer(classifiers, { annotations, price });
  const space = classified.domain?.value === SPACE_DOMAIN ? findSpace(text) : null;
  return {
    language: annotations.language,
    title: titleOf(annotations, classified) ?? anyTitle(text),
    domain: inferred(annotations, classified.domain),
    category: inferred(annotations, classified.category),
    offer_kind: inferred(annotations, classified.kind),
    price: priceInContext(price, classified),
    location: locationOf(annotations),
    contacts,
    party: null,
    // Only what changes hands for good or for a while is new or used.
    condition: GOODS.has(classified.kind?.value ?? "sale") ? conditionOf(annotations) : null,
    space:
      space === null
        ? null
        : { value: space.value, quote: quoteOf(text, space.span), basis: "stated", confidence: DETAIL_CONFIDENCE },
    features: findFeatures(text, annotations.tokens, annotations.hits).map((feature) => stated(annotations, feature)),
    attributes: [],
  };
};

const extractAsk = ({ lexicon, classifiers }: Knowledge, text: string): AskExtraction => {
  const annotations = annotate(lexicon, text);
  const price = readBudget(text, { country: annotations.country });
  const classified = classifyAsk(classifiers, { annotations, price });
  // Who looks for a flat says "no pets" of themselves.
  const describesThemselves = classified.domain?.value === SPACE_DOMAIN;
  const excluded = findExclusions(
    text,
    annotations.tokens,
    annotations.language,
    (at) =>
      describesThemselves &&
      annotations.hits.some(
        (hit) =>
          (hit.family === "category" || hit.family === "domain") &&
          hit.value.startsWith(OWN) &&
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
    price: PAYING.has(classified.kind?.value ?? "buy") ? price : null,
    location: locationOf(annotations),
    condition: conditionOf(annotations),
    keywords: findKeywords(text, annotations.tokens, annotations.hits, excluded),
    must: findRequirements(text, annotations.tokens).map((criterion) => stated(annotations, criterion)),
    exclude: excluded.map((criterion) => stated(annotations, criterion)),
    attributes: [],
  };
};

/** The reader that needs no model. Deterministic, and linear in the text. */
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
