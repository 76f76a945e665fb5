import type { ContactType } from "../../database/enums.ts";
import { type ContactCandidate, type ContactHints, findContacts } from "../find/contacts.ts";
import { digitsOf, isDateOrAmount, isNorthAmerican, isShapedLikePhone } from "../find/phones.ts";
import type { Cue } from "../text/cues.ts";
import { overlaps, quoteOf, type Span } from "../text/span.ts";
import type { Token } from "../text/tokens.ts";
import { type Clauses, clausesOf } from "./clauses.ts";
import { addContext, distance, type Scene, sentenceEnd, sentenceStart, termOf } from "./context.ts";
import { bucket, createFeatures, type Features, type Term, term } from "./features.ts";
import type { Judged, Ranked, Training } from "./learn.ts";
import type { Mark } from "./marks.ts";
import { chances, type Model } from "./model.ts";

/**
 * Judges the contacts of a text: which of the numbers, addresses and links that were found reach the author, how a number
 * may be used, and which contact the text prefers.
 */

/** The names of the models. */
export const CONTACT_MODELS = ["contact_role", "contact_type", "contact_preferred"] as const;
export type ContactModels = Readonly<Record<(typeof CONTACT_MODELS)[number], Model>>;

/** How the models are trained, by the results on held-out texts. */
export const CONTACT_TRAINING: Readonly<Record<(typeof CONTACT_MODELS)[number], Training>> = {
  contact_role: { passes: 12, rate: 0.05, leastExamples: 3, leastUnits: 1 },
  contact_type: { passes: 12, rate: 0.05 },
  contact_preferred: { passes: 12, rate: 0.04, leastExamples: 4, leastUnits: 1 },
};

/** Ways to reach somebody, as words name them. */
type Way = "call" | "sms" | "whatsapp" | "mail" | "link" | "written";

const WAY_OF_CUE: Readonly<Record<string, Way>> = {
  contact_call: "call",
  contact_sms: "sms",
  contact_whatsapp: "whatsapp",
  contact_mail: "mail",
  contact_link: "link",
  prefer_written: "written",
};

const WAYS_OF_TYPE: Readonly<Record<ContactType, readonly Way[]>> = {
  phone: ["call"],
  sms: ["sms", "written"],
  whatsapp: ["whatsapp", "written"],
  email: ["mail", "written"],
  url: ["link"],
};

const NEGATIONS: ReadonlySet<string> = new Set(["contact_not", "prefer_deny"]);

/** How many tokens after a negation the negated word may stand. */
const NEGATION_REACH = 4;

