import test from "ava";
import { growthOf, LINEAR } from "../support/busy.ts";
import { contactsIn } from "./reading.ts";

/**
 * Tests which of several contacts is preferred: by praise, by a contact that is kept for need, by what a word refers
 * to, and not by other preferences. In the sentences, `P` stands for a phone number and `E` for an e-mail address.
 */

const NUMBERS: Readonly<Record<string, string>> = {
  GB: "01632 960144",
  DE: "0172 9925904",
  FR: "06 39 98 01 22",
  ES: "612 345 678",
  IT: "347 123 4567",
  PT: "912 345 678",
  NL: "06 12345678",
  PL: "601 234 567",
};

const preferredIn = (country: string, said: string): string | null => {
  const text = said.replace(/\bP\b/gu, NUMBERS[country] ?? "").replace(/\bE\b/gu, "jo@example.org");
  const preferred = contactsIn(text, country).filter((contact) => contact.preferred);
  return preferred.length > 1 ? "several" : (preferred[0]?.type ?? null);
};

type Row = [country: string, said: string, preferred: string | null];

const RULES: Record<string, Row[]> = {
  "a contact that is called the best is preferred": [
    ["GB", "Ring P or email E. Email is usually quicker.", "email"],
    ["GB", "Call P (best) or E", "phone"],
    ["GB", "E is the most reliable way to get me. Phone P goes to voicemail a lot.", "email"],
    ["DE", "P oder E. Per Mail bin ich am besten zu erreichen.", "email"],
    ["FR", "P ou E (le mail étant le plus rapide).", "email"],
    ["ES", "WhatsApp P es lo más rápido, aunque también E.", "whatsapp"],
    ["IT", "Una mail a E è la cosa più semplice, il P squilla a vuoto.", "email"],
    ["PT", "Ligue P ou escreva para E, o email é mais rápido.", "email"],
    ["NL", "Bellen naar P gaat het vlugst. Mail E lees ik in het weekend.", "phone"],
    ["PL", "P lub E, preferowany kontakt mailowy.", "email"],
  ],
  "a contact that somebody would rather use is preferred": [
    ["GB", "I'd rather you emailed (E) than called (P).", "email"],
    ["GB", "Prefer a text to P over emails to E", "sms"],
    ["DE", "Bitte vorzugsweise anrufen: P, sonst Mail an E.", "phone"],
    ["FR", "Je préfère être appelé au P plutôt que les messages à E.", "phone"],
    ["ES", "Escribid a E o, preferiblemente, WhatsApp P.", "whatsapp"],
    ["IT", "Meglio un messaggio WhatsApp al P che una mail a E.", "whatsapp"],
    ["PT", "Prefiro chamadas: P. E só se não atender.", "phone"],
    ["NL", "P of E, mailen heeft de voorkeur.", "email"],
    ["PL", "Wolę maila: E, ale można też P.", "email"],
  ],
  "a contact to be tried first is preferred": [
    ["GB", "Please email E in the first instance; P for anything urgent.", "email"],
    ["DE", "Bitte zuerst eine Mail an E schicken, im Notfall P.", "email"],
    ["FR", "Merci de m'écrire d'abord à E, je donnerai suite par téléphone P.", "email"],
    ["IT", "Prima di tutto una mail a E, poi ci sentiamo al P.", "email"],
    ["NL", "Stuur eerst een mail naar E, bellen (P) alleen in nood.", "email"],
  ],
  "if one contact is kept for need, the other is preferred": [
    ["GB", "Try P. Only if that draws a blank, E.", "phone"],
    ["GB", "Contact E. Telephone P in case of difficulty.", "email"],
    ["DE", "E wäre super, P nur falls ihr kein Internet habt.", "email"],
    ["ES", "Escribid a E; el teléfono P solo para urgencias.", "email"],
    ["PL", "Piszcie na E, telefon P tylko w razie awarii.", "email"],
  ],
  "if one contact is slow or rarely read, the other is preferred": [
    ["GB", "Use E. I hardly ever answer P.", "email"],
    ["GB", "WhatsApp P or E. Emails may take me a few days.", "whatsapp"],
    ["DE", "E lese ich selten, also P anrufen.", "phone"],
    ["FR", "Appelez le P, je réponds rarement aux mails (E).", "phone"],
    ["IT", "Chiamare P, la mail E la controllo raramente.", "phone"],
    ["PL", "Proszę dzwonić P, maile E czytam rzadko.", "phone"],
  ],
  "a contact that is answered quickly is preferred": [
    ["FR", "Un SMS au P et je réponds dans l'heure ; E une fois par semaine.", "sms"],
    ["PT", "Mandem mensagem no WhatsApp P que respondo logo. O E só vejo ao domingo.", "whatsapp"],
  ],
  "a word of preference refers to the contact in its clause, in brackets to the contact beside it": [
    ["GB", "E (preferred) / P", "email"],
    ["GB", "E / P (preferred)", "phone"],
    ["GB", "P, or (our favourite) E", "email"],
  ],
  "preferences about times, people, money and the thing do not make a contact preferred": [
    ["GB", "Phone P or email E, best time is after 6pm.", null],
    ["GB", "Phone P or email E. First come first served.", null],
    ["GB", "Phone P or email E. Best offer secures.", null],
    ["GB", "Phone P or email E. Collection preferred but can post.", null],
    ["GB", "Phone P or email E. Prefer cash on collection.", null],
    ["GB", "Non-smokers preferred, ideally a student. E or P", null],
    ["DE", "P oder E. Am besten ab 18 Uhr melden.", null],
    ["FR", "P ou E. Remise en main propre de préférence.", null],
    ["ES", "P o E. Llamar preferiblemente por las tardes.", null],
    ["IT", "P o E, preferibilmente ore serali.", null],
    ["PT", "P ou E. Entrega em mão de preferência.", null],
    ["NL", "P of E, liefst na 18 uur.", null],
    ["PL", "P lub E, najlepiej po 17.", null],
  ],
  "if the text has no preference, no contact is preferred": [
    ["GB", "Text P or email E, whichever is quicker for you.", null],
    ["DE", "P oder E, ganz wie ihr wollt, beides wird gelesen.", null],
    ["FR", "P ou E, au choix.", null],
    ["NL", "P of E, maakt niet uit wat je het liefst doet.", null],
  ],
};

