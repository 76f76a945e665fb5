import test from "ava";
import { CEILINGS, CHOSEN, PRICES, UNIT_PRICES } from "./phrasings.ts";
import { priceIn } from "./reading.ts";

/** A price in the notation of phrasings.ts: amount, currency, period. */
const priced = (text: string, country: string | null): string => {
  const found = priceIn(text, country, false);
  return found?.amount == null ? "none" : `${found.amount} ${found.currency ?? "-"} ${found.period ?? "-"}`;
};

for (const [rule, rows] of Object.entries({ ...PRICES, ...CHOSEN })) {
  test(rule, (t) => {
    t.deepEqual(
      rows.map(([text, country]) => [text, country, priced(text, country)]),
      rows,
    );
  });
}

for (const [rule, rows] of Object.entries(UNIT_PRICES)) {
  test(rule, (t) => {
    t.deepEqual(
      rows.map(([text, country]) => [
        text,
        country,
        `${priced(text, country)} ${priceIn(text, country, false)?.unit ?? "-"}`,
      ]),
      rows,
    );
  });
}

const budget = (text: string, country: string | null): string => {
  const found = priceIn(text, country, true);
  return found?.amount == null ? "none" : `${found.amountMax ?? found.amount} ${found.currency ?? "-"}`;
};

for (const [rule, rows] of Object.entries(CEILINGS)) {
  test(rule, (t) => {
    t.deepEqual(
      rows.map(([text, country]) => [text, country, budget(text, country)]),
      rows,
    );
  });
}
