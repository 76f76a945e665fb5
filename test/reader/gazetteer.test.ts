import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { inOneGo } from "../../src/base/steps.ts";
import { DATA } from "../../src/install/data_files.ts";
import { compileGazetteer, NO_PLACES, type PlaceRows } from "../../src/reader/propose/gazetteer.ts";
import { namesIn, type PlaceHints, resolvePlace } from "../../src/reader/propose/place_choice.ts";
import { findPlaces } from "../../src/reader/propose/places.ts";
import { tokensIn } from "../../src/reader/text/tokens.ts";
import { processorTime } from "../support/busy.ts";

const read = (file: string): string => readFileSync(join(DATA, file), "utf8");

const shipped = (): PlaceRows => ({
  place: read("place.tsv"),
  place_name: read("place_name.tsv"),
  place_member: read("place_member.tsv"),
});

const compiled = (rows: PlaceRows) => inOneGo(compileGazetteer(rows));

const gazetteer = compiled(shipped());

/** The place that a location means: country, region, city and district. */
const meant = (location: string, hints: PlaceHints = {}): string => {
  const place = resolvePlace(gazetteer, findPlaces(gazetteer, tokensIn(location)), hints);
  return [place?.country, place?.region, place?.city, place?.district].map((name) => name ?? "-").join("/");
};

/** The names of places in a text, as written. */
const names = (text: string): string[] => {
  const tokens = tokensIn(text);
  return findPlaces(gazetteer, tokens).map(({ from, to }) => text.slice(tokens[from]?.start, tokens[to - 1]?.end));
};

