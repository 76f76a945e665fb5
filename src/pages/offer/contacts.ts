import type { ContactType } from "../../base/enums.ts";
import { type ContactHints, findContacts } from "../../reader/propose/contacts.ts";
import { TOP_LEVEL_DOMAINS } from "../../reader/propose/mails.ts";
import { isShapedLikePhone } from "../../reader/propose/phones.ts";
import { tokensIn } from "../../reader/text/tokens.ts";

/** Contacts on an offer's page: how a person follows one, and what everybody else sees instead. */

/** What stands in place of a contact, here and in the database (internal.without_contact). */
const HIDDEN = "[…]";

/**
 * Names of sites. The reader skips those with capitals, such as "Done.It"; here, hiding too much is better. A known
 * ending in letters of one case is enough, and so is "www.".
 */
const SITES = new RegExp(
  `(?<![\\p{L}\\p{N}@.-])(?:www\\.[\\p{L}\\p{N}.-]+|[\\p{L}\\p{N}][\\p{L}\\p{N}.-]*\\.(?:${TOP_LEVEL_DOMAINS.flatMap((domain) => [domain, domain.toUpperCase()]).join("|")}))(?![\\p{L}\\p{N}])(?:/\\S*)?`,
  "gu",
);

/** A name at a messenger or a social network. The reader does not take it for a contact, but it reaches the person. */
const HANDLES = /(?<![\p{L}\p{N}])@[\p{L}\p{N}_][\p{L}\p{N}_.]{2,}/gu;

/**
 * Addresses with other at-signs or with gaps, which the reader skips: "lena @ example . com", "lena＠example.com". A
 * known ending is enough. Gaps and names have a maximum length, so that the time grows only with the length of the
 * text.
 */
const SPACED_ADDRESSES = new RegExp(
  `[\\p{L}\\p{N}._+-]{1,64}[ \\t\u00a0]{0,3}(?:[@＠﹫]|%40)[ \\t\u00a0]{0,3}(?:[\\p{L}\\p{N}-]{1,63}[ \\t\u00a0]{0,3}\\.[ \\t\u00a0]{0,3}){1,4}(?:${TOP_LEVEL_DOMAINS.join("|")})(?![\\p{L}\\p{N}])`,
  "giu",
);

/** Signs between the digits of a number that the reader does not expect. */
const ODD_SEPARATORS = /(?<=\p{Nd})[·•∙⋅_~|](?=\p{Nd})/gu;

const isDigit = (code: number): boolean => /^\p{Nd}$/u.test(String.fromCharCode(code));

/**
 * Returns words with other scripts' digits replaced by ours: the reader finds phone numbers in ours only. Unicode has
 * the ten digits of a script one after the other.
 */
const withOurDigits = (words: string): string =>
  words.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    if (digit.length > 1) return digit;
    const code = digit.charCodeAt(0);
    let value = 0;
    while (value < 9 && isDigit(code - value - 1)) value += 1;
    return String(value);
  });

/**
 * Returns words without anything that may reach a person: addresses, sites, and whatever has the form of a phone
 * number. The database has already removed the contact that the reader found; this removes the rest, such as a shop's
 * second number. A number that is not a phone number may go, too.
 */
export const withoutAnyWayToReach = (words: string, hints: ContactHints): string => {
  let shown = "";
  let end = 0;
  const readable = withOurDigits(words).replace(ODD_SEPARATORS, "-");
  for (const found of findContacts(readable, tokensIn(readable), hints)) {
    const isNumber = found.dialled || (found.run !== null && isShapedLikePhone(found.run));
    if (found.kind === "number" && !isNumber) continue;
    shown += words.slice(end, found.start) + HIDDEN;
    end = found.end;
  }
  return (shown + words.slice(end)).replace(SPACED_ADDRESSES, HIDDEN).replace(SITES, HIDDEN).replace(HANDLES, HIDDEN);
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
