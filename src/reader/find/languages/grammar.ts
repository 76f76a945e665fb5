/**
 * The closed grammar of numbers and money in one language. Words are folded and separated by spaces (phrases of
 * `currencies` by "|"). The languages are read together: no number word of one means another number in a different one.
 */
export type NumberGrammar = {
  /** Number words by their value, those inside compounds included. */
  values: Readonly<Record<number, string>>;
  /** Words that multiply the number before them ("two hundred"). Alone they count once: "cento" is 100. */
  factors: Readonly<Record<number, string>>;
  /** Words for sums of money ("a tenner"). */
  sums: Readonly<Record<number, string>>;
  /** Words for sums that are also used for other things ("une trentaine"). */
  roundNumbers: Readonly<Record<number, string>>;
  /** Words after digits that multiply them: "3,5 tys.". */
  magnitudes: Readonly<Record<number, string>>;
  /** Names of currencies by ISO 4217 code or ambiguous sign (currencies.ts). */
  currencies: Readonly<Record<string, string>>;
  /** Articles that are no number before a sum or a factor: "a hundred". */
  articles: string;
  /** Words between the parts of a number. */
  joiners: string;
  /** Words between the ends of a range. Those of `weakTo` need more evidence, because they have other meanings. */
  to: string;
  weakTo: string;
  /** Words before the ends of a range. */
  opensRange: string;
  /** The phrase that adds a half: "seven and a half grand". */
  half: string;
  /** Number words that alone mean something else: "Grand salon". */
  neverAlone: string;
};
