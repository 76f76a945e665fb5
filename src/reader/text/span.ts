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
