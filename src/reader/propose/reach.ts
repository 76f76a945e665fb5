import { wordsOfList } from "../rows.ts";
import { type Span, spanOf, united } from "../text/span.ts";
import { tokensIn } from "../text/tokens.ts";
import { type ContactHints, findContacts } from "./contacts.ts";
import { TOP_LEVEL_DOMAINS } from "./mails.ts";
import { findRuns, isDateOrAmount, isShapedLikePhone } from "./phones.ts";
import { isProfile } from "./profiles.ts";

/**
 * Finds everything in words by which somebody may be reached, for those from whom an offer's contact is withheld: also
 * what the reader takes for no contact, such as a shop's second number or a handle. Hiding too much is better than too
 * little, so a number that is no phone number may be found, too.
 */

/**
 * Names of sites. The reader skips those with capitals, such as "Done.It". A known ending in letters of one case is
 * enough, and so is "www.".
 */
const SITES = new RegExp(
  `(?<![\\p{L}\\p{N}@.-])(?:www\\.[\\p{L}\\p{N}.-]+|[\\p{L}\\p{N}][\\p{L}\\p{N}.-]*\\.(?:${TOP_LEVEL_DOMAINS.flatMap((domain) => [domain, domain.toUpperCase()]).join("|")}))(?![\\p{L}\\p{N}])(?:/\\S*)?`,
  "gu",
);

/** A name at a messenger or a social network. The reader does not take it for a contact, but it reaches the person. */
const HANDLES = /(?<![\p{L}\p{N}])@[\p{L}\p{N}_][\p{L}\p{N}_.]{2,}/gu;

/** Apps without links to people. "X" is also a sign of times. */
const APPS = [...wordsOfList("app"), "discord", "kik", "line", "signal", "skype", "threema", "viber", "wechat"].filter(
  (app) => app !== "x",
);

/** Such a name without its sign, directly behind the name of the app: "Telegram: jonas_bikes". It looks like no word. */
const NAMED_HANDLES = new RegExp(
  `(?<=(?<![\\p{L}\\p{N}])(?:${APPS.join("|")})[ :=-]{1,3})[\\p{L}][\\p{L}\\p{N}.]*[\\p{N}_][\\p{L}\\p{N}_.]*`,
  "giu",
);

/**
 * Addresses with other at-signs or with gaps, which the reader skips: "lena @ example . com", "lena＠example.com". A
 * known ending is enough. Gaps and names have a maximum length, so that the time grows only with the length of the
 * text.
 */
const SPACED_ADDRESSES = new RegExp(
  `[\\p{L}\\p{N}._+-]{1,64}[ \\t\u00a0]{0,3}(?:[@＠﹫]|%40)[ \\t\u00a0]{0,3}(?:[\\p{L}\\p{N}-]{1,63}[ \\t\u00a0]{0,3}\\.[ \\t\u00a0]{0,3}){1,4}(?:${TOP_LEVEL_DOMAINS.join("|")})(?![\\p{L}\\p{N}])`,
  "giu",
);

const FORMS = [SITES, HANDLES, NAMED_HANDLES, SPACED_ADDRESSES] as const;

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

/** The ways to reach somebody in words, in order: addresses, sites, handles, and whatever has the form of a number. */
export const findWaysToReach = (words: string, hints: ContactHints): Span[] => {
  const readable = withOurDigits(words).replace(ODD_SEPARATORS, "-");
  const tokens = tokensIn(readable);
  const contacts = findContacts(readable, tokens, hints).filter(({ kind, dialled }) => kind !== "number" || dialled);
  // Of some runs only a part can be dialled in the likely country.
  const runs = findRuns(tokens).filter((run) => isShapedLikePhone(run) && !isDateOrAmount(tokens, run));
  const others = FORMS.flatMap((form) =>
    Array.from(words.matchAll(form), ({ index, 0: found }) => ({ start: index, end: index + found.length })),
  );
  return united([
    ...contacts.map(({ start, end }) => ({ start, end })),
    ...runs.map((run) => spanOf(tokens, run)),
    ...others,
  ]);
};

const hostOf = (link: string): string | null => (URL.canParse(link) ? new URL(link).host.replace(/^www\./u, "") : null);

/** What a link says behind its host, in lines: the parts of a path are no groups of a number. */
const partsOf = (link: string): string => {
  const path = link.replace(/^[a-z]+:\/\/[^/?#]*/iu, "");
  try {
    return decodeURIComponent(path).replace(/[/?&#=]+/gu, "\n");
  } catch {
    return path.replace(/[/?&#=]+/gu, "\n");
  }
};

/**
 * Whether the link of an image gives somebody away: an address, a number, a site or a handle stands in it, or it leads
 * to the host of a contact.
 */
export const givesAway = (link: string, contacts: readonly string[], hints: ContactHints): boolean =>
  isProfile(link) ||
  findWaysToReach(partsOf(link), hints).length > 0 ||
  contacts.some((contact) => hostOf(contact) !== null && hostOf(contact) === hostOf(link));