/** Words about contacts, and where a text speaks of which way. */
type Discourse = {
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

const isAboutContacts = ({ concept }: Cue): boolean =>
  concept.text.startsWith("contact_") || concept.text.startsWith("prefer_");

const discourseOf = (scene: Scene, candidates: readonly ContactCandidate[]): Discourse => {
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
  for (const cue of cues) {
    if (!NEGATIONS.has(cue.concept.text)) continue;
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

/** Longer values are no contacts: the longest link has so many characters. */
const LONGEST_VALUE = 2048;

/** A text with more possible contacts is a list of something. They are compared with each other, which takes time. */
const MOST_CANDIDATES = 40;

/** The candidates of a text without those inside orders to the reading software. */
const contactCandidates = (scene: Scene, hints: ContactHints, orders: readonly Span[] = []): ContactCandidate[] => {
  const all = findContacts(scene.text, scene.tokens, hints)
    .filter(({ value }) => value.length <= LONGEST_VALUE)
    .slice(0, MOST_CANDIDATES);
  return orders.length === 0 ? all : all.filter((one) => !orders.some((order) => overlaps(order, one)));
};

const T = {
  kind: term("kind"),
  shape: term("shape"),
  digits: term("digits"),
  groups: term("groups"),
  part: term("link-part"),
  partCue: term("link-cue"),
  place: term("place"),
  others: term("others"),
  same: term("same"),
  said: term("said"),
  clauseCue: term("clause-cue"),
  clauseBefore: term("clause-before"),
  clauseAfter: term("clause-after"),
  clauseWord: term("clause-word"),
  cuePair: term("cue-pair"),
  nextWord: term("next-word"),
  lastWord: term("last-word"),
  wayBefore: term("way-before"),
  wayAfter: term("way-after"),
  wayClause: term("way-clause"),
  waySentence: term("way-sentence"),
  wayText: term("way-text"),
  wayNext: term("way-next"),
  noWay: term("no-way"),
  line: term("line"),
  sentence: term("sentence"),
  label: term("label"),
} as const;

/** How near a label has to stand to name a number, in tokens: "serial no.: 23107 44 915". */
const LABEL_REACH = 5;
/** A number that is called something else is believed to be that sooner than other cues are believed. */
const LABEL = 3;

const B = (value: string | number): Term => bucket(value);

const NEGATED: Readonly<Record<Way, Term>> = {
  call: term("not-call"),
  sms: term("not-sms"),
  whatsapp: term("not-whatsapp"),
  mail: term("not-mail"),
  link: term("not-link"),
  written: term("not-written"),
};
const SAID: Readonly<Record<Way, Term>> = {
  call: term("call"),
  sms: term("sms"),
  whatsapp: term("whatsapp"),
  mail: term("mail"),
  link: term("link"),
  written: term("written"),
};

/** How many candidates are counted. */
const COUNTED = 3;
const count = (value: number): number => Math.min(value, COUNTED);

/** Words of the host and of the path of a link that are features. */
const MOST_PARTS = 12;

const addShape = (features: Features, { tokens }: Scene, candidate: ContactCandidate): void => {
  const { kind, run, from, to } = candidate;
  features.add(T.kind, B(kind), B(candidate.disguised ? "disguised" : "plain"));
  if (run !== null) {
    const digits = digitsOf(run);
    const lead = run.international ? "+" : digits.startsWith("00") ? "00" : digits.startsWith("0") ? "0" : "1-9";
    const state = candidate.valid ? "valid" : candidate.dialled ? "possible" : "undialled";
    features.add(T.digits, B(digits.length), B(lead));
    features.add(T.shape, B(state), B(lead));
    features.add(T.shape, B(isShapedLikePhone(run) ? "shaped" : "unshaped"), B(state));
    features.add(T.groups, B(run.groups.map((group) => Math.min(group.digits.length, 6)).join("-")));
    features.add(T.shape, B(run.groups.length === 1 ? "one-group" : "groups"), B(`${state}${lead}`));
    if (isNorthAmerican(run)) features.add(T.shape, B("north-american"));
    if (isDateOrAmount(tokens, run)) features.add(T.shape, B("date-or-amount"));
    const joint = tokens[(run.groups[1]?.at ?? 0) - 1];
    if (run.groups.length > 1 && joint?.kind === "mark") features.add(T.shape, B("joint"), termOf(joint));
    if (run.groups.length > 1 && joint?.kind === "digits") features.add(T.shape, B("spaced"));
  } else {
    let parts = 0;
    for (let at = from; at < to && parts < MOST_PARTS; at++) {
      const token = tokens[at];
      if (token?.kind !== "word") continue;
      features.add(T.part, B(kind), termOf(token));
      parts++;
    }
    if (kind === "url") features.add(T.shape, B(/[^/:]\/[^/]/u.test(candidate.value) ? "path" : "host"));
  }
};

const addPlace = (features: Features, scene: Scene, candidates: readonly ContactCandidate[], index: number): void => {
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const { tokens } = scene;
  const { from, to, kind } = candidate;
  const alike = candidates.filter((one) => one.kind === kind);
  const position = alike.indexOf(candidate);
  const state = B(kind);
  features.add(T.place, state, B(`${count(position)}of${count(alike.length)}`));
  features.add(T.others, state, B(`${count(index)}of${count(candidates.length)}`));
  for (const other of ["email", "url", "number"] as const) {
    const many = candidates.filter((one) => one.kind === other && one !== candidate).length;
    features.add(T.others, state, B(`${other}${count(many)}`));
  }
  if (candidates.length === 1) features.add(T.others, state, B("alone"));
  if (candidates.some((one, at) => at < index && one.value === candidate.value)) features.add(T.same, state);
  const first = sentenceStart(tokens, from);
  const last = sentenceEnd(tokens, Math.max(from, to - 1));
  features.add(T.sentence, state, B(from === first ? "opens" : "within"));
  const ends = to >= last - (tokens[last - 1]?.kind === "mark" ? 1 : 0);
  features.add(T.sentence, state, B(ends ? "closes" : "goes-on"));
  const lineEnds = tokens[to] === undefined || tokens[to]?.gap === "line";
  features.add(T.line, B(tokens[from]?.gap === "line" ? "starts" : "in"), B(lineEnds ? "ends" : "goes-on"));
  let depth = 0;
  for (let at = first; at < from; at++) depth += tokens[at]?.text === "(" ? 1 : tokens[at]?.text === ")" ? -1 : 0;
  if (depth > 0) features.add(T.place, B("bracket"), state);
};

/** Adds which cues and words stand in the clause of a candidate, and which ways are named near it. */
const addDiscourse = (
  features: Features,
  scene: Scene,
  discourse: Discourse,
  candidates: readonly ContactCandidate[],
  index: number,
): void => {
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const { tokens } = scene;
  const { clauses, cues, ways, isNegated } = discourse;
  const { from, to, kind } = candidate;
  const clause = clauses.clause[from] ?? 0;
  const sentence = clauses.sentence[from] ?? 0;
  let before: Term | null = null;
  let after: Term | null = null;
  let beforeGap = 0;
  let named = false;
  const inClause: Term[] = [];
  cues.forEach((cue, at) => {
    const inSentence = (clauses.sentence[cue.from] ?? -1) - sentence;
    const way = ways[at] ?? null;
    if (way !== null) {
      const said = isNegated[cue.from] === 1 ? NEGATED[way] : SAID[way];
      features.add(T.wayText, said, B(kind));
      if (inSentence === 0) {
        named = true;
        features.add(T.waySentence, said);
        if (cue.to <= from) {
          before = said;
          beforeGap = from - cue.to;
        } else after ??= said;
      } else if (inSentence === 1) features.add(T.wayNext, said);
      if (clauses.clause[cue.from] === clause) features.add(T.wayClause, said);
    }
    if (clauses.clause[cue.from] !== clause) return;
    inClause.push(cue.concept);
    features.add(cue.to <= from ? T.clauseBefore : T.clauseAfter, cue.concept);
    features.add(T.clauseCue, cue.concept, B(kind));
  });
  for (let one = 0; one < inClause.length && one < 8; one++)
    for (let other = one + 1; other < inClause.length && other < 8; other++)
      features.add(T.cuePair, inClause[one] as Term, inClause[other] as Term);
  // What the number is called: "serial no. 23107 44 915", "tel. no. 0171 ...".
  const label = cues.findLast(
    (cue) => cue.to <= from && from - cue.to <= LABEL_REACH && cue.concept.text === "contact_label",
  );
  if (label !== undefined && clauses.sentence[label.from] === sentence) {
    const way = cues.some((cue, at) => ways[at] != null && cue.to <= from && cue.from >= label.from - 1);
    features.add(T.label, B(kind), B(way ? "of-way" : "of-thing"), LABEL);
  }
  if (before !== null) {
    features.add(T.wayBefore, before);
    features.add(T.wayBefore, before, distance(beforeGap));
  }
  if (after !== null) features.add(T.wayAfter, after);
  if (before !== null && after !== null) features.add(T.wayAfter, before, after);
  if (!named) features.add(T.noWay, B(kind));
  // Words of the clause, also beyond the reach of the words next to the candidate.
  for (let at = from - 1; at >= 0 && clauses.clause[at] === clause; at--)
    if (tokens[at]?.kind === "word") features.add(T.clauseWord, termOf(tokens[at] as (typeof tokens)[number]));
  for (let at = to; at < tokens.length && clauses.clause[at] === clause; at++)
    if (tokens[at]?.kind === "word") features.add(T.clauseWord, termOf(tokens[at] as (typeof tokens)[number]));
  // Words of the next sentence, if it has no candidate: "0171 ... That number is dead."
  const last = sentenceEnd(tokens, Math.max(from, to - 1));
  const lastNext = last < tokens.length ? sentenceEnd(tokens, last) : last;
  const isFree = !candidates.some((one) => one.from >= to && one.from < lastNext);
  if (isFree)
    for (let at = last; at < Math.min(lastNext, last + 12); at++)
      if (tokens[at]?.kind === "word") features.add(T.nextWord, termOf(tokens[at] as (typeof tokens)[number]));
};

/** Adds the features from which the role and the types of the candidate at `index` are judged. */
const addContactFeatures = (
  features: Features,
  scene: Scene,
  discourse: Discourse,
  candidates: readonly ContactCandidate[],
  index: number,
): void => {
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const near = { ...scene, cues: discourse.cues };
  addContext(features, near, candidate, candidates[index - 1], candidates[index + 1]);
  addShape(features, scene, candidate);
  addPlace(features, scene, candidates, index);
  addDiscourse(features, scene, discourse, candidates, index);
  features.unite();
};

/** The types of contact that a number can be. */
type NumberType = "phone" | "sms" | "whatsapp";
const NUMBER_TYPES: readonly NumberType[] = ["phone", "sms", "whatsapp"];

const WAY_OF_TYPE: Readonly<Record<NumberType, Way>> = { phone: "call", sms: "sms", whatsapp: "whatsapp" };

/**
 * True if the text names the way of a type at all. A number is for calls unless something is said, but it takes messages
 * only if the text speaks of messages.
 */
const isPossible = (type: NumberType, { ways }: Discourse): boolean =>
  type === "phone" || ways.includes(WAY_OF_TYPE[type]) || (type === "sms" && ways.includes("written"));

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
const addTypeFeatures = (
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
  const kind = B(type);
  const numbers = candidates.filter((one) => one.kind === "number").length;
  features.add(U.type, kind, B(count(numbers)));
  const scopes = new Set<string>();
  let left: Term | null = null;
  let right: Term | null = null;
  cues.forEach((cue, at) => {
    const way = ways[at] ?? null;
    if (way === null) return;
    const who =
      way === WAY_OF_TYPE[type]
        ? "own"
        : way === "written"
          ? "written"
          : way === "mail" || way === "link"
            ? "away"
            : "other";
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
    features.add(U.attached, B(`${relation}-${scope}`), B(attached ? "mine" : "theirs"));
    if (cue.to <= from && apart === 0) left = B(relation);
    if (cue.from >= to && apart === 0) right ??= B(relation);
    if (who === "away") return;
    const mine = B(attached ? relation : `${relation}-theirs`);
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
      features.add(U.near, B(relation), cue.to <= from ? distance(from - cue.to) : distance(cue.from - to));
  });
  for (const scope of scopes) {
    features.add(U.named, B(scope));
    features.add(U.named, B(scope), kind);
  }
  const has = (name: string): boolean => scopes.has(name);
  const near = ["clause", "sentence", "next", "attached"].some((scope) => has(`own-${scope}`));
  const others = ["clause", "sentence", "next", "attached"].some((scope) => has(`other-${scope}`));
  features.add(U.silent, kind, B(`${near ? "own" : "-"}${others ? "other" : "-"}`));
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

/** A candidate that reaches the author in one way. A number that takes calls and messages is two contacts. */
type Reachable = { candidate: ContactCandidate; type: ContactType };

/** What a word or candidate in a text is to the contact that is judged. */
type Relation = "own" | "rival" | "both" | "absent";

const RELATIONS: Readonly<Record<Relation, Term>> = {
  own: term("own"),
  rival: term("rival"),
  both: term("both"),
  absent: term("absent"),
};
const NONE = term("none");
const MIXED = term("mixed");
/** Relations to the sentence before. */
const PAST: Readonly<Record<Relation | "mixed", Term>> = {
  own: term("past-own"),
  rival: term("past-rival"),
  both: term("past-both"),
  absent: term("past-absent"),
  mixed: term("past-mixed"),
};

/** Something that a text says about its contacts, in order: a contact, a way, a cue, or the end of a clause. */
type Item =
  | { what: "contact"; from: number; to: number; candidate: ContactCandidate }
  | { what: "way"; from: number; to: number; way: Way }
  /** A word that stands beside one contact and occurs again: "Mobile: Anna 0171 ...; Anna is never at home". */
  | { what: "echo"; from: number; to: number; candidate: ContactCandidate }
  | { what: "cue"; from: number; to: number; concept: Term };

const isMention = (item: Item): boolean => item.what !== "cue";

/** Sentences from one before to two after a contact or a way may speak of contacts. */
const ZONE = [-1, 2] as const;

/** Words are compared by their first letters, so that "schreibt" and "schreiben" are one. */
const STEM_LENGTH = 5;
const stems = new WeakMap<Token, Term>();
const stemOf = (token: Token): Term => {
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
type Speech = { items: readonly Item[]; inZone: Uint8Array; reachable: readonly Reachable[] };

const speechOf = (scene: Scene, discourse: Discourse, reachable: readonly Reachable[]): Speech => {
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

const P = {
  stemIn: term("stem-in-sentence"),
  cueIn: term("cue-in-sentence"),
  cuePair: term("cue-pair"),
  ways: term("ways"),
  against: term("against"),
  only: term("only"),
  order: term("order"),
  cue: term("cue"),
  near: term("near"),
  nearNegated: term("near-not"),
  before: term("cue-after-mention"),
  after: term("cue-before-mention"),
  beforeClause: term("cue-after-mention-in-clause"),
  afterClause: term("cue-before-mention-in-clause"),
  between: term("between"),
  wordIn: term("word-in-clause"),
  wordBefore: term("word-before"),
  wordAfter: term("word-after"),
  next: term("mention-next"),
  previous: term("mention-previous"),
  negated: term("negated"),
  said: term("said"),
  text: term("text-cue"),
  chain: term("chain"),
  aside: term("aside"),
} as const;

/** Pairs of a relation and something else as one term, made once. */
const pairs = new Map<string, Map<string, Term>>();
const pairOf = (one: string, other: string): Term => {
  const known = pairs.get(one);
  const pair = known?.get(other);
  if (pair !== undefined) return pair;
  const made = term(`${one}>${other}`);
  if (known === undefined) pairs.set(one, new Map([[other, made]]));
  else known.set(other, made);
  return made;
};

/** Longest aside in brackets that says something about the contact beside it, in tokens. */
const ASIDE_LENGTH = 12;

/** The tokens before and after the brackets around tokens `from` to `to`; null if there are none. */
const asideOf = (
  tokens: readonly Token[],
  from: number,
  to: number,
): { before: number; after: number; alone: boolean } | null => {
  for (let open = from - 1; open >= 0 && from - open < ASIDE_LENGTH && !tokens[open + 1]?.opens; open--) {
    if (tokens[open]?.text === ")") return null;
    if (tokens[open]?.text !== "(") continue;
    for (let close = to; close < tokens.length && close - to < ASIDE_LENGTH; close++) {
      if (tokens[close]?.text === "(") return null;
      if (tokens[close]?.text === ")") return { before: open, after: close + 1, alone: close - open <= to - from + 2 };
    }
  }
  return null;
};

/**
 * The value of a feature says how soon it is believed: a cue, of which there are many examples, sooner than a single word.
 */
const CUE = 1;
const LEXICAL = 0.4;
const NEIGHBOUR = 0.7;

/** Adds the features from which it is judged whether the contact at `index` is the preferred one. */
const addPreferenceFeatures = (
  features: Features,
  scene: Scene,
  discourse: Discourse,
  { items, inZone, reachable }: Speech,
  index: number,
): void => {
  const own = reachable[index];
  if (own === undefined) return;
  const { tokens } = scene;
  const { clauses, isNegated } = discourse;
  const { candidate } = own;
  const ownWays = WAYS_OF_TYPE[own.type];
  const rivalWays = new Set(reachable.flatMap((one, at) => (at === index ? [] : WAYS_OF_TYPE[one.type])));
  const isShared = reachable.some((one) => one !== own && one.candidate === candidate);
  const relationOf = (item: Item): Relation => {
    if (item.what === "contact" || item.what === "echo")
      return item.candidate !== candidate ? "rival" : isShared ? "both" : "own";
    if (item.what === "cue") return "absent";
    const mine = ownWays.includes(item.way);
    const theirs = rivalWays.has(item.way);
    return mine ? (theirs ? "both" : "own") : theirs ? "rival" : "absent";
  };
  const single = reachable.length === 1;
  const field = B(single ? "single" : "several");
  const ownType = B(own.type);
  features.add(P.ways, ownType, field);
  if (!single) {
    features.add(P.order, B(`${count(index)}of${count(reachable.length)}`));
    for (const other of reachable)
      if (other !== own)
        features.add(P.against, ownType, B(other.candidate === candidate ? `same-${other.type}` : other.type));
  }

  const relations = items.map(relationOf);
  /** The relation of the contact of which token `at` is a part. */
  const relationAt = (at: number): Relation | null => {
    if (discourse.isCandidate[at] !== 1) return null;
    const found = items.findIndex((item) => item.what === "contact" && item.from <= at && at < item.to);
    return found < 0 ? null : (relations[found] ?? null);
  };
  const clauseOf = (item: Item): number => clauses.clause[item.from] ?? 0;
  const sentenceOf = (item: Item): number => clauses.sentence[item.from] ?? 0;
  let lastMention = -1;
  const nextMention = new Int32Array(items.length).fill(-1);
  for (let at = items.length - 1, next = -1; at >= 0; at--) {
    nextMention[at] = next;
    if (isMention(items[at] as Item)) next = at;
  }
  let chained: Term | null = null;
  let chainedSentence = -1;
  items.forEach((item, at) => {
    const relation = relations[at] as Relation;
    if (item.what !== "cue") {
      const name = RELATIONS[relation];
      const said = isNegated[item.from] === 1;
      features.add(P.said, name, B(item.what));
      if (said) features.add(P.negated, name, field);
      // The words next to a contact or a way.
      const clause = clauseOf(item);
      for (let back = 1; back <= 2; back++) {
        const token = tokens[item.from - back];
        if (token === undefined || clauses.sentence[item.from - back] !== sentenceOf(item)) break;
        if (discourse.isCandidate[item.from - back] === 0)
          features.add(P.previous, pairOf(relation, `${back}`), termOf(token), NEIGHBOUR);
      }
      for (let ahead = 0; ahead < 3; ahead++) {
        const token = tokens[item.to + ahead];
        if (token === undefined || clauses.sentence[item.to + ahead] !== sentenceOf(item)) break;
        if (discourse.isCandidate[item.to + ahead] === 0)
          features.add(P.next, pairOf(relation, `${ahead}`), termOf(token), NEIGHBOUR);
      }
      // All words of its clause.
      for (let near = item.from - 1; near >= 0 && clauses.clause[near] === clause; near--) {
        const token = tokens[near];
        if (token?.kind !== "word" || discourse.isCandidate[near] === 1) continue;
        features.add(P.wordBefore, name, stemOf(token), LEXICAL);
        features.add(P.wordIn, name, stemOf(token), LEXICAL);
      }
      for (let near = item.to; near < tokens.length && clauses.clause[near] === clause; near++) {
        const token = tokens[near];
        if (token?.kind !== "word" || discourse.isCandidate[near] === 1) continue;
        features.add(P.wordAfter, name, stemOf(token), LEXICAL);
        features.add(P.wordIn, name, stemOf(token), LEXICAL);
      }
      if (chained !== null) features.add(P.chain, chained, name);
      chained = name;
      chainedSentence = sentenceOf(item);
      lastMention = at;
      return;
    }
    const { concept } = item;
    const clause = clauseOf(item);
    const sentence = sentenceOf(item);
    const not = isNegated[item.from] === 1;
    const before = items[lastMention];
    const after = items[nextMention[at] ?? -1];
    const beforeRelation = before === undefined ? null : (relations[lastMention] as Relation);
    const afterRelation = after === undefined ? null : (relations[nextMention[at] ?? -1] as Relation);
    const beforeIn = before !== undefined && clauseOf(before) === clause;
    const afterIn = after !== undefined && clauseOf(after) === clause;
    const beforeSentence = before !== undefined && sentenceOf(before) === sentence;
    const afterSentence = after !== undefined && sentenceOf(after) === sentence;
    features.add(P.text, concept, field);
    features.add(P.text, concept, ownType);
    const concepts = not ? pairOf("not", concept.text) : concept;
    const scopeB = beforeIn ? "clause" : beforeSentence ? "sentence" : "text";
    const scopeA = afterIn ? "clause" : afterSentence ? "sentence" : "text";
    if (beforeRelation !== null) features.add(P.before, pairOf(beforeRelation, scopeB), concepts, CUE);
    if (afterRelation !== null) features.add(P.after, pairOf(afterRelation, scopeA), concepts, CUE);
    features.add(
      P.between,
      pairOf(
        beforeRelation === null || !beforeSentence ? "-" : beforeRelation + scopeB,
        afterRelation === null || !afterSentence ? "-" : afterRelation + scopeA,
      ),
      concepts,
      CUE,
    );
    // The nearest mention: in the clause first, then in the sentence, then the one before.
    const gapBefore = before === undefined ? 99 : item.from - before.to;
    const gapAfter = after === undefined ? 99 : after.from - item.to;
    const nearest =
      beforeIn !== afterIn
        ? beforeIn
          ? beforeRelation
          : afterRelation
        : beforeSentence !== afterSentence
          ? beforeSentence
            ? beforeRelation
            : afterRelation
          : gapBefore <= gapAfter
            ? beforeRelation
            : afterRelation;
    features.add(not ? P.nearNegated : P.near, nearest === null ? NONE : RELATIONS[nearest], concept, CUE);
    // "jo@example.org (preferred)", "or (our favourite) 0171 ..."
    const side = asideOf(tokens, item.from, item.to);
    if (side !== null) {
      const left = relationAt(side.before - 1);
      const right = relationAt(side.after);
      features.add(P.aside, pairOf(left ?? "-", right ?? "-"), concepts, CUE);
      features.add(P.aside, pairOf(left ?? "-", right ?? "-"), side.alone ? B("alone") : NONE, CUE);
    }
    if (chained !== null) {
      const link = chainedSentence === sentence ? chained : pairOf("past", chained.text);
      features.add(P.chain, link, concepts, CUE);
    }
  });
  // The words and cues of whole sentences that speak of this contact alone, or of others alone.
  const spoken = new Map<number, Relation | "mixed">();
  items.forEach((item, at) => {
    if (item.what === "cue") return;
    const relation = relations[at] as Relation;
    if (relation === "absent") return;
    const said = spoken.get(sentenceOf(item));
    spoken.set(sentenceOf(item), said === undefined || said === relation ? relation : "mixed");
  });
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token?.kind !== "word" || discourse.isCandidate[at] === 1) continue;
    const sentence = clauses.sentence[at] ?? 0;
    const relation = spoken.get(sentence);
    if (relation !== undefined && relation !== "mixed")
      features.add(P.stemIn, RELATIONS[relation], stemOf(token), LEXICAL);
    else if (relation === undefined && inZone[sentence] === 1) {
      const past = spoken.get(sentence - 1);
      if (past !== undefined) features.add(P.stemIn, PAST[past], stemOf(token), LEXICAL);
    }
  }
  let lastCue: Item | null = null;
  for (const item of items) {
    if (item.what !== "cue") continue;
    const sentence = sentenceOf(item);
    const relation = spoken.get(sentence);
    const past = relation === undefined ? spoken.get(sentence - 1) : undefined;
    const where =
      relation !== undefined
        ? relation === "mixed"
          ? MIXED
          : RELATIONS[relation]
        : past === undefined
          ? NONE
          : PAST[past];
    features.add(P.cueIn, where, item.concept, CUE);
    if (lastCue !== null && lastCue.what === "cue" && sentenceOf(lastCue) === sentence && lastCue.from !== item.from)
      features.add(P.cuePair, where, pairOf(lastCue.concept.text, item.concept.text));
    lastCue = item;
  }
  if (single) features.add(P.only, ownType);
  features.unite();
};

const ROLES: ReadonlySet<string> = new Set(["contact", "refused", "other"]);

/** What a labelled text teaches about contacts. */
export type ContactLesson = { contact_role: Judged[]; contact_type: Judged[]; contact_preferred: Ranked[] };

/** What a labelled text teaches about contacts. */
export const learnContacts = (scene: Scene, marks: readonly Mark[], hints: ContactHints): ContactLesson => {
  const orders = marks.filter(({ role }) => role === "order");
  const candidates = contactCandidates(scene, hints, orders);
  const discourse = discourseOf(scene, candidates);
  const lesson: ContactLesson = { contact_role: [], contact_type: [], contact_preferred: [] };
  const reachable: Reachable[] = [];
  let right = -1;
  candidates.forEach((candidate, index) => {
    const mark = marks.find((one) => ROLES.has(one.role) && overlaps(one, candidate));
    const features = createFeatures(true);
    addContactFeatures(features, scene, discourse, candidates, index);
    lesson.contact_role.push({ features, name: mark?.role ?? "none" });
    if (mark?.role !== "contact") return;
    const types = (mark.args[0] ?? "").split(",") as ContactType[];
    if (mark.args.includes("preferred")) right = reachable.length;
    if (candidate.kind !== "number") {
      reachable.push({ candidate, type: types[0] ?? "email" });
      return;
    }
    // A label that says more than its text teaches nothing.
    const isTold = types.every(
      (type) => (NUMBER_TYPES as readonly string[]).includes(type) && isPossible(type as NumberType, discourse),
    );
    for (const type of NUMBER_TYPES) {
      if (!isTold || !isPossible(type, discourse)) continue;
      const told = createFeatures(true);
      addTypeFeatures(told, scene, discourse, candidates, index, type);
      lesson.contact_type.push({ features: told, name: types.includes(type) ? "yes" : "no" });
    }
    for (const type of types) reachable.push({ candidate, type });
    // "WhatsApp rather than calls: 0171 ..." also teaches which of two ways of one number is meant.
    if (right >= 0 && mark.args.includes("preferred"))
      for (const type of NUMBER_TYPES)
        if (!types.includes(type) && discourse.ways.includes(WAY_OF_TYPE[type]) && types.length === 1)
          reachable.push({ candidate, type });
  });
  if (reachable.length > 0) {
    const speech = speechOf(scene, discourse, reachable);
    const compared = reachable.map((_, index) => {
      const features = createFeatures(true);
      addPreferenceFeatures(features, scene, discourse, speech, index);
      return features;
    });
    lesson.contact_preferred.push({ candidates: compared, right });
  }
  return lesson;
};

/** A contact that reaches the author. */
export type ContactRead = {
  type: ContactType;
  value: string;
  preferred: boolean;
  quote: string;
  span: Span;
  confidence: number;
};

/** How many contacts an extraction may hold. */
const MAX_CONTACTS = 10;

/**
 * A candidate of lower probability is no contact. Chosen on held-out texts such that texts without a contact are refused
 * and few others are.
 */
const LEAST_CONTACT = 0.5;

/** A contact of lower probability is not preferred. Chosen on held-out texts, as above. */
const LEAST_PREFERRED = 0.27;

/** A number is of a type from this probability on. */
const LEAST_TYPE = 0.5;

const typesOf = (
  scene: Scene,
  discourse: Discourse,
  candidates: readonly ContactCandidate[],
  index: number,
  model: Model,
): ContactType[] => {
  const kind = candidates[index]?.kind ?? "number";
  if (kind !== "number") return [kind];
  const yes = model.classes.indexOf("yes");
  const features = createFeatures(false);
  let likeliest: NumberType = "phone";
  let most = 0;
  const types = NUMBER_TYPES.filter((type) => {
    if (!isPossible(type, discourse)) return false;
    features.clear();
    addTypeFeatures(features, scene, discourse, candidates, index, type);
    const probability = model.probabilities(features)[yes] ?? 0;
    if (probability > most) {
      most = probability;
      likeliest = type;
    }
    return probability >= LEAST_TYPE;
  });
  return types.length > 0 ? types : [likeliest];
};

/** The index of the contact that a text prefers; -1 if it prefers none. */
const preferredAmong = (scene: Scene, discourse: Discourse, reachable: readonly Reachable[], model: Model): number => {
  const speech = speechOf(scene, discourse, reachable);
  const features = createFeatures(false);
  const probabilities = chances(
    reachable.map((_, index) => {
      features.clear();
      addPreferenceFeatures(features, scene, discourse, speech, index);
      return model.score(features);
    }),
  );
  let best = 0;
  reachable.forEach((_, index) => {
    if ((probabilities[index] ?? 0) > (probabilities[best] ?? 0)) best = index;
  });
  return (probabilities[best] ?? 0) < LEAST_PREFERRED ? -1 : best;
};

/** The contacts of a text that reach the author, in order, at most ten. At most one is preferred. */
export const readContacts = (
  scene: Scene,
  models: ContactModels,
  hints: ContactHints,
  orders: readonly Span[] = [],
): ContactRead[] => {
  const candidates = contactCandidates(scene, hints, orders);
  if (candidates.length === 0) return [];
  const discourse = discourseOf(scene, candidates);
  const features = createFeatures(false);
  const contact = models.contact_role.classes.indexOf("contact");
  const found: (Reachable & { confidence: number })[] = [];
  candidates.forEach((candidate, index) => {
    if (found.length >= MAX_CONTACTS) return;
    features.clear();
    addContactFeatures(features, scene, discourse, candidates, index);
    const confidence = models.contact_role.probabilities(features)[contact] ?? 0;
    if (confidence < LEAST_CONTACT) return;
    for (const type of typesOf(scene, discourse, candidates, index, models.contact_type)) {
      const isSaid = found.some((one) => one.type === type && one.candidate.value === candidate.value);
      if (!isSaid && found.length < MAX_CONTACTS) found.push({ candidate, type, confidence });
    }
  });
  if (found.length === 0) return [];
  // One contact is not preferred to any other.
  const preferred = found.length < 2 ? -1 : preferredAmong(scene, discourse, found, models.contact_preferred);
  return found.map(({ candidate, type, confidence }, index) => ({
    type,
    value: candidate.value,
    preferred: index === preferred,
    quote: quoteOf(scene.text, candidate),
    span: { start: candidate.start, end: candidate.end },
    confidence,
  }));
};
