import type { AskReading, OfferReading, Reader, Vocabulary } from "../reading.ts";
import { findAddressedToModel } from "./addressed.ts";
import {
  type AskKind,
  affinityOf,
  type Classified,
  classifyAsk,
  classifyOffer,
  type Decision,
  type KindHints,
  type OfferKind,
} from "./classify.ts";
import { readContacts } from "./contacts.ts";
import { guessCountry, languageOf } from "./countries.ts";
import { findExclusions, findKeywords, findRequirements } from "./criteria.ts";
import { findCondition, findFeatures, findSpace } from "./details.ts";
import { detectLanguage } from "./language.ts";
import { turnsOf } from "./learned.ts";
import { findTerms, type Hit, type Lexicon, lexiconOf } from "./lexicon.ts";
import { describesPerson } from "./persons.ts";
import { countryOfNumber } from "./phones.ts";
import { namesStay, seeksWork } from "./phrasing.ts";
import { findPlace, type Place } from "./places.ts";
import { readBudget, readPrice } from "./prices.ts";
import { overlaps, quoteOf, type Span } from "./span.ts";
import { fileByExamples, learnAsks, type Taught } from "./taught.ts";
import { nameThing } from "./title.ts";
import { type Token, tokenize } from "./tokens.ts";

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

/** Nobody looks for words in addresses: "golf7@example.com" is no car. */
const ADDRESS = /@|:\/\/|www\.|\[at\]|\(at\)/iu;

/** A title in words that decided the category is surer than the first line. */
const TITLE_CONFIDENCE = { sure: 0.85, opening: 0.6 };
const DETAIL_CONFIDENCE = 0.8;

/** A term of this weight names a thing rather than hinting at it. */
const NAMING = 1.5;

/** Words of the vocabulary in a language speak for that language, a little. */
const HINT = 0.15;

/** Everything that is found in a text before it is known to be an offer or an ask. */
type Survey = {
  text: string;
  tokens: Token[];
  hits: Hit[];
  language: string | null;
  addressed: Span[];
  /** Links and the like, in order. */
  addresses: Span[];
  place: Place | null;
  country: string | null;
};

const survey = (lexicon: Lexicon, text: string): Survey => {
  const addressed = findAddressedToModel(text);
  const addresses = Array.from(text.matchAll(/\S+/gu))
    .filter(([word]) => ADDRESS.test(word))
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));
  const ignored = [...addressed, ...addresses].sort((a, b) => a.start - b.start);
  const tokens: Token[] = [];
  let next = 0;
  let cut = false;
  for (const token of tokenize(text)) {
    while ((ignored[next]?.end ?? Number.POSITIVE_INFINITY) <= token.start) next += 1;
    const span = ignored[next];
    if (span !== undefined && overlaps(span, token)) {
      cut = true;
      continue;
    }
    // What stood on both sides of a left-out passage does not belong together.
    tokens.push(cut ? { ...token, opens: true } : token);
    cut = false;
  }
  const hints = new Map<string, number>();
  for (const token of tokens) {
    for (const entry of lexicon.exact.get(token.folded)?.entries ?? []) {
      if (entry.language !== null) hints.set(entry.language, (hints.get(entry.language) ?? 0) + HINT);
    }
  }
  const language = detectLanguage(text, tokens, hints);
  const hits = findTerms(lexicon, tokens, language);
  const place = findPlace(text, tokens, hits, language);
  const country = guessCountry(text, hits, place, language);
  // "Garmin Forerunner 255, £140, Bristol" is in no language; who reads it there speaks English.
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

/** The words of a hit as they stand in the text. */
const spanOfHit = (tokens: readonly Token[], hit: Hit): Span => ({
  start: tokens[hit.from]?.start ?? 0,
  end: tokens[hit.to - 1]?.end ?? 0,
});

const inferred = <T extends string>({ text, tokens }: Survey, decision: Decision<T> | null) =>
  decision === null || decision.confidence < LEAST_CONFIDENCE
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

/** What the period of a price says about the kind: a month is rent or wages, an hour is work, none is a sale. */
const hintsOfPrice = (price: OfferReading["price"]): KindHints<OfferKind> => {
  if (price === null || price.value.amount === null) return { service_offer: 0.4, project_hire: 0.4 };
  switch (price.value.period) {
    case "hour":
      return { service_offer: 1.2, project_hire: 1.2, sale: -1.5 };
    case "day":
    case "week":
    case "month":
    case "year":
      return { rental: 2, project_hire: 0.5, sale: -1 };
    case "project":
      return { service_offer: 1, project_hire: 1 };
    default:
      // Who wants a deposit wants the thing back.
      return price.value.deposit === null ? { sale: 0.8 } : { sale: 0.4, rental: 1 };
  }
};

