/** A range of a text in UTF-16 units: `start` inclusive, `end` exclusive. */
export type Span = { start: number; end: number };

/** The text of a span, verbatim. */
export const quoteOf = (text: string, span: Span): string => text.slice(span.start, span.end);

/** True if the spans share at least one unit. */
export const overlaps = (a: Span, b: Span): boolean => a.start < b.end && b.start < a.end;
