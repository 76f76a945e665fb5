import { LinkifyIt } from "linkify-it";
import { countriesOf, currencyOf, MARKET } from "../languages.ts";
import { overlaps, type Span, spanOf } from "../text/span.ts";
import { type Token, withAddressesApart } from "../text/tokens.ts";
import { countryOfCurrency, currencyAt, type Marker, resolveCurrency } from "./currencies.ts";
import { findDisguisedMails, TOP_LEVEL_DOMAINS } from "./mails.ts";
import {
  dial,
  digitsOf,
  findRuns,
  halvesOf,
  isDateOrAmount,
  isNorthAmerican,
  isShapedLikePhone,
  partsOf,
  type Run,
} from "./phones.ts";

/**
 * Finds everything in a text that could be a contact: e-mail addresses, links and runs of digits. It only proposes;
 * decide/contacts.ts decides which of them reach the author, and how.
 */

/** What a candidate is by its form. A "whatsapp" candidate is a link that opens a chat with a number. */
type ContactKind = "email" | "url" | "number" | "whatsapp";

/** A possible contact: a span, and the tokens `from` (inclusive) to `to` (exclusive) that it covers. */
export type ContactCandidate = Span & {
  from: number;
  to: number;
  kind: ContactKind;
  /** An address in lower case, an absolute link, or a number in E.164 (bare digits if it could not be dialled). */
  value: string;
  /** True if an address is written such that machines do not find it. */
  disguised: boolean;
  /** The digits of a number; null for addresses and links. */
  run: Run | null;
  /** For numbers: whether a likely country can dial it, and whether its numbering plan has assigned it. */
  dialled: boolean;
  valid: boolean;
};

/** What is known of a text for numbers without a country code: ISO 3166-1 alpha-2 and ISO 639-1. */
export type ContactHints = { country: string | null; language: string | null };

const linkify = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: true, tlds: [...TOP_LEVEL_DOMAINS], maxLength: 2048 });

