import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { DATA, parseRows } from "../../src/install/data_files.ts";
import { createBuiltinExtractor } from "../../src/reader/builtin/extractor.ts";
import { parseMarks } from "../../src/reader/training/marks.ts";
import { shippedExamples } from "../../src/reader/training/train.ts";
import { seedVocabulary } from "./vocabulary.ts";

/** What a text reads as, whatever it was sent as: asks that are sent as offers, and offers that are sent as asks. */

const read = (file: string): string => readFileSync(join(DATA, file), "utf8");
const settings = new Map(
  parseRows("setting.tsv", read("setting.tsv")).rows.map(([name, value]) => [name, Number(value)]),
);
/** From this confidence on, the database refuses a text. */
const certain = {
  ask: (settings.get("certain_ask") ?? 200) / 100,
  offer: (settings.get("certain_offer") ?? 200) / 100,
};

const extractor = createBuiltinExtractor(seedVocabulary());

const certainlyAsks = (text: string): boolean => {
  const { reads_as: found } = extractor.readOffer(text).extraction;
  return found?.value === "ask" && found.confidence >= certain.ask;
};
const certainlyOffers = (text: string): boolean => {
  const { reads_as: found } = extractor.readAsk(text).extraction;
  return found?.value === "offer" && found.confidence >= certain.offer;
};

test("who wants a thing or a home asks, in any language and by any verb", (t) => {
  const asks = [
    "WTB PS5 disc edition, max $350 shipped, Seattle. Contact: jonas.t@example.com",
    "ISO a used dishwasher, budget $150, Portland. Text 503-555-0143",
    "In search of a studio flat, up to £900 pcm, Bristol. sam@example.com",
    "Looking for a road bike, size 54, up to 600 EUR, Ghent. Contact: jonas.t@example.com",
    "Gesucht: Gitarre bis 200 Euro, Köln. Contact: jonas.t@example.com",
    "Kaufe alte Schallplatten, zahle bis 5 € pro Stück, Wien. karl@example.com",
    "Suche Nachhilfe in Mathe, max 20 € die Stunde, Ulm. jo@example.com",
    "Cherche appartement 2 pièces, max 800 €, Lyon. Contact: jonas.t@example.com",
    "Achète meuble ancien, Bordeaux. luc@example.com",
    "Busco lavadora de segunda mano, máximo 120 euros, Sevilla. pepe@example.com",
    "Compro iPhone 12 en buen estado, hasta 250 €, Valencia. 611 555 014",
    "Cerco divano letto, massimo 150 euro, Milano. Contact: jonas.t@example.com",
    "Procuro apartamento T2 em Lisboa até 1000 euros por mês. ana@example.com",
    "Gezocht: kinderfiets 16 inch, max 50 euro, Utrecht. piet@example.com",
    "Szukam pralki do 400 zł, Kraków. Contact: jonas.t@example.com",
    "Kupię rower górski do 800 zł, Gdańsk. Tel. 501 555 014",
    "Sökes: soffa, högst 2000 kr, Göteborg. ulf@example.com",
  ];
  t.deepEqual(
    asks.filter((text) => !certainlyAsks(text)),
    [],
  );
});

test("who hires, seeks people or gives a thing away offers", (t) => {
  const offers = [
    "Plumber wanted for small bathroom job, Leeds, £200. sam@example.com",
    "Phone repair technician wanted, full time, Dublin, €32,000. jobs@example.com",
    "Szukamy opiekunki do dziecka, 28 zł/h, Warszawa. x@example.com",
    "Nachmieter gesucht für 2-Zimmer-Wohnung in Berlin, 780 € warm. jo@example.com",
    "Cherche colocataire, chambre 400 €, Rennes. jo@example.com",
    "Katze sucht neues Zuhause, Schutzgebühr 80 €, Köln. jo@example.com",
    "Suche nette Leute zum Wandern, Freiburg. jo@example.com",
    "Looking for something special? Handmade lamps, 45 EUR, Ghent. jo@example.com",
  ];
  t.deepEqual(offers.filter(certainlyAsks), []);
  t.deepEqual(
    ["I sell my sofa, 180 EUR, Berlin", "Vendo bicicleta, 150 euros, Madrid"].filter(certainlyOffers).length,
    2,
  );
});

/** The texts of the evaluation's offers or asks. */
const evaluated = (what: "offers" | "asks"): string[] =>
  ["texts", ...["one", "two", "three", "four", "five"].map((set) => `strangers/${set}`)].flatMap((folder) => {
    const path = new URL(`../eval/${folder}/`, import.meta.url);
    return readdirSync(path)
      .filter((name) => name.startsWith(what))
      .flatMap((name) => readFileSync(new URL(name, path), "utf8").trim().split("\n"))
      .map((line) => (JSON.parse(line) as { text: string }).text);
  });

/** Every eighth example is enough to find a kind of text that is refused. */
const EXAMPLE_OF = 8;

test("none of thousands of true offers is refused as an ask, and no true ask as an offer", (t) => {
  const examples = shippedExamples(read)
    .filter((_, at) => at % EXAMPLE_OF === 0)
    .map(({ text, ...kinds }) => ({ text: parseMarks(text).text, ...kinds }));
  const offers = examples.flatMap(({ offer_kind, text }) => (offer_kind === null ? [] : [text]));
  // Who "would like to sell" asks in words that an advertisement has, too.
  const wanted = new Set(["buy", "rent", "hire", "dating", "friendship", "general"]);
  const asks = examples.flatMap(({ ask_kind, text }) => (wanted.has(ask_kind ?? "") ? [text] : []));
  t.true(offers.length > 800 && asks.length > 800);
  t.deepEqual([...offers, ...evaluated("offers")].filter(certainlyAsks), []);
  t.deepEqual([...asks, ...evaluated("asks")].filter(certainlyOffers), []);
});

test("several things with a price each are told, if there is no price for all", (t) => {
  const several = (text: string) => extractor.readOffer(text).extraction.several;
  for (const text of [
    "Desk 60 CHF, chair 25 CHF, lamp 10 CHF. Basel. jonas@example.com",
    "Umzug: Schreibtisch 40 €, Stuhl 15 €, Lampe 8 €. Bonn, x@example.com",
    "Mesa 40 €, silla 15 €, lámpara 8 €, Madrid a@example.com",
  ])
    t.true(several(text), text);
  for (const text of [
    "Grey sofa. New it was 1,200 EUR, now 180 EUR, delivery 20. Kreuzberg. lena@example.com",
    "Bicycle 200 EUR with helmet, Bonn. a@example.com",
    "Haircut 40 EUR, beard 20 EUR, Bonn. a@example.com",
  ])
    t.false(several(text), text);
});
