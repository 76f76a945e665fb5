import type { ContactCandidate } from "../propose/contacts.ts";
import { digitsOf, isNorthAmerican, isShapedLikePhone } from "../propose/phones.ts";
import type { Cue } from "../text/cues.ts";
import { addWays, count, type Discourse, isNegation, type Way } from "./contact_discourse.ts";
import { addContext, type Scene, sentenceEnd, termOf } from "./context.ts";
import { bucket, type Features, type Term, term } from "./features.ts";

/** The features of a candidate: from them it is judged whether it reaches the author, somebody else or nobody. */

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
  label: term("label"),
  negated: term("negated"),
} as const;

/** How near a label has to stand to name a number, in tokens: "serial no.: 23107 44 915". */
const LABEL_REACH = 5;
/** A number that is called something else is believed to be that sooner than other cues are believed. */
const LABEL = 6;

/** A contact that is negated, or the way to it, is believed to be refused sooner than other words are believed. */
const NEGATED = 12;

/** Words of the next sentence that are features. */
const NEXT_WORDS = 12;

/** Words of the host and of the path of a link that are features. */
const MAX_PARTS = 12;

/** The ways that lead to a candidate of a kind. */
const WAYS_OF_KIND: Readonly<Record<ContactCandidate["kind"], readonly Way[]>> = {
  email: ["mail", "written"],
  url: ["link"],
  number: ["call", "sms", "whatsapp", "written"],
  whatsapp: ["whatsapp", "written"],
};

const addShape = (features: Features, { tokens }: Scene, candidate: ContactCandidate): void => {
  const { kind, run, from, to } = candidate;
  features.add(T.kind, bucket(kind), bucket(candidate.disguised ? "disguised" : "plain"));
  if (run !== null) {
    const digits = digitsOf(run);
    const lead = run.international ? "+" : digits.startsWith("00") ? "00" : digits.startsWith("0") ? "0" : "1-9";
    const state = candidate.valid ? "valid" : candidate.dialled ? "possible" : "undialled";
    features.add(T.digits, bucket(digits.length), bucket(lead));
    features.add(T.shape, bucket(state), bucket(lead));
    features.add(T.shape, bucket(isShapedLikePhone(run) ? "shaped" : "unshaped"), bucket(state));
    features.add(T.groups, bucket(run.groups.map((group) => Math.min(group.digits.length, 6)).join("-")));
    features.add(T.shape, bucket(run.groups.length === 1 ? "one-group" : "groups"), bucket(`${state}${lead}`));
    if (isNorthAmerican(run)) features.add(T.shape, bucket("north-american"));
    const { joint } = candidate;
    if (joint?.kind === "mark") features.add(T.shape, bucket("joint"), termOf(joint));
    if (joint?.kind === "digits") features.add(T.shape, bucket("spaced"));
  } else {
    let parts = 0;
    for (let at = from; at < to && parts < MAX_PARTS; at++) {
      const token = tokens[at];
      if (token?.kind !== "word") continue;
      features.add(T.part, bucket(kind), termOf(token));
      parts++;
    }
    if (kind === "url") features.add(T.shape, bucket(/[^/:]\/[^/]/u.test(candidate.value) ? "path" : "host"));
  }
};

const addRivals = (features: Features, candidates: readonly ContactCandidate[], index: number): void => {
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const { kind } = candidate;
  const alike = candidates.filter((one) => one.kind === kind);
  const position = alike.indexOf(candidate);
  const state = bucket(kind);
  features.add(T.place, state, bucket(`${count(position)}of${count(alike.length)}`));
  features.add(T.others, state, bucket(`${count(index)}of${count(candidates.length)}`));
  for (const other of ["email", "url", "number"] as const) {
    const many = candidates.filter((one) => one.kind === other && one !== candidate).length;
    features.add(T.others, state, bucket(`${other}${count(many)}`));
  }
  if (candidates.length === 1) features.add(T.others, state, bucket("alone"));
  if (candidates.some((one, at) => at < index && one.value === candidate.value)) features.add(T.same, state);
};

/** How many tokens may stand between a negation, or a negated way, and a contact: "nicht mehr unter der 0171 234567". */
const DENIAL_REACH = 3;

/**
 * What a text denies of a candidate: the contact itself ("not 0171 234567", "ring inte 070-174 06 10") or the way to it
 * ("no e-mail to jo@example.org"); null if nothing. Another way may be kept ("no calls, texts to ..."), and only a time
 * denied ("no calls after nine: ...").
 */
