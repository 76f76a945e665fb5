import { de } from "./de.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import type { NumberGrammar } from "./grammar.ts";
import { it } from "./it.ts";
import { nl } from "./nl.ts";
import { pl } from "./pl.ts";
import { pt } from "./pt.ts";

/** The grammars of the eight languages of the market. */
export const GRAMMARS: readonly NumberGrammar[] = [en, de, fr, es, it, pt, nl, pl];

const split = (words: string): string[] => words.split(" ").filter(Boolean);

/** The words of one kind in all languages. */
export const wordsOf = (kind: "articles" | "joiners" | "to" | "weakTo" | "opensRange" | "neverAlone"): Set<string> =>
  new Set(GRAMMARS.flatMap((grammar) => split(grammar[kind])));

/** The words of one kind with their values and the number of their language, in all languages. */
export const valuesOf = (
  kind: "values" | "factors" | "sums" | "roundNumbers" | "magnitudes",
): [word: string, value: number, language: number][] =>
  GRAMMARS.flatMap((grammar, language) =>
    Object.entries(grammar[kind]).flatMap(([value, words]) =>
      split(words).map((word): [string, number, number] => [word, Number(value), language]),
    ),
  );
