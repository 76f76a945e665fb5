import test from "ava";
import { type Answer, type AskFacts, column, type OfferFacts, vectorOf } from "./market.ts";
import { buyer, market, matches, matching, seller } from "./two_sides.ts";

/**
 * Whether an offer matches an ask, and why, rule by rule. An offer is matched when it is embedded, an ask when it is
 * read or embedded. Both ways must give the same verdict.
 */

const CLASS_OF: Record<string, OfferFacts & AskFacts> = {
  sale: { domain: "home_garden", category: "furniture" },
  rental: { domain: "home_garden", category: "furniture" },
  service_offer: { domain: "services", category: "repair" },
  project_hire: { domain: "jobs_projects", category: "software" },
  dating: { domain: "community", category: "dating" },
  friendship: { domain: "community", category: "friendship" },
};
const ANSWERS: Record<string, string[]> = {
  buy: ["sale"],
  rent: ["rental"],
  hire: ["service_offer"],
  offer_service: ["project_hire"],
  dating: ["dating"],
  friendship: ["friendship"],
  general: ["sale", "rental", "service_offer", "project_hire", "dating", "friendship"],
  sell: [],
  lease_out: [],
};

for (const [wanted, answers] of Object.entries(ANSWERS)) {
  test.serial(
    `an ask of the kind ${wanted} matches ${answers.join(", ") || "nothing"}, and no other kind`,
    async (t) => {
      const got: string[] = [];
      for (const [kind, facts] of Object.entries(CLASS_OF)) {
        const offer = await market.offer(seller, { ...facts, kind });
        const ask = await market.ask(buyer, { ...facts, kind: wanted });
        if ((await matching(ask)).includes(offer)) got.push(kind);
      }
      t.deepEqual(got, answers);
    },
  );
}

const near = vectorOf("sofa");
const far = vectorOf("lamp");

const HAMBURG = { place: "Hamburg", city: "Hamburg", country: "DE" };
const BERLIN = { place: "Berlin", country: "DE" };
const WIEN = { place: "Wien", city: "Wien", country: "AT" };

