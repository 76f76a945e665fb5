import type { CONDITIONS, CONTACT_VISIBILITIES, PRICE_TYPES } from "../../base/enums.ts";
import type { ContactMethod } from "./contacts.ts";

/** An offer as its page shows it: the result of api.get_offer_page. */
export type ShownOffer = {
  /** Whether the page was opened with a person's session. */
  signed_in: boolean;
  /** Whether the contact is shown: only with a session, and as its visibility says. */
  sees_contact: boolean;
  contact_visibility: (typeof CONTACT_VISIBILITIES)[number];
  title: string;
  text: string;
  /** Whether […] stands in the text for passages that are addressed to software. The owner sees them. */
  addresses_agents: boolean;
  /** Price and place as stated. */
  price: string | null;
  location: string | null;
  language: string | null;
  offer_kind: string | null;
  pricing: {
    type: (typeof PRICE_TYPES)[number];
    amount?: number;
    amount_max?: number;
    currency?: string;
    period?: string;
    unit?: string;
  } | null;
  place: {
    country?: string;
    region?: string;
    city?: string;
    postal_code?: string;
    point?: { lat: number; lon: number };
  } | null;
  condition: (typeof CONDITIONS)[number] | null;
  images: { url: string }[];
  published_at: string | null;
  confirmed_at: string | null;
  publisher: {
    verified: boolean;
    member_since: string;
    offers: { active: number; lifetime: number; removed: number };
  };
  contact: { methods: ContactMethod[]; primary: { name?: string } } | null;
  owner: { status: string; review: string } | null;
  reasons: { code: string; summary: string }[] | null;
  indexed: boolean;
};
