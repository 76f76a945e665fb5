/** Words by which places are recognised, in eight languages, all folded. */

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** Prepositions and similar words before a place. */
export const PLACE_PREPOSITIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  en: words("in near nr around outside at by nearby surrounding throughout across"),
  de: words("in bei nahe raum umgebung umkreis um grossraum nahe stadtteil ortsteil"),
  fr: words("a vers dans sur pres secteur quartier environs autour proche en"),
  es: words("en cerca zona barrio alrededores provincia por"),
  it: words("a in vicino zona presso provincia dintorni quartiere ad"),
  pt: words("em no na perto zona bairro nos nas concelho regiao"),
  nl: words("in te bij nabij regio omgeving rond"),
  pl: words("w we pod kolo okolice okolicach blisko okolicy rejon rejonie na"),
};

/** Prepositions with hardly any other meaning in these languages, for texts too short to detect their language. */
export const PLAIN_PREPOSITIONS = words(
  "bei nahe raum pres secteur environs cerca zona vicino perto regio nabij okolice okolicy kolo w we em ad presso",
);

/** Words before the place where a thing is or is handed over. A preposition may follow them. */
export const PLACE_LABELS = words(`
  pickup pick-up collection collect collected located location based standort abholung abholen abzuholen abholbar ort
  ophalen afhalen afhaling locatie plaats odbior lokalizacja miejscowosc recogida recoger ubicacion ubicado ubicada
  retiro ritiro luogo retirar levantamento entrega localizacao localidade propre lieu retrait retirer situe situee
  wohnort besichtigung standplatz meetup viewing live living wohne wohnen vivo vivimos visible visibile seen cote halen gegend bezirk kreis landkreis raum salida base based moro mieszkam woon wonen abito habite
  habitons estoy estamos sono siamo jestem steht staat sits parked einsatzort arbeitsort innerhalb`);

/** Words that may stand between a place label and the place. */
export const FILLERS = words(
  "in from at near bei en em a w te aus the only is ist nur local um to zu au nel na no of possible ou de da do",
);

/** Words between a town and its district: "Granada, zona Realejo", "Strasbourg quartier Krutenau". */
export const AREA_WORDS = words(
  "zona quartier barrio bairro stadtteil ortsteil wijk buurt dzielnica osiedle os secteur quartiere rione district neighbourhood neighborhood colonia col sector",
);

/** Words for delivery: "delivery around Leeds" says where the offer is, "delivery to Leeds" does not. */
export const DELIVERIES = words("deliver delivery deliveries livraison livraisons");

/** Words between a delivery word and a place that mark the area served. */
export const ABOUT = words("in around near across throughout rund um autour alrededor intorno rondom");

/** Last words of street names. */
export const STREETS = words(
  "road rd street avenue ave lane drive boulevard blvd strasse allee weg platz plein straat laan",
);

/** Words inside names of places: "Rio de Janeiro", "Newcastle upon Tyne", "Houston Heights & Garden Oaks". */
export const NAME_LINKS = words(
  "das dos de da do del della di dei la le les los las sur sous am an der den im upon on of the e y et und and bei near zona o i en aan bij by raum",
);

/** Articles that begin names of towns. */
export const NAME_ARTICLES = words("le la les los las el");

/** Words that join two names and are part of neither. */
export const JOINING_LINKS = words("e y et und and i o near bei zona");

/** Directions and sizes that belong to the name after them, with or without a capital letter. */
export const NAME_OPENERS = words(
  "north south east west northeast northwest southeast southwest ne nw se sw central downtown greater upper lower old inner outer rural san saint st sankt port fort mount lake co county new bad inner",
);

/** Words before a place where the offer is not: origin, shipping, travel. */
export const ELSEWHERE = words(`
  from aus von depuis desde dal dalla vanuit uit not nicht niet worldwide nationwide emigrating emigrate ship ships shipping shipped post posted postage versand versende versenden livraison
  envoi envio envios spedizione spedisco verzenden verzending wysylka within deliver delivery deliveries made hergestellt fabrique fabricado bought
  gekauft achete comprado acquistato kupiony gekocht born went trip flight flights via
  language native speak speaks accents accent origin originally toward towards between`);

