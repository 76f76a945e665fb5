import { readContacts } from "../decide/contacts.ts";
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
  Withheld,
} from "../extraction.ts";
import { findNear } from "../propose/near.ts";
import { countryOfNumber } from "../propose/phones.ts";
import { findWaysToReach, givesAway } from "../propose/reach.ts";
import { locateQuotes } from "../quotes.ts";
import { blanked } from "../text/blank.ts";
import { fold } from "../text/fold.ts";
import { shownText, tidied, wholeSpan } from "../text/markup.ts";
import { codePointsBefore, inCodePoints, overlaps, quoteOf, type Span, spanOf, united } from "../text/span.ts";
import { annotateText, isOrder, type Leaving } from "./addressed.ts";
import type { Annotations } from "./annotate.ts";
import { type Classified, classifyAsk, classifyOffer, type Decision, type OfferKind } from "./classify.ts";
import { findExclusions, findKeywords, findRequirements } from "./criteria.ts";
import { findCondition, findFeatures, findSpace } from "./details.ts";
import { type Knowledge, knowledgeOf } from "./knowledge.ts";
import type { IsWord } from "./lexicon.ts";
import { locate, type Resolved } from "./locate.ts";
import { readsAs } from "./reads_as.ts";
import { offersSeveral } from "./several.ts";
import { keepStated } from "./stated.ts";
import { titleTextOf } from "./title_text.ts";
import { withoutTradeTags } from "./trade_tags.ts";

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

/**
 * Makes a field of an extraction: a value, and the words of the text that say it. Confidence is that of a detail, if it
 * is not given.
 */
type Say = <T>(
  value: T,
  span: Span,
  confidence?: number,
  basis?: "stated" | "inferred",
) => { value: T; quote: string; basis: "stated" | "inferred"; confidence: number } & Span;

const sayOf =
  (text: string, before: readonly number[]): Say =>
  (value, span, confidence = DETAIL_CONFIDENCE, basis = "stated") => {
    const whole = wholeSpan(text, span);
    return { value, quote: quoteOf(text, whole), ...inCodePoints(before, whole), basis, confidence };
  };

type Offer = Located<OfferExtraction>;
type Ask = Located<AskExtraction>;

const inferred = <T extends string>({ words }: Annotations, say: Say, decision: Decision<T> | null) =>
  decision && say(decision.value, spanOf(words, decision.hit), decision.confidence, "inferred");

const locationOf = (text: string, say: Say, located: Resolved | null, remote: boolean): Offer["location"] => {
  if (
    located === null ||
    located.confidence < (located.place === null && located.rivals.length === 0 ? MIN_UNKNOWN_LOCATION : MIN_LOCATION)
  )
    return null;
  const { span, place, confidence } = located;
  const written = tidied(quoteOf(text, span));
  if (written.length > 200) return null;
  const { country = null, region = null, city = null, district = null, point = null } = place ?? {};
  const postal_code = POSTCODE.exec(written)?.[0] ?? null;
  return say({ text: written, country, region, city, district, postal_code, point, remote }, span, confidence);
};

/** The title of a text that names nothing: its first characters outside the passages that are addressed to software. */
const anyTitle = ({ text, orders }: Annotations, say: Say): Offer["title"] => {
  const isFree = (at: number): boolean => !orders.some((order) => overlaps(order, { start: at, end: at + 1 }));
  const starts = Array.from(text.matchAll(/\S/gu), ({ index }) => index);
  const start = starts.find(isFree) ?? 0;
  const next = orders.find((order) => order.start > start)?.start ?? text.length;
  const value = tidied([...text.slice(start, next)].slice(0, 120).join("")) || text.slice(0, 1);
  return say(value, { start, end: start + value.length }, MIN_CONFIDENCE, "inferred");
};

const conditionOf = ({ words, hits, is }: Annotations, say: Say): Offer["condition"] => {
  const condition = findCondition(words, hits, is);
  return condition && say(condition.value, spanOf(words, condition.hit));
};

/** The domain in which space is read. In other domains "2 br" and "40 m2" describe something else. */
const SPACE_DOMAIN = "real_estate";

