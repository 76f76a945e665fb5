import type { ContactType } from "../../base/enums.ts";
import type { ContactCandidate } from "../propose/contacts.ts";
import type { Cue } from "../text/cues.ts";
import { type Clauses, clausesOf } from "./clauses.ts";
import { distance, type Scene } from "./context.ts";
import { bucket, type Features, type Term, term } from "./features.ts";

/** What a text says about ways to reach somebody, and where: the same for every contact that is judged. */

/** Ways to reach somebody, as words name them. */
const WAYS = ["call", "sms", "whatsapp", "mail", "link", "written"] as const;
export type Way = (typeof WAYS)[number];

const WAY_OF_CUE: Readonly<Record<string, Way>> = Object.fromEntries(
  WAYS.map((way) => [way === "written" ? "prefer_written" : `contact_${way}`, way]),
);

/** The ways that a type serves; the first is its own. */
export const WAYS_OF_TYPE: Readonly<Record<ContactType, readonly [Way, ...Way[]]>> = {
  phone: ["call"],
  sms: ["sms", "written"],
  whatsapp: ["whatsapp", "written"],
  email: ["mail", "written"],
  url: ["link"],
};

const NEGATIONS: ReadonlySet<string> = new Set(["contact_not", "prefer_deny"]);

/** Words such as "hesitate". */
const INVITING = "contact_welcome";

/** How many tokens after a negation the negated word may stand. */
const NEGATION_REACH = 4;

/** Words about contacts, and where a text speaks of which way. */
export type Discourse = {
  clauses: Clauses;
  /** Cues for contacts and preferences, by position. */
  cues: readonly Cue[];
  /** For each cue, the way that it names; null if none. */
  ways: readonly (Way | null)[];
  /** 1 for the tokens of candidates. */
  isCandidate: Uint8Array;
  /** 1 for tokens to which a negation in their clause reaches. */
  isNegated: Uint8Array;
  /** For each cue, the number to which it is nearest, as far as it was asked for. */
  nearestOf: (ContactCandidate | null | undefined)[];
};

/** True if a cue negates what follows it. */
export const isNegation = ({ concept }: Cue): boolean => NEGATIONS.has(concept.text);

const isAboutContacts = ({ concept }: Cue): boolean =>
  concept.text.startsWith("contact_") || concept.text.startsWith("prefer_");

export const discourseOf = (scene: Scene, candidates: readonly ContactCandidate[]): Discourse => {
  const { tokens } = scene;
  const isCandidate = new Uint8Array(tokens.length + 1);
  for (const { from, to } of candidates) isCandidate.fill(1, from, to);
  const clauses = clausesOf(scene, isCandidate);
  const about = scene.cues.filter((cue) => isCandidate[cue.from] === 0 && isAboutContacts(cue));
  // "Message me on WhatsApp" is one way: a way inside the words for another is left out.
  const named = about.filter(({ concept }) => WAY_OF_CUE[concept.text] !== undefined);
  const inside = new Set<Cue>();
  named.forEach((cue, at) => {
    for (let next = at + 1; next < named.length; next++) {
      const other = named[next] as Cue;
      if (other.from >= cue.to) break;
      const [outer, inner] = other.to - other.from > cue.to - cue.from ? [other, cue] : [cue, other];
      const covers = outer.from <= inner.from && inner.to <= outer.to && outer.to - outer.from > inner.to - inner.from;
      if (covers) inside.add(inner);
    }
  });
  const cues = about.filter((cue) => !inside.has(cue));
  const isNegated = new Uint8Array(tokens.length + 1);
  // "Do not hesitate to call": a denied refusal invites.
  const invites = ({ from, to }: Cue): boolean =>
    cues.some((one) => one.concept.text === INVITING && one.to >= from && one.from < to + NEGATION_REACH);
  for (const cue of cues) {
    if (!isNegation(cue) || invites(cue)) continue;
    for (let at = cue.to; at < cue.to + NEGATION_REACH && clauses.clause[at] === clauses.clause[cue.from]; at++)
      isNegated[at] = 1;
  }
  return {
    clauses,
    cues,
    ways: cues.map(({ concept }) => WAY_OF_CUE[concept.text] ?? null),
    isCandidate,
    isNegated,
    nearestOf: [],
  };
};

