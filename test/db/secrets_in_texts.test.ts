import test from "ava";
import { allowed } from "../support/busy.ts";
import { refused } from "./market.ts";
import { market } from "./one_market.ts";

/**
 * Secrets in a text: agents' tokens, and numbers that count as payment card numbers. The random numbers differ in every
 * run; a failure names them.
 *
 *   card     the number of a card as its issuer would print it: groups of digits
 *   writing  how people write a card: as printed, with hyphens, without groups
 */

/** The texts of these that are refused. */
const refusedOf = async (texts: string[]): Promise<string[]> => {
  const rows = await market.sql`select t from unnest(${texts}::text[]) as t
    where internal.contains_secret(t) = 'text_contains_card_number'`;
  return rows.map((row) => row.t);
};

/** Numbers that issuers and payment services publish for tests. */
const TEST_CARDS: Record<string, string[]> = {
  Visa: ["4242 4242 4242 4242", "4012 8888 8888 1881", "4000 0566 5566 5556", "4917 6100 0000 0000 003"],
  Mastercard: ["5555 5555 5555 4444", "5105 1051 0510 5100", "2223 0031 2200 3222"],
  "American Express": ["3782 822463 10005", "3714 496353 98431"],
  "Diners Club": ["3056 930902 5904", "3622 720627 1667", "3852 000002 3237"],
  Discover: ["6011 1111 1111 1117", "6011 0009 9013 9424", "6445 6445 6445 6445"],
  JCB: ["3530 1113 3330 0000", "3566 0020 2036 0505"],
  UnionPay: ["6200 0000 0000 0005", "6205 5000 0000 0000 004"],
  Maestro: ["6759 6498 2643 8453"],
};

const WRITINGS: Record<string, (card: string) => string> = {
  "as printed": (card) => card,
  "with hyphens": (card) => card.replaceAll(" ", "-"),
  "without groups": (card) => card.replaceAll(" ", ""),
  "with no-break spaces": (card) => card.replaceAll(" ", "\u00A0"),
  "in full-width digits": (card) => card.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  "with its date and code": (card) => `${card} 12/27 123`,
  "with its code": (card) => `${card} 123`,
  "with its date and code as groups": (card) => `${card} 1226 123`,
  "with its code and date as groups": (card) => `${card} 123 1226`,
  "with its date as a group": (card) => `${card} 0731, thanks`,
  "with zero-width spaces": (card) => card.replaceAll(" ", "").replaceAll(/(?<=.)/g, "\u200b"),
  "with soft hyphens": (card) => card.replaceAll(" ", "\u00ad"),
  "with zero-width joiners and spaces": (card) => card.replaceAll(" ", " \u200d"),
  "with a direction": (card) => `\u202d${card.replaceAll(" ", "\u2066 ")}\u202c`,
  "in Arabic digits": (card) => card.replaceAll(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit))),
  "in Devanagari digits": (card) => card.replaceAll(/\d/g, (digit) => String.fromCodePoint(0x966 + Number(digit))),
  "as keycaps": (card) => card.replaceAll(/\d/g, "$&\ufe0f\u20e3"),
  "in groups of several lines": (card) => card.replaceAll(" ", "\n"),
  "in two lines": (card) => card.replace(/(?<= \d+) /, "\r\n"),
  "with two spaces": (card) => card.replaceAll(" ", "  "),
  "with tabs": (card) => card.replaceAll(" ", "\t"),
  "with dots": (card) => card.replaceAll(" ", "."),
  "between years in lines of their own": (card) => `bought in\n2019\n${card}\n2027\n`,
  "in brackets": (card) => `(${card})`,
  "at the end of a sentence": (card) => `${card}.`,
  "after a year": (card) => `since 2019, ${card}, or call`,
};

test("test card numbers of every issuer are refused in every usual writing", async (t) => {
  const texts = Object.values(TEST_CARDS)
    .flat()
    .flatMap((card) => Object.values(WRITINGS).map((write) => `Sofa, 180 EUR. My card: ${write(card)}`));
  t.deepEqual(await refusedOf(texts), texts);
});

const digit = (): string => String(Math.floor(Math.random() * 10));
const digits = (count: number): string => Array.from({ length: count }, digit).join("");

