import { z } from "zod";
import { ASK_KINDS, CONDITIONS, CONTACT_TYPES, OFFER_KINDS, PRICE_PERIODS, PRICE_TYPES } from "../database/enums.ts";

/**
 * What reading a text yields, and the two interfaces behind which the extractors stand.
 *
 *   text        what an agent sent, NFC, at most 4,000 code points; data, never instructions
 *   extraction  the values found in a text, each with the words that say it (its quote)
 *   grounded    an extraction whose quotes have been located in the text: start and end in code points
 *   extractor   who read the text: the built-in one, or a model behind an OpenAI-compatible server
 *
 * An extractor reads; the database decides. `jobs.complete_submission` verifies every span again and publishes or refuses.
 */

/**
 * A value and where the text says it.
 * `quote` is copied verbatim from the text: for a stated value the words that state it, for an inferred one the words
 * it was inferred from. `confidence` is 0 to 1; what an extractor is not confident of it leaves out (null).
 */
const found = <T extends z.ZodType>(value: T) =>
  z.strictObject({
    value,
    quote: z.string().min(1).max(4000),
    basis: z.enum(["stated", "inferred"]),
    confidence: z.number().min(0).max(1),
  });

/** Amounts are in major units of the ISO 4217 currency ("1.200€ VB" is 1200 EUR). `label`: the words as stated. */
const price = z.strictObject({
  amount: z.number().min(0).max(1e12).nullable(),
  amount_max: z.number().min(0).max(1e12).nullable(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .nullable(),
  period: z.enum(PRICE_PERIODS).nullable(),
  type: z.enum(PRICE_TYPES),
  negotiable: z.boolean(),
  deposit: z.number().min(0).max(1e12).nullable(),
  label: z.string().min(1).max(200),
});

/** `text` is the place as written; the rest only as far as it is certain. `country` is ISO 3166-1 alpha-2. */
const location = z.strictObject({
  text: z.string().min(1).max(200),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .nullable(),
  region: z.string().max(100).nullable(),
  city: z.string().max(100).nullable(),
  district: z.string().max(100).nullable(),
  postal_code: z.string().max(20).nullable(),
  remote: z.boolean(),
});

/** phone, sms, whatsapp: E.164 where a country can be derived; email: lower case; url: absolute. */
const contactMethod = z.strictObject({
  type: z.enum(CONTACT_TYPES),
  value: z.string().min(3).max(2048),
  preferred: z.boolean(),
});

/** Whom one reaches. */
const contactParty = z.strictObject({
  name: z.string().min(1).max(120),
  kind: z.enum(["person", "organization"]),
  role: z.string().max(80).nullable(),
});

/** Areas in square metres; `available_from` is a day, YYYY-MM-DD. */
const space = z.strictObject({
  area_m2: z.number().min(0).max(1e9).nullable(),
  rooms: z.number().min(0).max(1000).nullable(),
  bedrooms: z.number().min(0).max(1000).nullable(),
  bathrooms: z.number().min(0).max(1000).nullable(),
  floor: z.number().min(-20).max(300).nullable(),
  furnished: z.boolean().nullable(),
  available_from: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .nullable(),
  pets_allowed: z.boolean().nullable(),
});

const attribute = z.strictObject({
  name: z.string().min(1).max(60),
  value: z.union([z.string().max(200), z.number(), z.boolean()]),
});

const taxonomyName = z.string().regex(/^[a-z_]{1,40}$/);
const language = z
  .string()
  .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/)
  .nullable();

/** What an extractor reads in an offer. The description is not among it: that is the text itself. */
export const offerExtraction = z.strictObject({
  language,
  title: found(z.string().min(1).max(120)),
  domain: found(taxonomyName).nullable(),
  category: found(taxonomyName).nullable(),
  offer_kind: found(z.enum(OFFER_KINDS)).nullable(),
  price: found(price).nullable(),
  location: found(location).nullable(),
  contacts: z.array(found(contactMethod)).max(10),
  party: found(contactParty).nullable(),
  condition: found(z.enum(CONDITIONS)).nullable(),
  space: found(space).nullable(),
  features: z.array(found(z.string().min(1).max(80))).max(20),
  attributes: z.array(found(attribute)).max(20),
});
/** What an extractor found in an offer. */
export type OfferExtraction = z.infer<typeof offerExtraction>;

