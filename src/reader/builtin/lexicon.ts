import { endsStep, type Steps } from "../../base/steps.ts";
import type { Concept, Vocabulary } from "../extraction.ts";
import { LANGUAGES } from "../languages.ts";
import { type Word, wordsIn } from "../text/tokens.ts";
import { type FunctionWords, functionWordsOf, isFunctionWord } from "./language.ts";
import { stem } from "./stem.ts";

/**
 * The compiled lexicon: labels by their first word, and inflected forms by their stems. The labels that begin with a word
 * are made ready when a text first has this word, because most words of the lexicon never occur in the texts of one
 * process.
 */

/** What a label says something about. */
type Family = "category" | "domain" | "kind" | "ask_kind" | "condition" | "feature";

/** A label that was found in a text. */
export type Hit = {
  family: Family;
  /** What the label says: "electronics/phones", "rental". */
  value: string;
  /** The weight of the label, reduced if the form or the language differs. */
  weight: number;
  /** Tokens `from` (inclusive) to `to` (exclusive). */
  from: number;
  to: number;
  term: string;
};

/** Tells whether a folded word belongs to a closed class of words. */
export type IsWord = (wordClass: string, word: string) => boolean;

/** A label of a value. `form`: folded words with single spaces. */
type Naming = { form: string; language: string | null; family: Family; value: string; weight: number };

/** The labels that begin with a word: the word itself, and phrases. */
type Labels = { single: readonly Naming[]; phrases: readonly { naming: Naming; words: readonly string[] }[] };

/** Labels by their first word. */
type Index = { get: (word: string) => Labels | undefined };

/** The compiled lexicon. */
export type Lexicon = {
  taxonomy: Vocabulary["taxonomy"];
  exact: Index;
  /** For each language, the labels by the stems of their words. */
  stems: ReadonlyMap<string, Index>;
  /** All labels of values. */
  namings: readonly Naming[];
  /** The words of each closed class: "negation", "stop_word". */
  words: ReadonlyMap<string, ReadonlySet<string>>;
  is: IsWord;
  /** The frequent words of each language, which are terms of no other. */
  functionWords: FunctionWords;
};

/** What the labels of a concept say; null for cues, which say nothing by themselves. */
const meaningOf = (concept: Concept): { family: Family; value: string } | null => {
  const { type } = concept;
  if (type === "cue" || type === "word_class") return null;
  if (type === "category") return { family: type, value: `${concept.domain}/${concept.category}` };
  if (type === "feature") return { family: type, value: concept.concept };
  return { family: type === "offer_kind" ? "kind" : type, value: concept[type] ?? "" };
};

/** A form as it is stored: folded words, single spaces. */
const FOLDED = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/** The folded words of a form, with single spaces. */
const wordsOf = (form: string): string =>
  FOLDED.test(form)
    ? form
    : wordsIn(form)
        .map((token) => token.folded)
        .join(" ");

/** The part of a vocabulary that becomes the lexicon. */
type Named = Pick<Vocabulary, "taxonomy" | "concepts" | "labels">;

/**
 * The labels that name a value.
 * @throws if a label names an unknown concept, which the database does not allow
 */
const namingsOf = ({ concepts, labels }: Named): Naming[] => {
  const meanings = new Map(concepts.map((concept) => [concept.concept, meaningOf(concept)]));
  const namings: Naming[] = [];
  for (const [concept, language, form, weight] of labels) {
    const meaning = meanings.get(concept);
    if (meaning === undefined) throw new Error(`The label "${form}" names ${concept}, which is no concept.`);
    if (meaning !== null) namings.push({ form: wordsOf(form), language, ...meaning, weight });
  }
  return namings;
};

/** Factors on the weight. An inflected form is more certain to be the term than a compound is. */
const STEM_FACTOR = 0.95;
const COMPOUND_FACTOR = 0.85;

/**
 * Factors on the weight of terms of another language than the text's. English terms are used in other languages; terms
 * of other languages are mostly chance matches ("chat", "box").
 */
