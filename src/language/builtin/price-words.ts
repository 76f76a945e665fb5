import { compilePhrases } from "./prose.ts";

/** What a text's words say of the amount that they stand at. Those of `NEVER_THE_PRICE` name an amount that is no price. */
export type PriceSense =
  | "ask"
  | "negotiable"
  | "deposit"
  | "former"
  | "fee"
  | "running"
  | "warm"
  | "value"
  | "distance"
  | "discount"
  | "extra"
  | "packet"
  | "half"
  | "limit"
  | "from"
  | "each"
  | "flat"
  | "with"
  | "hour"
  | "day"
  | "week"
  | "month"
  | "year";

export const NEVER_THE_PRICE: ReadonlySet<PriceSense> = new Set([
  "deposit",
  "former",
  "fee",
  "running",
  "value",
  "discount",
  "extra",
]);

export const PRICE_WORDS = compilePhrases<PriceSense>({
  ask: `asking | asking price | ask | price | priced at | price is | selling for | sell for | sale price | looking for | i'd like | i would like | i want | want | wants | yours for | take | now | only | just | rent is | rent | the rent
    rate | rates | fee is | my fee | adoption fee | rehoming fee | entry | admission | pay | pays | paying | we pay | wage | salary | offering | budget | budget of | charge | i charge | cost is | costs | cost
    preis | festpreis | verkaufspreis | kaufpreis | preisvorstellung | vhb | vb | fur nur | nur | kostet | kosten | jetzt | miete | kaltmiete | nettomiete | mietpreis | grundmiete | kalt | schutzgebuhr | schutzvertrag | honorar | stundenlohn | stundensatz | tagessatz | lohn | gehalt | verlange | mochte | will noch | budget | bezahlung | verdienst | vergutung | eintritt | abzugeben fur | fur
    prix | prix de vente | je le laisse a | je la laisse a | laisse a | cede a | vends a | vendu | vendue | loyer | loyer hors charges | tarif | tarifs | demande | je demande | remuneration | salaire | budget | cotisation | participation | frais d'adoption | pour
    precio | pido | vendo por | vendo a | lo dejo en | la dejo en | lo dejo por | se vende por | alquiler | renta | tarifa | tarifas | cobro | pago | sueldo | salario | presupuesto | por solo | cuesta | tasa de adopcion | a tan solo
    prezzo | chiedo | vendo a | lo vendo a | la vendo a | cedo a | richiesta | affitto | canone | canone di | tariffa | tariffe | costo | compenso | retribuzione | budget | contributo | a soli
    preco | peco | vendo por | valor | valor pedido | aluguel | renda | arrendamento | aluguer | tarifa | orcamento | cobro | pago | salario | remuneracao | cache | diaria | mensalidade | custa | por apenas | por
    prijs | vraagprijs | vaste prijs | richtprijs | huur | huurprijs | kale huur | tarief | vergoeding | salaris | budget | weg voor | voor | kost | kosten per | adoptiekosten
    cena | cena to | cene | za jedyne | czynsz najmu | czynsz | wynajem | stawka | stawki | placimy | place | wynagrodzenie | budzet | oplata adopcyjna | oddam za | sprzedam za | koszt | za`,
  negotiable: `obo | o.b.o | o b o | ovno | o.v.n.o | ono | o.n.o | onco | or best offer | or nearest offer | or near offer | or very near offer | best offer | best offers | negotiable | neg | nego | open to offers | offers considered | make an offer | might move | room to negotiate | or reasonable offer
    vb | vhb | verhandelbar | verhandlungsbasis | preis vb | handelbar | zu verhandeln
    negociable | negociables | neg. | a debattre | debattre | negociable | negociables | a negociar | escucho ofertas | acepto ofertas
    trattabile | trattabili | prezzo trattabile | tratt | tratt. | discutibile | negociavel | negociaveis | aceito propostas | aceito ofertas | aceita-se propostas
    onderhandelbaar | bieden | of bod | redelijk bod | of redelijk bod | t.e.a.b | n.o.t.k | bespreekbaar | do negocjacji | do malej negocjacji | negocjacji | do uzgodnienia | lekka negocjacja`,
  deposit: `deposit | security deposit | damage deposit | refundable | refundable deposit | hold | bond | holding deposit | surety | down | down payment | kaution | mietkaution | pfand | anzahlung | sicherheit | genossenschaftsanteil
    caution | depot de garantie | depot | acompte | arrhes | fianza | deposito | senal | cauzione | caparra | deposito cauzionale | acconto | anticipo | caucao | sinal | entrada
    borg | waarborg | waarborgsom | aanbetaling | kaucja | kaucji | kaucje | zadatek | zaliczka | depozyt`,
  former: `was | were | new it was | bought | bought for | bought at | paid | i paid | we paid | cost me | cost us | cost new | originally | original price | rrp | msrp | srp | retail | retail was | retails | retail price | list price | new price | when new | brand new price | face | face value | reduced from | down from | instead of | new for | sells for | sell new for | worth | valued new | used to be | rather than | went for | goes for | going for
    np | n.p | neupreis | uvp | listenpreis | ursprunglich | neu | neuwert | gekauft | gekauft fur | bezahlt | gezahlt | gekostet | kostete | statt | anstatt | frueher | fruher | vorher | originalpreis | damals | anschaffungspreis | einkaufspreis | ehemals
    valeur neuve | valeur | valait | vaut | neuf | neuve | prix neuf | prix d'origine | prix d'achat | achete | achetee | paye | payee | au lieu de | a l'epoque | ancien prix | cout | coutait | avait coute | magasin
    costo | costaba | me costo | nos costo | valia | vale nuevo | precio original | precio nuevo | pvp | comprado | comprada | compre | nuevo | nueva | pague | en tienda | antes | en vez de
    pagato | pagata | pagai | costava | costato | costata | comprato | comprata | acquistato | acquistata | prezzo nuovo | prezzo originale | prezzo di listino | listino | valore | nuovo | nuova | invece di | anziche | del valore di
    custou | custava | paguei | comprado por | comprada por | comprei | preco novo | preco original | pvp | novo | nova | em loja | em vez de | valor novo | valor de mercado
    nieuwprijs | nieuw | nieuwwaarde | gekocht voor | gekocht | kostte | winkelprijs | adviesprijs | betaald | betaalde | ipv | i.p.v | in plaats van | van
    kupiony | kupiona | kupione | kupilem | kupilam | kosztowal | kosztowala | kosztowalo | nowy | nowa | nowe | cena nowego | cena nowej | cena sklepowa | zamiast | zaplacilem | zaplacilam | wartosc | warte | warta | wart`,
  fee: `fee | fees | booking fee | application fee | admin fee | move-in fee | cleaning fee | agency fee | service fee | call-out | call out | callout | shipping | postage | p&p | delivery | delivered for | post it for | i'll post | courier | trip charge | tax | taxes | stamp duty | service charge | ground rent | council tax | cleaning | linen | insurance | insured | liability | fine | penalty | invoice | receipt for | repairs | to replace | would cost | replacement
    gebuhr | gebuhren | versand | versandkosten | porto | lieferung | lieferkosten | anfahrt | anfahrtspauschale | provision | maklerprovision | courtage | endreinigung | reinigung | bettwasche | bearbeitungsgebuhr | ablose | ablosesumme | abloese | abstand | mobelubernahme | rechnung | reparatur | versicherung | fahrtkosten | zuschlag | kurtaxe
    frais | frais de port | frais de dossier | frais d'agence | honoraires d'agence | livraison | port | envoi | expedition | menage | draps | taxe | taxes | taxe de sejour | taxe fonciere | facture | deplacement | assurance | supplement
    gastos de envio | envio | portes | comision | honorarios de agencia | limpieza | sabanas | impuesto | impuestos | ibi | factura | desplazamiento | seguro | suplemento | entrega
    spedizione | spese di spedizione | consegna | commissione | agenzia | pulizie | pulizia finale | pulizie finali | biancheria | tassa | tasse | imu | fattura | trasferta | uscita | assicurazione | supplemento
    portes de envio | frete | taxa | taxas | taxa de | comissao | limpeza | imi | iptu | imposto | fatura | deslocacao | deslocamento | taxa de entrega | seguro | suplemento
    verzendkosten | verzending | verzenden | bezorging | bezorgkosten | bemiddelingskosten | makelaarskosten | schoonmaak | schoonmaakkosten | eindschoonmaak | beddengoed | belasting | toeristenbelasting | voorrijkosten | factuur | toeslag
    wysylka | wysylki | wysylke | przesylka | przesylki | dostawa | dostawy | kurier | prowizja | prowizji | sprzatanie | posciel | podatek | faktura | dojazd | oplata | ubezpieczenie | doplata`,
  running: `bills | bills about | utilities | slip | hoa | hoa dues | council tax | electricity | heating | water bill | maintenance | tip | tips | tip share | parking
    nk | nebenkosten | bk | betriebskosten | heizkosten | hausgeld | nk-vorauszahlung | strom | abschlag | stellplatz | trinkgeld | zzgl. nk
    charges | provision sur charges | provisions pour charges | pourboires | electricite | chauffage | copropriete | gastos | gastos de comunidad | comunidad | suministros | luz | propinas | spese | spese condominiali | condominiali | utenze | bollette | mance
    condominio | despesas | luz e agua | gorjetas | servicekosten | gas water licht | energiekosten | vve | vve-bijdrage | g/w/l | fooien | oplaty | media | czynsz administracyjny | rachunki | prad | napiwki`,
  warm: "warm | warmmiete | gesamtmiete | bruttomiete | charges comprises | cc | c.c. | all in rent | inclusief | incl. | gastos incluidos | spese incluse | despesas incluidas",
  value: `appraised | appraisal | appraised at | survey | surveyed | valued at | valuation | insured for | assessed | rateable value | estimated at | offered me | offered us | was offered | been offered | shop offered | put her at | put it at | worth of | income | earn | earning | turnover | revenue | won't find | find a better one | save | saving | sold for | sold at | others ask
    geschatzt | schatzwert | gutachten | versicherungswert | verkehrswert | einkommen | umsatz | estime | estimee | expertise | cote | revenus | tasado | tasada | tasacion | valorado | valorada | ingresos | stimato | stimata | perizia | reddito | avaliado | avaliada | avaliacao | rendimento | acima dos | abaixo
    getaxeerd | taxatie | taxatiewaarde | woz | woz-waarde | inkomen | wyceniony | wyceniona | wycena | dochod`,
  distance:
    "mile | miles | mi | km | kilometer | kilometre | kilometres | kilometers | kms | chilometro | quilometro | kilometr",
  discount:
    "discount | discounts | off | rabatt | nachlass | remise | reduction | de reduction | descuento | de descuento | sconto | di sconto | desconto | de desconto | korting | rabat | rabatu | znizki | gunstiger",
  extra: `extra | extras | on top | additional | additionally | per extra | surcharge | supplement | add-on | optional | aufpreis | zusatzlich | zusatz | optional | en supplement | en sus | en option | en plus | adicional | adicionales | aparte | in piu | aggiuntivo | a parte | adicional | a mais | a parte | bijkomend | meerprijs | dodatkowo | dodatkowe | dodatkowa`,
  packet:
    "the lot | the pair | for both | both | for all | all for | package | bundle | pack of | block of | all together | zusammen | paket | alle zusammen | 10er-karte | 10er karte | komplett | le tout | l'ensemble | pour les deux | lot | forfait de | carnet | bono | bono de | pack de | todo junto | todo | tutto | tutti insieme | pacchetto | pacchetto da | carnet da | pacote | pacote de | tudo | samen | alles samen | strippenkaart | beide | razem | komplet | pakiet | karnet | calosc",
  half: "half day | half-day | half a day | 1/2 day | 1/2 tag | halber tag | halbtags | demi-journee | demi journee | medio dia | media jornada | mezza giornata | meio dia | halve dag | pol dnia | half hour | half an hour | halbe stunde | demi-heure | demi heure | media hora | mezz'ora | mezza ora | meia hora | half uur | halfuur | pol godziny",
  limit: `under | max | max. | maximum | up to | at most | no more than | not more than | below | less than | limit | my limit | ceiling | ceiling is | tops | cap | or less | can stretch to | could stretch to | stretch to | can do | can pay | can spend | spend | hoping for | hopefully | around | about | roughly | approx | approximately | circa | ca | ca. | budget | top | what we've got | not over | not above | got
    bis | bis zu | bis max | maximal | hochstens | unter | nicht mehr als | nicht uber | obergrenze | preisgrenze | grenze | limit | rund | etwa | ungefahr | zahle | ausgeben | preislich
    jusqu'a | maxi | maximum | max | moins de | au plus | pas plus de | environ | autour de | dans les | plafond | inferieur a | a peu pres | je peux mettre
    hasta | maximo | como maximo | como mucho | menos de | no mas de | alrededor de | aproximadamente | unos | unas | presupuesto | tope | por debajo de
    fino a | massimo | al massimo | max | meno di | non piu di | non oltre | intorno a | intorno ai | circa | sotto i | sotto | entro | spesa massima | budget massimo
    ate | no maximo | maximo | menos de | nao mais de | nao mais que | cerca de | por volta de | a volta de | uns | orcamento | abaixo de | teto
    tot | tot max | maximaal | hooguit | ten hoogste | minder dan | niet meer dan | onder | onder de | ongeveer | rond | rond de | circa | hoogstens
    do | maks | maksymalnie | max | najwyzej | ponizej | mniej niz | nie wiecej niz | okolo | ok. | ok | mniej wiecej | budzet | limit | w granicach`,
  from: "from | starting at | starts at | starting from | starting | anywhere from | at least | and up | upwards | minimum | ab | beginnt bei | mindestens | ab nur | a partir de | a partir d' | des | desde | a partir de | al menos | minimo | a partire da | da | a partir dos | vanaf | minimaal | minstens | od | juz od | co najmniej",
  each: "each | ea | ea. | apiece | per person | pp | p.p. | a head | per head | per item | per piece | a piece | je | pro stuck | pro person | das stuck | stuck | stk | chacun | chacune | piece | la piece | l'unite | par personne | cada uno | cada una | c/u | la unidad | por persona | cadauno | cadauna | l'uno | l'una | al pezzo | a persona | cada | por pessoa | a unidade | por unidade | per stuk | p.st. | p/st | p.p | sztuka | za sztuke | szt | szt. | za osobe | od osoby",
  flat: "flat | flat fee | flat rate | fixed fee | for the job | for the project | whole job | all in | pauschal | pauschale | forfait | au forfait | forfaitaire | precio cerrado | cerrado | a corpo | forfettario | fechado | preco fechado | vaste prijs voor | ryczalt | ryczaltem",
  with: "plus | and | incl | incl. | including | included | includes | with | without | no | und | zzgl | zzgl. | zuzuglich | inkl | inkl. | inklusive | ohne | mit | exkl | excl | excl. | et | hors | avec | sans | y | mas | con | sin | incluido | incluida | incluidos | incluye | e | piu | senza | compreso | compresa | comprese | incluso | inclusa | com | sem | mais | incluindo | en | met | zonder | exclusief | i | oraz | bez | z | w tym | plus | zero | free",
  hour: "hourly | hourly rate | per hour | stundlich | stundenlohn | stundensatz | pro stunde | taux horaire | tarif horaire | a l'heure | por hora | la hora | valor hora | all'ora | tariffa oraria | a hora | uurtarief | uurloon | per uur | stawka godzinowa | za godzine",
  day: "daily rate | day rate | per day | per night | nightly | tagessatz | tagespreis | tagesmiete | pro tag | pro nacht | ubernachtung | tjm | a la journee | la journee | par jour | la nuit | par nuit | nuitee | por dia | por noche | la noche | al giorno | a notte | diaria | por noite | a diaria | per dag | per nacht | dagtarief | dagprijs | stawka dzienna | za dobe | za dzien | za noc",
  week: "weekly | per week | wochenmiete | wochenpreis | pro woche | par semaine | a la semaine | la semaine | por semana | la semana | a settimana | settimanale | por semana | semanal | per week | weekprijs | za tydzien",
  month:
    "monthly | monthly rent | per month | monatsmiete | kaltmiete | nettokaltmiete | nettomiete | warmmiete | grundmiete | miete | mietpreis | pro monat | monatlich | loyer | loyer mensuel | par mois | mensuel | alquiler mensual | renta mensual | al mes | por mes | mensualidad | canone | canone mensile | affitto mensile | al mese | renda | renda mensal | aluguel | por mes | mensalidade | huur | huurprijs | kale huur | maandhuur | per maand | czynsz | czynsz najmu | miesiecznie | za miesiac | rent is | rent of | the rent",
  year: "yearly | annual | annually | per year | jahrlich | pro jahr | jahresbeitrag | jahrespacht | par an | annuel | al ano | anual | all'anno | annuo | por ano | per jaar | jaarlijks | rocznie | za rok",
});
