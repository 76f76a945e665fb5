import { z } from "zod";
import {
  CONDITIONS,
  CONTACT_TYPES,
  OFFER_STATUSES,
  PRICE_PERIODS,
  PRICE_TYPES,
  REPORT_REASONS,
} from "../../database/enums.ts";
import {
  category,
  codePoints,
  cursor,
  domain,
  id,
  month,
  offerKind,
  page,
  pageSize,
  text,
  timestamp,
} from "./values.ts";

/** The schemas of offers, of publishing and of reports. */

const pricing = z.object({
  amount: z.number().optional().describe("Major units of the currency."),
  amount_max: z.number().optional(),
  currency: z.string().optional().describe("ISO 4217."),
  period: z.enum(PRICE_PERIODS).optional(),
  type: z.enum(PRICE_TYPES),
  negotiable: z.boolean(),
  deposit: z.number().optional(),
  label: z.string().describe("The words as stated."),
});
const place = z.object({
  text: z.string(),
  country: z.string().optional(),
  region: z.string().optional(),
  city: z.string().optional(),
  district: z.string().optional(),
  postal_code: z.string().optional(),
  remote: z.boolean(),
  point: z
    .object({ lat: z.number(), lon: z.number() })
    .optional()
    .describe(
      "The position of the city or district in degrees (WGS 84), if the text names one. Country, region and point of a place are from GeoNames (https://www.geonames.org), licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/).",
    ),
});
const space = z.object({
  area_m2: z.number().optional(),
  rooms: z.number().optional(),
  bedrooms: z.number().optional(),
  bathrooms: z.number().optional(),
  floor: z.number().optional(),
  furnished: z.boolean().optional(),
  available_from: z.string().optional(),
  pets_allowed: z.boolean().optional(),
});
const metadata = z
  .object({
    pricing: pricing.optional(),
    location: place.optional(),
    space: space.optional(),
    features: z.array(z.string()).optional(),
    condition: z.enum(CONDITIONS).optional(),
    attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  })
  .meta({ id: "Metadata", description: "What the text states; each member absent when it does not." });

const contactMethod = z.object({ type: z.enum(CONTACT_TYPES), value: z.string(), preferred: z.boolean() });
const contactParty = z.object({
  name: z.string().optional(),
  kind: z.enum(["person", "organization"]).optional(),
  role: z.string().optional(),
  methods: z.array(contactMethod),
});
const contact = z
  .object({
    schema_version: z.literal(2),
    methods: z.array(contactMethod),
    primary: contactParty,
    additional: z.array(contactParty),
  })
  .meta({ id: "Contact" });

const images = z.array(z.object({ url: z.string() }));
const preview = z.object({
  headline: z.string(),
  snippet: z.string(),
  price_label: z.string().optional(),
  location_label: z.string().optional(),
});

const publisher = z
  .object({
    verified: z.boolean(),
    member_since: month,
    last_active: month,
    offers: z.object({ active: z.int(), lifetime: z.int(), removed: z.int() }),
  })
  .meta({ id: "Publisher", description: "What the account behind a listing has done; never who it is." });

const listing = {
  id,
  document: z.object({
    title: z.string(),
    description: z.string(),
    location: z.string().nullable(),
    language: z.string().nullable().describe("BCP 47."),
  }),
  metadata: metadata.nullable(),
  content: z.object({ preview, contact, images }),
  posted: z.iso.date().optional(),
  reviewed: z.boolean(),
  publisher: publisher.optional(),
};

/** An offer as its owner sees it. */
export const ownerOffer = z
  .object({
    id,
    status: z.enum(OFFER_STATUSES),
    visibility: z.enum(["public", "owner_only"]),
    review: z.string().describe("One sentence on what the status means for the owner."),
    title: z.string(),
    description: z.string(),
    domain,
    category,
    offer_kind: offerKind,
    metadata,
    preview,
    contact,
    images,
    missing_fields: z.array(z.string()),
    published_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    review_reason: z.enum(REPORT_REASONS).optional().describe("Why a moderator took it down or rejected it."),
    appealable: z
      .boolean()
      .optional()
      .describe("Of a removed offer: whether you may appeal (once), at POST /v1/offers/{id}/appeal."),
    appeal: z
      .object({ status: z.enum(["waiting", "declined"]), created_at: timestamp, decided_at: timestamp.optional() })
      .optional()
      .describe(
        "Of a removed offer that you appealed for: waiting for another moderator, or declined. One that was granted is live.",
      ),
  })
  .meta({ id: "OwnerOffer", description: "An offer as its owner sees it." });

