import type { Span } from "./span.ts";

/** Finds what is struck out in a text: "~~200~~", "<s>200</s>", "[s]200[/s]". It is not said any more. */

/** A sign that opens or closes a passage, or letters that are each struck out. */
const SIGN = /~~|<\/?(?:s|del|strike)(?:\s[^<>]*)?>|\[\/?s\]|(?:\S[\u0335\u0336]\s*)+/giu;

/** The passages of a text that are struck out, in order, with the signs around them. */
export const struckIn = (text: string): Span[] => {
  const spans: Span[] = [];
  let open: { start: number; sign: string } | null = null;
  for (const match of text.matchAll(SIGN)) {
    const [sign] = match;
    const end = match.index + sign.length;
    const name = sign.replace(/^(?:<|\[)\/?|[\s>\]][\s\S]*$/gu, "").toLowerCase();
    const closes = sign === "~~" || /^.\//u.test(sign);
    if (/[\u0335\u0336]/u.test(sign)) {
      if (open === null) spans.push({ start: match.index, end });
    } else if (open !== null && closes && open.sign === name) {
      spans.push({ start: open.start, end });
      open = null;
    } else if (open === null && (sign === "~~" || !closes)) open = { start: match.index, sign: name };
  }
  return spans;
};
