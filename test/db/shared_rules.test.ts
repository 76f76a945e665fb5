import test from "ava";
import { SIGN_IN_METHODS } from "../../src/base/enums.ts";
import { readableText, visibleText } from "../../src/base/visible_text.ts";
import { nameOfMethod } from "../../src/sign_in/methods.ts";
import { column } from "./market.ts";
import { market } from "./one_market.ts";

/** Rules that exist both in the database and in the pages, because each needs them. Both must decide alike. */

/** Longer than any name in these tests, so that no name is cut. */
const LENGTH = 1_000;

/** Every code point that PostgreSQL can store: all except NUL and surrogates. */
const STORABLE = "generate_series(1, 1114111) as n where n not between 55296 and 57343";
const isStorable = (point: number) => point > 0 && (point < 0xd800 || point > 0xdfff);

/** Sorted code points as text, such as "U+202A..U+202E". */
const ranges = (points: number[]): string[] => {
  const told: string[] = [];
  points.forEach((point, place) => {
    const begins = points[place - 1] !== point - 1;
    const hex = `U+${point.toString(16).toUpperCase()}`;
    if (begins) told.push(hex);
    else told[told.length - 1] = `${told.at(-1)?.split("..")[0]}..${hex}`;
  });
  return told;
};

const pointsWhere = (holds: (character: string) => boolean): number[] =>
  Array.from({ length: 0x110000 }, (_, point) => point).filter(
    (point) => isStorable(point) && holds(String.fromCodePoint(point)),
  );

const storedWhere = async (condition: string): Promise<number[]> =>
  (await market.sql(`select n from ${STORABLE} and ${condition} order by n`)).map(({ n }) => n);

test("pages and the database remove the same characters of Unicode from a name", async (t) => {
  const stored = await storedWhere("internal.visible_name('x' || chr(n) || 'y') = 'xy'");
  const shown = pointsWhere((character) => visibleText(`x${character}y`, LENGTH) === "xy");
  t.deepEqual(ranges(shown), ranges(stored));
  t.true(stored.length > 200, `${stored.length} characters`);
});

test("pages and the database agree on which characters alone are no name", async (t) => {
  const stored = await storedWhere("internal.visible_name(chr(n)) is null");
  const shown = pointsWhere((character) => visibleText(character, LENGTH) === "");
  t.deepEqual(ranges(shown), ranges(stored));
});

/** The scripts of the living, and the ends of all larger blocks, because every code point would take a minute. */
const looked = (n: string): string => `${n} < 16384 or ${n} % 64 in (0, 63)`;
const isLooked = (n: number): boolean => n < 16_384 || n % 64 === 0 || n % 64 === 63;

test("a search and a stored text lose the same invisible characters", async (t) => {
  for (const [name, expression, text] of [
    ["one character", "'x' || chr(n) || 'y'", (one: string) => `x${one}y`],
    ["a joiner after it", "chr(n) || chr(8205) || 'y'", (one: string) => `${one}\u200dy`],
    ["a variation selector after it", "chr(n) || chr(65039) || 'y'", (one: string) => `${one}\ufe0fy`],
    ["a further one after it", "chr(n) || chr(917761) || 'y'", (one: string) => `${one}\u{e0101}y`],
  ] as const) {
    const stored = await storedWhere(
      `(${looked("n")}) and char_length(internal.visible_text(${expression})) < char_length(normalize(${expression}, nfc))`,
    );
    const read = pointsWhere(
      (one) => isLooked(one.codePointAt(0) ?? 0) && readableText(text(one)).length < text(one).normalize("NFC").length,
    );
    t.deepEqual(ranges(read), ranges(stored), name);
  }
});

test("a text keeps what people write, and hides nothing from them", async (t) => {
  for (const [sent, kept] of [
    ["Sofa, 18\u200b0\u200d0 EUR", "Sofa, 1800 EUR"],
    ["1\ufe0f8\ufe0f0 EUR", "180 EUR"],
    ["\u202eSo\u00adfa\u202c\u{e0049}\u{e0067}", "Sofa"],
    ["😀\ufe0f\ufe0f\u{e0101}\u{e0102}", "😀\ufe0f"],
    ["a\ttab\r\nnext", "a\ttab\r\nnext"],
    [
      "👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 می\u200cخواهم क्\u200dष 辻\u{e0101}",
      "👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 می\u200cخواهم क्\u200dष 辻\u{e0101}",
    ],
  ] as const) {
    const stored = await market.value`select internal.visible_text(${sent})`;
    t.is(stored, kept);
    t.is(readableText(sent), kept);
  }
});

test("a page shows a stored name unchanged", async (t) => {
  for (const name of [
    " Lena \u2003",
    "Zoe\u0308 \u00adK\u200f.",
    "\u3164\u2800",
    "a\u1680\u2009b",
    "\u{e0041}x\ufe0f",
  ]) {
    const stored = await market.value`select internal.visible_name(${name})`;
    t.is(visibleText(name, LENGTH), stored ?? "", JSON.stringify(name));
  }
});

test("a sign-in method has the same name in the database and in pages", async (t) => {
  for (const method of SIGN_IN_METHODS) {
    const name = await market.value`select internal.method_name(${method})`;
    t.is(nameOfMethod(method), name);
  }
  const known = await market.sql("select method from market.sign_in_method order by position");
  t.deepEqual(column(known, "method"), [...SIGN_IN_METHODS]);
});
