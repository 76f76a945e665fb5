import test from "ava";
import { createQueryExtractor } from "../../src/reader/builtin/query.ts";
import { createCorrector, slipsBetween } from "../../src/reader/builtin/spelling.ts";
import type { QueryExtraction } from "../../src/reader/extraction.ts";
import { processorTime } from "../support/busy.ts";
import { seedVocabulary } from "./vocabulary.ts";

/** Tests what is extracted from a search query: kind, place and price, and the words that are left to search for. */

const read = createQueryExtractor(seedVocabulary());

const wordsOf = ({ words }: QueryExtraction) => words.map(({ said }) => said).join(" ");
const kindOf = ({ offer_kind: kind }: QueryExtraction) => (kind?.certain ? kind.value : null);
const citiesOf = ({ places }: QueryExtraction) => places.map(({ city, text }) => city ?? text);
const priceOf = ({ price }: QueryExtraction) => price && [price.max, price.currency];

const QUERIES: readonly [query: string, kind: string | null, cities: string[], price: unknown, words: RegExp][] = [
  ["flat to rent in London under 1200", "rental", ["London"], [1200, "GBP"], /^flat\b/],
  ["sofa", null, [], null, /^sofa$/],
  ["used bicycle", "sale", [], null, /^bicycle$/],
  ["Wohnung zu mieten in Hamburg bis 900 €", "rental", ["Hamburg"], [900, "EUR"], /^Wohnung\b/],
  ["appartement à louer à Lyon moins de 800 euros", "rental", ["Lyon"], [800, "EUR"], /^appartement\b/],
  ["piso en alquiler en Sevilla hasta 750 €", "rental", ["Sevilla"], [750, "EUR"], /^piso\b/],
  ["mieszkanie do wynajęcia w Gdańsku do 3000 zł", "rental", ["Gdańsk"], [3000, "PLN"], /^mieszkanie\b/],
  ["couch under £300 in London or Manchester", null, ["London", "Manchester"], [300, "GBP"], /^couch\b/],
  ["camera to rent for a weekend", "rental", [], null, /^camera$/],
  ["laptop max 500 eur", null, [], [500, "EUR"], /^laptop$/],
  ["iphone 14", null, [], null, /^iphone 14$/],
  ["free sofa", null, [], [0, null], /sofa$/],
];
for (const [query, kind, cities, price, words] of QUERIES) {
  test(`"${query}" gives ${[kind, ...cities, price].filter(Boolean).join(", ") || "only words"}`, (t) => {
    const extraction = read(query);
    t.deepEqual([kindOf(extraction), citiesOf(extraction), priceOf(extraction)], [kind, cities, price]);
    t.regex(wordsOf(extraction), words);
  });
}

const BOUNDS: readonly [query: string, min: number | null, max: number | null][] = [
  ["sofa under 200", null, 200],
  ["sofa <200", null, 200],
  ["sofa up to 200", null, 200],
  ["sofa 200 or less", null, 200],
  ["tv 200-280", 200, 280],
  ["sofa between 200 and 300", 200, 300],
  ["Sofa bis 200", null, 200],
  ["Sofa zwischen 100 und 200", 100, 200],
  ["canapé moins de 200", null, 200],
  ["canapé entre 100 et 200", 100, 200],
  ["sofá hasta 200", null, 200],
  ["divano fino a 200", null, 200],
  ["sofá até 200", null, 200],
  ["bank onder 200", null, 200],
  ["stoel tussen 50 en 120", 50, 120],
  ["desk at most 90", null, 90],
  ["rower do 500", null, 500],
  ["soffa upp till 200", null, 200],
  ["sofa over 100, under 200", 100, 200],
  ["laptop i7 16gb under 600", null, 600],
];
for (const [query, min, max] of BOUNDS) {
  test(`"${query}" has a bound in no currency`, (t) => {
    t.deepEqual(read(query).price, { min, max, currency: null, period: null, no_currency: true });
  });
}

test("a bound without a currency is in that of the place", (t) => {
  t.is(read("sofa under 200 in London").price?.currency, "GBP");
});

for (const query of [
  ...["iPhone 13", "shoes size 42", "300 l fridge", "golf 2015-2018", "jeans 32-34", "tv max. 55 inch", "bmw 320"],
  ...["car under 100000 km", "flat under 80 m2", "auto ab 2018", "max 5 seats car", "desk 120x60", "sofa 10115"],
]) {
  test(`"${query}" has no price, and keeps its words`, (t) => {
    const extraction = read(query);
    t.is(extraction.price, null);
    t.regex(wordsOf(extraction), /\d/);
  });
}

const EXCLUDED: readonly [query: string, exclude: string[], words: string][] = [
  ["sofa not leather", ["leather"], "sofa"],
  ["TV -samsung", ["samsung"], "TV"],
  ["bike -e-bike", ["e-bike"], "bike"],
  ["Fahrrad, kein E-Bike", ["E-Bike"], "Fahrrad"],
  ["no samsung tv", ["samsung"], "tv"],
  ["tv no samsung, lg or sony", ["samsung", "lg", "sony"], "tv"],
  ["anything but leather sofa", ["leather"], "sofa"],
  ["sofa not made of leather", ["leather"], "sofa"],
  ["Sofa weder Leder noch Stoff", ["Leder", "Stoff"], "Sofa"],
  ["canapé ni cuir ni velours", ["cuir", "velours"], "canapé"],
  ["télé sauf samsung et lg", ["samsung", "lg"], "télé"],
  ["tv que no sea samsung", ["samsung"], "tv"],
  ["divano né pelle né tessuto", ["pelle", "tessuto"], "divano"],
  ["tv exceto samsung ou lg", ["samsung", "lg"], "tv"],
  ["bank niet van leer", ["leer"], "bank"],
  ["sofa bez skóry", ["skóry"], "sofa"],
  ["soffa utan läder", ["läder"], "soffa"],
  ["phone not broken", ["broken"], "phone"],
];
for (const [query, exclude, words] of EXCLUDED) {
  test(`"${query}" excludes ${exclude.join(" and ")}`, (t) => {
    const extraction = read(query);
    t.deepEqual(extraction.exclude, exclude);
    t.is(wordsOf(extraction), words);
    t.false(exclude.some((word) => extraction.asked.includes(word)));
  });
}

