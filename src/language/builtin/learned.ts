import { GEOGRAPHY, type Hit } from "./lexicon.ts";
import { stem } from "./stem.ts";
import type { Token } from "./tokens.ts";

/**
 * The turns of a text, from which its kind is learned by examples: "somebody with a van to take ..." asks for a work, "a van
 * that fits a mattress, Saturday till noon" for a thing on loan. What single terms say is vocabulary; where none says
 * enough, these do.
 *
 * A turn is a word, a word with the one before it, or either with things and places in it named by what they are: what is
 * learned of "rent out my van" holds for a boat. They are weighed by multinomial logistic regression, trained with AdaGrad
 * (Duchi, Hazan and Singer 2011), in one order: the same examples give the same weights.
 */

/** Of a longer text the first words tell what is wanted. */
const MOST_WORDS = 120;

/** Set by what examples that were left out came out best with; a pass takes some ten milliseconds for 1,000 examples. */
const PASSES = 20;
const RATE = 0.5;
const DECAY = 1e-4;
const BIAS_RATE = 0.02;

/** Less than this no kind is held to be: one strange text must not outvote all that the vocabulary says. */
const LEAST_PROBABILITY = 0.005;

/** What a text says in turns, each once. */
export const turnsOf = (tokens: readonly Token[], hits: readonly Hit[], language: string | null): string[] => {
  const words = tokens
    .slice(0, MOST_WORDS)
    .map(({ folded }) => (/^\d/.test(folded) ? "#" : stem(folded, language ?? "en")));
  const named = [...words];
  for (const hit of hits) {
    const name = GEOGRAPHY.has(hit.family)
      ? "<place>"
      : hit.family === "category" || hit.family === "domain"
        ? `<${hit.value.split("/")[0]}>`
        : undefined;
    if (name !== undefined) for (let at = hit.from; at < hit.to && at < named.length; at++) named[at] = name;
  }
  const turns = new Set<string>();
  named.forEach((name, at) => {
    const before = at === 0 ? "^^" : tokens[at]?.opens ? "^" : (named[at - 1] ?? "");
    turns.add(name);
    turns.add(words[at] ?? "");
    if (before !== name) turns.add(`${before} ${name}`);
  });
  return [...turns];
};

/** What is learned: the turns of a text to evidence per kind, as logarithms; 0 where nothing speaks for or against. */
export type Learned<K extends string> = (turns: readonly string[]) => Partial<Record<K, number>>;

/** Learns kinds from examples, all in memory. Without examples it has nothing to say. */
export const learnKinds = <K extends string>(examples: readonly { turns: string[]; kind: K }[]): Learned<K> => {
  const kinds = [...new Set(examples.map(({ kind }) => kind))].sort();
  const counts = new Map<K, number>();
  for (const { kind } of examples) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const numbers = new Map<string, number>();
  const known = examples.map(({ turns, kind }) => ({
    kind: kinds.indexOf(kind),
    // A rare kind counts for more than its examples, a frequent one for less.
    share: Math.sqrt(examples.length / kinds.length / (counts.get(kind) ?? 1)),
    turns: Int32Array.from(turns, (turn) => {
      const number = numbers.get(turn) ?? numbers.size;
      numbers.set(turn, number);
      return number;
    }),
  }));
  const weights = new Float64Array(numbers.size * kinds.length);
  const squares = new Float64Array(weights.length).fill(1e-6);
  const bias = new Float64Array(kinds.length);

  const probabilities = (turns: Int32Array): Float64Array => {
    const scale = 1 / Math.sqrt(turns.length || 1);
    const scores = Float64Array.from(bias);
    for (const turn of turns)
      for (let kind = 0; kind < kinds.length; kind++)
        scores[kind] = (scores[kind] ?? 0) + (weights[turn * kinds.length + kind] ?? 0) * scale;
    const most = Math.max(...scores);
    const odds = scores.map((score) => Math.exp(score - most));
    const sum = odds.reduce((total, one) => total + one, 0);
    return odds.map((one) => one / sum);
  };

  for (let pass = 0; pass < PASSES; pass++) {
    for (let step = 0; step < known.length; step++) {
      // A stride prime to the count, so that examples of one kind, which stand together, do not come together.
      const example = known[(step * 7919 + pass * 31) % known.length];
      if (example === undefined) continue;
      const { kind: right, turns, share } = example;
      const scale = 1 / Math.sqrt(turns.length || 1);
      probabilities(turns).forEach((probability, kind) => {
        const gradient = share * (probability - (kind === right ? 1 : 0));
        bias[kind] = (bias[kind] ?? 0) - BIAS_RATE * gradient;
        for (const turn of turns) {
          const at = turn * kinds.length + kind;
          const slope = gradient * scale + DECAY * (weights[at] ?? 0);
          squares[at] = (squares[at] ?? 0) + slope * slope;
          weights[at] = (weights[at] ?? 0) - (RATE * slope) / Math.sqrt(squares[at] ?? 1);
        }
      });
    }
  }

  return (turns) => {
    const numbered = Int32Array.from(turns.flatMap((turn) => numbers.get(turn) ?? []));
    const found: Partial<Record<K, number>> = {};
    if (numbered.length === 0) return found;
    probabilities(numbered).forEach((probability, at) => {
      const kind = kinds[at];
      if (kind !== undefined) found[kind] = Math.log(Math.max(probability, LEAST_PROBABILITY) * kinds.length);
    });
    return found;
  };
};
