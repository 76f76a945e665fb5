import { compilePhrases } from "../text/phrases.ts";

/** What a word says about the amount beside it. */
export type PriceSense =
  | "ask"
  | "negotiable"
  | "deposit"
  | "former"
  | "instead"
  | "fresh"
  | "fee"
  | "running"
  | "warm"
  | "value"
  | "discount"
  | "extra"
  | "packet"
  | "half"
  | "each"
  | "flat"
  | "toward"
  | "today"
  | "aside"
  | "part"
  | "restated"
  | "with";

/**
 * Words beside an amount, by what they say about it. Senses that need an explanation:
 *
 * - `fresh` ("new"): only counts directly beside an amount, as the price of a new thing.
 * - `toward` ("for"): weak evidence for the price. `today` ("now") is stronger evidence.
 * - `restated` ("that is"): the amount repeats another one.
 * - `part` (tyres, a service): the amount was paid for a part of the thing.
 * - `instead`: always means the amount after it.
 * - `aside` (cleaning, delivery): something that is paid in addition, or the offered service itself.
 * - `with` ("plus"): the words after it are not about the amount before it.
 */
export const PRICE_WORDS = compilePhrases<PriceSense>({
  ask: `chez moi | no bajo de | menos no | fica por | ficam por | non scendo sotto | unter geb ich | nicht unter | pas moins de | nao baixo de | niet onder | nie mniej niz | gets it | will get it | get it for | secures it | and it is yours | i'm after | we're after | wir zahlen | nous payons | pagamos | paghiamo | wij betalen | wir bieten | nous offrons | ofrecemos | offriamo | oferecemos | wij bieden | oferujemy | happy with | be happy with | i'm at | im at | we're at | letting it go for | letting them go for | let them go for | let her go for | make that | correction | scratch that | should say | should read | should have said | i meant
    korrektur | soll heissen | statt dessen | zufrieden mit | je voulais dire | correction : | quise decir | correccion | volevo dire | correzione | ribassato: | ribassata: | queria dizer | correcao | correctie | ik bedoel | sprostowanie | u mnie | ours for | mine for | part with it for | part with them for | part with her for | part with him for | yours at | to you for | i say | we say | we start at | starting pay | you give me | you pay | give me | dropped to | dropped today to | dropped it to | cut to | cut it to | now at | knocked down to | i'd take | i'll take | i would take | we'd take | will take | do it for
    off: | percent off: | what i want | bei uns | bei mir | jetzt fur | jetzt nur | runter auf | reduziert auf | gesenkt auf | rabatt: | chez nous | baisse a | passe a | ramene a | maintenant a | remise: | je le laisse pour | a vista | al contado | rebajado a | bajado a | ahora por | lo dejo a | la dejo a | descuento: | ve la portate via | ve lo portate via | ribassato a | sceso a | scesa a | ora a | sconto: | da noi
    baixou para | baixei para | agora por | desconto: | bij ons | mag ie weg | mag hij weg | mag het weg | mogen weg | verlaagd naar | nu voor | korting: | u nas | jest za | teraz za | obnizone na | obnizona na | zejdzie za | rabat: | biore | oddaje za | should like | should want | call it | looking to get | hope to get | hoping to get | takes it home | and it's yours | and its yours | and they're yours
    and you can have it | let it go for | can be yours for | offered at | offered for | up for | shift it for | fp | vb preis | dafur | zu haben fur | gebe ich fur
    gebe ab fur | j'en demande | j'en veux | j'en voudrais | vendu | vendue | vendus | vendues | cede | cedee | je le vends | je la vends | lo vendo | la vendo
    los vendo | y es tuyo | y es tuya | y te lo llevas | y te la llevas | do via a | lo do via a | la do via a | e te lo porti via | e tuo | e teu | e tua | deixo por | faco por
    opbrengen | mag weg voor | weg voor | meenemen voor | puszcze za | sprzedam za | i jest twoj | i jest twoja | i jest twoje | gebruttet | all yours at
    firm | fest | ferme | precio fijo | prezzo fisso | takes it | would like | asking | asking price | ask | price | priced at | price is | selling for | sell for | sale price | looking for | i'd like | i would like
    yours for | rent is | the rent | rate | rates | fee is | my fee | adoption fee | rehoming fee | entry | admission | pay | pays | paying
    we pay | wage | salary | offering | budget | budget of | charge | i charge | preis | festpreis | verkaufspreis | kaufpreis | preisvorstellung
    kostet | miete | kaltmiete | nettomiete | mietpreis | grundmiete | kalt | schutzgebuhr | schutzvertrag | honorar | stundenlohn | stundensatz
    tagessatz | lohn | gehalt | verlange | will noch | bezahlung | verdienst | vergutung | eintritt | abzugeben fur | prix | prix de vente
    je le laisse a | je la laisse a | laisse a | cede a | vends a | loyer | loyer hors charges | tarif | tarifs | je demande | remuneration
    salaire | cotisation | participation | frais d'adoption | precio | pido | vendo por | vendo a | lo dejo en | la dejo en | lo dejo por
    se vende por | alquiler | renta | tarifa | tarifas | cobro | pago | sueldo | salario | presupuesto | cuesta | tasa de adopcion | prezzo
    chiedo | lo vendo a | la vendo a | cedo a | richiesta | affitto | canone | canone di | tariffa | tariffe | compenso | retribuzione | contributo
    preco | peco | valor | valor pedido | aluguel | renda | arrendamento | aluguer | remuneracao | cache | diaria | mensalidade | custa | prijs
    vraagprijs | vaste prijs | richtprijs | huur | huurprijs | kale huur | tarief | vergoeding | salaris | weg voor | kost | kosten per
    adoptiekosten | cena | cena to | cene | czynsz najmu | czynsz | wynajem | stawka | stawki | placimy | place | wynagrodzenie | budzet
    oplata adopcyjna | oddam za | sprzedam za | koszt | want | wants | i want | mochte | orcamento | il costo | costo orario | costo di | costo a
    costs | cost is | down to | reduced to | marked down to | new price is | now asking | entry fee | course fee | membership fee | membership
    tuition | subscription | taxa de adocao | nowa cena | rent: | minimum price | all yours for`,
  negotiable: `obo | o.b.o | o b o | ovno | o.v.n.o | ono | o.n.o | onco | or best offer | or nearest offer | or near offer | or very near offer | best offer
    best offers | negotiable | neg | nego | open to offers | offers considered | make an offer | might move | room to negotiate
    or reasonable offer | vb | vhb | verhandelbar | verhandlungsbasis | preis vb | handelbar | zu verhandeln | negociable | negociables | neg.
    a debattre | debattre | a negociar | escucho ofertas | acepto ofertas | trattabile | trattabili | prezzo trattabile | tratt | tratt.
    discutibile | negociavel | negociaveis | aceito propostas | aceito ofertas | aceita-se propostas | onderhandelbaar | bieden | of bod
    redelijk bod | of redelijk bod | t.e.a.b | n.o.t.k | bespreekbaar | do negocjacji | do malej negocjacji | negocjacji | do uzgodnienia
    lekka negocjacja`,
  deposit: `genossenschaftsanteile | deposit | security deposit | damage deposit | refundable deposit | holding deposit | surety | down payment | kaution | mietkaution | pfand
    anzahlung | genossenschaftsanteil | caution | depot de garantie | acompte | arrhes | fianza | deposito | senal | cauzione | caparra
    deposito cauzionale | acconto | anticipo | caucao | sinal | borg | waarborg | waarborgsom | aanbetaling | kaucja | kaucji | kaucje | zadatek
    zaliczka | depozyt | hold | down | bond | depot | refundable | kaucji zwrotnej`,
  former: `en boutique | in boutique | boutique | in der boutique | launch | at launch | store price | shop price | i gave | gave | set me back | byla za | byl za | bylo za | zahlte | hab bezahlt | listed at | was listed | first listed | originally listed | im geschaft | dans le commerce | en comercio | in commercio | nas lojas | w sklepie dalej | new these | new they | new it cost | it cost | they cost | cost over | cost about | in the shops | in shops | im laden | im handel | en magasin | neuf en magasin
    en tienda | in negozio | na loja | in de winkel | w sklepie | w sklepach | north of | upwards of | spent | ich zahlte | habe bezahlt | mal gekostet | neu gekostet
    payee | achetee | gastado | speso | gasto | uitgegeven | wydalem | wydalam | war | waren | lag bei | galeriepreis | ladenpreis | katalogpreis | listenpreis war | kaufpreis war | preis war | neupreis war | charged me | charged us | well spent | ouch | set me back | cost a fortune | nagelneu kostet | novo custa | nova custa | nuevo cuesta | nueva cuesta | neuf coute | neuve coute | nuovo costa | nuova costa | new costs | new cost | kostet neu | neu kostet
    nieuw kost | nowy kosztuje | nowa kosztuje | new ones cost | new ones are | was | were | new it was | bought | bought for | bought at | paid | i paid | we paid | cost me | cost us | cost new | originally
    original price | rrp | msrp | srp | retail | retail was | retails | retail price | list price | new price | when new | face | face value
    reduced from | down from | new for | sells for | sell new for | worth | valued new | used to be | went for | np
    n.p | neupreis | uvp | listenpreis | ursprunglich | neuwert | gekauft | gekauft fur | bezahlt | gezahlt | gekostet | kostete frueher | fruher | originalpreis | damals | anschaffungspreis | einkaufspreis | ehemals | valeur neuve | valait | vaut | prix neuf
    prix d'origine | prix d'achat | achete | achetee | paye | payee | a l'epoque | ancien prix | coutait | avait coute | costo
    costaba | me costo | nos costo | valia | vale nuevo | precio original | precio nuevo | pvp | comprado | comprada | compre | pague | en tienda
    en vez de | pagato | pagata | pagai | costava | costato | costata | comprato | comprata | acquistato | acquistata | prezzo nuovo
    prezzo originale | prezzo di listino | listino | valore | del valore di | custou | custava | paguei | comprado por
    comprada por | comprei | preco novo | preco original | em loja | valor novo | valor de mercado | nieuwprijs | nieuwwaarde
    gekocht voor | gekocht | kostte | winkelprijs | adviesprijs | betaald | betaalde | kupiony | kupiona | kupione
    kupilem | kupilam | kosztowal | kosztowala | kosztowalo | cena nowego | cena nowej | cena sklepowa | zaplacilem | zaplacilam
    wartosc | warte | warta | wart | valeur | vorher | antes | costo casi | prix magasin | was new | shop price | paid around
    original cost`,
  instead: `instead of | rather than | not the | compared to | anstatt | statt | nicht die | au lieu de | plutot que | contre | en vez de | en lugar de | frente a los
    invece di | invece dei | anziche | contro i | em vez de | em vez dos | ao inves de | ipv | i.p.v | in plaats van | in plaats van de | zamiast`,
  fresh: `new | brand new | neu | nuevo | nueva | neuf | neuve | nuovo | nuova
    novo | nova | nieuw | nowy | nowa | nowe | at the time | a l'epoque`,
  fee: `fee | booking fee | application fee | admin fee | move-in fee | cleaning fee | agency fee | service fee | call-out | call out | callout
    shipping | postage | p&p | delivered for | post it for | i'll post | trip charge | tax | taxes | stamp duty | service charge | ground rent
    council tax | liability | penalty | invoice | receipt for | to replace | would cost | replacement | gebuhr | gebuhren | versand | versandkosten
    porto | lieferkosten | anfahrt | anfahrtspauschale | provision | maklerprovision | courtage | endreinigung | bearbeitungsgebuhr | ablose
    ablosesumme | abloese | abstand | mobelubernahme | rechnung | fahrtkosten | zuschlag | kurtaxe | frais | frais de port | frais de dossier
    frais d'agence | honoraires d'agence | port | expedition | taxe | taxe de sejour | taxe fonciere | facture | supplement | gastos de envio
    envio | portes | comision | honorarios de agencia | impuesto | impuestos | ibi | factura | desplazamiento | suplemento | spedizione
    spese di spedizione | commissione | agenzia | pulizia finale | pulizie finali | tassa | tasse | imu | fattura | supplemento | portes de envio
    frete | taxa | taxas | taxa de | comissao | limpeza | imi | iptu | imposto | fatura | deslocacao | deslocamento | taxa de entrega
    verzendkosten | verzending | verzenden | bezorgkosten | bemiddelingskosten | makelaarskosten | schoonmaakkosten | eindschoonmaak | belasting
    toeristenbelasting | voorrijkosten | factuur | toeslag | wysylka | wysylki | wysylke | przesylka | przesylki | prowizja | prowizji | podatek
    faktura | dojazd | oplata | doplata | agency fees | admin fees | booking fees | application fees | non refundable | non-refundable
    move in fee | deliver for | can deliver | post for | pli | min spend | plus fees | mileage charge | bearbeitung`,
  running: `spesen | slip fee | tolls | site fees | stalling | bills | bills about | utilities | slip | hoa | hoa dues | council tax | water bill | tip share | nk | nebenkosten | bk | betriebskosten
    heizkosten | hausgeld | nk-vorauszahlung | abschlag | trinkgeld | zzgl. nk | charges | provision sur charges | provisions pour charges
    pourboires | electricite | chauffage | copropriete | gastos | gastos de comunidad | comunidad | suministros | propinas | spese
    spese condominiali | condominiali | utenze | bollette | mance | condominio | despesas | luz e agua | gorjetas | servicekosten | gas water licht
    energiekosten | vve | vve-bijdrage | g/w/l | fooien | oplaty | czynsz administracyjny | rachunki | prad | napiwki`,
  warm: `warm | warmmiete | gesamtmiete | bruttomiete | charges comprises | cc | c.c. | all in rent | gastos incluidos
    spese incluse | despesas incluidas`,
  value: `said | their site | others offer | andere zahlen | andere verlangen | verlangt | d'autres | otros cobran | otros pagan | altri chiedono | altri pagano | outros pedem | outros pagam | anderen vragen | anderen betalen | inni | neighbour | most firms | firms charge | agencies charge | most charge | most people | everyone else | trade-in | trade in | would sell at | kbb | says | they say | they ask | elsewhere it | ofrecido | han ofrecido | piden | chiedono | pedem | vragen ze | verlangen die | die meisten | la plupart | la mayoria | la maggior parte | a maioria | de meesten | wiekszosc | guessed | guesses | reckon | the shop | a shop | shops want | shop wants | the dealer | a dealer | dealer wants | dealer offered | dealers want | dealers ask | dealers charge | dealer asks | agents wanted | agent wanted | agents want | the agent | competitor | competitors | competition | pawnbroker | pawn shop | pawnshop | auctioneer | auction house | surveyor | next door | neighbours | the neighbour | neighbor
    farm stand | the county | county has | takings | rumor | rumour | the grocery | webuy | catalogue | catalog | melt is | insurance valuation | receipt | turned down | refused | refuse | lowball | knocked off | bid | someone offered | somebody offered | was bid | others charge | others want | others pay | elsewhere
    handler | handler bot | handler will | der handler | die konkurrenz | konkurrenz | bot | boten | geboten | bietet | angeboten | abgelehnt | michel | katalog | paketriesen | anderswo | woanders | nachbar | antiquar
    brocanteur | antiquaire | concessionnaire | revendeur | le voisin | concurrence | concurrents | ailleurs | propose | proposait | proposaient | offrait | on m'a offert | decline | argus | expertise gratuite
    tasador | chatarrero | concesionario | anticuario | ofrecio | ofrecieron | me ofrecen | ofrecian | rechace | rechazado | la competencia | vecino | en otros sitios
    concessionario | rigattiere | antiquario | perito | offerto | mi hanno offerto | offriva | rifiutato | rifiutati | in allevamento | la concorrenza | altrove | vicino di casa | il negozio
    ofereceram | ofereceu | recusei | stand pede | o stand | concorrencia | vizinho | handelaar | opkoper | taxateur | bood | geweigerd | afgeslagen | concurrent | concurrentie | elders | buurman
    handlarz | komis | lombard | dawal | dawali | dawala | chcial dac | chcieli dac | proponowal | proponowali | odmowilem | odmowilam | konkurencja | sasiad | znajomy sprzedal | rzeczoznawca | offered | sold his for | sold hers for | sold her old one for | sold theirs for | sold ours for | sold one for | sold mine for | guide book | guidebook | guide price
    book price | book value | blue book | catalogue value | lists at | lists | listed at | go for | goes for | go new for | fetch | fetches | reckons | reckoned | valued
    quotes | quoted | was quoted | quoted me | quoted us | quote was | appraised | appraisal | appraised at | survey | surveyed | valued at | valuation | insured for | assessed | rateable value | estimated at
    offered me | offered us | was offered | been offered | shop offered | put her at | put it at | worth of | income | earn | earning | turnover
    revenue | won't find | find a better one | save | saving | sold for | sold at | others ask | geschatzt | schatzwert | gutachten
    versicherungswert | verkehrswert | einkommen | umsatz | estime | estimee | expertise | cote | revenus | tasado | tasada | tasacion | valorado
    valorada | ingresos | stimato | stimata | perizia | reddito | avaliado | avaliada | avaliacao | rendimento | acima dos | abaixo | getaxeerd
    taxatie | taxatiewaarde | woz | woz-waarde | inkomen | wyceniony | wyceniona | wycena | dochod`,
  discount: `discount | discounts | off | rabatt | nachlass | remise | reduction | de reduction | descuento | de descuento | sconto | di sconto | desconto
    de desconto | korting | rabat | rabatu | znizki | gunstiger`,
  extra: `extra | extras | on top | additional | additionally | per extra | surcharge | add-on | aufpreis | zusatzlich | zusatz | en supplement | en sus
    en option | en plus | adicional | adicionales | aparte | in piu | aggiuntivo | a mais | bijkomend | meerprijs | dodatkowo | dodatkowe
    dodatkowa`,
  packet: `total | in total | insgesamt | au total | en total | in totale | no total | in totaal | lacznie | the lot | the pair | for both | both | for all | all for | package | bundle | pack of | block of | all together | zusammen | paket
    alle zusammen | 10er-karte | 10er karte | komplett | le tout | l'ensemble | pour les deux | lot | forfait de | carnet | bono | bono de
    pack de | todo junto | todo | tutto | tutti insieme | pacchetto | pacchetto da | carnet da | pacote | pacote de | tudo | samen | alles samen
    strippenkaart | beide | razem | komplet | pakiet | karnet | calosc`,
  half: `half day | half-day | half a day | 1/2 day | 1/2 tag | halber tag | halbtags | demi-journee | demi journee | medio dia | media jornada
    mezza giornata | meio dia | halve dag | pol dnia | half hour | half an hour | halbe stunde | demi-heure | demi heure | media hora | mezz'ora
    mezza ora | meia hora | half uur | halfuur | pol godziny`,
  each: `each | ea | ea. | apiece | per person | pp | p.p. | a head | per head | per item | per piece | a piece | pro stuck | pro person | das stuck
    stk | chacun | chacune | la piece | l'unite | par personne | cada uno | cada una | c/u | la unidad | por persona | cadauno | cadauna | l'uno
    l'una | al pezzo | a persona | por pessoa | a unidade | por unidade | per stuk | p.st. | p/st | p.p | sztuka | za sztuke | szt | szt.
    za osobe | od osoby | je | cada | stuck | piece`,
  flat: `flat | flat fee | flat rate | fixed fee | for the job | for the project | whole job | all in | pauschal | pauschale | forfait | au forfait
    forfaitaire | precio cerrado | cerrado | a corpo | forfettario | fechado | preco fechado | vaste prijs voor | ryczalt | ryczaltem`,
  today: `now | jetzt | nun | nu | adesso | now only | hier | ahora | ora | agora | teraz | maintenant | today`,
  toward: `for | only | just | take | fur | nur | jetzt | fur nur | pour | por | por solo | por apenas | voor | za | za jedyne | a tan solo | a soli
    seulement | solo | alleen | maar | tylko`,
  aside: `cleaning | linen | insurance | insured | repairs | delivery | reinigung | bettwasche | lieferung | versicherung | reparatur | menage | draps
    livraison | envoi | deplacement | assurance | limpieza | sabanas | entrega | seguro | pulizie | biancheria | trasferta | uscita | assicurazione
    consegna | schoonmaak | beddengoed | bezorging | sprzatanie | posciel | dostawa | dostawy | kurier | parking | stellplatz | strom | maintenance
    electricity | heating | tip | tips | luz | courier | ubezpieczenie`,
  part: `arranjo | conserto | rewired | recovered | reupholstered | rebuilt | overhaul | new felt | erneuert | getauscht | repariert | neue reifen | remplace | remplacee | cambiado | cambiada | sostituito | sostituita | trocado | trocada | vervangen | wymieniony | wymieniona | wymienione | replaced | tune-up | tuned | cleaned | clean | lock | lucchetto | antivol | candado | slot | serwis | beurt | repair | repairs | reparatur | reparation | reparacion | riparazione | reparacao | reparatie | naprawa | naprawe | clutch | tyre | tyres | tires | dpf | exhaust | cambelt | timing belt | brakes | radiator | igniters | in parts | parts cost | new strings | restrung | pads replaced | framed | framing | frame cost | damp course | new boiler | new roof | lift-out | new sails | saddle | strap | voucher | battery | batteries | mot | serviced | service done | last service | microchip | vaccinations
    kupplung | reifen | zahnriemen | bremsen | inspektion | kantenservice | rahmung | hu | tuv neu | akku | stimmung | embrayage | pneus | courroie | revision | encadrement | controle technique | vidange | batterie | accordage
    embrague | neumaticos | ruedas | correa | itv | enmarcado | bateria | pastillas | afinacion | frizione | gomme | cinghia | tagliando | bollo | cornice | revisione | vaccino | vaccini | accordatura | embraiagem | correia | revisao | inspecao | moldura | afinacao | vacinas
    koppeling | banden | distributieriem | apk | inlijsten | achterlamp | accu | onderhoudsbeurt | sprzeglo | opony | rozrzad | strojenie | przeglad | oc | oprawa | akumulator`,
  restated:
    "soit | c'est-a-dire | ossia | ovvero | cioe | o sea | es decir | ou seja | dus | oftewel | czyli | to znaczy | i mean | that is | that's | d.h. | also nur | sprich",
  with: `bills in | bills inc | bills incl | bills included | bills inclusive | bills paid | all bills included | utilities included | utilities incl | plus | and | incl | incl. | including | included | includes | with | on invoice | tax included | without | und | zzgl | zzgl. | zuzuglich | inkl | inkl. | inklusive | ohne
    mit | exkl | excl | excl. | et | hors | avec | sans | y | mas | con | sin | incluido | incluida | incluidos | incluye | e | piu | senza
    compreso | compresa | comprese | incluso | inclusa | com | sem | mais | incluindo | en | met | zonder | exclusief | i | oraz | bez | z | w tym
    + | & | no`,
});