/** What an extractor reads in an ask. `price.max` is the stated ceiling; `must` and `exclude` are words as stated. */
export const askExtraction = z.strictObject({
  language,
  title: found(z.string().min(1).max(120)).nullable(),
  domain: found(taxonomyName).nullable(),
  category: found(taxonomyName).nullable(),
  ask_kind: found(z.enum(ASK_KINDS)).nullable(),
  price: found(
    z.strictObject({
      min: z.number().min(0).max(1e12).nullable(),
      max: z.number().min(0).max(1e12).nullable(),
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/)
        .nullable(),
      period: z.enum(PRICE_PERIODS).nullable(),
    }),
  ).nullable(),
  location: found(location).nullable(),
  condition: found(z.enum(CONDITIONS)).nullable(),
  keywords: z.array(z.string().min(1).max(60)).max(20),
  must: z.array(found(z.string().min(1).max(80))).max(10),
  exclude: z.array(found(z.string().min(1).max(80))).max(10),
  attributes: z.array(found(attribute)).max(20),
});
/** What an extractor found in an ask. */
export type AskExtraction = z.infer<typeof askExtraction>;

/**
 * What the query of a search says beside the thing it looks for. What is `certain` filters, the rest ranks.
 * `words`: the query without what was read as kind, place and price. `corrections`: per misspelt word the one that was
 * meant. `asides`: those of the words, folded, that tell what the thing is for. `places`: any of them; `price` in major units.
 */
export type QueryExtraction = {
  words: string;
  asides: string[];
  language: string | null;
  corrections: Record<string, string>;
  offer_kind: { value: (typeof OFFER_KINDS)[number]; certain: boolean } | null;
  domain: string | null;
  category: string | null;
  price: NonNullable<AskExtraction["price"]>["value"] | null;
  places: { text: string; city: string | null; country: string | null }[];
};

/** The vocabulary of the market, kept in tables (`market.category`, `reading.vocabulary`, `reading.classifier`), handed to extractors as data. */
export type Vocabulary = {
  /** Tells an edition from others: what has the same holds the same terms, and learned the same. Absent for one of no database. */
  version?: string;
  /** Which kinds and categories a domain has. */
  taxonomy: { domain: string; kinds: string[]; categories: string[] }[];
  /** Words that tell something: `term` (folded: lower case, no accents) says `sense`, the more surely the higher `weight`. */
  terms: { term: string; language: string | null; sense: string; weight: number }[];
  /** What was learned from examples, by the name of the classifier (builtin/classify.ts). */
  classifiers: Readonly<Partial<Record<string, Weights>>>;
};

/**
 * What a classifier learned. `bias`: what speaks for each class before a text is looked at, as a logarithm. `weights`: for
 * each feature a signed byte per class, in tenths of such a logarithm, as base64.
 */
export type Weights = { classes: string[]; bias: number[]; features: string[]; weights: string };

/** A text with what it is, to learn from; `category` is "domain/category", null to teach the kind alone. */
export type Example = { document: "ask" | "offer"; text: string; kind: string; category: string | null };

/** Reads texts. Must be safe to call concurrently; must settle soon after `signal` aborts. */
export type Extractor = {
  /** Names it in logs and metrics: "builtin", or the model. */
  readonly model: string;
  /** @throws when the text could not be read (provider down, deadline): the caller then asks the built-in extractor. */
  extractOffer(text: string, signal: AbortSignal): Promise<OfferExtraction>;
  extractAsk(text: string, signal: AbortSignal): Promise<AskExtraction>;
};

/** 512: what `halfvec(512)` in the database holds; OpenAI's text-embedding-3 models shorten to it by `dimensions`. */
export const EMBEDDING_DIMENSIONS = 512;

/** Turns texts into vectors of EMBEDDING_DIMENSIONS finite numbers of unit length, in the order of the texts. */
export type Embedder = {
  /** Kept beside each vector: only vectors of one model are ever compared. */
  readonly model: string;
  /** Whether each vector costs the operator money: what callers may cause has then to be bounded. */
  readonly paid: boolean;
  /** @throws when the provider failed or answered with vectors of another shape. */
  embed(texts: string[], signal: AbortSignal): Promise<number[][]>;
};
