import test from "ava";
import { tokenize } from "../../src/language/builtin/tokens.ts";
import { findTurns } from "../../src/language/builtin/turns.ts";

/** What of each kind people say, with things between the words that no vocabulary has: the turn alone tells the kind. */

const ASKS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  en: {
    buy: ["anyone selling a blorb", "who has a blorb going to sell", "would love to buy a blorb", "second hand blorb"],
    rent: [
      "I would rather hire than buy a blorb",
      "rent a blorb rather than buy",
      "want to rent a blorb",
      "a blorb just for the day",
      "somewhere to store a blorb",
      "who rents a blorb out",
      "a blorb for 3 weeks",
    ],
    hire: [
      "need a patient someone to blorb",
      "can anyone fix my blorb",
      "I need two blorbs repaired",
      "quote for painting a blorb",
      "my blorb needs cleaning",
      "teach me to blorb",
    ],
    sell: ["my old blorb needs a new home", "want to sell my blorb", "getting rid of a blorb", "who would have it"],
    lease_out: [
      "looking to let a blorb",
      "I would hire it out",
      "the blorb stands empty",
      "thinking of letting my blorb",
      "looking for a tenant",
    ],
    offer_service: [
      "experienced blorber seeking shifts",
      "taking on small clients",
      "between contracts",
      "blorber by trade, I am a blorber by trade",
      "looking for evening work",
    ],
    dating: ["hoping to meet a kind woman", "ready for love", "seeks woman"],
    friendship: [
      "anyone up for a walk",
      "looking for other dads",
      "do you meet",
      "new to town",
      "is there a blorb club",
    ],
    general: ["not sure what I want", "just looking", "how much does a blorb cost", "keep me posted"],
  },
  de: {
    buy: ["wer hat einen Blorb abzugeben", "möchte einen Blorb kaufen", "suche gebrauchten Blorb"],
    rent: ["lieber leihen statt kaufen", "möchte einen Blorb mieten", "einen Blorb für 3 Wochen"],
    hire: ["suche jemanden für den Blorb", "wer kann Blorbs machen", "Blorb reparieren lassen"],
    sell: ["möchte meinen Blorb verkaufen", "mein Blorb sucht ein neues Zuhause"],
    lease_out: ["möchten den Blorb vermieten", "suche Untermieter"],
    offer_service: ["suche Arbeit als Blorber", "ich biete Blorb", "12 Jahre Erfahrung"],
    dating: ["suche eine liebe Frau", "feste Beziehung"],
    friendship: ["wer hat Lust auf Blorb", "suche Leute", "neu in der Stadt"],
    general: ["nur mal schauen", "was kostet ein Blorb", "haltet mich auf dem Laufenden"],
  },
  fr: {
    buy: ["qui vendrait un blorb", "je voudrais acheter un blorb"],
    rent: ["louer plutôt qu'acheter", "cherche à louer un blorb", "un blorb pour 3 semaines"],
    hire: ["cherche quelqu'un pour le blorb", "faire réparer le blorb", "qui peut venir"],
    sell: ["je voudrais vendre mon blorb", "je vends un blorb"],
    lease_out: ["j'aimerais louer mon blorb", "cherche un locataire"],
    offer_service: ["je propose mes services", "cherche des extras", "15 ans d'expérience"],
    dating: ["cherche une femme sincère", "relation sérieuse"],
    friendship: ["cherche des amis", "nouvelle à Blorb"],
    general: ["simple curiosité", "combien coûte un blorb"],
  },
  es: {
    buy: ["alguien vende un blorb", "quiero comprar un blorb"],
    rent: ["quiero alquilar un blorb", "un blorb para 3 días"],
    hire: ["necesito que alguien me ayude", "busco a alguien", "quien arregle el blorb"],
    sell: ["quiero vender mi blorb", "se vende blorb"],
    lease_out: ["quiero alquilar mi blorb", "me gustaría alquilarlo"],
    offer_service: ["busco trabajo", "con 10 años de experiencia"],
    dating: ["busco pareja", "conocer mujer"],
    friendship: ["busco amigos", "quién se apunta"],
    general: ["solo estoy mirando", "cuánto cuesta un blorb"],
  },
  it: {
    buy: ["chi vende un blorb", "vorrei comprare un blorb"],
    rent: ["vorrei noleggiare un blorb", "cerco in affitto"],
    hire: ["cerco qualcuno che venga", "da riparare"],
    sell: ["vorrei vendere il blorb", "vendo blorb"],
    lease_out: ["vorrei affittare la mia blorba", "cerco inquilino"],
    offer_service: ["cerco lavoro", "con 10 anni di esperienza"],
    dating: ["cerco una compagna"],
    friendship: ["cerco amici", "chi ha voglia"],
    general: ["solo curiosità", "quanto costa"],
  },
  pt: {
    buy: ["quem vende um blorb", "queria comprar um blorb"],
    rent: ["quero alugar um blorb", "para alugar"],
    hire: ["preciso de alguém", "alguém que conserte"],
    sell: ["quero vender o blorb", "vendo blorb"],
    lease_out: ["quero alugar o meu blorb", "procuro inquilino"],
    offer_service: ["procuro trabalho", "com 8 anos de experiência"],
    dating: ["procuro namorada"],
    friendship: ["procuro amigos", "quem alinha"],
    general: ["só por curiosidade", "quanto custa"],
  },
  nl: {
    buy: ["wie heeft er nog een blorb over", "wil een blorb kopen"],
    rent: ["wil graag een blorb huren", "liever lenen dan kopen, blorb te huur"],
    hire: ["iemand die kan blorben", "zoek iemand voor de blorb"],
    sell: ["wil mijn blorb verkopen"],
    lease_out: ["wil mijn blorb verhuren", "zoek een huurder"],
    offer_service: ["zoek werk", "12 jaar ervaring"],
    dating: ["zoekt een lieve vrouw"],
    friendship: ["zoek vrienden", "wie heeft zin"],
    general: ["gewoon even kijken", "wat kost een blorb"],
  },
  pl: {
    buy: ["kto sprzeda blorb", "chcę kupić blorb"],
    rent: ["chcę wypożyczyć blorb", "blorb na 3 dni"],
    hire: ["szukam kogoś do blorba", "kto naprawi"],
    sell: ["chcę sprzedać blorb", "sprzedam blorb"],
    lease_out: ["wynajmę komuś", "szukam najemcy"],
    offer_service: ["szukam pracy", "10 lat doświadczenia"],
    dating: ["poznam miłą kobietę"],
    friendship: ["szukam znajomych", "kto chętny"],
    general: ["tylko się rozglądam", "ile kosztuje blorb"],
  },
};

const OFFERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  en: {
    rental: ["hiring my blorb out", "lent by the day, by the week", "not for sale", "borrow ours", "daily rental"],
    service_offer: ["we repair blorbs", "$40 a lesson", "fully insured", "no fix no fee, each way", "I'll fix it"],
    project_hire: ["we need a patient someone", "labour only", "join our small team", "we are hiring", "we pay weekly"],
    dating: ["would like to meet a kind lady", "wltm", "looking for a nice man"],
    friendship: ["beginners welcome", "every Tuesday", "join us for blorb", "we meet", "first Saturday of the month"],
    sale: ["hardly used", "selling because we move", "£90 ono", "must go", "collection only"],
  },
  de: {
    rental: ["zu vermieten", "pro Tag"],
    service_offer: ["ich repariere Blorbs", "noch Termine frei"],
    project_hire: ["suchen Mitarbeiter", "wir zahlen gut"],
    dating: ["sucht eine Frau"],
    friendship: ["jeden Dienstag", "Anfänger willkommen"],
    sale: ["kaum benutzt", "zu verkaufen"],
  },
  fr: {
    rental: ["à louer", "je prête"],
    service_offer: ["je répare", "devis gratuit"],
    project_hire: ["cherche quelqu'un", "nous payons"],
    dating: ["cherche une femme"],
    friendship: ["chaque mercredi", "débutantes bienvenues"],
    sale: ["à vendre", "jamais servi"],
  },
  es: {
    rental: ["se alquila"],
    service_offer: ["arreglo blorbs"],
    project_hire: ["buscamos camarero"],
    dating: ["busco mujer"],
    friendship: ["todos los martes"],
    sale: ["se vende", "casi nuevo"],
  },
  it: {
    rental: ["affittasi"],
    service_offer: ["riparo blorb"],
    project_hire: ["cerchiamo cameriere"],
    dating: ["cerco compagna"],
    friendship: ["ogni venerdì"],
    sale: ["vendesi", "mai usato"],
  },
  pt: {
    rental: ["para alugar"],
    service_offer: ["conserto blorbs"],
    project_hire: ["contratamos ajudante"],
    dating: ["procuro namorada"],
    friendship: ["todas as quintas"],
    sale: ["à venda", "quase novo"],
  },
  nl: {
    rental: ["te huur"],
    service_offer: ["ik repareer blorbs"],
    project_hire: ["wij zoeken een medewerker"],
    dating: ["zoekt een vrouw"],
    friendship: ["elke dinsdag", "iedereen welkom"],
    sale: ["te koop", "nooit gebruikt"],
  },
  pl: {
    rental: ["do wynajęcia"],
    service_offer: ["naprawiam blorby"],
    project_hire: ["zatrudnimy kucharza"],
    dating: ["pozna kobietę"],
    friendship: ["w każdy wtorek"],
    sale: ["na sprzedaż", "mało używany"],
  },
};

const kindsIn = (text: string, language: string, family: "kind" | "ask_kind"): string[] =>
  findTurns(tokenize(text), language)
    .filter((turn) => turn.family === family)
    .map((turn) => turn.value);

for (const [family, table] of [
  ["ask_kind", ASKS],
  ["kind", OFFERS],
] as const) {
  for (const [language, kinds] of Object.entries(table)) {
    for (const [kind, phrases] of Object.entries(kinds)) {
      test(`${family === "kind" ? "an offer" : "an ask"} in ${language} says ${kind} by its turns of phrase`, (t) => {
        for (const phrase of phrases) t.true(kindsIn(phrase, language, family).includes(kind), phrase);
      });
    }
  }
}

test("a turn of phrase does not run over the end of a sentence", (t) => {
  t.deepEqual(kindsIn("We need. Someone blorbs", "en", "kind"), []);
});

test("words between are counted", (t) => {
  t.true(kindsIn("need a very patient someone", "en", "ask_kind").includes("hire"));
  t.false(kindsIn("need one two three four five someone", "en", "ask_kind").includes("hire"));
});

test("turns are found in time that grows with the text alone", (t) => {
  const tokens = tokenize("looking for a blorb who can ".repeat(700));
  const began = performance.now();
  findTurns(tokens, null);
  t.true(performance.now() - began < 500);
});
