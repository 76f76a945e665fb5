import { LinkifyIt } from "linkify-it";
import { countriesOf, countryOfLanguage, currencyOf } from "../languages.ts";
import { inPlainSigns } from "../text/plain_signs.ts";
import { overlaps, type Span, spanOf } from "../text/span.ts";
import { type Token, tokensIn, withAddressesApart } from "../text/tokens.ts";
import { countryOfCurrency, currencyAt, type Marker, resolveCurrency } from "./currencies.ts";
import { findMails, TOP_LEVEL_DOMAINS } from "./mails.ts";
import {
  type Dialled,
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
  /** For runs of digits: what stands between the first two groups. */
  joint: Token | null;
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
  joint: null,
  ...more,
});

/** An address without the marks that stand around it: "_jo@example.org". */
const plainAddress = (written: string): { address: string; skipped: number } => {
  const address = written.replace(/^[_*~'`]{1,3}/u, "").toLowerCase();
  return { address, skipped: written.length - address.length };
};

const linksIn = (text: string, tokens: readonly Token[]): ContactCandidate[] =>
  (linkify.match(text) ?? []).flatMap(({ schema, raw, url, index, lastIndex }) => {
    if (url.startsWith("mailto:")) {
      // "07700 900271/jo@example.net" is a number and an address.
      const before = raw.lastIndexOf("/", raw.indexOf("@")) + 1;
      const written = (before > 0 ? raw.slice(before) : url.slice("mailto:".length)).replace(/\?.*$/su, "");
      const { address, skipped } = plainAddress(written);
      return [candidateOf(tokens, { start: index + before + skipped, end: lastIndex }, "email", address)];
    }
    if (!/^https?:$/u.test(schema) && !(schema === "" && isMeant(raw))) return [];
    const value = schema === "" ? `https://${raw}` : url;
    const number = whatsAppNumber(value);
    const span = { start: index, end: lastIndex };
    return number === null
      ? [candidateOf(tokens, span, "url", value)]
      : [candidateOf(tokens, span, "whatsapp", number, { dialled: true, valid: true })];
  });

/** The addresses and links of a text. An address that only people find counts before a link in it. */
const addressesIn = (sent: string, tokens: readonly Token[]): ContactCandidate[] => {
  const text = withAddressesApart(sent);
  const links = linksIn(text, tokens);
  const mails = findMails(text)
    .map(({ address, span, isDisguised }) => candidateOf(tokens, span, "email", address, { disguised: isDisguised }))
    .filter((mail) => mail.disguised || !links.some((link) => link.kind === "email" && overlaps(link, mail)));
  return [...links.filter((link) => !mails.some((mail) => overlaps(mail, link))), ...mails];
};

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
 * language: any in which it is spoken, then the one from which most of its texts are. A national number is valid in
 * several plans, so it counts only if it is one number in a group.
 */
const likelyCountries = (markers: readonly Marker[], language: string | null): string[][] => {
  const money = markers.map((marker) => countryOfCurrency(marker, language)).filter((country) => country !== null);
  const home = countryOfLanguage(language);
  // Without a language, a number that is valid in several plans is left as it is written.
  return [money.slice(0, 1), language === null ? [] : countriesOf(language), home === null ? [] : [home]];
};

/** A run with the number that it is. */
type DialledRun = { run: Run } & Dialled;

/** The one country of a group in which a run is a number in use, or the one in which it is a mobile number. */
const oneOf = (run: Run, countries: readonly string[]): Dialled | null => {
  const valid = countries.flatMap((country) => {
    const number = dial(run, country);
    return number?.isValid ? [number] : [];
  });
  const different = (some: readonly Dialled[]) => new Set(some.map(({ e164 }) => e164)).size;
  if (different(valid) === 1) return valid[0] ?? null;
  const mobile = valid.filter(({ isMobile }) => isMobile);
  return different(mobile) === 1 ? (mobile[0] ?? null) : null;
};

/** The run, or the part of it, that can be dialled: in the hinted country, otherwise in one that the text shows. */
const dialled = (whole: Run, country: string | null, likely: readonly string[][]): DialledRun | null => {
  for (const run of partsOf(whole)) {
    if (run !== whole && !isShapedLikePhone(run)) continue;
    const here = dial(run, country ?? "");
    // "614 555-0177" is a North American number even if the hint is wrong.
    if (here !== null && (here.isValid || !isNorthAmerican(run))) return { run, ...here };
    // Without a hint, an Italian text has an Italian mobile number: "347 555 0142".
    const own = country === null ? oneOf(run, likely.at(-1) ?? []) : null;
    const there = isNorthAmerican(run) && own?.isMobile !== true ? dial(run, "US") : null;
    let found = (there?.isValid ? there : null) ?? here;
    for (const countries of likely) found ??= oneOf(run, countries);
    if (found !== null) return { run, ...found };
  }
  return null;
};

/** The run as one number, or as two if only its halves can be dialled. Null if it is no number that can be dialled. */
const dialledIn = (whole: Run, country: string | null, likely: readonly string[][]): DialledRun[] => {
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

/** A text with its tokens; `originOf` says where a span of it stands in the text as it was sent. */
type Source = { text: string; tokens: readonly Token[]; originOf: (span: Span) => Span };

/** The runs of digits outside of addresses, dates and amounts, each as the number or numbers that it is. */
const numbersIn = (
  { tokens, originOf }: Source,
  sent: readonly Token[],
  written: readonly ContactCandidate[],
  { country, language }: ContactHints,
): ContactCandidate[] => {
  const inAddress = new Uint8Array(sent.at(-1)?.end ?? 0);
  for (const { start, end } of written) inAddress.fill(1, start, end);
  const runs = findRuns(tokens).filter((run) => {
    const { start, end } = originOf(spanOf(tokens, run));
    return !isDateOrAmount(tokens, run) && !inAddress.subarray(start, end).includes(1);
  });
  if (runs.length === 0) return [];
  const markers = tokens.flatMap((_, at) => currencyAt(tokens, at)?.marker ?? []);
  const likely = likelyCountries(markers, language);
  const here = countryByMoney(markers, country);
  return runs.flatMap((whole) => {
    const numbers = dialledIn(whole, here, likely);
    // Letters and words that are no number are letters and words.
    const found: { run: Run; e164?: string; isValid?: boolean }[] =
      numbers.length > 0 || whole.isDisguised ? numbers : [{ run: whole }];
    return found.map(({ run, e164, isValid = false }) =>
      candidateOf(sent, originOf(spanOf(tokens, run)), "number", e164 ?? digitsOf(run), {
        run,
        dialled: e164 !== undefined,
        valid: isValid,
        joint: run.groups.length > 1 ? (tokens[(run.groups[1]?.at ?? 0) - 1] ?? null) : null,
      }),
    );
  });
};

/** All possible contacts of a text, in order. They do not overlap. */
export const findContacts = (text: string, tokens: readonly Token[], hints: ContactHints): ContactCandidate[] => {
  const plain = inPlainSigns(text);
  const source =
    plain === null ? { text, tokens, originOf: (span: Span) => span } : { ...plain, tokens: tokensIn(plain.text) };
  const written = addressesIn(source.text, source.tokens).map((one) =>
    plain === null ? one : { ...one, ...source.originOf(one), ...cover(tokens, source.originOf(one)) },
  );
  const found = [...written, ...numbersIn(source, tokens, written, hints)];
  return found.sort((one, other) => one.start - other.start);
};
