import { parsePhoneNumberFromString } from "libphonenumber-js/max";
import type { Range } from "../decide/context.ts";
import { currencyFor, type JudgedPrices } from "../decide/price.ts";
import type { AskExtraction, Found, Located, OfferExtraction } from "../extraction.ts";
import { countriesOf, currencyOf } from "../languages.ts";
import { type ContactCandidate, findContacts } from "../propose/contacts.ts";
import { meaningsOf } from "../propose/currencies.ts";
import type { Gazetteer } from "../propose/gazetteer.ts";
import type { Amount } from "../propose/money.ts";
import { endOfDigits, numeralAt } from "../propose/numbers.ts";
import { countryOfNumber, dial, digitsOf, findRuns, type Run } from "../propose/phones.ts";
import { resolvePlace } from "../propose/place_choice.ts";
import { spokenNumberAt } from "../propose/spoken_numbers.ts";
import { wordsOfList } from "../rows.ts";
import { codePointsBefore, inCodePoints, overlaps, type Span, spanOf } from "../text/span.ts";
import { type Token, wordsIn } from "../text/tokens.ts";
import type { Annotations } from "./annotate.ts";
import { isNegated, SQUARE_METRES } from "./details.ts";

/**
 * Says what of a model's extraction the text states. The candidates are closed: the numbers, sums, addresses, links,
 * phone numbers, conditions and places that the built-in extractor finds. A model chooses one of them by a quote that
 * overlaps it. A value that is no candidate is left out, so that a model cannot invent one, move its decimal point, or
 * take it from an order in the text (no quote is located there).
 *
 * Free text (title, features, names) has no candidates: the database checks that it consists of words of its quote.
 * Kinds and categories are an interpretation: the database checks that the taxonomy has them.
 */

/** What the built-in extractor found in a text. */
export type Scene = {
  gazetteer: Gazetteer;
  annotations: Annotations;
  /** ISO 3166-1 alpha-2: where the text probably is. */
  country: string | null;
  judged: JudgedPrices;
  /** Where the built-in extractor says that the thing is. */
  location: Located<OfferExtraction>["location"];
};

/** A field with its place in the text. */
type Placed<T> = Found<T> & Span;

type Price = NonNullable<OfferExtraction["price"]>["value"];
type Budget = NonNullable<AskExtraction["price"]>["value"];
type Place = NonNullable<OfferExtraction["location"]>["value"];
type Method = OfferExtraction["contacts"][number]["value"];
type Space = NonNullable<OfferExtraction["space"]>["value"];
type Attribute = OfferExtraction["attributes"][number]["value"];

/** Amounts are compared as the reader rounds them: to four decimals. */
const isSame = (one: number, other: number | null): boolean =>
  other !== null && Math.round(one * 1e4) === Math.round(other * 1e4);

/** The folded words of a text, each between two spaces. */
const wordsOf = (text: string): string =>
  ` ${wordsIn(text)
    .map(({ folded }) => folded)
    .join(" ")} `;

/** True if the words stand in the text as whole words, one after the other. */
const hasWords = (text: string, words: string): boolean => words.trim() !== "" && text.includes(words);

/** Every number of a text in digits or words. "1 200" is one number and two, a date is three. */
const numbersIn = (tokens: readonly Token[], isHidden: (at: number) => boolean): (Range & { value: number })[] => {
  const found: (Range & { value: number })[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined || token.kind === "mark" || isHidden(at)) continue;
    if (token.kind === "word") {
      const spoken = spokenNumberAt(tokens, at);
      if (spoken !== null) found.push({ from: at, to: spoken.to, value: spoken.value });
      at = (spoken?.to ?? at + 1) - 1;
      continue;
    }
    const end = endOfDigits(tokens, at);
    const numerals = [false, true].flatMap((spaced) =>
      // "1.2m" is a million of money, and metres otherwise.
      [null, "EUR"].flatMap((currency) => numeralAt(tokens, at, { spaced, currency }) ?? []),
    );
    found.push(...numerals);
    if (numerals.length === 0)
      for (let piece = at; piece < end; piece += 2)
        found.push({ from: piece, to: piece + 1, value: Number(tokens[piece]?.text) });
    at = end - 1;
  }
  return found;
};

/** A link without what people leave out. */
const plainLink = (url: string): string => url.toLowerCase().replace(/^https?:\/\/(?:www\.)?|\/$/g, "");

/** At most this many words stand between the parts of an address that is spelt: "kev at example dot com". */
const MAX_WORDS_BETWEEN = 2;

