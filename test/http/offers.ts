import type { Agent, Answer, Body } from "../support/market.ts";
import { type Market, OFFER, settled, telling } from "./contract.ts";

/** The offer that the tests of offers publish, and what each response says of it. */

/** The headers of a response that counts under no limit. */
export const KEPT_NOWHERE = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** The headers of a response that counts under a limit. */
export const rated = (limit: number, remaining: number) => ({
  ...KEPT_NOWHERE,
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
});

/** How the text of OFFER is read. Every response about it contains these values. */
export const CLASSIFIED = { domain: "home_garden", category: "furniture", offer_kind: "sale" };
const STATED = { price: "180 EUR", location: "Berlin", contact: "lena@example.com" };
const METHODS = [{ type: "email", value: "lena@example.com", preferred: false }];
const CONTACT = { schema_version: 2, methods: METHODS, primary: { methods: METHODS }, additional: [] };
const PREVIEW = {
  headline: "Grey three-seat sofa",
  snippet: OFFER,
  price_label: "180 EUR",
  location_label: "Berlin",
};
const METADATA = {
  pricing: { amount: 180, currency: "EUR", type: "fixed", negotiable: false, label: "180 EUR" },
  location: {
    text: "Berlin",
    city: "Berlin",
    country: "DE",
    region: "Berlin",
    point: { lat: 52.524, lon: 13.411 },
    remote: false,
  },
  condition: "used_good",
};

/** What the publisher is told. */
export const PUBLISHED = {
  offer_id: "<id>",
  web_url: "<base>/offers/<id>",
  status: "published",
  contact_visibility: "public",
  title: "Grey three-seat sofa",
  ...CLASSIFIED,
  ...STATED,
  extraction: "<extraction>",
};

/** What the owner reads. */
export const OWNED = {
  id: "<id>",
  web_url: "<base>/offers/<id>",
  status: "published",
  visibility: "public",
  contact_visibility: "public",
  review: "This offer is live: anyone can find it.",
  title: "Grey three-seat sofa",
  description: OFFER,
  ...CLASSIFIED,
  metadata: METADATA,
  preview: PREVIEW,
  contact: CONTACT,
  images: [] as Body[],
  missing_fields: [] as string[],
  published_at: "<time>",
  confirmed_at: "<time>",
  stale: false,
  created_at: "<time>",
  updated_at: "<time>",
};

/** What the owner reads of the offer when it is archived. */
export const ARCHIVED = {
  ...OWNED,
  status: "archived",
  visibility: "owner_only",
  review: "You took this offer down. It can be republished.",
};

/** What everyone reads. */
export const SHOWN = {
  id: "<id>",
  web_url: "<base>/offers/<id>",
  document: { title: "Grey three-seat sofa", description: OFFER, location: "Berlin", language: "en" },
  metadata: METADATA,
  content: { preview: PREVIEW, contact: CONTACT, images: [] },
  posted: "<day>",
  reviewed: false,
  publisher: {
    verified: false,
    member_since: "<month>",
    last_active: "<month>",
    offers: { active: 1, lifetime: 1, removed: 0 },
  },
  status: "published",
  ...CLASSIFIED,
  updated_at: "<time>",
};

/** Publishes an offer, or tries to. */
export const publish = (agent: Agent, body: Body = { text: OFFER }) => agent.call("POST", "/v1/offers", body);

/** Publishes an offer. Returns its id. @throws if it is refused */
export const published = async (agent: Agent, body?: Body): Promise<string> => {
  const answer = await publish(agent, body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.offer_id;
};

/** The status, headers and body of a response, with placeholders. */
export const whole = (market: Pick<Market, "url">, answer: Answer) => ({
  status: answer.status,
  headers: telling(answer),
  body: settled(answer.body, market.url),
});