/** Amounts with these senses are never the price. */
export const NEVER_THE_PRICE: ReadonlySet<PriceSense> = new Set([
  "deposit",
  "former",
  "instead",
  "fresh",
  "fee",
  "running",
  "value",
  "discount",
  "extra",
]);

/** Phrases that leave the price open. An amount that is not called the price is then not the price. */
export const PRICE_OPEN = compilePhrases<"open">({
  open: `price on application | price on request | price on asking | poa | p.o.a | sealed bids | highest bid | best bid | say a figure | name a figure | name a price | name your price | suggest a price | make me an offer | make an offer | make us an offer | offers invited | offers please | open to any offer
    preis auf anfrage | preis vs | preis verhandelt | schlagt etwas vor | preisvorschlag | preisvorschlage | macht ein angebot | macht mir ein angebot | gegen gebot | hochstgebot | bitte angebot | angebote bitte
    prix sur demande | faire offre | faites une offre | faites une proposition | faites-moi une offre | prix a definir | prix a convenir | au plus offrant
    precio a convenir | precio a consultar | consultar precio | se escuchan propuestas | se escuchan ofertas | escucho propuestas | haced una oferta | hagan oferta | acepto propuestas
    prezzo da concordare | prezzo da definire | prezzo su richiesta | fate un'offerta | fate una proposta | trattativa riservata | accetto proposte
    preco a combinar | preco sob consulta | valor a combinar | facam proposta | faca uma proposta | aceito propostas | sob consulta
    prijs op aanvraag | prijs overeen te komen | prijs n.o.t.k | doe een bod | doe maar een bod | doe een voorstel | bieden maar | t.e.a.b
    cena do uzgodnienia | cena do ustalenia | cena na zapytanie | prosze o propozycje | czekam na propozycje | zaproponuj cene`,
});

