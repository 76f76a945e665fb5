import type { Span } from "./span.ts";

/** A text with spaces in place of some passages, so that everything else stays where it is. */
export const blanked = (text: string, spans: readonly Span[]): string =>
  spans.reduce((rest, { start, end }) => rest.slice(0, start) + " ".repeat(end - start) + rest.slice(end), text);
