import type { Token } from "./tokens.ts";
import { ASK_TURNS } from "./turns-ask.ts";
import { OFFER_TURNS } from "./turns-offer.ts";

/**
 * Turns of phrase that tell the kind, with other words in between: "looking for a patient someone to", "rent rather than
 * buy". Fixed phrases are vocabulary and an operator's to edit; these are grammar, one a line:
 *
 *   hire 4: (need|want) ..2 (someone|anyone)
 *
 * says, with weight 4, `hire` of texts with "need" or "want", at most two words, "someone" or "anyone". `(a|b)?` may be
 * left out, `#` is a number, `^` opens a sentence, `??` stands before a question mark. No turn runs over the end of a
 * sentence.
 */

/** A turn of phrase in a text: tokens `from` (inclusive) to `to` (exclusive). */
export type Turn = {
  family: "kind" | "ask_kind";
  value: string;
  weight: number;
  from: number;
  to: number;
  term: string;
  /** True when all of its words are its own, none stands between. */
  whole: boolean;
};

type Element =
  | { type: "words"; words: ReadonlySet<string>; phrases: readonly (readonly string[])[]; optional: boolean }
  | { type: "gap"; most: number }
  | { type: "number" }
  | { type: "question" };

type Rule = {
  family: Turn["family"];
  value: string;
  weight: number;
  opens: boolean;
  elements: readonly Element[];
  term: string;
};

/** The rules of a language by the words that they can begin with; numbers are under "#". */
type Index = ReadonlyMap<string, readonly Rule[]>;

const NUMBER = /^\d+k?$/;

const elementOf = (written: string): Element => {
  if (written.startsWith("..")) return { type: "gap", most: Number(written.slice(2)) };
  if (written === "#") return { type: "number" };
  if (written === "??") return { type: "question" };
  const optional = written.endsWith("?");
  const bare = (optional ? written.slice(0, -1) : written).replace(/^\(|\)$/g, "");
  const alternatives = bare.split("|").map((one) => one.split(" "));
  const [single, several] = [
    alternatives.filter((one) => one.length === 1),
    alternatives.filter((one) => one.length > 1),
  ];
  return { type: "words", words: new Set(single.flat()), phrases: several, optional };
};

/** Alternatives may be of several words: "(ask|look out) for". */
const ELEMENT = /\([^)]*\)\??|\S+/g;

const LINE = /^(\w+) ([\d.]+): (\^)?(.+)$/;

const rulesOf = (family: Turn["family"], table: string): Rule[] =>
  table
    .split("\n")
    .map((line) => LINE.exec(line.trim()))
    .filter((match) => match !== null)
    .map(([, value = "", weight, opens, written = ""]) => ({
      family,
      value,
      weight: Number(weight),
      opens: opens !== undefined,
      elements: (written.match(ELEMENT) ?? []).map(elementOf),
      term: written.trim(),
    }));

const indexOf = (rules: readonly Rule[]): Index => {
  const index = new Map<string, Rule[]>();
  const file = (word: string, rule: Rule) => index.set(word, [...(index.get(word) ?? []), rule]);
  for (const rule of rules) {
    const first = rule.elements[0];
    if (first?.type === "number") file("#", rule);
    if (first?.type === "words")
      for (const word of new Set([...first.words, ...first.phrases.map(([word = ""]) => word)])) file(word, rule);
  }
  return index;
};

const INDICES: ReadonlyMap<string, Index> = new Map(
  Object.keys(ASK_TURNS).map((language) => [
    language,
    indexOf([...rulesOf("kind", OFFER_TURNS[language] ?? ""), ...rulesOf("ask_kind", ASK_TURNS[language] ?? "")]),
  ]),
);

/** Whether words stand at a position, all in one sentence. */
const stand = (tokens: readonly Token[], position: number, words: readonly string[], first: boolean): boolean =>
  words.every((word, at) => {
    const token = tokens[position + at];
    return token !== undefined && token.folded === word && (!token.opens || (first && at === 0));
  });

/** Where a rule that has come to element `at` ends, or -1. */
const follow = (tokens: readonly Token[], elements: readonly Element[], at: number, position: number): number => {
  const element = elements[at];
  if (element === undefined) return position;
  if (element.type === "question") {
    const before = tokens[position]?.before ?? "?";
    return before.includes("?") ? follow(tokens, elements, at + 1, position) : -1;
  }
  if (element.type === "gap") {
    for (let over = 0; over <= element.most; over++) {
      const end = follow(tokens, elements, at + 1, position + over);
      if (end >= 0) return end;
      const skipped = tokens[position + over];
      if (skipped === undefined || skipped.opens) return -1;
    }
    return -1;
  }
  const token = tokens[position];
  const within = token !== undefined && (at === 0 || !token.opens);
  if (element.type === "number")
    return within && NUMBER.test(token.folded) ? follow(tokens, elements, at + 1, position + 1) : -1;
  if (within) {
    for (const phrase of element.phrases) {
      const end = stand(tokens, position, phrase, at === 0)
        ? follow(tokens, elements, at + 1, position + phrase.length)
        : -1;
      if (end >= 0) return end;
    }
    const end = element.words.has(token.folded) ? follow(tokens, elements, at + 1, position + 1) : -1;
    if (end >= 0) return end;
  }
  return element.optional ? follow(tokens, elements, at + 1, position) : -1;
};

/**
 * Every turn of phrase in a text, in order.
 *
 * @param language the text's; English ones count everywhere, all of them where it is unknown
 */
export const findTurns = (tokens: readonly Token[], language: string | null): Turn[] => {
  const indices =
    language === null
      ? [...INDICES.values()]
      : [language, "en"].map((one) => INDICES.get(one)).filter((one) => one !== undefined);
  const turns: Turn[] = [];
  for (const index of new Set(indices)) {
    tokens.forEach((token, from) => {
      const rules = index.get(NUMBER.test(token.folded) ? "#" : token.folded) ?? [];
      for (const { family, value, weight, opens, elements, term } of rules) {
        if (opens && !token.opens) continue;
        const to = follow(tokens, elements, 0, from);
        if (to < 0) continue;
        const whole = elements.every((element) => element.type !== "gap");
        turns.push({ family, value, weight, from, to, term, whole });
      }
    });
  }
  return turns;
};
