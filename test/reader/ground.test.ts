import test from "ava";
import type { AskExtraction, OfferExtraction } from "../../src/reader/extraction.ts";
import { type Grounded, ground } from "../../src/reader/ground.ts";
import { processorTime } from "../support/busy.ts";

const TEXT = `Vélo de ville 🚲 presque neuf
Je vends mon vélo, 1.250 € à débattre (caution 2.400 €).
À voir à Lyon 69003, quartier Part-Dieu.
Appelez Émile l’artisan : +33 (0)6 12 34 56 78, ou écrivez à Emile [at] velo.example [dot] org
Voir https://www.velo.example.org/annonces/42`;

const said = <V>(value: V, quote: string) => ({ value, quote, basis: "stated" as const, confidence: 0.9 });

const PRICE = {
  amount: 1250,
  amount_max: null,
  currency: "EUR",
  period: null,
  type: "fixed" as const,
  negotiable: true,
  deposit: null,
  label: "1.250 € à débattre",
};

const PLACE = {
  text: "Lyon 69003",
  country: "FR",
  region: null,
  city: "Lyon",
  district: null,
  postal_code: "69003",
  point: null,
  remote: false,
};

const offer = (rest: Partial<OfferExtraction> = {}): OfferExtraction => ({
  language: "fr",
  title: said("Vélo de ville presque neuf", "Vélo de ville 🚲 presque neuf"),
  domain: null,
  category: null,
  offer_kind: null,
  price: null,
  location: null,
  contacts: [],
  party: null,
  condition: null,
  space: null,
  features: [],
  attributes: [],
  ...rest,
});

const ask = (rest: Partial<AskExtraction> = {}): AskExtraction => ({
  language: "fr",
  title: null,
  domain: null,
  category: null,
  ask_kind: null,
  price: null,
  location: null,
  condition: null,
  keywords: ["vélo"],
  must: [],
  exclude: [],
  attributes: [],
  ...rest,
});

/** PostgreSQL's substr(text, start, length), in code points counted from 1. */
const substr = (text: string, start: number, length: number): string =>
  [...text].slice(start - 1, start - 1 + length).join("");

/** All spans in a grounded extraction. */
const spansOf = (value: unknown): { quote: string; start: number; end: number }[] => {
  if (Array.isArray(value)) return value.flatMap(spansOf);
  if (typeof value !== "object" || value === null) return [];
  if ("quote" in value && "start" in value && "end" in value) {
    return [{ quote: String(value.quote), start: Number(value.start), end: Number(value.end) }];
  }
  return Object.values(value).flatMap(spansOf);
};

const contact = (type: OfferExtraction["contacts"][number]["value"]["type"], value: string, quote: string) =>
  said({ type, value, preferred: false }, quote);

const groundedContacts = (text: string, ...contacts: OfferExtraction["contacts"]) =>
  ground(text, offer({ contacts })).contacts.map((found) => found.value.value);

const amountOf = (text: string, amount: number, quote = text): number | null | undefined =>
  ground(text, offer({ price: said({ ...PRICE, amount, label: quote }, quote) })).price?.value.amount;

test("every value has the span of its quote, in code points from one, the end exclusive", (t) => {
  const extraction = offer({
    price: said({ ...PRICE, deposit: 2400 }, "1.250 € à débattre"),
    location: said(PLACE, "Lyon 69003, quartier Part-Dieu"),
    contacts: [contact("phone", "+33612345678", "+33 (0)6 12 34 56 78")],
    party: said({ name: "Émile", kind: "person" as const, role: null }, "Émile"),
    condition: said("like_new" as const, "presque neuf"),
    features: [said("Part-Dieu", "Part-Dieu")],
    attributes: [said({ name: "kind", value: "ville" }, "de ville")],
  });
  const grounded: Grounded<OfferExtraction> = ground(TEXT, extraction);
  t.deepEqual(grounded, {
    ...extraction,
    title: { ...extraction.title, start: 1, end: 29 },
    price: { ...said({ ...PRICE, deposit: 2400 }, "1.250 € à débattre"), start: 49, end: 67 },
    location: { ...said(PLACE, "Lyon 69003, quartier Part-Dieu"), start: 96, end: 126 },
    contacts: [{ ...contact("phone", "+33612345678", "+33 (0)6 12 34 56 78"), start: 154, end: 174 }],
    party: { ...said({ name: "Émile", kind: "person" as const, role: null }, "Émile"), start: 136, end: 141 },
    condition: { ...said("like_new" as const, "presque neuf"), start: 17, end: 29 },
    features: [{ ...said("Part-Dieu", "Part-Dieu"), start: 117, end: 126 }],
    attributes: [{ ...said({ name: "kind", value: "ville" }, "de ville"), start: 6, end: 14 }],
  });
  const spans = spansOf(grounded);
  t.is(spans.length, 8);
  for (const { quote, start, end } of spans) t.is(substr(TEXT, start, end - start), quote);
  t.deepEqual(JSON.parse(JSON.stringify(grounded)), grounded);
});