/** How many candidates are counted. */
const COUNTED = 3;
/** A number of candidates as it is counted. */
export const count = (value: number): number => Math.min(value, COUNTED);

const W = {
  scope: term("way-scope"),
  named: term("way-named"),
  near: term("way-near"),
  left: term("way-left"),
  right: term("way-right"),
  beside: term("way-beside"),
} as const;

/** The number to which the cue at `index` is nearest, sentence by sentence; null if there is none. */
const nearestNumber = (
  candidates: readonly ContactCandidate[],
  { clauses: { sentence }, cues, nearestOf }: Discourse,
  index: number,
): ContactCandidate | null => {
  const known = nearestOf[index];
  if (known !== undefined) return known;
  const { from = 0, to = 0 } = cues[index] ?? {};
  const distanceTo = (one: ContactCandidate): number => {
    const apart = Math.abs((sentence[one.from] ?? 0) - (sentence[from] ?? 0));
    const gap = one.to <= from ? from - one.to : one.from - to;
    return apart * 1000 + gap + (one.from >= to && apart > 0 ? 500 : 0);
  };
  const [nearest = null] = candidates
    .filter(({ kind }) => kind === "number")
    .sort((one, other) => distanceTo(one) - distanceTo(other));
  nearestOf[index] = nearest;
  return nearest;
};

/** A way that is named, as it is seen from a candidate. `isNear`: in its sentence or the next one, or attached to it. */
export type SeenWay = { cue: Cue; at: number; relation: string; isAttached: boolean; isNear: boolean };

/**
 * Adds which ways are named, and where: in the clause of a candidate, its sentence, the next one.
 * @param relationOf what a way is to the candidate
 * @param state what the candidate is in itself
 * @returns the ways, by position
 */
export const addWays = (
  features: Features,
  discourse: Discourse,
  candidates: readonly ContactCandidate[],
  candidate: ContactCandidate,
  relationOf: (way: Way) => string,
  state: Term,
): SeenWay[] => {
  const { clauses, cues, ways, isNegated } = discourse;
  const { from, to } = candidate;
  const seen: SeenWay[] = [];
  const scopes = new Set<string>();
  let left: Term | null = null;
  let right: Term | null = null;
  cues.forEach((cue, at) => {
    const way = ways[at] ?? null;
    if (way === null) return;
    const relation = `${isNegated[cue.from] === 1 ? "not-" : ""}${relationOf(way)}`;
    const apart = (clauses.sentence[cue.from] ?? 0) - (clauses.sentence[from] ?? 0);
    const isInClause = clauses.clause[cue.from] === clauses.clause[from];
    const scope = isInClause ? "clause" : (["last", "sentence", "next"][apart + 1] ?? "text");
    const isAttached = nearestNumber(candidates, discourse, at) === candidate;
    scopes.add(`${relation}-${scope}`);
    if (isAttached) scopes.add(`${relation}-attached`);
    features.add(W.scope, bucket(`${relation}-${scope}`), bucket(isAttached ? "mine" : "theirs"));
    seen.push({ cue, at, relation, isAttached, isNear: isAttached || isInClause || apart === 0 || apart === 1 });
    if (apart !== 0) return;
    if (cue.to <= from) left = bucket(relation);
    else right ??= bucket(relation);
    features.add(W.near, bucket(relation), distance(cue.to <= from ? from - cue.to : cue.from - to));
  });
  for (const scope of scopes) {
    features.add(W.named, bucket(scope));
    features.add(W.named, bucket(scope), state);
  }
  if (left !== null) features.add(W.left, left, state);
  if (right !== null) features.add(W.right, right, state);
  if (left !== null && right !== null) features.add(W.beside, left, right);
  if (left === null && right === null) features.add(W.beside, state);
  return seen;
};
