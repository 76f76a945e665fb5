import type { PRICE_PERIODS } from "../../base/enums.ts";
import { readableText, visibleText } from "../../base/visible_text.ts";
import { type ContactMethod, shownContact } from "../offer/contacts.ts";
import { dayOf, monthOf, type Time } from "../settings/dates.ts";

/** What people read about deals: offers, terms, records and contacts, as pages show them. */

/** The database's limits for titles, for prices, places and an inquirer's contact, and for links. */
const TITLE_LENGTH = 120;
const LABEL_LENGTH = 200;
const LINK_LENGTH = 2048;

/** The terms of a proposal or an agreement. */
export type Terms = {
  price?: { amount: number; currency: string; period?: (typeof PRICE_PERIODS)[number] };
  /** YYYY-MM-DD */
  from?: string;
  until?: string;
  handover?: { method?: "pickup" | "delivery" | "online"; place?: string; at?: string };
  note?: string;
};

/** The offer of a conversation. `web_url` is missing if nobody but moderators has a page of it. */
export type DealOffer = { id: string; title: string | null; status: string; price_label?: string };

/** What an account has done; null when it was deleted. */
export type Track = {
  verified: boolean;
  member_since: string;
  offers: { active: number; lifetime: number; removed: number };
} | null;

/** How to reach a side: a publisher by the methods of the offer, an inquirer by words. */
export type DealContact = { methods: ContactMethod[]; text?: string } | null;

const AMOUNT = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 3 });
const WHOLE = new Intl.NumberFormat("en-GB");

/** An amount with its currency: "1,200 EUR". */
const sumOf = ({ amount, currency }: { amount: number; currency: string }): string =>
  `${(Number.isInteger(amount) ? WHOLE : AMOUNT).format(amount)} ${currency}`;

const PERIODS: Readonly<Record<string, string>> = {
  hour: " for each hour",
  day: " for each day",
  week: " for each week",
  month: " for each month",
  year: " for each year",
};

/** The price of terms in words; null when none was named. */
export const priceOf = ({ price }: Terms): string | null =>
  price === undefined ? null : sumOf(price) + (PERIODS[price.period ?? ""] ?? "");

const HANDOVERS = { pickup: "Pick-up", delivery: "Delivery", online: "Online" } as const;

/** Terms as pages show them. `place` and `note` are the words of whoever proposed them. */
export type ShownTerms = {
  price: string | null;
  from: Time | null;
  until: Time | null;
  handover: string | null;
  at: Time | null;
  place: string | null;
  note: string[] | null;
};

const labelOf = (words: string | null | undefined, length: number): string | null =>
  visibleText(words ?? "", length) || null;

/** The paragraphs of words of several lines. */
export const paragraphsOf = (words: string): string[] => readableText(words).split(/\n{2,}/);

/** A moment with its year, which a handover may need: "3 March 2026, 14:03". */
const minuteOf = (timestamp: string): Time => {
  const inUtc = new Date(timestamp).toISOString();
  return { datetime: inUtc, text: `${dayOf(inUtc).text}, ${inUtc.slice(11, 16)}` };
};

/** Makes terms readable. */
export const shownTerms = (terms: Terms): ShownTerms => ({
  price: priceOf(terms),
  from: terms.from === undefined ? null : dayOf(terms.from),
  until: terms.until === undefined ? null : dayOf(terms.until),
  handover: terms.handover?.method === undefined ? null : HANDOVERS[terms.handover.method],
  at: terms.handover?.at === undefined ? null : minuteOf(terms.handover.at),
  place: labelOf(terms.handover?.place, LABEL_LENGTH),
  note: terms.note === undefined ? null : paragraphsOf(terms.note),
});

/** Makes the offer of a deal readable. The publisher sees its page always, others while it is published. */
export const shownOffer = ({ id, title, status, price_label }: DealOffer, role: string) => ({
  title: labelOf(title, TITLE_LENGTH) ?? "Without a title",
  price: labelOf(price_label, LABEL_LENGTH),
  path: role === "publisher" || status === "published" ? `/offers/${id}` : null,
});

/** Makes the record of the other side readable; null when its account was deleted. */
export const shownTrack = (track: Track) => track && { ...track, since: monthOf(track.member_since) };

/** Makes a contact readable; null when there is none. */
export const shownDealContact = (contact: DealContact) =>
  contact && {
    methods: contact.methods.map((method) => {
      const shown = shownContact(method);
      return { ...shown, value: visibleText(shown.value, LINK_LENGTH) };
    }),
    text: labelOf(contact.text, LABEL_LENGTH),
  };

/** How long something is still possible, in words. */
export const timeLeft = (seconds: number): string => {
  const [count, unit] =
    seconds >= 7200 ? [Math.floor(seconds / 3600), "hour"] : [Math.max(1, Math.ceil(seconds / 60)), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
};
