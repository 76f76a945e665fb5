import { startsSentence, type Token } from "../text/tokens.ts";
import type { ContactHit, ContactSense } from "./contact_words.ts";

/** Reads the words around a number, an address or a link: how it is used, and whether it may be used at all. */

/** A number, an address or a link in a text: tokens `from` to `to` (exclusive). */
export type Place = { from: number; to: number };

/** The contact words before (`left`) and after (`right`) a place that are about this place, each in order. */
export type Surroundings = {
  place: Place;
  tokens: readonly Token[];
  left: ContactHit[];
  right: ContactHit[];
  /** Words about the same number in later sentences: "Text the same number", "Ring us, ...". */
  further: ContactHit[];
};

/**
 * How far from the contact a word about it may be, in tokens. Farther after it than before it, because most words after
 * a contact are about it.
 */
const REACH = 12;
const REACH_BEHIND = 18;

/** If another contact follows in the sentence, the words after the first one belong to it only up to one of these. */
const ENDS_RIGHT = /^(?:[,/|&+-]|or|and|oder|und|ou|et|o|y|e|of|en|lub|albo|i|bzw|sowie|alternativ|alternatively)$/u;

/** Words directly after a number that state how it is used. */
const APPS = new Set("whatsapp whats wa wpp zap sms text texts".split(" "));

const start = (tokens: readonly Token[], place: Place, previous: Place | undefined): number => {
  let at = place.from;
  const first = Math.max(previous?.to ?? 0, place.from - REACH);
  // "WhatsApp? 07700 900318": the number answers the question before it.
  const answers = (begin: number): boolean => begin >= place.from - 1 && tokens[begin - 1]?.text === "?";
  while (at > first && (!startsSentence(tokens, at) || answers(at))) at--;
  return at;
};

const end = (tokens: readonly Token[], place: Place, next: Place | undefined): number => {
  const last = Math.min(tokens.length, place.to + REACH_BEHIND);
  let at = place.to;
  while (at < last && !(at > place.to && startsSentence(tokens, at)) && tokens[at]?.gap !== "line") {
    if (next !== undefined && at >= next.from) break;
    at++;
  }
  // If the sentence goes on to another contact, the words that introduce it are not about this one.
  if (next === undefined || at < next.from || startsSentence(tokens, next.from)) return at;
  if (tokens[place.to]?.text === "(") {
    while (at > place.to && tokens[at - 1]?.text !== ")") at--;
    if (at > place.to) return at;
  }
  // "0171 123 45 67, WhatsApp, or mail to"
  const aside = tokens[place.to]?.text === "," && APPS.has(tokens[place.to + 1]?.text ?? "");
  if (aside && place.to + 2 < next.from && ENDS_RIGHT.test(tokens[place.to + 2]?.text ?? "")) return place.to + 2;
  for (let i = place.to; i < next.from; i++) if (ENDS_RIGHT.test(tokens[i]?.text ?? "")) return i;
  return place.to;
};

