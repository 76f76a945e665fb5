import type { Lexicon } from "./lexicon.ts";
import type { Token } from "./tokens.ts";

/** The words of a query: whose language they are, which tell nothing, and which only tell what the thing is for. */

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).filter(Boolean));

/** Folded words that people put around what they look for and that offers do not repeat. */
const HOLLOW = setOf(
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

/** Words with which a query goes on about whom the thing is for and why: "bike for my kid", "van that I can drive". */
const GOES_ON = setOf(
  `for that while because so behind whilst
  fur weil damit wahrend
  pour qui afin pendant
  para porque mientras que
  per che perche mentre
  pra enquanto
  voor terwijl want omdat
  dla ktory ktora ktore ktorym bo zeby`,
);

/** "I" and "we" open such a clause when one of these follows: in Polish and Italian an "i" is something else. */
const PERSON = setOf("i we ich wir je nous ik wij we tengo tenemos ho abbiamo tenho temos mam mamy");
const SHORT_PERSON = "i";
const AFTER_I = setOf("m am ve have need can could want d ll will live work just got own am don");

/** Evidence that a word of the vocabulary gives for its language, shared by the languages that have it. */
const HINT = 0.7;

/** What the vocabulary knows of the languages of some words, as further evidence for the language of a query. */
export const languageHints = (lexicon: Lexicon, tokens: readonly Token[]): Map<string, number> => {
  const hints = new Map<string, number>();
  for (const token of tokens) {
    const languages = new Set<string>();
    for (const entry of lexicon.exact.get(token.folded)?.entries ?? []) {
      if (entry.language !== null) languages.add(entry.language);
    }
    for (const language of languages) hints.set(language, (hints.get(language) ?? 0) + HINT / languages.size);
  }
  return hints;
};

/** Whether a token tells nothing of what is looked for. */
export const isStopWord = (token: Token): boolean => HOLLOW.has(token.folded);

/** A sentence or a part of one begins here. */
const BREAK = /[,;.!?:]/;

/**
 * From which token on a query tells what the thing is for, and no more what it is; the number of tokens when it does not.
 *
 * @param head the token after the first word or phrase that names a thing; null when nothing is named
 * @param saysKind whether a token is part of what says the kind, as "for" in "for sale"
 */
export const modifiersFrom = (
  tokens: readonly Token[],
  head: number | null,
  saysKind: (at: number) => boolean,
): number => {
  for (let at = 1; at < tokens.length; at++) {
    const { folded, before } = tokens[at] as Token;
    const person = folded === SHORT_PERSON ? AFTER_I.has(tokens[at + 1]?.folded ?? "") : PERSON.has(folded);
    // "…, I have a cat" tells of the person, whatever came before.
    if (person && (BREAK.test(before) || (head !== null && at >= head))) return at;
    if (head !== null && at >= head && GOES_ON.has(folded) && !saysKind(at)) return at;
  }
  return tokens.length;
};
