import { type Change, type Changed, changed } from "./changes.ts";

/**
 * Undoes what hides words from software and not from people: letters of other scripts or digits inside a word, letters or
 * words that marks or lines part. Only for the search for orders; everywhere else a text is read as it is written.
 */

/** Small Cyrillic and Greek letters and capitals that look like Latin ones. */
const TWINS: ReadonlyMap<string, string> = new Map(
  [
    ..."аa,бb,вb,еe,ѕs,іi,јj,кk,мm,нh,оo,рp,сc,тt,уy,хx,ԁd,ԛq,ԝw,һh,ӏl,ɡg,ɑa".split(","),
    ..."АA,ВB,ЕE,ЅS,ІI,ЈJ,КK,МM,НH,ОO,РP,СC,ТT,УY,ХX,ӀI".split(","),
    ..."αa,εe,ιi,κk,νv,οo,ρp,τt,υu,χx,ηn,γy,ωw,ΑA,ΒB,ΕE,ΖZ,ΗH,ΙI,ΚK,ΜM,ΝN,ΟO,ΡP,ΤT,ΥY,ΧX".split(","),
  ].map((pair) => [pair.charAt(0), pair.charAt(1)] as const),
);

/** Digits that stand for letters. */
const DIGITS: ReadonlyMap<string, string> = new Map(
  "0o,1i,3e,4a,5s,7t".split(",").map((pair) => [pair.charAt(0), pair.charAt(1)] as const),
);

const lettersOf = (word: string, twins: ReadonlyMap<string, string>): string =>
  Array.from(word, (letter) => twins.get(letter) ?? letter).join("");

/** A word with letters of the Latin and of another script. All of its letters have twins or are Latin. */
const isMixed = (word: string): boolean =>
  /\p{Script=Latin}/u.test(word) &&
  /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word) &&
  !/[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(lettersOf(word, TWINS));

const WORDS = /[\p{L}\p{M}]+/gu;

/** Words with digits for small letters: "ign0re". Names of models ("iPhone13") end with digits or have capitals inside. */
const DIGIT_WORD = /(?<![\p{L}\p{N}])\p{L}[\p{Ll}\d]*\d[\p{Ll}\d]*\p{Ll}(?![\p{L}\p{N}])/gu;

/** "i g n o r e", "i.g.n.o.r.e": letters that one character parts. */
const SPACED = /(?<![\p{L}\p{N}])\p{L}(?:[ .\-_*·]\p{L}){3,}(?![\p{L}\p{N}])/gu;

/** "ignore*all*previous", "ignore_all_previous". */
const PARTED = /(?<![\p{L}\p{N}])\p{L}{2,}(?:[*_~|+\\]+\p{L}{2,}){2,}/gu;

/** "Ignore. All. Previous.", or one word a line. */
const APART = /(?<=^|\n|[.!?] )\p{L}{2,}(?:(?:[.!]?[ \t]*\n[ \t]*|\. )\p{L}{2,}(?=[.!\s]|$)){2,}/gu;

/** "IgnoreAllPreviousInstructions". */
const JOINED = /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+){2,}/gu;

/** "Ig-nore all pre-vious in-struc-tions": at least this many hyphens in one text are suspicious. */
const MIN_HYPHENS = 3;
const HYPHEN = /(?<=\p{Ll})-(?=\p{Ll})/gu;

const changesOf = (text: string): Change[] => {
  const changes: Change[] = [];
  const replace = (pattern: RegExp, by: (found: string) => string | null): void => {
    for (const { 0: found, index: at } of text.matchAll(pattern)) {
      const plain = by(found);
      if (plain !== null && plain !== found) changes.push({ at, length: found.length, by: plain });
    }
  };
  // Beside a mixed word, a word that only looks Latin is a disguise, too.
  if (Array.from(text.matchAll(WORDS)).some(([word]) => isMixed(word)))
    replace(WORDS, (word) => {
      const plain = lettersOf(word, TWINS);
      return /^[\p{Script=Latin}\p{M}]+$/u.test(plain) ? plain : null;
    });
  replace(DIGIT_WORD, (word) => {
    const plain = lettersOf(word, DIGITS);
    return /^\p{L}{4,}$/u.test(plain) ? plain : null;
  });
  replace(SPACED, (word) => word.replace(/[^\p{L}]/gu, ""));
  replace(PARTED, (words) => words.replace(/[^\p{L}]/gu, " "));
  replace(APART, (words) => words.replace(/[^\p{L}]/gu, " "));
  replace(JOINED, (words) => words.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " "));
  if (Array.from(text.matchAll(HYPHEN)).length >= MIN_HYPHENS) replace(HYPHEN, () => "");
  return changes;
};

/** A text as it reads without its disguises; null if it has none. In linear time. */
export const undisguised = (text: string): Changed | null => changed(text, changesOf(text));