/** The facts of an offer and an ask about one criterion, and its verdict; "none" if the offer does not match at all. */
const VERDICTS: readonly [rule: string, offer: OfferFacts, ask: AskFacts, verdict: string][] = [
  ["the same category", {}, {}, "category met"],
  ["no category but a shared word", {}, { category: null }, "category unknown"],
  ["a shared word", {}, { keywords: ["sofas"] }, "keywords met"],
  ["no shared word but a near vector", { vector: near }, { keywords: ["hammock"], vector: near }, "keywords violated"],
  ["neither a shared word nor a near vector", { vector: far }, { keywords: ["hammock"], vector: near }, "none"],
  ["neither a shared word nor any vector", {}, { keywords: ["hammock"], title: "Wanted: grey hammock" }, "none"],
  [
    "no category, no shared word, no vector",
    {},
    { category: null, keywords: ["hammock"], title: "Grey hammock" },
    "none",
  ],
  ["another category by words alone", {}, { category: "decor" }, "none"],
  ["another category by words and vector", { vector: near }, { category: "decor", vector: near }, "category violated"],
  ["another domain", { vector: near }, { domain: "electronics", category: "tv", vector: near }, "none"],
  ["an ask without a domain", {}, { domain: null, category: null }, "none"],
  ["a price within the limit", { price: "180 EUR" }, { max: "180 EUR" }, "price met"],
  ["a price above the limit", { price: "180.5 EUR" }, { max: "180 EUR" }, "none"],
  ["a price within both limits", { price: "180 EUR" }, { min: "150 EUR", max: "200 EUR" }, "price met"],
  ["a price below the lower limit", { price: "60 EUR" }, { min: "150 EUR", max: "200 EUR" }, "none"],
  ["a price above the lower limit alone", { price: "180 EUR" }, { min: "150 EUR" }, "price met"],
  ["a price below the lower limit alone", { price: "149 EUR" }, { min: "150 EUR" }, "none"],
  ["another currency than the lower limit", { price: "60 GBP" }, { min: "150 EUR" }, "price unknown"],
  ["a free offer is not too cheap", { price: "0 EUR" }, { min: "150 EUR" }, "price met"],
  [
    "a price by the day below a lower limit by the month",
    { kind: "rental", price: "60 EUR", period: "day" },
    { kind: "rent", min: "300 EUR", period: "month" },
    "price unknown",
  ],
  ["a free offer, whatever the currency", { price: "0 USD" }, { max: "180 EUR" }, "price met"],
  ["another currency", { price: "9000 JPY" }, { max: "180 EUR" }, "price unknown"],
  ["no price", { price: null }, { max: "180 EUR" }, "price unknown"],
  [
    "a price by the day against a limit by the month",
    { kind: "rental", price: "900 EUR", period: "day" },
    { kind: "rent", max: "180 EUR", period: "month" },
    "price unknown",
  ],
  [
    "a price by the month above a limit by the month",
    { kind: "rental", price: "900 EUR", period: "month" },
    { kind: "rent", max: "180 EUR", period: "month" },
    "none",
  ],
  [
    "the price of a unit above the limit",
    { price: "900 EUR", unit: "square_meter" },
    { max: "180 EUR" },
    "price unknown",
  ],
  ["a price above a limit for a unit", { price: "900 EUR" }, { max: "5 EUR", unit: "kilogram" }, "price unknown"],
  ["an excluded word in the text", { words: "Real leather" }, { exclude: ["leather"] }, "none"],
  ["an excluded word in another form", { title: "Grey sofa for smokers" }, { exclude: ["smoker"] }, "none"],
  ["what is wanted for nothing", { price: "0 EUR" }, { max: "0 EUR" }, "price met"],
  ["a price for what is wanted for nothing", { price: "180 USD" }, { max: "0 EUR" }, "none"],
  ["for parts, where the broken is excluded", { condition: "for_parts" }, { exclude: ["broken"] }, "none"],
  ["an excluded word that the text lacks", {}, { exclude: ["leather"] }, "exclude met"],
  ["the same place, whatever the accents", { place: "Köln" }, { place: "Koln" }, "location met"],
  ["a synonym", {}, { keywords: ["couch"] }, "keywords met"],
  ["a word of another language", { title: "Graues Sofa", language: "de" }, { keywords: ["couch"] }, "keywords met"],
  ["a compound", { title: "Ledersofa", language: "de" }, { keywords: ["couch"] }, "keywords met"],
  [
    "a part of a term is no shared word",
    { title: "Grand piano", domain: "services", category: "tutoring", kind: "service_offer" },
    { title: "Flute lessons", keywords: ["Flute lessons"], domain: "services", category: "tutoring", kind: "hire" },
    "none",
  ],
  [
    "a place in one of two wanted towns",
    HAMBURG,
    { title: "Wanted: grey sofa in Berlin or Hamburg", keywords: ["sofa"], ...BERLIN, city: "Berlin" },
    "location met",
  ],
  [
    "a place in the first of two wanted towns",
    HAMBURG,
    { title: "Procuro sofá em Hamburgo ou em Berlin", keywords: ["sofa"], ...BERLIN, city: "Berlin" },
    "location met",
  ],
  [
    "a place in one of two towns that were read as one place",
    HAMBURG,
    { title: "Sofa gesucht, Berlin und Hamburg", keywords: ["sofa"], place: "Berlin und Hamburg", city: "Berlin" },
    "location met",
  ],
  ["another place", HAMBURG, BERLIN, "none"],
  [
    "another place, and the thing can be sent within the country",
    { ...HAMBURG, words: "Shipping possible" },
    BERLIN,
    "location violated",
  ],
  ["another place if the text says that nothing is sent", { ...HAMBURG, words: "No shipping" }, BERLIN, "none"],
  ["another country, although the thing can be sent", { ...WIEN, words: "Shipping possible" }, BERLIN, "none"],
  ["a country of a wanted continent", HAMBURG, { place: "Europe" }, "location met"],
  ["an excluded word that the text negates", { words: "No agents please" }, { exclude: ["agents"] }, "exclude met"],
  [
    "another currency in an unknown place",
    { place: null, price: "900 GBP" },
    { place: "Berlin", max: "180 EUR" },
    "none",
  ],
  ["a quarter of an unknown city", { place: "Altona" }, { place: "Berlin" }, "location unknown"],
  [
    "another place with a price that cannot be compared",
    { place: "Hamburg", city: "Hamburg", price: "9000 JPY" },
    { place: "Berlin", max: "180 EUR" },
    "none",
  ],
  ["an offer without a place", { place: null }, { place: "Berlin" }, "location unknown"],
  ["a place in a wanted country", HAMBURG, { place: "Deutschland", country: "DE" }, "location met"],
  ["a place outside the wanted country", WIEN, { place: "Deutschland", country: "DE" }, "none"],
  ["the same condition", { condition: "like_new" }, { condition: "like_new" }, "condition met"],
  ["another condition", { condition: "for_parts" }, { condition: "like_new" }, "condition violated"],
  ["an offer without a condition", {}, { condition: "like_new" }, "condition unknown"],
  ["a must that the text states", { words: "Smoke-free home" }, { must: ["smoke-free"] }, "must met"],
  [
    "two musts, of which one is stated",
    { words: "Smoke-free home" },
    { must: ["smoke-free", "foldable"] },
    "must unknown",
  ],
  ["the same attribute", { attributes: { seats: 3 } }, { attributes: { seats: "3" } }, "attributes met"],
  [
    "an attribute with another value",
    { attributes: { seats: 3 } },
    { attributes: { seats: 2 } },
    "attributes violated",
  ],
  [
    "one attribute that is not stated",
    { attributes: { seats: 3 } },
    { attributes: { seats: 3, colour: "red" } },
    "attributes unknown",
  ],
];
const HARD_PLACES: [string, OfferFacts & AskFacts, string, string][] = [
  ["a rental", CLASS_OF["rental"] ?? {}, "rental", "rent"],
  ["a service", CLASS_OF["service_offer"] ?? {}, "service_offer", "hire"],
  ["a home", { domain: "real_estate", category: "apartments" }, "sale", "buy"],
  ["a job", CLASS_OF["project_hire"] ?? {}, "project_hire", "offer_service"],
  ["a meeting", CLASS_OF["friendship"] ?? {}, "friendship", "friendship"],
];

