import test from "ava";
import { createBuiltinExtractor } from "../../src/reader/builtin/extractor.ts";
import { seedVocabulary } from "./vocabulary.ts";

const extractor = createBuiltinExtractor(seedVocabulary());

const place = async (text: string) => extractor.readOffer(text).extraction.location?.value ?? null;

const PLACES: readonly (readonly [string, string])[] = [
  ["Oak bookcase, $60, pickup in Omaha after five.", "Omaha"],
  ["Oak bookcase for sale, £60. Sheffield S8, text first.", "Sheffield S8"],
  ["Moped, 400 dollars. Located in Erie, PA near the lake.", "Erie, PA"],
  ["Bücherregal aus Eiche, 60 €. Abholung in Dresden-Neustadt.", "Dresden-Neustadt"],
  ["Bücherregal aus Eiche, 60 €. Standort: 04109 Leipzig", "04109 Leipzig"],
  ["Étagère en chêne, 60 €, à venir chercher à Lyon 3e.", "Lyon 3e"],
  ["Estantería de roble, 60 €, recoger en Málaga (Teatinos).", "Málaga (Teatinos)"],
  ["Libreria in rovere, 60 euro, ritiro a Piacenza.", "Piacenza"],
  ["Estante de carvalho, 60 €, entrega em mão em Aveiro.", "Aveiro"],
  ["Eiken boekenkast, 60 euro, ophalen in Deventer.", "Deventer"],
  ["Regał dębowy, 200 zł, odbiór w Kielce.", "Kielce"],
  ["Bookcase, £40, Brambleford, cash only.", "Brambleford"],
];

for (const [text, expected] of PLACES) {
  test(`a place is extracted as it is written: ${expected}`, async (t) => {
    const found = await place(text);
    t.truthy(found?.text.includes(expected) || (found !== null && expected.includes(found.text)), `${found?.text}`);
    t.true(text.includes(found?.text ?? "\0"));
  });
}

test("the country is derived from the place", async (t) => {
  t.is((await place("Sofa, pickup in Omaha"))?.country, "US");
  t.is((await place("Sofa, Abholung in Dresden"))?.country, "DE");
  t.is((await place("Sofa, collect from Dublin"))?.country, "IE");
  t.is((await place("Sofa, located in Dublin, OH"))?.country, "US");
});

test("a postal code and a district are told apart from the city", async (t) => {
  const found = await place("Sofa zu verkaufen, 50 €. Standort: 50823 Köln-Ehrenfeld");
  t.is(found?.city, "Köln");
  t.is(found?.district, "Ehrenfeld");
  t.is(found?.postal_code, "50823");
});

test("a district or a name in another language leads to its city", async (t) => {
  const cases = [
    ["Grey sofa, £60, collect from Peckham.", "Peckham", "London", "Peckham", "GB"],
    ["Graues Sofa, 60 €, Abholung in Kreuzberg", "Kreuzberg", "Berlin", "Kreuzberg", "DE"],
    ["Sofá gris, 60 €, recogida en Gràcia", "Gràcia", "Barcelona", "Gràcia", "ES"],
    ["Grey sofa, 60 EUR, pickup in Munich", "Munich", "München", null, "DE"],
    ["Szara sofa, 200 zł, odbiór w Krakowie", "Krakowie", "Kraków", null, "PL"],
    ["Grey sofa, £60, Peckham, London", "Peckham, London", "London", "Peckham", "GB"],
    ["Продаю диван, самовывоз в Москве", "Москве", "Moscow", null, "RU"],
    ["Продам велосипед у Львові, 3000 грн", "Львові", "Lviv", null, "UA"],
    ["للبيع كنبة في القاهرة", "القاهرة", "Cairo", null, "EG"],
    ["中古のソファ、札幌市で手渡し", "札幌市", "Sapporo", null, "JP"],
    ["出售二手沙发，杭州自提", "杭州", "Hangzhou", null, "CN"],
    ["소파 팝니다. 대전에서 직거래", "대전", "Daejeon", null, "KR"],
  ] as const;
  for (const [text, written, city, district, country] of cases) {
    const found = await place(text);
    t.is(found?.text, written);
    t.is(found?.city, city);
    t.is(found?.country, country);
    if (district !== null) t.is(found?.district, district);
  }
});

test("a town is read together with its district, and preferred to a street", async (t) => {
  t.true((await place("Bici urbana, 60 €. Granada, zona Realejo."))?.text.startsWith("Granada"));
  t.is((await place("Vélo de ville, 60 €, Strasbourg quartier Krutenau"))?.city, "Strasbourg");
  t.is((await place("Chest of drawers, seen for £300 on London Road! Must go, Hove, ground floor."))?.text, "Hove");
});