/** Words before the origin of goods. After a word of LEAVING, they state where the goods are. */
export const ORIGIN = words("from aus von depuis desde dal da vanuit van uit z ze de");
/** Words before the place from which something is sent, or where a route begins. */
export const LEAVING = words(
  "ship ships shipping shipped post posted posting postage versand verschicke envoi expedition envio envios portes spedizione spedisco verzending wysylka salida salidas depart partenza partida vertrek abfahrt start starts starting leaves leaving tours",
);

/** Words between the start and the end of a route. */
export const TOWARDS = words("to nach vers a ate naar do au al");

/** Words that join a place with its surroundings: "Lodi e dintorni", "Hull or nearby". */
export const AND = words("and or und oder et ou y o e of en i lub");

/** Words after the name of a town: "Reading station". */
export const PARTS_OF_TOWNS = words(
  "station area town city centre center bahnhof hbf umgebung gare centro stazione estacion estacao centrum station dworzec based university harbour airport",
);

/** Capitalised words that are not places: months, days, languages, pronouns and so on. */
export const NOT_PLACES = words(`
  january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
  januar februar marz mai juni juli oktober dezember janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre
  enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre
  ottobre dicembre janeiro fevereiro marco maio junho julho setembro outubro novembro dezembro januari februari maart mei augustus
  stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia
  monday tuesday wednesday thursday friday saturday sunday mon tue wed thu thurs fri sat sun mondays tuesdays wednesdays thursdays fridays saturdays sundays
  montag dienstag mittwoch donnerstag freitag samstag sonntag mo di mi do fr sa so lundi mardi mercredi jeudi vendredi samedi dimanche
  lunes martes miercoles jueves viernes sabado domingo lunedi martedi mercoledi giovedi venerdi sabato domenica
  segunda terca quarta quinta sexta maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
  english german french spanish italian portuguese dutch polish finnish swedish danish norwegian hungarian russian japanese chinese arabic turkish
  deutsch englisch franzosisch spanisch italienisch ingles aleman frances espanol italiano portugues inglese tedesco francese spagnolo anglais allemand espagnol
  polski angielski niemiecki engels duits frans christmas easter weihnachten ostern noel navidad natale natal summer winter spring autumn
  i im ill ive we my our you your he she it they this that no not non yes ok hi hello hey dear please sorry thanks thank cash paypal venmo zelle
  whatsapp email mail mails tel telefon telephone phone call text sms contact kontakt contacto contatto contato fon mobil handy anrufe anfragen
  asking price prix preis precio prezzo preco prijs cena vb vhb obo ono ovno nr asap diy us uk eu usd eur gbp cad aud nzd chf pln usb gps abs led pc tv ltd gmbh
  the a an and or but for with in on at to is are was have has will only also just can may must any all some one two three each both
  der die das ein eine und oder nur mit fur bitte keine kein sehr gut ich wir sie es le la les un une el los las il lo gli o os as uno una em um uma
  important importante wichtig achtung attention attenzione atencion atencao belangrijk uwaga wazne note notice warning warnung urgent dringend urgente
  update edit ps system assistant reserved reserviert
  privatverkauf festpreis nichtraucher selbstabholer rechnung garantie versand abholung uhr zustand`);

/** Words for remote work, which is not a place. */
export const REMOTE_WORDS = words(
  "remote remotely online homeoffice teletravail distanciel teletrabajo remoto zdalnie zdalna zdalny thuiswerk thuiswerken videocall zoom ferne",
);

/** Codes of states and provinces of the USA, Canada and Australia as written after a comma, with the country. */
export const STATE_CODES: ReadonlyMap<string, string> = new Map([
  ..."al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy dc"
    .split(" ")
    .map((code) => [code, "US"] as const),
  ..."ab bc mb nb nl ns on pe qc sk".split(" ").map((code) => [code, "CA"] as const),
  ..."nsw vic qld tas act".split(" ").map((code) => [code, "AU"] as const),
]);