for (const [rule, rows] of Object.entries(RULES)) {
  test(rule, (t) => {
    t.deepEqual(
      rows.map(([country, said]) => [country, said, preferredIn(country, said)]),
      rows,
    );
  });
}

test("later sentences add further uses of a number", (t) => {
  const rows: (readonly string[])[] = [
    ["Desk, £40. 01632 960144. Ring us, or text if you must.", "phone sms"],
    ["Call 01632 960144. Texts to the same number are fine.", "phone sms"],
    ["Text 01632 960144. Phone is unlocked and boxed.", "sms"],
    ["Ring 01632 960144. No texts please.", "phone"],
  ];
  const typesIn = (text: string) =>
    contactsIn(text, "GB")
      .map(({ type }) => type)
      .join(" ");
  t.deepEqual(
    rows.map(([text = ""]) => [text, typesIn(text)]),
    rows,
  );
});

test("a remark about not hearing a phone does not exclude its number", (t) => {
  const [first] = contactsIn("I don't always hear the phone 01632 960144", "GB");
  t.is(first?.value, "+441632960144");
});

test("a currency of another country than the place decides the country code of a number", (t) => {
  const numberIn = (text: string, country: string) => contactsIn(text, country)[0]?.value;
  t.is(numberIn("Lamp, $12, Durham. 919-555-0144", "GB"), "+19195550144");
  t.is(numberIn("Lamp, £12, Perth. 07700 900318", "AU"), "+447700900318");
});

test("run time is linear in the number of words of praise", async (t) => {
  const reading = (times: number) => {
    const text = `01632 960144 or jo@example.org ${"(best call quicker, rather text than email) ".repeat(times)}`;
    return () => contactsIn(text, "GB");
  };
  const growth = await growthOf(reading(200), reading(800));
  t.true(growth < LINEAR, `${growth} times for four times the text`);
});