/** True if a quote spells an address: all its parts, in order. A quote that shows an address in full spells no other. */
const spells = (quote: string, address: string): boolean => {
  if (/[a-z0-9]@[a-z0-9-]+[.][a-z]/i.test(quote)) return false;
  const words = wordsIn(quote).map(({ folded }) => folded);
  const [first, ...rest] = wordsIn(address).map(({ folded }) => folded);
  // The words of the quote at which the parts so far can end.
  let ends = new Set(words.flatMap((word, at) => (word === first ? [at] : [])));
  for (const part of rest) {
    const next = new Set<number>();
    for (const end of ends)
      for (let at = end + 1; at <= end + 1 + MAX_WORDS_BETWEEN; at++) if (words[at] === part) next.add(at);
    ends = next;
  }
  return rest.length > 0 && ends.size > 0;
};

/** Shorter numbers are sizes and prices. A local phone number has no fewer digits. */
const MIN_PHONE_DIGITS = 5;

/** True if a number is a run of digits of the text: as it stands there, or dialled in a country that has the number. */
const isDialled = (value: string, run: Run): boolean => {
  if (!value.startsWith("+")) return value === digitsOf(run);
  const countries = parsePhoneNumberFromString(value)?.getPossibleCountries() ?? [];
  return countries.some((country) => dial(run, country)?.e164 === value);
};

const AREAS = Object.values(SQUARE_METRES);

/**
 * Words that only name a property or a unit, so that a text need not say them: those in the names of the properties of
 * schema.org's Product, Vehicle, Accommodation, Book, Event, Service and JobPosting, with usual units. A word that could
 * claim something by itself (verified, approved, free) must stand in the text.
 */
const PROPERTY_WORDS: ReadonlySet<string> = new Set(wordsOfList("property"));

/** A place that is less sure than this may be any of several, so nothing is said about it. */
const MIN_CONFIDENCE = 0.5;