test("a code point outside the basic multilingual plane counts as one", (t) => {
  const text = "🚲🚲 🛠️ repair 𝒜 20 EUR";
  const { price, title } = ground(
    text,
    offer({ title: said("repair", "repair 𝒜"), price: said({ ...PRICE, amount: 20, label: "20 EUR" }, "20 EUR") }),
  );
  t.like(title, { quote: "repair 𝒜", start: 7, end: 15 });
  t.like(price, { quote: "20 EUR", start: 16, end: 22 });
  t.is(substr(text, 16, 6), "20 EUR");
});

for (const [title, quote, exact] of [
  ["case", "JE VENDS MON VÉLO", "Je vends mon vélo"],
  ["whitespace", "presque neuf Je  vends", "presque neuf\nJe vends"],
  ["apostrophes", "Émile l'artisan", "Émile l’artisan"],
  ["dashes", "Part‑Dieu", "Part-Dieu"],
  ["decomposed letters", "Émile".normalize("NFD"), "Émile"],
  ["surrounding whitespace", " presque neuf \n", "presque neuf"],
] as const) {
  test(`a quote that differs in ${title} is replaced by the words of the text`, (t) => {
    const { features } = ground(TEXT, offer({ features: [said("x", quote)] }));
    t.is(features.length, 1);
    const [found] = features;
    t.is(found?.quote, exact);
    t.is(substr(TEXT, found?.start ?? 0, (found?.end ?? 0) - (found?.start ?? 0)), exact);
  });
}

test("a value whose quote is not in the text is dropped: single values become null", (t) => {
  const nowhere = "comme neuf, jamais servi";
  t.deepEqual(
    ground(
      TEXT,
      offer({
        domain: said("vehicles", nowhere),
        category: said("bicycles", nowhere),
        offer_kind: said("sale" as const, nowhere),
        price: said(PRICE, nowhere),
        location: said(PLACE, nowhere),
        contacts: [contact("phone", "+33612345678", nowhere), contact("phone", "+33612345678", "06 12 34 56 78")],
        party: said({ name: "Émile", kind: "person" as const, role: null }, nowhere),
        condition: said("new" as const, nowhere),
        features: [said("x", nowhere), said("y", "\ud83d"), said("z", "  ")],
        attributes: [said({ name: "x", value: 1 }, nowhere)],
      }),
    ),
    { ...offer(), title: { ...offer().title, start: 1, end: 29 } },
  );
});

test("a quote is not found inside a longer number", (t) => {
  const text = "Bike 1.450 EUR or 450.000 or 4500 or 0,450";
  t.is(amountOf(text, 450, "450"), undefined);
  t.is(amountOf(text, 1450, "1.450 EUR"), 1450);
  t.is(amountOf("was 1450, now 450", 450, "450"), 450);
  t.is(ground("was 1450, now 450", offer({ features: [said("x", "450")] })).features[0]?.start, 15);
});

test("a quote is found as a whole word first, and inside a word only if nowhere else", (t) => {
  const at = (text: string, quote: string) => ground(text, offer({ features: [said("x", quote)] })).features[0]?.start;
  t.is(at("current flat for rent", "rent"), 18);
  t.is(at("Dachgeschosswohnung", "wohnung"), 13);
});

for (const [written, amount] of [
  ["1.200 €", 1200],
  ["1,200.50 $", 1200.5],
  ["1 200,50 zł", 1200.5],
  ["1'200.- CHF", 1200],
  ["1,2k", 1200],
  ["300 Tsd. €", 300_000],
  ["2 mil euros", 2000],
  ["1,5 Mio €", 1_500_000],
  ["12€50", 12.5],
  ["€0.10 a word", 0.1],
  ["50,-", 50],
  ["two for 80, one for 50", 50],
  ["gratis", 0],
  ["fifty quid", 50],
] as const) {
  test(`"${written}" states ${amount}`, (t) => {
    t.is(amountOf(written, amount), amount);
  });
}

for (const [written, amount] of [
  ["1.200 €", 12],
  ["120 €", 1],
  ["120 €", 120_000],
  ["12€50", 13],
] as const) {
  test(`"${written}" does not state ${amount}`, (t) => {
    t.is(amountOf(written, amount), undefined);
  });
}

test("an upper price, a deposit and a label that the text does not state are dropped", (t) => {
  const claim = said({ ...PRICE, amount_max: 2400, deposit: 99, label: "a real bargain" }, "1.250 €");
  t.deepEqual(ground(TEXT, offer({ price: claim })).price?.value, { ...PRICE, label: "1.250 €" });
});

test("a contact must be in its quote, in any spelling of the text", (t) => {
  t.deepEqual(
    groundedContacts(
      TEXT,
      contact("email", "emile@velo.example.org", "Emile [at] velo.example [dot] org"),
      contact("phone", "+33612345678", "+33 (0)6 12 34 56 78"),
      contact("url", "https://www.velo.example.org/annonces/42", "https://www.velo.example.org/annonces/42"),
      contact("email", "attacker@velo.example.org", "Emile [at] velo.example [dot] org"),
      contact("phone", "+33698765432", "+33 (0)6 12 34 56 78"),
      contact("whatsapp", "+33612345678", "Appelez Émile"),
      contact("url", "https://evil.example.net/annonces/42", "https://www.velo.example.org/annonces/42"),
    ),
    ["emile@velo.example.org", "+33612345678", "https://www.velo.example.org/annonces/42"],
  );
});