/** A price as the extraction has it. Dating has no price. */
const priceOf = (text: string, say: Say, price: PriceFound | null, kind: OfferKind | undefined): Offer["price"] => {
  if (price === null || kind === "dating") return null;
  const { amount, amountMax: amount_max, currency, period, type, negotiable, deposit, unit, span, confidence } = price;
  const label = quoteOf(text, span);
  return say({ amount, amount_max, currency, period, type, negotiable, deposit, unit, label }, span, confidence);
};

/** What an ask would pay at most: the upper end of a range, a stated amount, or nothing. "From X" is the least. */
const budgetOf = (say: Say, price: PriceFound | null): Ask["price"] => {
  if (price?.amount == null) return null;
  if (price.type === "free")
    return say({ min: null, max: 0, currency: null, period: null, unit: null }, price.span, price.confidence);
  const { amount, amountMax, currency, type, unit, span, confidence } = price;
  const isLeast = type === "from";
  const period = price.period === "project" ? null : price.period;
  const min = isLeast || amountMax !== null ? amount : null;
  return say({ min, max: isLeast ? null : (amountMax ?? amount), currency, period, unit }, span, confidence);
};

/** The domain of words with which people who look for a home describe themselves: "no pets", "keine Kinder". */
const SELF_DESCRIPTION = "family_pets";

/** Kinds of ask whose amount is a maximum to pay. In the other kinds it is what the author hopes to earn. */
const PAYING: ReadonlySet<string> = new Set(["buy", "rent", "hire", "dating", "friendship"]);

/** The kinds of offer that are about things. */
const GOODS: ReadonlySet<string> = new Set(["sale", "rental"]);

/** The kinds of offer that may be done from anywhere. */
const WORK: ReadonlySet<string> = new Set(["project_hire", "service_offer"]);

/**
 * What is read of a text in the same way for offers and asks.
 * @param text the text as it is meant: what is left out of it are spaces, so that quotes stand where they were written
 */
const see = (knowledge: Knowledge, written: string, isAsk: boolean, leaving: Leaving, text = shownText(written)) => {
  const { judges } = knowledge;
  const annotations = annotateText(knowledge, text, leaving);
  const { language, isHidden, currency } = annotations;
  const stated = findLocation(annotations, judges);
  const first = locate(knowledge, annotations, stated, { currency, phoneCountries: [] });
  const hints = { country: first.country, language };
  const contacts = isAsk ? [] : readContacts(annotations, judges, hints, annotations.orders);
  // If the text names no known place, a phone number may show the country.
  const phoneCountries = contacts.flatMap(({ value }) => countryOfNumber(value) ?? []);
  const country = first.country ?? phoneCountries[0] ?? annotations.country;
  const judged = judgePrices(annotations, isHidden, judges, { country, isAsk });
  const price = readPrice(judged, judges);
  const { location: place, remote } = locate(knowledge, annotations, stated, {
    currency: price?.currency ?? currency,
    phoneCountries,
  });
  const before = codePointsBefore(written);
  const say = sayOf(written, before);
  const location = locationOf(text, say, place, remote !== null);
  return { annotations, before, country, contacts, judged, price, place, location, remote, say };
};
type Seen = ReturnType<typeof see>;

/** The location of work that is done from anywhere: the words that say so. */
const anywhere = (text: string, say: Say, span: Span): NonNullable<Offer["location"]> => {
  const nowhere = { country: null, region: null, city: null, district: null, postal_code: null, point: null };
  return say({ text: tidied(quoteOf(text, span)), ...nowhere, remote: true }, span);
};

/** What a text reads as, with the words that say so. */
const readingOf = (
  { classifiers }: Knowledge,
  { annotations, say }: Seen,
  kind: string | null,
): NonNullable<Offer["reads_as"]> | null => {
  const found = readsAs(annotations, classifiers.reads_as, kind);
  return found && say(found.value, found.span, found.confidence);
};