/** Words before an amount that make it a limit (a maximum or a budget) or a lower bound. */
export const BOUNDS = compilePhrases<"limit" | "from">({
  limit: `um die | so um die | mehr als | more than | over | plus de | mas de | piu di | mais de | meer dan | wiecej niz | i can go to | can go to | go to | i'd go to | go up to | would go to | my roof
    roof | grand max | au maximum | sui | sugli | sulle | os | i have | we have | under | max | max. | maximum | up to | at most | no more than | not more than | below | less than | limit | my limit | ceiling | ceiling is
    tops | cap | or less | can stretch to | could stretch to | stretch to | can do | can pay | can spend | spend | hoping for | hopefully | range | price range | around
    about | roughly | approx | approximately | circa | ca | ca. | budget | top | what we've got | not over | not above | got | bis | bis zu
    bis max | maximal | hochstens | unter | nicht mehr als | nicht uber | obergrenze | preisgrenze | grenze | rund | etwa | ungefahr | zahle
    ausgeben | preislich | jusqu'a | maxi | moins de | au plus | pas plus de | environ | autour de | dans les | plafond | inferieur a | a peu pres
    je peux mettre | hasta | maximo | como maximo | como mucho | menos de | no mas de | alrededor de | aproximadamente | unos | unas | presupuesto
    tope | por debajo de | fino a | massimo | al massimo | meno di | non piu di | non oltre | intorno a | intorno ai | sotto i | sotto | entro
    spesa massima | budget massimo | ate | no maximo | nao mais de | nao mais que | cerca de | por volta de | a volta de | uns | orcamento
    abaixo de | teto | tot | tot max | maximaal | hooguit | ten hoogste | minder dan | niet meer dan | onder | onder de | ongeveer | rond | rond de
    hoogstens | do | maks | maksymalnie | najwyzej | ponizej | mniej niz | nie wiecej niz | okolo | ok. | ok | mniej wiecej | budzet | w granicach`,
  from: `from | starting at | starts at | starting from | starting | anywhere from | at least | and up | upwards | minimum | ab | beginnt bei
    mindestens | ab nur | a partir de | a partir d' | des | desde | al menos | minimo | a partire da | da | a partir dos | vanaf | minimaal
    minstens | od | juz od | co najmniej`,
});

