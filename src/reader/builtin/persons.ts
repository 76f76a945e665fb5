import { type Word } from "../text/tokens.ts";

/**
 * Detects whether a text begins with a person who states their age: "Retired geologist, 66, Whitehorse", "I'm 38",
 * "28F".
 */

/** People introduce themselves within this many words. */
const OPENING = 14;

const YOUNGEST = 18;
const OLDEST = 89;

/** Words before an age: "I'm 38", "bin 34", "ho 55 anni", "tengo 34". */
const BEFORE_AGE = new Set(
  "m am im bin j ai ho tengo tenho ben mam jestem aged alter mann frau man woman guy girl chico chica hombre mujer homem mulher vrouw".split(
    " ",
  ),
);

/** Words after an age, if a person is described: "34 Jahre", "52 ans". */
const AFTER_AGE = new Set("jahre jahrig ans anos anni jaar lat yo yrs years".split(" "));

/** Words after "years" that rule out an age of a person: "20 years of experience", "66 years old pub". */
const NOT_AN_AGE = new Set(
  "of experience erfahrung experience experiencia esperienza experiencia ervaring doswiadczenia warranty garantie garantia garanzia old alt alte".split(
    " ",
  ),
);

const SEX_AND_AGE = /^(?:[mfw](\d\d)|(\d\d)(?:[mfw]|yo))$/;

const isAge = (written: string | undefined): boolean => {
  const age = Number(written);
  return age >= YOUNGEST && age <= OLDEST;
};

/** True if the first words state the age of a person. */
export const describesPerson = (tokens: readonly Word[]): boolean =>
  tokens.slice(0, OPENING).some((token, at) => {
    const coded = SEX_AND_AGE.exec(token.folded);
    if (coded !== null) return isAge(coded[1] ?? coded[2]);
    if (!/^\d\d$/.test(token.folded) || !isAge(token.folded)) return false;
    const before = tokens[at - 1];
    const next = tokens[at + 1];
    const being = before !== undefined && BEFORE_AGE.has(before.folded);
    if (next !== undefined && AFTER_AGE.has(next.folded)) {
      return (
        (being || /[,(]\s?$/.test(token.before) || token.before === " ") &&
        !NOT_AN_AGE.has(tokens[at + 2]?.folded ?? "") &&
        at > 0
      );
    }
    const closed = next === undefined || /^[,).]/.test(next.before);
    return closed && (being || (at > 0 && /[,(]\s?$/.test(token.before)));
  });
