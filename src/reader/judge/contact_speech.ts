import type { ContactType } from "../../base/enums.ts";
import type { ContactCandidate } from "../find/contacts.ts";
import type { Token } from "../text/tokens.ts";
import type { Discourse, Way } from "./contact_discourse.ts";
import { type Scene, termOf } from "./context.ts";
import { type Term, term } from "./features.ts";

/** What a text says about its contacts, as a sequence of items, from which the preferred contact is judged. */

/** A candidate that reaches the author in one way. A number that takes calls and messages is two contacts. */
export type Reachable = { candidate: ContactCandidate; type: ContactType };

/** What a word or candidate in a text is to the contact that is judged. */
export type Relation = "own" | "rival" | "both" | "absent";

export const RELATIONS: Readonly<Record<Relation, Term>> = {
  own: term("own"),
  rival: term("rival"),
  both: term("both"),
  absent: term("absent"),
};
export const NONE = term("none");
export const MIXED = term("mixed");
/** Relations to the sentence before. */
export const PAST: Readonly<Record<Relation | "mixed", Term>> = {
  own: term("past-own"),
  rival: term("past-rival"),
  both: term("past-both"),
  absent: term("past-absent"),
  mixed: term("past-mixed"),
};

/** Something that a text says about its contacts, in order: a contact, a way, a cue, or the end of a clause. */
export type Item =
  | { what: "contact"; from: number; to: number; candidate: ContactCandidate }
  | { what: "way"; from: number; to: number; way: Way }
  /** A word that stands beside one contact and occurs again: "Mobile: Anna 0171 ...; Anna is never at home". */
  | { what: "echo"; from: number; to: number; candidate: ContactCandidate }
  | { what: "cue"; from: number; to: number; concept: Term };

export const isMention = (item: Item): boolean => item.what !== "cue";

/** Sentences from one before to two after a contact or a way may speak of contacts. */
const ZONE = [-1, 2] as const;

/** Words are compared by their first letters, so that "schreibt" and "schreiben" are one. */
const STEM_LENGTH = 5;
const stems = new WeakMap<Token, Term>();
export const stemOf = (token: Token): Term => {
  if (token.text.length <= STEM_LENGTH || token.kind === "digits") return termOf(token);
  const known = stems.get(token);
  if (known !== undefined) return known;
  const made = term(`${token.text.slice(0, STEM_LENGTH)}-`);
  stems.set(token, made);
  return made;
};

/** Words up to this distance name a contact: "Anna: 0171 ...", "0171 ... (office)". In tokens. */
const NAME_BEFORE = 4;
const NAME_AFTER = 4;
/** Shorter words name a contact only if they have a capital letter. */
const NAME_LENGTH = 4;

/** Words that name exactly one of the contacts, by their stem. */
const namesOf = (
  { tokens }: Scene,
  { isCandidate, cues, clauses }: Discourse,
  candidates: readonly ContactCandidate[],
): Map<string, ContactCandidate | null> => {
  const isCue = new Uint8Array(tokens.length);
  for (const { from, to } of cues) isCue.fill(1, from, to);
  const names = new Map<string, ContactCandidate | null>();
  for (const candidate of candidates) {
    const { from, to } = candidate;
    const note = (at: number): boolean => {
      const token = tokens[at];
      if (token === undefined || isCandidate[at] === 1 || clauses.sentence[at] !== clauses.sentence[from]) return false;
      if (token.kind !== "word" || (isCue[at] === 1 && !token.capital)) return true;
      if (token.text.length < NAME_LENGTH && !(token.capital && token.text.length > 1)) return true;
      const stem = stemOf(token).text;
      const known = names.get(stem);
      names.set(stem, known === undefined || known === candidate ? candidate : null);
      return true;
    };
    for (let at = from - 1; at >= from - NAME_BEFORE && at >= 0; at--) if (!note(at)) break;
    for (let at = to; at < to + NAME_AFTER; at++) if (!note(at)) break;
  }
  return names;
};

/** Concepts of words that refer to a contact by its place in the order: "the second one". */
const ORDINALS: Readonly<Record<string, number>> = { prefer_former: 0, prefer_second: 1 };

/** What the text says about its contacts; the same for every contact that is compared. */
export type Speech = { items: readonly Item[]; inZone: Uint8Array; reachable: readonly Reachable[] };

export const speechOf = (scene: Scene, discourse: Discourse, reachable: readonly Reachable[]): Speech => {
  const { cues, ways, clauses } = discourse;
  const candidates = [...new Set(reachable.map(({ candidate }) => candidate))];
  const items: Item[] = candidates.map((candidate) => ({
    what: "contact",
    from: candidate.from,
    to: candidate.to,
    candidate,
  }));
  const sentences = (clauses.sentence.at(-1) ?? 0) + 1;
  const inZone = new Uint8Array(sentences);
  const open = (at: number): void => {
    const sentence = clauses.sentence[at] ?? 0;
    for (let near = sentence + ZONE[0]; near <= sentence + ZONE[1]; near++)
      if (near >= 0 && near < sentences) inZone[near] = 1;
  };
  for (const { candidate } of reachable) open(candidate.from);
  cues.forEach((cue, at) => {
    const way = ways[at] ?? null;
    if (way !== null) open(cue.from);
  });
  const named = new Set(cues.filter((_, at) => ways[at] != null).map(({ from }) => from));
  cues.forEach((cue, at) => {
    // "Call" is a way and a request.
    if (ways[at] == null && named.has(cue.from) && cue.concept.text === "contact_request") return;
    if (inZone[clauses.sentence[cue.from] ?? 0] === 0) return;
    const way = ways[at] ?? null;
    if (way !== null) items.push({ what: "way", from: cue.from, to: cue.to, way });
    const ordered = candidates.length > 1 ? candidates[ORDINALS[cue.concept.text] ?? -1] : undefined;
    if (ordered !== undefined && cue.from > ordered.from)
      items.push({ what: "echo", from: cue.from, to: cue.to, candidate: ordered });
    else if (way === null) items.push({ what: "cue", from: cue.from, to: cue.to, concept: cue.concept });
  });
  if (candidates.length > 1) {
    const names = namesOf(scene, discourse, candidates);
    for (let at = 0; at < scene.tokens.length; at++) {
      const token = scene.tokens[at];
      if (token?.kind !== "word" || discourse.isCandidate[at] === 1 || inZone[clauses.sentence[at] ?? 0] === 0)
        continue;
      const candidate = names.get(stemOf(token).text);
      if (candidate == null) continue;
      // The name itself is no echo.
      if (at >= candidate.from - NAME_BEFORE && at < candidate.to + NAME_AFTER) continue;
      if (!items.some((item) => item.from === at)) items.push({ what: "echo", from: at, to: at + 1, candidate });
    }
  }
  items.sort((one, other) => one.from - other.from || other.to - one.to);
  return { items, inZone, reachable };
};
