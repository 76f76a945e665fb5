/** Plain arithmetic with vectors. Everything is deterministic: the same input gives the same numbers on every machine. */

/**
 * How many numbers a vector of meaning has. On labelled queries 128 numbers find about as well, and fewer find worse.
 */
export const DIMENSIONS = 256;

/** The prime and the offset basis that FNV defines for 32 bits. */
const FNV_PRIME = 0x01000193;
const FNV_BASIS = 0x811c9dc5;

/** FNV-1a, 32 bits (Fowler, Noll, Vo; IETF draft-eastlake-fnv), over the UTF-16 units of a part of a text. */
export const fnv1a = (text: string, start = 0, end = text.length): number => {
  let hash = FNV_BASIS;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
    hash = Math.imul(hash ^ (unit >>> 8), FNV_PRIME);
  }
  return hash >>> 0;
};

/**
 * Mixes the bits of a hash (the finalizer of MurmurHash3, Appleby). With FNV alone, short keys have similar high bits.
 */
export const mixed = (hash: number): number => {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
};

/** The golden ratio in 32 bits: Weyl's sequence with this step visits all hashes. */
export const GOLDEN = 0x9e3779b9;

/** A vector of unit length whose signs depend only on a name. Vectors of different names are nearly orthogonal. */
export const randomVector = (name: string): Float64Array => {
  const vector = new Float64Array(DIMENSIONS);
  let state = mixed(fnv1a(name));
  const each = 1 / Math.sqrt(DIMENSIONS);
  for (let at = 0; at < DIMENSIONS; at++) {
    state = (state + GOLDEN) >>> 0;
    vector[at] = (mixed(state) & 1) === 0 ? -each : each;
  }
  return vector;
};

/** Adds `weight` times a vector to a sum. */
export const addTo = (sum: Float64Array, vector: ArrayLike<number>, weight: number): void => {
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + weight * (vector[at] ?? 0);
};

/** The length of a vector. Not `Math.hypot`, which is slow and whose last digits depend on the engine. */
export const lengthOf = (vector: ArrayLike<number>): number => {
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += (vector[at] ?? 0) ** 2;
  return Math.sqrt(sum);
};

/** Scales a vector to unit length. A vector of zeros stays as it is. */
export const normalise = (vector: Float64Array): Float64Array => {
  const length = lengthOf(vector);
  if (length > 0) for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
  return vector;
};
