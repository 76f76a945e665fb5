/**
 * Finds the known words that are written most like an unknown one: the intended word of a typo, another form of a word,
 * or the parts of a compound.
 */

/** A word's n-grams have this length, with marked edges. */
const GRAM = 3;

/** Shorter words are like too many others. */
const SHORTEST = 4;

/** Words that are less alike than this have nothing to do with each other. */
const MIN_SIMILARITY = 0.35;

/** The meaning of an unknown word is that of at most so many known words. */
const MAX_SIMILAR = 4;

/** An n-gram in more words than this does not tell words apart, and to follow it would take long. */
const MAX_WORDS_OF_GRAM = 600;

/** `word`: the number of a known word. `share`: how much of its meaning the unknown word gets. */
export type Similar = { word: number; share: number };

/** The grams of a word as numbers, each one once. Two grams that share a number are rare and do little harm. */
const gramsOf = (word: string): number[] => {
  const marked = `<${word}>`;
  const grams: number[] = [];
  for (let at = 0; at + GRAM <= marked.length; at++) {
    let gram = 0;
    for (let next = at; next < at + GRAM; next++) gram = (Math.imul(gram, 31 * 31) + marked.charCodeAt(next)) & 0xffff;
    if (!grams.includes(gram)) grams.push(gram);
  }
  return grams;
};

/**
 * @param words the known words; phrases among them are ignored
 * @returns a function that finds the similar words of an unknown one; none if it is too short
 */
export const createSpelling = (words: readonly string[]): ((word: string) => Similar[]) => {
  const singles: number[] = [];
  for (const [number, word] of words.entries())
    if (word.length >= SHORTEST && !word.includes(" ")) singles.push(number);

  // The words of each gram, in one array: those of gram g stand from starts[g] to starts[g + 1].
  const starts = new Uint32Array(0x10001);
  const grams = singles.map((number) => gramsOf(words[number] ?? ""));
  for (const own of grams) for (const gram of own) starts[gram + 1] = (starts[gram + 1] ?? 0) + 1;
  for (let gram = 0; gram < 0x10000; gram++) starts[gram + 1] = (starts[gram + 1] ?? 0) + (starts[gram] ?? 0);
  const postings = new Uint32Array(starts[0x10000] ?? 0);
  const filled = starts.slice();
  for (const [single, own] of grams.entries())
    for (const gram of own) {
      const at = filled[gram] ?? 0;
      postings[at] = single;
      filled[gram] = at + 1;
    }
  /** For each gram, the square of how much it says (its inverse document frequency). */
  const says = new Float32Array(0x10000);
  for (let gram = 0; gram < says.length; gram++) {
    const found = (starts[gram + 1] ?? 0) - (starts[gram] ?? 0);
    says[gram] = Math.log((singles.length + 1) / (found + 0.5)) ** 2;
  }
  const lengths = Float32Array.from(grams, (own) => Math.sqrt(own.reduce((sum, gram) => sum + (says[gram] ?? 0), 0)));

  const scores = new Float32Array(singles.length);
  const touched = new Uint32Array(singles.length);
  return (word) => {
    if (word.length < SHORTEST) return [];
    let count = 0;
    let sum = 0;
    for (const gram of gramsOf(word)) {
      const value = says[gram] ?? 0;
      sum += value;
      const end = starts[gram + 1] ?? 0;
      const start = starts[gram] ?? 0;
      if (end - start > MAX_WORDS_OF_GRAM) continue;
      for (let at = start; at < end; at++) {
        const single = postings[at] ?? 0;
        const score = scores[single] ?? 0;
        if (score === 0) touched[count++] = single;
        scores[single] = score + value;
      }
    }
    const length = Math.sqrt(sum);
    const best: { single: number; similarity: number }[] = [];
    for (let at = 0; at < count; at++) {
      const single = touched[at] ?? 0;
      const similarity = (scores[single] ?? 0) / (length * (lengths[single] ?? 1));
      scores[single] = 0;
      if (similarity < MIN_SIMILARITY) continue;
      best.push({ single, similarity });
    }
    best.sort((a, b) => b.similarity - a.similarity || a.single - b.single);
    best.length = Math.min(best.length, MAX_SIMILAR);
    // The most similar word gives most of the meaning, and all together give as much as the best one is similar.
    const squares = Math.sqrt(best.reduce((total, { similarity }) => total + similarity ** 4, 0));
    const scale = (best[0]?.similarity ?? 0) / (squares || 1);
    return best.map(({ single, similarity }) => ({ word: singles[single] ?? 0, share: scale * similarity ** 2 }));
  };
};
