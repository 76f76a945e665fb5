import test from "ava";
import { type Answer, openMarket, refused } from "./market.ts";

/** A text with a payment card number or an agent token is refused, and harmless numbers are not taken for one. */

let market: Awaited<ReturnType<typeof openMarket>>;

test.before(async () => {
  market = await openMarket();
});

test.after.always(() => market?.close());

const ask = async (expression: string, values: unknown[]): Promise<Answer> => {
  const [row] = await market.sql(`select ${expression} as answer`, values);
  return row.answer;
};

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

const DISGUISES: Record<string, (token: string) => string> = {
  "zero-width spaces": (plain) => plain.replaceAll(/(?<=.)/g, "\u200b"),
  "a soft hyphen": (plain) => plain.replace("_", "_\u00ad"),
  "a change of direction": (plain) => plain.replace("_", "\u202d_\u202c"),
  "full-width letters": (plain) => plain.replaceAll(/./g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0)),
};
for (const [what, disguise] of Object.entries(DISGUISES)) {
  test(`an agent token with ${what} is detected as a secret`, async (t) => {
    t.regex(await ask("internal.contains_secret($1)", [`my key is ${disguise(token)}!`]), /agent token/);
  });
}

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
