import type { Span } from "../text/span.ts";
import type { Token } from "../text/tokens.ts";

/**
 * E-mail addresses that are obfuscated against harvesters: "kev.tran [at] example [dot] com",
 * "pisocamino(arroba)example.com", "jd dot solder at example dot org". Plain addresses are found elsewhere.
 */

/** Words that stand for "@" between any brackets. */
const AT_WORDS = new Set(
  `@ at a ät aet arroba chez chiocciola chiocciolina kiocciola arobase arobas apenstaartje apestaartje malpa klammeraffe
  affe bei snabela em ad aroba`.split(/\s+/u),
);

/** Words that stand for "@" without brackets. The words around them must look like an address. */
const BARE_AT_WORDS = new Set(
  "at arroba arobase chiocciola malpa apenstaartje apestaartje klammeraffe chez".split(" "),
);

const DOT_WORDS = new Set("dot punkt point punto ponto punt kropka dt".split(" "));

const OPENING = new Set(["(", "[", "{", "<", "*", "_", "-"]);
const CLOSING = new Set([")", "]", "}", ">", "*", "_", "-"]);

/** Top-level domains in common use. "example" and "test" are for the texts of tests. */
export const TOP_LEVEL_DOMAINS: readonly string[] =
  `com org net edu gov info biz name pro app dev shop store online site website web page blog cloud tech email mail berlin
  hamburg koeln cologne bayern wien paris bzh london wales scot cat gal eus amsterdam nyc club live life studio design art
  agency work works jobs rent rentals homes house xyz me io co tv cc ai eu uk us ca au nz ie de at ch fr be lu es mx ar cl pe
  uy co ve it sm pt br ao mz nl pl cz sk hu ro bg hr si gr se no dk fi is ee lv lt mt cy tr ua jp cn in kr za il
  asia coop museum travel example test`
    .split(/\s+/u)
    .filter((label, index, all) => all.indexOf(label) === index);

const KNOWN = new Set(TOP_LEVEL_DOMAINS);

/** Longest local part or host, in labels. */
const MAX_LABELS = 6;

type Sign = { from: number; to: number; bracketed: boolean };

