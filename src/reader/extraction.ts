import { z } from "zod";
import {
  ASK_KINDS,
  CONDITIONS,
  CONTACT_TYPES,
  OFFER_KINDS,
  PRICE_PERIODS,
  PRICE_TYPES,
  PRICE_UNITS,
} from "../base/enums.ts";
import type { Meaning } from "./embed/learn.ts";
import type { PlaceRows } from "./propose/gazetteer.ts";
import type { Span } from "./text/span.ts";

/**
 * The fields that are extracted from a text, and the interfaces of extractors and embedders.
 *
 *   text        what an agent sent: NFC, at most 4,000 code points; data, never instructions
 *   extraction  the values found in a text, each with the words that state it (its quote)
 *   located     an extraction whose quotes have their places in the text: start and end in code points
 *   extractor   what reads the text: the built-in extractor, or a model behind an OpenAI-compatible server
 *
 * The built-in extractor proposes every number, sum, contact and place of a text. A model chooses among them: a value of
 * its answer that is none of them is left out (builtin/stated.ts). `jobs.complete_submission` gets all extractions of a
 * text, checks that every quote stands at its place and that free text consists of quoted words, and publishes or refuses.
 */

/**
 * A value and the passage of the text that states it.
 * `quote` is copied verbatim from the text: for a stated value the words that state it, for an inferred value the words
 * it was inferred from. `confidence` is 0 to 1. An extractor leaves out (null) every value of which it is not
 * confident.
 */
export const found = <T extends z.ZodType>(value: T) =>
  z.strictObject({
    value,
    quote: z.string().min(1).max(4000),
    basis: z.enum(["stated", "inferred"]),
    confidence: z.number().min(0).max(1),
  });

/** A code of a certain form, or null. */
const code = (form: RegExp) => z.string().regex(form).nullable();
const number = (least: number, most: number) => z.number().min(least).max(most).nullable();
const amount = number(0, 1e12);
const currency = code(/^[A-Z]{3}$/);
const period = z.enum(PRICE_PERIODS).nullable();
const unit = z.enum(PRICE_UNITS).nullable();

/**
 * Amounts are in major units of the ISO 4217 currency ("1.200€ VB" is 1200 EUR). `unit`: what the amount is for, if not
 * for the whole. `label`: the words as stated.
 */
const price = z.strictObject({
  amount,
  amount_max: amount,
  currency,
  period,
  type: z.enum(PRICE_TYPES),
  negotiable: z.boolean(),
  deposit: amount,
  unit,
  label: z.string().min(1).max(200),
});

/**
 * `text` is the place as written. The other fields are set only if they are certain. `country` is ISO 3166-1 alpha-2.
 * `point` is never read: it is the position of the city or district in the gazetteer (propose/place_choice.ts), in degrees.
 */
export const location = z.strictObject({
  text: z.string().min(1).max(200),
  country: code(/^[A-Z]{2}$/),
  region: z.string().max(100).nullable(),
  city: z.string().max(100).nullable(),
  district: z.string().max(100).nullable(),
  postal_code: z.string().max(20).nullable(),
  remote: z.boolean(),
  point: z
    .strictObject({ lat: z.number().min(-90).max(90), lon: z.number().min(-180).max(180) })
    .nullable()
    .default(null),
});

/**
 * The circle in which an ask looks: `place` is the town as written, `lat` and `lon` are its position in the gazetteer.
 * `radius_km` is null where the text only says "near". No model reads it: the built-in extractor does.
 */
const near = z.strictObject({
  place: z.string().min(1).max(200),
  lat: z.number().min(-90).max(90),
  lon: z.number().min(-180).max(180),
  radius_km: number(1, 500),
});

/** phone, sms, whatsapp: E.164 if a country can be derived; email: lower case; url: absolute. */
const contactMethod = z.strictObject({
  type: z.enum(CONTACT_TYPES),
  value: z.string().min(3).max(2048),
  preferred: z.boolean(),
});