const MEANT: readonly (readonly [location: string, meant: string, hints?: PlaceHints])[] = [
  ["Frankfurt", "DE/Hessen/Frankfurt am Main/-"],
  ["Frankfurt am Main", "DE/Hessen/Frankfurt am Main/-"],
  ["Frankfurt (Oder)", "DE/Brandenburg/Frankfurt (Oder)/-"],
  ["Frankfurt/Oder", "DE/Brandenburg/Frankfurt (Oder)/-"],
  ["Frankfurt an der Oder", "DE/Brandenburg/Frankfurt (Oder)/-"],
  ["Frankfurt, Brandenburg", "DE/Brandenburg/Frankfurt (Oder)/-"],
  ["Perth", "AU/Western Australia/Perth/-"],
  ["Perth", "GB/Scotland/Perth/-", { currency: "GBP" }],
  ["Perth, WA", "AU/Western Australia/Perth/-"],
  ["Perth, Scotland", "GB/Scotland/Perth/-"],
  ["Cambridge", "GB/England/Cambridge/-", { currency: "GBP" }],
  ["Cambridge", "US/Massachusetts/Cambridge/-", { currency: "USD" }],
  ["Cambridge, MA", "US/Massachusetts/Cambridge/-"],
  ["Cambridge, Ontario", "CA/Ontario/Cambridge/-"],
  ["London", "CA/Ontario/London/-", { phoneCountries: ["CA"] }],
  ["London, ON", "CA/Ontario/London/-"],
  ["Hamilton", "CA/Ontario/Hamilton/-", { language: "en", currency: "$" }],
  ["Hamilton", "NZ/Waikato/Hamilton/-", { language: "en", currency: "NZD" }],
  ["Halifax", "CA/Nova Scotia/Halifax/-", { language: "en", currency: "$" }],
  ["Halifax", "GB/England/Halifax/-", { language: "en", currency: "GBP" }],
  ["Nelson, BC", "CA/British Columbia/Nelson/-", { language: "en" }],
  ["Laval", "CA/Quebec/Laval/-", { language: "fr", currency: "$" }],
  ["Laval", "FR/Pays de la Loire/Laval/-", { language: "fr", currency: "EUR" }],
  ["Birmingham, AL", "US/Alabama/Birmingham/-"],
  ["Paris, Texas", "US/Texas/Paris/-"],
  ["Athens, Georgia", "US/Georgia/Athens/-"],
  ["Portland, OR", "US/Oregon/Portland/-"],
  ["Ontario", "CA/Ontario/-/-"],
  ["Ontario, CA", "US/California/Ontario/-"],
  ["Melbourne, FL", "US/Florida/Melbourne/-"],
  ["Newcastle, NSW", "AU/New South Wales/Newcastle/-"],
  ["Córdoba", "ES/Andalucía/Córdoba/-", { currency: "EUR" }],
  ["Córdoba, Argentina", "AR/Córdoba/Córdoba/-"],
  ["Valencia", "ES/Comunidad Valenciana/Valencia/-", { language: "es" }],
  ["Valencia, Venezuela", "VE/Carabobo/Valencia/-"],
  ["Porto Alegre - RS", "BR/Rio Grande do Sul/Porto Alegre/-"],
  ["Köln-Ehrenfeld", "DE/Nordrhein-Westfalen/Köln/Ehrenfeld"],
  ["Koeln", "DE/Nordrhein-Westfalen/Köln/-"],
  ["Cologne", "DE/Nordrhein-Westfalen/Köln/-"],
  ["Monachium", "DE/Bayern/München/-"],
  ["w Poznaniu", "PL/Wielkopolskie/Poznań/-"],
  ["Berlin", "DE/Berlin/Berlin/-"],
  ["Kreuzberg", "DE/Berlin/Berlin/Kreuzberg"],
  ["Camden, London", "GB/England/London/Camden Town"],
  ["Peckham, London SE15", "GB/England/London/Peckham"],
  ["Brooklyn", "US/New York/New York/Brooklyn"],
  ["New York, NY", "US/New York/New York/-"],
  ["Carlton, Melbourne", "AU/Victoria/Melbourne/Carlton"],
  ["Paris 11e", "FR/Île-de-France/Paris/Paris 11e"],
  ["Trastevere", "IT/Lazio/Roma/Trastevere"],
  ["Stoke-on-Trent", "GB/England/Stoke-on-Trent/-"],
  ["Stoke on Trent", "GB/England/Stoke-on-Trent/-"],
  ["Hull", "GB/England/Kingston upon Hull/-"],
  ["St. Gallen", "CH/St. Gallen/Sankt Gallen/-"],
  ["St-Etienne", "FR/Auvergne-Rhône-Alpes/Saint-Étienne/-"],
  ["L'Aquila", "IT/Abruzzo/L'Aquila/-"],
  ["'s-Hertogenbosch", "NL/Noord-Brabant/'s-Hertogenbosch/-"],
  ["Halle (Saale)", "DE/Sachsen-Anhalt/Halle (Saale)/-"],
  ["Lodz", "PL/Łódzkie/Łódź/-"],
  ["Luxembourg", "LU/-/-/-"],
  ["Mexico", "MX/-/-/-"],
  ["Bavière", "DE/Bayern/-/-"],
  ["Allgäu", "DE/Allgäu/-/-"],
  ["Costa Brava", "ES/Costa Brava/-/-"],
  ["Bay Area", "US/Bay Area/San Francisco/-"],
  ["Deutschland", "DE/-/-/-"],
  ["Skandinavien", "-/-/-/-"],
];

for (const [location, place, hints] of MEANT)
  test(`${location}${hints === undefined ? "" : ` with ${JSON.stringify(hints)}`} is ${place}`, (t) => {
    t.is(meant(location, hints), place);
  });

test("a neighbouring town in the text says which town is meant", (t) => {
  const text = "Sofa in Frankfurt, I can also bring it to Eisenhüttenstadt or Fürstenwalde";
  const [first, ...others] = findPlaces(gazetteer, tokensIn(text));
  t.is(resolvePlace(gazetteer, first === undefined ? [] : [first], { others })?.city, "Frankfurt (Oder)");
});

