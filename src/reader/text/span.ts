/** A range of a text in UTF-16 units: `start` inclusive, `end` exclusive. */
export type Span = { start: number; end: number };

/** The span of the tokens or words from `from` (inclusive) to `to` (exclusive). */
export const spanOf = (parts: readonly Span[], { from, to }: { from: number; to: number }): Span => ({
  start: parts[from]?.start ?? 0,
  end: parts[to - 1]?.end ?? 0,
});

/** The text of a span, verbatim. */
export const quoteOf = (text: string, span: Span): string => text.slice(span.start, span.end);

/** True if the spans share at least one unit. */
export const overlaps = (a: Span, b: Span): boolean => a.start < b.end && b.start < a.end;

/** The number of code points before each UTF-16 unit of a text, and before its end. */
export const codePointsBefore = (text: string): readonly number[] => {
  const before: number[] = [];
  let count = 0;
  for (const character of text) {
    for (let i = 0; i < character.length; i++) before.push(count);
    count++;
  }
  return [...before, count];
};

/** A span of UTF-16 units in code points. */
export const inCodePoints = (before: readonly number[], { start, end }: Span): Span => ({
  start: before[start] ?? 0,
  end: before[end] ?? 0,
});

/** Spans in order, those that overlap as one. */
export const united = (spans: readonly Span[]): Span[] => {
  const all: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else all.push({ ...span });
  }
  return all;
};
