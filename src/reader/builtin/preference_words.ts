import { compilePhrases } from "../text/phrases.ts";

/**
 * What a word says about a way of contact.
 *
 * Praise: `way` announces the best way ("best way", "first port of call"); `best` praises what stands before it ("is
 * best", "suits better"); `prefer` what stands nearest; `first` states an order; `swift` promises a quick answer.
 * Reservation: `slow` warns of a late answer; `fallback` says when to use the way at all; `avoid` and `than` say what
 * not to use.
 * `kin` together with `answers` says that another person answers.
 */
export type PreferenceSense =
  | "way"
  | "best"
  | "bare"
  | "prefer"
  | "soft"
  | "first"
  | "swift"
  | "slow"
  | "fallback"
  | "avoid"
  | "than"
  | "good"
  | "poor"
  | "condition"
  | "concede"
  | "turn"
  | "may"
  | "please"
  | "deny"
  | "kin"
  | "answers"
  | "call"
  | "whatsapp"
  | "sms"
  | "mail"
  | "link"
  | "written";

/** The words that prefer one contact to another. */
export const PREFERENCE_WORDS = compilePhrases<PreferenceSense>({
  way: `option a | main contact | primary contact | order of preference | order of my | in order of | in der reihenfolge | par ordre de | por orden de | in ordine di | por ordem de | in volgorde van | w kolejnosci | erste option | option 1 | plan a | hauptkontakt | best way | best ways | easiest way | quickest way | fastest way | simplest way | surest way | preferred way | preferred method | preferred contact | best bet | surest bet | safest bet | best option | best number | best contact
    best place | best odds | better odds | best chance | better chance | best luck | better luck | port of call | quickest route | easiest route | fastest route | best route | reach me best | best reached | best by | best to | easiest to reach | easiest by | quickest by | if it's all the same to you | if its all the same to you | your best shot | make it
    best method | easiest method | surest thing | surest route | way to go | nearest thing to instant | contact of choice | method of choice | channel of choice
    bester weg | beste weg | der beste weg | schnellste weg | schnellster weg | einfachste weg | einfachster weg | sicherste weg | erste adresse | am besten erreichbar | am besten zu erreichen | am schnellsten erreich* | am leichtesten | am einfachsten | am sichersten | erste wahl
    le meilleur moyen | meilleur moyen | moyen le plus | le plus simple | le plus sur | le plus rapide | le plus pratique | le plus efficace | le mieux | voie la plus | premier reflexe
    la mejor forma | la mejor manera | mejor forma | mejor manera | mejor via | la forma mas | la manera mas | via mas | el modo mas | lo mas rapido | lo mas facil | lo mas comodo | lo mas seguro | lo mejor | lo suyo es
    il modo piu | il modo migliore | modo migliore | la via piu | il mezzo piu | il piu comodo | la cosa migliore | la cosa piu | il miglior modo | miglior modo | il canale
    a melhor forma | a melhor maneira | melhor forma | melhor maneira | o melhor e | melhor jeito | o jeito mais | o meio mais | a forma mais | a maneira mais | o mais rapido | o mais facil | o mais pratico | o caminho mais
    beste manier | de snelste weg | snelste manier | makkelijkste manier | handigste manier | het beste | het makkelijkst* | het snelst* | het handigst* | het zekerst* | beste is | snelste is | makkelijkste is
    najlepszy sposob | najszybszy sposob | najprostszy sposob | najlatwiejszy sposob | najlepsza droga | najszybsza droga | najpewniejszy | najpewniej | najlatwiej | najprosciej | najwygodniej | najszybciej | najlepiej`,
  best: `preferred to | always quicker | always faster | easiest | quickest | fastest | surest | simplest | favourite | favorite | our favourite | is king | are king | rules | quicker | faster | easier | handier | surer | safer | kinder | simpler | nicer | beats | beats everything | wins | works better | work better
    works best | work best | suits better | suits far better | suits best | suits me | suits us | is ideal | would be ideal | what i like | what we like | how i like it | how we like it | i like best | like it best | is preferred | are preferred | preferred | strongly preferred | much preferred | more reliable | most reliable
    better idea | a better idea | far better | much better | way better | by far | the one to use | the one to try | gets priority | get priority | get first dibs | gets first dibs | first dibs | go to the top | goes to the top | top of the pile | to the front | jump the queue | jumps the queue | is my thing | is our thing | is more my thing | is the thing | do the trick | does the trick | is where i live | where i live | where everything happens | where it all happens
    for the quickest reply | for a quick reply | for a quick answer | for a fast reply | for the fastest reply | for the quickest answer | is the safest | is the way | are the way | would be lovely | is appreciated | welcome most | is kindest
    ist mir lieber | sind mir lieber | war mir lieber | ware mir lieber | mir lieber | mein favorit | favorit | bevorzugt | ist besser | geht besser | klappt besser | klappt am besten | geht am besten | ist am besten | besser | passt besser | passt mir besser | schneller | geht schneller | geht am schnellsten | einfacher | praktischer | zuverlassiger | angenehmer | ideal | hat vorrang | vorrang | wird bevorzugt | fur eine schnelle antwort | bin ich am
    c'est mieux | est mieux | vaut mieux | mieux | c'est le mieux | plus rapide | plus pratique | plus simple | plus sur | plus efficace | m'arrange | nous arrange | m'arrange mieux | ma preference | a ma preference | a notre preference | est prioritaire | prioritaires | prioritaire | en priorite | est ideal | l'ideal | c'est l'ideal | pour une reponse rapide | c'est regle | et c'est regle | est preferable | preferable | marche mieux
    es mejor | va mejor | me va mejor | me viene mejor | nos viene mejor | mejor | mas rapido | mas facil | mas comodo | es lo mejor | lo ideal | es lo ideal | ideal | con prioridad | tiene prioridad | tienen prioridad | contesto mas rapido | respondo mas rapido | respondo antes | contesto antes | mi favorito | para respuesta rapida | es preferible | preferible | funciona mejor
    e meglio | meglio | va meglio | e la cosa migliore | piu veloce | piu comodo | piu rapido | piu pratico | rispondo prima | e l'ideale | l'ideale | e preferibile | preferibile | ha la precedenza | la precedenza | hanno la precedenza | per una risposta veloce | funziona meglio | mi viene meglio | il mio preferito
    e melhor | melhor | mais rapido | mais facil | mais pratico | mais garantido | respondo mais rapido | o ideal e | e o ideal | tem prioridade | tem preferencia | e preferivel | preferivel | da-me mais jeito | mais jeito | funciona melhor | para resposta rapida | e mais certo
    is beter | werkt beter | werkt het beste | werkt het best | is het beste | beter | fijner | is fijner | handiger | sneller | gaat sneller | gaat het snelst | makkelijker | prettiger | heeft voorrang | voorrang | heeft mijn voorkeur | mijn voorkeur | is ideaal | ideaal | verreweg | voor een snel antwoord | komt beter uit
    jest lepszy | jest lepsza | lepiej | lepszy | lepsza | lepsze | szybciej | latwiej | wygodniej | wygodniejszy | pewniejszy | pewniej | ma pierwszenstwo | pierwszenstwo | jest najlepszy | dziala lepiej | dziala najlepiej | mile widzian* | najszybciej odpisze | preferowany | preferowana | preferowane`,
  /** Superlatives and comparatives of no particular quality. */
  bare: "best | better",
  prefer: `obliged if | grateful if | appreciate it if | appreciate if | lovely if | great if | love it if | pleased if | happier if | easier if | better if | simpler if | nicer if | quicker if | dankbar wenn | dankbar fur | nett wenn | schon wenn | freuen uns uber | freue mich uber | passez plutot | passez par | gentil de | merci de passer | plutot le | plutot un | agradeceria que | agradecemos que | mejor si | meglio se mi | gentile se | sarei grat* | agradeco que | seria otimo | fijn als | fijner als | graag via | graag per | milo mi bedzie | bede wdzieczn* | lepiej na | lepiej przez | please do | do email | do ring | do call | do text | prefer | preferably | preference | my preference | i'd prefer | would prefer | i'd rather | would rather | rather | much rather | sooner | much sooner | i'd sooner | would sooner | ideally | for preference | by preference | by choice | favour | favor | we ask that you | please stick to | stick to | stick with | lean towards | lean on | partial to | privately
    by all means | please more | plump for | go for the | always try | always use | please always | do use | please do use | i'm a | kindly use | kindly direct | if at all possible | honestly hit | just use | old fashioned
    am liebsten | lieber | vorzugsweise | bevorzuge | bevorzugen | bevorzugt per | bevorzugt uber | bevorzugt via | am besten | vorrangig | mochte lieber | hatte lieber | hatte gern | nach moglichkeit | wenn moglich | am schnellsten | idealerweise | eher
    de preference | preference | je prefere | nous preferons | prefere | preferons | prefererais | prefererait | prefererions | plutot | plutot par | si possible par | si possible | idealement | privilegiez | privilegier | merci de privilegier | on privilegie | je privilegie | de loin
    preferiblemente | preferentemente | prefiero | preferimos | preferiria | prefieren | de preferencia | preferencia | a ser posible | si puede ser | si es posible | mejor por | mejor un | mejor una | mejor al | mejor a | idealmente | mas bien | prioriza
    preferibilmente | preferisco | preferiamo | preferirei | preferiremmo | di preferenza | preferenza | piuttosto | possibilmente | se possibile | idealmente | meglio un | meglio una | meglio per | meglio via | meglio al | meglio se | prediligo | preferite
    preferencialmente | de preferencia | da preferencia | dar preferencia | damos preferencia | dou preferencia | prefiro | preferimos | preferia | se possivel | se puder | melhor por | melhor pelo | melhor pela | idealmente
    bij voorkeur | liefst | het liefst | liever | voorkeur | heb liever | graag eerst | het liefste | idealiter | indien mogelijk | als het kan
    wole | wolimy | wolalbym | wolalabym | preferuje | preferujemy | najchetniej | raczej | o ile mozliwe | jesli mozna | idealnie | prosze raczej`,
  /** Courtesies. They refer to a way only if the clause ends after them. */
  soft: "if possible | if you can | if you could | where possible | when possible | wherever possible",
  first: `first | first please | first of all | firstly | at first | initially | in the first instance | in the first place | before anything else | before anything | before all else | to start with | to begin with | first try | try first | foremost | first choice | number one | above all
    zuerst | zunachst | als erstes | als erster | an erster stelle | in erster linie | vor allem | erstmal | zuallererst
    d'abord | tout d'abord | en premier | en premier lieu | avant tout | avant toute chose | premierement | au premier chef
    primero | en primer lugar | ante todo | antes que nada | en primera instancia | sobre todo
    anzitutto | innanzitutto | prima di tutto | per prima cosa | in primo luogo | in prima battuta | soprattutto
    primeiro | em primeiro lugar | antes de mais | antes de mais nada | antes de tudo | sobretudo
    eerst | als eerste | allereerst | in eerste instantie | in de eerste plaats | vooral
    najpierw | w pierwszej kolejnosci | przede wszystkim | po pierwsze | na poczatek | glownie`,
  swift: `in minutes | within minutes | in no time | in a flash | in a jiffy | within the hour | within an hour | inside the hour | straight away | straightaway | right away | at once | on the spot | there and then | then and there | immediately | instantly | instant reply | instant | promptly | always answered | always answer | i always see | always on me | always in my pocket | always on | all day long | you get me | gets you me | gets me | you'll get me | reaches me | get hold of me | same day | any hour | day or night | any time of day | swift reply
    never far from | never off it | i see it | i see those | i see them | i'm glued to | glued to | live on it | on it all day | sees it first | gets a faster answer | gets the fastest answer | gets an answer | gets you an answer | gets a reply | gets seen | get seen | get read | gets read | get answered | gets answered | checked hourly | checked all day | answered fast | reply fast | quick to answer | hear your voice | get a human | read at once
    sofort | umgehend | in minuten | binnen minuten | auf der stelle | gleich eine antwort | antworte ich gleich | sehe ich sofort | immer dabei | immer erreichbar | immer griffbereit | ruckzuck | blitzschnell | antworte sofort | rund um die uhr
    tout de suite | dans la minute | dans l'heure | immediatement | aussitot | sur-le-champ | illico | toujours sur moi | je reponds vite | reponse immediate | reponds toujours | dans la foulee
    al instante | al momento | enseguida | en seguida | al toque | en el acto | de inmediato | inmediatamente | en minutos | a cualquier hora | contesto siempre | siempre contesto | lo miro siempre | al tiro | en un momento
    subito | all'istante | in pochi minuti | immediatamente | sempre con me | rispondo sempre | in giornata | in un attimo | al volo
    na hora | num instante | logo | imediatamente | de imediato | em minutos | respondo sempre | sempre comigo | no mesmo dia | na mesma hora
    meteen | direct antwoord | onmiddellijk | binnen een uur | binnen het uur | binnen vijf minuten | altijd bij me | altijd bij de hand | per ommegaande | zo antwoord | direct reactie
    od razu | natychmiast | od reki | blyskawicznie | w kilka minut | w minute | zawsze przy sobie | zawsze pod reka | zawsze odbieram | zawsze odpisuje`,
  slow: `eventually | occasionally | infrequently | sporadic | most days off | every so often | once a week | twice a week | once a month | weekly | monthly | every few days | every other day | now and then | now and again | once in a while | once in a blue moon | blue moon | from time to time | rarely | seldom | hardly ever | hardly | barely | sporadically | takes a while | takes days | takes ages | takes longer | takes a day | take longer | take a while | take days | take ages | pile up | piles up | piling up | pile-up | bottom of the heap | bottom of the pile | slow | slower | slowly | a slow one | forgotten | forget to | muted | ignored | hit and miss | hit or miss | patchy | chancy | unreliable | flaky | gets lost | get lost | goes unread | go unread | unread | goes to spam | spam folder | junk folder | mangles | can't hear | cannot hear | cant hear | don't hear | never hear | won't hear
    hopeless | useless with | not so good | no good at | not good at | not great at | bad at | terrible at | rubbish at | wait a day | may wait | might wait | can wait | sits there | sit there | sits for | sit for | languish* | gather dust | gathers dust | collect dust | charges me | costs me | when i remember | when he remembers | when she remembers | when i get round | works too but | is okay but | is ok but | are okay but | are ok but | is fine but | frowns | asleep | at weekends only | on sundays | come sunday | till sunday | until sunday | by monday | answering service | answering machine | rings out | goes dead | no signal | poor signal | bad signal | reception is | signal is | keeps dropping | lose track | loses track | days later | a day or two | few days | no promises | not often | isn't checked | is not checked | isn't read | don't check | rarely look | don't look | don't see | poor relation
    dauert | dauert langer | dauert etwas | langsam | langsamer | selten | kaum | ab und zu | gelegentlich | einmal die woche | alle paar tage | ungern | nicht oft | nicht so oft | nicht immer | bleibt liegen | bleiben liegen | liegen bleiben | geht unter | gehen unter | meist aus | meistens aus | hore ich nicht | hor ich nicht | nicht gern | unzuverlassig | vergesse | kein empfang | schlechter empfang | im spam | spamordner | wochentlich | irgendwann
    rarement | lent | lentement | de temps en temps | une fois par semaine | une fois par mois | tous les trois jours | traine | trainent | met du temps | prend du temps | quand il y pense | quand j'y pense | quand elle y pense | je capte mal | capte mal | capte pas | pas souvent | guere | parfois | dans les spams | indesirables | surtout celui de | finit par | les mains dans | plus lent | oublie
    casi nunca | rara vez | de vez en cuando | una vez a la semana | una vez por semana | cada semana | tarda | tardo | tardamos | lento | lenta | me lio | no oigo | no lo oigo | poca cobertura | sin cobertura | se me pasa | se me pasan | pocas veces | a veces | de pascuas a ramos | cuando me acuerdo | se pierde | se pierden | casi no | me olvido
    raramente | di rado | ogni tanto | una volta a settimana | una volta alla settimana | lento | lenta | quasi mai | ci metto | ci mette | poco campo | non prende | non sento | di tanto in tanto | quando capita | quando mi ricordo | la domenica | dimentico | finisce nello spam | un po' sorda | un po' sordo
    raramente | quase nunca | de vez em quando | uma vez por semana | demora | demoro | demora mais | lento | lenta | so la para | de letras pouco | nem sempre | as vezes | quando me lembro | vai para o spam | sem rede | pouca rede | nao oico | nao ouco | fica esquecid* | esqueco
    zelden | af en toe | nu en dan | een keer per week | eens per week | wekelijks | langzaam | traag | trager | blijft liggen | blijft nogal | blijven liggen | blijft wel eens | duurt | duurt langer | duurt even | hoor ik niet | nauwelijks | niet vaak | soms | vergeet | slecht bereik | geen bereik | in de spam | meestal uit
    rzadko | czasem | czasami | od czasu do czasu | raz w tygodniu | raz na tydzien | co kilka dni | wolno | wolniej | dluzej | trwa | zdarza mi sie przeoczyc | ledwo | prawie nigdy | odbieram dopiero | zagladam rzadko | nie zawsze | gubi | gubia sie | slaby zasieg | bez zasiegu | nie slysze | zapominam | od swieta`,
  fallback: `in which case | in case of difficulty | in case of trouble | draws a blank | draw a blank | for the desperate | for the patient | for the brave | for the shy | for completeness | second line | plan c | wenn's gar nicht | wenn gar nicht | wenn nichts | fur geduldige | fur notfalle | pour les patients | pour les urgences | para emergencias | para los pacientes | para valientes | para os timidos | para os pacientes | para emergencias | per i pazienti | per le emergenze | voor noodgevallen | voor de geduldigen | dla cierpliwych | dla niesmialych | dla upartych | dla odwaznych | en su defecto | option b | secondary | if you must | if you really must | if you absolutely must | unless you have to | unless ye have to | if you have to | if you've got to | if need be | if needs be | if needed | if necessary | if you can't | if you cant | if you cannot | if you really can't | if you're not on it | if ye're no on it | if that fails | if that doesn't work | if all else fails | all else fails | failing that | failing which | or failing | if not | otherwise | last resort | a last resort | as a last resort | as backup | as a backup | backup | back-up | as a fallback | fallback | plan b | at a pinch | in a pinch | at a push | at a stretch | only if | only when | only in | only for | for emergencies | emergencies | emergency | in emergencies | if it's urgent | if its urgent | if urgent | urgent only | for urgent matters | when urgent | urgencies | pressing | desperate | stuck | stuck for | no luck | no joy | no answer | no reply | if no answer | if i don't answer | if i don't reply | if we don't answer | acts up | plays up | is down | is playing up | breaks | if lost | running late | reserved for | strictly for | kept for | keep for | second choice | second best | second:
    cannot deal with | form cannot | on the day only | for the day of | if nobody answers | should that fail | should you be | should the | not on whatsapp | don't have whatsapp | without whatsapp | don't do email | not online
    notfalls | zur not | im notfall | in notfallen | notfall | nur wenn | nur falls | nur im | falls nicht | falls das nicht | wenn's brennt | wenn es brennt | wenn es sein muss | wenn's sein muss | wenns sein muss | sonst | ansonsten | ausnahmsweise | ersatzweise | nur in | wenn es eilt | wenn's eilt | in dringenden fallen | als letztes | zweite wahl | wenn gar nichts | wenn alle stricke | geht notfalls | nur fur
    sinon | a defaut | en cas d'urgence | en dernier recours | dernier recours | au pire | en depannage | uniquement si | uniquement pour | seulement si | seulement pour | que si | si vraiment | si besoin | en cas de besoin | s'il le faut | faute de mieux | a la rigueur | reserve aux | reserve a
    si no | en su defecto | solo si | solo para | unicamente para | unicamente si | en ultimo caso | ultimo recurso | como ultimo | si no queda | si es urgente | si corre prisa | si acaso | a las malas | en todo caso | si no contesto | si hace falta | si no hay
    altrimenti | senno | solo se | soltanto se | solo per | soltanto per | urgenze | urgenza | in extremis | se proprio | se necessario | se serve | al limite | come ultima | ultima spiaggia | se non rispondo | mal che vada
    senao | so se | so para | apenas para | apenas se | em ultimo caso | ultimo recurso | se nao der | se nao houver | se for urgente | se precisar | se tiver mesmo | se nao atender | na falta
    desnoods | anders | alleen als | alleen bij | alleen voor | in noodgevallen | noodgeval | noodgevallen | bij nood | als het echt moet | als het moet | als het niet lukt | lukt dat niet | lukt het niet | bij spoed | spoed | als het dringend | bij hoge nood | als laatste redmiddel
    w ostatecznosci | tylko jesli | tylko gdy | tylko jak | tylko w | tylko do | w naglych | nagle przypadki | awaryjnie | jesli trzeba | jak trzeba | w przypadku | inaczej | jesli nie | jak nie | gdyby nie | gdyby cos | na upartego`,
  avoid: `rather than | instead of | as opposed to | over a | avoid | please avoid | don't bother | do not bother | divvent bother | bother | don't like | dislike | not keen on | not a fan of | hate | can't stand | dread | don't care for | please don't | allergic to | not fond of | no fan of
    anstatt | statt | ungern | vermeide* | mag ich nicht | nicht so gern | statt anruf | eviter | evitez | evite | au lieu de | plutot que | plutot que de | deteste | pas fan | en lugar de | en vez de | antes que | evitar | eviten | odio | invece di | piuttosto che | evitate | evitare | odio | detesto | em vez de | evitem | detesto | ao inves de
    in plaats van | niet zo dol op | heb een hekel aan | liever niet | zamiast | unikam | nie lubie | nie przepadam`,
  than: "than | > | als | wie | que | dan | niz | anziche | do que | che | over",
  good: `attention | monitored | all day | day and night | every morning | each morning | first thing | hauptkanal | haupt* | jeden tag | jede stunde | taglich | tous les jours | tous les matins | chaque jour | toutes les heures | cada hora | cada dia | todos los dias | a diario | ogni ora | ogni giorno | tutti i giorni | todos os dias | a toda a hora | elke dag | elk uur | dagelijks | codziennie | co godzine | na biezaco | enjoy | actually | really | truly | every hour | every day | hourly | daily | pops up | pop up | answered | wherever you can | whenever you like | unless | straightforward | the one | on sight | faithfully | fingertips | live in | never sleeps | be answered | kettle | blink | wink | jiffy | todo por | sin miedo | oddzwaniam | oddzwonie | call back | ring back | ring you back | rufe zuruck | rappelle | devuelvo | richiamo | ligo de volta | bel terug | selben tag | meme jour | mismo dia | giornata | mesmo dia | zelfde dag | tego samego dnia | davantage | convient | passt immer | ziemlich sicher | always | love* | glad* | happy | happiest | happily | welcome* | promptly | prompt | priority | reliable | dependable | guaranteed | sure | certain | convenient | comfortable | comfiest | awake | pocket | perfect | main | primary | default | go-to | recommended | recommend | suits | suit | grateful | appreciate* | minutes | seconds | soonest | pronto | chirp* | ping | pings | winner | gold | golden
    straight to | direct line | hotline | vote | choose | chosen | handy | handiest | simple | painless | smooth* | lively | speed* | swift* | rapid* | responsive | attentive | to hand | hear you | hear from you | delighted | pleasure | cheerful* | fond | prefers | prefered | prioriti* | shortcut | earlier | soon
    schnellst* | schnell | flott | prompt | einfachst* | leichter | leichtest* | bequem* | zuverlassig* | sicher | sicherst* | liebst* | freue | freut | stets | immer | jederzeit | minuten | sekunden | gern | gerne | perfekt | optimal | vorzieh* | hauptsachlich | unkompliziert* | erreicht ihr mich | erreichen sie mich
    vite | rapide | rapidement | toujours | ravi* | content* | volontiers | minutes | secondes | facile | facilement | efficace | fiable | sur de | a coup sur | pratique | commode | adore | aime | idealement | parfait | prioritair* | privilegi* | reactif | reactive
    rapido | rapidisimo | siempre | encantad* | facil | facilmente | fiable | seguro | comodo | minutos | segundos | gustosamente | perfecto | encanta | gusta | agradezco | agradecemos | agradeceria | volando | pronto | atiendo | prioridad
    rapido | veloce | velocemente | sempre | volentieri | comodo | comodissimo | facile | sicuro | affidabile | minuti | secondi | perfetto | gradita | gradito | graditi | gradite | piace | adoro | grado | prioritari* | privilegi*
    sempre | rapidinho | depressa | facil | seguro | certeiro | garantido | minutos | segundos | gosto | adoro | agradeco | agradecemos | prioridade | comodo | pratico | perfeito | contente
    snel | snelst* | vlot | vlotst* | vlug | vlugst* | altijd | graag | fijn | prettig | makkelijk | handig | zeker | betrouwbaar | minuten | seconden | perfect | blij | leuk* | voorrang
    szybko | zawsze | chetnie | wygodnie | wygodna | latwo | pewny | pewna | pewne | minut | minutach | sekund | idealn* | swietnie | lubie | ucieszy* | milej | najmilej | priorytet*`,
  poor: `office hours | hours only | nebensache | nebenbei | collects | scam | scams | acting weird | acting up | charges | expensive | abroad | roaming | black hole | bottle | bottiglia | botella | bouteille | lawyers | caixa de mensagens | buzon de voz | boite vocale | skrzynka pelna | przepelnion* | vergaarbak | steinzeit | waiting | tuesday | other week | locker | court | less | message taken | take a message | acumul* | negata | negato | imbranat* | a vuoto | dans le vide | leere | zostawiam | nie moje | tajemnic* | batterij leeg | bateria | battery | akku | batterie | coverage | basement | cellar | attic | brother's | cousin's | ancient | prehistoric | brick | weary | chore | gremlins | haunted | antiquated | grumpy | grumble | allergic | nicht meins | nicht so meins | pas mon fort | no es lo mio | non e il mio forte | niet mijn ding | later | latest | delay* | wait | waiting | waits | days | week | weekend | sunday | sundays | fortnight* | month | monthly | occasional* | sometimes | scarcely | sparse* | spotty | backup | spare | reserve | emergenc* | hate | hates | loathe | dread | fail* | miss | misses | missed | lost | lose | loses | forget* | forgot* | pile | clog* | flood* | drown* | buried | bury | deaf | sleeping | sleeps | broken | cracked | dodgy | dead | dies | mute | muted | silent | switched off | is off | off most | ignore | temperamental | terrible | awful | rubbish | patience | patient | eventually | voicemail | answerphone | machine | meeting | meetings | shift | shifts | tunnel | noise | noisy | loud | drive | driving | spam | junk | unanswered | swamped | overflow* | neglect* | dusty | dust | cobwebs | crackl* | snail | glacial | sluggish | tardy | reluctan* | grudging* | begrudg* | old-fashioned letter | secondary | alternative* | shared | mislaid | drawer | gathers | moth*
    spat | spater | verspat* | warten | tage | woche | sonntag* | wochenende | manchmal | nachrangig | notlosung | hasse | verpass* | verlier* | vergess* | taub | kaputt | stumm | lautlos | mailbox | anrufbeantworter | sitzung* | meeting | schicht | larm | laut | ubersehe* | uberfullt | zweit* | ersatz* | widerwillig | schlecht* | mies* | geduld
    tard | attendre | attente | jours | semaine | dimanche | week-end | parfois | quelquefois | deteste | rate | perdu* | perds | oubli* | sourd* | casse* | muet | silencieux | eteint | repondeur | messagerie | reunion* | bruit | mauvais* | patience | secours | depanne* | deborde* | noye* | saturee
    tarde en | esperar | espera | dias | semana | domingo* | finde | odio | pierdo | pierde | olvid* | sordo | sorda | roto | rota | silenciado | silencio | apagado | buzon | contestador | reunion* | ruido | fatal | paciencia | recurso | saturad* | raras | apenas | ratos | emergencia*
    tardi | aspettare | attesa | giorni | settimana | domenica | qualche volta | a volte | odio | perdo | perde | dimentic* | sordo | sorda | rotto | rotta | silenzioso | spento | segreteria | riunion* | rumore | male | pazienza | emergenz* | intasat* | pienissima
    tarde demais | esperar | espera | dias | semana | domingo* | fim de semana | odeio | perco | perde | esquec* | surdo | surda | avariado | estragado | silencioso | desligado | voicemail | caixa postal | reuniao | reunioes | barulho | paciencia | emergencia* | raras | lotada | cheia
    later | wachten | dagen | week | weekend | zondag* | haat | verlies | vergeet* | vergeten | doof | kapot | stil | voicemail | antwoordapparaat | vergadering* | lawaai | herrie | slecht | geduld | nood* | overloopt
    pozno | pozniej | czekac | dni | tydzien | tygodniu | niedziel* | weekend* | nienawidze | gubie | zapomin* | zepsut* | gluchy | glucha | wyciszon* | wylaczon* | poczta glosowa | sekretarka | zebrani* | halas | zle | slabo | cierpliwosc* | awari* | zapchan* | pelna`,
  condition: `if | should you | should i | in case | wenn | falls | sollte | sollten | au cas ou | en cas | si vous | si tu | si je | si jamais | si c'est | si le | si la | si mon | si ca | s'il | s'ils | si es | si hay | si no | si el | si la | si necesit* | si quer* | si ten* | si urge | si corre | en caso | por si | se non | se proprio | se fosse | se serve | se avete | se c'e | qualora | nel caso | in caso | se nao | se for | se houver | se quiser | caso | em caso | als je | als u | als het | als ik | als er | als de | mocht | indien | in geval | jesli | jezeli | gdyby | gdy | w razie | jak nie`,
  concede: `although | though | even though | obwohl | auch wenn | wenngleich | bien que | meme si | quoique | aunque | si bien | anche se | sebbene | benche | embora | mesmo que | ainda que | hoewel | ook al | al kan | choc | chociaz | mimo ze | too | as well | auch | aussi | egalement | tambien | anche | pure | tambem | ook | tez | rowniez | takze | alternatively | ewentualnie | eventuell | eventueel | eventualmente | eventualmente`,
  turn: "but | however | yet | instead | aber | jedoch | sondern | pero | sino | maar | ale | lecz | toutefois | cependant | pourtant | pero mejor | tuttavia | porem",
  may: "can | may | could | might | konnt | kann | konnen | darf | peut | pouvez | peux | puedes | podeis | pueden | puede | puoi | potete | si puo | pode | podem | podes | kun | kunt | kan | mag | mozna | mozesz | mozecie | works | exists | possible | moglich | funktioniert | geht | marche | funciona | va bene | funziona | werkt | dziala",
  please:
    "please | pls | plz | bitte | merci de | s'il vous plait | por favor | se ruega | per favore | per cortesia | cortesemente | si prega | gelieve | alstublieft | graag even | prosze | uprzejmie | kindly",
  deny: "not | n't | never | don't | doesn't | isn't | won't | can't | cannot | cant | dont | nicht | nie | kein | keine | pas | jamais | nunca | jamas | non | mai | nao | niet | nooit | geen | nikt",
  kin: `wife | husband | hubby | missus | partner | son | daughter | mum | mother | mother-in-law | father | dad | nephew | niece | grandson | granddaughter | landlady | landlord | secretary | flatmate | housemate | frau | mann | sohn | tochter | schwiegermutter | enkel | neffe | mutter | vermieterin | femme | mari | fils | fille | belle-mere | mere | neveu | petit-fils | voisine
    mujer | marido | hijo | hija | suegra | sobrino | nieto | madre | casera | moglie | marito | figlio | figlia | suocera | nipote | mamma | proprietaria | mulher | filho | filha | sogra | sobrinho | neto | mae | vrouw | man | zoon | dochter | schoonmoeder | neef | kleinzoon | zona | maz | syn | corka | tesciowa | wnuk`,
  answers: `answers | picks up | reads | opens | checks | looks at | releve | repond | ouvre | lit | contesta | coge | abre | lee | mira | risponde | legge | apre | guarda | atende | le | ve | abre | leest | beantwoordt | opent | neemt op | odbiera | czyta | sprawdza | liest | geht ran | geht dran | schaut`,
  call: `buzz | bell | call | calls | calling | callers | ring | rings | ringing | phone | phones | phoning | telephone | telephoning | telephonic | voice | blower | a yell | speak | talk | a bell | a buzz | phone call | phone calls | called | phoned | rang | telephoned | pick up the phone
    anruf | anrufe | anrufen | ruf | rufen | telefon | telefonisch | telefonieren | telefonat | durchklingeln | klingeln | sprechen | appel | appels | appeler | appelez | telephoner | telephonez | coup de fil | de vive voix | llamada | llamadas | llamar | llamame | llamadme | llameme | llamen | llame | telefono | marcan | marcar | marcame | marquen | de viva voz
    chiamata | chiamate | chiamare | chiamatemi | chiama | chiamami | telefonata | telefonate | telefonare | telefonatemi | voce | chamada | chamadas | ligar | liga | ligue | liguem | liguem-me | ligacao | ligacoes | telefonema | telefone | telefonar | bellen | bel | belt | belletje | telefoontje | telefonisch | telefoon | dzwonic | dzwon | dzwoncie | zadzwonic | zadzwon | telefonicznie | telefonu | rozmowa`,
  whatsapp: `whatsapp | whatsapps | whatsappie | whatsapp'ie | whatsappa | whats app | what's app | wa | whatsappen | whats | wpp | wasap | wasapp | guasap | zap | zapzap | appen | appje | appjes | app me | apps | whatsappear`,
  sms: "text | texts | texted | txt | txts | texting | textin | texters | sms | texto | textos | smsen | sms'en | simsen | smsem | esemes* | plain text message | text message | text messages",
  mail: `emailed | e-mailed | mailed | mail | mails | mailen | email | emails | e-mail | e-mails | emailing | courriel | courriels | correo | correos | correo electronico | posta | posta elettronica | mailem | mailowo | mejl | mejlem | mailtje | drop a line | inbox | the inbox | ecrit | par ecrit | per iscritto | por escrito`,
  link: `form | the form | application form | contact form | website | web site | site | page | webpage | online | the portal | formular | kontaktformular | webseite | website | seite | formulaire | site web | formulario | pagina | web | sitio | sito | modulo | formulier | strona | strone | stronie | formularz`,
  written: `wrote | messaged | write | writing | written | typing | type | message | messages | messaging | a line | words on a screen | schreiben | schreibt | nachricht | nachrichten | schriftlich | ecrire | ecrivez | message ecrit | messages | mensaje | mensajes | escribir | escribid | escribe | escribidme | escribeme | mensagem | mensagens | escrever | escrevam | messaggio | messaggi | messaggino | scrivere | scrivete | scrivetemi | scrivi | bericht | berichten | berichtje | schrijven | wiadomosc | wiadomosci | pisac | piszcie | napisac`,
});