/** What a text states, for the fields of its extractions. Each function returns the field with what holds, or null. */
const statesOf = ({ gazetteer, annotations, country, judged, location: own }: Scene) => {
  const { text, tokens, cues, hits, words, placeHits, isHidden, language, is, orders } = annotations;
  const before = codePointsBefore(text);
  /** Ranges with their spans. A quote may reach over a passage that is addressed to software; nothing in it counts. */
  const placed = <T extends Range>(ranges: readonly T[]) =>
    ranges.flatMap((one) => {
      const span = spanOf(tokens, one);
      return orders.some((order) => overlaps(order, span)) ? [] : [{ ...one, ...inCodePoints(before, span) }];
    });
  // Without addresses and passages that are addressed to software.
  const said = ` ${words.map(({ folded }) => folded).join(" ")} `;
  const numbers = placed(numbersIn(tokens, isHidden));
  const prices = placed(judged.rivals.candidates);
  const named = placed(placeHits);
  const phrases = placed(cues.map(({ concept, from, to }) => ({ concept: concept.text, from, to })));
  const conditions = hits
    .filter((hit) => hit.family === "condition" && !isNegated(words, hit, is))
    .map((hit) => ({ value: hit.value, ...inCodePoints(before, spanOf(words, hit)) }));
  const contacts = placed(findContacts(text, tokens, { country, language }));
  const runs = placed(findRuns(tokens, MIN_PHONE_DIGITS));

  const says = (concept: string, field: Span): boolean =>
    phrases.some((phrase) => phrase.concept === concept && overlaps(phrase, field));
  const countsIn = (field: Span): number[] =>
    numbers.filter((number) => overlaps(number, field)).map(({ value }) => value);

  const codeOf = (id: number): string | null => {
    const state = gazetteer.country(id);
    return state < 0 ? null : gazetteer.place(state).country;
  };
  /** The currencies of the countries that the text suggests, for sums without a currency. */
  const localCurrencies = (): Set<string | null> => {
    const phones = contacts.map(({ value }) => countryOfNumber(value));
    const spoken = language === null ? [] : countriesOf(language);
    const places = named.flatMap(({ ids }) => ids.map(codeOf));
    const countries = [country, annotations.country, ...places, ...phones, ...spoken];
    const written = prices.flatMap(({ amount }) => (amount?.marker == null ? [] : (meaningsOf(amount.marker) ?? [])));
    return new Set([...countries.map(currencyOf), ...written]);
  };

  /** The sums in a field that are one of some amounts. */
  const sumsIn = (field: Span, amounts: readonly number[]): Amount[] =>
    prices.flatMap(({ amount, ...span }) =>
      amount !== null &&
      overlaps(span, field) &&
      amounts.some((one) => isSame(one, amount.value) || isSame(one, amount.max))
        ? [amount]
        : [],
    );

  /**
   * The currency and the period of a price, as far as its words do not say otherwise; null if they do.
   * @param stated the amounts that the price has
   */
  const termsOf = <T extends Pick<Budget, "currency" | "period">>(
    { value, ...field }: Placed<T>,
    stated: readonly number[],
  ): Pick<T, "currency" | "period"> | null => {
    const units = phrases.filter((phrase) => phrase.concept.startsWith("per_") && overlaps(phrase, field));
    const { period } = value;
    // No words say that a price is for a project.
    const isOther =
      period !== null && period !== "project" && !units.some(({ concept }) => concept === `per_${period}`);
    if (isOther && units.length > 0) return null;
    const amounts = sumsIn(field, stated);
    const meanings = amounts.flatMap(({ marker }) => (marker === null ? [] : (meaningsOf(marker) ?? [])));
    const { currency } = value;
    if (currency === null) return { currency, period };
    if (meanings.length > 0) return meanings.includes(currency) ? { currency, period } : null;
    const [amount] = amounts;
    const guess = amount === undefined ? currencyOf(country) : currencyFor(amount, judged.rivals.candidates, country);
    return { currency: localCurrencies().has(currency) ? currency : guess, period };
  };

  /** What a sum in a field is for, by the words beside it; null for the whole. */
  const unitOf = (amount: number | null, field: Span): Price["unit"] =>
    prices.find((one) => one.amount !== null && isSame(one.amount.value, amount) && overlaps(one, field))?.unit?.unit ??
    null;

  const isPrice = (amount: number, field: Span): boolean =>
    sumsIn(field, [amount]).length > 0 || countsIn(field).some((one) => isSame(amount, one));

  const price = <F extends Placed<Price>>(field: F): F | null => {
    const { amount, amount_max, deposit, type } = field.value;
    const isFree = amount === 0 && (says("price_given", field) || says("price_free", field));
    const isOpen = amount === null && prices.some((one) => one.amount === null && overlaps(one, field));
    if (!isFree && !isOpen && (amount === null || !isPrice(amount, field))) return null;
    const most = amount_max !== null && isPrice(amount_max, field) ? amount_max : null;
    const terms = termsOf(
      field,
      [amount, most].filter((one) => one !== null),
    );
    if (terms === null) return null;
    const isDeposit =
      deposit !== null && prices.some((one) => one.amount !== null && isSame(deposit, one.amount.value));
    return {
      ...field,
      value: {
        ...field.value,
        ...terms,
        amount_max: most,
        unit: unitOf(amount, field),
        deposit: isDeposit ? deposit : null,
        type: type === "free" && amount !== 0 ? "fixed" : type,
      },
    };
  };

  const budget = <F extends Placed<Budget>>(field: F): F | null => {
    const stated = (bound: number | null) => (bound !== null && isPrice(bound, field) ? bound : null);
    const [min, max] = [stated(field.value.min), stated(field.value.max)];
    const terms = termsOf(
      field,
      [min, max].filter((one) => one !== null),
    );
    const unit = unitOf(max ?? min, field);
    return terms === null || (min === null && max === null) ? null : { ...field, value: { ...terms, unit, min, max } };
  };

  const place = <F extends Placed<Place>>(field: F): F => {
    const { value } = field;
    const hits = named.filter((one) => overlaps(one, field));
    const inside = hits.flatMap(({ ids }) => ids);
    const known = own !== null && overlaps(own as Span, field) ? own.value : null;
    const around = (id: number) => [id, gazetteer.city(id), gazetteer.region(id)].filter((one) => one >= 0);
    const names = new Set(inside.flatMap(around).map((id) => wordsOf(gazetteer.place(id).name)));
    const countries = new Set([
      ...inside.map(codeOf),
      ...named.flatMap(({ ids }) => ids.filter((id) => gazetteer.kind(id) === "country").map(codeOf)),
      known?.country,
    ]);
    const part = <K extends "region" | "city" | "district" | "postal_code">(name: K): string | null => {
      const words = wordsOf(value[name] ?? "");
      const isPart = (name === "region" || name === "city") && names.has(words);
      return isPart || hasWords(said, words) || known?.[name] === value[name] ? value[name] : null;
    };
    const stated: Place = {
      ...value,
      country: countries.has(value.country) ? value.country : null,
      region: part("region"),
      city: part("city"),
      district: part("district"),
      postal_code: part("postal_code"),
      point: null,
    };
    // What the gazetteer says about the place completes it, unless several places may be meant, or one elsewhere.
    const phoneCountries = stated.country === null ? [] : [stated.country];
    const meant = resolvePlace(gazetteer, hits, { others: placeHits, phoneCountries, language });
    const isMeant =
      meant !== null && meant.confidence >= MIN_CONFIDENCE && (stated.country ?? meant.country) === meant.country;
    const whole: Place = isMeant
      ? {
          ...stated,
          country: meant.country,
          region: stated.region ?? meant.region,
          city: stated.city ?? meant.city,
          point: meant.point,
        }
      : stated;
    if (known === null || (whole.country !== null && whole.country !== known.country))
      return { ...field, value: whole };
    const filled = Object.entries(known).filter(([name]) => whole[name as keyof Place] === null);
    return { ...field, value: { ...whole, ...Object.fromEntries(filled) } };
  };

  const isMethod = ({ type, value }: Method, { quote, ...field }: Placed<Method>): boolean => {
    const isOf = (one: ContactCandidate & Span): boolean => {
      if (!overlaps(one, field)) return false;
      if (type === "email") return one.kind === "email" && one.value === value;
      if (type === "url") return one.kind === "url" && plainLink(one.value) === plainLink(value);
      return one.kind === "number" || one.kind === "whatsapp" ? one.value === value : false;
    };
    if (contacts.some(isOf)) return true;
    if (type === "email") return spells(quote, value);
    return type !== "url" && runs.some((run) => overlaps(run, field) && isDialled(value, run));
  };

  const space = <F extends Placed<Space>>(field: F): F | null => {
    const counts = countsIn(field);
    const isCount = (value: number): boolean => counts.some((one) => isSame(Math.abs(value), one));
    const holds: { [K in keyof Space]: (value: NonNullable<Space[K]>) => boolean } = {
      area_m2: (area) =>
        counts.some((one) => AREAS.some((unit) => Math.abs(one * unit - area) <= Math.max(0.1, (one * unit) / 100))),
      rooms: isCount,
      bedrooms: isCount,
      bathrooms: isCount,
      floor: (floor) => (floor === 0 && says("space_ground_floor", field)) || isCount(floor),
      furnished: (furnished) => says(furnished ? "space_furnished" : "space_unfurnished", field),
      pets_allowed: (allowed) => says(allowed ? "space_pets" : "space_no_pets", field),
      // A day of any month, or the first day of a month that is named.
      available_from: (day) => day.endsWith("-01") || isCount(Number(day.slice(-2))),
    };
    const kept = Object.entries(field.value).map(([name, value]) => [
      name,
      value !== null && holds[name as keyof Space](value as never) ? value : null,
    ]);
    return kept.some(([, value]) => value !== null) ? { ...field, value: Object.fromEntries(kept) } : null;
  };

  const isAttribute = ({ value: { name, value }, ...field }: Placed<Attribute>): boolean =>
    name.split("_").every((word) => PROPERTY_WORDS.has(word) || hasWords(said, wordsOf(word))) &&
    (typeof value !== "number" || isPrice(value, field) || isPrice(Math.abs(value), field));

  return {
    price,
    budget,
    place,
    space,
    isMethod: (field: Placed<Method>) => isMethod(field.value, field),
    isCondition: (field: Placed<string>) => conditions.some((one) => one.value === field.value && overlaps(one, field)),
    isAttribute,
  };
};