/** The period that a price is for. */
export type Period = "hour" | "day" | "week" | "month" | "year";

/** Words before an amount that state its period. */
export const RATES = compilePhrases<Period>({
  hour: `hourly | hourly rate | per hour | stundlich | stundenlohn | stundensatz | pro stunde | taux horaire | tarif horaire | a l'heure | por hora
    la hora | valor hora | all'ora | tariffa oraria | a hora | uurtarief | uurloon | per uur | stawka godzinowa | za godzine`,
  day: `daily rate | day rate | per day | per night | nightly | tagessatz | tagespreis | tagesmiete | pro tag | pro nacht | ubernachtung | tjm
    a la journee | la journee | par jour | la nuit | par nuit | nuitee | por dia | por noche | la noche | al giorno | a notte | diaria | por noite
    a diaria | per dag | per nacht | dagtarief | dagprijs | stawka dzienna | za dobe | za dzien | za noc`,
  week: `weekly | per week | wochenmiete | wochenpreis | pro woche | par semaine | a la semaine | la semaine | por semana | la semana | a settimana
    settimanale | semanal | weekprijs | za tydzien`,
  month: `km | monthly | monthly rent | per month | monatsmiete | kaltmiete | nettokaltmiete | nettomiete | warmmiete | grundmiete | miete | mietpreis
    pro monat | monatlich | loyer | loyer mensuel | par mois | mensuel | alquiler mensual | renta mensual | al mes | por mes | mensualidad | canone
    canone mensile | affitto mensile | al mese | renda | renda mensal | aluguel | mensalidade | huur | huurprijs | kale huur | maandhuur
    per maand | czynsz | czynsz najmu | miesiecznie | za miesiac | rent is | rent of | the rent`,
  year: `yearly | annual | annually | per year | jahrlich | pro jahr | jahresbeitrag | jahrespacht | par an | annuel | al ano | anual | all'anno | annuo
    por ano | per jaar | jaarlijks | rocznie | za rok`,
});

