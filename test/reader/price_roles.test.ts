import test from "ava";
import { priceIn } from "./reading.ts";

/**
 * Tests which of several amounts is the price, by the words around each. The sentences are our own, a few for each
 * rule.
 */

type Row = [country: string, text: string, amount: number | null];

const RULES: Record<string, Row[]> = {
  "if a price was reduced, the lower amount is the price": [
    ["GB", "Was £80. Then £60. Now £45 as I need it gone.", 45],
    ["GB", "Sofa, price dropped from £350 to £200", 200],
    ["GB", "Sofa £200, reduced from £350", 200],
    ["FR", "Canapé 350 €, baissé à 280 €", 280],
    ["ES", "Antes 300 €, ahora 220 €", 220],
    ["PT", "Baixou de 300 € para 250 €", 250],
    ["NL", "Van 300 voor 250 euro", 250],
    ["PL", "Cena 500 zł, obniżona z 650 zł", 500],
  ],
  "a corrected amount is the price": [
    ["GB", "Correction: price is £85 not £58", 85],
    ["GB", "Chest of drawers £60, make that £50", 50],
  ],
  "an amount that was bid and refused is not the price": [
    ["US", "Rejected $300 already. $350 firm.", 350],
    ["GB", "A man bid £70 on Sunday. £95 and it is yours.", 95],
    ["DE", "Der Händler hat mir 1000 € geboten, für 1300 € gehört es euch.", 1300],
    ["FR", "On m'en a proposé 150 €, j'en veux 200 €", 200],
    ["ES", "Me han ofrecido 80 € y no. 100 €.", 100],
  ],
  "amounts that others charge, paid or estimate are not the price": [
    ["GB", "My neighbour got £500 for his. I'd be happy with £350.", 350],
    ["GB", "Decorator, most firms charge £200 a day, I charge £140 a day", 140],
    ["US", "Trade-in value is $2,000, dealer would sell at $4,000, so $3,000.", 3000],
    ["DE", "Schrank, IKEA verlangt heute 299 €. Für 90 € abzuholen.", 90],
    ["IT", "Quotazione 5.000 euro, chiedo 3.900 euro", 3900],
    ["NL", "Op Marktplaats vragen ze 90, ik vraag 60 euro", 60],
    ["PL", "Szafa, w IKEA 900 zł, u mnie 300 zł", 300],
  ],
  "the cost of parts and repairs is not the price if another amount is": [
    ["GB", "Bike, new chain £25, new tyres £40. £150 the lot.", 150],
    ["GB", "Mower, new blade £28 in spring, carburettor clean £45 at the garage. £90, Hull.", 90],
    ["DE", "Waschmaschine, Dichtung für 35 € erneuert. 110 €, Essen.", 110],
    ["IT", "Bici, gomme nuove da 50 euro, lucchetto da 30 euro. 160 euro, Pisa.", 160],
    ["PL", "Rower, nowe opony 120 zł, serwis 80 zł. 600 zł, Kraków.", 600],
  ],
  "parts and repairs are the price if they are what is offered": [
    ["GB", "Set of four tyres £120", 120],
    ["GB", "I do boiler repairs, £60 a visit", 60],
    ["US", "Bike mechanic. Tune-up $45, new brakes $30.", 45],
  ],
  "an amount repeated in figures is the price": [
    ["US", "I have a lamp for 20 as well. The desk: seventy ($70).", 70],
    ["FR", "J'en demande sept cents, soit 700 €. Le cadre a coûté 140 €.", 700],
    ["NL", "Slot van 15 euro. Voor een geeltje, dus 25 euro.", 25],
  ],
  "an amount in words can be the price by itself": [
    ["DE", "Zweihundertfünfzig, Kempten. Neu waren es 900 €.", 250],
    ["GB", "Lathe. A hundred quid, the stand was £40 on its own.", 100],
  ],
  "if the text sets no price, other amounts are not the price": [
    ["GB", "Van, clutch £480 last year. Come and look, then name a price.", null],
    ["DE", "Sammlung, Katalog um 4.300 €. Preis auf Anfrage.", null],
    ["ES", "Furgoneta, embrague 480 € en factura. Se escuchan propuestas.", null],
    ["IT", "Cuccioli, vaccino 40 euro già fatto. Prezzo da concordare.", null],
    ["PL", "Akordeon, strojenie 450 zł. Cena do uzgodnienia.", null],
  ],
  "a price that is open to offers is still a price": [
    ["PL", "Rower, 600 zł, cena do uzgodnienia.", 600],
    ["GB", "Desk, asking £60, make me an offer.", 60],
  ],
  "a rate per distance can be the price, unless the text has a rate per day": [
    ["IE", "Courier with van, €1.20 a km", 1.2],
    ["GB", "Van for hire £85 per day, 150 miles, then 25p a mile", 85],
  ],
  "carats are not cents, and a currency sign belongs to the number after it": [
    ["GB", "Ring, 0.52 ct, £1,350", 1350],
    ["GB", "Chairs: all six £100", 100],
  ],
};

for (const [rule, rows] of Object.entries(RULES)) {
  test(rule, (t) => {
    t.deepEqual(
      rows.map(([country, text]) => [country, text, priceIn(text, country, false)?.amount ?? null]),
      rows,
    );
  });
}

test("an offer that costs nothing by a sentence of its own is free, whatever else costs money", (t) => {
  const price = priceIn("Reading circle. Costs nothing. The book is £9.99 in the shop.", "GB", false);
  t.is(price?.type, "free");
});

test("an amount in brackets has the period of the words before it", (t) => {
  const price = priceIn("Bay for rent. One thirty a month ($130).", "CA", false);
  t.like(price, { amount: 130, currency: "CAD", period: "month" });
});

test("work for a night has no period, a stay for a night is paid by the day", (t) => {
  t.not(priceIn("DJ, $350 for the night", "US", false)?.period, "day");
  t.is(priceIn("Cottage, £65 a night", "GB", false)?.period, "day");
});
