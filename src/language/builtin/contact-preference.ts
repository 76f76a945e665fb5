import type { ContactType } from "./contacts.ts";
import {
  AFTER_BEST,
  ALL_THE_SAME,
  BEFORE_HOUR,
  HOUR,
  PREFERENCE_WORDS,
  type PreferenceSense,
  TIMES,
} from "./preference-words.ts";
import { findPhrases, type Hit, startsSentence, type Token } from "./prose.ts";

/**
 * Which of several contacts is the first choice. A text praises one way, has reserves about another, or says what to try
 * first; every such word finds the contact that it is about, and the contact with the best word for it is preferred.
 *
 *   words of praise and reserve -> what each is about -> points -> the one that stands out, or none
 *
 * A word is about what its own clause mentions: a contact, or a way ("ringing") and thereby the contact of that way. In a
 * clause that mentions neither it is about the neighbouring clause, if it is of a kind that refers to something.
 */

/** A way to be reached: tokens `from` to `to` (exclusive). */
export type Reachable = { type: ContactType; value: string; from: number; to: number };

type Sense = PreferenceSense;

const TYPES: Partial<Record<Sense, readonly ContactType[]>> = {
  call: ["phone"],
  whatsapp: ["whatsapp"],
  sms: ["sms"],
  mail: ["email"],
  link: ["url"],
  written: ["sms", "whatsapp", "email"],
};

/** Where a word looks first in its clause, and where beyond it when nothing is mentioned there. */
type Manner = {
  points: number;
  inside: "before" | "after" | "ahead" | "nearest";
  beyond: readonly ("before" | "after")[];
};

/** Praise outweighs a reserve; a quick answer is praise enough when nothing else is said. */
const MANNERS: Partial<Record<Sense, Manner>> = {
  way: { points: 2, inside: "after", beyond: ["after", "before"] },
  best: { points: 2, inside: "before", beyond: ["before"] },
  bare: { points: 2, inside: "before", beyond: ["before"] },
  prefer: { points: 2, inside: "nearest", beyond: ["after", "before"] },
  soft: { points: 1.5, inside: "before", beyond: [] },
  first: { points: 2, inside: "nearest", beyond: [] },
  swift: { points: 1.5, inside: "before", beyond: ["before"] },
  slow: { points: -1, inside: "before", beyond: ["before"] },
  fallback: { points: -1, inside: "before", beyond: ["after", "before"] },
  avoid: { points: -1, inside: "ahead", beyond: [] },
  good: { points: 0.75, inside: "before", beyond: ["before"] },
  poor: { points: -0.75, inside: "before", beyond: ["before"] },
  deny: { points: -0.75, inside: "nearest", beyond: [] },
  condition: { points: -0.75, inside: "before", beyond: ["after", "before"] },
  concede: { points: -0.5, inside: "nearest", beyond: [] },
  turn: { points: 0.5, inside: "ahead", beyond: [] },
  may: { points: -0.5, inside: "nearest", beyond: [] },
  please: { points: 0.5, inside: "ahead", beyond: [] },
  answers: { points: -1, inside: "nearest", beyond: ["before"] },
};

/** How far a contact has to stand out. */
const MARGIN = 0.75;

/** What a clause mentions: a contact or a way, with the contacts meant, by index. */
type Mention = { from: number; to: number; meant: number[] };

/** `outer` is the clause that an aside stands in, by index, and `opening` its bracket, a token; -1 for none. */
type Clause = { from: number; to: number; sentence: number; outer: number; opening: number; mentions: Mention[] };

const MARKS = /^[,;:()]$/u;

/** Words with which a clause sets itself against the one before. */
const AGAINST = new Set(
  "but although though whereas while however aber allerdings obwohl mais pero aunque ma mas embora maar hoewel ale choc because".split(
    " ",
  ),
);

/** True when an aside opens at token `at`; "(03) 5550" opens none. */
const opensAside = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.text === "(" && !(tokens[at + 1]?.kind === "digits" && tokens[at + 2]?.text === ")");

type Clauses = { list: Clause[]; of: Int32Array };