/** Periods directly after an amount, without "per". */
export const PERIODS = compilePhrases<Period>({
  hour: "ph | p.h | p/h | p.u | p/u | hourly | stundlich",
  day: "par jour ttc | pd | p/d | p.d | pn | p/n | p.n | ppn | pppn | daily | nightly | taglich | dziennie | dagelijks",
  week: "pw | p/w | p.w | weekly | wochentlich | semanal | settimanali | tygodniowo | hebdo | wekelijks",
  month: `kalt | warm | nettokalt | hc | cc | c.c | pcm | p.c.m | pm | p/m | p.m | monthly | mtl | mtl. | monatl | monatl. | monatlich | mensuel | mensuels | mensual | mensuales
    mensile | mensili | mensal | mensais | miesiecznie | mies. | mies | msc | maandelijks | calendar month`,
  year: "pa | p.a | p/a | yearly | annually | jahrlich | annuel | annuels | anual | anuales | annui | rocznie | jaarlijks",
});

const UNITS: Readonly<Record<Period, string>> = {
  hour: "h hr hrs hour tim timme stunde std stde arbeitsstunde zeitstunde unterrichtsstunde mannstunde lesuur lekcyjna heure heures hora ora uur godzine godzina godz hs",
  day: "j day days night nite dygn dogn tag nacht ubernachtung jour journee nuit nuitee dia noche giorno notte noite diaria dag etmaal dzien doba dobe noc",
  week: "week wk vecka uge uke woche semaine semana settimana tydzien tyg",
  month: "month mo mth mnth monat maned manad mnd mois mes mese maand mies miesiac mc",
  year: "year yr annum jahr an annee ano anno jaar rok",
};