/** Words that may follow "best" if it is about a way. Before any other word it is about that word ("best offer"). */
export const AFTER_BEST = new Set(
  "for to if by on at via since as because cos tbh is in though please and or but - way".split(" "),
);

/** Parts of the day and the week: the preference is then about a time. */
export const TIMES = new Set(
  `during while pendant durante mientras wahrend tijdens podczas evenings evening mornings weekends weekdays abends morgens vormittags nachmittags soir soirs matin matins tardes mananas noches sera serali ore mattina pomeriggio noite manha tarde avonds
  wieczorem rano wieczorami`.split(/\s+/u),
);

/** Words that state a time when an hour follows. */
export const BEFORE_HOUR = new Set(
  "after before between from until till nach vor ab zwischen bis apres avant entre despues antes dopo prima depois po przed na voor tussen".split(
    " ",
  ),
);

/** Words that name an hour or a time of day. */
export const HOUR = new Set(
  "six seven eight nine ten noon lunch dinner work five sechs sieben acht funf feierabend midi las le 20h ora cena pranzo almoco jantar zes zeven acht eten szesnastej siedemnastej osiemnastej".split(
    " ",
  ),
);

/** Phrases that state that all ways are equally good, so none is preferred. */
export const ALL_THE_SAME = compilePhrases<"equal">({
  equal: `all three | any of them | any of these | all of these | alle drei | alle zwei | les trois | los tres | tutti e tre | os tres | alle drie | wszystkie trzy | are both | both answered | both read | both get | both work | beide werden | les deux marchent | ambos valen | entrambi | oba dzialaja | whichever | whatever suits | either is fine | either works | either way | both are | both fine | all one to me | all the same to me | don't mind which | don't mind how | how you like | as you like | as you please | your choice | up to you | no preference
    ganz wie | egal wie | wie ihr mogt | wie sie mogen | wie du magst | beides wird | mir egal | mir gleich | comme vous voulez | comme ca vous chante | au choix | comme vous preferez | como prefieras | como quieras | como prefieran | como prefiera | me da igual | da igual | lo que prefieras
    come preferite | come vuoi | come volete | e uguale | fa lo stesso | indifferente | indifferentemente | como preferir | como preferirem | tanto faz | como quiser | tanto me faz | wat u uitkomt | wat je wilt | maakt niet uit | om het even | maakt me niet uit | kontakt dowolny | jak wygodniej | obojetnie | wszystko jedno | jak kto woli`,
});

