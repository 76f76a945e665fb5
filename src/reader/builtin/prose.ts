import type { Span } from "./span.ts";

/**
 * Splits texts into tokens and finds the phrases of a vocabulary in them. All grammars work on these tokens, so
 * vocabularies are plain data, matching is linear, and no pattern can backtrack.
 */

/**
 * A run of letters ("word"), a run of ASCII digits ("digits") or one other character ("mark").
 * `text` is folded: lower case, no accents, plain apostrophes and dashes. `gap` is the white space before the token.
 */
export type Token = Span & { kind: "word" | "digits" | "mark"; text: string; gap: "none" | "space" | "line" };

/** Letters that Unicode does not decompose and that people also write as plain letters. */
const PLAIN: Readonly<Record<string, string>> = { ß: "ss", ł: "l", ø: "o", æ: "ae", œ: "oe", đ: "d", ı: "i" };

const MARK_TWINS: Readonly<Record<string, string>> = {
  "’": "'",
  "‘": "'",
  ʼ: "'",
  "´": "'",
  "`": "'",
  "–": "-",
  "—": "-",
  "‐": "-",
  "‑": "-",
  "−": "-",
  "‒": "-",
};

/** Lower case without accents; "Größe" becomes "grosse". */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[ßłøæœđı]/gu, (letter) => PLAIN[letter] ?? letter);

/** Cache of the last text, because several grammars read the same text one after the other. */
let last: { text: string; tokens: readonly Token[] } = { text: "", tokens: [] };

/** Splits a text into tokens, in order. White space is kept only as the gap before a token. */
export const tokenize = (text: string): readonly Token[] => {
  if (last.text !== text) last = { text, tokens: split(text) };
  return last.tokens;
};

const split = (text: string): Token[] => {
  const tokens: Token[] = [];
  let gap: Token["gap"] = "line";
  for (const match of text.matchAll(/[\p{L}\p{M}]+|\d+|\s+|./gsu)) {
    const raw = match[0];
    const start = match.index;
    if (/^\s/u.test(raw)) {
      gap = /[\n\r\u2028\u2029]/u.test(raw) ? "line" : "space";
      continue;
    }
    const kind = /^\p{L}|^\p{M}/u.test(raw) ? "word" : /^\d/u.test(raw) ? "digits" : "mark";
    const folded = kind === "word" ? fold(raw) : (MARK_TWINS[raw] ?? raw);
    tokens.push({ kind, text: folded, start, end: start + raw.length, gap });
    gap = "none";
  }
  return tokens;
};

type Phrase<S> = { words: string[]; open: boolean; sense: S };

/**
 * Phrases by their first word. Single-word prefix phrases ("verhandel*") are indexed by their first letters. Longest
 * first.
 */
export type Phrases<S> = {
  byWord: ReadonlyMap<string, readonly Phrase<S>[]>;
  byLetters: ReadonlyMap<string, readonly Phrase<S>[]>;
};

/** A phrase that was found: tokens `from` (inclusive) to `to` (exclusive). */
export type Hit<S> = { sense: S; from: number; to: number };

/** Short enough for the shortest prefix phrase of a vocabulary. */
const KEY_LENGTH = 2;

const keyOf = (word: string): string => word.slice(0, KEY_LENGTH);

/**
 * Compiles a vocabulary: for each sense, phrases separated by `|` or line breaks, written as people write them.
 * A phrase that ends in `*` also matches a last word that is longer ("verhandel*").
 */
export const compilePhrases = <S extends string>(vocabulary: Readonly<Record<S, string>>): Phrases<S> => {
  const byWord = new Map<string, Phrase<S>[]>();
  const byLetters = new Map<string, Phrase<S>[]>();
  for (const sense of Object.keys(vocabulary) as S[]) {
    for (const written of vocabulary[sense].split(/[|\n]/u)) {
      const phrase = written.trim();
      if (phrase === "") continue;
      const open = phrase.endsWith("*");
      const words = tokenize(open ? phrase.slice(0, -1) : phrase).map((token) => token.text);
      const first = words[0] ?? "";
      const prefix = open && words.length === 1;
      const index = prefix ? byLetters : byWord;
      const key = prefix ? keyOf(first) : first;
      const same = index.get(key) ?? [];
      same.push({ words, open, sense });
      index.set(key, same);
    }
  }
  for (const same of byWord.values()) same.sort((a, b) => b.words.length - a.words.length);
  for (const same of byLetters.values()) same.sort((a, b) => (b.words[0] ?? "").length - (a.words[0] ?? "").length);
  return { byWord, byLetters };
};

const matchesAt = <S>(tokens: readonly Token[], at: number, phrase: Phrase<S>): boolean => {
  const last = phrase.words.length - 1;
  return phrase.words.every((word, i) => {
    const token = tokens[at + i];
    // A phrase does not continue across lines.
    if (token === undefined || (i > 0 && token.gap === "line")) return false;
    return token.text === word || (phrase.open && i === last && token.text.startsWith(word));
  });
};

/** The longest phrase that starts at token `at`, or null. */
export const phraseAt = <S>(tokens: readonly Token[], at: number, phrases: Phrases<S>): Hit<S> | null => {
  const token = tokens[at];
  if (token === undefined) return null;
  const matches = (candidate: Phrase<S>): boolean => matchesAt(tokens, at, candidate);
  const phrase =
    phrases.byWord.get(token.text)?.find(matches) ??
    (phrases.byLetters.size === 0 ? undefined : phrases.byLetters.get(keyOf(token.text))?.find(matches));
  return phrase === undefined ? null : { sense: phrase.sense, from: at, to: at + phrase.words.length };
};

/** All phrases in a text from left to right. The longest phrase wins, and phrases do not overlap. */
export const findPhrases = <S>(tokens: readonly Token[], phrases: Phrases<S>): Hit<S>[] => {
  const hits: Hit<S>[] = [];
  for (let at = 0; at < tokens.length; ) {
    const hit = phraseAt(tokens, at, phrases);
    if (hit !== null) hits.push(hit);
    at = hit?.to ?? at + 1;
  }
  return hits;
};

/** Words after which a full stop does not end a sentence. */
const ABBREVIATIONS = new Set(
  `tel tlf telef fon fax mob cel whatsapp nr no num ref art approx ca circa inkl incl excl zzgl zgl min max std mtl monatl tys tsd
  mio mln ok ul pl str av avda bd st mr mrs ms dr sr sra sig dott herr fr hr frau bzw evtl ggf vs eg ie etc p pp pr pers`.split(
    /\s+/u,
  ),
);

/** True if token `at` begins a sentence: after a line break, or after a full stop or similar mark and white space. */
export const startsSentence = (tokens: readonly Token[], at: number): boolean => {
  const token = tokens[at];
  const before = tokens[at - 1];
  if (token === undefined || before === undefined || token.gap === "line") return true;
  if (token.gap === "none" || !/^[.!?;…•·|]$/u.test(before.text)) return false;
  const abbreviated = tokens[at - 2];
  // The last part of "jo@example.fr." is not an abbreviation.
  const isHost = abbreviated?.gap === "none" && tokens[at - 3]?.text === ".";
  return before.text !== "." || isHost || !ABBREVIATIONS.has(abbreviated?.text ?? "");
};
