import { z } from "zod";
import {
  ASK_KINDS,
  ASK_STATUSES,
  CONDITIONS,
  CONTACT_TYPES,
  OFFER_KINDS,
  OFFER_STATUSES,
  PRICE_PERIODS,
  PRICE_TYPES,
  REPORT_REASONS,
  SIGN_IN_METHODS,
  VERIFICATION_STATUSES,
} from "../database/enums.ts";

/**
 * The shapes of the contract, in requests and responses. The OpenAPI document is made from these; requests are checked
 * against them at the edge; a test holds real responses against them. `meta({ id })` names a component.
 */

/** PostgreSQL stores no NUL, and no encoding has lone surrogates: such a string is a mistake of the sender. */
const text = () =>
  z.string().refine((value) => value.isWellFormed() && !value.includes("\0"), {
    message: "Contains a NUL character or half of a surrogate pair. Send it as well-formed Unicode.",
  });

const codePoints = (most: number, what: string) =>
  text()
    .refine((value) => value.length <= most || [...value].length <= most, {
      message: `${what} may have at most ${most.toLocaleString("en")} characters.`,
    })
    // JSON Schema counts code points too.
    .meta({ maxLength: most });

const id = z.string().describe("UUIDv7.");
const timestamp = z.iso.datetime().describe("RFC 3339, UTC.");
const month = z.string().regex(/^\d{4}-\d{2}$/);
const seconds = z.int().min(0);

// ── Problems ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const next = z
  .array(z.object({ summary: z.string(), method: z.string(), path: z.string() }))
  .describe("What to do next, best first.");

const problemMembers = {
  type: z.string().describe("{base_url}/errors#{code}: a page that explains the code."),
  title: z.string(),
  status: z.int(),
  code: z.string().describe("Stable: branch on this."),
  detail: z.string().describe("What is wrong and what to do, fit to be read aloud."),
  request_id: z.string(),
  retryable: z.boolean(),
  retry_after: seconds.optional(),
  errors: z
    .array(z.object({ pointer: z.string().describe("JSON Pointer into the body."), detail: z.string() }))
    .optional(),
  next: next.optional(),
};

export const problem = z
  .looseObject({
    ...problemMembers,
    options: z.array(z.string()).optional().describe("With unknown_method: the methods that are offered."),
  })
  .meta({ id: "Problem", description: "A refusal, after RFC 9457." });

export const verificationRequired = z
  .looseObject({
    ...problemMembers,
    permission: z.string(),
    connected: z.boolean(),
    verified: z.array(z.enum(SIGN_IN_METHODS)),
    accepted_methods: z.array(z.enum(SIGN_IN_METHODS)),
    options: z.array(z.object({ method: z.string(), summary: z.string(), call: z.looseObject({}) })),
  })
  .meta({ id: "VerificationRequired", description: "Refused until a person has approved the agent." });

// ── Connecting ───────────────────────────────────────────────────────────────────────────────────────────────────────

export const connectRequest = z
  .object({
    // The database counts the 80, once it has removed what does not count.
    name: text()
      .refine((value) => value.length <= 1000, { message: "A name has 1 to 80 characters." })
      .optional()
      .describe(
        "What the agent calls itself, shown to the person: 80 characters at most, after control, bidirectional and zero-width characters and spaces around it are removed.",
      ),
  })
  .meta({ id: "ConnectRequest" });

export const connectResponse = z
  .object({
    agent_token: z.string().describe("Bearer token. Returned only here."),
    agent_id: id,
    connection: z.object({
      url: z.url().describe("For the person, not for the agent."),
      code: z.string().regex(/^[A-Z]{4}-[A-Z]{4}$/),
      expires_in: seconds,
    }),
    summary: z.string(),
  })
  .meta({ id: "ConnectResponse" });

// ── Me and verifications ─────────────────────────────────────────────────────────────────────────────────────────────

export const verification = z
  .object({
    id,
    method: z.enum(SIGN_IN_METHODS),
    status: z.enum(VERIFICATION_STATUSES),
    url: z.url().optional().describe("Present while pending. For the person, not for the agent."),
    expires_in: seconds,
    summary: z.string(),
  })
  .meta({ id: "Verification" });

export const verificationRequest = z
  .object({ method: text().describe("google, apple or email, as far as available_methods lists it.") })
  .meta({ id: "VerificationRequest" });

const figures = z.object({
  limit: z.int(),
  used: z.int(),
  remaining: z.int(),
  resets_in: seconds.describe("Seconds until the oldest counted call leaves the rolling hour."),
});

