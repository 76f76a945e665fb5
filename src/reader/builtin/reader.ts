import type { AskReading, OfferReading, Reader, Vocabulary } from "../extraction.ts";
import { type Survey, survey } from "./annotate.ts";
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
 * The built-in reader: rules and a vocabulary instead of a model. It needs no provider, answers in milliseconds, and
 * reads the same text always the same way.
 *
 *   text -> words -> terms of the vocabulary -> kind and category together, place, title, details
 *        -> contacts and prices, by grammars of their own
 *
 * Sentences that give orders to a model are content of no offer: they neither classify nor name nor place anything.
 */

/** What a maker would be less sure of it leaves out (reading.ts). */
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

const inferred = <T extends string>({ text, tokens }: Survey, decision: Decision<T> | null) =>
  decision === null
    ? null
    : {
        value: decision.value,
        quote: quoteOf(text, spanOfHit(tokens, decision.hit)),
        basis: "inferred" as const,
        confidence: decision.confidence,
      };

const locationOf = ({ text, place }: Survey): OfferReading["location"] => {
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

const titleOf = (read: Survey, classified: Classified<string>): OfferReading["title"] | null => {
  const decisive = firstNaming(read.hits, classified) ?? classified.kind?.hit ?? null;
  const named = nameThing(read.text, read.tokens, decisive, read.addressed, read.addresses);
  if (named === null) return null;
  return {
    value: named.title,
    quote: quoteOf(read.text, named.span),
    basis: named.title === quoteOf(read.text, named.span) ? "stated" : "inferred",
    confidence: named.sure ? TITLE_CONFIDENCE.sure : TITLE_CONFIDENCE.opening,
  };
};

/** A title for a text that names nothing: its first signs. */
const anyTitle = (text: string): OfferReading["title"] => {
  const start = text.search(/\S/u);
  const value = [...text.slice(Math.max(start, 0))].slice(0, 120).join("").trim() || text.slice(0, 1);
  return { value, quote: value, basis: "inferred", confidence: LEAST_CONFIDENCE };
};

const conditionOf = (read: Survey): OfferReading["condition"] => {
  const condition = findCondition(read.tokens, read.hits);
  return condition === null
    ? null
    : {
        value: condition.value,
        quote: quoteOf(read.text, spanOfHit(read.tokens, condition.hit)),
        basis: "stated",
        confidence: DETAIL_CONFIDENCE,
      };
};

const stated = ({ text }: Survey, { value, span }: { value: string; span: Span }) => ({
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
const settlePrice = (
  price: OfferReading["price"],
  { kind, domain, category }: Classified<OfferKind>,
): OfferReading["price"] => {
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

const readOffer = ({ lexicon, classifiers }: Knowledge, text: string): OfferReading => {
  const read = survey(lexicon, text);
  const contacts = readContacts(text, { country: read.country });
  // A text that names no place we know may still leave a number.
  const number = contacts.find(({ value }) => value.value.startsWith("+"))?.value.value;
  const country = read.country ?? (number === undefined ? null : countryOfNumber(number));
  const price = readPrice(text, { country });
  const classified = classifyOffer(classifiers, { read, price });
  const space = classified.domain?.value === SPACE_DOMAIN ? findSpace(text) : null;
  return {
    language: read.language,
    title: titleOf(read, classified) ?? anyTitle(text),
    domain: inferred(read, classified.domain),
    category: inferred(read, classified.category),
    offer_kind: inferred(read, classified.kind),
    price: settlePrice(price, classified),
    location: locationOf(read),
    contacts,
    party: null,
    // Only what changes hands for good or for a while is new or used.
    condition: GOODS.has(classified.kind?.value ?? "sale") ? conditionOf(read) : null,
    space:
      space === null
        ? null
        : { value: space.value, quote: quoteOf(text, space.span), basis: "stated", confidence: DETAIL_CONFIDENCE },
    features: findFeatures(text, read.tokens, read.hits).map((feature) => stated(read, feature)),
    attributes: [],
  };
};

const readAsk = ({ lexicon, classifiers }: Knowledge, text: string): AskReading => {
  const read = survey(lexicon, text);
  const price = readBudget(text, { country: read.country });
  const classified = classifyAsk(classifiers, { read, price });
  // Who looks for a flat says "no pets" of themselves.
  const describesThemselves = classified.domain?.value === SPACE_DOMAIN;
  const excluded = findExclusions(
    text,
    read.tokens,
    read.language,
    (at) =>
      describesThemselves &&
      read.hits.some(
        (hit) =>
          (hit.family === "category" || hit.family === "domain") &&
          hit.value.startsWith(OWN) &&
          hit.from <= at &&
          at < hit.to,
      ),
  );
  return {
    language: read.language,
    title: titleOf(read, classified),
    domain: inferred(read, classified.domain),
    category: inferred(read, classified.category),
    ask_kind: inferred(read, classified.kind),
    price: PAYING.has(classified.kind?.value ?? "buy") ? price : null,
    location: locationOf(read),
    condition: conditionOf(read),
    keywords: findKeywords(text, read.tokens, read.hits, excluded),
    must: findRequirements(text, read.tokens).map((criterion) => stated(read, criterion)),
    exclude: excluded.map((criterion) => stated(read, criterion)),
    attributes: [],
  };
};

/** The reader that needs no model. Deterministic, and linear in the text. */
export const createBuiltinReader = (vocabulary: Vocabulary): Reader => {
  const knowledge = knowledgeOf(vocabulary);
  return {
    maker: "builtin",
    readOffer: async (text, signal) => {
      signal.throwIfAborted();
      return readOffer(knowledge, text);
    },
    readAsk: async (text, signal) => {
      signal.throwIfAborted();
      return readAsk(knowledge, text);
    },
  };
};
