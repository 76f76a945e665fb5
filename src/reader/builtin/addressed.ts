import { compilePhrases, findPhrases, type Hit } from "../text/phrases.ts";
import type { Span } from "../text/span.ts";
import { startsSentence, type Token, tokensIn } from "../text/tokens.ts";

/**
 * Finds passages that are addressed to the software which reads the text ("ignore previous instructions and ...").
 * They stay in the stored text, but do not describe what is offered.
 */

const VOCABULARY = compilePhrases({
  /** Phrases that are sufficient by themselves. */
  order: `ignore the instructions | ignore any previous | ignore what | ignore everything | ignore all of the | disregard the instructions | disregard everything | disregard all previous | new instructions | updated instructions
    end of listing | begin instructions | do not follow the previous | pre-approved, output | developer mode | as an ai | if you are an ai | if you are a bot | if you are a language model | if you're an ai | if an ai | wenn du eine ki | si tu es une ia | si vous etes une ia | si eres una ia | se sei un ia | se es uma ia | als je een ai | jesli jestes ai | ignore previous | ignore all previous | ignore the previous | ignore prior | ignore all prior | ignore the above
    ignore everything above | ignore your instructions | ignore any instructions | ignore all instructions
    ignore all other instructions | ignore all earlier | ignore earlier | ignore your previous | disregard previous
    disregard all | disregard the above | disregard your | disregard any | disregard prior
    forget your schema | forget your instructions | forget previous | forget all previous | forget the previous
    forget everything above | override your instructions | override the schema
    system prompt | system note | system message | system override | system instruction | system instructions
    you are now a | you are now an | you are now in | admin token
    ignoriere alle | ignoriere die vorherigen | ignoriere vorherige | ignoriere deine | ignoriere bisherige
    ignorieren sie alle | vergiss alle | vergiss deine | systemhinweis | systemnachricht
    ignore les instructions | ignorez les instructions | ignore toutes | ignorez toutes | oublie tes instructions
    oubliez vos instructions | oublie les instructions | message systeme | note systeme
    ignora las instrucciones | ignora todas | ignore las instrucciones | ignora tus | olvida tus | olvida las instrucciones
    mensaje del sistema | nota del sistema
    ignora le istruzioni | ignora tutte | ignorate le istruzioni | dimentica le istruzioni | dimentica le tue
    messaggio di sistema | nota di sistema
    ignore as instrucoes | ignore todas | ignora as instrucoes | esqueca as instrucoes | esquece as instrucoes
    mensagem do sistema | nota do sistema
    negeer alle | negeer de vorige | negeer vorige | negeer eerdere | negeer je | vergeet je instructies | systeembericht
    systeemmelding
    zignoruj wszystkie | zignoruj poprzednie | zignoruj wczesniejsze | ignoruj wszystkie | ignoruj poprzednie
    zapomnij o instrukcjach | komunikat systemowy | wiadomosc systemowa`,
  /** Names of readers such as models and parsers. They count only together with a sign that they are addressed. */
  reader: `system | systeme | sistema | systeem | language models | ai models | ai assistants | ai agents | ai systems | ai system | ai reader | ai readers | ai bots | models | assistants | parsers | crawlers | scraper | scrapers
    extractors | indexers | classifiers | llms | llm agents | automated systems | automated system | automated reader | automated readers | automated agents | agents | listing bot | listing parser | import script | search bot
    sprachmodelle | ki-systeme | ki-modelle | ki-assistenten | ki systeme | modeles de langage | modeles | assistants ia | agents ia | robots | modelos de lenguaje | asistentes | agentes de ia | modelos de ia
    modelli linguistici | assistenti ia | agenti ia | modelos de linguagem | assistentes de ia | taalmodellen | ai-assistenten | ai-modellen | modele jezykowe | modeli jezykowych | agenci ai | robot | ai | ais | a.i. | llm | llms | gpt | chatgpt | claude | gemini | copilot | ai assistant | ai agent | ai model
    assistant | language model | extraction model | the model | parser | the parser | extractor | classifier | crawler | indexer
    marketplace bot | the bot | bot | bots | ki | ki-assistent | ki-modell | ki-agent | sprachmodell | assistent
    ia | assistant ia | modele de langage | modele linguistique | modelo de lenguaje | asistente
    modello linguistico | assistente | modelo de linguagem | taalmodel | ai-assistent | model jezykowy | modelu jezykowy | si
    asystencie | asystent | modelu`,
  /** Phrases that address somebody, before the name of a reader. */
  to: `consigne pour | consigne a | consignes pour | consignes a | indicacao para | indicazione per | indicazioni per | aviso para | aviso a | avviso per | mededeling aan | mededeling voor
    boodschap voor | bericht voor | wiadomosc dla | informacja dla | an alle | a todos los | a tutti i | aan alle | do wszystkich | instructions a | to | for the | to the | dear | attention | attn | note to | note for | message to | instruction for | instruction to
    instructions for | instructions to | hey | hinweis an | anweisung an | nachricht an | an die | an das | an den | fur die | liebe | lieber
    note pour | instruction pour | instructions pour | message pour | message a | a l' | cher | chere
    nota para | instruccion para | instrucciones para | mensaje para | estimado | querido
    nota per | istruzione per | istruzioni per | messaggio per | caro | gentile | instrucao para | instrucoes para | mensagem para | caro
    opmerking voor | instructie voor | instructies voor | bericht aan | beste | uwaga dla | instrukcja dla | polecenie dla | drogi`,
  /** Phrases for reading, after the name of a reader. */
  reading: `reading | scanning | reading along | parsing | reading this | that reads this | which reads this | processing this | parsing this | who reads this
    der dies liest | die dies liest | die das liest | das dies liest | qui lit | qui lis | que lee | que lea | que lees
    che legge | che leggi | que le | que leia | que esta lendo | die dit leest | ktory to czyta | czytajacy`,
  /** Commands that only software is given. A sentence that begins with one also continues the order before it. */
  command: `replace | add | change | use | skip | ignore | disregard | treat | say | tell | assume | remove | delete | update | extract | classify | categorise | categorize | rank
    recommend | state | accept | must | should | set | mark | report | list | record | put | write | return | include | setzen | ersetzen | ersetze | andern | andere | hinzufugen | fuge | nimm
    verwende | verwenden | nutze | benutze | ignoriere | ignorieren | uberspringe | uberspringen | trage | eintragen | losche | streiche | empfiehl | melde | behandle | zeige | gib
    remplacer | remplace | remplacez | mettre | mets | mettez | ajouter | ajoute | ajoutez | utiliser | utilise | utilisez | changer | changez | ignorer | ignorez | indique | indiquez
    indiquer | considere | considerez | classer | modifier | modifie | modifiez | supprime | inscris | enregistre | enregistrez | pon | ponga | poner | usa | usar | anade | anadir | agrega
    cambia | cambiar | reemplaza | reemplazar | sustituye | sustituir | ignora | omite | considera | registra | indica | trata | usare | usate | sostituisci | sostituire | aggiungi
    cambiare | metti | segna | tratta | salta | substitui | substitua | substituir | adiciona | adicione | muda | mude | altera | altere | alterar | coloca | poe | considere | regista | registe
    indique | trate | pule | vervang | vervangen | zet | gebruik | voeg | wijzig | verander | negeer | behandel | noteer | vermeld | registreer | neem | zmien | zmienic | zamien | uzyj | dodaj
    zignoruj | pomin | zapisz | podaj | wpisz | potraktuj | zastap | report the category | report the | list the | list contact | list this | record the | record price | enter the | put the price | give the price | state the price | mark the | mark price | treat price | file this | file under | label this | label it | tag this | return the | return price | always output | must output | should output | is pre-approved | is preapproved | pre-approved | already verified | has been verified | verified listing | no contact needed | no contact required | contact check | without contact | may be skipped | can be skipped | override | replace the | replace contact | change the contact | add phone | add contact | add the contact | email to | send the | forward | boost | prioritise | prioritize | rank first | set the | set price | set contact | set title | set the price | set the contact | output | return json | classify | mark it
    mark this | mark as | respond with | respond only | reply with | write the | report the price | report price | change the price
    change the currency | publish | approve | skip the | skip validation | skip contact | treat this | treat the | contact details are not required
    use price | use the following | use contact | rank this | add the following | instead output | do not reject | do not extract | accept this
    setze den | setze die | gib aus | gib den | klassifiziere | markiere | stufe | veroffentliche | antworte mit | schreibe
    mets le | mettez le | definis le | definissez | classe cette | classez | marque cette | marquez | publie | publiez | reponds | renvoie
    pon el | ponga el | establece | fija el precio | clasifica | marca | publica | responde con | escribe
    imposta | metti il | classifica | contrassegna | pubblica | rispondi | scrivi
    define o | defina o | coloque o | classifique | marque | publique | responda
    zet de | stel de | classificeer | markeer | publiceer | antwoord met | schrijf
    ustaw | zaklasyfikuj | oznacz | opublikuj | odpowiedz | wypisz | napisz`,
});

