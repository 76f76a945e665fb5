import { findAddressedToModel } from "./builtin/addressed.ts";
import type { AskReading, OfferReading, Reader } from "./extraction.ts";
import { type Grounded, ground } from "./ground.ts";

/**
 * Two readings of one text made into one: field by field the better-grounded value wins.
 *
 * A model understands more, and sometimes invents or obeys. So its reading is grounded in what the text says apart from
 * orders to software; what does not stand there gives way to what the built-in reader found.
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

type Shared = Pick<OfferReading, "domain" | "category" | "location" | "condition" | "language">;

const shared = (model: Grounded<Shared>, own: Shared): Shared => {
  const domain = model.domain ?? own.domain;
  return {
    language: model.language ?? own.language,
    domain,
    // A category belongs to its domain.
    category: model.category ?? (domain?.value === own.domain?.value ? own.category : null),
    location: better<NonNullable<OfferReading["location"]>>(model.location, own.location),
    condition: better<NonNullable<OfferReading["condition"]>>(model.condition, own.condition),
  };
};

/** One reading of an offer from a model's and the built-in reader's. */
export const mergeOffer = (text: string, read: OfferReading, own: OfferReading): OfferReading => {
  const model = ground(withoutOrders(text), read);
  return {
    ...model,
    ...shared(model, own),
    // A title that the text does not say has become its first line.
    title: model.title.value === read.title.value ? model.title : own.title,
    offer_kind: better<NonNullable<OfferReading["offer_kind"]>>(model.offer_kind, own.offer_kind),
    price: better<NonNullable<OfferReading["price"]>>(model.price, own.price),
    contacts: orElse<OfferReading["contacts"][number]>(model.contacts, own.contacts),
    space: better<NonNullable<OfferReading["space"]>>(model.space, own.space),
    features: orElse<OfferReading["features"][number]>(model.features, own.features),
    attributes: orElse<OfferReading["attributes"][number]>(model.attributes, own.attributes),
  };
};

/** One reading of an ask from a model's and the built-in reader's. */
export const mergeAsk = (text: string, read: AskReading, own: AskReading): AskReading => {
  const model = ground(withoutOrders(text), read);
  return {
    ...model,
    ...shared(model, own),
    title: model.title !== null && model.title.value === read.title?.value ? model.title : own.title,
    ask_kind: better<NonNullable<AskReading["ask_kind"]>>(model.ask_kind, own.ask_kind),
    price: better<NonNullable<AskReading["price"]>>(model.price, own.price),
    keywords: orElse(model.keywords, own.keywords),
    must: orElse<AskReading["must"][number]>(model.must, own.must),
    exclude: orElse<AskReading["exclude"][number]>(model.exclude, own.exclude),
    attributes: orElse<AskReading["attributes"][number]>(model.attributes, own.attributes),
  };
};

type Repairing = Reader & { isRepaired?(reading: OfferReading | AskReading): boolean };

/**
 * A model's reader with the built-in one beside it.
 *
 * @param primary fails as it does by itself: what then is read is for the caller to say
 * @param builtin reads every text too, in a few milliseconds
 */
export const readerBeside = (primary: Repairing, builtin: Reader): Required<Repairing> => {
  const repaired = new WeakSet<OfferReading | AskReading>();
  const noting = <R extends OfferReading | AskReading>(read: R, merged: R): R => {
    if (primary.isRepaired?.(read)) repaired.add(merged);
    return merged;
  };
  return {
    maker: primary.maker,
    isRepaired: (reading) => repaired.has(reading),
    readOffer: async (text, signal) => {
      const read = await primary.readOffer(text, signal);
      return noting(read, mergeOffer(text, read, await builtin.readOffer(text, signal)));
    },
    readAsk: async (text, signal) => {
      const read = await primary.readAsk(text, signal);
      return noting(read, mergeAsk(text, read, await builtin.readAsk(text, signal)));
    },
  };
};
