import type { Word } from "../text/tokens.ts";
import type { IsWord, Lexicon } from "./lexicon.ts";

/** The words of a query: their language, and the words that only modify the thing. */

/**
 * Evidence for a language that a vocabulary word of it gives, divided by the number of languages that have the word.
 */
const LANGUAGE_EVIDENCE = 0.7;

/** Evidence for the language of a query from the languages of its vocabulary words. */
export const languageHints = (lexicon: Lexicon, tokens: readonly Word[]): Map<string, number> => {
  const hints = new Map<string, number>();
  for (const token of tokens) {
    const languages = new Set<string>();
    for (const entry of lexicon.exact.get(token.folded)?.entries ?? []) {
      if (entry.language !== null) languages.add(entry.language);
    }
    for (const language of languages)
      hints.set(language, (hints.get(language) ?? 0) + LANGUAGE_EVIDENCE / languages.size);
  }
  return hints;
};

/** "I" counts only before a verb, because in Polish and Italian it is another word. */
const SHORT_PERSON = "i";

/** Marks that begin a new sentence or clause. */
const BREAK = /[,;.!?:]/;

/**
 * The index of the token at which the modifiers begin (the words that tell what the thing is for). The number of tokens
 * if there are none.
 *
 * @param head the token after the first term that names a thing; null if nothing is named
 * @param saysKind true for a token that belongs to a kind term, such as "for" in "for sale"
 */
export const modifiersFrom = (
  tokens: readonly Word[],
  head: number | null,
  saysKind: (at: number) => boolean,
  is: IsWord,
): number => {
  for (let at = 1; at < tokens.length; at++) {
    const { folded, before } = tokens[at] as Word;
    const person = folded === SHORT_PERSON ? is("after_i", tokens[at + 1]?.folded ?? "") : is("first_person", folded);
    // "…, I have a cat" describes the person, whatever comes before it.
    if (person && (BREAK.test(before) || (head !== null && at >= head))) return at;
    if (head !== null && at >= head && is("modifier_opener", folded) && !saysKind(at)) return at;
  }
  return tokens.length;
};