/** Units of time in the singular, and their periods. */
export const PERIOD_OF_UNIT: ReadonlyMap<string, Period> = new Map(
  (Object.keys(UNITS) as Period[]).flatMap((period) => UNITS[period].split(" ").map((unit) => [unit, period] as const)),
);

/** Words between an amount and its unit of time: "per", "a", "pro", "for the full". */
export const PER = new Set(
  `/ per a an the each every full whole entire calendar for pro je die der den das im am fur ganze ganzen volle par la le l ' al all alla
  por cada el ao o na da voor een de het elke za w one 1 eine einen einer une un una uno first erste ersten premiere primera prima primeira
  eerste pierwsza`.split(/\s+/u),
);

/** Words that may stand before "per": "15 EUR netto/h". */
export const FILLERS = new Set(
  `ex btw vat iva tva mwst ust brutto netto net gross bruto nette warm kalt hc cc ish vb vhb max each pp ttc ht cash fix brut bruts brute nets netos lordi
  lordo netti liquidos limpios gbr na reke approx ca flat cada all in`.split(/\s+/u),
);

/** Words that may follow an amount without a currency. Before any other word, a bare number is a count or a size. */
export const AFTER_BARE = new Set(
  `spese gastos despesas bills fp hc cc ttc ht give even take meenemen ophalen opbrengen dafur firm cash for or and but bc because if with plus incl including shipped posted collected delivered ono obo ovno o neg negotiable each ea all tops max
  maximum limit range vb vhb fest fix und oder inkl bei mit maximal hochstens ferme a et ou avec negociable y e con com negociaveis trattabili of en
  met i lub z do is would will takes gets warm kalt on pcm pw pm ph pp per tax total in only at to`.split(/\s+/u),
);