/** True if the quote of a field stands in the text. */
const isPlaced = <F extends Found & Partial<Span>>(field: F | null | undefined): field is F & Span =>
  field?.start !== undefined;

/**
 * What the text states of a model's extraction.
 * @param extraction the model's answer, its quotes located
 */
export const keepStated = <R extends OfferExtraction | AskExtraction>(
  extraction: Located<R>,
  scene: Scene,
): Located<R> => {
  const states = statesOf(scene);
  const read = extraction as Located<OfferExtraction> | Located<AskExtraction>;
  const common = {
    location: isPlaced(read.location) ? states.place(read.location) : null,
    condition: isPlaced(read.condition) && states.isCondition(read.condition) ? read.condition : null,
    attributes: read.attributes.filter((one) => isPlaced(one) && states.isAttribute(one)),
  };
  if ("ask_kind" in read) {
    const price = isPlaced(read.price) ? states.budget(read.price) : null;
    // Only the built-in extractor reads a circle.
    return { ...read, ...common, price, near: null } as Located<AskExtraction> as Located<R>;
  }
  return {
    ...read,
    ...common,
    price: isPlaced(read.price) ? states.price(read.price) : null,
    contacts: read.contacts.filter((one) => isPlaced(one) && states.isMethod(one)),
    space: isPlaced(read.space) ? states.space(read.space) : null,
  } as Located<OfferExtraction> as Located<R>;
};
