import { wordsOfList } from "../rows.ts";
import type { Span } from "../text/span.ts";

/**
 * E-mail addresses that are obfuscated against harvesters: "kev.tran [at] example [dot] com",
 * "pisocamino(arroba)example.com", "jd dot solder at example dot org". Plain addresses are found elsewhere.
 */

/** Top-level domains in common use. "example" and "test" are for the texts of tests. */
export const TOP_LEVEL_DOMAINS: readonly string[] = wordsOfList("top_level_domain");
const KNOWN = new Set(TOP_LEVEL_DOMAINS);

/** Words for "@" and "." between any brackets, and those that also stand without; then the words around must look like an address. */
const AT = ["@", ...wordsOfList("at")];
const BARE_AT = wordsOfList("bare_at");
const DOT = wordsOfList("dot");

/** A pattern for a word that stands for a sign: in brackets, between hyphens and the like without spaces, or bare. */
const signOf = (bracketed: readonly string[], bare: readonly string[]): string => {
  const [any, alone] = [bracketed.join("|"), bare.join("|")];
  return `(?:[ \\t]{0,2}(?:[(\\[{<]\\s?(?:${any})\\s?[)\\]}>]|[*_-](?:${any})[*_-])[ \\t]{0,2}|[ \\t]{1,2}(?:${alone})[ \\t]{1,2})`;
};
const AT_SIGN = new RegExp(`${signOf(AT, BARE_AT)}|[ \\t]{1,2}@[ \\t]{1,2}|@`, "giu");
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

/** A part of an address without its obfuscation. */
type Part = { start: number; end: number; plain: string; disguised: boolean };

/** The host that begins at `start`: the longest one that ends with a known top-level domain. */
const hostFrom = (text: string, start: number): Part | null => {
  let best: Part | null = null;
  let disguised = false;
  const labels: string[] = [];
  for (let at = start; labels.length < MAX_LABELS; at = HOST_PART.lastIndex) {
    HOST_PART.lastIndex = at;
    const [, label, dot] = HOST_PART.exec(text) ?? [];
    if (label === undefined) break;
    labels.push(label.toLowerCase());
    const plain = labels.join(".");
    if (labels.length > 1 && KNOWN.has(label.toLowerCase())) best = { start, end: at + label.length, plain, disguised };
    if (dot === undefined) break;
    disguised ||= dot !== ".";
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

/**
 * The obfuscated e-mail addresses of a text, in order, each with its span.
 * A bare "at" counts only if the dots of the address are obfuscated too, or if the local part has a digit, dot or
 * underscore.
 */
export const findDisguisedMails = (text: string): { address: string; span: Span }[] => {
  const mails: { address: string; span: Span }[] = [];
  for (const { 0: sign, index } of text.matchAll(AT_SIGN)) {
    const host = hostFrom(text, index + sign.length);
    const local = host === null ? null : localBefore(text, index);
    if (host === null || local === null || local.start < (mails.at(-1)?.span.end ?? 0)) continue;
    if (!/^[a-z0-9][a-z0-9._%+-]*$/u.test(local.plain)) continue;
    const isDotted = host.disguised || local.disguised;
    const looksLikeOne = isDotted || (sign !== "@" && /[\d._]/u.test(local.plain));
    if (!looksLikeOne && !/[^\s\p{L}@]/u.test(sign)) continue;
    mails.push({ address: `${local.plain}@${host.plain}`, span: { start: local.start, end: host.end } });
  }
  return mails;
};
