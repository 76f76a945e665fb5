import { findAddressedToModel } from "./builtin/addressed.ts";
import type { AskExtraction, Extractor, OfferExtraction } from "./extraction.ts";
import { type Grounded, ground } from "./ground.ts";

/**
 * Two readings of one text made into one: field by field the better-grounded value wins.
 *
 * A model understands more, and sometimes invents or obeys. So its reading is grounded in what the text says apart from
 * orders to software; what does not stand there gives way to what the built-in extractor found.
 */

type Found = { value: unknown; quote: string; basis: "stated" | "inferred"; confidence: number };

/** The text with what is addressed to a model blanked out, every other character in its place. */
const withoutOrders = (text: string): string => {
  let honest = text;
  for (const { start, end } of findAddressedToModel(text)) {
    honest = honest.slice(0, start) + honest.slice(start, end).replace(/[^\r\n]/g, " ") + honest.slice(end);
  }
  return honest.trim() === "" ? text : honest;
};

/** What the text states is better grounded than what follows from it; of equals the model's, which was asked first. */
const better = <F extends Found>(model: F | null, own: F | null): F | null => {
  if (model === null || own === null) return model ?? own;
  return model.basis === "inferred" && own.basis === "stated" ? own : model;
};

const orElse = <F>(model: F[], own: F[]): F[] => (model.length > 0 ? model : own);

type Shared = Pick<OfferExtraction, "domain" | "category" | "location" | "condition" | "language">;

const shared = (model: Grounded<Shared>, own: Shared): Shared => {
  const domain = model.domain ?? own.domain;
  return {
    language: model.language ?? own.language,
    domain,
    // A category belongs to its domain.
    category: model.category ?? (domain?.value === own.domain?.value ? own.category : null),
    location: better<NonNullable<OfferExtraction["location"]>>(model.location, own.location),
    condition: better<NonNullable<OfferExtraction["condition"]>>(model.condition, own.condition),
  };
};

/** One extraction of an offer from a model's and the built-in extractor's. */
const mergeOffer = (text: string, read: OfferExtraction, own: OfferExtraction): OfferExtraction => {
  const model = ground(withoutOrders(text), read);
  return {
    ...model,
    ...shared(model, own),
    // A title that the text does not say has become its first line.
    title: model.title.value === read.title.value ? model.title : own.title,
    offer_kind: better<NonNullable<OfferExtraction["offer_kind"]>>(model.offer_kind, own.offer_kind),
    price: better<NonNullable<OfferExtraction["price"]>>(model.price, own.price),
    contacts: orElse<OfferExtraction["contacts"][number]>(model.contacts, own.contacts),
    space: better<NonNullable<OfferExtraction["space"]>>(model.space, own.space),
    features: orElse<OfferExtraction["features"][number]>(model.features, own.features),
    attributes: orElse<OfferExtraction["attributes"][number]>(model.attributes, own.attributes),
  };
};

/** One extraction of an ask from a model's and the built-in extractor's. */
const mergeAsk = (text: string, read: AskExtraction, own: AskExtraction): AskExtraction => {
  const model = ground(withoutOrders(text), read);
  return {
    ...model,
    ...shared(model, own),
    title: model.title !== null && model.title.value === read.title?.value ? model.title : own.title,
    ask_kind: better<NonNullable<AskExtraction["ask_kind"]>>(model.ask_kind, own.ask_kind),
    price: better<NonNullable<AskExtraction["price"]>>(model.price, own.price),
    keywords: orElse(model.keywords, own.keywords),
    must: orElse<AskExtraction["must"][number]>(model.must, own.must),
    exclude: orElse<AskExtraction["exclude"][number]>(model.exclude, own.exclude),
    attributes: orElse<AskExtraction["attributes"][number]>(model.attributes, own.attributes),
  };
};

type Repairing = Extractor & { isRepaired?(extraction: OfferExtraction | AskExtraction): boolean };

/**
 * A model's reader with the built-in one beside it.
 *
 * @param primary fails as it does by itself: what then is read is for the caller to say
 * @param builtin reads every text too, in a few milliseconds
 */
export const extractorBeside = (primary: Repairing, builtin: Extractor): Required<Repairing> => {
  const repaired = new WeakSet<OfferExtraction | AskExtraction>();
  const noting = <R extends OfferExtraction | AskExtraction>(read: R, merged: R): R => {
    if (primary.isRepaired?.(read)) repaired.add(merged);
    return merged;
  };
  return {
    model: primary.model,
    isRepaired: (extraction) => repaired.has(extraction),
    extractOffer: async (text, signal) => {
      const read = await primary.extractOffer(text, signal);
      return noting(read, mergeOffer(text, read, await builtin.extractOffer(text, signal)));
    },
    extractAsk: async (text, signal) => {
      const read = await primary.extractAsk(text, signal);
      return noting(read, mergeAsk(text, read, await builtin.extractAsk(text, signal)));
    },
  };
};