test("the state after a town says which town is meant, also if the location is the town's name alone", (t) => {
  const tokens = tokensIn("House in Nelson, BC, wood heat");
  const inside = namesIn(tokens, findPlaces(gazetteer, tokens), { from: 2, to: 3 });
  t.is(inside.length, 2);
  t.is(resolvePlace(gazetteer, inside, { language: "en" })?.region, "British Columbia");
});

test("a name that several towns have is less sure than a name that one town has", (t) => {
  const sure = (location: string): number =>
    resolvePlace(gazetteer, findPlaces(gazetteer, tokensIn(location)))?.confidence ?? 0;
  t.true(sure("Frankfurt") < sure("Frankfurt (Oder)"));
  t.true(sure("Frankfurt") > 0.8);
  t.true(sure("Richmond") < 0.5);
  t.true(sure("Richmond, VA") > 0.9);
  // In most texts, this word does not mean the town.
  t.true(sure("Reading") < sure("Reading, England"));
});

test("a town and a district have a point, a region and a country have none", (t) => {
  const point = (location: string) => resolvePlace(gazetteer, findPlaces(gazetteer, tokensIn(location)))?.point;
  t.deepEqual(point("Berlin"), { lat: 52.524, lon: 13.411 });
  t.deepEqual(point("Berlin-Kreuzberg"), { lat: 52.5, lon: 13.403 });
  // GeoNames has no point for this district, so it has its city's.
  t.deepEqual(point("Köln-Ehrenfeld"), point("Köln"));
  t.is(point("Bayern"), null);
  t.is(point("Deutschland"), null);
});

test("of names that overlap, the longest is found, and none across the end of a sentence", (t) => {
  t.deepEqual(names("Abholung in Frankfurt (Oder), nicht in Bad Homburg."), ["Frankfurt (Oder)", "Bad Homburg"]);
  t.deepEqual(names("New York, Newcastle upon Tyne"), ["New York", "Newcastle upon Tyne"]);
  t.deepEqual(names("Two pairs of reading glasses, a nice bath and a sofa, all in Reading"), ["Reading"]);
  // A sentence ends between the words.
  t.deepEqual(names("Ich wohne in Frankfurt. Oder du holst es ab"), ["Frankfurt"]);
});

test("an abbreviation of a state counts only beside a place of the state", (t) => {
  t.deepEqual(names("Perth, WA"), ["Perth", "WA"]);
  t.deepEqual(names("Size MA, colour OR"), []);
  t.deepEqual(names("in Portland or nearby"), ["Portland"]);
});

test("a text without capital letters may name a town that is also a word", (t) => {
  t.deepEqual(names("need gone: freezer, 40, hull"), ["hull"]);
});

test("without places nothing is found", (t) => {
  const none = compiled(NO_PLACES);
  t.deepEqual(findPlaces(none, tokensIn("Berlin")), []);
  t.is(resolvePlace(none, []), null);
});

test("of a row with an unknown country, region and city, the country's code stays, and region and city are left out", (t) => {
  const odd = compiled({
    place:
      "place\tkind\tname\tcountry\tregion\tcity\tpopulation\tlatitude\tlongitude\nx\tcity\tZorbheim\tZZ\tZZ.1\ty\t\t\t\n",
    place_name: "place\tname\tform\nx\tZorb\tname\nunknown\tElsewhere\tname\n",
    place_member: "place\tcountry\nworld/none\tZZ\n",
  });
  const found = findPlaces(odd, tokensIn("in Zorb, Elsewhere"));
  t.is(found.length, 1);
  t.like(resolvePlace(odd, found), { country: "ZZ", region: null, city: "Zorbheim", point: null });
});

test("a word that begins no name takes less than ten microseconds", async (t) => {
  const tokens = tokensIn("sofa grey velvet barely used collection only please ".repeat(500));
  findPlaces(gazetteer, tokens);
  const took = await processorTime(() => findPlaces(gazetteer, tokens));
  t.true(took / tokens.length < 0.01, `${took} ms for ${tokens.length} words`);
});