/** A title without the small article before its first noun: "a grey sofa" is "grey sofa". */
const withoutArticle = (title: string, is: IsWord): string => {
  const [first = "", ...rest] = title.split(" ");
  return rest.length > 0 && first === first.toLowerCase() && is("article", fold(first)) ? rest.join(" ") : title;
};

/** The title, once the category is known. */
const readTitle = (
  knowledge: Knowledge,
  { annotations, say, price, place }: Seen,
  { domain, category }: Classified<string>,
  isAsk: boolean,
): Offer["title"] | null => {
  const path = category === null ? null : `${domain?.value ?? ""}/${category.value}`;
  const decided = { category: path, price: price?.span ?? null, place: place?.span ?? null, isAsk };
  const found = findTitle(titleTextOf(annotations, decided), knowledge.judges);
  return found && say(withoutArticle(tidied(found.title), annotations.is), found.span, found.confidence);
};

/** What is read of an offer. */
const seeOffer = (knowledge: Knowledge, text: string, leaving: Leaving): Seen => {
  const seen = see(knowledge, text, false, leaving);
  if (leaving.known !== undefined || seen.annotations.orders.length === 0 || seen.contacts.length > 0) return seen;
  // A text is not refused for want of a contact because of a passage that may be none.
  const certain = see(knowledge, text, false, { certain: true });
  return certain.contacts.length > 0 ? certain : seen;
};

const offerOf = (knowledge: Knowledge, seen: Seen): Offer => {
  const { annotations, contacts, price, judged, location, place, say, remote } = seen;
  const { text, words, hits, is } = annotations;
  const classified = classifyOffer(knowledge.classifiers, { annotations, price });
  const { domain, category, kind } = classified;
  const space = domain?.value === SPACE_DOMAIN ? findSpace(annotations) : null;
  return {
    language: annotations.language,
    title: readTitle(knowledge, seen, classified, false) ?? anyTitle(annotations, say),
    domain: inferred(annotations, say, domain),
    category: inferred(annotations, say, category),
    offer_kind: inferred(annotations, say, kind),
    reads_as: readingOf(knowledge, seen, kind?.value ?? null),
    price: priceOf(text, say, price, kind?.value),
    location: location ?? (remote !== null && WORK.has(kind?.value ?? "") ? anywhere(text, say, remote) : null),
    contacts: contacts.map(({ type, value, preferred, span, confidence }) =>
      say({ type, value, preferred }, span, confidence),
    ),
    party: null,
    // Only things that are sold or lent have a condition.
    condition: GOODS.has(kind?.value ?? "sale") ? conditionOf(annotations, say) : null,
    space: space && say(space.value, space.span),
    features: findFeatures(text, words, hits, is).map(({ value, span }) => say(value, span)),
    attributes: [],
    price_reasons: explainPrice(judged, knowledge.judges),
    which_place: location === null ? [] : [...(place?.rivals ?? [])],
    // The prices of services are a tariff.
    several: (kind?.value ?? "sale") === "sale" && offersSeveral(annotations, price?.span ?? null),
  };
};

/** What is read of an ask: without what it excludes, which says nothing about what is wanted. `whole`: with it. */
const seeAsk = (knowledge: Knowledge, written: string, leaving: Leaving): Seen & { whole: Annotations } => {
  const text = withoutTradeTags(shownText(written), knowledge.lexicon.is);
  const seen = see(knowledge, written, true, leaving, text);
  const unwanted = findExclusions({ ...seen.annotations, isQuery: false }, () => false).map(({ span }) => span);
  const wanted = unwanted.length === 0 ? seen : see(knowledge, written, true, leaving, blanked(text, unwanted));
  return { ...wanted, whole: seen.annotations };
};