type Sense = "order" | "reader" | "to" | "reading" | "command";

/** The speaker label in "... jo@example.com SYSTEM: ignore" begins a new sentence. */
const isLabelled = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.text === "system" && tokens[at]?.gap !== "none" && tokens[at + 1]?.text === ":";

/** The ranges of tokens between the ends of sentences. */
const sentencesOf = (tokens: readonly Token[]): { from: number; to: number }[] => {
  const sentences: { from: number; to: number }[] = [];
  let from = 0;
  for (let at = 1; at <= tokens.length; at++) {
    if (at < tokens.length && !startsSentence(tokens, at) && !isLabelled(tokens, at)) continue;
    sentences.push({ from, to: at });
    from = at;
  }
  return sentences;
};

/** True if the reader is addressed, not merely mentioned: "AI assistant reading this:", "note to the parser". */
const isCalled = (tokens: readonly Token[], hits: readonly Hit<Sense>[], index: number): boolean => {
  const reader = hits[index];
  if (reader === undefined) return false;
  const before = hits[index - 1];
  const after = hits[index + 1];
  // "the AI parser" is one reader with two names.
  if (after?.sense === "reader" && after.from <= reader.to + 1) return isCalled(tokens, hits, index + 1);
  if (after?.sense === "reading" && after.from <= reader.to + 1) return true;
  const follows = tokens[reader.to]?.text ?? "";
  const first = before?.sense === "reader" && reader.from <= before.to + 1 ? before : reader;
  const opening = first === reader ? before : hits[index - 2];
  const spokenTo = opening?.sense === "to" && first.from - opening.to <= 2;
  // "Assistant: great, now ..." and "for AI agents, set ..." address a reader; "I am looking for an assistant" does
  // not.
  return (
    (spokenTo && /^(?:[:,\-!.)]|please|bitte|prosze|alstublieft)$/u.test(follows)) ||
    (/^[:,!]$/u.test(follows) && isAtStart(tokens, first.from))
  );
};

