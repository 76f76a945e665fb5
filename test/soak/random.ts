/** Random numbers that a seed determines, so that a run can be repeated. */

/** A source of random numbers. */
export type Random = {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  next: () => number;
  /** A whole number from `least` to `most`, both inclusive. */
  whole: (least: number, most: number) => number;
  /** One of the values. @throws an Error if there is none */
  pick: <T>(values: readonly T[]) => T;
  /** The values in another order. */
  shuffled: <T>(values: readonly T[]) => T[];
};

/** FNV-1a, which spreads similar names over all 32 bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
};

/**
 * Returns a source of its own for each name. So what one caller does never changes the random numbers of another, in
 * whatever order they are called.
 */
export const randomOf = (seed: number, name: string): Random => {
  // Mulberry32.
  let state = hash(`${seed} ${name}`);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    whole,
    pick: (values) => {
      const value = values[whole(0, values.length - 1)];
      if (value === undefined) throw new Error("There is nothing to pick from.");
      return value;
    },
    shuffled: (values) =>
      values
        .map((value) => ({ value, place: next() }))
        .sort((one, other) => one.place - other.place)
        .map(({ value }) => value),
  };
};