export const me = z
  .object({
    id,
    display_name: z.string(),
    email: z.string().optional().describe("For the person in the browser alone; never for an agent."),
    phone: z.string().optional().describe("For the person in the browser alone; never for an agent."),
    agent: z
      .object({ id, name: z.string(), connected: z.boolean() })
      .optional()
      .describe("Absent for the person in the browser."),
    account: z.object({
      connected: z.boolean(),
      verified: z.array(z.enum(SIGN_IN_METHODS)),
      available_methods: z.array(z.enum(SIGN_IN_METHODS)),
      unavailable_methods: z.array(z.enum(SIGN_IN_METHODS)),
      published_offers: z.int(),
      member_since: timestamp,
      profile_url: z.url(),
    }),
    permissions: z.record(
      z.string(),
      z.object({
        allowed: z.boolean(),
        accepted_methods: z.array(z.string()).optional(),
        summary: z.string().optional(),
      }),
    ),
    limits: z.record(z.string(), figures).describe("Empty for the person in the browser, who has none."),
    pending_verifications: z.array(verification),
    activity: z.object({ asks_active: z.int(), offers_published: z.int(), offers_pending_review: z.int() }),
    next,
  })
  .meta({ id: "Me", description: "The whole situation of an agent, or of the person in the browser." });

// ── Offers ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const domain = z.string().nullable().describe("Domain of the taxonomy; null when the text is not clear.");
const category = z.string().nullable();
const offerKind = z.enum(OFFER_KINDS).nullable();

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

const ownerOffer = z
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

const searchResult = z
  .object({ ...listing, score: z.number().min(0).max(1), rank: z.int().min(1) })
  .meta({ id: "SearchResult" });

const page = z.object({ next_cursor: z.string().nullable(), has_more: z.boolean() });
const limit = z.coerce.number().int().min(1).max(50).default(10);
const cursor = text().max(1000).describe("next_cursor of the page before.");

export const offer = z.union([publishedOffer, ownerOffer]).meta({
  id: "Offer",
  description: "A published offer; or, for its owner, an unpublished one.",
});
export { ownerOffer };

export const offerSubmission = z
  .object({
    text: codePoints(4000, "A text").describe("The offer in plain language, with a contact that can be reached."),
    images: z.array(text()).max(16, "An offer may have at most 16 images.").optional().describe("https links."),
    origin_ask_id: text().nullish().describe("An ask of yours that this offer answers."),
  })
  .meta({ id: "OfferSubmission" });

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
    "Per field {value, quote, start, end, basis, confidence}; start and end in code points such that substr(text, start, end - start) = quote, counted from 1; contact is an array of these.",
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

export const offerPublished = z
  .object({ offer_id: id, status: z.enum(OFFER_STATUSES), ...understood })
  .meta({ id: "OfferPublished", description: "How the text was understood." });

export const offerPreview = z
  .object({ ...understood, questions: z.array(z.string()).describe("For the person, one for each missing field.") })
  .meta({ id: "OfferPreview", description: "How the text would be understood." });

export const offerList = z.object({ results: z.array(ownerOffer), page }).meta({ id: "OfferList" });
export const offerListQuery = z.object({
  status: z.enum(OFFER_STATUSES).optional(),
  limit,
  cursor: cursor.optional(),
});

export const report = z
  .object({ reason: z.enum(REPORT_REASONS), comment: codePoints(1000, "A comment").nullish() })
  .meta({ id: "Report" });
export const appeal = z.object({ comment: codePoints(1000, "A comment").nullish() }).meta({ id: "Appeal" });
export const reportReceived = z
  .object({ offer_id: id, status: z.literal("received"), summary: z.string() })
  .meta({ id: "ReportReceived" });

