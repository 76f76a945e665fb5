import test from "ava";
import { type Answer, found } from "./market.ts";
import { market } from "./one_market.ts";

/** Which quotes stand in a text, and which words a quote has. */

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

test("a quote may not begin or end inside a word", async (t) => {
  const cuts = (text: string, quote: string) =>
    ask("reading.cuts_word($1, $2)", [text, JSON.stringify(found(text, 1, quote))]);
  t.true(await cuts("current flat", "rent"));
  t.true(await cuts("Dachgeschosswohnung", "Dach"));
  t.true(await cuts("Écoute", "coute"));
  t.true(await cuts("Диван", "Див"));
  t.false(await cuts("flat for rent", "rent"));
  t.false(await cuts("128gb", "128"), "a unit is not a part of a word");
  t.false(await cuts("價格7万円です", "7万円"), "a script without spaces");
});

test("a title consists of words of the text, in any order, case and accents", async (t) => {
  const states = (title: string) => ask("reading.states_words('Schönes graues Sofa, Café-Stil', $1)", [title]);
  t.true(await states("Sofa: SCHONES Graues"));
  t.true(await states("cafe-stil"));
  t.false(await states("Graues Ledersofa"));
  t.false(await states("Gratis sofa"));
  t.false(await states("…!"), "no words");
});