test("a name must be in its quote", (t) => {
  const party = said({ name: "Boris", kind: "person" as const, role: null }, "Émile l’artisan");
  t.is(ground(TEXT, offer({ party })).party, null);
});

test("a place that the text does not name is replaced by its quote", (t) => {
  const claim = said({ ...PLACE, text: "Lyon, 75001 Paris", postal_code: "75001" }, "Lyon 69003");
  t.deepEqual(ground(TEXT, offer({ location: claim })).location?.value, { ...PLACE, postal_code: null });
  const long = `${"somewhere ".repeat(30)}north`;
  t.is(ground(long, offer({ location: said({ ...PLACE, text: "Paris" }, long) })).location, null);
});

for (const [reason, title] of [
  ["its quote is not in the text", said("Vélo de ville", "Vélo de course")],
  ["none of its words is in the text", said("SYSTEM OVERRIDE ACCEPTED", "Vélo de ville")],
  ["it has a word that the text lacks", said("Vélo de ville volé", "Vélo de ville")],
  ["it has a number that the text lacks", said("Vélo de ville 2026", "Vélo de ville")],
] as const) {
  test(`the first line becomes the title if ${reason}`, (t) => {
    t.deepEqual(ground(TEXT, offer({ title })).title, {
      value: "Vélo de ville 🚲 presque neuf",
      quote: "Vélo de ville 🚲 presque neuf",
      basis: "inferred",
      confidence: 0.5,
      start: 1,
      end: 29,
    });
  });
}

test("the first line is cut to 120 code points, and blank lines are skipped", (t) => {
  const text = `\n  \n${"🚲".repeat(200)}\nmore`;
  const { title } = ground(text, offer({ title: said("x", "nowhere to be found") }));
  t.is(title.value, "🚲".repeat(120));
  t.deepEqual([title.quote, title.start, title.end], ["🚲".repeat(120), 5, 125]);
});

test("a first line may be cut inside a number", (t) => {
  const text = `${"x".repeat(118)}12345`;
  const { title } = ground(text, offer({ title: said("x", "nowhere to be found") }));
  t.deepEqual([title.quote, title.start, title.end], [`${"x".repeat(118)}12`, 1, 121]);
});

test("a title may reorder the words of the text and use parts of longer words", (t) => {
  const text = "Ich verkaufe zwei Fahrräder, Marke Stevens 28 Zoll";
  t.is(ground(text, offer({ title: said("Stevens-Fahrrad, 28 Zoll", text) })).title.value, "Stevens-Fahrrad, 28 Zoll");
});

test("grounding an offer without words throws", (t) => {
  t.throws(() => ground(" \n ", offer()), { message: "A text without words has no title." });
});

test("an ask is grounded by the same rules", (t) => {
  const text = "Cherche vélo électrique, 800 € maximum, à Lyon, pas de VTT";
  const wish = { min: null, max: 800, currency: "EUR", period: null };
  const place = { ...PLACE, text: "Lyon", postal_code: null };
  const extraction = ask({
    title: said("Vélo électrique", "vélo électrique"),
    price: said(wish, "800 € maximum"),
    location: said(place, "à Lyon"),
    must: [said("électrique", "ÉLECTRIQUE"), said("neuf", "état neuf")],
    exclude: [said("VTT", "pas de VTT")],
  });
  t.deepEqual(ground(text, extraction), {
    ...extraction,
    title: { ...said("Vélo électrique", "vélo électrique"), start: 9, end: 24 },
    price: { ...said(wish, "800 € maximum"), start: 26, end: 39 },
    location: { ...said(place, "à Lyon"), start: 41, end: 47 },
    must: [{ ...said("électrique", "électrique"), start: 14, end: 24 }],
    exclude: [{ ...said("VTT", "pas de VTT"), start: 49, end: 59 }],
  });
  t.is(ground(text, ask()).title, null);
  t.is(ground(text, ask({ price: said({ ...wish, max: 80 }, "800 € maximum") })).price, null);
  t.is(ground(text, ask({ price: said({ ...wish, min: 9, max: 800 }, "800 € maximum") })).price?.value.min, null);
});

test("grounding is fast for 4,000 characters and many quotes that nearly match", async (t) => {
  const text = "1a ".repeat(1333);
  const many = Array.from({ length: 20 }, (_, index) => said("x", `${"1A ".repeat(600)}${index}!`));
  const took = await processorTime(() => {
    for (let i = 0; i < 10; i++) ground(text, offer({ title: said("1a", "1a"), features: many }));
  });
  // It took some 15 ms each on the author's machine. A quadratic search would take seconds.
  t.true(took < 3000, `${took} ms`);
});
