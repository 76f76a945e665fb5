import type { ContactType } from "../../base/enums.ts";
import type { ContactCandidate } from "../propose/contacts.ts";
import type { Token } from "../text/tokens.ts";
import { type Discourse, WAYS_OF_TYPE } from "./contact_discourse.ts";
import type { Range } from "./context.ts";

/**
 * Says which of several contacts a text prefers, by a plain rule: each word of preference ("best", "only if", "rarely read")
 * speaks for or against the contact, or the way to reach somebody, that is nearest to it in its sentence. A model of 260
 * features was no better on texts by strangers.
 */

/** A candidate that reaches the author in one way. A number that takes calls and messages is two contacts. */
export type Reachable = { candidate: ContactCandidate; type: ContactType };

/** How much a concept speaks for the contact that it is about. Of words that mean other things, too, it is little. */
const WORTH: Readonly<Record<string, number>> = {
  prefer_best: 2,
  prefer_prefer: 2,
  prefer_first: 2,
  prefer_way: 2,
  prefer_bare: 2,
  prefer_swift: 2,
  prefer_good: 1,
  prefer_poor: -1,
  prefer_fallback: -2,
  prefer_slow: -2,
  prefer_avoid: -2,
};

/** Words that are about a contact only directly beside it: "0171 2345678 (best)". */
const BESIDE = "prefer_bare";
const MAX_BESIDE = 3;

/** "whichever you like": the text prefers none. */
const INDIFFERENT = "prefer_equal";

/** A number after a word of preference, at most so many tokens away, is a time: "preferably after 6". */
const TIME_REACH = 3;

/** Praise in a clause without a contact that goes on for so many words is about something else: "best time is after lunch". */
const ELSE_WORDS = 2;

/** Another clause is farther away than any word of the same one. In tokens. */
const CLAUSE = 100;

/** A contact or a way in the text, and which of the contacts it is. */
type Mention = Range & { of: readonly number[] };

/** The contacts, and the words for ways that not all of them have. */
const mentionsOf = ({ cues, ways }: Discourse, reachable: readonly Reachable[]): Mention[] => {
  const indices = [...reachable.keys()];
  const contacts = reachable.map(({ candidate }) => ({
    from: candidate.from,
    to: candidate.to,
    of: indices.filter((one) => reachable[one]?.candidate === candidate),
  }));
  const named = cues.flatMap(({ from, to }, at) => {
    const way = ways[at];
    const of = reachable.flatMap(({ type }, one) => (way != null && WAYS_OF_TYPE[type].includes(way) ? [one] : []));
    return of.length > 0 && of.length < reachable.length ? [{ from, to, of }] : [];
  });
  return [...contacts, ...named];
};

const gapBetween = (one: Range, other: Range): number =>
  one.to <= other.from ? other.from - one.to : one.from - other.to;

/** The index of the contact that a text prefers; -1 if it prefers none. */
export const preferredAmong = (
  tokens: readonly Token[],
  discourse: Discourse,
  reachable: readonly Reachable[],
): number => {
  const { cues, clauses, isNegated, isCandidate } = discourse;
  const { clause, sentence } = clauses;
  const mentions = mentionsOf(discourse, reachable);
  const isAboutTime = ({ from, to }: Range): boolean =>
    cues.some((cue) => cue.concept.text === "contact_time" && clause[cue.from] === clause[from]) ||
    tokens.slice(to, to + TIME_REACH).some(({ kind }, at) => kind === "digits" && isCandidate[to + at] === 0);
  const goesOn = ({ from, to }: Range): boolean =>
    !mentions.some((one) => clause[one.from] === clause[from]) &&
    tokens.slice(to, to + ELSE_WORDS).filter(({ kind }, at) => kind === "word" && clause[to + at] === clause[from])
      .length === ELSE_WORDS;
  const scores = new Float64Array(reachable.length);
  for (const cue of cues) {
    const near = mentions.filter(({ from }) => sentence[from] === sentence[cue.from]);
    if (near.length === 0) continue;
    const concept = cue.concept.text;
    if (concept === INDIFFERENT) return -1;
    const worth = WORTH[concept];
    if (worth === undefined || isAboutTime(cue) || (worth > 0 && goesOn(cue))) continue;
    // "0171 2345678, am liebsten per Mail": what opens a clause is about what follows, also beyond the clause, unless it
    // stands in brackets behind a contact.
    const opens = clause[cue.from - 1] !== clause[cue.from] || tokens[cue.from - 1]?.kind === "mark";
    const looksAhead = opens && !(tokens[cue.from - 1]?.text === "(" && near.some(({ to }) => to === cue.from - 1));
    const distance = (one: Mention): number =>
      Math.abs((clause[one.from] ?? 0) - (clause[cue.from] ?? 0)) * CLAUSE +
      gapBetween(one, cue) +
      (one.to <= cue.from && looksAhead ? CLAUSE : 0) +
      // Of two as near as each other, the one before.
      (one.from >= cue.to ? 0.5 : 0);
    const [nearest] = near.toSorted((one, other) => distance(one) - distance(other));
    if (nearest === undefined || (concept === BESIDE && gapBetween(nearest, cue) > MAX_BESIDE)) continue;
    for (const one of nearest.of)
      scores[one] = (scores[one] ?? 0) + (isNegated[cue.from] === 1 ? -Math.abs(worth) : worth);
  }
  const most = Math.max(...scores);
  const best = scores.indexOf(most);
  const isAlone = scores.lastIndexOf(most) === best;
  // Of two contacts, one that is spoken against leaves the other.
  return isAlone && (most > 0 || (most > Math.min(...scores) && reachable.length === 2)) ? best : -1;
};
