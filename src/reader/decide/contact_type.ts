import type { NUMBER_TYPES } from "../../base/enums.ts";
import type { ContactCandidate } from "../propose/contacts.ts";
import type { Cue } from "../text/cues.ts";
import { addWays, count, type Discourse, WAYS_OF_TYPE, type Way } from "./contact_discourse.ts";
import { type Range, type Scene, termOf } from "./context.ts";
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
  silent: term("silent"),
  previous: term("previous"),
  next: term("following"),
  cue: term("with-cue"),
} as const;

/** Cues at most this far from the words for a way say something about it, in tokens. */
const BESIDE = 10;
/** Words at most this far from a number, or from the words for a way, say something about it. In tokens. */
const WORDS = 2;

/** Adds the features from which it is judged whether the number at `index` is a contact of a type. */
export const addTypeFeatures = (
  features: Features,
  { tokens }: Scene,
  discourse: Discourse,
  candidates: readonly ContactCandidate[],
  index: number,
  type: NumberType,
): void => {
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const { clauses, cues, isCandidate } = discourse;
  const own = wayOf(type);
  const kind = bucket(type);
  features.add(U.type, kind, bucket(count(candidates.filter((one) => one.kind === "number").length)));
  const addWords = ({ from, to }: Range, label: Term): void => {
    for (const [template, start, step] of [
      [U.previous, from - 1, -1],
      [U.next, to, 1],
    ] as const)
      for (let at = start; at !== start + WORDS * step && isCandidate[at] === 0; at += step) {
        const token = tokens[at];
        if (token !== undefined) features.add(template, label, termOf(token));
      }
  };
  addWords(candidate, kind);
  const relationOf = (way: Way): string =>
    way === own ? "own" : way === "written" ? "written" : way === "mail" || way === "link" ? "away" : "other";
  const seen = addWays(features, discourse, candidates, candidate, relationOf, kind);
  for (const { cue, at, relation, isAttached } of seen) {
    if (relation.endsWith("away")) continue;
    const mine = bucket(isAttached ? relation : `${relation}-theirs`);
    addWords(cue, mine);
    const isBeside = (one: Cue): boolean =>
      Math.abs(one.from - cue.from) < BESIDE && clauses.clause[one.from] === clauses.clause[cue.from];
    for (const one of cues.slice(Math.max(0, at - BESIDE), at + BESIDE))
      if (one !== cue && isBeside(one)) features.add(U.cue, mine, one.concept);
  }
  const near = (relation: string): boolean => seen.some((one) => one.relation === relation && one.isNear);
  features.add(U.silent, kind, bucket(`${near("own") ? "own" : "-"}${near("other") ? "other" : "-"}`));
};