const publishedOffer = z
  .object({
    ...listing,
    status: z.literal("published"),
    domain,
    category,
    offer_kind: offerKind,
    updated_at: timestamp,
    owner: ownerOffer.optional(),
  })
  .meta({ id: "PublishedOffer" });

/** An offer as a search finds it. */
export const searchResult = z
  .object({ ...listing, score: z.number().min(0).max(1), rank: z.int().min(1) })
  .meta({ id: "SearchResult" });

/** The response of GET /v1/offers/{id}. */
export const offer = z.union([publishedOffer, ownerOffer]).meta({
  id: "Offer",
  description: "A published offer; or, for its owner, an unpublished one.",
});
/** The body of POST /v1/offers, and of its preview. */
export const offerSubmission = z
  .object({
    text: codePoints(4000, "A text").describe("The offer in plain language, with a contact that can be reached."),
    images: z.array(text()).max(16, "An offer may have at most 16 images.").optional().describe("https links."),
    origin_ask_id: text().nullish().describe("An ask of yours that this offer answers."),
  })
  .meta({ id: "OfferSubmission" });

/** The body of PATCH /v1/offers/{id}. */
export const offerPatch = z
  .object({
    text: codePoints(4000, "A text").optional(),
    images: z.array(text()).max(16, "An offer may have at most 16 images.").optional(),
  })
  .refine((body) => body.text !== undefined || body.images !== undefined, {
    message: "Send a new text, new images, or both.",
  })
  .meta({ id: "OfferPatch" });

const extraction = z
  .looseObject({})
  .describe(
    "Per field {value, quote, start, end, basis, confidence}; start and end are zero-based, half-open and count code points, so that text[start:end] is the quote; contact, features and attributes are arrays of these.",
  );

const understood = {
  title: z.string(),
  domain,
  category,
  offer_kind: offerKind,
  price: z.string().optional().describe("As stated in the text."),
  location: z.string().optional().describe("As stated in the text."),
  contact: z.string().optional().describe("The preferred way to be reached, as stated in the text."),
  missing_fields: z.array(z.string()).optional(),
  warnings: z.array(z.string()).optional(),
  extraction,
};

/** The response to publishing or changing an offer. */
export const offerPublished = z
  .object({ offer_id: id, status: z.enum(OFFER_STATUSES), ...understood })
  .meta({ id: "OfferPublished", description: "How the text was understood." });

/** The response of POST /v1/offers/preview. */
export const offerPreview = z
  .object({ ...understood, questions: z.array(z.string()).describe("For the person, one for each missing field.") })
  .meta({ id: "OfferPreview", description: "How the text would be understood." });

/** A page of the account's own offers. */
export const offerList = z.object({ results: z.array(ownerOffer), page }).meta({ id: "OfferList" });
/** The query parameters of GET /v1/offers. */
export const offerListQuery = z.object({
  status: z.enum(OFFER_STATUSES).optional(),
  limit: pageSize,
  cursor: cursor.optional(),
});

/** The body of POST /v1/offers/{id}/report. */
export const report = z
  .object({ reason: z.enum(REPORT_REASONS), comment: codePoints(1000, "A comment").nullish() })
  .meta({ id: "Report" });
/** The body of POST /v1/offers/{id}/appeal. */
export const appeal = z.object({ comment: codePoints(1000, "A comment").nullish() }).meta({ id: "Appeal" });
/** The response to a report. */
export const reportReceived = z
  .object({ offer_id: id, status: z.literal("received"), summary: z.string() })
  .meta({ id: "ReportReceived" });
