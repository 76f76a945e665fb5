import type { Range, Scene } from "../decide/context.ts";
import type { PlaceHit } from "./places.ts";

/**
 * Finds the names of streets. "Oxford Road" and "rue de Paris" are parts of an address: the town is what stands after
 * them.
 */

/** The concepts of words for a street after and before its name: "Road", "rue". Those that also end other names: "Square". */
const AFTER: ReadonlySet<string> = new Set(["place_street", "place_street_after"]);
const BEFORE = "place_street_before";

/** The most words of a name, and of small words before it. */
const MAX_NAME = 3;
const MAX_LINKS = 2;
const LONGEST_ABBREVIATION = 4;
const LINKS: ReadonlySet<string> = new Set(
  "d da das de degli dei del dell della den der des di do dos du gen l la las le les los sw van".split(" "),
);

/** These words mean other things, too ("corso di lingua"), so only a house number makes a street of them. */
const COURSES: ReadonlySet<string> = new Set(["corso", "cours", "largo"]);

/**
 * The streets of a text that have the name of a place, in order. The others mislead nobody: "Logan Square" is a part of
 * Chicago.
 * @param places the names of places: "Chester-le-Street" is one and not a street
 */
export const findStreets = ({ tokens, cues }: Pick<Scene, "tokens" | "cues">, places: readonly PlaceHit[]): Range[] => {
  const streets: Range[] = [];
  const isPlaceOfWords = (at: number): boolean =>
    places.some(({ from, to, form }) => form === "name" && to - from > 1 && from <= at && at < to);
  const isWord = (at: number): boolean => tokens[at]?.kind === "word";
  const endsHere = (at: number): boolean => {
    const token = tokens[at];
    return token === undefined || token.gap === "line" || token.kind !== "word";
  };
  for (const { concept, from, to } of cues) {
    if (AFTER.has(concept.text)) {
      const word = tokens[from];
      if (word === undefined || word.gap !== "space" || isPlaceOfWords(from)) continue;
      // The word ends its part of the address: "Oxford Road, Reading" is no road bike, and "Berlin Close To Park" no street.
      if (!endsHere(to) && !places.some((place) => place.from === to)) continue;
      let start = from;
      while (
        from - start < MAX_NAME &&
        isWord(start - 1) &&
        tokens[start - 1]?.capital === word.capital &&
        (start === from || tokens[start]?.gap === "space") &&
        !tokens[start]?.opens
      )
        start--;
      if (start < from) streets.push({ from: start, to });
    } else if (concept.text === BEFORE) {
      let end = to;
      // "ul. Warszawska"
      const isShort = (tokens[from]?.text.length ?? 9) <= LONGEST_ABBREVIATION;
      if (isShort && tokens[end]?.text === "." && tokens[end]?.gap === "none") end++;
      const isLink = (at: number): boolean => LINKS.has(tokens[at]?.text ?? "") && tokens[at]?.gap !== "line";
      for (let links = 0; links < MAX_LINKS && isLink(end); links++) {
        end++;
        // "d'Orléans", "dell'Arco"
        if (tokens[end]?.text === "'") end++;
      }
      const begin = end;
      while (end - begin < MAX_NAME && isWord(end) && tokens[end]?.capital && tokens[end]?.gap !== "line") end++;
      const isNumbered = tokens[tokens[end]?.text === "," ? end + 1 : end]?.kind === "digits";
      if (end > begin && (isNumbered || !COURSES.has(tokens[from]?.text ?? ""))) streets.push({ from, to: end });
    }
  }
  return streets
    .filter((street) => places.some(({ from, to }) => street.from <= from && to <= street.to))
    .sort((one, other) => one.from - other.from);
};