/** The text in clauses. What goes on behind an aside is of the clause before it. */
const clausesOf = (tokens: readonly Token[], isContact: Uint8Array, isCue: Uint8Array): Clauses => {
  const of = new Int32Array(tokens.length);
  const list: Clause[] = [];
  let sentence = -1;
  let outer = -1;
  let opening = -1;
  let current = -1;
  const open = (at: number) => {
    list.push({ from: at, to: at, sentence, outer, opening, mentions: [] });
    current = list.length - 1;
  };
  for (let at = 0; at < tokens.length; at++) {
    const { text = "" } = tokens[at] ?? {};
    const begins = startsSentence(tokens, at) && isContact[at] !== 2;
    if (begins) {
      sentence++;
      outer = opening = -1;
      open(at);
    } else if (isContact[at] === 0) {
      if (opensAside(tokens, at)) {
        // Of brackets in brackets the first ones count.
        if (outer < 0) [outer, opening] = [current, at];
        open(at);
      } else if (text === ")" && outer >= 0) {
        current = outer;
        outer = opening = -1;
      } else if (MARKS.test(text) && text !== "(" && text !== ")") open(at);
      else if (AGAINST.has(text) && isCue[at] === 0) open(at);
      else if (text === "-" && tokens[at]?.gap !== "none" && tokens[at + 1]?.gap !== "none") open(at);
    }
    of[at] = current;
    const clause = list[current];
    if (clause !== undefined) clause.to = at + 1;
  }
  return { list, of };
};

const gapBetween = (a: { from: number; to: number }, b: { from: number; to: number }): number =>
  a.to <= b.from ? b.from - a.to : a.from - b.to;

/** The contacts that the word for a way means: of that way, the nearest. */
const meantBy = (hit: Hit<Sense>, contacts: readonly Reachable[]): number[] => {
  const types = TYPES[hit.sense] ?? [];
  let nearest = Number.POSITIVE_INFINITY;
  let meant = -1;
  contacts.forEach((contact, index) => {
    const gap = gapBetween(hit, contact);
    if (!types.includes(contact.type) || gap >= nearest) return;
    nearest = gap;
    meant = index;
  });
  return meant < 0 ? [] : [meant];
};

/** A number with a word for its use is meant in that use. */
const narrowed = (mentions: readonly Mention[]): Mention[] => {
  const single = new Set(mentions.flatMap(({ meant }) => (meant.length === 1 ? meant : [])));
  return mentions.filter(({ meant }) => meant.length < 2 || !meant.some((index) => single.has(index)));
};

/** The number of mentions that begin before token `at`, by binary search. */
const countBefore = (mentions: readonly Mention[], at: number): number => {
  let low = 0;
  let high = mentions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((mentions[middle]?.from ?? at) < at) low = middle + 1;
    else high = middle;
  }
  return low;
};

const lastBefore = (mentions: readonly Mention[], at: number) => mentions[countBefore(mentions, at) - 1];
const firstAfter = (mentions: readonly Mention[], at: number) => mentions[countBefore(mentions, at)];

const within = (clause: Clause, hit: Hit<Sense>, inside: Manner["inside"]): Mention | undefined => {
  const { mentions } = clause;
  const before = lastBefore(mentions, hit.from);
  const after = firstAfter(mentions, hit.to);
  if (inside === "before") return before ?? after;
  if (inside === "after") return after ?? before;
  if (inside === "ahead") return after;
  if (before === undefined || after === undefined) return before ?? after;
  return gapBetween(before, hit) < gapBetween(after, hit) ? before : after;
};

/** How a sentence begins that speaks of what the sentence before it named. */
const REFERS = /^(?:that|this|which|it|its|das|dies|c|ca|cela|es|eso|esto|e|isso|dat|dit|to|ten)$/u;

const ALTERNATIVE = /^(?:or|oder|ou|o|oppure|of|lub|albo|and|und|et|y|e|en|i)$/u;

/** A condition is short: "if that fails, ..."; what opens a long clause is about something else. */
const CONDITION_LENGTH = 9;

/** Pronouns for what was named before: "I am rarely there". */
const PRONOUN = /^(?:that|there|them|darauf|dort|damit|dessus|ahi|alli|daar|daarop|ermee|tam|nim|nia|ci)$/u;

/** True when a clause speaks of something named in the sentence before. */
const refersBack = (tokens: readonly Token[], { from }: Clause): boolean => {
  if (REFERS.test(tokens[from]?.text ?? "")) return true;
  for (let at = from; at < from + CONDITION_LENGTH && (at === from || !startsSentence(tokens, at)); at++) {
    if (PRONOUN.test(tokens[at]?.text ?? "")) return true;
  }
  return false;
};

/** Clauses that a word looks back over: "WhatsApp me on ..., please, that's best". */
const LOOK_BACK = 2;

/** The mention that follows an aside, or that it stands behind: "(preferably) jo@...", "jo@... (preferably)". */
const besideAside = (tokens: readonly Token[], list: readonly Clause[], clause: Clause): Mention | undefined => {
  const outer = list[clause.outer];
  if (outer === undefined) return undefined;
  const from = clause.opening;
  const before = lastBefore(outer.mentions, from);
  const after = firstAfter(outer.mentions, clause.to);
  return ALTERNATIVE.test(tokens[from - 1]?.text ?? "") ? (after ?? before) : (before ?? after);
};

