import { LinkifyIt } from "linkify-it";
import type { ContactType } from "../../database/enums.ts";
import { currencyAt, currencyOf, type Marker, resolveCurrency } from "../find/currencies.ts";
import { findDisguisedMails, TOP_LEVEL_DOMAINS } from "../find/mails.ts";
import {
  dial,
  digitsOf,
  findRuns,
  isDateOrAmount,
  isNorthAmerican,
  isShapedLikePhone,
  partsOf,
  type Run,
} from "../find/phones.ts";
import { findPhrases } from "../text/phrases.ts";
import { overlaps, quoteOf, type Span } from "../text/span.ts";
import { type Token, tokensIn } from "../text/tokens.ts";
import { findAddressedToModel } from "./addressed.ts";
import { preferredAmong } from "./contact_preference.ts";
import { around, calledAs, isRefused, isShowcase, numberTypes } from "./contact_roles.ts";
import { CONTACT_WORDS, LANGUAGE_COUNTRIES, NO_CONTACT_HOSTS, SHOWCASE_IN_LINK } from "./contact_words.ts";

/** A contact with the words of the text that state it. */
export type ContactFound = {
  value: { type: ContactType; value: string; preferred: boolean };
  quote: string;
  basis: "stated";
  confidence: number;
};

/** How many contacts an extraction may hold. */
const MAX_CONTACTS = 10;

const CONFIDENCE = {
  mail: 0.97,
  disguised: 0.9,
  link: 0.85,
  dialled: 0.95,
  possible: 0.85,
  unnamed: 0.75,
  undialled: 0.55,
};

const linkify = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: true, tlds: [...TOP_LEVEL_DOMAINS], maxLength: 2048 });

/** A possible contact before its role is known. `run` is set for digits. */
type Candidate = {
  kind: "mail" | "link" | "run";
  span: Span;
  from: number;
  to: number;
  value: string;
  confidence: number;
  run: Run | null;
};

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

const hostOf = (url: string): string => {
  try {
    return new URL(url).hostname.replace(/^www\./u, "");
  } catch {
    return "";
  }
};

/** Without scheme, path or "www.", a host has to be in lower case: "Done.It is" and "Node.JS" are not links. */
const isMeant = (raw: string, schema: string): boolean =>
  schema !== "" || /^www\.|\//iu.test(raw) || (raw === raw.toLowerCase() && /^[^.]{3,}\./u.test(raw));

const linksIn = (text: string, tokens: readonly Token[]): Candidate[] => {
  const candidates: Candidate[] = [];
  for (const match of linkify.match(text) ?? []) {
    const span = { start: match.index, end: match.lastIndex };
    const base = { span, ...cover(tokens, span), run: null };
    if (match.schema === "mailto:" || match.url.startsWith("mailto:")) {
      const value = match.url
        .replace(/^mailto:/iu, "")
        .replace(/\?.*$/su, "")
        .toLowerCase();
      candidates.push({ ...base, kind: "mail", value, confidence: CONFIDENCE.mail });
    } else if (/^https?:$/u.test(match.schema) || (match.schema === "" && isMeant(match.raw, match.schema))) {
      const value = match.schema === "" ? `https://${match.raw}` : match.url;
      candidates.push({ ...base, kind: "link", value, confidence: CONFIDENCE.link });
    }
  }
  return candidates;
};

/** Countries of currencies, for texts in which only the currency shows the country: "£140, Bristol. 07700 900318". */
const COUNTRY_OF_MONEY: Readonly<Record<string, string>> = {
  GBP: "GB",
  PLN: "PL",
  BRL: "BR",
  CHF: "CH",
  CAD: "CA",
  AUD: "AU",
  NZD: "NZ",
  CZK: "CZ",
  MXN: "MX",
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
  return (marker === "$" ? "US" : COUNTRY_OF_MONEY[paid]) ?? hinted;
};

/**
 * Countries whose phone numbers are likely in the text, most likely group first: by its currencies, then by its
 * function words.
 */
const likelyCountries = (tokens: readonly Token[], markers: readonly Marker[]): string[][] => {
  const money = markers.map((marker) => COUNTRY_OF_MONEY[marker]);
  const languages = LANGUAGE_COUNTRIES.map(({ words, countries }) => ({
    countries: [...countries],
    score: tokens.reduce((sum, token) => sum + (words.has(token.text) ? 1 : 0), 0),
  }));
  return [
    money.filter((country) => country !== undefined).slice(0, 1),
    ...languages
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .map(({ countries }) => countries),
  ];
};

/** The number in the first group of countries in which the run can be dialled. */
const dialAmong = (run: Run, groups: readonly string[][]): { e164: string; valid: boolean } | null => {
  for (const countries of groups) {
    const number = dial(run, countries);
    if (number !== null) return number;
  }
  return null;
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
    const found = (there?.valid ? there : null) ?? here ?? dialAmong(run, likely);
    if (found !== null) return { run, ...found };
  }
  return null;
};

/**
 * True if the link shows media, reviews or the like. A host with a hyphen may be the name of a business, so it is not
 * tested ("photo-avignon.example.fr").
 */
