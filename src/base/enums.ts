/**
 * The values of the API's enums, for all TypeScript code. If the database has the same list, in a check constraint or a
 * table, test/db/enums.test.ts compares the two.
 */

/** What an offer is: `market.offer.offer_kind`. */
export const OFFER_KINDS = ["sale", "rental", "service_offer", "project_hire", "dating", "friendship"] as const;

/** What an ask looks for: the table `market.ask_kind`. */
export const ASK_KINDS = [
  "buy",
  "rent",
  "sell",
  "lease_out",
  "hire",
  "offer_service",
  "dating",
  "friendship",
  "general",
] as const;

/** The API names the status draft, but no offer has it: `market.offer.status` does not allow it. */
export const OFFER_STATUSES = ["draft", "pending_review", "published", "rejected", "archived", "removed"] as const;

/** The API names the status draft, but no ask has it: `market.ask.status` does not allow it. */
export const ASK_STATUSES = ["draft", "active", "fulfilled", "archived"] as const;

/** `market.verification.status`. */
export const VERIFICATION_STATUSES = ["pending", "completed", "expired", "cancelled"] as const;

/** The period that a price is for: `market.offer.price_period`. */
export const PRICE_PERIODS = ["one_time", "hour", "day", "week", "month", "year", "project"] as const;

/**
 * What a price can be for, other than the whole: `reading.price_units`. `other` is another measure, such as 100 grams.
 */
export const PRICE_UNITS = [
  "square_meter",
  "square_foot",
  "hectare",
  "acre",
  "cubic_meter",
  "liter",
  "meter",
  "foot",
  "kilometer",
  "gram",
  "kilogram",
  "tonne",
  "pound",
  "item",
  "person",
  "word",
  "page",
  "other",
] as const;
/** What a price can be for. */
export type PriceUnit = (typeof PRICE_UNITS)[number];

/** Whether a price is an exact amount, a range, a lower bound, and so on. */
export const PRICE_TYPES = ["fixed", "range", "from", "free", "on_request", "exchange"] as const;

/** The ways to contact an offer's publisher. */
export const CONTACT_TYPES = ["email", "phone", "sms", "whatsapp", "url"] as const;
/** One way to contact a publisher. */
export type ContactType = (typeof CONTACT_TYPES)[number];
/** The contact types whose value is a phone number, as in `internal.contact_form`. */
export const NUMBER_TYPES = ["phone", "sms", "whatsapp"] as const satisfies readonly ContactType[];

/** Who sees the contact of an offer, from everybody to the fewest: `market.offer.contact_visibility`. */
export const CONTACT_VISIBILITIES = ["public", "approved", "agreement"] as const;

/** The condition of a thing that is offered. */
export const CONDITIONS = ["new", "like_new", "used_good", "used_fair", "refurbished", "for_parts"] as const;

/** Why an offer may be reported, and why a moderator removes or rejects one: `market.reason`. */
export const REPORT_REASONS = [
  "prohibited_item",
  "scam",
  "spam",
  "duplicate",
  "wrong_category",
  "personal_data",
  "adult_content",
  "minor_safety",
  "hate",
  "counterfeit",
  "addresses_agents",
  "other",
] as const;

/** The sign-in methods, in the order in which pages list them: `market.sign_in.method`. */
export const SIGN_IN_METHODS = ["google", "apple", "email"] as const;
/** One sign-in method. */
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** Who caused an event of the audit log: `market.audit_event.actor_type`. */
export const ACTOR_TYPES = ["agent", "person", "moderator", "job", "dba"] as const;

/** What happens to an account: `market.event.type`. */
export const EVENT_TYPES = [
  "match.created",
  "match.withdrawn",
  "ask.read",
  "offer.reviewed",
  "offer.removed",
  "offer.restored",
  "offer.appeal_decided",
  "offer.stale",
  "offer.archived",
  "verification.completed",
  "verification.expired",
  "agent.connected",
  "agent.removed",
  "account.suspended",
  "account.reinstated",
  "webhook.disabled",
  "conversation.opened",
  "conversation.closed",
  "message.received",
  "proposal.received",
  "proposal.accepted",
  "proposal.declined",
  "proposal.withdrawn",
  "proposal.expired",
  "agreement.awaiting",
  "agreement.made",
  "agreement.lapsed",
  "confirmation.decided",
  "powers.changed",
] as const;

/** The actions with an hourly limit: `market.cap_override.action`. */
export const LIMITED_ACTIONS = [
  "publish_offer",
  "create_ask",
  "preview_offer",
  "manage",
  "report_offer",
  "search_offers",
  "converse",
] as const;
