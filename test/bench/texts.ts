/**
 * Generates offers and asks. The same number gives the same text in every run.
 *
 *   subject   what a text is about: its category, and its name in each language
 *   model     an invented word that only a handful of offers share, for searches with few results
 */

/**
 * A quarter of the offers are sofas and half of those are English, so "good condition sofa" finds an eighth of the
 * market.
 */
const SOFA_SHARE = 0.25;
const ENGLISH_SHARE = 0.5;

/** The number of offers that share a model, so that a search for a rare word finds five. */
const OFFERS_PER_MODEL = 5;

/** The greatest age of an offer. Ages are evenly distributed, as in a market that has run for half a year. */
const OLDEST_MS = 180 * 24 * 3600 * 1000;

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"] as const;
type Language = (typeof LANGUAGES)[number];

type Subject = {
  domain: string;
  category: string;
  kind: "sale" | "rental" | "service_offer";
  price: [number, number];
  /** The names in the order of LANGUAGES. */
  names: [string, string, string, string, string, string, string, string];
};

const SOFA: Subject = {
  domain: "home_garden",
  category: "furniture",
  kind: "sale",
  price: [40, 900],
  names: ["sofa", "Sofa", "canapé", "sofá", "divano", "sofá", "bank", "sofa"],
};

const SUBJECTS: Subject[] = [
  {
    domain: "vehicles",
    category: "bicycles",
    kind: "sale",
    price: [50, 2500],
    names: ["bicycle", "Fahrrad", "vélo", "bicicleta", "bicicletta", "bicicleta", "fiets", "rower"],
  },
  {
    domain: "electronics",
    category: "computers",
    kind: "sale",
    price: [100, 2400],
    names: ["laptop", "Laptop", "ordinateur portable", "portátil", "portatile", "portátil", "laptop", "laptop"],
  },
  {
    domain: "electronics",
    category: "phones",
    kind: "sale",
    price: [60, 1200],
    names: ["phone", "Handy", "téléphone", "teléfono", "telefono", "telemóvel", "telefoon", "telefon"],
  },
  {
    domain: "real_estate",
    category: "apartments",
    kind: "rental",
    price: [350, 2600],
    names: ["apartment", "Wohnung", "appartement", "piso", "appartamento", "apartamento", "appartement", "mieszkanie"],
  },
  {
    domain: "home_garden",
    category: "appliances",
    kind: "sale",
    price: [50, 700],
    names: [
      "washing machine",
      "Waschmaschine",
      "lave-linge",
      "lavadora",
      "lavatrice",
      "máquina de lavar",
      "wasmachine",
      "pralka",
    ],
  },
  {
    domain: "services",
    category: "cleaning",
    kind: "service_offer",
    price: [14, 45],
    names: ["house cleaning", "Putzhilfe", "ménage", "limpieza", "pulizie", "limpeza", "schoonmaak", "sprzątanie"],
  },
  {
    domain: "services",
    category: "tutoring",
    kind: "service_offer",
    price: [15, 60],
    names: [
      "maths lessons",
      "Mathe-Nachhilfe",
      "cours de maths",
      "clases de matemáticas",
      "ripetizioni di matematica",
      "explicações de matemática",
      "bijles wiskunde",
      "korepetycje z matematyki",
    ],
  },
  {
    domain: "hobbies",
    category: "music_instruments",
    kind: "sale",
    price: [80, 3000],
    names: ["guitar", "Gitarre", "guitare", "guitarra", "chitarra", "guitarra", "gitaar", "gitara"],
  },
  {
    domain: "fashion",
    category: "clothing",
    kind: "sale",
    price: [10, 250],
    names: ["winter coat", "Wintermantel", "manteau", "abrigo", "cappotto", "casaco", "winterjas", "płaszcz"],
  },
  {
    domain: "family_pets",
    category: "baby_kids",
    kind: "sale",
    price: [20, 600],
    names: ["pram", "Kinderwagen", "poussette", "cochecito", "passeggino", "carrinho de bebé", "kinderwagen", "wózek"],
  },
];