const isShowcaseAddress = (url: string): boolean => {
  const host = hostOf(url);
  const [name = ""] = host.split(".");
  if (!name.includes("-") && SHOWCASE_IN_LINK.test(name)) return true;
  return SHOWCASE_IN_LINK.test(url.slice(url.indexOf(host) + host.length));
};

/** The WhatsApp number in a link such as "https://wa.me/491760000000", or null. */
const whatsAppNumber = (url: string): string | null => {
  const digits = /^https?:\/\/(?:wa\.me\/|api\.whatsapp\.com\/send\/?\?phone=)\+?(\d{7,15})/iu.exec(url)?.[1];
  return digits === undefined ? null : `+${digits}`;
};

type Placed = ContactFound & { from: number; to: number };

const withPreference = (contacts: readonly Placed[], tokens: readonly Token[]): Placed[] => {
  const chosen = preferredAmong(
    tokens,
    contacts.map(({ value: { type, value }, from, to }) => ({ type, value, from, to })),
  );
  return contacts.map((contact, index) =>
    index === chosen ? { ...contact, value: { ...contact.value, preferred: true } } : contact,
  );
};

/**
 * Reads every contact that the text offers, in order, at most ten.
 *
 * @param text the text as sent; quotes are verbatim, offsets are not returned
 * @param hints.country where the offer is (ISO 3166-1 alpha-2), for numbers without a country code; null if unknown
 * @returns email in lower case and de-obfuscated; phone, sms and whatsapp in E.164, or as bare digits if no country can
 *   be derived; url absolute. At most one contact is `preferred`, and only if there are several and the text prefers
 *   one.
 */
export const readContacts = (text: string, hints: { country: string | null }): ContactFound[] => {
  const tokens = tokensIn(text);
  const hits = findPhrases(tokens, CONTACT_WORDS);
  const mails = findDisguisedMails(text, tokens).map(({ address, span }): Candidate => {
    return { kind: "mail", span, ...cover(tokens, span), value: address, confidence: CONFIDENCE.disguised, run: null };
  });
  const plain = linksIn(text, tokens);
  const written = [...plain.filter((link) => !mails.some((mail) => overlaps(mail.span, link.span))), ...mails];
  const runs = findRuns(tokens)
    .map((run): Candidate => {
      const span = { start: tokens[run.from]?.start ?? 0, end: tokens[run.to - 1]?.end ?? 0 };
      return { kind: "run", span, from: run.from, to: run.to, value: "", confidence: 0, run };
    })
    .filter((run) => !written.some((link) => overlaps(link.span, run.span)));
  const candidates = [...written, ...runs].sort((a, b) => a.span.start - b.span.start);

  const orders = findAddressedToModel(text);
  const markers = tokens.flatMap((_, at) => currencyAt(tokens, at)?.marker ?? []);
  const likely = likelyCountries(tokens, markers);
  const country = countryByMoney(markers, hints.country);
  const contacts: Placed[] = [];
  const seen = new Set<string>();
  const add = (type: ContactType, value: string, candidate: Omit<Candidate, "kind" | "value" | "run">) => {
    const key = `${type} ${value}`;
    if (seen.has(key) || contacts.length >= MAX_CONTACTS) return;
    seen.add(key);
    const { from, to, confidence } = candidate;
    contacts.push({
      value: { type, value, preferred: false },
      quote: quoteOf(text, candidate.span),
      basis: "stated",
      confidence,
      from,
      to,
    });
  };

  candidates.forEach((candidate, index) => {
    if (orders.some((order) => overlaps(order, candidate.span))) return;
    const words = around(tokens, hits, candidate, candidates[index - 1], candidates[index + 1]);
    if (candidate.kind === "mail") {
      if (!isRefused(words)) add("email", candidate.value, candidate);
    } else if (candidate.kind === "link") {
      const number = whatsAppNumber(candidate.value);
      const host = hostOf(candidate.value);
      if (number !== null) add("whatsapp", number, candidate);
      else if (host === "" || NO_CONTACT_HOSTS.some((other) => host === other || host.endsWith(`.${other}`))) return;
      else if (!isShowcaseAddress(candidate.value) && !isShowcase(words) && !isRefused(words)) {
        add("url", candidate.value, candidate);
      }
    } else if (candidate.run !== null) {
      const called = calledAs(words);
      const { run } = candidate;
      if (called === "other" || isDateOrAmount(tokens, run)) return;
      const number = dialled(run, country, likely);
      const evident = number !== null && (isShapedLikePhone(number.run) || number.run.international);
      if (called === null && !evident) return;
      const part = number?.run ?? run;
      const span = { start: tokens[part.from]?.start ?? 0, end: tokens[part.to - 1]?.end ?? 0 };
      const sure = number === null ? CONFIDENCE.undialled : number.valid ? CONFIDENCE.dialled : CONFIDENCE.possible;
      const confidence = called === null ? Math.min(sure, CONFIDENCE.unnamed) : sure;
      for (const type of numberTypes(words)) {
        add(type, number?.e164 ?? digitsOf(run), { span, from: part.from, to: part.to, confidence });
      }
    }
  });
  return withPreference(contacts, tokens).map(({ value, quote, basis, confidence }) => {
    return { value, quote, basis, confidence };
  });
};
