import { blanked } from "../text/blank.ts";
import type { Span } from "../text/span.ts";
import { wordsIn } from "../text/tokens.ts";
import type { IsWord } from "./lexicon.ts";

/**
 * Reads the tags of trading forums: "[H] PayPal [W] iPhone 13", in any order, has money and wants a phone; the other way
 * round, a phone is sold. What is paid with says nothing about the thing, so it is left out, and the tag of the thing
 * becomes the usual word for buying or selling, of the same length.
 */

const TAG = /[[({]([hw])[\])}]/giu;
const WORD_FOR = { w: "WTB", h: "WTS" } as const;

/** Where what is paid with ends, if no tag follows: the place may stand after it. */
const ENDS = /[,;.|\n]/u;

type Tag = { side: "h" | "w"; at: number; span: Span };

/** The tags of a text, each with what it says. */
const tagsIn = (text: string): Tag[] =>
  Array.from(text.matchAll(TAG)).map((match, n, all) => {
    const start = match.index + match[0].length;
    const next = all[n + 1]?.index;
    const stop = text.slice(start).search(ENDS);
    const end = next ?? (stop < 0 ? text.length : start + stop);
    return { side: match[1]?.toLowerCase() === "h" ? "h" : "w", at: match.index, span: { start, end } };
  });

/** A text with such tags as it is meant; any other text as it is. */
export const withoutTradeTags = (text: string, is: IsWord): string => {
  const tags = tagsIn(text);
  const wanted = tags.find(({ side }) => side === "w");
  if (wanted === undefined) return text;
  const isPayment = ({ span }: Tag): boolean => {
    const words = wordsIn(text.slice(span.start, span.end));
    return words.length > 0 && words.every(({ folded }) => is("payment", folded));
  };
  const sold = tags.find((tag) => tag.side === "h" && !isPayment(tag));
  const thing = sold !== undefined && isPayment(wanted) ? sold : wanted;
  const others = tags.filter((tag) => tag !== thing).map(({ at, span }) => ({ start: at, end: span.end }));
  const rest = blanked(text, others);
  return rest.slice(0, thing.at) + WORD_FOR[thing.side] + rest.slice(thing.at + WORD_FOR[thing.side].length);
};
