import type { Range } from "../decide/context.ts";
import { overlaps, type Span, spanOf } from "../text/span.ts";
import type { Annotations } from "./annotate.ts";

/** Finds out whether a text offers several things with a price each: "desk 60 CHF, chair 25 CHF". */

/** The cue of a price for all of them. */
const ALL = "all_together";

/** At most so many tokens stand between a thing and its price, or between "all together" and the price of all. */
const REACH = 5;

/** Marks that end what a price belongs to. */
const ENDS: ReadonlySet<string> = new Set([",", ";", ".", "!", "?", "•", "|", "+"]);

/**
 * True if at least two things have a price of their own, and the price of the text is not that of all.
 * @param price where the price of the text stands
 */
export const offersSeveral = ({ tokens, things, sums, cues }: Annotations, price: Span | null): boolean => {
  const endsBetween = (from: number, to: number): boolean => {
    for (let at = from; at < to; at++) if (ENDS.has(tokens[at]?.text ?? "") || tokens[at]?.gap === "line") return true;
    return tokens[to]?.gap === "line";
  };
  const named = new Set<string>();
  let next = 0;
  for (const [index, sum] of sums.entries()) {
    const before = sums[index - 1]?.to ?? 0;
    // The last thing between two sums. Both are in the order of the text.
    let thing: Range | undefined;
    for (let one = things[next]; one !== undefined && one.to <= sum.from; one = things[++next])
      if (one.from >= before) thing = one;
    if (thing === undefined || sum.from - thing.to > REACH || endsBetween(thing.to, sum.from)) continue;
    named.add(tokens[thing.to - 1]?.text ?? "");
  }
  if (named.size < 2) return false;
  const forAll = cues.filter(({ concept }) => concept.text === ALL);
  const isForAll = (sum: Range): boolean =>
    forAll.some(({ from, to }) => {
      const away = Math.max(sum.from - to, from - sum.to);
      return away >= 0 && away <= REACH;
    });
  return price === null || !sums.some((sum) => overlaps(spanOf(tokens, sum), price) && isForAll(sum));
};
