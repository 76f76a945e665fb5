import { findAddressedToModel } from "./builtin/addressed.ts";
import type { AskExtraction, Extractor, OfferExtraction } from "./extraction.ts";
import { type Grounded, ground } from "./ground.ts";

/**
 * Merges two extractions of one text. For each field, the better grounded value is used.
 *
 * A model understands more than the built-in extractor, but sometimes it invents values or obeys instructions in the
 * text. So its extraction is grounded in the text without passages that give instructions to software. A value that is
 * not grounded is replaced by the value of the built-in extractor.
 */

type Found = { value: unknown; quote: string; basis: "stated" | "inferred"; confidence: number };

/**
 * The text with every passage that is addressed to a model replaced by spaces, so that all other characters keep their
 * positions.
 */
const withoutInstructions = (text: string): string => {
  let visible = text;
  for (const { start, end } of findAddressedToModel(text)) {
    visible = visible.slice(0, start) + visible.slice(start, end).replace(/[^\r\n]/g, " ") + visible.slice(end);
  }
  return visible.trim() === "" ? text : visible;
};

/** A stated value is better grounded than an inferred one. If both are equal, the model's value is used. */
const better = <F extends Found>(model: F | null, own: F | null): F | null => {
  if (model === null || own === null) return model ?? own;
  return model.basis === "inferred" && own.basis === "stated" ? own : model;
};

const modelOrOwn = <F>(model: F[], own: F[]): F[] => (model.length > 0 ? model : own);

type Shared = Pick<OfferExtraction, "domain" | "category" | "location" | "condition" | "language">;

const mergeShared = (model: Grounded<Shared>, own: Shared): Shared => {
  const domain = model.domain ?? own.domain;
  return {
    language: model.language ?? own.language,
    domain,
    // A category is only valid with its own domain.
    category: model.category ?? (domain?.value === own.domain?.value ? own.category : null),
    location: better<NonNullable<OfferExtraction["location"]>>(model.location, own.location),
    condition: better<NonNullable<OfferExtraction["condition"]>>(model.condition, own.condition),
  };
};

/** Merges a model's extraction of an offer with that of the built-in extractor. */
const mergeOffer = (text: string, read: OfferExtraction, own: OfferExtraction): OfferExtraction => {
  const model = ground(withoutInstructions(text), read);
  return {
    ...model,
    ...mergeShared(model, own),
    // `ground` replaces a title that the text does not state by the first line. The built-in title is better than that.
    title: model.title.value === read.title.value ? model.title : own.title,
    offer_kind: better<NonNullable<OfferExtraction["offer_kind"]>>(model.offer_kind, own.offer_kind),
    price: better<NonNullable<OfferExtraction["price"]>>(model.price, own.price),
    contacts: modelOrOwn<OfferExtraction["contacts"][number]>(model.contacts, own.contacts),
    space: better<NonNullable<OfferExtraction["space"]>>(model.space, own.space),
    features: modelOrOwn<OfferExtraction["features"][number]>(model.features, own.features),
    attributes: modelOrOwn<OfferExtraction["attributes"][number]>(model.attributes, own.attributes),
  };
};

/** Merges a model's extraction of an ask with that of the built-in extractor. */
const mergeAsk = (text: string, read: AskExtraction, own: AskExtraction): AskExtraction => {
  const model = ground(withoutInstructions(text), read);
  return {
    ...model,
    ...mergeShared(model, own),
    title: model.title !== null && model.title.value === read.title?.value ? model.title : own.title,
    ask_kind: better<NonNullable<AskExtraction["ask_kind"]>>(model.ask_kind, own.ask_kind),
    price: better<NonNullable<AskExtraction["price"]>>(model.price, own.price),
    keywords: modelOrOwn(model.keywords, own.keywords),
    must: modelOrOwn<AskExtraction["must"][number]>(model.must, own.must),
    exclude: modelOrOwn<AskExtraction["exclude"][number]>(model.exclude, own.exclude),
    attributes: modelOrOwn<AskExtraction["attributes"][number]>(model.attributes, own.attributes),
  };
};

type Repairing = Extractor & { isRepaired?(extraction: OfferExtraction | AskExtraction): boolean };

/**
 * Creates an extractor that merges a model's extraction with that of the built-in extractor.
 *
 * @param primary the model's extractor. Its errors are thrown on; the caller decides what happens then
 * @param builtin also reads every text; this takes a few milliseconds
 */
export const extractorBeside = (primary: Repairing, builtin: Extractor): Required<Repairing> => {
  const repaired = new WeakSet<OfferExtraction | AskExtraction>();
  const keepingRepaired = <R extends OfferExtraction | AskExtraction>(read: R, merged: R): R => {
    if (primary.isRepaired?.(read)) repaired.add(merged);
    return merged;
  };
  return {
    model: primary.model,
    isRepaired: (extraction) => repaired.has(extraction),
    extractOffer: async (text, signal) => {
      const read = await primary.extractOffer(text, signal);
      return keepingRepaired(read, mergeOffer(text, read, await builtin.extractOffer(text, signal)));
    },
    extractAsk: async (text, signal) => {
      const read = await primary.extractAsk(text, signal);
      return keepingRepaired(read, mergeAsk(text, read, await builtin.extractAsk(text, signal)));
    },
  };
};
