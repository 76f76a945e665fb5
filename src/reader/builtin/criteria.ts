import { overlaps, type Span, spanOf } from "../text/span.ts";
import type { Word } from "../text/tokens.ts";
import type { Hit, IsWord } from "./lexicon.ts";

/** Reads the criteria of an ask: keywords, requirements and exclusions. */

/** A thing that an ask requires or excludes. */
export type Criterion = { value: string; span: Span };

const MAX_KEYWORDS = 20;
const MAX_CRITERIA = 10;
const LONGEST_KEYWORD = 60;
const LONGEST_CRITERION = 80;

/** "no" excludes only in English: in Spanish it negates verbs, in Portuguese it means "in the". */
const ENGLISH_NO = "no";

/** The longest criterion, in words. */
const MAX_WORDS = 5;

const said = (text: string, span: Span): string => text.slice(span.start, span.end).replace(/\s+/gu, " ");

/** A clause ends at a comma, a bracket, the end of a sentence, or a conjunction. */
const ENDS_CLAUSE = /[,;.()!?:\n]/;

const endOfClause = (tokens: readonly Word[], from: number, is: IsWord): number => {
  let to = from;
  while (to < tokens.length && to - from < MAX_WORDS) {
    const token = tokens[to];
    if (
      token === undefined ||
      (to > from && (token.opens || ENDS_CLAUSE.test(token.before) || is("conjunction", token.folded)))
    )
      break;
    to += 1;
  }
  return to;
};

/**
 * The keywords of an ask as the text writes them: the things it names, with the model designations that follow them.
 */
export const findKeywords = (
  text: string,
  tokens: readonly Word[],
  hits: readonly Hit[],
  excluded: readonly Criterion[],
): string[] => {
  const keywords: string[] = [];
  const seen = new Set<string>();
  for (const hit of hits) {
    if (hit.family !== "category" || hit.weight < 1.5) continue;
    // An excluded thing is not looked for.
    const named = spanOf(tokens, hit);
    if (excluded.some(({ span }) => overlaps(span, named))) continue;
    // A name with its model: "Fuji X", "iPad Air (4th".
    let to = hit.to;
    const next = tokens[to];
    if (next !== undefined && /^[ -]$/.test(next.before) && /\d/.test(next.folded) && /[a-z]/.test(next.folded))
      to += 1;
    const word = said(text, spanOf(tokens, { from: hit.from, to }));
    const key = word.toLowerCase();
    if (seen.has(key) || [...word].length > LONGEST_KEYWORD) continue;
    seen.add(key);
    keywords.push(word);
    if (keywords.length === MAX_KEYWORDS) break;
  }
  return keywords;
};

/**
 * The things that an ask excludes.
 *
 * @param isOwn true for words with which people describe themselves ("no pets", written by someone who looks for a
 *   flat)
 */
export const findExclusions = (
  text: string,
  tokens: readonly Word[],
  language: string | null,
  is: IsWord,
  isOwn: (at: number) => boolean,
): Criterion[] => {
  const found: Criterion[] = [];
  for (let at = 0; at < tokens.length && found.length < MAX_CRITERIA; at++) {
    const folded = tokens[at]?.folded ?? "";
    const excludes = is("excludes", folded) || (folded === ENGLISH_NO && (language === "en" || language === null));
    if (!excludes) continue;
    let from = at + 1;
    while (from < tokens.length && from <= at + 2 && is("article", tokens[from]?.folded ?? "") && !tokens[from]?.opens)
      from += 1;
    const first = tokens[from];
    if (
      first === undefined ||
      tokens.slice(at + 1, from + 1).some((token) => token.opens || ENDS_CLAUSE.test(token.before))
    )
      continue;
    if (is("not_excluded", first.folded) || first.folded.length < 3 || /^\d+$/.test(first.folded)) continue;
    const clause = Math.min(endOfClause(tokens, from, is), from + 2);
    const to = clause > from + 1 && is("polite", tokens[clause - 1]?.folded ?? "") ? clause - 1 : clause;
    if (Array.from({ length: to - from }, (_, index) => from + index).some(isOwn)) continue;
    const value = said(text, spanOf(tokens, { from, to }));
    if (value.length > LONGEST_CRITERION) continue;
    found.push({ value, span: spanOf(tokens, { from: at, to }) });
  }
  return found;
};

/** The requirements of an ask. */
export const findRequirements = (text: string, tokens: readonly Word[], is: IsWord): Criterion[] => {
  const found: Criterion[] = [];
  for (let at = 0; at < tokens.length && found.length < MAX_CRITERIA; at++) {
    if (!is("requires", tokens[at]?.folded ?? "")) continue;
    const first = tokens[at + 1];
    if (first === undefined || first.opens || ENDS_CLAUSE.test(first.before)) continue;
    const to = endOfClause(tokens, at + 1, is);
    const value = said(text, spanOf(tokens, { from: at + 1, to }));
    if (to <= at + 1 || value.length < 3 || value.length > LONGEST_CRITERION) continue;
    found.push({ value, span: spanOf(tokens, { from: at, to }) });
    at = to - 1;
  }
  return found;
};