const beyond = (
  tokens: readonly Token[],
  { list }: Clauses,
  index: number,
  hit: Hit<Sense>,
  direction: "before" | "after",
): Mention | undefined => {
  const clause = list[index];
  if (clause === undefined) return undefined;
  if (direction === "after") {
    if (clause.to - clause.from > CONDITION_LENGTH) return undefined;
    const next = list[index + 1];
    const asks = tokens[(next?.from ?? 0) - 1]?.text === "?" && (hit.sense === "way" || hit.sense === "fallback");
    if (next === undefined || (next.sentence !== clause.sentence && !asks)) return undefined;
    return firstAfter(next.mentions, clause.from);
  }
  for (let back = 1; back <= LOOK_BACK; back++) {
    const previous = list[index - back];
    if (previous === undefined) return undefined;
    if (previous.sentence !== clause.sentence) {
      if (previous.sentence !== clause.sentence - 1 || !refersBack(tokens, clause)) return undefined;
    }
    const mention = lastBefore(previous.mentions, clause.from);
    if (mention !== undefined) return mention;
  }
  return undefined;
};

/** What a word is about beyond its own clause. */
const outside = (tokens: readonly Token[], clauses: Clauses, index: number, hit: Hit<Sense>, manner: Manner) => {
  const clause = clauses.list[index];
  if (clause === undefined || manner.beyond.length === 0) return undefined;
  if (clause.outer >= 0) return besideAside(tokens, clauses.list, clause);
  // "Quickest: text ..."
  const announces = tokens[hit.to]?.text === ":";
  for (const direction of announces ? (["after"] as const) : manner.beyond) {
    const mention = beyond(tokens, clauses, index, hit, direction);
    if (mention !== undefined) return mention;
  }
  return undefined;
};

const NOT = /^(?:not|never|isn|aren|nicht|kein|keine|pas|no|non|nao|niet|geen|nie|hardly|won|jamais|nunca|mai|nooit)$/u;

const isDenied = (tokens: readonly Token[], at: number): boolean => {
  for (let i = at - 1; i >= at - 3; i--) {
    if (MARKS.test(tokens[i]?.text ?? ",")) return false;
    if (NOT.test(tokens[i]?.text ?? "")) return true;
  }
  return false;
};

/** True when a time is told at token `at`: "after 6", "evenings". */
const isTimeAt = (tokens: readonly Token[], at: number, isContact: Uint8Array): boolean => {
  const [word = "", next] = [tokens[at]?.text, tokens[at + 1]];
  for (let i = at; i < at + 3 && tokens[i]?.kind === "word"; i++) if (TIMES.has(tokens[i]?.text ?? "")) return true;
  const hour = next !== undefined && isContact[at + 1] === 0 && (next.kind === "digits" || HOUR.has(next.text));
  return BEFORE_HOUR.has(word) && hour;
};

/** True when a time is what is preferred: "preferably after six", "after six preferably". */
const isOfTime = (tokens: readonly Token[], hit: Hit<Sense>, isContact: Uint8Array): boolean => {
  if (isTimeAt(tokens, hit.to, isContact)) return true;
  for (let at = hit.from; at > hit.from - 3 && !startsSentence(tokens, at) && tokens[at - 1]?.kind !== "mark"; at--) {
    if (isTimeAt(tokens, at - 1, isContact)) return true;
  }
  return false;
};

const TIMED: ReadonlySet<Sense> = new Set(["prefer", "bare", "best", "way", "soft", "good", "poor"]);

const closesClause = (tokens: readonly Token[], at: number): boolean =>
  at >= tokens.length ||
  startsSentence(tokens, at) ||
  tokens[at]?.kind === "mark" ||
  ALTERNATIVE.test(tokens[at]?.text ?? "");

/** True when words that could praise say something else here. */
const isOther = (tokens: readonly Token[], hit: Hit<Sense>, isContact: Uint8Array): boolean => {
  if (TIMED.has(hit.sense) && isOfTime(tokens, hit, isContact)) return true;
  if (hit.sense === "soft") return !closesClause(tokens, hit.to);
  if (hit.sense === "bare") return !closesClause(tokens, hit.to) && !AFTER_BEST.has(tokens[hit.to]?.text ?? "");
  return false;
};

/** "never slow" is some praise. */
const RESERVE_DENIED = 0.5;

/** How many tokens behind a "not" the word stands that it turns. */
const DENIAL_REACH = 3;

const deniesNext = (next: Hit<Sense> | undefined, hit: Hit<Sense>): boolean =>
  next !== undefined && next.from - hit.to < DENIAL_REACH && (MANNERS[next.sense]?.points ?? 0) !== 0;

/** How far the way may stand that something is better than. */
const THAN_REACH = 3;

/** "answers" and "wife" are about one another up to so many tokens apart. */
const KIN_REACH = 6;

