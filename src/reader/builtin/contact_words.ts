import { compilePhrases, type Hit } from "../text/phrases.ts";

/** What the words around a number, an address or a link say about it. */
export type ContactSense =
  | "call"
  | "sms"
  | "whatsapp"
  | "mail"
  | "link"
  | "showcase"
  | "label"
  | "also"
  | "not"
  | "use"
  | "yet"
  | "old"
  | "dead"
  | "vain"
  | "welcome";

/** A word or phrase that says something about contacts. */
export type ContactHit = Hit<ContactSense>;

/** The words and phrases that say something about contacts. */
export const CONTACT_WORDS = compilePhrases<ContactSense>({
  call: `buzz | bell | tinkle | call | calls | calling | callers | ring | rings | phone | phones | phoning | telephone | tel | tel. | mobile | mob | cell | landline | dial | a bell | a buzz
    give me a call | reach me | voicemail | handy | mobil | telefon* | festnetz | anruf* | anrufen | rufen | ruft | ruf | erreichbar | ruckruf
    durchwahl | portable | fixe | appel* | joignable | joindre | telephon* | marcan | marcar | marquen | movil | fijo | llama* | llame* | llamada*
    cellulare | cell. | fisso | chiama* | telefona* | chiamata | telemovel | celular | telemovel | fixo | liga | ligar | ligue | liguem
    bel | bellen | belt | mobiel | mobiele | gsm | telefoonnummer | komorka | komorkowy | zadzwon* | dzwon* | kontaktowy | numer telefonu`,
  sms: `msg | sms'je | smsje | sms-je | text | texts | txt | txts | texting | textin | txting | sms | sms's | smsen | sms'en | texto | textos | simsen | simst | esemes* | message me | message us
    text message | text messages | mensaje de texto | mensajes de texto | mensagem de texto | wiadomosc sms`,
  whatsapp: `message me on whatsapp | message us on whatsapp | message on whatsapp | text me on whatsapp | text on whatsapp | msg on whatsapp | whatsapp message | whatsapp messages
    whatsapp text | messaggi whatsapp | messaggio whatsapp | mensaje de whatsapp | mensaje por whatsapp | mensagem no whatsapp | mensagem por whatsapp | no zap | no whats | no zapzap
    chamar no whatsapp | chama no whatsapp | chame no whatsapp | fala no whatsapp | manda no whatsapp | me chama no whatsapp | contato no whatsapp | wiadomosc na whatsapp | message whatsapp | whatsapp | whatsapps | what's app | whats app | whatsap | watsapp | whats | wapp | wsp | wpp | wasap | wasapp | guasap | zap | zapzap
    whatsappen | whatsappe | app me | appen | appje | of app | app naar | app of | een appje | stuur een app | via de app`,
  mail: `mail | mails | mailen | maile | mailt | email | emails | emailing | e-mail | e-mails | e-mailen | courriel | correo | correo electronico | mailem | mailowy
    mejl | mejlowo | mailowo | posta elettronica | drop a line | write to | write me at | schreibt an | ecrire a | ecrivez a | escribir a | scrivere a`,
  link: `book | booking | bookings | apply | application form | contact form | form | website | web site | site | page | webpage | homepage | online | shop
    order | reserve | reservation | sign up | register | enquire | buchen | buchung | bewerb* | kontaktformular | formular | webseite | internetseite | seite
    reserver | postuler | formulaire | commander | inscription | reservar | formulario | pagina | web | inscripcion | inscribirse | solicitar | prenota* | prenotazioni | modulo | sito | iscrizione | candidati
    marcacoes | marcar | reservas | inscricao | inscricoes | candidatura | boeken | reserveren | formulier | aanmelden | solliciteren | rezerwacja | rezerwacje | formularz | strona | stronie | strone | zapisy | aplikuj | bestellen | bestel | bezichtigen | afspraak | besichtigung | viewings | buy | purchase | acheter | comprar | acquistare | ordina | zamow | zamowienia`,
  showcase: `showreel | show reel | reel | demo | video | videos | hear us | hear me | hear it | listen | watch | clip | clips | trailer | portfolio | photos | pictures | pics | gallery | photo album
    spec | specs | spec sheet | data sheet | datasheet | manual | manufacturer | review | reviews | rating | ratings | rated | feedback | stars on | compare | same model
    original listing | new price | sold at | sells for | retails | wikipedia | video of | example of | inspired by | news | article | press | as seen
    datenblatt | bewertung* | testbericht* | rezension* | hersteller* | fotos | bilder | anleitung | horprobe* | anhoren | ansehen | galerie | neupreis
    fiche technique | avis | notice | fabricant | galerie | ecouter | regarder | extraits | ficha tecnica | opiniones | resenas | valoraciones | fabricante | galeria | escuchar
    scheda tecnica | recensioni | produttore | foto | ascolta* | guarda | avaliacoes | galeria | ouvir | manual de | specificaties | beoordelingen | recensies | fabrikant | luister* | handleiding
    specyfikacja | opinie | opinii | producenta | zdjecia | posluchaj | instrukcja`,
  label: `microchip | microchip number | microchip no | chipnummer | chip | puce | isbns | nr | bericht-nr | stamp no | agent no | reg no | policy no | permit no | sendungsnummer | sendungsverfolgung | paketnummer | suivi | numero de suivi | seguimiento
    numero de seguimiento | tracciamento | rastreio | codigo de rastreio | track & trace | numer przesylki | nr przesylki | numer oferty | nr oferty | aktenzeichen | kundennummer
    inseratsnummer | anzeigennummer | referentie | referentienummer | isbn | isbn-13 | issn | ean | gtin | upc | asin | imei | vin | fin | fgnr | fahrgestellnummer | fahrgestellnr | chassis | s/n | sn | serial | serials | serial no | serial number | seriennummer | serien-nr | seriennr
    numero de serie | n de serie | no de serie | numero di serie | matricola | matricule | serienummer | numer seryjny | nr seryjny | p/n | pn | part no | part number | part | teilenummer | teile-nr | oem | oe-nummer
    article | artikelnummer | artikel-nr | artikelnr | art.-nr | art.nr | art | item no | item number | item | model | model no | modell | modele | modelo | modello | type | ref | ref. | reference | referenz | referencia | rif | riferimento | kenmerk
    order no | order number | order | bestellnummer | bestell-nr | commande | pedido | ordine | bestelling | zamowienie | invoice | invoices | invoice no | invoice number | rechnung | rechnungsnummer | rechnungsnr | rechnungs-nr | facture | factura | fattura | fatura | factuur | factuurnummer | faktura | faktury
    iban | konto | kontonummer | account no | account number | sort code | bic | nif | cif | dni | nip | regon | pesel | krs | siret | siren | rcs | p.iva | p. iva | partita iva | codice fiscale | cnpj | cpf | kvk | btw | kvk-nummer | ust-id | ust-idnr | steuernummer | steuer-nr | hrb | vat | vat no | company no | company number | licence | license | licence no | license no | lic | lic. | registration | reg. | policy | certificate | cert
    tracking | sku | serie | lot no | catalogue no | catalog no | cat. no | matrix | frame number | frame no | rahmennummer | framenummer | numero de cadre | numero de bastidor | bastidor | numero di telaio | telaio | numer ramy | referencia catastral | ticket no | membership no | opus | odometer | mileage`,
  also: "also | too | as well | ok | okay | auch | ebenfalls | aussi | egalement | tambien | anche | tambem | ook | tez | takze | rowniez | possible | moglich",
  not: `plus a | plus au | n' | not | no | don't | dont | don t | never | do not | doesn't | can't | cant | won't | kein | keine | keinen | nicht | pas | pas d' | ne | sans | nunca | non | niente | mai | nao | sem | geen | niet | nie | bez | prosze nie | without | nor
    sin | rather than | statt | ignore | nooit`,
  use: `usem | usai | agentur | agence | agencia | agenzia | makelaar | use | using | contact | contacting | write | reach | try | bother | benutz* | verwend* | nutz* | schreib* | kontaktier* | anschreiben | utilis* | ecri* | contact* | usar | use | usen | uses | usa | escrib* | contact* | usare | usate | scriv* | contatt* | escrev*
    gebruik* | schrijf* | contacteer* | uzywa* | uzyj | pisa* | pisz* | kontakt*`,
  yet: `but | only | just | instead | rather | sondern | nur | aber | stattdessen | mais | seulement | plutot que | uniquement | sino | solo | pero | ma | soltanto | invece | mas | apenas | so | maar | alleen | enkel | ale | tylko | lecz`,
  old: `old firm | former firm | alte firma | ancienne societe | antigua empresa | vecchia ditta | antiga firma | oude firma | stara firma | different outfit | different firm | different company | someone else | not ours | old advert | old line | alte anzeige | ancienne annonce | anuncio antiguo
    vecchio annuncio | anuncio anterior | oude advertentie | stare ogloszenie | old number | old address | old email | old e-mail | old mail | old agency | old agent | former agent | former agency | previous agent | previous number | previous owner | landlord's agent | alte nummer | alte adresse | alte mail* | ehemalige makler* | fruhere* makler*
    ancien numero | ancienne adresse | ancienne agence | antiguo numero | numero antiguo | viejo numero | antigua agencia | correo antiguo | vecchio numero | vecchia mail | vecchia agenzia | numero antigo | email antigo | antiga agencia | oude nummer | oud nummer | oude adres | vorige makelaar | stary numer | stary adres | stary mail`,
  dead: `please ignore | please ignore it | ignore it | ignore that | bitte ignorieren | ignorieren | a ignorer | negeren | prosze ignorowac | has nothing to do | nothing to do with
    hat nichts zu tun | hat damit nichts zu tun | n'a rien a voir | no tiene nada que ver | non c'entra | nao tem nada a ver | heeft er niets mee te maken | nie ma nic wspolnego
    no longer | is dead | is old | bounces | bounced | not in use | out of date | not mine | isn't mine | isn't me | not me | is not us | is a scam | is fake | nicht mehr | gilt nicht | ist alt | n'est plus | ne marche plus | ne fonctionne plus | plus valable
    ya no | no es mio | no funciona | non e piu | non funziona | non piu | non vale piu | ja nao | nao funciona | nao e meu | niet meer | werkt niet | klopt niet | juz nie | nie dziala | nieaktualn* | nie jest moj`,
  /** After a way of contact, these words say that it is useless. */
  vain: "zwecklos | unerwunscht | unmoglich | pointless | useless | inutile | inutiles | inutil | inutili | zinloos | bezcelowe | ignored",
  welcome:
    "always | hear | hore | entends | consulte | oigo | miro | leo | sento | leggo | controllo | ouco | leio | vejo | hoor | lees | slysze | czytam | sprawdzam | odbieram | hesitate | hesitez | zoger* | zogern | dude | dudes | duden | dudeis | esit* | esitare | hesite | hesitem | aarzel | aarzelen | wahaj | wahac | shy",
});

