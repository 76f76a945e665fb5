import type { Token } from "../text/tokens.ts";
import { count, type Discourse, WAYS_OF_TYPE } from "./contact_discourse.ts";
import {
  type Item,
  isMention,
  MIXED,
  NONE,
  PAST,
  RELATIONS,
  type Relation,
  type Speech,
  stemOf,
} from "./contact_speech.ts";
import { type Scene, termOf } from "./context.ts";
import { bucket, type Features, type Term, term } from "./features.ts";

/** The features of a contact: from them it is judged whether the text prefers it to the others. */

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
export const addPreferenceFeatures = (
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
  const field = bucket(single ? "single" : "several");
  const ownType = bucket(own.type);
  features.add(P.ways, ownType, field);
  if (!single) {
    features.add(P.order, bucket(`${count(index)}of${count(reachable.length)}`));
    for (const other of reachable)
      if (other !== own)
        features.add(P.against, ownType, bucket(other.candidate === candidate ? `same-${other.type}` : other.type));
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
      features.add(P.said, name, bucket(item.what));
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
      features.add(P.aside, pairOf(left ?? "-", right ?? "-"), side.alone ? bucket("alone") : NONE, CUE);
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
