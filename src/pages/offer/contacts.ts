import type { ContactType } from "../../base/enums.ts";
import type { ContactHints } from "../../reader/propose/contacts.ts";
import { findWaysToReach } from "../../reader/propose/reach.ts";

/** Contacts on an offer's page: how a person follows one, and what everybody else sees instead. */

/** What stands in place of a contact, here and in the database (internal.withheld_offer). */
const HIDDEN = "[…]";

/**
 * Returns words without anything that may reach a person. The database has already removed what the reader found in the
 * offer; this also holds for offers that no reader has read.
 */
export const withoutAnyWayToReach = (words: string, hints: ContactHints): string => {
  let shown = "";
  let end = 0;
  for (const found of findWaysToReach(words, hints)) {
    shown += words.slice(end, found.start) + HIDDEN;
    end = found.end;
  }
  return shown + words.slice(end);
};

/** A way to reach the publisher, as the database stores it. */
export type ContactMethod = { type: ContactType; value: string; preferred: boolean };

/** A way to reach the publisher, for people; `href` is null if nothing safe can be opened. */
type ShownContact = { label: string; value: string; href: string | null; preferred: boolean };

const WAYS: Readonly<Record<ContactType, { label: string; hrefOf: (value: string) => string }>> = {
  email: { label: "E-mail", hrefOf: (value) => `mailto:${value}` },
  phone: { label: "Phone", hrefOf: (value) => `tel:${value}` },
  sms: { label: "Text message", hrefOf: (value) => `sms:${value}` },
  whatsapp: { label: "WhatsApp", hrefOf: (value) => `https://wa.me/${value.replace(/\D/g, "")}` },
  url: { label: "Website", hrefOf: (value) => value },
};

/** Whether a link that a stranger wrote leads to a site, and not to a script or a program. */
export const isWebLink = (link: string): boolean => URL.canParse(link) && /^https?:$/.test(new URL(link).protocol);

/** Returns how a person sees and follows a contact. */
export const shownContact = ({ type, value, preferred }: ContactMethod): ShownContact => {
  const { label, hrefOf } = WAYS[type];
  return { label, value, href: type === "url" && !isWebLink(value) ? null : hrefOf(value), preferred };
};