/** Sentences without a contact speak of one only beside it. */
const zoneOf = (clauses: Clauses, contacts: readonly Reachable[]): Set<number> => {
  const zone = new Set<number>();
  for (const { from } of contacts) {
    const sentence = clauses.list[clauses.of[from] ?? 0]?.sentence ?? 0;
    for (let near = sentence - 1; near <= sentence + 2; near++) zone.add(near);
  }
  return zone;
};

/**
 * The contact that the text prefers.
 *
 * @param contacts all that the text offers, in its order
 * @returns an index of `contacts`; -1 when there is but one, or the text prefers none
 */
export const preferredAmong = (tokens: readonly Token[], contacts: readonly Reachable[]): number => {
  if (contacts.length < 2) return -1;
  const isContact = new Uint8Array(tokens.length + 1);
  for (const { from, to } of contacts) {
    isContact.fill(2, from, to);
    isContact[from] = 1;
  }
  const hits = findPhrases(tokens, PREFERENCE_WORDS).filter((hit) => isContact[hit.from] === 0);
  const isCue = new Uint8Array(tokens.length);
  for (const hit of hits) isCue.fill(1, hit.from, hit.to);
  const clauses = clausesOf(tokens, isContact, isCue);
  const zone = zoneOf(clauses, contacts);
  const clauseAt = (at: number): Clause | undefined => clauses.list[clauses.of[at] ?? -1];
  const inZone = (at: number): boolean => zone.has(clauseAt(at)?.sentence ?? -1);
  for (const { from } of findPhrases(tokens, ALL_THE_SAME)) if (inZone(from)) return -1;

  const mentions: Mention[] = [];
  contacts.forEach(({ from, to }, index) => {
    const same = mentions.find((mention) => mention.from === from);
    if (same === undefined) mentions.push({ from, to, meant: [index] });
    else same.meant.push(index);
  });
  const near = hits.filter((hit) => inZone(hit.from));
  for (const hit of near) {
    const meant = meantBy(hit, contacts);
    if (meant.length > 0) mentions.push({ from: hit.from, to: hit.to, meant });
  }
  mentions.sort((a, b) => a.from - b.from);
  for (const mention of mentions) clauseAt(mention.from)?.mentions.push(mention);
  for (const clause of clauses.list) clause.mentions = narrowed(clause.mentions);

  const points = contacts.map(() => 0);
  const give = (mention: Mention | undefined, sum: number) => {
    for (const index of mention?.meant ?? []) points[index] = (points[index] ?? 0) + sum;
  };
  near.forEach((hit, order) => {
    const index = clauses.of[hit.from] ?? 0;
    const clause = clauses.list[index];
    if (clause === undefined) return;
    if (hit.sense === "than") {
      const after = firstAfter(clause.mentions, hit.to);
      const compared = tokens[hit.from]?.text === ">" || near[order - 1]?.sense !== undefined;
      if (compared && after !== undefined && after.from - hit.to < THAN_REACH) {
        const better = near
          .slice(Math.max(0, order - 4), order)
          .some((other) => (MANNERS[other.sense]?.points ?? 0) > 0 && clauses.of[other.from] === index);
        const sign = tokens[hit.from]?.text === ">";
        if (better || sign) give(after, -1);
        if (sign) give(lastBefore(clause.mentions, hit.from), 2);
      }
      return;
    }
    if (
      hit.sense === "answers" &&
      !near
        .slice(Math.max(0, order - KIN_REACH), order + KIN_REACH)
        .some((other) => other.sense === "kin" && gapBetween(other, hit) <= KIN_REACH)
    )
      return;
    const manner = MANNERS[hit.sense];
    if (manner === undefined || isOther(tokens, hit, isContact)) return;
    // What is denied is another word of praise or reserve, and turns it.
    if (hit.sense === "deny" && (deniesNext(near[order + 1], hit) || isOfTime(tokens, hit, isContact))) return;
    const denied = isDenied(tokens, hit.from) || NOT.test(tokens[hit.to]?.text ?? "");
    const mention = within(clause, hit, manner.inside) ?? outside(tokens, clauses, index, hit, manner);
    give(mention, !denied ? manner.points : manner.points < 0 ? RESERVE_DENIED : -1);
    // "telephone rather than write" praises the one as it warns of the other.
    if (hit.sense === "avoid") give(lastBefore(clause.mentions, hit.from), 1);
  });

  const best = Math.max(...points);
  const chosen = points.indexOf(best);
  const rivals = points.filter(
    (_, index) => contacts[index]?.value !== contacts[chosen]?.value || points[index] !== best,
  );
  const second = rivals.length === 0 ? 0 : Math.max(...rivals);
  return best - second >= MARGIN ? chosen : -1;
};
