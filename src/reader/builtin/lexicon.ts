import type { Vocabulary } from "../extraction.ts";
import { isFunctionWord } from "./language.ts";
import { stem } from "./stem.ts";
import { type Token, tokenize } from "./tokens.ts";

/** The vocabulary, compiled once for looking up: phrases by their words, inflected forms by their stems. */

/** What of a sense stands before its colon. */
type Family =
  | "category"
  | "domain"
  | "kind"
  | "ask_kind"
  | "condition"
  | "feature"
  | "place"
  | "region"
  | "country"
  | "city";

/** A term of the vocabulary, found in a text. */
export type Hit = {
  family: Family;
  /** The sense without its family: "electronics/phones", "rental", "DE", "DE/Köln". */
  value: string;
  /** As in the vocabulary, less where the form or the language differs. */
  weight: number;
  /** Tokens `from` (inclusive) to `to` (exclusive). */
  from: number;
  to: number;
  term: string;
};

type Sense = { family: Family; value: string; weight: number };
type Entry = { term: string; language: string | null; senses: readonly Sense[] };

/** What the words so far are, and what may follow them. */
type Node = { entries: readonly Entry[]; next: Map<string, Node> | null };
type Tree = Map<string, Node>;

/** The compiled vocabulary, as trees of words. */
export type Lexicon = {
  taxonomy: Vocabulary["taxonomy"];
  exact: ReadonlyMap<string, Node>;
  /** Per language: terms by the stems of their words. */
  stems: ReadonlyMap<string, ReadonlyMap<string, Node>>;
};

const FAMILIES: ReadonlySet<string> = new Set([
  "category",
  "domain",
  "kind",
  "ask_kind",
  "condition",
  "feature",
  "place",
  "region",
  "country",
  "city",
]);

const isFamily = (name: string): name is Family => FAMILIES.has(name);

/** Languages that write nouns together: "Dachgeschosswohnung" is a "Wohnung". */
const COMPOUNDING: readonly string[] = ["de", "nl"];

const LEAST_COMPOUND = 7;
const LEAST_HEAD = 4;
const LEAST_MODIFIER = 3;

/** An inflected form is surer to be the word than a compound is. */
const STEM_FACTOR = 0.95;
const COMPOUND_FACTOR = 0.85;

/** Words of another language than the text's: English ones travel, others are mostly chance ("chat", "box"). */
const ENGLISH_ABROAD = 0.6;
const OTHER_ABROAD = 0.2;
const LANGUAGE_UNKNOWN = 0.9;

/** A term as it is kept: folded words, single spaces. */
const FOLDED = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

const wordsOf = (term: string): string[] =>
  FOLDED.test(term) ? term.split(" ") : tokenize(term).map((token) => token.folded);

/** So few words tell their language badly: "van to hire" is no Dutch. */
const FEW_WORDS = 6;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What is the same in many entries and nodes is kept once: a vocabulary of 44,000 rows would weigh 27 MB without. */
const sharing = <T>(): ((items: readonly T[], last: T) => readonly T[]) => {
  const single = new Map<T, readonly T[]>();
  return (items, last) => {
    if (items.length > 0) return items.concat(last);
    const alone = single.get(last) ?? [last];
    single.set(last, alone);
    return alone;
  };
};

/** Compiles a vocabulary. Terms and senses that make no sense are left out: an operator's slip must not stop reading. */
export const compileLexicon = (vocabulary: Pick<Vocabulary, "taxonomy" | "terms">): Lexicon => {
  const none: readonly never[] = [];
  const known = new Map<string, Sense>();
  const withSense = sharing<Sense>();
  const entries = new Map<string, Entry>();
  // Sorted, so that a reading does not depend on the order in which rows came to be.
  const sorted = vocabulary.terms.toSorted(
    (a, b) => compare(a.term, b.term) || compare(a.sense, b.sense) || compare(a.language ?? "", b.language ?? ""),
  );
  for (const { term, language, sense, weight } of sorted) {
    const words = wordsOf(term).join(" ");
    const colon = sense.indexOf(":");
    const family = sense.slice(0, colon);
    if (words === "" || !isFamily(family) || !(weight > 0)) continue;
    const meaning = known.get(`${sense} ${weight}`) ?? { family, value: sense.slice(colon + 1), weight };
    known.set(`${sense} ${weight}`, meaning);
    const key = `${words}|${language ?? ""}`;
    const entry = entries.get(key) ?? { term: words, language, senses: none };
    entry.senses = withSense(entry.senses, meaning);
    entries.set(key, entry);
  }
  const withEntry = sharing<Entry>();
  const exact: Tree = new Map();
  const stems = new Map<string, Tree>();
  const file = (tree: Tree, words: readonly string[], entry: Entry) => {
    let branch: Tree = tree;
    let node: Node | undefined;
    for (const word of words) {
      if (node !== undefined) branch = node.next ??= new Map();
      node = branch.get(word);
      if (node === undefined) {
        node = { entries: none, next: null };
        branch.set(word, node);
      }
    }
    if (node !== undefined) node.entries = withEntry(node.entries, entry);
  };
  for (const entry of entries.values()) {
    const words = entry.term.split(" ");
    file(exact, words, entry);
    const language = entry.language ?? "en";
    const tree: Tree = stems.get(language) ?? new Map();
    stems.set(language, tree);
    file(
      tree,
      words.map((word) => stem(word, language)),
      entry,
    );
  }
  return { taxonomy: vocabulary.taxonomy, exact, stems };
};

