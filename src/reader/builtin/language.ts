import type { Word } from "../text/tokens.ts";

/**
 * Frequent function words of each language, by which the language of a text is detected.
 * Words are folded. A word of several languages counts for each of them in part.
 */

const FUNCTION_WORDS: Readonly<Record<string, string>> = {
  en: "the and of to in is are with for on it my we you i at this that not no be by or from but has have was will your our can all very only just need looking want please call text includes one new out up they would like her his she he them been had so if its im don what who am me do some any than then as under selling per each",
  de: "der die das und in ist nicht mit fur von zu den dem ein eine einen einer eines ich wir sie es im am auf auch bei oder aus nach sich wird sind hat noch nur zum zur aber als an bis ab haben wie mein meine kein keine sehr gut bitte suche verkaufe gesucht zustand habe uns unser um durch sowie wenn dann ohne uber",
  fr: "le la les de des et est un une du en dans pour avec sur pas je nous vous il elle ne se sont par ce cette ou mon ma mes votre nos au aux qui que tres plus sans bien tout comme mais etre avoir vends vend cherche loue etat chez c j d l n s y si ans leur deux donne",
  es: "el los las de y es un una del en para con por no se lo que su al mas muy como pero mi yo nos sin esta este son tiene ha o tambien hay todo vendo busco alquilo desde hasta soy estoy nosotros porque ya si solo cuando donde sus le me dos ser muy",
  it: "il lo gli e un una di del della dei delle per con non si che da al alla sono ho mi piu come ma anche nel nella su se molto questo questa vendo cerco affitto tutto solo ogni era ha dal dalla con mio mia ai agli ed cui nostro due anni perche o chi gia fino",
  pt: "os as de um uma do da dos das em no na nos nas para com por nao se que ao mais muito como mas meu minha eu sem esta este sao tem foi ou tambem vendo procuro alugo ate ja so tudo e pelo pela seu sua voce estou somos quem quando bem dois anos",
  nl: "de het een en van is niet met voor op te in dat die er aan ook bij om zijn naar maar nog uit wij ik je jij we of als wordt heeft mijn onze geen zeer goed koop zoek gezocht hebben tot kan veel alleen graag per deze dit nieuw uur door heb ben wil worden over elke",
  pl: "i w z na do nie jest sie to dla od po przy lub oraz jak ale za ze o sa mam moj moja prosze bardzo tylko ma tak bez pod juz sprzedam szukam kupie stan przez takze czy nas moge mozna byl sprzedaje w ktory ktora jestem cena kontakt okolice odbior u lat osob co swoje",
};

const INDEX: ReadonlyMap<string, readonly { language: string; weight: number }[]> = (() => {
  const index = new Map<string, { language: string; weight: number }[]>();
  for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
    for (const word of new Set(words.split(" "))) {
      const entries = index.get(word) ?? [];
      entries.push({ language, weight: 1 });
      index.set(word, entries);
    }
  }
  for (const [word, entries] of index) {
    // Single letters are also abbreviations ("w/ box").
    for (const entry of entries) entry.weight = (word.length === 1 ? 0.4 : 1) / entries.length;
  }
  return index;
})();

/** True if a folded word is a function word of a language. */
export const isFunctionWord = (word: string, language: string): boolean =>
  INDEX.get(word)?.some((entry) => entry.language === language) ?? false;

/** Letters that occur in only one of the languages, before folding. */
const LETTERS: readonly (readonly [string, RegExp])[] = [
  ["de", /[äß]/giu],
  ["pl", /[łąężśćń]/giu],
  ["es", /[ñ¿¡]/giu],
  ["pt", /[ãõ]/giu],
  ["fr", /[êœûîë]/giu],
  ["it", /[ìò]/giu],
];

const LETTER_WEIGHT = 0.5;

/** More letters than this add no evidence. */
const MOST_LETTERS = 4;

/** Less evidence may be chance: one shared word. */
const LEAST_EVIDENCE = 0.4;

/** The language with the most evidence, if it has more than `least` times that of the next one. */
const clearest = (scores: ReadonlyMap<string, number>, least: number): string | null => {
  const [best, next] = [...scores].sort((a, b) => b[1] - a[1]);
  return best !== undefined && best[1] > LEAST_EVIDENCE && best[1] > (next?.[1] ?? 0) * least ? best[0] : null;
};

/**
 * Detects the language (ISO 639-1) of a text, among the eight of the vocabulary. Null if the text does not show it.
 *
 * @param hints further evidence for each language, for example from vocabulary words
 * @param margin how many times the evidence of the next language the best one must have
 */
export const detectLanguage = (
  text: string,
  tokens: readonly Word[],
  hints: ReadonlyMap<string, number> = new Map(),
  margin = 0,
): string | null => {
  const scores = new Map<string, number>(hints);
  const add = (language: string, weight: number) => scores.set(language, (scores.get(language) ?? 0) + weight);
  for (const token of tokens) for (const entry of INDEX.get(token.folded) ?? []) add(entry.language, entry.weight);
  for (const [language, letters] of LETTERS) {
    const count = Math.min(text.match(letters)?.length ?? 0, MOST_LETTERS);
    if (count > 0) add(language, count * LETTER_WEIGHT);
  }
  return clearest(scores, margin);
};
