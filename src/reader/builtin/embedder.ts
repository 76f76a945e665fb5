import { EMBEDDING_DIMENSIONS, type Embedder } from "../extraction.ts";

/**
 * The embedder without a provider: words and their character n-grams, hashed into a vector. Two texts are similar if
 * they share words, word forms, parts of compounds, or misspellings. It knows no synonyms and no translations.
 *
 * Signed feature hashing after Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009).
 * The database stores this name beside each vector. Every change that gives other vectors needs a new name.
 */
const MODEL = "builtin-hash-1";

/**
 * Stop words of the eight languages of the market (en de fr es it pt nl pl), folded. They have the weight
 * STOP_WORD_WEIGHT and no n-grams.
 */
const STOP_WORDS = new Set(
  `a an and are as at be but by for from has have i in is it its me my no not of on or our so that the this to was we
  with you your will can do if all any am please very just
  aber als am an auch auf aus bei bin bitte das dem den der des die ein eine einem einen einer er es fur habe haben hat
  ich im in ist kann mein meine meinen mich mir mit nach nicht noch nur oder ohne sehr sich sie sind so uber um und
  uns von vom war wir wird wurde zu zum zur
  au aux avec ce ces cette d dans de des du elle en est et il ils je l la le les leur mais mes mon nous ou par pas pour
  que qui sa se ses son sont sur tres un une vous votre
  al como con de del e el ella en es esta este la las lo los mas mi mis muy no o para pero por que se si sin su sus
  tiene un una uno y yo
  agli ai alla alle anche che ci con da dal dalla dei del della delle di e gli ha ho i il in io la le lo ma mi mia mio
  molto ne nel nella non o per piu se si sono su sul sulla tra un una uno vi
  ao aos as com como da das de do dos e ela ele em eu foi mais mas meu minha muito na nas no nos o os ou para pela
  pelo por que se sem seu sua tem um uma
  aan als bij dat de deze die dit een en er het hij ik in is je kan maar met mijn naar niet nog of om ook op over te
  tot uit van voor was we wel wij worden zeer zijn
  a ale bardzo bez byc co czy dla do go i ich ja jak jest juz lub ma mam mi moj na nad nie o od oraz po pod przez sa
  sie tak to tylko u w we z za ze`
    .split(/\s+/u)
    .filter(Boolean),
);

/** Small but not zero, so that a text of stop words alone still has a vector of its own. */
const STOP_WORD_WEIGHT = 0.1;

/** Letters that Unicode does not decompose and that people also write as plain letters. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  ł: "l",
  ø: "o",
  æ: "ae",
  œ: "oe",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

/**
 * Lengths of the n-grams of a word with marked edges. 3 finds typos in short words, 4 finds stems and parts of
 * compounds. Longer n-grams only crowd the 512 dimensions: on labelled queries they lowered the recall at 50.
 */
const GRAM_LENGTHS = [3, 4];

/**
 * The weight of all n-grams of a word, relative to the word itself. It is higher because a word recurs in another form
 * more often than in the same form.
 */
const GRAMS_WEIGHT = 2;

/** Letters of a word that are used. A longer run of letters is no word, and its n-grams would outweigh the text. */
const WORD_LENGTH = 40;

/** 4,000 characters contain no more words. Only compatibility characters that expand to whole phrases give more. */
const MOST_WORDS = 2000;

/**
 * The number of words after which a word counts half. The subject of a text stands at its beginning; in a long text the
 * rest would outweigh it.
 */
const HALF_AT_WORD = 20;

/** The prime and the offset basis that FNV defines for 32 bits. */
const FNV_PRIME = 0x01000193;
const FNV_BASIS = 0x811c9dc5;

/** FNV-1a, 32 bits (Fowler, Noll, Vo; IETF draft-eastlake-fnv), over the UTF-16 units of `text`, low byte first. */
const fnv1a = (text: string, start: number, end: number): number => {
  let hash = FNV_BASIS;
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
    hash = Math.imul(hash ^ (unit >>> 8), FNV_PRIME);
  }
  return hash >>> 0;
};

/**
 * Mixes the bits of a hash (the finalizer of MurmurHash3, Appleby). With FNV alone, short keys have similar high bits.
 */
const mixed = (hash: number): number => {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
};

/** Lower case, without diacritics, with the letters of PLAIN replaced. */
const fold = (text: string): string =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[ßłøæœđðþı]/gu, (letter) => PLAIN[letter] ?? letter);

/** The weight of each feature of a text. Keys are hashes of features. */
const featuresOf = (text: string): Map<number, number> => {
  const features = new Map<number, number>();
  const add = (hash: number, weight: number) => features.set(hash, (features.get(hash) ?? 0) + weight);
  const words = fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  words.slice(0, MOST_WORDS).forEach((whole, position) => {
    const word = whole.slice(0, WORD_LENGTH);
    const place = HALF_AT_WORD / (HALF_AT_WORD + position);
    const stop = STOP_WORDS.has(word);
    add(fnv1a(word, 0, word.length), place * (stop ? STOP_WORD_WEIGHT : 1));
    if (stop) return;
    const marked = `<${word}>`;
    const grams: number[] = [];
    for (const length of GRAM_LENGTHS) {
      for (let at = 0; at + length <= marked.length; at++) grams.push(fnv1a(marked, at, at + length));
    }
    // Divided by the square root, so that the n-grams of a word together count like one word, whatever its length.
    const weight = (place * GRAMS_WEIGHT) / Math.sqrt(grams.length);
    for (const gram of grams) add(gram, weight);
  });
  return features;
};

const vectorOf = (text: string): number[] => {
  const vector = new Array<number>(EMBEDDING_DIMENSIONS).fill(0);
  for (const [hash, weight] of featuresOf(text)) {
    const bits = mixed(hash);
    const index = bits % EMBEDDING_DIMENSIONS;
    // Sublinear: the tenth mention of a word adds little to the third.
    const value = Math.log1p(weight);
    vector[index] = (vector[index] ?? 0) + (bits >>> 31 === 0 ? value : -value);
  }
  const length = Math.hypot(...vector);
  // No words, or (very rarely) words that cancel out. A zero vector has no direction, so a fixed one is used.
  if (length < Number.EPSILON) return vector.map((_, index) => (index === 0 ? 1 : 0));
  return vector.map((value) => value / length);
};

/**
 * Creates the embedder that works without a provider. Deterministic: the same text has the same vector on every
 * machine.
 */
export const createBuiltinEmbedder = (): Embedder => ({
  model: MODEL,
  paid: false,
  async embed(texts, signal) {
    return texts.map((text) => {
      signal.throwIfAborted();
      return vectorOf(text);
    });
  },
});