const allVerdicts = [
  ...VERDICTS,
  ...HARD_PLACES.map(([what, facts, kind, wanted]): (typeof VERDICTS)[number] => [
    `${what} in another place`,
    { ...facts, kind, place: "Hamburg", city: "Hamburg" },
    { ...facts, kind: wanted, place: "Berlin" },
    "none",
  ]),
];

for (const [rule, offerFacts, askFacts, verdict] of allVerdicts) {
  test.serial(`matching: ${rule} (${verdict})`, async (t) => {
    const [criterion] = verdict.split(" ");
    const offer = await market.offer(seller, offerFacts);
    const ask = await market.ask(buyer, askFacts);
    const reasons = async () => {
      const result = (await matches(ask)).results.find((each: Answer) => each.id === offer);
      if (!result) return "none";
      t.true(result.score >= 0 && result.score <= 1);
      const reason = result.match.reasons.find((each: Answer) => each.criterion === criterion);
      return `${criterion} ${reason?.verdict}`;
    };
    t.is(await reasons(), verdict, "matched when the ask was read");
    await market.sql("delete from market.match");
    await market.embed("offer", offer, offerFacts.vector);
    t.is(await reasons(), verdict, "matched when the offer was embedded");
  });
}

test.serial("only criteria that the ask states are reasons, each with what is wanted and what was found", async (t) => {
  await market.offer(seller, { price: "150 EUR" });
  const open = await matches(await market.ask(buyer, {}));
  t.deepEqual(column(open.results[0].match.reasons, "criterion"), ["kind", "category", "keywords"]);
  const priced = await matches(await market.ask(buyer, { max: "200 EUR" }));
  t.deepEqual(
    priced.results[0].match.reasons.find((reason: Answer) => reason.criterion === "price"),
    { criterion: "price", verdict: "met", wanted: { max: 200, currency: "EUR" }, found: "150 EUR" },
  );
});
