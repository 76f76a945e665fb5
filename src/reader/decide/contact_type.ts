import type { NUMBER_TYPES } from "../../base/enums.ts";
import type { ContactCandidate } from "../propose/contacts.ts";
import { count, type Discourse, WAYS_OF_TYPE, type Way } from "./contact_discourse.ts";
import { distance, type Scene, termOf } from "./context.ts";
import { bucket, type Features, type Term, term } from "./features.ts";

/** The features of a number and a type: from them it is judged whether the number takes calls, texts or WhatsApp. */

/** The types of contact that a number can be. */
export type NumberType = (typeof NUMBER_TYPES)[number];

const wayOf = (type: NumberType): Way => WAYS_OF_TYPE[type][0];

/**
 * True if the text names the way of a type at all. A number is for calls unless something is said, but it takes messages
 * only if the text speaks of messages.
 */
export const isPossible = (type: NumberType, { ways }: Discourse): boolean =>
  type === "phone" || ways.includes(wayOf(type)) || (type === "sms" && ways.includes("written"));

const U = {
  type: term("type"),
  named: term("named"),
  silent: term("silent"),
  beside: term("beside"),
  attached: term("attached"),
  previous: term("previous"),
  next: term("following"),
  cue: term("with-cue"),
  left: term("left"),
  right: term("right"),
  near: term("near"),
} as const;

/** Cues at most this far from the words for a way say something about it, in tokens. */
const BESIDE = 10;

/** The number to which the cue at `index` is nearest, sentence by sentence; null if there is none. */
const nearestNumber = (
  candidates: readonly ContactCandidate[],
  { clauses: { sentence }, cues, nearestOf }: Discourse,
  index: number,
): ContactCandidate | null => {
  const known = nearestOf[index];
  if (known !== undefined) return known;
  const { from = 0, to = 0 } = cues[index] ?? {};
  let nearest: ContactCandidate | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const one of candidates) {
    if (one.kind !== "number") continue;
    const apart = Math.abs((sentence[one.from] ?? 0) - (sentence[from] ?? 0));
    const gap = one.to <= from ? from - one.to : one.from - to;
    const far = apart * 1000 + gap + (one.from >= to && apart > 0 ? 500 : 0);
    if (far >= least) continue;
    least = far;
    nearest = one;
  }
  nearestOf[index] = nearest;
  return nearest;
};

/** Adds the features from which it is judged whether the number at `index` is a contact of a type. */
export const addTypeFeatures = (
  features: Features,
  scene: Scene,
  discourse: Discourse,
  candidates: readonly ContactCandidate[],
  index: number,
  type: NumberType,
): void => {
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const { tokens } = scene;
  const { clauses, cues, ways, isNegated, isCandidate } = discourse;
  const { from, to } = candidate;
  const clause = clauses.clause[from] ?? 0;
  const sentence = clauses.sentence[from] ?? 0;
  const kind = bucket(type);
  const numbers = candidates.filter((one) => one.kind === "number").length;
  features.add(U.type, kind, bucket(count(numbers)));
  const scopes = new Set<string>();
  let left: Term | null = null;
  let right: Term | null = null;
  cues.forEach((cue, at) => {
    const way = ways[at] ?? null;
    if (way === null) return;
    const who =
      way === wayOf(type) ? "own" : way === "written" ? "written" : way === "mail" || way === "link" ? "away" : "other";
    const not = isNegated[cue.from] === 1 ? "not-" : "";
    const relation = `${not}${who}`;
    const apart = (clauses.sentence[cue.from] ?? 0) - sentence;
    const scope =
      clauses.clause[cue.from] === clause
        ? "clause"
        : apart === 0
          ? "sentence"
          : apart === 1
            ? "next"
            : apart === -1
              ? "last"
              : "text";
    const attached = nearestNumber(candidates, discourse, at) === candidate;
    scopes.add(`${relation}-${scope}`);
    if (attached) scopes.add(`${relation}-attached`);
    features.add(U.attached, bucket(`${relation}-${scope}`), bucket(attached ? "mine" : "theirs"));
    if (cue.to <= from && apart === 0) left = bucket(relation);
    if (cue.from >= to && apart === 0) right ??= bucket(relation);
    if (who === "away") return;
    const mine = bucket(attached ? relation : `${relation}-theirs`);
    for (let back = 1; back <= 2; back++) {
      const token = tokens[cue.from - back];
      if (token === undefined || isCandidate[cue.from - back] === 1) break;
      features.add(U.previous, mine, termOf(token));
    }
    for (let ahead = 0; ahead < 2; ahead++) {
      const token = tokens[cue.to + ahead];
      if (token === undefined || isCandidate[cue.to + ahead] === 1) break;
      features.add(U.next, mine, termOf(token));
    }
    for (const step of [-1, 1]) {
      for (let near = at + step; ; near += step) {
        const beside = cues[near];
        if (beside === undefined || Math.abs(beside.from - cue.from) >= BESIDE) break;
        if (clauses.clause[beside.from] === clauses.clause[cue.from]) features.add(U.cue, mine, beside.concept);
      }
    }
    if (apart === 0)
      features.add(U.near, bucket(relation), cue.to <= from ? distance(from - cue.to) : distance(cue.from - to));
  });
  for (const scope of scopes) {
    features.add(U.named, bucket(scope));
    features.add(U.named, bucket(scope), kind);
  }
  const has = (name: string): boolean => scopes.has(name);
  const near = ["clause", "sentence", "next", "attached"].some((scope) => has(`own-${scope}`));
  const others = ["clause", "sentence", "next", "attached"].some((scope) => has(`other-${scope}`));
  features.add(U.silent, kind, bucket(`${near ? "own" : "-"}${others ? "other" : "-"}`));
  if (left !== null) features.add(U.left, left, kind);
  if (right !== null) features.add(U.right, right, kind);
  if (left !== null && right !== null) features.add(U.beside, left, right);
  if (left === null && right === null) features.add(U.beside, kind);
  for (let back = 1; back <= 2; back++) {
    const token = tokens[from - back];
    if (token !== undefined) features.add(U.previous, kind, termOf(token));
  }
  for (let ahead = 0; ahead < 2; ahead++) {
    const token = tokens[to + ahead];
    if (token !== undefined) features.add(U.next, kind, termOf(token));
  }
};
