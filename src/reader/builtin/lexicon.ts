import { endsStep, type Steps } from "../../base/steps.ts";
import type { Concept, Vocabulary } from "../extraction.ts";
import { LANGUAGES } from "../languages.ts";
import { type Word, wordsIn } from "../text/tokens.ts";
import { type FunctionWords, functionWordsOf, isFunctionWord } from "./language.ts";
import { stem } from "./stem.ts";

/**
 * The compiled lexicon: phrases indexed by their words, and inflected forms by their stems. The tree of the phrases that
 * begin with a word is grown when a text first has this word, because most words of the lexicon never occur in the texts
 * of one process.
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

type Sense = { family: Family; value: string; weight: number };
type Entry = { term: string; language: string | null; senses: readonly Sense[] };

/** A node of the tree of words: the terms that end here, and the words that may follow. */
type Node = { entries: readonly Entry[]; next: Map<string, Node> | null };
type Tree = Map<string, Node>;

/** Trees of words, by their first word. */
type Trees = { get: (word: string) => Node | undefined };

/** The compiled lexicon, as trees of words. */
export type Lexicon = {
  taxonomy: Vocabulary["taxonomy"];
  exact: Trees;
  /** For each language, the terms by the stems of their words. */
  stems: ReadonlyMap<string, Trees>;
  /** The words of each closed class: "negation", "stop_word". */
  words: ReadonlyMap<string, ReadonlySet<string>>;
  /** The frequent words of each language, which are terms of no other. */
  functionWords: FunctionWords;
};

/** A label of a value. */
type Naming = { form: string; language: string | null; family: Family; value: string; weight: number };

/** What the labels of a concept say; null for cues, which say nothing by themselves. */
const meaningOf = (concept: Concept): { family: Family; value: string } | null => {
  switch (concept.type) {
    case "category":
      return { family: "category", value: `${concept.domain}/${concept.category}` };
    case "domain":
      return { family: "domain", value: concept.domain };
    case "offer_kind":
      return { family: "kind", value: concept.offer_kind };
    case "ask_kind":
      return { family: "ask_kind", value: concept.ask_kind };
    case "condition":
      return { family: "condition", value: concept.condition };
    case "feature":
      return { family: "feature", value: concept.concept };
    case "cue":
    case "word_class":
      return null;
  }
};

/** The part of a vocabulary that becomes the lexicon. */
type Named = Pick<Vocabulary, "taxonomy" | "concepts" | "labels">;

/**
 * The labels that name a value.
 * @throws if a label names an unknown concept, which the database does not allow
 */
export const namingsOf = ({ concepts, labels }: Named): Naming[] => {
  const meanings = new Map(concepts.map((concept) => [concept.concept, meaningOf(concept)]));
  const namings: Naming[] = [];
  for (const [concept, language, form, weight] of labels) {
    const meaning = meanings.get(concept);
    if (meaning === undefined) throw new Error(`The label "${form}" names ${concept}, which is no concept.`);
    if (meaning !== null) namings.push({ form, language, family: meaning.family, value: meaning.value, weight });
  }
  return namings;
};

const MIN_COMPOUND = 7;
/** A longer word is none: each of its ends would be tried. The longest compounds of dictionaries have about 70 letters. */
const MAX_COMPOUND = 80;
const MIN_HEAD = 4;
const MIN_MODIFIER = 3;

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

/** A form as it is stored: folded words, single spaces. */
const FOLDED = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/** The folded words of a form, with single spaces. */
const wordsOf = (form: string): string =>
  FOLDED.test(form)
    ? form
    : wordsIn(form)
        .map((token) => token.folded)
        .join(" ");

/** The language of a text with at most this many words is often detected wrongly: "van to hire" is not Dutch. */
const FEW_WORDS = 6;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Shares equal one-element arrays. Without this, a lexicon of 44,000 labels would take 27 MB. */
const sharing = <T>(): ((items: readonly T[], last: T) => readonly T[]) => {
  const single = new Map<T, readonly T[]>();
  return (items, last) => {
    if (items.length > 0) return items.concat(last);
    const alone = single.get(last) ?? [last];
    single.set(last, alone);
    return alone;
  };
};

/** The class of the frequent words of a language. */
const FUNCTION_WORD = "function_word";

/** Tells whether a folded word belongs to a closed class of words. */
export type IsWord = (wordClass: string, word: string) => boolean;

/** The function that tells whether a word belongs to a closed class. */
export const isWordOf =
  (lexicon: Lexicon): IsWord =>
  (cue, word) =>
    lexicon.words.get(cue)?.has(word) ?? false;

const firstOf = (words: string): string => {
  const end = words.indexOf(" ");
  return end < 0 ? words : words.slice(0, end);
};

/** Adds an item to those of a key. */
const addTo = <T>(groups: Map<string, T[]>, key: string, item: T): void => {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
};

/** In this order, so that an extraction does not depend on the order of the rows. */
const inOrder = (a: Naming, b: Naming): number =>
  compare(a.form, b.form) ||
  compare(a.family, b.family) ||
  compare(a.value, b.value) ||
  compare(a.language ?? "", b.language ?? "");

/**
 * Makes the trees of the labels.
 * @param byFirst the labels by the form of their first word; those of a tree are removed
 * @param form gives the form of a word of a term
 */