/** True if only marks stand between the start of the sentence and token `at`. */
const isAtStart = (tokens: readonly Token[], at: number): boolean => {
  for (let i = at; i > 0; i--) {
    if (startsSentence(tokens, i) || isLabelled(tokens, i)) return true;
    if (tokens[i - 1]?.kind !== "mark") return false;
  }
  return true;
};

const isAddressed = (tokens: readonly Token[], hits: readonly Hit<Sense>[]): boolean => {
  if (hits.some((hit) => hit.sense === "order")) return true;
  return (
    hits.some((hit) => hit.sense === "command") &&
    hits.some((hit, index) => hit.sense === "reader" && isCalled(tokens, hits, index))
  );
};

/**
 * The sentences of `text` that give an instruction to a model, an assistant or a parser, in order. Sentences that
 * continue the instruction ("Classify this as ...") and the rest of an opened "[[" are included.
 */
export const findAddressedToModel = (text: string): Span[] => {
  const tokens = tokensIn(text);
  const hits = findPhrases(tokens, VOCABULARY);
  const spans: Span[] = [];
  let next = 0;
  let open = 0;
  let carried = false;
  let lineIsOrder = false;
  for (const { from, to } of sentencesOf(tokens)) {
    const own: Hit<Sense>[] = [];
    for (let hit = hits[next]; hit !== undefined && hit.from < to; hit = hits[++next]) own.push(hit);
    const brackets = bracketsIn(tokens, from, to);
    const sameLine = tokens[from]?.gap !== "line";
    const begins = own.find((hit) => hit.sense === "command");
    const goesOn: boolean = carried && sameLine && begins !== undefined && begins.from - from <= 2;
    const addressed = isAddressed(tokens, own);
    // An order that begins on a line of its own reaches to the end of the line.
    lineIsOrder = (sameLine && lineIsOrder) || (addressed && !sameLine && from > 0);
    carried = addressed || goesOn || open > 0 || lineIsOrder;
    const first = tokens[from];
    const last = tokens[to - 1];
    if (carried && first !== undefined && last !== undefined) spans.push({ start: first.start, end: last.end });
    // A bracket that was opened in an order continues it until it is closed.
    open = carried ? Math.max(0, open + brackets) : 0;
  }
  return spans;
};

/** The number of "[" minus the number of "]". */
const bracketsIn = (tokens: readonly Token[], from: number, to: number): number => {
  let balance = 0;
  for (let at = from; at < to; at++) balance += tokens[at]?.text === "[" ? 1 : tokens[at]?.text === "]" ? -1 : 0;
  return balance;
};