/** The person or organization that the contacts reach. */
const contactParty = z.strictObject({
  name: z.string().min(1).max(120),
  kind: z.enum(["person", "organization"]),
  role: z.string().max(80).nullable(),
});

/** Areas in square metres; `available_from` is a day, YYYY-MM-DD. */
const space = z.strictObject({
  area_m2: number(0, 1e9),
  rooms: number(0, 1000),
  bedrooms: number(0, 1000),
  bathrooms: number(0, 1000),
  floor: number(-20, 300),
  furnished: z.boolean().nullable(),
  available_from: code(/^\d{4}-\d{2}-\d{2}$/),
  pets_allowed: z.boolean().nullable(),
});

const attribute = z.strictObject({
  name: z.string().min(1).max(60),
  value: z.union([z.string().max(200), z.number(), z.boolean()]),
});

/**
 * What a text says that it is, whatever it was sent as: "ask" if it seeks something for its author, "offer" if it offers
 * something. Null where it does not say so.
 */
export const readsAs = z.enum(["ask", "offer"]);

const taxonomyName = z.string().regex(/^[a-z_]{1,40}$/);
const language = code(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/);

/** The fields of an offer. The description is not among them: it is the text itself. */
export const offerExtraction = z.strictObject({
  language,
  title: found(z.string().min(1).max(120)),
  domain: found(taxonomyName).nullable(),
  category: found(taxonomyName).nullable(),
  offer_kind: found(z.enum(OFFER_KINDS)).nullable(),
  reads_as: found(readsAs).nullish(),
  price: found(price).nullable(),
  location: found(location).nullable(),
  contacts: z.array(found(contactMethod)).max(10),
  party: found(contactParty).nullable(),
  condition: found(z.enum(CONDITIONS)).nullable(),
  space: found(space).nullable(),
  features: z.array(found(z.string().min(1).max(80))).max(20),
  attributes: z.array(found(attribute)).max(20),
});
/**
 * Why a candidate is the price or is not: its value, its chance, and the features that say most about it. A candidate
 * without an amount is a statement such as "free". A feature has only words of the training set, so a name or a number
 * that stands beside a price is in none.
 */
export type PriceReason = {
  amount: number | null;
  currency: string | null;
  /** 0 to 1. */
  chance: number;
  /** The features with the greatest effect, for and against; `weight` is what a feature adds to the score. */
  features: { feature: string; weight: number }[];
};

/**
 * The fields that an extractor found in an offer. Only the built-in extractor gives `price_reasons`: why it took this
 * price. They are not part of the offer, and nobody but a DBA sees them (`inspect.price_reasons`). It also says whether the
 * text offers `several` things with a price each, and which places its place may be (`which_place`), if there are several.
 */
export type OfferExtraction = z.infer<typeof offerExtraction> & {
  price_reasons?: PriceReason[];
  several?: boolean;
  which_place?: string[];
};

/** The fields of an ask. `price.max` is the stated maximum; `must` and `exclude` are words as stated. */
export const askExtraction = z.strictObject({
  language,
  title: found(z.string().min(1).max(120)).nullable(),
  domain: found(taxonomyName).nullable(),
  category: found(taxonomyName).nullable(),
  ask_kind: found(z.enum(ASK_KINDS)).nullable(),
  reads_as: found(readsAs).nullish(),
  price: found(z.strictObject({ min: amount, max: amount, currency, period, unit })).nullable(),
  location: found(location).nullable(),
  near: found(near).nullish(),
  condition: found(z.enum(CONDITIONS)).nullable(),
  keywords: z.array(z.string().min(1).max(60)).max(20),
  must: z.array(found(z.string().min(1).max(80))).max(10),
  exclude: z.array(found(z.string().min(1).max(80))).max(10),
  attributes: z.array(found(attribute)).max(20),
});
/** The fields that an extractor found in an ask. */
export type AskExtraction = z.infer<typeof askExtraction>;

/** A value with its quote. */
export type Found<T = unknown> = { value: T; quote: string; basis: "stated" | "inferred"; confidence: number };

