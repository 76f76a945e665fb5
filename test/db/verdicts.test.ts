import test from "ava";
import { type Answer, type AskFacts, type OfferFacts, vectorOf } from "./market.ts";
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

/** The facts of an offer and an ask about one criterion, and its verdict; "none" if the offer does not match at all. */
const VERDICTS: readonly [rule: string, offer: OfferFacts, ask: AskFacts, criterion: string, verdict: string][] = [
  ["the same category is met", {}, {}, "category", "met"],
  ["an ask without a category leaves it unknown, given a shared word", {}, { category: null }, "category", "unknown"],
  ["a shared word is met", {}, { keywords: ["sofas"] }, "keywords", "met"],
  [
    "no shared word but a near vector: violated",
    { vector: near },
    { keywords: ["hammock"], vector: near },
    "keywords",
    "violated",
  ],
  [
    "neither a shared word nor a near vector: no match",
    { vector: far },
    { keywords: ["hammock"], vector: near },
    "",
    "none",
  ],
  [
    "neither a shared word nor any vector: no match",
    {},
    { keywords: ["hammock"], title: "Wanted: grey hammock" },
    "",
    "none",
  ],
  [
    "no category, no shared word, no vector: no match",
    {},
    { category: null, keywords: ["hammock"], title: "Grey hammock" },
    "",
    "none",
  ],
  ["another category by words alone: no match", {}, { category: "decor" }, "", "none"],
  [
    "another category by words and vector: violated",
    { vector: near },
    { category: "decor", vector: near },
    "category",
    "violated",
  ],
  ["another domain: no match", { vector: near }, { domain: "electronics", category: "tv", vector: near }, "", "none"],
  ["an ask without a domain matches nothing", {}, { domain: null, category: null }, "", "none"],
  ["a price within the limit is met", { price: "180 EUR" }, { max: "180 EUR" }, "price", "met"],
  ["a price above the limit: no match", { price: "180.5 EUR" }, { max: "180 EUR" }, "", "none"],
  ["a price within both limits is met", { price: "180 EUR" }, { min: "150 EUR", max: "200 EUR" }, "price", "met"],
  ["a price below the lower limit: no match", { price: "60 EUR" }, { min: "150 EUR", max: "200 EUR" }, "", "none"],
  ["a price above the lower limit alone is met", { price: "180 EUR" }, { min: "150 EUR" }, "price", "met"],
  ["a price below the lower limit alone: no match", { price: "149 EUR" }, { min: "150 EUR" }, "", "none"],
  [
    "a price in another currency than the lower limit is unknown",
    { price: "60 GBP" },
    { min: "150 EUR" },
    "price",
    "unknown",
  ],
  ["a free offer is not too cheap", { price: "0 EUR" }, { min: "150 EUR" }, "price", "met"],
  [
    "a price by the day below a lower limit by the month: unknown",
    { kind: "rental", price: "60 EUR", period: "day" },
    { kind: "rent", min: "300 EUR", period: "month" },
    "price",
    "unknown",
  ],
  ["a free offer is met, whatever the currency", { price: "0 USD" }, { max: "180 EUR" }, "price", "met"],
  ["another currency is unknown", { price: "9000 JPY" }, { max: "180 EUR" }, "price", "unknown"],
  ["no price is unknown", { price: null }, { max: "180 EUR" }, "price", "unknown"],
  [
    "a price by the day against a limit by the month: unknown",
    { kind: "rental", price: "900 EUR", period: "day" },
    { kind: "rent", max: "180 EUR", period: "month" },
    "price",
    "unknown",
  ],
  [
    "a price by the month above a limit by the month: no match",
    { kind: "rental", price: "900 EUR", period: "month" },
    { kind: "rent", max: "180 EUR", period: "month" },
    "",
    "none",
  ],
  ["an excluded word in the text: no match", { words: "Real leather" }, { exclude: ["leather"] }, "", "none"],
  [
    "an excluded word in another form: no match",
    { title: "Grey sofa for smokers" },
    { exclude: ["smoker"] },
    "",
    "none",
  ],
  ["an excluded word that the text lacks: met", {}, { exclude: ["leather"] }, "exclude", "met"],
  ["the same place is met, whatever the accents", { place: "Köln" }, { place: "Koln" }, "location", "met"],
  ["a synonym is met", {}, { keywords: ["couch"] }, "keywords", "met"],
  [
    "a word of another language is met",
    { title: "Graues Sofa", language: "de" },
    { keywords: ["couch"] },
    "keywords",
    "met",
  ],
  ["a compound is met", { title: "Ledersofa", language: "de" }, { keywords: ["couch"] }, "keywords", "met"],
  [
    "a part of a term is no shared word: no match",
    { title: "Grand piano", domain: "services", category: "tutoring", kind: "service_offer" },
    { title: "Flute lessons", keywords: ["Flute lessons"], domain: "services", category: "tutoring", kind: "hire" },
    "",
    "none",
  ],
  [
    "a place in one of two wanted towns is met",
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    {
      title: "Wanted: grey sofa in Berlin or Hamburg",
      keywords: ["sofa"],
      place: "Berlin",
      city: "Berlin",
      country: "DE",
    },
    "location",
    "met",
  ],
  [
    "another place: no match",
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    { place: "Berlin", country: "DE" },
    "",
    "none",
  ],
  [
    "another place is violated if the thing can be sent within the country",
    { place: "Hamburg", city: "Hamburg", country: "DE", words: "Shipping possible" },
    { place: "Berlin", country: "DE" },
    "location",
    "violated",
  ],
  [
    "another place if the text says that nothing is sent: no match",
    { place: "Hamburg", city: "Hamburg", country: "DE", words: "No shipping" },
    { place: "Berlin", country: "DE" },
    "",
    "none",
  ],
  [
    "another country, although the thing can be sent: no match",
    { place: "Wien", city: "Wien", country: "AT", words: "Shipping possible" },
    { place: "Berlin", country: "DE" },
    "",
    "none",
  ],
  [
    "a continent is met by a country in it",
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    { place: "Europe" },
    "location",
    "met",
  ],
  [
    "an excluded word that the text negates: met",
    { words: "No agents please" },
    { exclude: ["agents"] },
    "exclude",
    "met",
  ],
  [
    "another currency in an unknown place: no match",
    { place: null, price: "900 GBP" },
    { place: "Berlin", max: "180 EUR" },
    "",
    "none",
  ],
  ["a quarter of an unknown city: unknown", { place: "Altona" }, { place: "Berlin" }, "location", "unknown"],
  [
    "another place with a price that cannot be compared: no match",
    { place: "Hamburg", city: "Hamburg", price: "9000 JPY" },
    { place: "Berlin", max: "180 EUR" },
    "",
    "none",
  ],
  ["an offer without a place: unknown", { place: null }, { place: "Berlin" }, "location", "unknown"],
  [
    "a country is met by a place in it",
    { place: "Hamburg", city: "Hamburg", country: "DE" },
    { place: "Deutschland", country: "DE" },
    "location",
    "met",
  ],
  [
    "a place outside the wanted country: no match",
    { place: "Wien", city: "Wien", country: "AT" },
    { place: "Deutschland", country: "DE" },
    "",
    "none",
  ],
  ["the same condition is met", { condition: "like_new" }, { condition: "like_new" }, "condition", "met"],
  ["another condition is violated", { condition: "for_parts" }, { condition: "like_new" }, "condition", "violated"],
  ["an offer without a condition: unknown", {}, { condition: "like_new" }, "condition", "unknown"],
  ["a must that the text states is met", { words: "Smoke-free home" }, { must: ["smoke-free"] }, "must", "met"],
  [
    "two musts of which the text states only one: unknown",
    { words: "Smoke-free home" },
    { must: ["smoke-free", "foldable"] },
    "must",
    "unknown",
  ],
  ["the same attribute is met", { attributes: { seats: 3 } }, { attributes: { seats: "3" } }, "attributes", "met"],
  [
    "an attribute with another value is violated",
    { attributes: { seats: 3 } },
    { attributes: { seats: 2 } },
    "attributes",
    "violated",
  ],
  [
    "one attribute that is not stated makes the criterion unknown",
    { attributes: { seats: 3 } },
    { attributes: { seats: 3, colour: "red" } },
    "attributes",
    "unknown",
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
    `${what} in another place: no match`,
    { ...facts, kind, place: "Hamburg", city: "Hamburg" },
    { ...facts, kind: wanted, place: "Berlin" },
    "",
    "none",
  ]),
];

for (const [rule, offerFacts, askFacts, criterion, verdict] of allVerdicts) {
  test.serial(`matching: ${rule}`, async (t) => {
    const offer = await market.offer(seller, offerFacts);
    const ask = await market.ask(buyer, askFacts);
    const reasons = async () => {
      const result = (await matches(ask)).results.find((each: Answer) => each.id === offer);
      if (!result) return "none";
      t.true(result.score >= 0 && result.score <= 1);
      return result.match.reasons.find((reason: Answer) => reason.criterion === criterion)?.verdict;
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
  t.deepEqual(
    open.results[0].match.reasons.map((reason: Answer) => reason.criterion),
    ["kind", "category", "keywords"],
  );
  const priced = await matches(await market.ask(buyer, { max: "200 EUR" }));
  t.deepEqual(
    priced.results[0].match.reasons.find((reason: Answer) => reason.criterion === "price"),
    { criterion: "price", verdict: "met", wanted: { max: 200, currency: "EUR" }, found: "150 EUR" },
  );
});
