import test from "ava";
import { titleIn } from "./reading.ts";

type Row = readonly [text: string, category: string | null, title: string];

const ROWS: readonly Row[] = [
  ["Watch Rolex 50 EUR, Berlin, write to a@example.com", "fashion/jewelry_watches", "Watch Rolex"],
  ["iPhone 13, 300 EUR, see https://example.com/phone", "electronics/phones", "iPhone 13"],
  [
    "Selling my Yamaha FG800 guitar, £120, Leeds, text 07700 900123",
    "hobbies/music_instruments",
    "Yamaha FG800 guitar",
  ],
  ["Verkaufe Rennrad Canyon Ultimate für 900 €, Köln", "vehicles/bicycles", "Rennrad Canyon Ultimate"],
  ["À vendre: canapé d'angle gris, 250 €, Lyon", "home_garden/furniture", "canapé d'angle gris"],
  ["Se vende bicicleta de montaña Orbea, 300 €, Bilbao", "vehicles/bicycles", "bicicleta de montaña Orbea"],
  ["Vendo passeggino Chicco, 80 euro, Torino", "family_pets/baby_kids", "passeggino Chicco"],
  ["Te koop: eiken eettafel, 150 euro, ophalen in Zwolle", "home_garden/furniture", "eiken eettafel"],
  ["Sprzedam rower górski Kross, 900 zł, Lublin", "vehicles/bicycles", "rower górski Kross"],
  ["Espresso machine, was 200 now 150 EUR, Ghent.", "home_garden/kitchen", "Espresso machine"],
  ["Garage from 1 March, £80 pcm, Bath", "real_estate/parking_storage", "Garage"],
  ["Klavierunterricht ab 30 €, Bonn", "services/tutoring", "Klavierunterricht"],
  ["Cours de guitare entre 12 euros et 15 euros de l'heure, Lille.", "services/tutoring", "Cours de guitare"],
  ["Clases de inglés desde 12 €, Vigo", "services/tutoring", "Clases de inglés"],
  ["Lezioni di yoga da 15 €, Bari", "services/beauty_wellness", "Lezioni di yoga"],
  ["Geladeira 10x de R$ 189,90 ou R$ 1.699,00 no pix, Curitiba", "home_garden/appliances", "Geladeira"],
  ["Pianoles vanaf 25 euro, Gent", "services/tutoring", "Pianoles"],
  ["Strzyżenie od 40 zł, Poznań.", "services/beauty_wellness", "Strzyżenie"],
  ["Oak dining table\n\nSix chairs included. £200.\nYork", "home_garden/furniture", "Oak dining table"],
];

test("a title names the thing, without price, place, contact and words of selling", (t) => {
  t.deepEqual(
    ROWS.map(([text, category]) => [text, category, titleIn(text, category)?.title ?? ""] as const),
    ROWS,
  );
});

test("a title has at most 120 characters, and its words are those of the span", (t) => {
  const long = "Sofa with cushions and a blanket and a lamp and ".repeat(40);
  for (const text of [long, "x".repeat(4000), ...ROWS.map(([row]) => row)]) {
    const found = titleIn(text, null);
    if (found === null) continue;
    t.true(found.title.length <= 120);
    t.is(found.title, text.slice(found.span.start, found.span.end).replace(/\s+/gu, " "));
  }
});

test("a text without words has no title", (t) => {
  t.is(titleIn("!!! ...", null), null);
  t.is(titleIn("", null), null);
});
