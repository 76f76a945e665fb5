import type { Word } from "../text/tokens.ts";
import type { Lexicon } from "./lexicon.ts";

/** The words of a query: their language, the stop words, and the words that only modify the thing. */

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).filter(Boolean));

/** Stop words: folded words that people put around what they look for, and that offers do not repeat. */
const STOP_WORDS = setOf(
  `really could would should can may might please must something someone somebody anybody anyone anything who what where
  which very quite rather just also even get got find help some any good nice great decent proper perfect ideal suitable
  kind sort type bit lot lots etc only more most my our your his her their this that these those need needs want wants
  bitte etwas jemand jemanden jemandem wer was gut gute guten guter schon schone schones sehr gern gerne irgendein
  moglichst mein meine meinen meinem meiner unser unsere
  quelqu quelque chose bon bonne bien tres plutot svp mon ma mes notre nos
  alguien algo bueno buena muy bonito mi mis nuestro nuestra
  qualcuno qualcosa buono buona bello bella molto mio mia nostro nostra
  alguem alguma coisa bom boa muito meu minha nosso nossa
  iemand iets goed goede mooi mooie graag mijn onze
  ktos cos dobry dobra dobre bardzo moj moja moje nasz nasza prosze`,
);

/** Words that begin a modifier, which tells for whom or why: "bike for my kid", "van that I can drive". */
const MODIFIER_OPENERS = setOf(
  `for that while because so behind whilst
  fur weil damit wahrend
  pour qui afin pendant
  para porque mientras que
  per che perche mentre
  pra enquanto
  voor terwijl want omdat
  dla ktory ktora ktore ktorym bo zeby`,
);

/**
 * First-person words, which begin such a clause too. "i" counts only before one of AFTER_I, because in Polish and
 * Italian it is another word.
 */
const PERSON = setOf("i we ich wir je nous ik wij we tengo tenemos ho abbiamo tenho temos mam mamy");
const SHORT_PERSON = "i";
const AFTER_I = setOf("m am ve have need can could want d ll will live work just got own am don");

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

/** True if a token is a stop word. */
export const isStopWord = (token: Word): boolean => STOP_WORDS.has(token.folded);

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
): number => {
  for (let at = 1; at < tokens.length; at++) {
    const { folded, before } = tokens[at] as Word;
    const person = folded === SHORT_PERSON ? AFTER_I.has(tokens[at + 1]?.folded ?? "") : PERSON.has(folded);
    // "…, I have a cat" describes the person, whatever comes before it.
    if (person && (BREAK.test(before) || (head !== null && at >= head))) return at;
    if (head !== null && at >= head && MODIFIER_OPENERS.has(folded) && !saysKind(at)) return at;
  }
  return tokens.length;
};