/** Appends the check digit that makes digits pass the Luhn check. */
const checked = (number: string): string => {
  const sum = [...number]
    .toReversed()
    .map((one, place) => (place % 2 === 0 ? Number(one) * 2 : Number(one)))
    .reduce((total, one) => total + (one > 9 ? one - 9 : one), 0);
  return `${number}${(10 - (sum % 10)) % 10}`;
};
const random = (prefix: string, length: number): string => checked(prefix + digits(length - 1 - prefix.length));

/** The beginnings of issuers' ranges, each with a length. */
const RANGES = [
  "4:16 4:18 4:19 51:16 55:16 2221:16 2500:16 2720:16 34:15 37:15 300:14 305:14 36:14 38:16 39:19 6011:16 644:16 65:16",
  "3528:16 3589:19 62:16 62:19 8100:16 50:16 5893:18 6304:19 6761:16 2200:16 606282:16 6069:16 9792:16",
].flatMap((line) => line.split(" ").map((range) => range.split(":") as [prefix: string, length: string]));

test("a number in an issuer's range and length with a right check digit is refused, with any other it passes", async (t) => {
  const cards = RANGES.flatMap(([prefix, length]) => Array.from({ length: 20 }, () => random(prefix, Number(length))));
  const texts = cards.map((card) => `Card ${card} please`);
  t.deepEqual(await refusedOf(texts), texts);
  const wrong = cards.map(
    (card) => `Card ${card.slice(0, -1)}${(Number(card.at(-1)) + 1 + Math.floor(Math.random() * 8)) % 10} please`,
  );
  t.deepEqual(await refusedOf(wrong), []);
  const ranges = ["10", "199", "2100", "2199", "2205", "2721", "29", "31", "33", "61", "68", "70", "83", "99"];
  const others = ranges.flatMap((prefix) => Array.from({ length: 20 }, () => `Card ${random(prefix, 16)} please`));
  t.deepEqual(await refusedOf(others), []);
});

/** A valid IBAN with its check digits (ISO 13616). */
const iban = (country: string, account: string): string => {
  const value = [...`${account}${country}00`]
    .map((character) => (/\d/.test(character) ? character : String(character.charCodeAt(0) - 55)))
    .join("");
  return `${country}${String(98n - (BigInt(value) % 97n)).padStart(2, "0")}${account}`;
};
const grouped = (text: string): string => text.replaceAll(/(.{4})(?=.)/g, "$1 ");
const ean = (length: number): string => {
  const number = digits(length - 1);
  const sum = [...number]
    .toReversed()
    .reduce((total, one, place) => total + Number(one) * (place % 2 === 0 ? 3 : 1), 0);
  return `${number}${(10 - (sum % 10)) % 10}`;
};

/** A card number whose last group cannot be a date, which would make the groups before it a number of their own. */
const undated = (): string => {
  const number = random("4", 16);
  return /(0[1-9]|1[0-2])[2-4]\d$/.test(number) ? undated() : number;
};

