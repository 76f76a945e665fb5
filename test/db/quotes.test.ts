import test from "ava";
import { type Answer, found, openMarket } from "./market.ts";

/** Which values a quote states: each check of a single value against its quote in the text. */

let market: Awaited<ReturnType<typeof openMarket>>;

test.before(async () => {
  market = await openMarket();
});

test.after.always(() => market?.close());

const ask = async (expression: string, values: unknown[]): Promise<Answer> => {
  const [row] = await market.sql(`select ${expression} as answer`, values);
  return row.answer;
};

test("a quote must be at its stated position, counted in code points from 0", async (t) => {
  const text = "🛋️🇩🇪 Sofa, 180 €";
  const quoted = (field: object) => ask("reading.is_quoted($1, $2)", [text, JSON.stringify(field)]);
  // A sofa with its variation selector and a flag of two letters are four code points.
  t.true(await quoted({ quote: "Sofa", start: 5, end: 9 }));
  t.true(await quoted({ quote: "🛋️🇩🇪", start: 0, end: 4 }));
  t.true(await quoted({ quote: text, start: 0, end: [...text].length }));
  t.false(await quoted({ quote: "Sofa", start: 7, end: 11 }), "offsets in UTF-16 units");
  t.false(await quoted({ quote: "Sofa", start: 6, end: 10 }), "offsets from 1");
  t.false(await quoted({ quote: "sofa", start: 5, end: 9 }), "another case");
  t.false(await quoted({ quote: "Sofa", start: 5, end: 10 }));
});

test("an empty quote, or a span that ends before it starts, proves nothing", async (t) => {
  const quoted = (field: object | null) => ask("reading.is_quoted($1, $2)", ["Sofa", JSON.stringify(field)]);
  for (const field of [
    null,
    {},
    { quote: "", start: 0, end: 0 },
    { quote: "", start: 2, end: 0 },
    { quote: "Sofa", start: 4, end: 0 },
    { quote: "Sofa", start: 0 },
    { start: 0, end: 4 },
    { quote: "Sofa", start: -2_000_000, end: 4 },
    { quote: "Sofa", start: 0, end: 99_999_999_999 },
    { quote: "Sofa", start: "0", end: "x" },
    { quote: "Sofa", start: 0.5, end: 4 },
  ]) {
    t.false(await quoted(field), JSON.stringify(field));
  }
});

test("a quote may not begin or end inside a number", async (t) => {
  const cuts = (text: string, quote: string) =>
    ask("reading.cuts_number($1, $2)", [text, JSON.stringify(found(text, 1, quote))]);
  t.true(await cuts("Bike 1.450 EUR", "450 EUR"));
  t.true(await cuts("Bike 1.450 EUR", "1"));
  t.true(await cuts("Bike 4500", "450"));
  t.true(await cuts("Bike 0,450", "450"));
  t.false(await cuts("Bike 1.450 EUR", "1.450"));
  t.true(await cuts("was 1450, now 450", "450"), "the first occurrence");
  t.false(await cuts("Tel. 450, 1200", "450"));
});

test("offsets that count from 1 become zero-based, wherever they stand", async (t) => {
  const old = {
    title: { value: "x", quote: "x", start: 1, end: 2 },
    contact: [{ value: { start: 5 }, quote: "x", start: 3, end: 4 }],
  };
  t.deepEqual(await ask("reading.zero_based($1)", [JSON.stringify(old)]), {
    title: { value: "x", quote: "x", start: 0, end: 1 },
    contact: [{ value: { start: 5 }, quote: "x", start: 2, end: 3 }],
  });
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
  ["Trecentoventi euro poco trattabili", [320], [300, 20]],
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
  ["12€50", [12.5], [13]],
  ["3½ EUR", [3.5], [35]],
  ["€0.10 a word", [0.1], [10]],
  ["300 Tsd. €", [300_000], []],
  ["2 mil euros", [2000], []],
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
  ["lena@example.com", "email", "lena@example.co", false],
  ["lena@example.com", "email", "na@example.com", false],
  ["Mail: lena@example.com.", "email", "lena@example.com", true],
  ["anna @ example.org", "email", "anna@example.org", true],
  ["lena@example.com or bob at example.org", "email", "lena@example.org", false],
  ["kev at example dot com", "email", "example@kev.com", false],
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
  const states = (title: string) => ask("reading.states_words('Schönes graues Sofa, Café-Stil', $1)", [title]);
  t.true(await states("Sofa: SCHONES Graues"));
  t.true(await states("cafe-stil"));
  t.false(await states("Graues Ledersofa"));
  t.false(await states("Gratis sofa"));
  t.false(await states("…!"), "no words");
});

const CURRENCIES: readonly [passage: string, named: string, other: string | null][] = [
  ["180 €", "EUR", "USD"],
  ["$180", "CAD", "EUR"],
  ["180 zł", "PLN", "CZK"],
  ["180 PLN", "PLN", "EUR"],
  ["CHF 180.-", "CHF", "EUR"],
  ["165 quid", "GBP", "EUR"],
  ["fifty dollars", "USD", "GBP"],
  ["180 TOP condition", "EUR", null],
  ["180", "EUR", null],
];
for (const [passage, named, other] of CURRENCIES) {
  test(`"${passage}" ${other === null ? "names no currency" : `can mean ${named} and not ${other}`}`, async (t) => {
    const currencies = await ask("reading.currencies_in($1)", [passage]);
    if (other === null) return t.true(currencies === null || !currencies.includes(named));
    t.true(currencies.includes(named));
    t.false(currencies.includes(other));
  });
}

const PERIODS: readonly [passage: string, periods: string[] | null][] = [
  ["850 €/month", ["month"]],
  ["35 € la journée", ["day"]],
  ["15 € / Std.", ["hour"]],
  ["90 a night", ["day"]],
  ["£120 pw", ["week"]],
  ["800 € monatlich", ["month"]],
  ["50 zł za godzinę, 300 zł za dzień", ["hour", "day"]],
  ["1.200 € all'anno", ["year"]],
  ["180 EUR, used for two weeks", null],
];
for (const [passage, periods] of PERIODS) {
  test(`"${passage}" names ${periods?.join(" and ") ?? "no period"}`, async (t) => {
    t.deepEqual((await ask("reading.periods_in($1)", [passage]))?.toSorted() ?? null, periods?.toSorted() ?? null);
  });
}
