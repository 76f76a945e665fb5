import type { Token } from "../text/tokens.ts";
import { firstCueFrom, sentenceEnd, sentenceStart } from "./context.ts";
import type { Features } from "./features.ts";
import { B, END, grown, JOINTS, joinOf, lettersOf, NONE, type Prepared, START, T, wordAt } from "./title_context.ts";

/** The tokens at which a title can begin, and their features. */

/**
 * All words of the beginning of a text can begin a title; then only those that open a clause or name a thing, and at
 * last those that open a sentence or name a thing of the category. In tokens.
 */
const ALL_BEGINS = 60;
const CLAUSE_BEGINS = 120;

/** True if a word or number begins at `at`. */
const isFree = (tokens: readonly Token[], at: number): boolean => {
  const token = tokens[at];
  const before = tokens[at - 1];
  if (token === undefined || token.kind === "mark") return false;
  if (before === undefined || token.gap !== "none") return true;
  return before.kind === "mark" && !(JOINTS.has(before.text) && before.gap === "none");
};

/** The tokens at which the title can begin. */
export const beginsOf = ({ scene, roleAt, thingAt, namedAt }: Prepared): number[] => {
  const { tokens } = scene;
  const begins: number[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const role = roleAt[at] ?? 0;
    if (role === 2 || role === 3 || !isFree(tokens, at)) continue;
    const opens = tokens[at]?.opens === true;
    if (at >= CLAUSE_BEGINS && !opens && namedAt[at] !== 1) continue;
    if (at >= ALL_BEGINS && !opens && thingAt[at] !== 1 && tokens[at - 1]?.kind !== "mark") continue;
    begins.push(at);
  }
  return begins;
};

/** Adds the features of a title that begins at token `at`. */
export const addBeginFeatures = (features: Features, prepared: Prepared, at: number): void => {
  const { scene, sentence, line, lines, thingAt, thingsBefore, nextThing, kindAt, roleAt } = prepared;
  const { tokens, cues, isAsk } = scene;
  const token = tokens[at];
  if (token === undefined) return;
  const opens = sentenceStart(scene, at);
  const closes = sentenceEnd(scene, at);
  const word = wordAt(prepared, at);
  const before = at === opens ? START : wordAt(prepared, at - 1);
  const next = wordAt(prepared, at + 1);
  const join = joinOf(prepared, at);
  const letters = lettersOf(token);
  features.add(T.word, word);
  features.add(T.next, next);
  features.add(T.third, wordAt(prepared, at + 2));
  features.add(T.pair, word, next);
  features.add(T.before1, before);
  features.add(T.pairBefore, before, word);
  if (before !== START) {
    const second = at - 1 === opens ? START : wordAt(prepared, at - 2);
    features.add(T.before2, second);
    features.add(T.before2, second, before);
  } else if (at > 0) features.add(T.before2, B("<previous>"), wordAt(prepared, at - 1));
  features.add(T.join, join, letters);
  features.add(T.letters, lettersOf(tokens[at - 1]), letters);
  features.add(T.letters, letters, lettersOf(tokens[at + 1]));
  // The things that are named here, or soon.
  const apart = Math.min((nextThing[at] ?? 0) - at, 9);
  const sameSentence = (nextThing[at] ?? 0) < closes;
  const thing = B(thingAt[at] === 2 ? "within" : sameSentence ? apart : "later");
  features.add(T.thing, thing, join);
  features.add(T.thing, thing);
  features.add(T.thing, thing, letters);
  features.add(T.thingOrder, B(Math.min(thingsBefore[at] ?? 0, 5)), thing);
  features.add(T.thingOrder, B(Math.min(thingsBefore[at] ?? 0, 5)), join);
  const ends = prepared.clauseEnd[at] ?? 0;
  const until = (prepared.nextNamed[at] ?? 0) - at;
  const nearest = prepared.namedAt[at] === 2 ? "within" : until < ends - at ? Math.min(until, 6) : "later";
  const naming = B(nearest);
  const namedBefore = B(Math.min(prepared.namedBefore[at] ?? 0, 4));
  features.add(T.named, naming, join);
  features.add(T.named, naming);
  features.add(T.named, naming, letters);
  features.add(T.named, naming, B(Math.min(sentence[at] ?? 0, 3)));
  features.add(T.namedOrder, naming, namedBefore);
  features.add(T.namedOrder, namedBefore, B(Math.min(sentence[at] ?? 0, 3)));
  features.add(T.namedOrder, scene.named.length === 0 ? NONE : naming, B(grown(at)));
  features.add(T.clause, B(grown(ends - at)), join);
  features.add(T.clause, B(roleAt[ends] ?? 0), tokens[ends] === undefined ? END : B(tokens[ends]?.kind ?? ""));
  const kindNow = kindAt[at] ?? 0;
  const kindBefore = at > 0 ? (kindAt[at - 1] ?? 0) : 0;
  features.add(T.kind, B(10 * kindBefore + kindNow), join);
  if ((roleAt[at] ?? 0) > 0) features.add(T.place, B(roleAt[at] ?? 0));
  for (let index = firstCueFrom(cues, at - 4); index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > at) break;
    if (cue.from === at) features.add(T.cue, cue.concept, B("here"));
    else if (cue.to === at) features.add(T.cue, cue.concept, B("before"));
  }
  // Its place in the text.
  features.add(T.position, B(grown(at)));
  features.add(T.position, B(grown(at)), join);
  features.add(T.position, B(grown(at)), thing);
  features.add(T.sentence, B(grown(sentence[at] ?? 0)), B(Math.min(at - opens, 4)));
  features.add(T.sentence, B(Math.min(sentence[at] ?? 0, 3)), thing);
  features.add(
    T.line,
    B(Math.min(line[at] ?? 0, 3)),
    B(lines > 1 ? `${token.gap === "line" ? "starts" : "in"}` : "one"),
  );
  features.add(T.rest, B(grown(closes - at)), B(Math.min(sentence[at] ?? 0, 3)));
  const again = prepared.again[at] ?? 0;
  if (again > 0) features.add(T.again, B(again), join);
  if (again > 0) features.add(T.again, B(again), thing);
  features.add(T.ask, B(isAsk ? "ask" : "offer"), join);
  features.add(T.ask, B(isAsk ? "ask" : "offer"), before);
  // What is named after the price is seldom the thing.
  const { price } = scene;
  features.add(T.price, price === null ? NONE : B(price.from > at ? "before" : "after"), join);
};
