/**
 * The values of the contract's enums, each stated once for all of TypeScript. Where the database states them too, as a check
 * constraint or a table, test/db/enums.test.ts compares the two.
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

/** The contract's list. No offer is ever a draft, and `market.offer.status` has no such value. */
export const OFFER_STATUSES = ["draft", "pending_review", "published", "rejected", "archived", "removed"] as const;

/** The contract's list. No ask is ever a draft, and `market.ask.status` has no such value. */
export const ASK_STATUSES = ["draft", "active", "fulfilled", "archived"] as const;

/** `market.verification.status`. */
export const VERIFICATION_STATUSES = ["pending", "completed", "expired", "cancelled"] as const;

/** The period that a price is for: `market.offer.price_period`. */
export const PRICE_PERIODS = ["one_time", "hour", "day", "week", "month", "year", "project"] as const;

/** How a price is meant. */
export const PRICE_TYPES = ["fixed", "range", "from", "free", "on_request", "exchange"] as const;

/** The ways in which an offer's publisher is reached. */
export const CONTACT_TYPES = ["email", "phone", "sms", "whatsapp", "url"] as const;
/** One way to reach a publisher. */
export type ContactType = (typeof CONTACT_TYPES)[number];

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

/** The ways to sign in, in the order in which people are shown them: `market.sign_in.method`. */
export const SIGN_IN_METHODS = ["google", "apple", "email"] as const;
/** One way to sign in. */
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** Who did what the audit log tells: `market.audit_event.actor_type`. */
export const ACTOR_TYPES = ["agent", "person", "moderator", "job", "dba"] as const;

/** The actions with an hourly limit: `market.cap_override.action`. */
export const LIMITED_ACTIONS = ["publish_offer", "create_ask", "preview_offer"] as const;
