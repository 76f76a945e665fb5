import { compilePhrases, findPhrases, startsSentence, type Token } from "./prose.ts";

/**
 * Whether something is given away. "Free" is said of much else: quotes, delivery, weekends, smoke.
 */

const WORDS = compilePhrases<"given" | "free" | "lure">({
  /** Says by itself that nothing is to be paid. */
  given: `no fee | no entry fee | no cost | no membership fee | no charge | free of charge | for free | free to a good home | free to good home | free to collect | free to collector | free for collection | free for pick up | free for pickup
    giving away | give away | giveaway | costs nothing | nothing to pay | at no cost | zu verschenken | geschenkt gegen | geschenkt an | verschenkt | verschenke | verschenken | zu verschenken an | kostenlos abzugeben | gratis abzugeben | umsonst abzugeben
    a donner | je donne | donne | fais don | en don | donnons | offert a qui | regalo | se regala | se regalan | regala | regalan | regalamos | lo regalo | la regalo | doy en adopcion | sin coste | sin costo | se da gratis
    in regalo | regalo a | regaliamo | do via | cedo gratis | gratuitamente | dou | dao-se | da-se | ofereco | ofereco a | doa-se | doam-se | doacao | para doacao | para adocao gratuita | adocao gratuita | adocao responsavel gratuita | adopcion gratuita | sem custo | sin cuota | sans cotisation | ohne beitrag | kein beitrag | geen kosten | bez oplat | gratis af te halen | gratis afhalen | gratis ophalen | weggeven | geef weg | weg te geven
    oddam | oddam za darmo | za darmo | oddam w dobre rece`,
  free: `free | gratis | kostenlos | kostenfrei | umsonst | gratuit | gratuite | gratuits | gratuitement | gratuito | gratuita | gratuitos | gratuitas | gratuiti | gratuite | darmowe | darmowy | bezplatnie | bezplatne | bezplatny`,
  /** What is free besides what is offered. */
  lure: `quote | month | first month | hour | first hour | night | class | first class | monat | mois | mes | mese | maand | miesiac | quotes | quotation | estimate | estimates | trial | trials | consultation | consult | delivery | shipping | postage | parking | wifi | wi-fi | internet | returns | return | time | weekdays | weekends | weekend | evenings | mornings | afternoons | call | calls
    sample | samples | lesson | taster | assessment | advice | installation | gift | lunch | coffee | drinks | cancellation | upgrade | session | survey | valuation | range | standing | roaming | hand | hands | service | pickup and | collection and | breakfast | spirit | space | slots
    angebot | kostenvoranschlag | beratung | erstberatung | probestunde | probetraining | lieferung | versand | parken | parkplatz | parkplatze | wlan | anfahrt | besichtigung | erstgesprach | stornierung | getranke | kaffee
    devis | livraison | essai | cours d'essai | stationnement | deplacement | conseil | parking | envoi | presupuesto | presupuestos | envio | entrega | consulta | prueba | clase | media hora | aparcamiento | valoracion | visita
    preventivo | preventivi | sopralluogo | consegna | spedizione | consulenza | prova | lezione | parcheggio | orcamento | orcamentos | entrega | aula | aula experimental | estacionamento | deslocacao | avaliacao
    offerte | proefles | proeflessen | bezorging | verzending | parkeren | advies | kennismaking | intake | koffie | wycena | wyceny | dostawa | dojazd | parkingi | lekcja | konsultacja | przesylka | wysylka | parking`,
});

/** Before "free": said of a person, a feeling, or of something that is absent. */
const OTHERWISE =
  /^(?:feel|am|'m|m|i|im|you|we|they|be|are|re|is|have|has|smoke|pet|rust|tax|duty|fat|gluten|sugar|hands|worry|hassle|rent|set|get|my|your|have|of|some|any|first|erste|premiere|primera|prima|primeira|eerste|pierwsza|plus|incl|with|and|or|mit|avec|con|com|met|buy|one|any)$/u;

/** How near a lure has to stand: "free no obligation quote", "sopralluogo e preventivo gratuiti". */
const LURE_REACH = 3;

/** What is given for money. */
const LESSONS = new Set(
  `cours lecons soutien clase clases lezioni lezione ripetizioni corsi corso aula aulas explicacoes les lessen bijles korepetycje lekcje
  konzert concert concierto concerto`.split(/\s+/u),
);
const LESSON_REACH = 3;

/** How many tokens at the start of a text lead: "FREE sectional couch", "Hi, free to a good home". */
const LEAD = 4;

/**
 * Where a text says that it is for nothing: tokens `from` to `to` (exclusive), whether it leads with that,
 * and whether it says so in a sentence that says no more.
 *
 * @param isHidden tells the tokens that say nothing of the price
 */
export const findFree = (
  tokens: readonly Token[],
  isHidden: (at: number) => boolean,
): { from: number; to: number; leads: boolean; whole: boolean } | null => {
  const hits = findPhrases(tokens, WORDS);
  for (const [index, hit] of hits.entries()) {
    if (hit.sense === "lure" || isHidden(hit.from)) continue;
    const before = tokens[hit.from - 1];
    const after = tokens[hit.to];
    const opens = startsSentence(tokens, hit.from);
    // "smoke-free", "hands free"; "free" among other words is mostly said of something else.
    if (before?.text === "-" && tokens[hit.from]?.gap === "none") continue;
    // "Donne cours de maths" gives lessons, and "lo do via a 50" has a price.
    const given = tokens.slice(hit.to, hit.to + LESSON_REACH);
    if (hit.sense === "given" && given.some((token) => LESSONS.has(token.text))) continue;
    if (
      hit.sense === "given" &&
      /^(?:a|por|per|fur|voor|za|for)$/u.test(after?.text ?? "") &&
      given[1]?.kind === "digits"
    )
      continue;
    if (hit.sense === "free") {
      const near = [hits[index - 1], hits[index + 1]].some(
        (other) =>
          other?.sense === "lure" &&
          (other.to <= hit.from ? hit.from - other.to : other.from - hit.to) <= LURE_REACH &&
          !hasSentenceBetween(tokens, Math.min(hit.from, other.from), Math.max(hit.from, other.from)),
      );
      const closes = after === undefined || startsSentence(tokens, hit.to) || after.kind === "mark";
      const goes =
        /^(?:to|for|if|when|collection|pickup|pick|collect|abzugeben|fur|an|a|pour|para|per|voor|af|ophalen|dla|do)$/u;
      const said = opens || (closes && !OTHERWISE.test(before?.text ?? "")) || goes.test(after?.text ?? "");
      if (near || !said || (!opens && OTHERWISE.test(before?.text ?? "") && !/^(?:is|are)$/u.test(before?.text ?? "")))
        continue;
    }
    const whole = hit.sense === "given" && opens && startsSentence(tokens, hit.to + 1);
    return { from: hit.from, to: hit.to, leads: hit.from < LEAD, whole };
  }
  return null;
};

const hasSentenceBetween = (tokens: readonly Token[], from: number, to: number): boolean => {
  for (let at = from + 1; at <= to; at++) if (startsSentence(tokens, at)) return true;
  return false;
};