type Words = {
  cities: string[];
  country: string;
  currency: string;
  adjectives: string[];
  condition: string;
  sentences: string[];
  contact: string;
};

const WORDS: Record<Language, Words> = {
  en: {
    cities: ["London", "Manchester", "Bristol", "Leeds", "Dublin", "Edinburgh"],
    country: "GB",
    currency: "GBP",
    adjectives: ["grey", "blue", "large", "small", "modern", "vintage", "black", "white", "light"],
    condition: "in good condition",
    sentences: [
      "From a smoke-free home with no pets.",
      "Bought two years ago and hardly used since.",
      "We are moving abroad at the end of the month, so it has to go.",
      "Pick up only, parking right in front of the door.",
      "A few small scratches, as the pictures show.",
      "I can help carry it down the stairs.",
      "The receipt and the manual are still there.",
      "Price is negotiable if you collect this week.",
      "Evenings and weekends suit us best.",
      "Everything works as it should, tested yesterday.",
    ],
    contact: "Write to",
  },
  de: {
    cities: ["Berlin", "Hamburg", "München", "Köln", "Leipzig", "Wien"],
    country: "DE",
    currency: "EUR",
    adjectives: ["graues", "blaues", "großes", "kleines", "modernes", "altes", "schwarzes", "weißes"],
    condition: "in gutem Zustand",
    sentences: [
      "Aus einem tierfreien Nichtraucherhaushalt.",
      "Vor zwei Jahren gekauft und seitdem kaum benutzt.",
      "Wir ziehen Ende des Monats um, deshalb muss es weg.",
      "Nur Abholung, Parkplatz direkt vor der Tür.",
      "Ein paar kleine Kratzer, siehe Bilder.",
      "Beim Tragen kann ich helfen.",
      "Rechnung und Anleitung sind noch vorhanden.",
      "Preis ist Verhandlungsbasis bei schneller Abholung.",
      "Am besten abends oder am Wochenende melden.",
      "Alles funktioniert, gestern noch getestet.",
    ],
    contact: "Bitte schreiben an",
  },
  fr: {
    cities: ["Paris", "Lyon", "Marseille", "Lille", "Nantes", "Bruxelles"],
    country: "FR",
    currency: "EUR",
    adjectives: ["gris", "bleu", "grand", "petit", "moderne", "ancien", "noir", "blanc"],
    condition: "en bon état",
    sentences: [
      "Maison sans animaux et non fumeur.",
      "Acheté il y a deux ans et très peu utilisé.",
      "Nous déménageons à la fin du mois.",
      "À venir chercher sur place, parking devant la porte.",
      "Quelques petites rayures, voir les photos.",
      "Je peux aider à porter.",
      "La facture et la notice sont fournies.",
      "Prix à débattre en cas de retrait rapide.",
    ],
    contact: "Écrire à",
  },
  es: {
    cities: ["Madrid", "Barcelona", "Valencia", "Sevilla", "Bilbao", "Málaga"],
    country: "ES",
    currency: "EUR",
    adjectives: ["gris", "azul", "grande", "pequeño", "moderno", "antiguo", "negro", "blanco"],
    condition: "en buen estado",
    sentences: [
      "De una casa sin mascotas y sin humo.",
      "Comprado hace dos años y apenas usado.",
      "Nos mudamos a finales de mes.",
      "Solo recogida, se puede aparcar delante.",
      "Algunos arañazos pequeños, ver fotos.",
      "Puedo ayudar a bajarlo.",
      "Conservamos la factura y el manual.",
      "Precio negociable si se recoge pronto.",
    ],
    contact: "Escribir a",
  },
  it: {
    cities: ["Roma", "Milano", "Torino", "Napoli", "Bologna", "Firenze"],
    country: "IT",
    currency: "EUR",
    adjectives: ["grigio", "blu", "grande", "piccolo", "moderno", "antico", "nero", "bianco"],
    condition: "in buono stato",
    sentences: [
      "Casa senza animali e senza fumo.",
      "Comprato due anni fa e usato pochissimo.",
      "Ci trasferiamo a fine mese.",
      "Solo ritiro a mano, parcheggio davanti alla porta.",
      "Qualche piccolo graffio, come da foto.",
      "Posso aiutare a portarlo giù.",
      "Scontrino e manuale inclusi.",
    ],
    contact: "Scrivere a",
  },
  pt: {
    cities: ["Lisboa", "Porto", "Braga", "Coimbra", "Faro", "Setúbal"],
    country: "PT",
    currency: "EUR",
    adjectives: ["cinzento", "azul", "grande", "pequeno", "moderno", "antigo", "preto", "branco"],
    condition: "em bom estado",
    sentences: [
      "Casa sem animais e sem fumo.",
      "Comprado há dois anos e pouco usado.",
      "Vamos mudar de casa no fim do mês.",
      "Só levantamento no local, com estacionamento à porta.",
      "Alguns riscos pequenos, ver fotografias.",
      "Posso ajudar a carregar.",
      "Fatura e manual incluídos.",
    ],
    contact: "Escrever para",
  },
  nl: {
    cities: ["Amsterdam", "Rotterdam", "Utrecht", "Den Haag", "Antwerpen", "Gent"],
    country: "NL",
    currency: "EUR",
    adjectives: ["grijze", "blauwe", "grote", "kleine", "moderne", "oude", "zwarte", "witte"],
    condition: "in goede staat",
    sentences: [
      "Uit een rookvrij huis zonder huisdieren.",
      "Twee jaar geleden gekocht en nauwelijks gebruikt.",
      "We verhuizen aan het einde van de maand.",
      "Alleen afhalen, parkeren kan voor de deur.",
      "Een paar kleine krassen, zie foto's.",
      "Ik kan helpen met dragen.",
      "Bon en handleiding zijn aanwezig.",
    ],
    contact: "Mail naar",
  },
  pl: {
    cities: ["Warszawa", "Kraków", "Gdańsk", "Wrocław", "Poznań", "Łódź"],
    country: "PL",
    currency: "PLN",
    adjectives: ["szary", "niebieski", "duży", "mały", "nowoczesny", "stary", "czarny", "biały"],
    condition: "w dobrym stanie",
    sentences: [
      "Z domu bez zwierząt i bez dymu.",
      "Kupione dwa lata temu i prawie nieużywane.",
      "Przeprowadzamy się pod koniec miesiąca.",
      "Tylko odbiór osobisty, parking przed drzwiami.",
      "Kilka małych rys, jak na zdjęciach.",
      "Mogę pomóc w znoszeniu.",
      "Paragon i instrukcja w komplecie.",
    ],
    contact: "Proszę pisać na",
  },
};

