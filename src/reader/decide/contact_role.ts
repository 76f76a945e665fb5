import type { ContactCandidate } from "../propose/contacts.ts";
import { digitsOf, isDateOrAmount, isNorthAmerican, isShapedLikePhone } from "../propose/phones.ts";
import { addWays, count, type Discourse } from "./contact_discourse.ts";
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
} as const;

/** How near a label has to stand to name a number, in tokens: "serial no.: 23107 44 915". */
const LABEL_REACH = 5;
/** A number that is called something else is believed to be that sooner than other cues are believed. */
const LABEL = 3;

/** Words of the next sentence that are features. */
const NEXT_WORDS = 12;

/** Words of the host and of the path of a link that are features. */
const MAX_PARTS = 12;

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
    if (isDateOrAmount(tokens, run)) features.add(T.shape, bucket("date-or-amount"));
    const joint = tokens[(run.groups[1]?.at ?? 0) - 1];
    if (run.groups.length > 1 && joint?.kind === "mark") features.add(T.shape, bucket("joint"), termOf(joint));
    if (run.groups.length > 1 && joint?.kind === "digits") features.add(T.shape, bucket("spaced"));
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
    const way = cues.some((cue, at) => ways[at] != null && cue.to <= from && cue.from >= label.from - 1);
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
