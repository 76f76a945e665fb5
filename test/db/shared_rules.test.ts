import test from "ava";
import { SIGN_IN_METHODS } from "../../src/database/enums.ts";
import { visibleText } from "../../src/http/visible_text.ts";
import { nameOfMethod } from "../../src/sign_in/methods.ts";
import { openMarket } from "./market.ts";

/** Rules that exist both in the database and in the pages, because each needs them. Both must decide alike. */

let market: Awaited<ReturnType<typeof openMarket>>;

test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.close());

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

test("a page shows a stored name unchanged", async (t) => {
  for (const name of [
    " Lena \u2003",
    "Zoe\u0308 \u00adK\u200f.",
    "\u3164\u2800",
    "a\u1680\u2009b",
    "\u{e0041}x\ufe0f",
  ]) {
    const [{ stored }] = await market.sql("select internal.visible_name($1) as stored", [name]);
    t.is(visibleText(name, LENGTH), stored ?? "", JSON.stringify(name));
  }
});

test("a sign-in method has the same name in the database and in pages", async (t) => {
  for (const method of SIGN_IN_METHODS) {
    const [{ name }] = await market.sql("select internal.method_name($1) as name", [method]);
    t.is(nameOfMethod(method), name);
  }
  const known = await market.sql("select method from market.sign_in_method order by position");
  t.deepEqual(
    known.map(({ method }) => method),
    [...SIGN_IN_METHODS],
  );
});
