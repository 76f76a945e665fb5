/**
 * Misspelt words of a query: what nobody knows but is one slip away from a word of the vocabulary. The word that was
 * written is searched for all the same.
 */

/** Shorter words are one slip away from too many others. */
const SHORTEST = 5;
/** From this length on a second slip still leaves no doubt. */
const TWO_SLIPS = 8;

/**
 * How many letters are wrong, missing, too many or swapped with the next (Damerau's distance, adjacent swaps only);
 * more than `most` counts as `most + 1`.
 */
export const slipsBetween = (one: string, other: string, most: number): number => {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    // Farther from the diagonal than `most` there are more slips than that.
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

/** The letters of a word as a set of 32 bits: what has too many others needs no closer look. */
const lettersOf = (word: string): number => {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
};

/** How many bits of a number of 32 are set. */
const bitsOf = (number: number): number => {
  let bits = 0;
  for (let left = number; left !== 0; left &= left - 1) bits += 1;
  return bits;
};

/**
 * Makes the corrector of words by those of a vocabulary.
 * @param terms folded words and phrases; every word of theirs is known
 * @param things those that misspelt words are held against: names of things and places, which readers do not invent
 * @returns for a folded word the word that was meant, or null: it is known, too short, or near to none or to several
 */
export const createCorrector = (
  terms: Iterable<string>,
  things: Iterable<string>,
): ((word: string) => string | null) => {
  const known = new Set<string>();
  for (const term of terms) for (const word of term.split(" ")) known.add(word);
  // The first letter is hardly ever the wrong one, and spares most comparisons; so do lengths too far apart.
  const likely = [...new Set([...things].flatMap((term) => term.split(" ")))]
    .filter((word) => word.length >= SHORTEST && !/\d/.test(word))
    .map((word) => ({ word, letters: lettersOf(word) }));
  const shapeOf = (initial: string, length: number): string => `${initial}${length}`;
  const byShape = Map.groupBy(likely, ({ word }) => shapeOf(word.charAt(0), word.length));
  return (word) => {
    if (word.length < SHORTEST || /\d/.test(word) || known.has(word)) return null;
    const letters = lettersOf(word);
    const most = word.length >= TWO_SLIPS ? 2 : 1;
    let best: string | null = null;
    let fewest = most + 1;
    for (let length = word.length - most; length <= word.length + most; length++) {
      for (const { word: other, letters: others } of byShape.get(shapeOf(word.charAt(0), length)) ?? []) {
        // A slip adds one letter and takes one away at most.
        if (bitsOf(letters ^ others) > 2 * most) continue;
        const slips = slipsBetween(word, other, most);
        // An inflected form is no slip: stems know it.
        if (slips > most || other.startsWith(word) || word.startsWith(other)) continue;
        if (slips < fewest) [best, fewest] = [other, slips];
        else if (slips === fewest) best = null;
      }
    }
    return best;
  };
};