const ENGLISH_FACTOR = 0.6;
const FOREIGN_FACTOR = 0.2;
const UNKNOWN_LANGUAGE_FACTOR = 0.9;

/** The language of a text with at most this many words is often detected wrongly: "van to hire" is not Dutch. */
const FEW_WORDS = 6;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The class of the frequent words of a language. */
const FUNCTION_WORD = "function_word";

/** In this order, so that an extraction does not depend on the order of the rows. */
const inOrder = (a: Naming, b: Naming): number =>
  compare(a.form, b.form) ||
  compare(a.family, b.family) ||
  compare(a.value, b.value) ||
  compare(a.language ?? "", b.language ?? "");

/** Creates an index to which labels are added one by one. @param formOf the form of a word by which it is looked up */
const createIndex = (formOf: (word: string) => string): Index & { add: (naming: Naming) => void } => {
  const byFirst = new Map<string, Naming[]>();
  const ready = new Map<string, Labels>();
  return {
    add: (naming) => {
      const end = naming.form.indexOf(" ");
      const first = formOf(end < 0 ? naming.form : naming.form.slice(0, end));
      const same = byFirst.get(first);
      if (same === undefined) byFirst.set(first, [naming]);
      else same.push(naming);
    },
    get: (word) => {
      const known = ready.get(word);
      if (known !== undefined) return known;
      const namings = byFirst.get(word)?.sort(inOrder);
      if (namings === undefined) return undefined;
      const isPhrase = ({ form }: Naming): boolean => form.includes(" ");
      const labels = {
        single: namings.filter((naming) => !isPhrase(naming)),
        phrases: namings
          .filter(isPhrase)
          .map((naming) => ({ naming, words: naming.form.split(" ").map(formOf) }))
          .sort((a, b) => a.words.length - b.words.length),
      };
      ready.set(word, labels);
      return labels;
    },
  };
};

/** Compiles the words of a vocabulary. */
export function* compileLexicon(vocabulary: Named): Steps<Lexicon> {
  const exact = createIndex((word) => word);
  const stems = new Map<string, ReturnType<typeof createIndex>>();
  const namings = namingsOf(vocabulary);
  yield;
  for (const [row, naming] of namings.entries()) {
    if (endsStep(row)) yield;
    exact.add(naming);
    const language = naming.language ?? "en";
    const ofLanguage = stems.get(language) ?? createIndex((word) => stem(word, language));
    stems.set(language, ofLanguage);
    ofLanguage.add(naming);
  }
  const classes = new Set(
    vocabulary.concepts.filter(({ type }) => type === "word_class").map(({ concept }) => concept),
  );
  const words = new Map<string, Set<string>>();
  const functionWords: { language: string; form: string }[] = [];
  for (const [at, [concept, language, form]] of vocabulary.labels.entries()) {
    if (endsStep(at)) yield;
    if (!classes.has(concept)) continue;
    if (concept === FUNCTION_WORD && language !== null) functionWords.push({ language, form });
    const same = words.get(concept) ?? new Set();
    words.set(concept, same.add(form));
  }
  const is: IsWord = (wordClass, word) => words.get(wordClass)?.has(word) ?? false;
  return {
    taxonomy: vocabulary.taxonomy,
    exact,
    stems,
    namings,
    words,
    is,
    functionWords: functionWordsOf(functionWords),
  };
}

const languageFactor = (naming: Naming, language: string | null): number => {
  if (naming.language === null || naming.language === language) return 1;
  if (language === null) return UNKNOWN_LANGUAGE_FACTOR;
  return naming.language === "en" ? ENGLISH_FACTOR : FOREIGN_FACTOR;
};