/** The range of tokens that covers a span. */
const cover = (tokens: readonly Token[], span: Span): { from: number; to: number } => {
  // Binary search keeps texts with many links fast.
  const firstEndingAfter = (offset: number): number => {
    let low = 0;
    let high = tokens.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tokens[middle]?.end ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return { from: firstEndingAfter(span.start), to: firstEndingAfter(span.end - 1) + 1 };
};

/** Without scheme, path or "www.", a host has to be in lower case: "Done.It is" and "Node.JS" are not links. */
const isMeant = (raw: string): boolean =>
  /^www\.|\//iu.test(raw) || (raw === raw.toLowerCase() && /^[^.]{3,}\./u.test(raw));

/** The WhatsApp number in a link such as "https://wa.me/491760000000", or null. */
const whatsAppNumber = (url: string): string | null => {
  const digits = /^https?:\/\/(?:wa\.me\/|api\.whatsapp\.com\/send\/?\?phone=)\+?(\d{7,15})/iu.exec(url)?.[1];
  return digits === undefined ? null : `+${digits}`;
};

/** A candidate of a form; what is not said of it is what most have. */
const candidateOf = (
  tokens: readonly Token[],
  span: Span,
  kind: ContactKind,
  value: string,
  more: Partial<ContactCandidate> = {},
): ContactCandidate => ({
  start: span.start,
  end: span.end,
  ...cover(tokens, span),
  kind,
  value,
  disguised: false,
  run: null,
  dialled: false,
  valid: false,
  ...more,
});

const linksIn = (text: string, tokens: readonly Token[]): ContactCandidate[] =>
  (linkify.match(text) ?? []).flatMap(({ schema, raw, url, index, lastIndex }) => {
    if (url.startsWith("mailto:")) {
      // "07700 900271/jo@example.net" is a number and an address.
      const before = raw.lastIndexOf("/", raw.indexOf("@")) + 1;
      const address = (before > 0 ? raw.slice(before) : url.slice("mailto:".length)).replace(/\?.*$/su, "");
      return [candidateOf(tokens, { start: index + before, end: lastIndex }, "email", address.toLowerCase())];
    }
    if (!/^https?:$/u.test(schema) && !(schema === "" && isMeant(raw))) return [];
    const value = schema === "" ? `https://${raw}` : url;
    const number = whatsAppNumber(value);
    const span = { start: index, end: lastIndex };
    return number === null
      ? [candidateOf(tokens, span, "url", value)]
      : [candidateOf(tokens, span, "whatsapp", number, { dialled: true, valid: true })];
  });

/**
 * Corrects the hinted country if the text uses another currency: a Lancaster with "$4" is in the USA, a Perth with
 * "£205" is in Britain.
 */
const countryByMoney = (markers: readonly Marker[], hinted: string | null): string | null => {
  const [marker] = markers;
  if (hinted === null) return null;
  const paid = resolveCurrency(marker ?? "", hinted);
  if (marker === undefined || paid === null || paid === currencyOf(hinted)) return hinted;
  return (marker === "$" ? "US" : countryOfCurrency(paid, null)) ?? hinted;
};

/**
 * Groups of countries whose numbers are likely in a text: by its currency ("£140, Bristol. 07700 900318"), then by its
 * language, then in any. A national number is valid in several plans, so the order decides.
 */
const likelyCountries = (markers: readonly Marker[], language: string | null): string[][] => {
  const money = markers.map((marker) => countryOfCurrency(marker, null)).filter((country) => country !== null);
  // Without a language, a number that is valid in several plans is left as it is written.
  return [money.slice(0, 1), ...(language === null ? [] : [countriesOf(language), [...MARKET]])];
};

type Dialled = { run: Run; e164: string; valid: boolean };

/** The run, or the part of it, that can be dialled: in the hinted country, otherwise in a likely country. */
const dialled = (whole: Run, country: string | null, likely: readonly string[][]): Dialled | null => {
  for (const run of partsOf(whole)) {
    if (run !== whole && !isShapedLikePhone(run)) continue;
    const here = country === null ? null : dial(run, [country]);
    // "614 555-0177" is a North American number even if the hint is wrong.
    if (here !== null && (here.valid || !isNorthAmerican(run))) return { run, ...here };
    const there = isNorthAmerican(run) ? dial(run, ["US"]) : null;
    let found = (there?.valid ? there : null) ?? here;
    for (const countries of likely) found ??= dial(run, countries);
    if (found !== null) return { run, ...found };
  }
  return null;
};

/** The run as one number, or as two if only its halves can be dialled. Null if it is no number that can be dialled. */
const dialledIn = (whole: Run, country: string | null, likely: readonly string[][]): Dialled[] => {
  const one = dialled(whole, country, likely);
  if (one?.run === whole) return [one];
  for (const halves of halvesOf(whole)) {
    const both = halves.flatMap((half) => {
      const number = isShapedLikePhone(half) ? dialled(half, country, likely) : null;
      return number?.run === half ? [number] : [];
    });
    if (both.length === 2) return both;
  }
  return one === null ? [] : [one];
};

const numberOf = (tokens: readonly Token[], run: Run, number: Dialled | null): ContactCandidate =>
  candidateOf(tokens, spanOf(tokens, run), "number", number?.e164 ?? digitsOf(run), {
    from: run.from,
    to: run.to,
    run,
    dialled: number !== null,
    valid: number?.valid ?? false,
  });

/** All possible contacts of a text, in order. They do not overlap. */
export const findContacts = (
  text: string,
  tokens: readonly Token[],
  { country, language }: ContactHints,
): ContactCandidate[] => {
  const apart = withAddressesApart(text);
  const mails = findDisguisedMails(apart).map(({ address, span }) =>
    candidateOf(tokens, span, "email", address, { disguised: true }),
  );
  const plain = linksIn(apart, tokens);
  const written = [...plain.filter((link) => !mails.some((mail) => overlaps(mail, link))), ...mails];
  const runs = findRuns(tokens);
  if (runs.length === 0) return written.sort((one, other) => one.start - other.start);
  const inLink = new Uint8Array(tokens.length);
  for (const link of written) inLink.fill(1, link.from, link.to);
  const markers = tokens.flatMap((_, at) => currencyAt(tokens, at)?.marker ?? []);
  const likely = likelyCountries(markers, language);
  const here = countryByMoney(markers, country);
  const numbers = runs
    .filter((run) => !inLink.subarray(run.from, run.to).includes(1))
    .flatMap((run) => {
      const found = isDateOrAmount(tokens, run) ? [] : dialledIn(run, here, likely);
      if (found.length === 0) return [numberOf(tokens, run, null)];
      return found.map((number) => numberOf(tokens, number.run, number));
    });
  return [...written, ...numbers].sort((one, other) => one.start - other.start);
};
