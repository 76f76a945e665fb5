import { wordsOfList } from "../rows.ts";
import type { Span } from "../text/span.ts";
import { isApp } from "./profiles.ts";

/**
 * E-mail addresses, also those that are obfuscated against harvesters: "kev.tran [at] example [dot] com",
 * "pisocamino(arroba)example.com", "jd dot solder at example dot org", "jonas6751 AT example com".
 */

/** Top-level domains in common use. "example" and "test" are for the texts of tests. */
export const TOP_LEVEL_DOMAINS: readonly string[] = wordsOfList("top_level_domain");
const KNOWN = new Set(TOP_LEVEL_DOMAINS);

/** Words for "@" and "." between any brackets, and those that also stand without; then the words around must look like an address. */
const AT = ["@", ...wordsOfList("at")];
const BARE_AT = wordsOfList("bare_at");
const DOT = wordsOfList("dot");

/** A pattern for a word that stands for a sign: in brackets, between hyphens, bars and the like without spaces, or bare. */
const signOf = (bracketed: readonly string[], bare: readonly string[]): string => {
  const [any, alone] = [bracketed.join("|"), bare.join("|")];
  return `(?:[ \\t]{0,2}(?:[(\\[{<]\\s?(?:${any})\\s?[)\\]}>]|[*_|/-](?:${any})[*_|/-])[ \\t]{0,2}|[ \\t]{1,2}(?:${alone})[ \\t]{1,2})`;
};
const AT_SIGN = new RegExp(`${signOf(AT, BARE_AT)}|[ \\t]{0,2}@[ \\t]{0,2}`, "giu");
const DOT_SIGN = `(?:\\.|${signOf([...DOT, "\\."], DOT)})`;
/** The hyphen of "-dot-" belongs to the dot. */
const LABEL = `(?:(?!${DOT_SIGN})[\\p{L}\\p{N}_+%-])+`;
const HOST_PART = new RegExp(`(${LABEL})(${DOT_SIGN})?`, "iuy");
const LOCAL = new RegExp(`${LABEL}(?:${DOT_SIGN}${LABEL})*$`, "iu");
const DOTS = new RegExp(DOT_SIGN, "giu");

/** The longest local part with its signs, in UTF-16 units: without signs it has at most 64 octets (RFC 5321). */
const LONGEST_LOCAL = 100;
/** The longest host, in labels. */
const MAX_LABELS = 6;

/** A dot with spaces on both sides, or none at all, in front of a top-level domain: "jonas @ example . com", "AT example com". */
const GAP = /[ \t]{1,2}(?:\.[ \t]{1,2})?(\p{L}{2,10})(?![\p{L}\p{N}@])/uy;
/** Domains that are no words of any language: only these are read behind a mere space. */
const NEVER_WORDS = /^(?:com|net|org|edu|info|de|fr|uk|nl|pl|pt|ch|br|ca|eu)$/u;

/** Words for "@" that mean nothing else. */
const AMBIGUOUS_AT = /^(?:at|chez|bei|em|a|ad)$/iu;

/** A word that stands before "at" where no address does: "mail me at", "the shop at". */
const NO_NAME =
  /^(?:me|us|him|her|them|it|is|are|and|or|look|looking|book|booking|find|see|meet|order|buy|more|info|us|online|shop|store|form|page|site|website|office|apply|visit|available|here|only|directly|direct|anytime|details|photos|pictures|pics|moi|nous|vous|mich|uns|address|addr|us|link|profile|portfolio|listing|work|works|worked|working|live|lives|living|based|stay|staying|sold|new|priced|listed|contact|reach|email|mail|message|write|register|sign|tickets|pick|pickup|collect|collection|delivery|hosted|posted|everyone|team|jobs|job)$/u;

/** A verb or noun of writing directly before an address: "mail jonas at example.com". */
const WRITING =
  /(?:e-?mail|mail|mailto|write(?: to)?|contact|reach|address|[ée]crire(?: à)?|adresse|schreib\w{0,4}(?: an)?)[ :]{1,3}$/iu;

/** Words before "@" that are no names of people: "me @jo.art", "by @jo.art". */
const NO_OWNER =
  /^(?:discord|signal|skype|kik|wechat|line|handle|user|username|on|at|is|me|and|or|from|by|follow|via)$/u;

