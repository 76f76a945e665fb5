import test from "ava";
import { type Answer, found, openMarket, refused } from "./market.ts";

/**
 * Nothing is published that the text does not say. These tests cover each check of an extraction in the database, and
 * what remains of an extraction with false fields.
 */

let market: Awaited<ReturnType<typeof openMarket>>;

test.before(async () => {
  market = await openMarket();
});

test.after.always(() => market?.close());

const ask = async (expression: string, values: unknown[]): Promise<Answer> => {
  const [row] = await market.sql(`select ${expression} as answer`, values);
  return row.answer;
};

test("a quote must be at its stated position, counted in code points from 1", async (t) => {
  const text = "🛋️🇩🇪 Sofa, 180 €";
  const quoted = (field: object) => ask("reading.is_quoted($1, $2)", [text, JSON.stringify(field)]);
  // A sofa with its variation selector and a flag of two letters are four code points.
  t.true(await quoted({ quote: "Sofa", start: 6, end: 10 }));
  t.true(await quoted({ quote: "🛋️🇩🇪", start: 1, end: 5 }));
  t.true(await quoted({ quote: text, start: 1, end: [...text].length + 1 }));
  t.false(await quoted({ quote: "Sofa", start: 8, end: 12 }), "offsets in UTF-16 units");
  t.false(await quoted({ quote: "Sofa", start: 5, end: 9 }), "offsets from 0");
  t.false(await quoted({ quote: "sofa", start: 6, end: 10 }), "another case");
  t.false(await quoted({ quote: "Sofa", start: 6, end: 11 }));
});

test("an empty quote, or a span that ends before it starts, proves nothing", async (t) => {
  const quoted = (field: object | null) => ask("reading.is_quoted($1, $2)", ["Sofa", JSON.stringify(field)]);
  for (const field of [
    null,
    {},
    { quote: "", start: 1, end: 1 },
    { quote: "", start: 3, end: 1 },
    { quote: "Sofa", start: 5, end: 1 },
    { quote: "Sofa", start: 1 },
    { start: 1, end: 5 },
    { quote: "Sofa", start: -2_000_000, end: 5 },
  ]) {
    t.false(await quoted(field), JSON.stringify(field));
  }
});

const AMOUNTS: readonly [quote: string, states: number[], doesNot: number[]][] = [
  ["a hundred quid", [100], [1, 10, 1000]],
  ["two hundred and fifty pounds", [250], [200, 50, 2]],
  ["twenty five grand", [25_000], [25, 20]],
  ["fünfhundertfünfzig Euro", [550], [500, 50]],
  ["quatre-vingt-dix euros", [90], [4, 20, 10]],
  ["deux cents euros", [200], [2, 100]],
  ["trezentos e cinquenta euros", [350], [300]],
  ["centocinquanta euro", [150], [100]],
  ["tweehonderdvijftig euro", [250], [200]],
  ["dwieście pięćdziesiąt złotych", [250], [200]],
  ["doscientos cincuenta euros", [250], [200]],
  ["twelve pounds", [12], [10, 2]],
  ["Euro, Pfund, Zentner", [], [100, 1]],
  ["12 cents per word", [0.12, 12], [1.2]],
  ["35p a mile", [0.35, 35], [3.5]],
  ["180 EUR", [180], [18, 1.8, 1800, 0, 80]],
  ["1.200,50 €", [1200.5], [120_050, 1.2, 200, 1200, 50]],
  ["1,200.50", [1200.5], [120_050, 1.2]],
  ["1.200 €", [1200], [12, 120, 1.2]],
  ["1,50,000 INR", [150_000], [150]],
  ["1 200 zł", [1200, 1, 200], [12]],
  ["1 200,50 zł", [1200.5], [1200]],
  ["1\u00a0200 €", [1200], []],
  ["2\u202f200 €", [2200], []],
  ["CHF 1'349.-", [1349], [13.49]],
  ["CHF 1’349.–", [1349], []],
  ["iPhone 13 200 EUR", [200, 13], [132]],
  ["iPhone 13 1 200 EUR", [1200], []],
  ["0,50 €", [0.5], [50, 5]],
  ["1,5", [1.5], [15, 150]],
  ["2.99", [2.99], [299, 3]],
  ["80,- VB", [80], [8]],
  ["12k", [12_000, 12], [120, 1200, 120_000]],
  ["9 grand", [9000], [90]],
  ["3,5 tys. zł", [3500], [35_000]],
  ["1.2m", [1_200_000], [12_000]],
  ["2,5 Mio. €", [2_500_000], [25_000]],
  ["5 lakh", [500_000], [5000]],
  ["450 tausend", [450_000], []],
  ["100-150 EUR", [100, 150], [125, 100_150]],
  ["10-12k", [10_000, 12_000], [11_000]],
  ["from 15 to 20 an hour", [15, 20], [17]],
  ["free to a good home", [0], [1]],
  ["0 EUR", [0], [1]],
  ["ten euros", [10], [1, 100]],
  ["", [], [1]],
  ["٥٠ دينار", [], [50]],
];