/** Four syllables make a model, so there are 12 to the power of 4. None is a word of these languages. */
const SYLLABLES = ["zor", "vex", "qui", "tharn", "blu", "krom", "wyx", "pelt", "jov", "druk", "mif", "sgan"];

/** Returns a generator of numbers between 0 and 1 (mulberry32, Ettinger). Unlike Math.random, it takes a seed. */
const randomFrom = (seed: number): (() => number) => {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const pick = <T>(random: () => number, list: readonly T[]): T => {
  const found = list[Math.floor(random() * list.length)];
  if (found === undefined) throw new Error("There is nothing to pick from.");
  return found;
};

/** Returns the model of an offer: an invented word that OFFERS_PER_MODEL offers share. */
export const modelOf = (offer: number): string => {
  let rest = Math.floor(offer / OFFERS_PER_MODEL);
  let word = "";
  for (let i = 0; i < 4; i++) {
    word += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length);
  }
  return word;
};

/** Returns a UUIDv7 of a moment, with random digits from `random`. */
const idAt = (moment: number, random: () => number): string => {
  const hex = (digits: number) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  const time = moment.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(12)}`;
};

/**
 * Returns one of `offers` offers as a row of market.offer without an account. They were published before `now`
 * (milliseconds) in the order of their numbers, because that is the order in which a market stores them.
 */
export const offerNumber = (n: number, offers: number, now: number) => {
  const random = randomFrom(n);
  const language = random() < ENGLISH_SHARE ? "en" : pick(random, LANGUAGES.slice(1));
  const subject = random() < SOFA_SHARE ? SOFA : pick(random, SUBJECTS);
  const words = WORDS[language];
  const name = subject.names[LANGUAGES.indexOf(language)] ?? subject.names[0];
  const city = pick(random, words.cities);
  const [least, most] = subject.price;
  const amount = Math.round(least + (most - least) * random() ** 2);
  const label = `${amount} ${words.currency}`;
  const heading = `${pick(random, words.adjectives)} ${name}`;
  const title = `${heading} ${modelOf(n)}`;
  const mail = `person${n}@example.com`;
  const sentences = Array.from({ length: 2 + Math.floor(random() * 5) }, () => pick(random, words.sentences));
  const text = `${title}, ${words.condition}. ${sentences.join(" ")} ${label}, ${city}. ${words.contact} ${mail}`;
  const published = now - 60_000 - Math.floor(((offers - n - random()) / offers) * OLDEST_MS);
  const method = { type: "email", value: mail, preferred: true };
  const isRental = subject.kind === "rental";
  const quoted = (value: unknown, quote: string) => ({
    value,
    quote,
    start: Array.from(text.slice(0, text.indexOf(quote))).length,
    end: Array.from(text.slice(0, text.indexOf(quote) + quote.length)).length,
    basis: "stated",
    confidence: 0.9,
  });
  const pricing = {
    amount,
    currency: words.currency,
    ...(isRental ? { period: "month" } : {}),
    type: "fixed",
    negotiable: false,
    label,
  };
  const location = { text: city, country: words.country, city, remote: false };
  return {
    id: idAt(published, random),
    language,
    title,
    text,
    heading,
    // Phrases that many offers share. The model, price, city and e-mail address are left out, because they name no
    // concept.
    phrases: [heading, words.condition, ...sentences],
    domain: subject.domain,
    category: subject.category,
    offer_kind: subject.kind,
    price_thousandths: amount * 1000,
    price_currency: words.currency,
    price_period: isRental ? "month" : null,
    location_text: city,
    images: random() < 0.4 ? [`https://images.example.com/${n}.jpg`] : [],
    metadata: { pricing, location, condition: "used_good" },
    contact: { schema_version: 2, methods: [method], primary: { methods: [method] }, additional: [] },
    extraction: {
      maker: "builtin",
      title: quoted(title, title),
      price: quoted(pricing, label),
      location: quoted(location, city),
      contact: [quoted(method, mail)],
    },
    published_at: new Date(published).toISOString(),
  };
};

