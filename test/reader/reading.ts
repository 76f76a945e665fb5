import { annotateText } from "../../src/reader/builtin/addressed.ts";
import { knowledgeOf } from "../../src/reader/builtin/knowledge.ts";
import { locate } from "../../src/reader/builtin/locate.ts";
import { titleTextOf } from "../../src/reader/builtin/title_text.ts";
import { type ContactRead, readContacts } from "../../src/reader/decide/contacts.ts";
import { findLocation } from "../../src/reader/decide/place.ts";
import { judgePrices, type PriceFound, readPrice } from "../../src/reader/decide/price.ts";
import { type FoundTitle, findTitle } from "../../src/reader/decide/title.ts";
import { seedVocabulary } from "./vocabulary.ts";

/** Reads parts of texts with the shipped words and the models that are learned from the shipped examples. */

const knowledge = knowledgeOf(seedVocabulary());
const { judges } = knowledge;

const annotated = (text: string) => annotateText(knowledge, text);

/** The passages of a text that are addressed to the reading software. */
export const ordersIn = (text: string): string[] =>
  annotated(text).orders.map(({ start, end }) => text.slice(start, end));

/** The price that the reader finds in a text of a country. */
export const priceIn = (text: string, country: string | null, isAsk: boolean): PriceFound | null => {
  const annotations = annotated(text);
  return readPrice(judgePrices(annotations, annotations.isHidden, judges, { country, isAsk }), judges);
};

/** Where a text says that its thing is, and which place that is. */
export const locationIn = (text: string) => {
  const annotations = annotated(text);
  return locate(knowledge, annotations, findLocation(annotations, judges), { currency: null, phoneCountries: [] });
};

/** The place of a text as it is written, or null. */
export const placeIn = (text: string): string | null => {
  const { location } = locationIn(text);
  return location === null ? null : text.slice(location.span.start, location.span.end);
};

/** The contacts that reach the author of a text of a country. */
export const contactsIn = (text: string, country: string | null): ContactRead[] => {
  const annotations = annotated(text);
  return readContacts(annotations, judges, { country, language: annotations.language }, annotations.orders);
};

/** The contacts in the order of the text, each as "type value", with a star if preferred. */
export const reached = (text: string, country: string | null): string[] =>
  contactsIn(text, country).map(({ type, value, preferred }) => `${type} ${value}${preferred ? "*" : ""}`);

/** A function that finds the location of a text of which everything else is known. */
export const locating = (text: string) => {
  const annotations = annotated(text);
  return () => findLocation(annotations, judges);
};

/** The title of an offer of a category ("electronics/phones"). */
export const titleIn = (text: string, category: string | null): FoundTitle | null => {
  const annotations = annotated(text);
  const hints = { country: annotations.country, isAsk: false };
  const price = readPrice(judgePrices(annotations, annotations.isHidden, judges, hints), judges)?.span ?? null;
  const place = findLocation(annotations, judges).place?.span ?? null;
  return findTitle(titleTextOf(annotations, { category, price, place, isAsk: false }), judges);
};