for (const [quote, states, doesNot] of AMOUNTS) {
  const title = `states ${states.join(" and ") || "no amount"}${doesNot.length > 0 ? `, and not ${doesNot.join(", ")}` : ""}`;
  test(`${JSON.stringify(quote).replace(/[\u00a0\u202f]/g, "_")} ${title}`, async (t) => {
    for (const amount of states) t.true(await ask("reading.states_amount($1, $2)", [quote, amount]), `${amount}`);
    for (const amount of doesNot) t.false(await ask("reading.states_amount($1, $2)", [quote, amount]), `${amount}`);
  });
}

const CONTACTS: readonly [quote: string, type: string, value: string, stated: boolean][] = [
  ["Lena@Example.com", "email", "lena@example.com", true],
  ["lena@example.com", "email", "le@example.com", false],
  ["lena@example.com", "email", "lena@example.co", true],
  ["kev [at] example [dot] com", "email", "kev@example.com", true],
  ["kev at example dot com", "email", "kevin@example.com", false],
  ["write to us", "email", "us", false],
  ["0151 234 567 89", "phone", "+4915123456789", true],
  ["0151/234-567 89", "whatsapp", "+4915123456789", true],
  ["O151 234567 89", "sms", "+4915123456789", true],
  ["0151 234 567 89", "phone", "+4915123456780", false],
  ["0151 999 567 89", "phone", "+4915123456789", false],
  ["(415) 555-0132", "phone", "+14155550132", true],
  ["011 15-2345-6789", "phone", "+5491123456789", true],
  ["six one four 555-0177", "phone", "+16145550177", true],
  ["six one five 555-0177", "phone", "+16145550177", false],
  ["anna[@]example.org", "email", "anna@example.org", true],
  ["anna [@] example.org", "email", "eve@example.org", false],
  ["555 12", "phone", "55512", true],
  ["12", "phone", "12", false],
  ["https://www.Example.com/sofa/", "url", "https://example.com/sofa", true],
  ["example.com/sofa", "url", "https://example.com/sofa", true],
  ["example.com/sofa", "url", "https://evil.example/sofa", false],
  ["@lena on telegram 123456", "telegram", "123456", false],
];

for (const [quote, type, value, stated] of CONTACTS) {
  test(`"${quote}" ${stated ? "states" : "does not state"} the ${type} ${value}`, async (t) => {
    t.is(await ask("reading.states_contact($1, $2)", [quote, JSON.stringify({ type, value })]), stated);
  });
}

test("a title consists of words of the text, in any order, case and accents", async (t) => {
  const states = (title: string) => ask("reading.states_title('Schönes graues Sofa, Café-Stil', $1)", [title]);
  t.true(await states("Sofa: SCHONES Graues"));
  t.true(await states("cafe-stil"));
  t.false(await states("Graues Ledersofa"));
  t.false(await states("Gratis sofa"));
});

const CARDS = [
  "4111 1111 1111 1111",
  "4111-1111-1111-1111",
  "4111111111111111",
  "5555555555554444",
  "2223003122003222",
  "378282246310005",
  "3782 822463 10005",
  "6011111111111117",
  "3530111333300000",
];
for (const card of CARDS) {
  test(`the card number ${card} in a text is detected as a secret`, async (t) => {
    t.regex(
      await ask("internal.contains_secret($1)", [`Sofa, 180 EUR. Card ${card}, call me.`]),
      /payment card number/,
    );
  });
}

