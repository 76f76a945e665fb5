import { type Span, spanOf } from "../text/span.ts";
import { phraseAt, type Word } from "../text/tokens.ts";
import type { Annotations } from "./annotate.ts";
import type { Hit, IsWord } from "./lexicon.ts";

/** Reads the criteria of an ask: keywords, requirements and exclusions. */

/** A thing that an ask requires or excludes. */
export type Criterion = { value: string; span: Span };

const MAX_KEYWORDS = 20;
const MAX_CRITERIA = 10;
const LONGEST_KEYWORD = 60;
const LONGEST_CRITERION = 80;

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
export const findKeywords = (text: string, tokens: readonly Word[], hits: readonly Hit[]): string[] => {
  const keywords: string[] = [];
  const seen = new Set<string>();
  for (const hit of hits) {
    if (hit.family !== "category" || hit.weight < 1.5) continue;
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

/** A text in which exclusions are looked for. */
export type ExclusionScene = Pick<Annotations, "text" | "words" | "hits" | "placeHits" | "language" | "is"> & {
  /** True for a query: in an ask, a word that negates verbs excludes only what is surely a thing. */
  isQuery: boolean;
};

/** What may stand before what is excluded. */
const BEFORE_ITEM = /^(?:\s+["'„“«»(]*|\s*['’])$/u;

/** A minus directly before a word, after white space: "TV -samsung". */
const MINUS = /[\s,;]["'„“«]?[-–−]["'„“«]?$/u;
const FIRST_MINUS = /^\s*[-–−]["'„“«]?$/u;

/** The most words between an opener and what is excluded: "not made of the". */
const MAX_FILLERS = 4;

/** How far apart the two words of "né Samsung né LG" are at most. */
const APART = 4;

/** An excluded thing is named by at most two words: more would be found in no offer. */
const MAX_EXCLUDED_WORDS = 2;

/** A shorter word is not excluded, unless it begins a longer one: "no e-bike". */
const SHORT = 2;

/** The number of words that open an exclusion at `at`; 0 if none does. */
const openerAt = ({ words, language, is }: ExclusionScene, at: number): number => {
  const { folded = "" } = words[at] ?? {};
  // The Portuguese "no" means "in the", and the English "non" is part of a word. "Nothing but leather" wants leather.
  if (
    (folded === "no" && language === "pt") ||
    (folded === "non" && language === "en") ||
    is("nothing", words[at - 1]?.folded ?? "")
  )
    return 0;
  const length = phraseAt(words, at, (phrase) => is("excludes", phrase));
  if (length > 0) return length;
  // "Noch" and "né" mean something else where they stand once: "né Samsung né LG".
  const again = words.slice(at + 2, at + APART + 2).some((word) => word.folded === folded);
  const before = words.slice(Math.max(0, at - APART - 1), at).some((word) => word.folded === folded);
  return is("excludes_twice", folded) && (again || before) ? 1 : 0;
};

/** True for a word that mostly negates verbs: the English "no" does not. */
const negatesVerbs = ({ words, language, is }: ExclusionScene, at: number): boolean => {
  const { folded = "" } = words[at] ?? {};
  return is("negates_verbs", folded) && (folded !== "no" || (language !== "en" && language !== null));
};

/** The words that name an excluded thing, which begins at `at`; null if nothing is excluded. */
const excludedAt = (scene: ExclusionScene, at: number): { from: number; to: number } | null => {
  const { words, hits, placeHits, isQuery, is } = scene;
  let from = at;
  const isBeside = (n: number): boolean => {
    const word = words[n];
    return word !== undefined && !word.opens && BEFORE_ITEM.test(word.before);
  };
  while (
    from < at + MAX_FILLERS &&
    isBeside(from) &&
    words[from]?.capital === false &&
    !is("degree_word", words[from]?.folded ?? "") &&
    (is("article", words[from]?.folded ?? "") || is("exclude_filler", words[from]?.folded ?? ""))
  )
    from += 1;
  const isPlace = (n: number): boolean =>
    placeHits.some(
      ({ form, ...hit }) => form === "name" && hit.from <= (words[n]?.from ?? 0) && (words[n]?.from ?? 0) < hit.to,
    );
  const isLimit = (n: number): boolean =>
    phraseAt(words, n, (phrase) => is("bound_most", phrase) || is("bound_least", phrase)) > 0;
  const first = words[from];
  if (first === undefined || !isBeside(from)) return null;
  const { folded, capital } = first;
  const isBeginning = words[from + 1]?.before === "-";
  const isFunction = (word: string): boolean =>
    is("function_word", word) || is("article", word) || is("conjunction", word) || is("stop_word", word);
  if (
    (folded.length < SHORT && !isBeginning) ||
    /^\d+$/.test(folded) ||
    is("not_excluded", folded) ||
    is("degree_word", folded) ||
    (isFunction(folded) && !capital && !isBeginning) ||
    isLimit(from) ||
    (isPlace(from) && capital) ||
    (!isQuery && from === at && negatesVerbs(scene, at - 1) && !capital && !hits.some((hit) => hit.from === from)) ||
    openerAt(scene, from) > 0
  )
    return null;
  // What stands there beside the thing: how it is wanted, where, for how much.
  const ends = (n: number): boolean => {
    const word = words[n];
    if (word === undefined || !/^(?:\s+|-)$/u.test(word.before)) return true;
    const isOther = hits.some(
      (hit) => hit.from <= n && n < hit.to && hit.from > from && hit.family !== "category" && hit.family !== "domain",
    );
    return (
      isOther ||
      isPlace(n) ||
      isLimit(n) ||
      openerAt(scene, n) > 0 ||
      /^\d{3,}$/.test(word.folded) ||
      isFunction(word.folded) ||
      is("polite", word.folded) ||
      is("limit_word", word.folded)
    );
  };
  let to = from + 1;
  while (to < from + MAX_EXCLUDED_WORDS && !ends(to)) to += 1;
  return { from, to };
};

/** The words that go on with an enumeration at `at`: "or", "nor", a comma before further ones. The next thing's place. */
const furtherAt = (scene: ExclusionScene, at: number): number | null => {
  const { words, is } = scene;
  const next = words[at];
  if (next === undefined) return null;
  if (/^\s+$/u.test(next.before) && is("enumerates", next.folded)) return at + 1;
  if (/^\s*[/&]\s*$/u.test(next.before)) return at;
  // In "no A, B or C" the comma enumerates, in "no A, grey" it does not.
  if (!/^\s*,\s*$/u.test(next.before)) return null;
  if (is("enumerates", next.folded)) return at + 1;
  for (let end = at + 1; end <= at + MAX_EXCLUDED_WORDS * 2; end++) {
    const word = words[end];
    if (word === undefined || !["", ","].includes(word.before.trim())) return null;
    if (is("enumerates", word.folded)) return at;
  }
  return null;
};

/** A word with nothing but its comma before it, as the first of the excluded things has it. */
const plainly = (word: Word): Word => ({ ...word, before: " ", opens: false });

/**
 * The things that an ask or a query excludes: what stands after a minus or a word such as "without", and what follows it
 * in an enumeration.
 *
 * @param isOwn true for words with which people describe themselves ("no pets", written by someone who looks for a
 *   flat)
 */
export const findExclusions = (scene: ExclusionScene, isOwn: (at: number) => boolean): Criterion[] => {
  const { text, words } = scene;
  const found: Criterion[] = [];
  const keep = (opener: number, { from, to }: { from: number; to: number }): void => {
    const value = said(text, spanOf(words, { from, to }));
    const isSaid = found.length < MAX_CRITERIA && value.length <= LONGEST_CRITERION;
    if (!isSaid || found.some((one) => one.value === value)) return;
    if (Array.from({ length: to - from }, (_, index) => from + index).some(isOwn)) return;
    found.push({ value, span: spanOf(words, { from: opener, to }) });
  };
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word !== undefined && (at === 0 ? FIRST_MINUS : MINUS).test(word.before) && /^\p{L}/u.test(word.folded)) {
      // The minus is part of the passage.
      let to = at + 1;
      while (words[to]?.before === "-") to += 1;
      keep(at, { from: at, to });
      const last = found.at(-1);
      if (last?.span.start === word.start) last.span = { ...last.span, start: word.start - 1 };
      continue;
    }
    const opener = openerAt(scene, at);
    if (opener === 0) continue;
    let item = excludedAt(scene, at + opener);
    let begin = at;
    while (item !== null) {
      keep(begin, item);
      begin = item.to;
      at = begin - 1;
      const next: number | null = furtherAt(scene, begin);
      const further = next === null ? undefined : words[next];
      if (next === null || further === undefined || openerAt(scene, next) > 0) break;
      item = excludedAt({ ...scene, words: words.with(next, plainly(further)) }, next);
    }
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
