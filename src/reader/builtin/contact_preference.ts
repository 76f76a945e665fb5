import type { ContactType } from "../../database/enums.ts";
import { findPhrases, type Hit } from "../text/phrases.ts";
import { startsSentence, type Token } from "../text/tokens.ts";
import {
  type Clause,
  type Clauses,
  clausesOf,
  firstAfter,
  gapBetween,
  lastBefore,
  MARKS,
  type Mention,
  narrowed,
} from "./contact_clauses.ts";
import { ALTERNATIVE, type Manner, mentionFor } from "./contact_references.ts";
import {
  AFTER_BEST,
  ALL_THE_SAME,
  BEFORE_HOUR,
  GOES_ON,
  HOUR,
  KEPT_FOR,
  PREFERENCE_WORDS,
  type PreferenceSense,
  REQUESTS,
  TIMES,
} from "./preference_words.ts";

/**
 * Decides which of several contacts the text prefers. A text praises one way of contact, has reservations about
 * another, or says which to try first. Each such word is assigned to the contact that it is about and gives it points.
 * The contact with clearly the most points is preferred.
 *
 *   words of praise and reservation -> the contact that each is about -> points -> the best contact, or none
 *
 * A word is about what its own clause mentions: a contact, or a way ("ringing") and thereby the contact of that way. If
 * the clause mentions neither, a word that can refer to something is about the neighbouring clause.
 */

/** A contact: tokens `from` to `to` (exclusive). */
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

/**
 * The points of each sense, and where its words look for their contact. Praise outweighs a reservation. A promise of a
 * quick answer is praise enough if the text says nothing else.
 */
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

/** How many points the best contact must be ahead of the next one. */
const MARGIN = 0.75;

/** The nearest contact of the type that a word for a way names, as a list of indexes (empty if there is none). */
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

const NOT = /^(?:not|never|isn|aren|nicht|kein|keine|pas|no|non|nao|niet|geen|nie|hardly|won|jamais|nunca|mai|nooit)$/u;

const isNegated = (tokens: readonly Token[], at: number): boolean => {
  for (let i = at - 1; i >= at - 3; i--) {
    if (MARKS.test(tokens[i]?.text ?? ",")) return false;
    if (NOT.test(tokens[i]?.text ?? "")) return true;
  }
  return false;
};

/** True if a time is stated at token `at`: "after 6", "evenings". */
const isTimeAt = (tokens: readonly Token[], at: number, isContact: Uint8Array): boolean => {
  const [word = "", next] = [tokens[at]?.text, tokens[at + 1]];
  for (let i = at; i < at + 3 && tokens[i]?.kind === "word"; i++) if (TIMES.has(tokens[i]?.text ?? "")) return true;
  const hour = next !== undefined && isContact[at + 1] === 0 && (next.kind === "digits" || HOUR.has(next.text));
  return BEFORE_HOUR.has(word) && hour;
};

/** True if the preference is about a time: "preferably after six", "after six preferably". */
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

/** True if a word that could be praise means something else here. */
const isOther = (tokens: readonly Token[], hit: Hit<Sense>, isContact: Uint8Array): boolean => {
  if (TIMED.has(hit.sense) && isOfTime(tokens, hit, isContact)) return true;
  if (hit.sense === "soft") return !closesClause(tokens, hit.to);
  if (hit.sense === "bare") return !closesClause(tokens, hit.to) && !AFTER_BEST.has(tokens[hit.to]?.text ?? "");
  return false;
};

/** Points for a negated reservation: "never slow" is weak praise. */
const NEGATED_RESERVATION = 0.5;

/** How many tokens after a negation the negated word may stand. */
const NEGATION_REACH = 3;

const negatesNext = (next: Hit<Sense> | undefined, hit: Hit<Sense>): boolean =>
  next !== undefined && next.from - hit.to < NEGATION_REACH && (MANNERS[next.sense]?.points ?? 0) !== 0;

/**
 * Points for a contact that the text asks to use, and for one about which it only states something. A request and a
 * statement make a difference; two requests or two statements do not.
 */
const REQUESTED = 0.5;
const STATED = -0.5;

/** How many tokens may stand before the contact in a statement: "My old phone". */
const SUBJECT_LENGTH = 3;
const REQUEST_REACH = 5;

/**
 * Points for what a clause does with its contact: it asks to use it ("Write to ..."), or states something about it
 * ("... is at the office").
 */
