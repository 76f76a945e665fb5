import test from "ava";
import { findMoney } from "../../src/reader/propose/money.ts";
import { tokensIn } from "../../src/reader/text/tokens.ts";

/** Which numbers of a text can be sums of money. Whether one is the price is judged later (prices.test.ts). */

const sums = (text: string): string[] =>
  findMoney(tokensIn(text), () => false).map(({ value, max, marker }) =>
    [max === null ? value : `${value}-${max}`, marker ?? "bare"].join(" "),
  );

const ROWS: readonly (readonly [text: string, ...sums: string[]])[] = [
  ["Ring, 0.6ct, engraved", "0.6 bare"],
  ["50ct a page", "0.5 ¢"],
  ["$40/h CAD, remote", "40 CAD"],
  ["$40/h, remote", "40 $"],
  ["ab 01.10. frei"],
  ["05,50 € each", "5.5 EUR"],
  ["budget 2 500 à 3 000 €", "2500-3000 EUR"],
  ["KWD 12.500 each", "12.5 KWD"],
  ["12,500 TND", "12.5 TND"],
  ["1,234.567 BHD", "1234.567 BHD"],
  ["12,500 KWD", "12500 KWD"],
  ["1.250.000 IQD", "1250000 IQD"],
  ["12.500 EUR", "12500 EUR"],
  ["jeden zweiten Samstag"],
  ["zweihundert Euro", "200 EUR"],
  ["deux cent cinquante euros", "250 EUR"],
  ["hooguit vier mille", "4000 bare"],
  ["三百五十元", "350 CNY"],
  ["二十五万円", "250000 JPY"],
  ["٢٥٠٠ جنيه", "2500 EGP"],
  ["₹५००", "500 INR"],
  ["₹1.5 crore", "15000000 INR"],
  ["38 lakhs", "3800000 INR"],
  ["₹2.5L", "250000 INR"],
  ["₹40-50 lakh", "4000000-5000000 INR"],
  ["10 Cr2032", "10 bare"],
  ["39,800万円", "398000000 JPY"],
  ["3억 5천만원", "350000000 KRW"],
  ["1,2 M€", "1200000 EUR"],
  ["350 bin TL", "350000 TRY"],
  ["CHF 1’200.–", "1200 CHF"],
  ["Restposten, ,89 €", "0.89 EUR"],
  ["$.50 a pair", "0.5 $"],
  ["Restposten, ,89 Stück"],
];

for (const [text, ...expected] of ROWS)
  test(`sums of "${text}": ${expected.join(", ") || "none"}`, (t) => {
    t.deepEqual(sums(text), expected);
  });