/** A word for "@" or "." at token `at`, in brackets or bare. Null if there is none. */
const signAt = (tokens: readonly Token[], at: number, words: Set<string>, bare: Set<string>): Sign | null => {
  const first = tokens[at];
  if (first === undefined || first.gap === "line") return null;
  const inside = tokens[at + 1];
  const close = tokens[at + 2];
  if (OPENING.has(first.text) && inside !== undefined && close !== undefined && CLOSING.has(close.text)) {
    // "-at-" counts as brackets, "well-at - ease" does not.
    const tight = inside.gap === "none" && close.gap === "none";
    const brackets = /[([{<]/u.test(first.text);
    if (words.has(inside.text) && (brackets || tight)) return { from: at, to: at + 3, bracketed: true };
  }
  const next = tokens[at + 1];
  if (next === undefined || !bare.has(first.text) || first.gap !== "space" || next.gap !== "space") return null;
  return { from: at, to: at + 1, bracketed: false };
};

const DOTS = new Set([...DOT_WORDS, "."]);

const isLabelPart = (token: Token | undefined): boolean =>
  token !== undefined && (token.kind !== "mark" || /^[_+%-]$/u.test(token.text));

/**
 * The longest label, in tokens: a label of a host has at most 63 octets (RFC 1035), a local part 64 (RFC 5321). A text
 * such as "a-a-a-..." would otherwise be read to its end from each of its words.
 */
const LONGEST_LABEL = 64;

/**
 * The end of the label that starts at token `at`: letters, digits and hyphens without gaps. `at` itself if there is no
 * label, or if it is too long.
 */
const labelEnd = (tokens: readonly Token[], at: number): number => {
  if (tokens[at]?.kind === "mark") return at;
  let to = at;
  while (isLabelPart(tokens[to]) && (to === at || tokens[to]?.gap === "none")) {
    // The hyphen of "-dot-" belongs to the dot.
    if (to > at && signAt(tokens, to, DOTS, DOT_WORDS) !== null) break;
    if (to - at === LONGEST_LABEL) return at;
    to++;
  }
  return to;
};

/** A dot between labels at token `at`: "." without gaps, or a word for it. */
const dotAt = (tokens: readonly Token[], at: number): { to: number; plain: boolean } | null => {
  const sign = signAt(tokens, at, DOTS, DOT_WORDS);
  if (sign !== null) return { to: sign.to, plain: false };
  const plain = tokens[at]?.text === "." && tokens[at]?.gap === "none" && tokens[at + 1]?.gap === "none";
  return plain ? { to: at + 1, plain: true } : null;
};

type Part = { from: number; to: number; text: string; disguised: boolean };

const hostFrom = (text: string, tokens: readonly Token[], start: number): Part | null => {
  const labels: string[] = [];
  let disguised = false;
  let best: Part | null = null;
  for (let at = start; labels.length < MAX_LABELS; ) {
    const to = labelEnd(tokens, at);
    if (to === at) break;
    labels.push(text.slice(tokens[at]?.start, tokens[to - 1]?.end).toLowerCase());
    if (labels.length > 1 && KNOWN.has(labels.at(-1) ?? "")) {
      best = { from: start, to, text: labels.join("."), disguised };
    }
    const dot = dotAt(tokens, to);
    if (dot === null) break;
    disguised ||= !dot.plain;
    at = dot.to;
  }
  return best;
};

/** Reads a local part backwards from token `end` (exclusive). */
const localBefore = (text: string, tokens: readonly Token[], end: number): Part | null => {
  const labels: string[] = [];
  let disguised = false;
  let from = end;
  for (let at = end; labels.length < MAX_LABELS; ) {
    let start = at - 1;
    if (start < 0 || tokens[start]?.kind === "mark") break;
    while (start > 0 && tokens[start]?.gap === "none" && isLabelPart(tokens[start - 1])) {
      if (at - start === LONGEST_LABEL) return null;
      start--;
    }
    labels.unshift(text.slice(tokens[start]?.start, tokens[at - 1]?.end).toLowerCase());
    from = start;
    const before = tokens[start - 1];
    if (before?.text === "." && tokens[start]?.gap === "none" && before.gap === "none") {
      at = start - 1;
      continue;
    }
    const sign = signAt(tokens, start - 3, DOT_WORDS, new Set()) ?? signAt(tokens, start - 1, DOT_WORDS, DOT_WORDS);
    if (sign?.to !== start) break;
    disguised = true;
    at = sign.from;
  }
  if (labels.length === 0) return null;
  return { from, to: end, text: labels.join("."), disguised };
};

/** An "@" with white space on both sides, or without white space in an address whose dots are obfuscated. */
const plainAt = (tokens: readonly Token[], at: number): Sign | null => {
  const gaps = [tokens[at]?.gap, tokens[at + 1]?.gap];
  if (tokens[at]?.text !== "@" || gaps[0] !== gaps[1] || gaps[0] === "line") return null;
  return { from: at, to: at + 1, bracketed: false };
};

/**
 * The obfuscated e-mail addresses of a text, in order, each with its span.
 * A bare "at" counts only if the dots of the address are obfuscated too, or if the local part has a digit, dot or
 * underscore.
 */
export const findDisguisedMails = (text: string, tokens: readonly Token[]): { address: string; span: Span }[] => {
  const mails: { address: string; span: Span }[] = [];
  let done = 0;
  for (let at = 1; at < tokens.length; at++) {
    const sign = signAt(tokens, at, AT_WORDS, BARE_AT_WORDS) ?? plainAt(tokens, at);
    if (sign === null) continue;
    const host = hostFrom(text, tokens, sign.to);
    if (host === null) continue;
    const local = localBefore(text, tokens, sign.from);
    if (local === null || local.from < done) continue;
    const looksLikeOne = host.disguised || local.disguised || /[\d._]/u.test(local.text);
    if (!(sign.bracketed || looksLikeOne) || !/^[a-z0-9][a-z0-9._%+-]*$/u.test(local.text)) continue;
    const start = tokens[local.from]?.start ?? 0;
    mails.push({ address: `${local.text}@${host.text}`, span: { start, end: tokens[host.to - 1]?.end ?? start } });
    done = host.to;
    at = host.to - 1;
  }
  return mails;
};
