import type { Token } from "../text/tokens.ts";
import { firstCueFrom, sentenceEnd, sentenceStart } from "./context.ts";
import type { Features, Term } from "./features.ts";
import { B, END, grown, JOINTS, joinOf, lettersOf, NONE, type Prepared, START, T, wordAt } from "./title_context.ts";

/** The tokens at which a title can end, and their features. */

/** The longest title, in UTF-16 units. */
const LONGEST = 120;

const NEXT_ROLE = [0, 1, 2, 3, 4, 5].map((role) => B(`role-${role}`));
/** Marks with which a title can end. */
const CLOSING: ReadonlySet<string> = new Set([")", '"', "”", "“", "'", "%", "+", "!", "?", "″", "»", "]"]);

/** Words of at most this many letters are abbreviations before a full stop inside a sentence: "120 Stk.", "8 pers.". */
const ABBREVIATED = 5;

const endsAbbreviation = (tokens: readonly Token[], at: number): boolean => {
  const word = tokens[at - 1];
  if (tokens[at]?.text !== "." || tokens[at]?.gap !== "none" || word?.kind !== "word") return false;
  return word.text.length <= ABBREVIATED && tokens[at + 1]?.opens !== true;
};

/** The tokens after which a title that begins at `from` can end, as the token after its last one. */
export const endsOf = ({ scene, roleAt, leadsAt }: Prepared, from: number): number[] => {
  const { tokens } = scene;
  const start = tokens[from]?.start ?? 0;
  const ends: number[] = [];
  for (let to = from + 1; to <= tokens.length; to++) {
    const last = tokens[to - 1];
    if (last === undefined || last.end - start > LONGEST) break;
    const role = roleAt[to - 1] ?? 0;
    // No title goes on beyond the price, the place or a contact.
    if (role >= 2 && role <= 4) break;
    if (to > from + 1 && last.gap === "line") break;
    const next = tokens[to];
    // "Garden tools near" is the stump of "Garden tools near Leeds".
    if ((roleAt[to] ?? 0) >= 4 && leadsAt[to - 1] === 1) continue;
    if (last.kind === "mark" && !CLOSING.has(last.text) && !endsAbbreviation(tokens, to - 1)) continue;
    // A word is not cut: "128gb", "T-Shirt", "1.6".
    if (next !== undefined && next.gap === "none") {
      if (next.kind !== "mark") continue;
      const beyond = tokens[to + 1];
      if (beyond?.gap === "none" && beyond.kind !== "mark" && JOINTS.has(next.text)) continue;
    }
    ends.push(to);
  }
  return ends;
};