/** Phrases after a number that make it a maximum: "1500 como mucho", "900 give or take". */
export const CLOSES_CEILING = compilePhrases<"ceiling">({
  ceiling: `max | maxi | maximum | tops | limit | ceiling | roof | or less | or under | or so | or thereabouts | give or take | grand max | au plus | au maximum | como mucho
    como maximo | maximo | al massimo | massimo | no maximo | maximaal | hooguit | maks | maksymalnie | najwyzej | hochstens | maximal | hab ich nicht | hab i net
    is my roof | is my limit | is my max | is my ceiling | is the limit | is what i have | is what we have`,
});

/**
 * Words directly before a number that make it an amount, whatever follows: "statt 279 nur 65 Euro", "asking 55 p.p.".
 */
export const BEFORE_AMOUNT = new Set(
  `loyer alquiler renta affitto canone renda aluguel huur czynsz miete kaltmiete warmmiete km fp chiedo vendo peco pido will vendue vendu cedee
  statt anstatt asking asks want wants paid rrp uvp np neupreis pvp bezahlt gekostet kostete kostet costava costaba costo costaron custava custou
  kostte kostet kost kosztowal kosztowala kosztowalo vraagprijs preis festpreis precio prezzo prix cena price preco pido chiedo peco vraag zamiast
  coutait paye payee pagato pagata pague paguei`.split(/\s+/u),
);

/** Words after a number that show it is not an amount. */
export const MEASURES = new Set(
  `km mi mile miles m m2 qm mq sqm ft sqft cm mm inch inches zoll pouces pollici pulgadas kg g lb lbs gb tb mb mhz ghz hz ps hp cv kw kwh w v ah mah l liter
  litre litres litros litri ml years year jahre ans anos anni jaar lat months monate mois meses mesi maanden miesiecy weeks days hours people personen
  personnes personas persone pessoas osob`.split(/\s+/u),
);

/** Words before a bare number that belongs to a name or is a size, a room or an age. */
export const BEFORE_NAME = new Set(
  `size sizes grosse gr taille talla taglia tamanho maat rozmiar no nr num number nummer zone zones district districts room apt unit floor level
  page ch chapter version model modell type typ mk mark series serie class classe ref lot highway route hwy us eu uk iphone galaxy ps pixel rtx gtx
  ages age aged alter since seit depuis year bj baujahr ez top`.split(/\s+/u),
);