const languageFactor = (entry: Entry, language: string | null): number => {
  if (entry.language === null || entry.language === language) return 1;
  if (language === null) return LANGUAGE_UNKNOWN;
  return entry.language === "en" ? ENGLISH_ABROAD : OTHER_ABROAD;
};

/** Families of terms that are places. */
export const GEOGRAPHY: ReadonlySet<string> = new Set(["place", "region", "country", "city"]);

/** Hits that lie inside a longer one of the same family say nothing of their own: "machine" in "washing machine". */
const withoutContained = (hits: Hit[]): Hit[] => {
  const kept: Hit[] = [];
  const covered = new Map<string, Map<number, number>>();
  const seen = new Set<string>();
  for (const hit of hits.toSorted((a, b) => b.to - b.from - (a.to - a.from) || b.weight - a.weight)) {
    const key = `${hit.from} ${hit.to} ${hit.family} ${hit.value}`;
    if (seen.has(key)) continue;
    seen.add(key);
    // "Mexico" is no part of "New Mexico", whichever of them is a country.
    const group = GEOGRAPHY.has(hit.family) ? "geography" : hit.family;
    const family = covered.get(group) ?? new Map<number, number>();
    covered.set(group, family);
    const length = hit.to - hit.from;
    let inside = false;
    for (let at = hit.from; at < hit.to; at++) if ((family.get(at) ?? 0) > length) inside = true;
    if (inside) continue;
    for (let at = hit.from; at < hit.to; at++) family.set(at, length);
    kept.push(hit);
  }
  return kept.sort((a, b) => a.from - b.from || a.to - b.to);
};

/** The part of a compound that is a term, longest first, or null. */
const headOf = (lexicon: Lexicon, word: string, language: string): readonly Entry[] | null => {
  const index = lexicon.stems.get(language);
  for (let cut = LEAST_MODIFIER; word.length - cut >= LEAST_HEAD; cut++) {
    const head = word.slice(cut);
    const entries = (lexicon.exact.get(head) ?? index?.get(stem(head, language)))?.entries.filter(
      (entry) => entry.language === language,
    );
    if (entries !== undefined && entries.length > 0) return entries;
  }
  return null;
};

/** Every term of the vocabulary in a text, in order; of terms inside one another the longest of each family. */
export const findTerms = (lexicon: Lexicon, tokens: readonly Token[], language: string | null): Hit[] => {
  const hits: Hit[] = [];
  const stemmed = language === null || language === "en" ? ["en"] : [language, "en"];
  const words = tokens.map((token) => token.folded);
  const stemsOf = stemmed.map((one) => words.map((word) => stem(word, one)));

  // "hat" is no hat in German, nor "les" a lesson in French.
  const told = language !== null && words.length > FEW_WORDS ? language : null;
  const small = words.map((word) => told !== null && isFunctionWord(word, told));

  const collect = (entries: readonly Entry[], from: number, to: number, factor: number) => {
    for (const entry of entries) {
      if (to - from === 1 && small[from] && entry.language !== null && entry.language !== language) continue;
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

  /** Looks up the phrases that begin at a token among `forms` of the words. */
  const look = (tree: ReadonlyMap<string, Node>, forms: readonly string[], from: number, factor: number): boolean => {
    let any = false;
    let node = tree.get(forms[from] ?? "");
    for (let to = from + 1; node !== undefined; to++) {
      if (node.entries.length > 0) {
        any = true;
        collect(node.entries, from, to, factor);
      }
      // A phrase does not run over the end of a sentence.
      if (to >= forms.length || tokens[to]?.opens) break;
      node = node.next?.get(forms[to] ?? "");
    }
    return any;
  };

  for (let at = 0; at < words.length; at++) {
    let any = look(lexicon.exact, words, at, 1);
    // What is a word of its own is no form of another: "clean jars" are not about cleaning.
    const own = lexicon.exact
      .get(words[at] ?? "")
      ?.entries.some((entry) => entry.language === null || entry.language === language);
    if (own) continue;
    stemmed.forEach((one, order) => {
      const index = lexicon.stems.get(one);
      if (index !== undefined && look(index, stemsOf[order] ?? [], at, STEM_FACTOR)) any = true;
    });
    const word = words[at] ?? "";
    if (any || word.length < LEAST_COMPOUND || language === null || !COMPOUNDING.includes(language)) continue;
    const head = headOf(lexicon, word, language);
    if (head !== null) collect(head, at, at + 1, COMPOUND_FACTOR);
  }
  return withoutContained(hits);
};