/** Adds the features of a title of the tokens from `from` to `to`. */
export const addEndFeatures = (features: Features, prepared: Prepared, from: number, to: number): void => {
  const { scene, thingAt, thingsBefore, kindAt, roleAt, sentence } = prepared;
  const { tokens, cues, isAsk } = scene;
  const final = tokens[to - 1];
  const next = tokens[to];
  if (final === undefined) return;
  const opening = sentenceStart(scene, from) === from;
  const closes = sentenceEnd(scene, to - 1);
  const word = wordAt(prepared, to - 1);
  const after = to >= closes ? END : wordAt(prepared, to);
  const opens = joinOf(prepared, from);
  // What follows: a mark, a role, or a word of some shape.
  const role = roleAt[to] ?? 0;
  const follows =
    next === undefined
      ? END
      : role > 0
        ? (NEXT_ROLE[role] as Term)
        : next.gap === "line"
          ? B("line")
          : to >= closes
            ? B("sentence")
            : next.kind === "mark"
              ? B(`mark-${next.gap}`)
              : lettersOf(next);
  features.add(T.follows, follows);
  features.add(T.follows, follows, lettersOf(final));
  features.add(T.follows, follows, opens);
  features.add(T.last, word);
  features.add(T.last, word, follows);
  if (to - 2 >= from) features.add(T.lastBut, wordAt(prepared, to - 2), word);
  else features.add(T.lastBut, START, word);
  features.add(T.after1, after);
  features.add(T.pairAfter, word, after);
  if (after !== END) {
    features.add(T.after2, to + 1 >= closes ? END : wordAt(prepared, to + 1));
    features.add(T.after2, after, to + 1 >= closes ? END : wordAt(prepared, to + 1));
    if (next?.kind === "mark" && tokens[to + 1] !== undefined) {
      features.add(T.marks, after, lettersOf(tokens[to + 1]));
      const beyond = roleAt[to + 1] ?? 0;
      if (beyond > 0) features.add(T.marks, after, NEXT_ROLE[beyond] as Term);
    }
  }
  features.add(T.letters, lettersOf(final), lettersOf(next));
  // The things that it names.
  const inside = (thingsBefore[to] ?? 0) - (thingsBefore[from] ?? 0);
  const state = B(`${Math.min(inside, 3)}${thingAt[to] === 2 ? "cut" : ""}`);
  features.add(T.inside, state, follows);
  features.add(T.inside, state);
  const endsThing = (thingAt[to - 1] ?? 0) > 0 && thingAt[to] !== 2;
  if (endsThing) features.add(T.thing, follows);
  if ((thingAt[to] ?? 0) === 1) features.add(T.thing, B("next"));
  const named = Math.min((prepared.namedBefore[to] ?? 0) - (prepared.namedBefore[from] ?? 0), 2);
  const naming = B(`${named}${prepared.namedAt[to] === 2 ? "cut" : ""}`);
  features.add(T.named, naming, follows);
  features.add(
    T.named,
    naming,
    B((prepared.nextNamed[to] ?? 0) < closes ? Math.min((prepared.nextNamed[to] ?? 0) - to, 4) : 9),
  );
  const ahead = (prepared.nextThing[to] ?? 0) < closes ? Math.min((prepared.nextThing[to] ?? 0) - to, 6) : 9;
  features.add(T.thing, B(`ahead${ahead}`), state);
  if ((kindAt[to] ?? 0) > 0) features.add(T.kind, B(`next${kindAt[to]}`));
  if ((kindAt[to - 1] ?? 0) > 0) features.add(T.kind, B("last"), state);
  for (let index = firstCueFrom(cues, to - 4); index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > to + 1) break;
    if (cue.from === to) features.add(T.cue, cue.concept, B("here"));
    else if (cue.from === to + 1) features.add(T.cue, cue.concept, B("next"));
    else if (cue.to === to) features.add(T.cue, cue.concept, B("last"));
  }
  // Its length.
  let words = 0;
  let digits = 0;
  let commas = 0;
  let depth = 0;
  let capitals = 0;
  let smalls = 0;
  for (let at = from; at < to; at++) {
    const token = tokens[at] as Token;
    if (token.kind === "word") {
      words++;
      if (token.capital) capitals++;
      else smalls++;
    } else if (token.kind === "digits") digits++;
    else if (token.text === ",") commas++;
    else if (token.text === "(") depth++;
    else if (token.text === ")") depth--;
  }
  const width = B(grown(words + digits));
  features.add(T.width, width);
  features.add(T.width, width, follows);
  features.add(T.width, width, state);
  features.add(T.width, width, opens);
  features.add(T.size, B(Math.floor((final.end - (tokens[from]?.start ?? 0)) / 12)));
  features.add(T.marks, B("commas"), B(Math.min(commas, 3)));
  features.add(T.marks, B("sentences"), B(Math.min((sentence[to - 1] ?? 0) - (sentence[from] ?? 0), 2)));
  features.add(T.bracket, B(Math.sign(depth)), follows);
  features.add(
    T.letters,
    B(digits > 0 ? "digits" : "words"),
    B(capitals === 0 ? "small" : smalls === 0 ? "capital" : "both"),
  );
  features.add(T.rest, B(grown(closes - to)), B(opening ? "opens" : "within"));
  if (to === closes) features.add(T.rest, B("all"), opening ? width : NONE);
  features.add(T.ask, B(isAsk ? "ask" : "offer"), after);
};