for (const query of [
  ...["no-frills bike", "chair no name", "Nova Scotia map", "sans serif font book", "flat not far from Berlin"],
  ...["canapé pas cher", "Sin City dvd", "sofá no Porto", "nothing but leather sofa", "Sofa kein Problem"],
  ...["sofa not too big", "no man's sky ps4", "English lessons without obligation"],
]) {
  test(`"${query}" excludes nothing`, (t) => {
    t.deepEqual(read(query).exclude, []);
  });
}

test("a place that is not known is told apart from other words", (t) => {
  t.is(read("sofa in Xyzzytown").unknown_place, "Xyzzytown");
  t.is(read("sofa in 10115").unknown_place, "10115");
  t.is(read("bookcase in walnut").unknown_place, undefined);
  t.is(read("sofa in Berlin").unknown_place, undefined);
  t.like(read("sofa near me").near, { lat: null, quote: "near me" });
  t.like(read("Sofa in meiner Nähe").near, { lat: null, quote: "in meiner Nähe" });
});

test("a word for a kind filters only with a thing that can be of that kind", (t) => {
  t.is(kindOf(read("plumber to hire")), null);
  t.is(kindOf(read("van to hire")), "rental");
});

test("domain and category come from the named thing, and are null for unknown words", (t) => {
  const { domain, category } = read("couch under £300");
  t.deepEqual([domain, category], ["home_garden", "furniture"]);
  t.deepEqual([read("qwrtz").domain, read("qwrtz").category], [null, null]);
});

test("a misspelt name of a thing is also searched for in its correct spelling", (t) => {
  t.deepEqual(read("used macbok air").words, [{ said: "macbok", meant: "macbook" }, { said: "air" }]);
  t.deepEqual(read("playstaton-5").words, [{ said: "playstaton", meant: "playstation" }, { said: "5" }]);
  t.deepEqual(read("used macbok air").corrections, ["macbook"]);
  t.deepEqual(read("my tap is leaking under the sink").corrections, []);
});

for (const [query, modifiers] of [
  ["bike for my 5-year-old", ["for", "5-year-old"]],
  ["drill or saw, I'm doing up my flat", ["I", "m", "doing", "up", "flat"]],
  ["flat for sale", []],
  ["fridge freezer", []],
] as const) {
  test(`of "${query}", ${modifiers.length > 0 ? `"${modifiers.join(" ")}" are modifiers` : "no word is a modifier"}`, (t) => {
    const { words } = read(query);
    t.deepEqual(
      words.flatMap((word) => (word.is_modifier ? word.said : [])),
      [...modifiers],
    );
  });
}

test("the purpose of a thing does not decide its category", (t) => {
  t.is(read("van that could move my piano").category, "trucks_vans");
});

test("a query's language is known only if it is clear", (t) => {
  t.not(read("juegos de mesa").language, "nl");
  t.is(read("casque audio à réduction de bruit").language, "fr");
  t.is(read("laptop").language, null);
});

test("a word about heating costs in rents says nothing about the kind of a coat", (t) => {
  t.is(kindOf(read("really warm winter coat")), null);
});

test("a hyphenated word stays one word, as it is written", (t) => {
  t.deepEqual(read("Lave-vaisselle/sèche-linge").words, [{ said: "Lave-vaisselle" }, { said: "sèche-linge" }]);
});

test("slips are wrong, missing, additional or swapped letters, counted up to a limit", (t) => {
  t.is(slipsBetween("sofa", "sofa", 2), 0);
  t.is(slipsBetween("sofa", "sofs", 2), 1);
  t.is(slipsBetween("sofa", "sof", 2), 1);
  t.is(slipsBetween("sofa", "sofaa", 2), 1);
  t.is(slipsBetween("sofa", "sfoa", 2), 1);
  t.is(slipsBetween("wardrobe", "wradobe", 2), 2);
  t.is(slipsBetween("sofa", "table", 2), 3);
});

test("a known word, a short word, a number and a word for no thing are not corrected", (t) => {
  const correct = createCorrector(
    ["guitar", "guitars", "bed", "table", "cable", "leasing"],
    ["guitar", "bed", "table", "cable"],
  );
  t.is(correct("giutar"), "guitar");
  t.is(correct("guitars"), null, "known");
  t.is(correct("bedd"), null, "short");
  t.is(correct("tabl3"), null, "a number");
  t.is(correct("leasnig"), null, "not the name of a thing");
});

test("any query is read quickly and always the same way", async (t) => {
  const queries = ["", " ", "?!", "&|!()", "x".repeat(500), "in ".repeat(160), "£".repeat(500), "👍🏽 sofa", "\u0000"];
  for (const query of queries) t.deepEqual(read(query), read(query));
  const took = await processorTime(() => {
    for (let n = 0; n < 100; n++) read("flat to rent in London under 1200 pounds a month");
  });
  // This allows 20 ms each. A query takes well under a millisecond.
  t.true(took < 2000, `${took} ms`);
});