const denialOf = (
  { tokens }: Scene,
  { cues, ways, clauses: { clause, sentence }, isCandidate, isNegated }: Discourse,
  candidates: readonly ContactCandidate[],
  { from, kind }: ContactCandidate,
): string | null => {
  const isBefore = (cue: Cue): boolean => cue.to <= from && clause[cue.from] === clause[from];
  const isOwn = (at: number): boolean => ways[at] != null && WAYS_OF_KIND[kind].includes(ways[at]);
  const last = cues.findLastIndex((cue, at) => ways[at] != null && isBefore(cue));
  const way = cues[last];
  const isWayDenied = way !== undefined && isOwn(last) && isNegated[way.from] === 1 && from - way.to <= DENIAL_REACH;
  const negation = cues.findLast((cue) => isNegation(cue) && isBefore(cue));
  const isItself =
    negation !== undefined &&
    isNegated[from] === 1 &&
    from - negation.to < DENIAL_REACH &&
    (way === undefined || way.to <= negation.from) &&
    // "No 11 96000-2211" is Portuguese for "on that number".
    !(negation.to === from && tokens[negation.from]?.text === "no");
  const start = negation?.to ?? from;
  const isTimed =
    tokens.slice(start, from).some(({ kind }, at) => kind === "digits" && isCandidate[start + at] === 0) ||
    cues.some((cue) => cue.concept.text === "contact_time" && clause[cue.from] === clause[from]);
  if ((!isWayDenied && !isItself) || isTimed) return null;
  const hasMail = candidates.some((one) => one.kind === "email" && sentence[one.from] === sentence[from]);
  const isKept = cues.some(
    (cue, at) =>
      isOwn(at) &&
      cue.to <= from &&
      sentence[cue.from] === sentence[from] &&
      isNegated[cue.from] === 0 &&
      !(isItself && at === last) &&
      !(ways[at] === "written" && hasMail),
  );
  return `${isWayDenied ? "way" : "itself"}${isKept ? "-kept" : ""}`;
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
  const { clauses, cues, ways } = discourse;
  const { from, to, kind } = candidate;
  const clause = clauses.clause[from] ?? 0;
  const inClause: Term[] = [];
  addWays(features, discourse, candidates, candidate, (way) => way, bucket(kind));
  const denial = denialOf(scene, discourse, candidates, candidate);
  if (denial !== null) {
    features.add(T.negated, bucket(kind), bucket(denial), NEGATED);
    features.add(T.negated, bucket(denial), undefined, NEGATED);
  }
  for (const cue of cues) {
    if (clauses.clause[cue.from] !== clause) continue;
    inClause.push(cue.concept);
    features.add(cue.to <= from ? T.clauseBefore : T.clauseAfter, cue.concept);
    features.add(T.clauseCue, cue.concept, bucket(kind));
  }
  for (let one = 0; one < inClause.length && one < 8; one++)
    for (let other = one + 1; other < inClause.length && other < 8; other++)
      features.add(T.cuePair, inClause[one] as Term, inClause[other] as Term);
  // What the number is called: "serial no. 23107 44 915", "tel. no. 0171 ...".
  const label = cues.findLast(
    (cue) => cue.to <= from && from - cue.to <= LABEL_REACH && cue.concept.text === "contact_label",
  );
  if (label !== undefined && clauses.sentence[label.from] === clauses.sentence[from]) {
    // "Order no." is no way to order.
    const isInside = (cue: Cue): boolean => cue.from >= label.from && cue.to <= label.to;
    const way = cues.some(
      (cue, at) => ways[at] != null && cue.to <= from && cue.from >= label.from - 1 && !isInside(cue),
    );
    features.add(T.label, bucket(kind), bucket(way ? "of-way" : "of-thing"), LABEL);
  }
  // Words of the clause, also beyond the reach of the words next to the candidate.
  const addWord = (template: Term, at: number): void => {
    const token = tokens[at];
    if (token?.kind === "word") features.add(template, termOf(token));
  };
  for (let at = from - 1; at >= 0 && clauses.clause[at] === clause; at--) addWord(T.clauseWord, at);
  for (let at = to; at < tokens.length && clauses.clause[at] === clause; at++) addWord(T.clauseWord, at);
  // Words of the next sentence, if it has no candidate: "0171 ... That number is dead."
  const last = sentenceEnd(scene, Math.max(from, to - 1));
  const lastNext = last < tokens.length ? sentenceEnd(scene, last) : last;
  const isFree = !candidates.some((one) => one.from >= to && one.from < lastNext);
  if (isFree) for (let at = last; at < Math.min(lastNext, last + NEXT_WORDS); at++) addWord(T.nextWord, at);
};

/** Adds the features from which the role and the types of the candidate at `index` are judged. */
export const addContactFeatures = (
  features: Features,
  scene: Scene,
  discourse: Discourse,
  candidates: readonly ContactCandidate[],
  index: number,
): void => {
  const candidate = candidates[index];
  if (candidate === undefined) return;
  const near = { ...scene, cues: discourse.cues };
  const [previous, next] = [candidates[index - 1], candidates[index + 1]];
  addContext(features, near, candidate, { previous, next, states: [bucket(candidate.kind)] });
  addShape(features, scene, candidate);
  addRivals(features, candidates, index);
  addDiscourse(features, scene, discourse, candidates, index);
  features.unite();
};