// ── Search ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const oneOrMore = z.union(
  [text().max(60), z.array(text().max(60)).min(1).max(50)],
  "Send one name, or a list of 1 to 50 names.",
);
const amount = z.number().min(0).max(1e12);
export const search = z
  .object({
    query: codePoints(500, "A query").optional(),
    filters: z
      .object({
        domain: oneOrMore.optional(),
        category: oneOrMore.optional(),
        offer_kind: oneOrMore.optional(),
        price: z
          .object({
            min: amount.optional(),
            max: amount.optional(),
            currency: z
              .string()
              .regex(/^[A-Z]{3}$/, "A currency is an ISO 4217 code such as EUR.")
              .optional(),
            period: z.enum(PRICE_PERIODS).optional(),
          })
          .optional(),
        location: text().min(1).max(200).optional().describe("A place as people write it."),
        posted_since: z.iso
          .date("A day is written YYYY-MM-DD.")
          // PostgreSQL has no year 0.
          .refine((day) => day >= "0001-01-01", "A day is written YYYY-MM-DD.")
          .optional(),
        reviewed: z.boolean().optional(),
        verified_publisher: z.boolean().optional(),
        has_images: z.boolean().optional(),
        exclude_own: z.boolean().optional(),
      })
      .optional()
      .describe("Hard: what does not pass is not shown."),
    sort: z.enum(["relevance", "newest", "price_asc", "price_desc"]).optional(),
    limit: z.int().min(1).max(50).optional().describe("Default 10."),
    cursor: cursor.optional(),
    detail: z.enum(["full", "compact"]).optional(),
  })
  .meta({ id: "SearchRequest" });

export const searchResponse = z
  .object({
    type: z.literal("results"),
    query: z.string(),
    classification: z.object({ domain, category, kind: z.string().nullable() }).nullable(),
    results: z.array(searchResult),
    page,
    notices: z.array(z.object({ code: z.string(), summary: z.string() })),
    next,
  })
  .meta({ id: "SearchResponse" });

// ── Asks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

export const askCreate = z
  .object({
    text: codePoints(4000, "A text").describe("What the person wants, in plain language."),
    watch_enabled: z.boolean().optional().describe("Match offers published later too. Default true."),
  })
  .meta({ id: "AskCreate" });

export const askPatch = z
  .object({ text: codePoints(4000, "A text").optional(), watch_enabled: z.boolean().optional() })
  .refine((body) => body.text !== undefined || body.watch_enabled !== undefined, {
    message: "Send a new text, watch_enabled, or both.",
  })
  .meta({ id: "AskPatch" });

export const ask = z
  .object({
    id,
    status: z.enum(ASK_STATUSES),
    watch_enabled: z.boolean(),
    text: z.string(),
    title: z.string().nullable(),
    domain,
    category,
    ask_kind: z.enum(ASK_KINDS).nullable(),
    criteria: z
      .looseObject({})
      .describe("keywords, must, exclude, price, location, condition, attributes, as far as the text says."),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Ask" });

export const askList = z.object({ results: z.array(ask), page }).meta({ id: "AskList" });
export const askListQuery = z.object({ status: z.enum(ASK_STATUSES).optional(), limit, cursor: cursor.optional() });

export const askMatches = z
  .object({
    ask_id: id,
    status: z.enum(ASK_STATUSES),
    watch_enabled: z.boolean(),
    results: z.array(
      z.object({
        ...searchResult.shape,
        match: z.object({
          first_matched_at: timestamp,
          reasons: z.array(
            z.object({
              criterion: z.string(),
              verdict: z.enum(["met", "violated", "unknown"]),
              wanted: z.unknown(),
              found: z.unknown(),
            }),
          ),
        }),
      }),
    ),
    since: z.string().describe("Send it as `since` later to get only what has matched after this answer."),
    page,
    next,
  })
  .meta({ id: "AskMatches" });
export const matchesQuery = z.object({
  since: text().max(1000).optional().describe("The since of an earlier answer."),
  limit,
  cursor: cursor.optional(),
});

// ── The API about itself ─────────────────────────────────────────────────────────────────────────────────────────────

export const taxonomy = z
  .object({
    domains: z.array(
      z.object({ domain: z.string(), offer_kinds: z.array(z.enum(OFFER_KINDS)), categories: z.array(z.string()) }),
    ),
    ask_kinds: z.array(z.object({ ask_kind: z.enum(ASK_KINDS), answered_by: z.array(z.enum(OFFER_KINDS)) })),
  })
  .meta({ id: "Taxonomy" });

export const index = z
  .object({
    name: z.string(),
    summary: z.string(),
    openapi: z.url(),
    errors: z.url(),
    authentication: z.string(),
    endpoints: z.array(
      z.object({
        operation_id: z.string(),
        method: z.string(),
        path: z.string(),
        auth: z.enum(["none", "token"]),
        summary: z.string(),
      }),
    ),
    next,
  })
  .meta({ id: "Index" });

export const openApiDocument = z.looseObject({ openapi: z.string() }).meta({ id: "OpenApiDocument" });

export const idPath = (name: string) => z.object({ [name]: z.string().describe("UUID.") });