/**
 * An extraction in which every found value has the span of its quote: zero-based, half-open, in code points, so that a
 * client's `text[start:end]` is the quote. A quote that does not stand in the text has no span, and the database drops
 * its value.
 */
export type Located<T> = T extends Found
  ? T & Partial<Span>
  : T extends readonly (infer E)[]
    ? Located<E>[]
    : T extends object
      ? { [K in keyof T]: Located<T[K]> }
      : T;

/**
 * What the database gets: the extractions of a text, its passages that are addressed to software, in code points, and
 * what is withheld with the contact.
 */
export type Reading<T> = { extractions: Located<T>[]; addressed: Span[]; withheld: Withheld };

/**
 * Returns what of an offer with these image links is not shown where its contact is withheld. `spans`: the passages of
 * the text by which somebody may be reached, the contacts and names of these extractions, and what is addressed to
 * software, in code points, in order. `images`: the links that give a contact away.
 */
export type Withheld = (
  images: readonly string[],
  extractions: readonly Located<OfferExtraction>[],
) => { spans: Span[]; images: string[] };

/**
 * A word of a query as it is written, or several with hyphens. `meant`: the intended word, if it is misspelt.
 * `is_modifier`: it only tells what the thing is for.
 */
export type QueryWord = { said: string; meant?: string; is_modifier?: true };

/**
 * The fields of a search query. The kind filters the results only if it is `certain`. Offers that are known to be
 * elsewhere, or that cost clearly more than the price, are dropped. The other fields only affect the ranking.
 *
 * `words`: the query without stop words and the words that were read as kind, place or price. The database makes
 * lexemes of them, as it does of offers. `corrections`: the intended words for misspelt ones. `exclude`: what no offer
 * may mention; `asked` is the query without it. `places`: an offer may be in any of them; `unknown_place`: words that
 * name a place that is not known. `price`: major units; with `no_currency` it is a bound without a currency, which
 * filters in that of the market. `near`: a circle that filters the results; without `lat` and `lon` if the query states
 * a distance, but no known town.
 */
export type QueryExtraction = {
  words: QueryWord[];
  language: string | null;
  corrections: string[];
  offer_kind: { value: (typeof OFFER_KINDS)[number]; certain: boolean } | null;
  domain: string | null;
  category: string | null;
  price: (Omit<NonNullable<AskExtraction["price"]>["value"], "unit"> & { no_currency?: true }) | null;
  exclude: string[];
  asked: string;
  unknown_place?: string;
  places: { text: string; city: string | null; country: string | null }[];
  near?: (z.infer<typeof near> | { lat: null }) & { quote: string };
};

/**
 * What a label of the lexicon names (`reading.concept`). The columns that fit the type are set. `feature`: the words
 * themselves are the feature. `cue`: the words say something about the words beside them. `word_class`: a closed class of
 * words, such as negations and stop words.
 */
export type Concept = {
  concept: string;
  domain: string | null;
  category: string | null;
  offer_kind: string | null;
  ask_kind: string | null;
  condition: string | null;
} & (
  | { type: "category"; domain: string; category: string }
  | { type: "domain"; domain: string }
  | { type: "offer_kind"; offer_kind: string }
  | { type: "ask_kind"; ask_kind: string }
  | { type: "condition"; condition: string }
  | { type: "feature" | "cue" | "word_class" }
);

/**
 * A word or phrase for a concept (`reading.label`). `form`: folded. `weight`: a higher weight is stronger evidence.
 * `is_prefix`: the last word may go on. It is an array, because PostgreSQL makes fifty thousand arrays in half the time
 * of objects.
 */
export type Label = readonly [
  concept: string,
  language: string | null,
  form: string,
  weight: number,
  is_prefix: boolean,
];

/**
 * The lexicon, taxonomy and models that extractors use. They are kept in tables (`market.category`, `reading.concept`,
 * `reading.label`, `reading.classifier`) and passed to extractors as data.
 */