/** Numbers of offers that are no card numbers, however often they are made. */
const HARMLESS: Record<string, () => string> = {
  "a decimal number": () => `Used sofa nr ${Math.random()}`,
  "the fraction of a decimal number that is a card number": () => `0.${random("4", 16)} or 3,${random("51", 16)}`,
  "a decimal number with a long integer part": () => `${random("4", 16)}.5`,
  "a German IBAN": () => iban("DE", digits(18)),
  "a German IBAN in groups": () => grouped(iban("DE", digits(18))),
  "a Polish IBAN in groups": () => grouped(iban("PL", digits(24))),
  "a British IBAN": () => grouped(iban("GB", `NWBK${digits(14)}`)),
  "an article number of 13 digits": () => `EAN ${ean(13)}`,
  "an article number of 8 digits": () => `EAN ${ean(8)}`,
  "an article number of 13 digits as printed": () => ean(13).replace(/(.)(.{6})(.{6})/, "$1 $2 $3"),
  "an international phone number": () => `+${digits(2)} ${digits(3)} ${digits(8)}`,
  "a phone number without spaces": () => `+4${digits(13)}`,
  "a phone number with 00": () => `00${digits(12)}`,
  "a phone number in pairs": () => Array.from({ length: 5 }, () => digits(2)).join(" "),
  "an order number of a shop": () => `Order 4${digits(2)}-${digits(7)}-${digits(7)}`,
  "an order number with a date": () => `Order 20260601-${digits(6)}`,
  "a short order number": () => `Order ${digits(10)}, item ${digits(12)}`,
  "a tracking number of 20 digits": () => `Tracking 4${digits(19)}`,
  "a tracking number of 22 digits in groups": () => `Tracking ${grouped(`9${digits(21)}`)}`,
  "a longer number in groups": () => `${grouped(random("4", 16))} 99${digits(2)}`,
  "a longer number in groups with a date inside": () => `${grouped(random("4", 16))} 1226 ${digits(4)}`,
  "a longer number in groups with dots": () => `${grouped(random("4", 16)).replaceAll(" ", ".")}.99${digits(2)}`,
  "a column of years": () => "4000 2021 2022 2023 2024 2025 2026".replaceAll(" ", "\n"),
  "a decimal number of six and thirteen digits": () => random("67", 19).replace(/^.{6}/, "$&."),
  "a longer number in groups, from its end": () => `${digits(4)}-${grouped(undated()).replaceAll(" ", "-")}`,
  "a card number inside a longer number": () => `${digits(4)}${random("4", 16)}`,
  "a number in a link": () => `https://shop.example/item/${random("4", 16)}?ref=${random("51", 16)}`,
  "an IMEI": () => "IMEI 353879234252633, 490154203237518, 356938035643809",
  "phone numbers": () => "+49 151 23456789, 0049 151 2345 6789, +1 (415) 555-0132 or 0171 5551234 0172 5551235",
  ISBNs: () => "ISBN 978-3-16-148410-0, 9783161484100 and 0-306-40615-2",
  "prices and sizes": () => `${digits(3)} EUR, ${digits(2)}x${digits(3)}, ${digits(4)} km, 1${digits(3)}.${digits(2)}`,
};
test("numbers that offers have are no card numbers", async (t) => {
  for (const [what, make] of Object.entries(HARMLESS)) {
    const texts = Array.from({ length: 100 }, () => `Sofa, 180 EUR. ${make()} Write to lena@example.com`);
    t.deepEqual(await refusedOf(texts), [], what);
  }
});

const TOKEN = `agt_${"a1B2c".repeat(10)}`.slice(0, 53);

/** Ways to hide an agent's token from a search for its letters. */
const DISGUISES: Record<string, (token: string) => string> = {
  nothing: (plain) => plain,
  "zero-width spaces": (plain) => plain.replaceAll(/(?<=.)/g, "\u200b"),
  "a soft hyphen": (plain) => plain.replace("_", "_\u00ad"),
  "a change of direction": (plain) => plain.replace("_", "\u202d_\u202c"),
  "full-width letters": (plain) => plain.replaceAll(/./g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0)),
};

test("an agent's token is a secret, however it is disguised, and a part of one is none", async (t) => {
  const secretOf = async (text: string) => market.value`select internal.contains_secret(${text})`;
  for (const [what, disguise] of Object.entries(DISGUISES))
    t.is(await secretOf(`my key is ${disguise(TOKEN)}!`), "text_contains_token", what);
  t.is(await secretOf(TOKEN.slice(0, -1)), null);
});

test("a text with a secret is refused", async (t) => {
  const text = "Sofa. Card 4111 1111 1111 1111. lena@example.com";
  t.is(await refused(market.call(await market.approved(), "publish_offer", { body: { text } })), "400 bad_request");
});

test("a text made to be slow is checked within milliseconds", async (t) => {
  for (const text of [
    "4111 ".repeat(800),
    "4".repeat(4000),
    "4111-1111-1111-1111 ".repeat(200),
    "DE89 ".repeat(800),
    "4\n".repeat(2000),
    "\u200b4111".repeat(800),
    "٤".repeat(4000),
    "4\u0301".repeat(2000),
  ]) {
    const ms = await market.value`with before as materialized (select clock_timestamp() as at),
        checked as materialized (select internal.contains_secret(${text}) from before)
      select extract(milliseconds from clock_timestamp() - before.at)::float as ms from before, checked`;
    t.true(ms < allowed(200), `${ms} ms`);
  }
});