const askOf = (knowledge: Knowledge, seen: Seen & { whole: Annotations }): Ask => {
  const { annotations, whole, price, location, say } = seen;
  const { text, hits, words, is, currency, language } = annotations;
  const classified = classifyAsk(knowledge.classifiers, { annotations, price });
  const { domain, category, kind } = classified;
  // People who look for a flat write "no pets" about themselves.
  const isOwn = (at: number): boolean =>
    domain?.value === SPACE_DOMAIN &&
    whole.hits.some(
      (hit) =>
        (hit.family === "category" || hit.family === "domain") &&
        hit.value.startsWith(SELF_DESCRIPTION) &&
        hit.from <= at &&
        at < hit.to,
    );
  const near = findNear(knowledge.gazetteer, { ...annotations, hints: { currency, language } });
  return {
    language,
    title: readTitle(knowledge, seen, classified, true),
    domain: inferred(annotations, say, domain),
    category: inferred(annotations, say, category),
    ask_kind: inferred(annotations, say, kind),
    reads_as: readingOf(knowledge, seen, kind?.value ?? null),
    price: PAYING.has(kind?.value ?? "buy") ? budgetOf(say, price) : null,
    location,
    near: near?.circle == null ? null : say(near.circle, near.span),
    condition: conditionOf(annotations, say),
    keywords: findKeywords(text, words, hits),
    must: findRequirements(text, words, is).map(({ value, span }) => say(value, span)),
    exclude: findExclusions({ ...whole, isQuery: false }, isOwn).map(({ value, span }) => say(value, span)),
    attributes: [],
  };
};

/** Where a text has the values of an extraction that are orders to software. */
const ordersAmong = (
  knowledge: Knowledge,
  text: string,
  { title, location, ...rest }: Located<OfferExtraction | AskExtraction>,
): Span[] => {
  const lists = "features" in rest ? rest.features : [...rest.must, ...rest.exclude];
  const before = codePointsBefore(text);
  return [title, location, ...lists].flatMap((field) => {
    if (field?.start === undefined || field.end === undefined || !isOrder(knowledge, field.quote)) return [];
    return { start: before.indexOf(field.start), end: before.indexOf(field.end) };
  });
};

/** Finds what is not shown of an offer where its contact is withheld. */
const withheldOf =
  (written: string, { annotations, before, country }: Seen): Withheld =>
  (images, extractions) => {
    const { orders, text, language } = annotations;
    const hints = { country, language };
    // Markup is looked at as it is written, too: "[call me](tel:+49...)".
    const ways = [written, ...(text === written ? [] : [text])].flatMap((words) => findWaysToReach(words, hints));
    const contacts = extractions.flatMap((extraction) => extraction.contacts);
    const named = [...contacts, ...extractions.flatMap(({ party }) => party ?? [])];
    return {
      spans: united([
        ...[...orders, ...ways].map((span) => inCodePoints(before, span)),
        ...named.flatMap(({ start, end }) => (start === undefined || end === undefined ? [] : [{ start, end }])),
      ]),
      images: images.filter((image) =>
        givesAway(
          image,
          contacts.map(({ value }) => value.value),
          hints,
        ),
      ),
    };
  };

/** Creates the extractor that needs no model. Deterministic, and linear in the length of the text. */
export const createBuiltinExtractor = (vocabulary: Vocabulary): BuiltinExtractor => {
  const knowledge = knowledgeOf(vocabulary);
  const { gazetteer } = knowledge;
  const reading =
    <R extends OfferExtraction | AskExtraction, S extends Seen>(
      look: (knowledge: Knowledge, text: string, leaving: Leaving) => S,
      extract: (knowledge: Knowledge, seen: S) => Located<R>,
    ) =>
    (text: string): OwnReading<R> => {
      let seen = look(knowledge, text, {});
      let extraction: Located<R> = extract(knowledge, seen);
      // An order that is part of a sentence may not stand out there, but it does in a value by itself.
      const known = ordersAmong(knowledge, text, extraction);
      if (known.length > 0) {
        seen = look(knowledge, text, { known: [...seen.annotations.orders, ...known] });
        extraction = extract(knowledge, seen);
      }
      return {
        extraction,
        addressed: seen.annotations.orders.map((order) => inCodePoints(seen.before, order)),
        withheld: withheldOf(text, seen),
        keepStated: (extraction) =>
          keepStated(locateQuotes(text, extraction, seen.annotations.orders), { gazetteer, ...seen }),
      };
    };
  return { model: "builtin", readOffer: reading(seeOffer, offerOf), readAsk: reading(seeAsk, askOf) };
};