export type Vocabulary = {
  /**
   * Identifies an edition of the vocabulary: two objects with the same version have the same content. Absent if the
   * vocabulary does not come from a database.
   */
  version?: string;
  /** The kinds and categories of each domain. */
  taxonomy: { domain: string; kinds: string[]; categories: string[] }[];
  /** The concepts of the lexicon, but for things, which only the search uses. */
  concepts: Concept[];
  /** The words and phrases of the concepts. */
  labels: Label[];
  /** The places and their names (`reading.place`, `reading.place_name`), as texts. */
  places: PlaceRows;
  /**
   * The version of the code by which the classifiers were learned (LEARNING in training/classifiers.ts). Null if nothing was
   * learned yet, absent if the vocabulary does not come from a database.
   */
  learning?: number | null;
  /** What each classifier learned from examples, by the name of the classifier (builtin/classify.ts). */
  classifiers: Readonly<Partial<Record<string, Weights>>>;
  /** What words mean, for the built-in embedder (`reading.meaning`); null or absent if nothing was learned yet. */
  meaning?: Meaning | null;
};

/**
 * The parameters of a trained classifier. `bias`: the logit of each class before any feature is seen. `weights`: for
 * each feature one signed byte for each class, in tenths of a logit, encoded as base64.
 */
export type Weights = { classes: string[]; bias: number[]; features: string[]; weights: string };

/**
 * A labelled text of the training set (`reading.example`): an offer or an ask, so one of the kinds is set. Without a
 * category it teaches only the kind. The text may contain marks (training/marks.ts).
 */
export type Example = {
  text: string;
  language: string | null;
  offer_kind: string | null;
  ask_kind: string | null;
  domain: string | null;
  category: string | null;
};

/**
 * Asks whether a text may be sent to a model, and counts that it is. The one who asks sends it if the answer is yes. The
 * database answers, because it counts how often a text was sent, whichever worker sent it (`jobs.count_model_reading`).
 */
export type MaySend = () => Promise<boolean>;

/** Reads texts. Must be safe to call concurrently, and must settle soon after `signal` aborts. */
export type Extractor = {
  /** The name in logs and metrics: "builtin", or the name of the model. */
  readonly model: string;
  /**
   * @param mayRepeat asked before the text is sent to a model a second time, which is the last; absent: it may be
   * @throws if the text could not be read (provider down, deadline). The caller then uses the built-in extractor.
   */
  extractOffer(text: string, signal: AbortSignal, mayRepeat?: MaySend): Promise<OfferExtraction>;
  extractAsk(text: string, signal: AbortSignal, mayRepeat?: MaySend): Promise<AskExtraction>;
  /** Whether an extraction needed a second request, because the model's first answer broke the schema. */
  isRepaired?(extraction: OfferExtraction | AskExtraction): boolean;
};

/** What the built-in extractor read in a text. */
export type OwnReading<R> = {
  extraction: Located<R>;
  /** The passages of the text that are addressed to software, in code points, in order. No extraction counts in them. */
  addressed: Span[];
  withheld: Withheld;
  /** What the text states of a model's extraction, with spans. No value is kept that the text does not propose. */
  keepStated(extraction: R): Located<R>;
};

/** The extractor that needs no provider. It reads within milliseconds. */
export type BuiltinExtractor = {
  readonly model: string;
  readOffer(text: string): OwnReading<OfferExtraction>;
  readAsk(text: string): OwnReading<AskExtraction>;
};

/**
 * The dimension of `halfvec(512)` in the database. OpenAI's text-embedding-3 models shorten their vectors to it
 * (`dimensions`).
 */
export const EMBEDDING_DIMENSIONS = 512;

/** Turns texts into vectors of EMBEDDING_DIMENSIONS finite numbers and unit length, in the order of the texts. */
export type Embedder = {
  /** Stored beside each vector: only vectors of the same model are compared. */
  readonly model: string;
  /**
   * True if each vector costs the operator money. The number of vectors that callers can cause must then be limited.
   */
  readonly paid: boolean;
  /** @throws if the provider failed or returned vectors of another shape. */
  embed(texts: string[], signal: AbortSignal): Promise<number[][]>;
};