/** Words that ask for something: a contact near them is the one to use. */
export const REQUESTS = new Set(
  `write drop send use try contact reach book apply reserve go hit message mail email text ring call phone telephone whatsapp get come give shoot ping buzz
  schreib schreibt schreiben mailt mailen ruft anrufen meldet melden wendet kontaktiert nutzt simst
  ecrivez ecrire contactez appelez passez envoyez telephonez joignez utilisez ecris appelle
  escribid escribidme escribe escribir escribeme llamad llamadme llamar llame llamame contactad contactar mandad manda enviad usad usen escriban llamen
  scrivete scrivetemi scrivere scrivi telefonate telefonatemi chiamate chiamatemi chiamare contattate mandate usate
  escrevam escreva escrever mandem mande liguem ligue ligar contactem contacte contatem enviem enviar usem
  mail mailt mailen bel belt bellen app appt stuur schrijf schrijven contacteer gebruik
  piszcie pisac pisz prosze dzwoncie dzwonic dzwon kontakt wyslij wyslijcie kontaktowac`.split(/\s+/u),
);

/** Words after a contact that continue with a time or the next contact, and state nothing about the contact. */
export const GOES_ON = new Set(
  `and or und oder et ou y o e oppure en of i lub albo for to if when after before with please any at on until from till between by via as in fur bei zu ab nach vor bis zwischen wenn mit pour apres avant de a si avec entre para despues antes de con per dopo prima da se
  para depois antes ate com voor na tot met om van als po przed do od dla w z`.split(/\s+/u),
);

/** Words after a contact at the start of a sentence that state what it is reserved for. */
export const KEPT_FOR = new Set(
  "if when only once unless wenn falls nur si quand seulement cuando solo se quando soltanto so als alleen jesli gdy tylko".split(
    " ",
  ),
);
