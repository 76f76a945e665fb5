import test from "ava";
import { createBuiltinExtractor } from "../../src/reader/builtin/extractor.ts";
import { seedVocabulary } from "./vocabulary.ts";

const extractor = createBuiltinExtractor(seedVocabulary());

const offer = async (text: string): Promise<string> => {
  const { offer_kind, domain, category } = extractor.readOffer(text).extraction;
  return `${offer_kind?.value ?? "-"} ${domain?.value ?? "-"}/${category?.value ?? "-"}`;
};

const ask = async (text: string): Promise<string> => {
  const { ask_kind, domain, category } = extractor.readAsk(text).extraction;
  return `${ask_kind?.value ?? "-"} ${domain?.value ?? "-"}/${category?.value ?? "-"}`;
};

const OFFERS: readonly (readonly [string, string])[] = [
  ["Upright freezer, 200 litres, works fine, too big for the new kitchen. $90, Omaha.", "sale home_garden/appliances"],
  ["Verkaufe Kajak aus Polyethylen mit Paddel und Spritzdecke, 350 € VB, Schwerin", "sale hobbies/sports"],
  ["Vends poussette double, bon état, 120 €, à venir chercher à Metz", "sale family_pets/baby_kids"],
  ["Vendo bicicleta de montaña talla M, revisada este mes, 280 €, Burgos", "sale vehicles/bicycles"],
  ["Vendo divano tre posti in pelle, ottime condizioni, 250 euro, ritiro a Cremona", "sale home_garden/furniture"],
  ["Vende-se máquina de lavar roupa 8 kg, 130 €, Leiria", "sale home_garden/appliances"],
  ["Te koop: elektrische gitaar met koffer, 220 euro, Zwolle", "sale hobbies/music_instruments"],
  ["Sprzedam telewizor 50 cali, stan idealny, 900 zł, Opole", "sale electronics/tv"],
  ["Two bedroom apartment for rent near the park, $1,400 a month, deposit $1,400", "rental real_estate/apartments"],
  ["Vermiete Stellplatz in der Tiefgarage, 75 € im Monat, Ulm", "rental real_estate/parking_storage"],
  ["Te huur: aanhanger met huif, 25 euro per dag, borg 50 euro", "rental vehicles/other_vehicles"],
  ["Noleggio furgone 9 posti, 80 euro al giorno, Bari", "rental vehicles/trucks_vans"],
  ["Alugo quarto mobilado a estudante, 300 € por mês, despesas incluídas", "rental real_estate/rooms"],
  ["Window cleaning, 12 years of experience, fully insured, free quotes", "service_offer services/cleaning"],
  ["Korepetycje z chemii, liceum i matura, 80 zł za godzinę", "service_offer services/tutoring"],
  ["Plombier avec 15 ans d'expérience, devis gratuit, intervention rapide à Pau", "service_offer services/repair"],
  [
    "Bartender wanted for weekend shifts, $18 an hour plus tips, apply by mail",
    "project_hire jobs_projects/hospitality",
  ],
  ["Wir suchen ab sofort LKW Fahrer (m/w/d) in Vollzeit, Bewerbung an uns", "project_hire jobs_projects/logistics"],
  ["Se busca programador PHP para proyecto de tres meses, enviar CV", "project_hire jobs_projects/software"],
  ["Divorced man, 47, would like to meet a woman for a serious relationship", "dating community/dating"],
  ["Nasz klub książki spotyka się w każdy czwartek, zapraszamy wszystkich", "friendship community/activities"],
];

for (const [text, expected] of OFFERS) {
  test(`an offer is classified by its words: ${text.slice(0, 60)}`, async (t) => {
    t.is(await offer(text), expected);
  });
}

const ASKS: readonly (readonly [string, string])[] = [
  ["Looking for a second hand tumble dryer, up to 150 dollars, Reno", "buy home_garden/appliances"],
  ["Suche gebrauchte Bohrmaschine bis 40 Euro", "buy home_garden/tools"],
  ["Zoek een tweedehands wieg, maximaal 60 euro, Breda", "buy family_pets/baby_kids"],
  ["Kupię używany wózek, do 300 zł, Toruń", "buy family_pets/baby_kids"],
  ["Want to rent a holiday cottage for a week in August, up to 900 euros", "rent real_estate/vacation"],
  ["Cerco in affitto un bilocale a Trento, massimo 700 euro al mese", "rent real_estate/apartments"],
  ["Need a locksmith to change two locks in Dayton", "hire services/repair"],
  ["Preciso de alguém para cuidar da minha mãe, dois dias por semana, em Braga", "hire services/care"],
  ["I want to sell my piano, how do I start?", "sell hobbies/music_instruments"],
  ["We would like to let our apartment for half a year", "lease_out real_estate/apartments"],
  ["Experienced line cook looking for work in Tampa", "offer_service jobs_projects/hospitality"],
  ["Busco pareja, tengo 50 años y vivo en Vigo", "dating community/dating"],
  ["Suche neue Freunde zum Wandern, bin neu in der Stadt", "friendship community/friendship"],
];

for (const [text, expected] of ASKS) {
  test(`an ask gets its kind, and the category of the offers that would answer it: ${text.slice(0, 60)}`, async (t) => {
    t.is(await ask(text), expected);
  });
}

test("a trade that is offered is a service, and a trade that is wanted is a job", async (t) => {
  t.is(await offer("Electrician, 20 years of experience, free estimates"), "service_offer services/construction");
  t.is(await offer("Electrician wanted, full time, apply with CV"), "project_hire jobs_projects/construction_work");
});

test("the main thing of an offer decides its category, not its accessories", async (t) => {
  t.is(await offer("Record player, comes with two speakers and a desk lamp, 80 dollars"), "sale electronics/audio");
  t.is(await offer("Sofa, no dogs and no cats in the house, 100 dollars"), "sale home_garden/furniture");
});

test("the last part of a compound decides its category", async (t) => {
  t.is(await offer("Verkaufe Gartenklapptisch, 20 €"), "sale home_garden/furniture");
  t.is(await offer("Vermiete helle Zweiraumwohnung, 500 € im Monat"), "rental real_estate/apartments");
});

test("the kind of an offer is one that its domain allows", async (t) => {
  const { taxonomy } = seedVocabulary();
  for (const [text] of OFFERS) {
    const { offer_kind, domain } = extractor.readOffer(text).extraction;
    t.true(taxonomy.find((one) => one.domain === domain?.value)?.kinds.includes(offer_kind?.value ?? ""), text);
  }
});

test("a text that names nothing known has no domain and no category", async (t) => {
  const { domain, category } = extractor.readOffer("Zzz qqq xyzzy 42").extraction;
  t.is(domain, null);
  t.is(category, null);
});

test("a word that an operator adds is used at once", async (t) => {
  const vocabulary = seedVocabulary();
  vocabulary.labels.push(["electronics/gaming", null, "blorptron", 3, false]);
  const taught = createBuiltinExtractor(vocabulary);
  const { category } = taught.readOffer("Blorptron 9000 for sale").extraction;
  t.is(category?.value, "gaming");
});

test("a label of an unknown concept is an error", (t) => {
  const vocabulary = seedVocabulary();
  vocabulary.labels.push(["no_such/category", null, "sofa", 3, false]);
  t.throws(() => createBuiltinExtractor(vocabulary), { message: /names no_such\/category, which is no concept/ });
});