/** Drops hits inside a longer hit of the same family: "machine" in "washing machine". */
const withoutContained = (hits: Hit[]): Hit[] => {
  const kept: Hit[] = [];
  const covered = new Map<string, Map<number, number>>();
  const seen = new Set<string>();
  for (const hit of hits.toSorted((a, b) => b.to - b.from - (a.to - a.from) || b.weight - a.weight)) {
    const key = `${hit.from} ${hit.to} ${hit.family} ${hit.value}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const family = covered.get(hit.family) ?? new Map<number, number>();
    covered.set(hit.family, family);
    const length = hit.to - hit.from;
    let inside = false;
    for (let at = hit.from; at < hit.to; at++) if ((family.get(at) ?? 0) > length) inside = true;
    if (inside) continue;
    for (let at = hit.from; at < hit.to; at++) family.set(at, length);
    kept.push(hit);
  }
  return kept.sort((a, b) => a.from - b.from || a.to - b.to);
};

const MIN_COMPOUND = 7;
/** A longer word is none: each of its ends would be tried. The longest compounds of dictionaries have about 70 letters. */
const MAX_COMPOUND = 80;
const MIN_HEAD = 4;
const MIN_MODIFIER = 3;

/** The labels of the longest end of a compound that is a term. */
const headOf = (lexicon: Lexicon, word: string, language: string): readonly Naming[] => {
  if (word.length > MAX_COMPOUND) return [];
  const index = lexicon.stems.get(language);
  for (let cut = MIN_MODIFIER; word.length - cut >= MIN_HEAD; cut++) {
    const head = word.slice(cut);
    const found = (lexicon.exact.get(head) ?? index?.get(stem(head, language)))?.single ?? [];
    const own = found.filter((naming) => naming.language === language);
    if (own.length > 0) return own;
  }
  return [];
};

/**
 * Finds every label of the lexicon in a text, in order. Of overlapping terms of a family, only the longest is kept.
 */
export const findTerms = (lexicon: Lexicon, tokens: readonly Word[], language: string | null): Hit[] => {
  const hits: Hit[] = [];
  const stemmed = language === null || language === "en" ? ["en"] : [language, "en"];
  const words = tokens.map((token) => token.folded);
  const stemsOf = stemmed.map((one) => words.map((word) => stem(word, one)));

  // Function words are not terms of another language: "hat" in German, "les" in French.
  const detected = language !== null && words.length > FEW_WORDS ? language : null;
  const functionWords = words.map((word) => detected !== null && isFunctionWord(lexicon.functionWords, word, detected));

  const collect = (naming: Naming, from: number, to: number, factor: number): void => {
    const { family, value, form: term } = naming;
    if (to - from === 1 && functionWords[from] && naming.language !== null && naming.language !== language) return;
    hits.push({ family, value, weight: naming.weight * factor * languageFactor(naming, language), from, to, term });
  };

  /** Looks up the labels that begin at token `from`, by the given forms of the words. */
  const lookUp = (index: Index, forms: readonly string[], from: number, factor: number): boolean => {
    const labels = index.get(forms[from] ?? "");
    if (labels === undefined) return false;
    for (const naming of labels.single) collect(naming, from, from + 1, factor);
    let any = labels.single.length > 0;
    for (const { naming, words: rest } of labels.phrases) {
      // A phrase does not continue in the next sentence.
      const isHere = rest.every((word, n) => n === 0 || (word === forms[from + n] && !tokens[from + n]?.opens));
      if (!isHere) continue;
      any = true;
      collect(naming, from, from + rest.length, factor);
    }
    return any;
  };

  for (const [at, word] of words.entries()) {
    let any = lookUp(lexicon.exact, words, at, 1);
    // A word that is a term itself is not an inflected form of another: "clean jars" is not about cleaning.
    const own = lexicon.exact.get(word)?.single.some((one) => one.language === null || one.language === language);
    if (own) continue;
    stemmed.forEach((one, order) => {
      const index = lexicon.stems.get(one);
      if (index !== undefined && lookUp(index, stemsOf[order] ?? [], at, STEM_FACTOR)) any = true;
    });
    if (any || word.length < MIN_COMPOUND || language === null || !LANGUAGES[language]?.compounds) continue;
    for (const head of headOf(lexicon, word, language)) collect(head, at, at + 1, COMPOUND_FACTOR);
  }
  return withoutContained(hits);
};
