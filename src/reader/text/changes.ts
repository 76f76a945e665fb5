import type { Span } from "./span.ts";

/** Replaces parts of a text, such that every part of the result is still known by its place in the text as it was sent. */

/** What replaces a part of a text. `at` and `length` in UTF-16 units. */
export type Change = { at: number; length: number; by: string };

/** A text with its changes, and for each span of it, where it comes from. */
export type Changed = { text: string; originOf: (span: Span) => Span };

/** A text with changes; null if there are none. Of changes that overlap, the first one counts. In linear time. */
export const changed = (text: string, changes: Change[]): Changed | null => {
  if (changes.length === 0) return null;
  let plain = "";
  let last = 0;
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (piece: string, from: number, to: number): void => {
    for (let i = 0; i < piece.length; i++) {
      // The letters of a replaced part cannot be told apart: all of it belongs to each of them.
      const same = piece.length === to - from;
      starts.push(same ? from + i : from);
      ends.push(same ? from + i + 1 : to);
    }
    plain += piece;
  };
  for (const { at, length, by } of changes.sort((a, b) => a.at - b.at)) {
    if (at < last) continue;
    add(text.slice(last, at), last, at);
    add(by, at, at + length);
    last = at + length;
  }
  add(text.slice(last), last, text.length);
  return {
    text: plain,
    originOf: ({ start, end }) => ({ start: starts[start] ?? 0, end: ends[end - 1] ?? text.length }),
  };
};