/** Returns one ask as a row of market.ask. */
export const askNumber = (n: number) => {
  const random = randomFrom(n + 0x10000000);
  const language = random() < ENGLISH_SHARE ? "en" : pick(random, LANGUAGES.slice(1));
  const subject = random() < SOFA_SHARE ? SOFA : pick(random, SUBJECTS);
  const words = WORDS[language];
  const name = subject.names[LANGUAGES.indexOf(language)] ?? subject.names[0];
  const city = pick(random, words.cities);
  const most = Math.round((subject.price[1] * (1 + random())) / 2);
  const text = `${name}, ${city}, max ${most} ${words.currency}`;
  return {
    language,
    title: name,
    text,
    domain: subject.domain,
    category: subject.category,
    ask_kind: { sale: "buy", rental: "rent", service_offer: "hire" }[subject.kind],
    criteria: {
      keywords: [name],
      must: [],
      exclude: [],
      price: { max: most, currency: words.currency },
      location: { text: city, city, country: words.country, remote: false },
      attributes: {},
    },
    price_max_thousandths: most * 1000,
    price_currency: words.currency,
  };
};

/** Returns a text that the built-in extractor understands completely, a different one for each number. */
export const textToPublish = (n: number): string =>
  `Grey three-seat sofa ${modelOf(n)} for sale, good condition, smoke-free home. 180 EUR, pick up in Berlin. Write to lena${n}@example.com`;