const token = `agt_${"a1B2c".repeat(10)}`.slice(0, 53);
test("an agent token in a text is detected as a secret", async (t) => {
  t.is(token.length, 53);
  t.regex(await ask("internal.contains_secret($1)", [`my key is ${token}!`]), /agent token/);
  t.is(await ask("internal.contains_secret($1)", [token.slice(0, -1)]), null);
});

const HARMLESS = [
  ["a card number with a wrong check digit", "4111 1111 1111 1112"],
  ["an IMEI", "IMEI 353879234252633, 490154203237518, 356938035643809"],
  ["phone numbers", "+49 151 23456789, 0049 151 2345 6789, +1 (415) 555-0132 or 0171 5551234 0172 5551235"],
  ["bank accounts", "DE89 3704 0044 0532 0130 00, GB29NWBK60161331926819, PL61 1090 1014 4111 1111 1111 1111"],
  ["ISBNs", "ISBN 978-3-16-148410-0, 9783161484100 and 0-306-40615-2"],
  ["a longer number", "Tracking 41111111111111111 and 4111 1111 1111 1111 1111"],
  ["a unit of goods", "EAN 4006381333931, 180 EUR, 90x200"],
] as const;
for (const [what, text] of HARMLESS) {
  test(`a harmless text contains no secret: ${what}`, async (t) => {
    t.is(await ask("internal.contains_secret($1)", [text]), null);
  });
}

test("a text with a secret is refused", async (t) => {
  const caller = await market.approved();
  const submit = market.call(caller, "publish_offer", {
    body: { text: "Sofa. Card 4111 1111 1111 1111. lena@example.com" },
    idempotency_key: null,
    request_hash: null,
    errors: [],
  });
  t.is(await refused(submit), "400 bad_request");
});

const TEXT = "😀 Graues Sofa in Köln für 180 EUR, wie neu. Lena, lena@example.com, 0151 234 567 89";

/** A correct extraction of TEXT, with some fields replaced. */
const readingWith = (changed: object) => ({
  language: "de",
  title: found(TEXT, "Graues Sofa", "Graues Sofa"),
  domain: found(TEXT, "home_garden", "Sofa"),
  category: found(TEXT, "furniture", "Sofa"),
  offer_kind: found(TEXT, "sale", "für 180 EUR"),
  price: found(TEXT, price(180), "180 EUR"),
  location: found(TEXT, place("Köln"), "Köln"),
  contacts: [found(TEXT, { type: "email", value: "lena@example.com", preferred: true }, "lena@example.com")],
  party: found(TEXT, { name: "Lena", kind: "person", role: null }, "Lena"),
  condition: found(TEXT, "like_new", "wie neu"),
  space: null,
  features: [],
  attributes: [],
  ...changed,
});
const price = (amount: number | null, more: object = {}) => ({
  amount,
  amount_max: null,
  currency: "EUR",
  period: "one_time",
  type: "fixed",
  negotiable: false,
  deposit: null,
  label: "a label of the extractor's own",
  ...more,
});
const place = (text: string) => ({ text, country: "DE", city: "Köln" });

/** What the database publishes from an extraction: the columns shown to callers, and the missing fields. */
const extractOffer = (changed: object, text = TEXT): Promise<Answer> =>
  ask(
    `(select jsonb_build_object('title', o.title, 'domain', o.domain, 'category', o.category, 'kind', o.offer_kind,
        'price', o.metadata -> 'pricing', 'hundredths', o.price_hundredths, 'location', o.location_text,
        'methods', o.contact -> 'methods', 'primary', o.contact -> 'primary' -> 'name',
        'condition', o.metadata -> 'condition', 'features', o.metadata -> 'features',
        'extracted', array(select jsonb_object_keys(o.extraction) order by 1), 'missing', o.missing_fields)
      from reading.ground_offer($1, $2) as o)`,
    [text, JSON.stringify(readingWith(changed))],
  );

test("an extraction that agrees with the text is accepted completely", async (t) => {
  t.deepEqual(await extractOffer({}), {
    title: "Graues Sofa",
    domain: "home_garden",
    category: "furniture",
    kind: "sale",
    price: {
      amount: 180,
      currency: "EUR",
      period: "one_time",
      type: "fixed",
      negotiable: false,
      label: "180 EUR",
    },
    hundredths: 18_000,
    location: "Köln",
    methods: [{ type: "email", value: "lena@example.com", preferred: true }],
    primary: "Lena",
    condition: "like_new",
    features: null,
    extracted: ["category", "contact", "domain", "location", "offer_kind", "price", "title"],
    missing: [],
  });
});