/** The index of the first hit that starts at token `at` or later, by binary search. */
const indexFrom = (hits: readonly ContactHit[], at: number): number => {
  let low = 0;
  let high = hits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((hits[middle]?.from ?? at) >= at) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** A later sentence is about the number if its first call word stands within this many tokens: "Yes you may call". */
const OPENING = 4;
/** How many sentences after a number may be about it. */
const FURTHER = 2;

/** Words that name things as well as ways of contact: "Phone is unlocked". */
const THINGS = new Set(
  "phone phones mobile mob cell handy mobil telefon portable movil celular bel bell ring page".split(" "),
);

/** A word of THINGS before one of these is a way of contact: "Ring us". */
const REACHED_PERSON = /^(?:us|me|mich|uns|mij|ons|moi|nous|mi|em)$/u;

/** Words that refer to the number before, although another contact follows in the sentence. */
const REFERS_BACK = /^(?:same|there|mismo|mesmo|stesso|meme|selbe|selben|zelfde|tej|ten)$/u;

/**
 * The ways of contact that the sentences after a place name first. A sentence with a contact of its own is about that
 * contact.
 */
const furtherWays = (tokens: readonly Token[], hits: readonly ContactHit[], place: Place, next: Place | undefined) => {
  const limit = Math.min(next?.from ?? tokens.length, tokens.length);
  const ways: ContactHit[] = [];
  let at = place.to;
  while (at < limit && !startsSentence(tokens, at)) at++;
  for (let sentence = 0; sentence < FURTHER && at < limit; sentence++) {
    const from = at;
    at++;
    while (at < limit && !startsSentence(tokens, at)) at++;
    const shared = at === next?.from && !startsSentence(tokens, at);
    if (shared) {
      // "We take texts there as well, and mail via ..."
      while (at > from && tokens[at]?.text !== ",") at--;
      if (!hasMark(tokens, from, at, REFERS_BACK)) return ways;
    }
    const said: ContactHit[] = [];
    for (let i = indexFrom(hits, from); i < hits.length && (hits[i]?.to ?? limit) <= at; i++) {
      const hit = hits[i];
      if (hit !== undefined) said.push(hit);
    }
    const first = said.find(isCall);
    if (first === undefined || first.from - from >= OPENING) return ways;
    const thing = THINGS.has(tokens[first.from]?.text ?? "") && first.to === first.from + 1;
    if (thing && !REACHED_PERSON.test(tokens[first.to]?.text ?? "")) return ways;
    ways.push(...said);
    if (shared) return ways;
  }
  return ways;
};

/** The words around a place. `previous` and `next` are the contacts before and after it. */
export const around = (
  tokens: readonly Token[],
  hits: readonly ContactHit[],
  place: Place,
  previous: Place | undefined,
  next: Place | undefined,
): Surroundings => {
  const from = start(tokens, place, previous);
  const to = end(tokens, place, next);
  const [first, last] = [indexFrom(hits, from), indexFrom(hits, to)];
  const near = hits.slice(first, last).filter((hit) => hit.to <= to);
  return {
    place,
    tokens,
    left: near.filter((hit) => hit.to <= place.from),
    right: near.filter((hit) => hit.from >= place.to),
    further: furtherWays(tokens, hits, place, next),
  };
};

/** How many tokens may stand between a negation and the word that it negates. */
const NEGATION_REACH = 4;

/** True if a word before negates hit `index`: "no calls", "don't text", "nicht anrufen". */
const isNegated = (hits: readonly ContactHit[], index: number, tokens: readonly Token[]): boolean => {
  const hit = hits[index];
  for (let i = index - 1; i >= 0 && hit !== undefined; i--) {
    const before = hits[i];
    if (before === undefined || hit.from - before.to > NEGATION_REACH) return false;
    if (before.sense === "yet" || before.sense === "welcome") return false;
    if (before.sense === "not") return !hasMark(tokens, before.to, hit.from, /^[,:;.)]$/u);
  }
  return false;
};

const hasMark = (tokens: readonly Token[], from: number, to: number, mark: RegExp): boolean => {
  for (let at = from; at < to; at++) if (mark.test(tokens[at]?.text ?? "")) return true;
  return false;
};

/** How near to the contact "alte Nummer" or "no longer" has to stand, in tokens. */
const NEAR = 5;

const DOING: ReadonlySet<ContactSense> = new Set(["use", "call", "sms", "whatsapp", "mail"]);

