/**
 * Corrects misspelt words of a query: unknown words that are one or two typos away from a word of the vocabulary. The
 * search also looks for the word as written.
 */

/** Shorter words are one typo away from too many others. */
const SHORTEST = 5;
/** From this length on, two typos are accepted. */
const TWO_TYPOS = 8;

/**
 * The number of letters that are wrong, missing, added or swapped with the next one (Damerau-Levenshtein distance,
 * adjacent swaps only). Anything over `most` gives `most + 1`.
 */
export const slipsBetween = (one: string, other: string, most: number): number => {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    // Cells farther than `most` from the diagonal exceed the limit anyway.
    const from = Math.max(1, i - most);
    const to = Math.min(other.length, i + most);
    const row: number[] = [];
    row[from - 1] = from === 1 ? i : most + 1;
    let least = row[from - 1] ?? i;
    for (let j = from; j <= to; j++) {
      const same = one[i - 1] === other[j - 1];
      let slips = Math.min((last[j] ?? most) + 1, (row[j - 1] ?? most) + 1, (last[j - 1] ?? most) + (same ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        slips = Math.min(slips, (before[j - 2] ?? 0) + 1);
      row.push(slips);
      least = Math.min(least, slips);
    }
    if (least > most) return most + 1;
    before = last;
    last = row;
  }
  return Math.min(last[other.length] ?? most + 1, most + 1);
};

/** The letters of a word as a set of 32 bits, to skip words with too many different letters. */
const lettersOf = (word: string): number => {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
};

/** The number of bits that are set in a 32-bit number. */
const bitsOf = (number: number): number => {
  let bits = 0;
  for (let left = number; left !== 0; left &= left - 1) bits += 1;
  return bits;
};

/**
 * Creates the function that corrects words.
 * @param terms folded words and phrases; each of their words counts as known
 * @param things the candidates for corrections: names of things and places
 * @param isKnown says of further words that they are known
 * @returns for a folded word the intended word. Null if the word is known, too short, close to no candidate, or equally
 *   close to several
 */
export const createCorrector = (
  terms: Iterable<string>,
  things: Iterable<string>,
  isKnown: (word: string) => boolean = () => false,
): ((word: string) => string | null) => {
  const known = new Set<string>();
  for (const term of terms) for (const word of term.split(" ")) known.add(word);
  // Candidates are grouped by first letter and length: the first letter is hardly ever wrong, and this avoids most
  // comparisons.
  const likely = [...new Set([...things].flatMap((term) => term.split(" ")))]
    .filter((word) => word.length >= SHORTEST && !/\d/.test(word))
    .map((word) => ({ word, letters: lettersOf(word) }));
  const shapeOf = (initial: string, length: number): string => `${initial}${length}`;
  const byShape = Map.groupBy(likely, ({ word }) => shapeOf(word.charAt(0), word.length));
  return (word) => {
    if (word.length < SHORTEST || /\d/.test(word) || known.has(word) || isKnown(word)) return null;
    const letters = lettersOf(word);
    const most = word.length >= TWO_TYPOS ? 2 : 1;
    let best: string | null = null;
    let fewest = most + 1;
    for (let length = word.length - most; length <= word.length + most; length++) {
      for (const { word: other, letters: others } of byShape.get(shapeOf(word.charAt(0), length)) ?? []) {
        // One typo adds and removes at most one letter.
        if (bitsOf(letters ^ others) > 2 * most) continue;
        const slips = slipsBetween(word, other, most);
        // An inflected form is not a typo; stemming handles it.
        if (slips > most || other.startsWith(word) || word.startsWith(other)) continue;
        if (slips < fewest) [best, fewest] = [other, slips];
        else if (slips === fewest) best = null;
      }
    }
    return best;
  };
};
