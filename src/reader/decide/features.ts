import { hashOf } from "../text/hash.ts";

/**
 * Named features. A feature is a template and at most two values: "before price", "pair the price". In training it has
 * its name; at run time only the hash of its name is computed, so that reading a text makes no strings.
 */

/** Joins two hashes to one; the bits are mixed as in MurmurHash3 (Appleby). */
export const join = (one: number, other: number): number => {
  let bits = Math.imul(one ^ Math.imul(other, 0x5bd1e995), 0x85ebca6b);
  bits ^= bits >>> 15;
  bits = Math.imul(bits, 0xc2b2ae35);
  return bits ^ (bits >>> 13);
};

/** A string with its hash: the name of a template, or a value. It contains no space. */
export type Term = { readonly text: string; readonly hash: number };

/** Makes a term. Terms that are known in advance are made once, as constants. */
export const term = (text: string): Term => ({ text, hash: hashOf(text) });

const cache = new Map<number | string, Term>();

/** The term of a small number or of one of few strings, such as a bucket or the name of a class. Terms are kept. */
export const bucket = (value: number | string): Term => {
  const known = cache.get(value);
  if (known !== undefined) return known;
  const made = term(String(value));
  cache.set(value, made);
  return made;
};

const NOTHING = term("");

/** The key of a feature by its name, as `add` computes it. */
export const keyOf = (name: string): number => {
  const end = name.indexOf(" ");
  if (end < 0) return join(join(hashOf(name), NOTHING.hash), NOTHING.hash);
  const next = name.indexOf(" ", end + 1);
  const first = join(hashOf(name, 0, end), hashOf(name, end + 1, next < 0 ? name.length : next));
  return join(first, next < 0 ? NOTHING.hash : hashOf(name, next + 1));
};

/** The features of one thing that is judged. */
export type Features = {
  /** The keys and values of the features, as long as `count`. */
  keys: Int32Array;
  values: Float32Array;
  count: number;
  /**
   * How many of the first features are scaled to unit length together, counting only those that the model knows: the
   * words of a text, so that a long text does not count more.
   */
  scaled: number;
  /** The names, if they are wanted: for training and for explanations. */
  names: string[] | null;
  /** Adds a feature. Features of a value of 0 may be left out. */
  add: (template: Term, one?: Term, other?: Term, value?: number) => void;
  /** Leaves only the first of features that are equal, so that what is said often counts once. */
  unite: () => void;
  /** Removes all features, so that the object can be used again. */
  clear: () => void;
};

const FIRST_CAPACITY = 32;

/** Creates an empty list of features. @param named whether the names are kept */
export const createFeatures = (named: boolean): Features => {
  const features: Features = {
    keys: new Int32Array(FIRST_CAPACITY),
    values: new Float32Array(FIRST_CAPACITY),
    count: 0,
    scaled: 0,
    names: named ? [] : null,
    add: (template, one = NOTHING, other = NOTHING, value = 1) => {
      const at = features.count++;
      if (at === features.keys.length) {
        const { keys, values } = features;
        features.keys = new Int32Array(at * 2);
        features.keys.set(keys);
        features.values = new Float32Array(at * 2);
        features.values.set(values);
      }
      features.keys[at] = join(join(template.hash, one.hash), other.hash);
      features.values[at] = value;
      if (features.names !== null) {
        const first = one === NOTHING ? template.text : `${template.text} ${one.text}`;
        features.names.push(other === NOTHING ? first : `${first} ${other.text}`);
      }
    },
    unite: () => {
      const seen = new Set<number>();
      let kept = 0;
      const names: string[] | null = features.names === null ? null : [];
      for (let at = 0; at < features.count; at++) {
        const key = features.keys[at] ?? 0;
        if (seen.has(key)) continue;
        seen.add(key);
        features.keys[kept] = key;
        features.values[kept] = features.values[at] ?? 0;
        names?.push(features.names?.[at] ?? "");
        kept++;
      }
      features.count = kept;
      features.names = names;
    },
    clear: () => {
      features.count = 0;
      features.scaled = 0;
      if (features.names !== null) features.names = [];
    },
  };
  return features;
};