const usedAs = (tokens: readonly Token[], clause: Clause, { from, to }: { from: number; to: number }): number => {
  const begin = tokens[clause.from]?.kind === "mark" ? clause.from + 1 : clause.from;
  const next = tokens[to];
  if (from === begin && startsSentence(tokens, from) && KEPT_FOR.has(next?.text ?? "")) return STATED;
  // "07700 900318 anrufen"
  if (REQUESTS.has(next?.text ?? "") && to < clause.to) return REQUESTED;
  const goes = to + 1 < clause.to && next?.kind === "word" && !GOES_ON.has(next.text) && !startsSentence(tokens, to);
  if (goes && from - begin <= SUBJECT_LENGTH && !TIMES.has(next.text)) return STATED;
  for (let at = Math.max(begin, from - REQUEST_REACH); at < from; at++) {
    if (REQUESTS.has(tokens[at]?.text ?? "")) return REQUESTED;
  }
  return 0;
};

/** How far after "than" the way may stand that is the worse one. */
const THAN_REACH = 3;

/** How many tokens apart "answers" and "wife" may be to belong together. */
const KIN_REACH = 6;

/** The sentences that may speak of a contact: from one before to two after each contact. */
const zoneOf = (clauses: Clauses, contacts: readonly Reachable[]): Set<number> => {
  const zone = new Set<number>();
  for (const { from } of contacts) {
    const sentence = clauses.list[clauses.of[from] ?? 0]?.sentence ?? 0;
    for (let near = sentence - 1; near <= sentence + 2; near++) zone.add(near);
  }
  return zone;
};

/**
 * Finds the contact that the text prefers.
 *
 * @param contacts all contacts of the text, in order
 * @returns an index of `contacts`; -1 if there is only one, or if the text prefers none
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
  const addPoints = (mention: Mention | undefined, sum: number) => {
    for (const index of mention?.meant ?? []) points[index] = (points[index] ?? 0) + sum;
  };
  near.forEach((hit, order) => {
    const index = clauses.of[hit.from] ?? 0;
    const clause = clauses.list[index];
    if (clause === undefined) return;
    if (hit.sense === "than") {
      const after = firstAfter(clause.mentions, hit.to);
      if (after !== undefined && after.from - hit.to < THAN_REACH) {
        const better = near
          .slice(Math.max(0, order - 4), order)
          .some((other) => (MANNERS[other.sense]?.points ?? 0) > 0 && clauses.of[other.from] === index);
        const sign = tokens[hit.from]?.text === ">";
        if (better || sign) addPoints(after, -1);
        if (sign) addPoints(lastBefore(clause.mentions, hit.from), 2);
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
    // If the negated word is itself praise or a reservation, it is handled there.
    if (hit.sense === "deny" && (negatesNext(near[order + 1], hit) || isOfTime(tokens, hit, isContact))) return;
    const negated = isNegated(tokens, hit.from) || NOT.test(tokens[hit.to]?.text ?? "");
    const next = near[order + 1];
    const isCompared = next?.sense === "than" && next.from === hit.to;
    const mention = mentionFor(tokens, clauses, index, hit, manner, isCompared);
    addPoints(mention, !negated ? manner.points : manner.points < 0 ? NEGATED_RESERVATION : -1);
    // "telephone rather than write" is praise for the first and a reservation about the second.
    if (hit.sense === "avoid") addPoints(lastBefore(clause.mentions, hit.from), 1);
  });

  const plain = clauses.list.flatMap((clause) => {
    const [contact, other] = clause.mentions.filter((mention) => isContact[mention.from] === 1);
    // A clause with two contacts asks for both: "Text ... or mail ...".
    return contact === undefined || other !== undefined ? [] : [{ contact, use: usedAs(tokens, clause, contact) }];
  });
  // Contacts that already have points get no points for requests and statements.
  const unscored = plain.filter(({ contact: { meant } }) => meant.every((index) => points[index] === 0));
  for (const { contact, use } of unscored) addPoints(contact, use);

  const best = Math.max(...points);
  const chosen = points.indexOf(best);
  const rivals = points.filter(
    (_, index) => contacts[index]?.value !== contacts[chosen]?.value || points[index] !== best,
  );
  const second = rivals.length === 0 ? 0 : Math.max(...rivals);
  return best - second >= MARGIN ? chosen : -1;
};