const shifted = (field: { start: number; end: number }) => ({ ...field, start: field.start + 1, end: field.end + 1 });

const LIES: readonly [what: string, changed: object, dropped: object][] = [
  [
    "a price whose span is off by one",
    { price: shifted(found(TEXT, price(180), "180 EUR")) },
    { price: null, hundredths: null, missing: ["price"] },
  ],
  [
    "a price that its quote does not state",
    { price: found(TEXT, price(18), "180 EUR") },
    { price: null, hundredths: null, missing: ["price"] },
  ],
  [
    "an upper price that its quote does not state",
    { price: found(TEXT, price(180, { amount_max: 200 }), "180 EUR") },
    { price: null, hundredths: null, missing: ["price"] },
  ],
  [
    "a price of 0 with an empty quote",
    { price: { ...found(TEXT, price(0), "180 EUR"), quote: "", start: 1, end: 1 } },
    { price: null, hundredths: null, missing: ["price"] },
  ],
  [
    "a place that its quote does not name",
    { location: found(TEXT, place("Berlin"), "Köln") },
    { location: null, missing: ["location"] },
  ],
  [
    "a place without a verified span",
    { location: shifted(found(TEXT, place("Köln"), "Köln")) },
    { location: null, missing: ["location"] },
  ],
  [
    "an invented contact",
    { contacts: [found(TEXT, { type: "email", value: "eve@evil.example", preferred: true }, "lena@example.com")] },
    { methods: [], missing: ["contact"] },
  ],
  [
    "a contact whose quote is not in the text",
    {
      contacts: [
        {
          ...found(TEXT, { type: "email", value: "eve@evil.example", preferred: true }, "lena@example.com"),
          quote: "eve@evil.example",
        },
      ],
    },
    { methods: [], missing: ["contact"] },
  ],
  [
    "a category outside its domain",
    { category: found(TEXT, "phones", "Sofa") },
    { category: null, missing: ["category"] },
  ],
  [
    "a domain that the taxonomy does not know",
    { domain: found(TEXT, "sofas", "Sofa") },
    { domain: null, category: null, missing: ["domain", "category"] },
  ],
  [
    "a kind that the domain does not allow",
    { offer_kind: found(TEXT, "dating", "für 180 EUR") },
    { kind: null, missing: ["offer_kind"] },
  ],
  [
    "an unknown kind of offer, without a domain",
    { domain: null, category: null, offer_kind: found(TEXT, "theft", "für 180 EUR") },
    { domain: null, category: null, kind: null, missing: ["domain", "category", "offer_kind"] },
  ],
  ["a condition without a verified span", { condition: shifted(found(TEXT, "new", "wie neu")) }, { condition: null }],
  [
    "a name that the text does not say",
    { party: found(TEXT, { name: "Eve", kind: "person" }, "Lena") },
    { primary: null },
  ],
  ["a feature in other words", { features: [found(TEXT, "leather", "Sofa")] }, { features: null }],
];

for (const [what, changed, dropped] of LIES) {
  test(`only the false field is dropped: ${what}`, async (t) => {
    const { extracted: _, ...honest } = await extractOffer({});
    const { extracted: __, ...offer } = await extractOffer(changed);
    t.deepEqual(offer, { ...honest, ...dropped });
  });
}

test("a title with words that the text lacks is replaced by the first line that has words", async (t) => {
  t.is(
    (await extractOffer({ title: found(TEXT, "Gratis sofa!", "Graues Sofa") })).title,
    [...TEXT].slice(0, 120).join(""),
  );
  const later = `\n \r\n\t\u00a0\n  Two   words\nand ${TEXT}`;
  t.is((await extractOffer({ title: { value: "" } }, later)).title, "Two words");
});

test("a deposit must be stated in the text, in any place", async (t) => {
  t.is((await extractOffer({ price: found(TEXT, price(180, { deposit: 500 }), "180 EUR") })).price.deposit, undefined);
  const text = `${TEXT}. Kaution 500 EUR`;
  t.is((await extractOffer({ price: found(TEXT, price(180, { deposit: 500 }), "180 EUR") }, text)).price.deposit, 500);
});
