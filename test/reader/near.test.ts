import test from "ava";
import { createBuiltinExtractor } from "../../src/reader/builtin/extractor.ts";
import { createQueryExtractor } from "../../src/reader/builtin/query.ts";
import { seedVocabulary } from "./vocabulary.ts";

/**
 * Phrases that state a distance from a town, in each language: what a query and an ask read of them.
 */

const readQuery = createQueryExtractor(seedVocabulary());
const { readAsk } = createBuiltinExtractor(seedVocabulary());

/** A phrase, the town as written, the radius (null: near), and what is left of the query. */
const PHRASES: readonly [string, string, number | null, string][] = [
  ["sofa within 20 km of Berlin", "Berlin", 20, "sofa"],
  ["sofa 20km around Berlin", "Berlin", 20, "sofa"],
  ["sofa in a 15 km radius of Leeds", "Leeds", 15, "sofa"],
  ["sofa less than 10 miles from Manchester", "Manchester", 16.093, "sofa"],
  ["sofa near Leeds", "Leeds", null, "sofa"],
  ["sofa close to Bristol", "Bristol", null, "sofa"],
  ["sofa Austin area", "Austin", null, "sofa"],
  ["Sofa Mainz und nähere Umgebung", "Mainz", null, "Sofa"],
  ["canapé Limoges et ses alentours", "Limoges", null, "canapé"],
  ["divano Parma e dintorni", "Parma", null, "divano"],
  ["bank Breda en omstreken", "Breda", null, "bank"],
  ["Sofa im Umkreis von 20 km um Berlin", "Berlin", 20, "Sofa"],
  ["Sofa Berlin Umkreis 20 km", "Berlin", 20, "Sofa"],
  ["Sofa umkreis 30 km Leipzig", "Leipzig", 30, "Sofa"],
  ["Sofa Berlin + 20 km", "Berlin", 20, "Sofa"],
  ["Sofa Berlin, 20 km Umkreis", "Berlin", 20, "Sofa"],
  ["Sofa in der Nähe von Köln", "Köln", null, "Sofa"],
  ["canapé à moins de 20 km de Lyon", "Lyon", 20, "canapé"],
  ["canapé dans un rayon de 30 km autour de Lyon", "Lyon", 30, "canapé"],
  ["canapé près de Lyon", "Lyon", null, "canapé"],
  ["sofá a menos de 20 km de Madrid", "Madrid", 20, "sofá"],
  ["sofá en un radio de 10 km de Madrid", "Madrid", 10, "sofá"],
  ["sofá cerca de Madrid", "Madrid", null, "sofá"],
  ["divano entro 20 km da Roma", "Roma", 20, "divano"],
  ["divano nel raggio di 20 km da Milano", "Milano", 20, "divano"],
  ["divano vicino a Torino", "Torino", null, "divano"],
  ["sofá num raio de 20 km de Lisboa", "Lisboa", 20, "sofá"],
  ["sofá perto do Porto", "Porto", null, "sofá"],
  ["bank binnen 20 km van Utrecht", "Utrecht", 20, "bank"],
  ["bank in een straal van 25 km rond Utrecht", "Utrecht", 25, "bank"],
  ["bank in de buurt van Utrecht", "Utrecht", null, "bank"],
  ["sofa w promieniu 20 km od Warszawy", "Warszawy", 20, "sofa"],
  ["sofa do 20 km od Krakowa", "Krakowa", 20, "sofa"],
  ["sofa niedaleko Poznania", "Poznania", null, "sofa"],
  ["soffa inom 20 km från Uppsala", "Uppsala", 20, "soffa"],
  ["soffa nära Malmö", "Malmö", null, "soffa"],
];

test("a distance from a town in a query is read as a circle, and its words are no words of the thing", (t) => {
  for (const [query, place, km, words] of PHRASES) {
    const read = readQuery(query);
    const near = read.near;
    t.like(near, { place, radius_km: km }, query);
    t.deepEqual(read.words, [{ said: words }], query);
    t.deepEqual(read.places, [], query);
  }
});

test("a distance from a town in an ask is read as a circle, quoted as written", async (t) => {
  for (const [query, place, km] of PHRASES) {
    const text = `${query}, max 200 EUR`;
    const { near } = readAsk(text).extraction;
    t.like(near?.value, { place, radius_km: km }, query);
    t.true(text.includes(near?.quote ?? "-"), query);
  }
});

test("mileages, other distances and plain places are no circles", async (t) => {
  for (const text of [
    "VW Golf 50000 km Berlin",
    "car with 80,000 km in Leeds",
    "Golf, 120 km, Köln",
    "flat in Leeds",
    "e-bike with 80 km range, Bristol",
    "sofa within Berlin",
    "near new sofa in Leeds",
    "flat in Leeds, area 60 m²",
    "sofa in Leeds and bed in a quiet area",
    "job from home, 20 km",
  ]) {
    t.is(readQuery(text).near, undefined, text);
    t.is(readAsk(text).extraction.near ?? null, null, text);
  }
});

test("a distance without a known town is told", (t) => {
  t.deepEqual(readQuery("sofa within 20 km of Xyzzytown").near, { lat: null, quote: "within 20 km of" });
  t.like(readQuery("Wohnung in Berlin, 2 Zimmer, Umkreis 20 km").near, { place: "Berlin", radius_km: 20 });
});

test("a region or a country after the town says which one is meant", (t) => {
  const near = readQuery("truck within 50 miles of Paris, Texas").near;
  t.like(near, { place: "Paris", radius_km: 80.467 });
  t.true(near !== undefined && near.lat !== null && near.lat < 40);
});