/** A part of an address without its obfuscation. */
type Part = { start: number; end: number; plain: string; disguised: boolean };

/** A top-level domain in a script of its own: "пример.рф". */
const isForeign = (label: string): boolean => /^\p{L}{2,}$/u.test(label) && !/\p{Script=Latin}/u.test(label);

/**
 * The host that begins at `start`: the longest one that ends with a known top-level domain.
 * @param gaps whether a mere space may stand for a dot
 */
const hostFrom = (text: string, start: number, gaps: boolean): Part | null => {
  let best: Part | null = null;
  let disguised = false;
  const labels: string[] = [];
  for (let at = start; labels.length < MAX_LABELS; at = HOST_PART.lastIndex) {
    HOST_PART.lastIndex = at;
    const [, label, dot] = HOST_PART.exec(text) ?? [];
    if (label === undefined) break;
    labels.push(label.toLowerCase());
    const last = labels.at(-1) ?? "";
    const isEnd = labels.length > 1 && (KNOWN.has(last) || last.startsWith("xn--") || isForeign(last));
    if (isEnd) best = { start, end: at + label.length, plain: labels.join("."), disguised };
    if (dot !== undefined) {
      disguised ||= dot !== ".";
      continue;
    }
    GAP.lastIndex = at + label.length;
    const [gap = "", end = ""] = (best === null && GAP.exec(text)) || [];
    const domain = end.toLowerCase();
    if (gap.includes(".") ? KNOWN.has(domain) : gaps && NEVER_WORDS.test(domain))
      best = { start, end: GAP.lastIndex, plain: [...labels, domain].join("."), disguised: true };
    break;
  }
  return best;
};

/** The local part that ends at `end`. */
const localBefore = (text: string, end: number): Part | null => {
  const written = LOCAL.exec(text.slice(Math.max(0, end - LONGEST_LOCAL), end))?.[0];
  if (written === undefined) return null;
  const disguised = written.match(DOTS)?.some((dot) => dot !== ".") ?? false;
  return { start: end - written.length, end, plain: written.toLowerCase().replace(DOTS, "."), disguised };
};

/** How far before an address a word of writing may begin. In UTF-16 units. */
const WRITING_REACH = 24;

/** True if a sign between two parts is one for "@", and not a word or a handle. */
const isAddress = (text: string, sign: string, local: Part, host: Part): boolean => {
  if (sign === "@") return true;
  if (host.disguised || local.disguised || /[^\s\p{L}@]/u.test(sign)) return true;
  const word = sign.trim();
  // "jonas @example.com", but "insta @jo.art".
  if (word === "@")
    return sign.startsWith("@") || sign.endsWith(" ") || !(isApp(local.plain) || NO_OWNER.test(local.plain));
  if (!AMBIGUOUS_AT.test(word) || /[\d._]/u.test(local.plain)) return true;
  // "mail jonas at example.com", but "book at example.com".
  const before = text.slice(Math.max(0, local.start - WRITING_REACH), local.start);
  return WRITING.test(before) && !NO_NAME.test(local.plain);
};

/** The e-mail addresses of a text, in order, each with its span, and whether it is written so that machines do not find it. */
export const findMails = (text: string): { address: string; span: Span; isDisguised: boolean }[] => {
  const mails: { address: string; span: Span; isDisguised: boolean }[] = [];
  for (const { 0: sign, index } of text.matchAll(AT_SIGN)) {
    const local = localBefore(text, index);
    if (local === null || local.start < (mails.at(-1)?.span.end ?? 0)) continue;
    if (!/^[\p{L}\p{N}][\p{L}\p{N}._%+-]*$/u.test(local.plain)) continue;
    const word = sign.trim();
    const isCertain = !AMBIGUOUS_AT.test(word) || /\d/u.test(local.plain) || (word === "AT" && local.plain.length > 2);
    const host = hostFrom(text, index + sign.length, word !== "@" && isCertain);
    if (host === null || !isAddress(text, sign, local, host)) continue;
    const isDisguised = sign !== "@" || host.disguised || local.disguised;
    mails.push({ address: `${local.plain}@${host.plain}`, span: { start: local.start, end: host.end }, isDisguised });
  }
  return mails;
};
