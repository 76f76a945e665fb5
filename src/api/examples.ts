/**
 * The examples in the OpenAPI document: one sofa, from its text to its listing, and one ask. A test checks them against
 * the schemas.
 */

/** The body of a request that publishes the sofa. */
export const SOFA = {
  text: "Grey three-seat sofa, good condition, smoke-free home. 180 EUR, pick up in Berlin-Neukölln. Call 030 901820 or write to lena@example.com",
};
/** The id of the sofa's offer. */
export const SOFA_ID = "01979e5c-6a4e-7c21-9a51-3f0b6f3f7a10";
/** The page of the sofa. */
export const SOFA_PAGE = `https://souk.example.com/offers/${SOFA_ID}`;
/** The id of the ask. */
export const ASK_ID = "01979e5c-9b1a-7f3e-8b4d-5c2d1e0f9a77";
const METHODS = [
  { type: "phone", value: "+4930901820", preferred: false },
  { type: "email", value: "lena@example.com", preferred: false },
];
const SOFA_CONTACT = { schema_version: 2 as const, methods: METHODS, primary: { methods: METHODS }, additional: [] };
/** The sofa as others see it. */
export const SOFA_LISTING = {
  id: SOFA_ID,
  web_url: SOFA_PAGE,
  document: {
    title: "Grey three-seat sofa",
    description: SOFA.text,
    location: "Berlin-Neukölln",
    language: "en",
  },
  metadata: {
    pricing: { amount: 180, currency: "EUR", type: "fixed", negotiable: false, label: "180 EUR" },
    condition: "used_good",
  },
  content: {
    preview: {
      headline: "Grey three-seat sofa",
      snippet: SOFA.text,
      price_label: "180 EUR",
      location_label: "Berlin-Neukölln",
    },
    contact: SOFA_CONTACT,
    images: [],
  },
  posted: "2026-06-01",
  reviewed: false,
  publisher: {
    verified: false,
    member_since: "2026-05",
    last_active: "2026-06",
    offers: { active: 1, lifetime: 1, removed: 0 },
  },
};
const CLASSES = { domain: "home_garden", category: "furniture", offer_kind: "sale" };
/** How the text about the sofa was understood. */
export const SOFA_UNDERSTOOD = {
  title: "Grey three-seat sofa",
  ...CLASSES,
  price: "180 EUR",
  location: "Berlin-Neukölln",
  contact: "030 901820",
  extraction: {
    price: {
      value: { amount: 180, currency: "EUR", type: "fixed", negotiable: false, label: "180 EUR" },
      quote: "180 EUR",
      start: 55,
      end: 62,
      basis: "stated",
      confidence: 0.95,
    },
  },
};
/** The sofa as its owner sees it. */
export const SOFA_OWNED = {
  id: SOFA_ID,
  web_url: SOFA_PAGE,
  status: "archived",
  visibility: "owner_only",
  contact_visibility: "public",
  review: "You took this offer down. It can be republished.",
  title: "Grey three-seat sofa",
  description: SOFA.text,
  ...CLASSES,
  metadata: SOFA_LISTING.metadata,
  preview: SOFA_LISTING.content.preview,
  contact: SOFA_CONTACT,
  images: [],
  missing_fields: [],
  published_at: "2026-06-01T09:30:00.000Z",
  confirmed_at: "2026-06-01T09:30:00.000Z",
  stale: false,
  created_at: "2026-06-01T09:30:00.000Z",
  updated_at: "2026-06-02T18:00:00.000Z",
};
/** The sofa as its owner sees it after a moderator removed it. */
export const SOFA_REMOVED = {
  ...SOFA_OWNED,
  status: "removed",
  review: "It looks like an attempt to defraud.",
  review_reason: "scam" as const,
  appealable: false,
  appeal: { status: "waiting" as const, created_at: "2026-06-03T08:00:00.000Z" },
};
/** The body of a request that creates the ask. */
export const WANTED = { text: "Looking for a sofa in Berlin, up to 250 EUR" };
/** The ask as its owner sees it. */
export const ASKED = {
  id: ASK_ID,
  status: "active",
  watch_enabled: true,
  text: WANTED.text,
  title: "sofa",
  domain: "home_garden",
  category: "furniture",
  ask_kind: "buy",
  criteria: {
    keywords: ["sofa"],
    must: [],
    exclude: [],
    price: { max: 250, currency: "EUR" },
    location: { text: "Berlin", country: "DE", region: "Berlin", city: "Berlin", remote: false },
    condition: null,
    attributes: {},
  },
  created_at: "2026-06-01T10:00:00.000Z",
  updated_at: "2026-06-01T10:00:00.000Z",
};
/** A verification that waits for its person. */
export const VERIFICATION = {
  id: "01979e5d-0c2b-7d4a-9e11-8a7b6c5d4e3f",
  method: "email",
  status: "pending",
  url: "https://souk.example.com/verify/4f1d0c",
  expires_in: 1800,
  summary: "Give this link to the person you act for and do not open it yourself.",
};

/** Terms of a deal about the sofa. */
export const TERMS = {
  price: { amount: 170, currency: "EUR" },
  handover: { method: "pickup" as const, place: "Berlin-Neukölln", at: "2030-06-05T16:00:00.000Z" },
};
/** A proposal for the sofa. */
export const PROPOSAL = {
  id: "01979e5c-9b1a-7f3e-8b4d-5c2d1e0f9a80",
  from: "me" as const,
  status: "pending" as const,
  terms: TERMS,
  offer_changed: false,
  expires_at: "2026-06-03T10:00:00.000Z",
  created_at: "2026-06-01T10:00:00.000Z",
};
/** A message about the sofa. */
export const MESSAGE = {
  id: "01979e5c-9b1a-7f3e-8b4d-5c2d1e0f9a81",
  from: "me" as const,
  text: "Is it still available?",
  created_at: "2026-06-01T10:00:00.000Z",
};
/** A conversation about the sofa. */
export const CONVERSATION = {
  id: "01979e5c-9b1a-7f3e-8b4d-5c2d1e0f9a82",
  offer: {
    id: SOFA_ID,
    title: "Grey three-seat sofa",
    status: "published",
    price_label: "180 EUR",
    web_url: SOFA_PAGE,
  },
  role: "inquirer" as const,
  status: "open" as const,
  counterpart: SOFA_LISTING.publisher,
  proposal: PROPOSAL,
  agreement: null,
  contact: null,
  unread: 0,
  created_at: "2026-06-01T10:00:00.000Z",
  updated_at: "2026-06-01T10:00:00.000Z",
  cursor: "eyJsaXN0IjoiY29udmVyc2F0aW9uIn0",
  next: [{ summary: "Wait for the answer of the other side.", method: "GET" as const, path: "/v1/events?wait=25" }],
};