/**
 * Frequent short words of each language, and the countries whose phone numbers are likely in such a text, most likely
 * first.
 */
export const LANGUAGE_COUNTRIES: readonly { words: ReadonlySet<string>; countries: readonly string[] }[] = (
  [
    ["the and for with you my to of your it this from or at", "US GB IE AU NZ"],
    ["und der das mit ich ist nicht fur bei ein eine auf zu von im", "DE AT CH"],
    ["le les des et une pour avec je est dans du sur pas au aux la", "FR BE CH LU"],
    ["el los las con para y una por mi muy del es la", "ES MX AR CO CL UY PE"],
    ["il gli di con per una che sono del della non ho anche", "IT CH"],
    ["os com para uma por em do da meu nao na ao um", "PT BR"],
    ["het een van voor met ik op niet te bij naar ook", "NL BE"],
    ["w z na nie jest sie po od dla mam oraz lub ul", "PL"],
  ] as const
).map(([words, countries]) => ({ words: new Set(words.split(" ")), countries: countries.split(" ") }));

/** Hosts that show a person or a thing but do not reach anybody, and apps that are not among the contact types. */
export const NO_CONTACT_HOSTS =
  `youtube.com youtu.be vimeo.com soundcloud.com spotify.com wikipedia.org imdb.com tripadvisor.com trustpilot.com yelp.com
  goo.gl maps.app.goo.gl google.com imgur.com flickr.com instagram.com facebook.com fb.com m.me messenger.com tiktok.com snapchat.com x.com
  twitter.com discord.gg discord.com t.me telegram.me signal.me threads.net pinterest.com reddit.com amazon.com ebay.com`.split(
    /\s+/u,
  );

/** Parts of a link that show that it leads to media, reviews or specifications. */
export const SHOWCASE_IN_LINK =
  /showreel|reviews?\b|ratings?\b|datasheet|\bspecs?\b|\bvideos?\b|\bmanuals?\b|\bgallery\b|\bphotos?\b|bewertung|datenblatt|\bdemo\b|opinie|recension|recensie/u;