/** True if the text says not to use the place: "do not use x@y", "x@y no longer works", "alte Nummer: ...". */
export const isRefused = ({ place, tokens, left, right }: Surroundings): boolean => {
  const old = left.some((hit) => hit.sense === "old" && place.from - hit.to <= NEAR);
  const dead = right.some((hit) => hit.sense === "dead" && hit.from - place.to <= NEAR);
  if (old || dead) return true;
  // "nicht x@y verwenden", "gebruik x@y niet"
  const nearLeft = left.filter((hit) => place.from - hit.to <= 2);
  const nearRight = right.filter((hit) => hit.from - place.to <= 2);
  const says = (hits: ContactHit[], senses: ReadonlySet<ContactSense>) => hits.some((hit) => senses.has(hit.sense));
  const not: ReadonlySet<ContactSense> = new Set(["not"]);
  if (says(nearLeft, not) && says(nearRight, DOING)) return true;
  if (nearLeft.some((hit) => hit.sense === "use") && says(nearRight, not)) return true;
  // The nearest instruction decides, unless a clause or a "but" begins after it.
  for (let i = left.length - 1; i >= 0; i--) {
    const hit = left[i];
    if (hit === undefined || hit.sense === "yet" || hit.sense === "welcome") return false;
    if (hasMark(tokens, hit.to, place.from, /^[,:;)/-]$/u)) return false;
    // "n'écrivez pas à", "schrijf niet naar"
    const behind = left[i + 1]?.sense;
    const negatedBehind = (behind === "not" || behind === "dead") && (left[i + 1]?.from ?? 0) - hit.to <= 1;
    if (hit.to === place.from && hit.sense === "whatsapp" && tokens[hit.from - 1]?.text === "no") return false;
    if (DOING.has(hit.sense)) return negatedBehind || isNegated(left, i, tokens);
  }
  return false;
};

/** True if a link only shows something. The nearest word before it decides, otherwise the word directly after it. */
export const isShowcase = ({ place, left, right }: Surroundings): boolean => {
  const told = left.findLast((hit) => hit.sense === "showcase" || hit.sense === "link" || hit.sense === "mail");
  if (told !== undefined) return told.sense === "showcase";
  const behind = right.find((hit) => hit.sense === "showcase" || hit.sense === "link");
  return behind?.sense === "showcase" && behind.from - place.to <= 2;
};

/** How near a label has to stand to name a number, in tokens: "serial no.: 23107 44 915". */
const LABEL_REACH = 4;

/** What the text calls a number: a phone number, something else ("ISBN", "invoice no."), or nothing (null). */
export const calledAs = ({ place, left, right }: Surroundings): "phone" | "other" | null => {
  const named = left.findLast((hit) => hit.sense === "label" || isCall(hit));
  if (named?.sense === "label" && place.from - named.to <= LABEL_REACH) {
    // "tel. nr", "phone no."
    const before = left[left.indexOf(named) - 1];
    const isOfPhone = before !== undefined && isCall(before) && named.from - before.to <= 1;
    if (!isOfPhone) return "other";
  }
  if (left.some(isCall) || right.some(isCall)) return "phone";
  return null;
};

const isCall = (hit: ContactHit): boolean => hit.sense === "call" || hit.sense === "sms" || hit.sense === "whatsapp";

/** The ways in which a number can be used. */
export type NumberType = "phone" | "sms" | "whatsapp";

/** How a number can be used. Empty if the text says not to use it. */
export const numberTypes = (surroundings: Surroundings): NumberType[] => {
  const { left, right, further, tokens, place } = surroundings;
  const said = new Set<NumberType>();
  const denied = new Set<NumberType>();
  for (const hits of [left, right, further]) {
    hits.forEach((hit, index) => {
      if (!isCall(hit)) return;
      const type = hit.sense === "call" ? "phone" : hit.sense === "sms" ? "sms" : "whatsapp";
      const behind = hits[index + 1];
      const vain = behind?.sense === "vain" && behind.from - hit.to <= 2;
      // In "no WhatsApp 910 000 123" the "no" is Portuguese for "on".
      const on = hits === left && hit.to === place.from && tokens[hit.from - 1]?.text === "no";
      (vain || (!on && isNegated(hits, index, tokens)) ? denied : said).add(type);
    });
  }
  // "0176 ... (also WhatsApp)": the number also takes calls.
  const added = right.some((hit, i) => hit.sense === "also" && (isCallAt(right, i + 1) || isCallAt(right, i - 1)));
  const refused = isRefused(surroundings);
  const silent = said.size === 0 && !refused;
  const types = (["phone", "sms", "whatsapp"] as const).filter(
    (type) => (said.has(type) || (type === "phone" && (silent || added))) && !denied.has(type),
  );
  // If the text only forbids calls ("pas d'appels"), messages remain.
  return types.length > 0 || refused ? types : said.size > 0 ? [...said] : ["sms"];
};

const isCallAt = (hits: readonly ContactHit[], index: number): boolean => {
  const hit = hits[index];
  return hit !== undefined && isCall(hit);
};