const treesOf = (byFirst: Map<string, Naming[]>, form: (word: string) => string): Trees => {
  const none: readonly never[] = [];
  const withSense = sharing<Sense>();
  const withEntry = sharing<Entry>();
  const known = new Map<string, Sense>();
  const grown: Tree = new Map();
  const grow = (namings: Naming[]): Tree => {
    const entries = new Map<string, Entry>();
    for (const { form, language, family, value, weight } of namings.sort(inOrder)) {
      const words = wordsOf(form);
      const name = `${family} ${value} ${weight}`;
      const meaning = known.get(name) ?? { family, value, weight };
      known.set(name, meaning);
      const key = `${words}|${language ?? ""}`;
      const entry = entries.get(key) ?? { term: words, language, senses: none };
      entry.senses = withSense(entry.senses, meaning);
      entries.set(key, entry);
    }
    const tree: Tree = new Map();
    for (const entry of entries.values()) {
      let branch = tree;
      let node: Node | undefined;
      for (const word of entry.term.split(" ").map(form)) {
        if (node !== undefined) branch = node.next ??= new Map();
        node = branch.get(word);
        if (node === undefined) {
          node = { entries: none, next: null };
          branch.set(word, node);
        }
      }
      if (node !== undefined) node.entries = withEntry(node.entries, entry);
    }
    return tree;
  };
  return {
    get: (word) => {
      const known = grown.get(word);
      if (known !== undefined) return known;
      const namings = byFirst.get(word);
      const node = namings && grow(namings).get(word);
      if (node === undefined) return undefined;
      grown.set(word, node);
      byFirst.delete(word);
      return node;
    },
  };
};

/** Compiles the words of a vocabulary. */
export function* compileLexicon(vocabulary: Named): Steps<Lexicon> {
  const exact = new Map<string, Naming[]>();
  const stems = new Map<string, Map<string, Naming[]>>();
  const namings = namingsOf(vocabulary);
  yield;
  for (const [row, naming] of namings.entries()) {
    if (endsStep(row)) yield;
    const first = firstOf(wordsOf(naming.form));
    addTo(exact, first, naming);
    const language = naming.language ?? "en";
    const ofLanguage = stems.get(language) ?? new Map<string, Naming[]>();
    stems.set(language, ofLanguage);
    addTo(ofLanguage, stem(first, language), naming);
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
  return {
    taxonomy: vocabulary.taxonomy,
    exact: treesOf(exact, (word) => word),
    stems: new Map([...stems].map(([language, byStem]) => [language, treesOf(byStem, (word) => stem(word, language))])),
    words,
    functionWords: functionWordsOf(functionWords),
  };
}

const languageFactor = (entry: Entry, language: string | null): number => {
  if (entry.language === null || entry.language === language) return 1;
  if (language === null) return UNKNOWN_LANGUAGE_FACTOR;
  return entry.language === "en" ? ENGLISH_FACTOR : FOREIGN_FACTOR;
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

/** The longest end of a compound that is a term, or null. */
const headOf = (lexicon: Lexicon, word: string, language: string): readonly Entry[] | null => {
  if (word.length > MAX_COMPOUND) return null;
  const index = lexicon.stems.get(language);
  for (let cut = MIN_MODIFIER; word.length - cut >= MIN_HEAD; cut++) {
    const head = word.slice(cut);
    const entries = (lexicon.exact.get(head) ?? index?.get(stem(head, language)))?.entries.filter(
      (entry) => entry.language === language,
    );
    if (entries !== undefined && entries.length > 0) return entries;
  }
  return null;
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

  const collect = (entries: readonly Entry[], from: number, to: number, factor: number) => {
    for (const entry of entries) {
      if (to - from === 1 && functionWords[from] && entry.language !== null && entry.language !== language) continue;
      const weight = factor * languageFactor(entry, language);
      for (const sense of entry.senses) {
        hits.push({
          family: sense.family,
          value: sense.value,
          weight: sense.weight * weight,
          from,
          to,
          term: entry.term,
        });
      }
    }
  };

  /** Looks up the phrases that begin at token `from`, by the given forms of the words. */
  const lookUp = (tree: Trees, forms: readonly string[], from: number, factor: number): boolean => {
    let any = false;
    let node = tree.get(forms[from] ?? "");
    for (let to = from + 1; node !== undefined; to++) {
      if (node.entries.length > 0) {
        any = true;
        collect(node.entries, from, to, factor);
      }
      // A phrase does not continue in the next sentence.
      if (to >= forms.length || tokens[to]?.opens) break;
      node = node.next?.get(forms[to] ?? "");
    }
    return any;
  };

  for (let at = 0; at < words.length; at++) {
    let any = lookUp(lexicon.exact, words, at, 1);
    // A word that is a term itself is not an inflected form of another: "clean jars" is not about cleaning.
    const own = lexicon.exact
      .get(words[at] ?? "")
      ?.entries.some((entry) => entry.language === null || entry.language === language);
    if (own) continue;
    stemmed.forEach((one, order) => {
      const index = lexicon.stems.get(one);
      if (index !== undefined && lookUp(index, stemsOf[order] ?? [], at, STEM_FACTOR)) any = true;
    });
    const word = words[at] ?? "";
    if (any || word.length < MIN_COMPOUND || language === null || !LANGUAGES[language]?.compounds) continue;
    const head = headOf(lexicon, word, language);
    if (head !== null) collect(head, at, at + 1, COMPOUND_FACTOR);
  }
  return withoutContained(hits);
};