const hintsOfBudget = (budget: AskReading["price"]): KindHints<AskKind> => {
  switch (budget?.value.period) {
    case "hour":
      return { hire: 1.2, offer_service: 0.8, buy: -1 };
    case "day":
    case "week":
    case "month":
    case "year":
      return { rent: 1.2, lease_out: 1.2, buy: -0.5 };
    default:
      return {};
  }
};

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

/** Who tells their age looks for people rather than things. */
const PERSON = 1.4;

/** Who looks for work says so; what is wanted for some days is hired, if it is a thing. */
const SEEKING_WORK = 3;
const STAYING = 1.5;

/** The sum of two lots of evidence. */
const together = <K extends string>(one: KindHints<K>, other: KindHints<K>): KindHints<K> => {
  const sum = { ...one };
  for (const kind of Object.keys(other) as K[]) sum[kind] = (sum[kind] ?? 0) + (other[kind] ?? 0);
  return sum;
};

/** Who wants something for money names a ceiling; who sells or looks for work hopes for a sum. */
const PAYING: ReadonlySet<string> = new Set(["buy", "rent", "hire", "dating", "friendship"]);

/** The kinds of offer of things. */
const GOODS: ReadonlySet<string> = new Set(["sale", "rental"]);

/** What has a price and says nothing else of itself is for sale. */
const soldAt = (price: OfferReading["price"]): OfferReading["offer_kind"] =>
  price !== null && price.value.amount !== null && price.value.amount > 0 && price.value.period === null
    ? { value: "sale", quote: price.quote, basis: "inferred", confidence: LEAST_CONFIDENCE }
    : null;

const readOffer = (lexicon: Lexicon, text: string): OfferReading => {
  const read = survey(lexicon, text);
  const contacts = readContacts(text, { country: read.country });
  // A text that names no place we know may still leave a number.
  const number = contacts.find(({ value }) => value.value.startsWith("+"))?.value.value;
  const country = read.country ?? (number === undefined ? null : countryOfNumber(number));
  const price = readPrice(text, { country });
  const classified = classifyOffer(
    lexicon,
    read.tokens,
    read.hits,
    read.language,
    together(hintsOfPrice(price), describesPerson(read.tokens) ? { dating: PERSON, friendship: PERSON } : {}),
    affinityOf(price === null || price.value.period !== null ? null : price.value.amount),
  );
  const space = classified.domain?.value === SPACE_DOMAIN ? findSpace(text) : null;
  return {
    language: read.language,
    title: titleOf(read, classified) ?? anyTitle(text),
    domain: inferred(read, classified.domain),
    category: inferred(read, classified.category),
    offer_kind: inferred(read, classified.kind) ?? soldAt(price),
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

/** What examples say counts as much as a term that usually says so. */
const BY_EXAMPLE = 2;

const weighed = <K extends string>(evidence: KindHints<K>, weight: number): KindHints<K> => {
  const scaled: KindHints<K> = {};
  for (const kind of Object.keys(evidence) as K[]) scaled[kind] = (evidence[kind] ?? 0) * weight;
  return scaled;
};

const readAsk = (lexicon: Lexicon, taught: Taught, text: string): AskReading => {
  const read = survey(lexicon, text);
  const turns = turnsOf(read.tokens, read.hits, read.language);
  const price = readBudget(text, { country: read.country });
  const filed = classifyAsk(
    lexicon,
    read.tokens,
    read.hits,
    read.language,
    [
      describesPerson(read.tokens) ? { dating: PERSON, friendship: PERSON } : {},
      seeksWork(read.tokens) ? { offer_service: SEEKING_WORK } : {},
      namesStay(read.tokens) ? { rent: STAYING } : {},
      weighed(taught.kinds(turns), BY_EXAMPLE),
    ].reduce(together, hintsOfBudget(price)),
    affinityOf(price === null || price.value.period !== null ? null : price.value.max),
  );
  const classified = fileByExamples(filed, taught.categories(turns));
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
  const lexicon = lexiconOf(vocabulary);
  const taught = learnAsks(vocabulary, (text) => {
    const { tokens, hits, language } = survey(lexicon, text);
    return turnsOf(tokens, hits, language);
  });
  return {
    maker: "builtin",
    readOffer: async (text, signal) => {
      signal.throwIfAborted();
      return readOffer(lexicon, text);
    },
    readAsk: async (text, signal) => {
      signal.throwIfAborted();
      return readAsk(lexicon, taught, text);
    },
  };
};
