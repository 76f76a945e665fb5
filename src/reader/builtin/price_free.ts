import { compilePhrases, findPhrases } from "../text/phrases.ts";
import { startsSentence, type Token } from "../text/tokens.ts";

/** Detects whether a thing is given away. "Free" is said of many other things: quotes, delivery, weekends, smoke. */

const WORDS = compilePhrases<"given" | "free" | "extra">({
  /** Phrases that state by themselves that nothing has to be paid. */
  given: `no fee | no entry fee | no cost | no membership fee | no charge | free of charge | for free | free to a good home | free to good home | free to collect | free to collector | free for collection | free for pick up | free for pickup
    giving away | give away | giveaway | costs nothing | nothing to pay | at no cost | zu verschenken | geschenkt gegen | geschenkt an | verschenkt | verschenke | verschenken | zu verschenken an | kostenlos abzugeben | gratis abzugeben | umsonst abzugeben
    a donner | je donne | donne | fais don | en don | donnons | offert a qui | regalo | se regala | se regalan | regala | regalan | regalamos | lo regalo | la regalo | doy en adopcion | sin coste | sin costo | se da gratis
    in regalo | regalo a | regaliamo | do via | cedo gratis | gratuitamente | dou | dao-se | da-se | ofereco | ofereco a | doa-se | doam-se | doacao | para doacao | para adocao gratuita | adocao gratuita | adocao responsavel gratuita | adopcion gratuita | sem custo | sin cuota | sans cotisation | ohne beitrag | kein beitrag | geen kosten | bez oplat | gratis af te halen | gratis afhalen | gratis ophalen | weggeven | geef weg | weg te geven
    oddam | oddam za darmo | za darmo | oddam w dobre rece`,
  free: `free | gratis | kostenlos | kostenfrei | umsonst | gratuit | gratuite | gratuits | gratuitement | gratuito | gratuita | gratuitos | gratuitas | gratuiti | gratuite | darmowe | darmowy | bezplatnie | bezplatne | bezplatny`,
  /** Things other than the offered one that are often free of charge. */
  extra: `quote | month | first month | hour | first hour | night | class | first class | monat | mois | mes | mese | maand | miesiac | quotes | quotation | estimate | estimates | trial | trials | consultation | consult | delivery | shipping | postage | parking | wifi | wi-fi | internet | returns | return | time | weekdays | weekends | weekend | evenings | mornings | afternoons | call | calls
    sample | samples | lesson | taster | assessment | advice | installation | gift | lunch | coffee | drinks | cancellation | upgrade | session | survey | valuation | range | standing | roaming | hand | hands | service | pickup and | collection and | breakfast | spirit | space | slots
    angebot | kostenvoranschlag | beratung | erstberatung | probestunde | probetraining | lieferung | versand | parken | parkplatz | parkplatze | wlan | anfahrt | besichtigung | erstgesprach | stornierung | getranke | kaffee
    devis | livraison | essai | cours d'essai | stationnement | deplacement | conseil | parking | envoi | presupuesto | presupuestos | envio | entrega | consulta | prueba | clase | media hora | aparcamiento | valoracion | visita
    preventivo | preventivi | sopralluogo | consegna | spedizione | consulenza | prova | lezione | parcheggio | orcamento | orcamentos | entrega | aula | aula experimental | estacionamento | deslocacao | avaliacao
    offerte | proefles | proeflessen | bezorging | verzending | parkeren | advies | kennismaking | intake | koffie | wycena | wyceny | dostawa | dojazd | parkingi | lekcja | konsultacja | przesylka | wysylka | parking`,
});

/**
 * Words before "free" that give it a meaning other than the price of the offered thing: "feel free", "smoke free",
 * "first month free".
 */
const OTHER_MEANING =
  /^(?:feel|am|'m|m|i|im|you|we|they|be|are|re|is|have|has|smoke|pet|rust|tax|duty|fat|gluten|sugar|hands|worry|hassle|rent|set|get|my|your|have|of|some|any|first|erste|premiere|primera|prima|primeira|eerste|pierwsza|plus|incl|with|and|or|mit|avec|con|com|met|buy|one|any)$/u;

/**
 * How far a word of `extra` may stand from "free", in tokens: "free no obligation quote", "sopralluogo e preventivo
 * gratuiti".
 */
const EXTRA_REACH = 3;

/** Things that are given for money although the text says "give" ("donne cours"). */
const PAID_THINGS = new Set(
  `cours lecons soutien clase clases lezioni lezione ripetizioni corsi corso aula aulas explicacoes les lessen bijles korepetycje lekcje
  konzert concert concierto concerto`.split(/\s+/u),
);
const PAID_REACH = 3;

/**
 * A text leads with the statement if it stands within this many tokens: "FREE sectional couch", "Hi, free to a good
 * home".
 */
const LEAD = 4;

/**
 * Finds the statement that a thing is given away: tokens `from` to `to` (exclusive). `leads`: the text begins with it.
 * `whole`: its sentence says nothing else.
 *
 * @param isHidden true for tokens that must not be read as a price
 */
export const findFree = (
  tokens: readonly Token[],
  isHidden: (at: number) => boolean,
): { from: number; to: number; leads: boolean; whole: boolean } | null => {
  const hits = findPhrases(tokens, WORDS);
  for (const [index, hit] of hits.entries()) {
    if (hit.sense === "extra" || isHidden(hit.from)) continue;
    const before = tokens[hit.from - 1];
    const after = tokens[hit.to];
    const opens = startsSentence(tokens, hit.from);
    // "smoke-free", "hands-free".
    if (before?.text === "-" && tokens[hit.from]?.gap === "none") continue;
    // Not free: "Donne cours de maths" offers lessons, and "lo do via a 50" has a price.
    const given = tokens.slice(hit.to, hit.to + PAID_REACH);
    if (hit.sense === "given" && given.some((token) => PAID_THINGS.has(token.text))) continue;
    if (
      hit.sense === "given" &&
      /^(?:a|por|per|fur|voor|za|for)$/u.test(after?.text ?? "") &&
      given[1]?.kind === "digits"
    )
      continue;
    if (hit.sense === "free") {
      const near = [hits[index - 1], hits[index + 1]].some(
        (other) =>
          other?.sense === "extra" &&
          (other.to <= hit.from ? hit.from - other.to : other.from - hit.to) <= EXTRA_REACH &&
          !hasSentenceBetween(tokens, Math.min(hit.from, other.from), Math.max(hit.from, other.from)),
      );
      const closes = after === undefined || startsSentence(tokens, hit.to) || after.kind === "mark";
      const goes =
        /^(?:to|for|if|when|collection|pickup|pick|collect|abzugeben|fur|an|a|pour|para|per|voor|af|ophalen|dla|do)$/u;
      const said = opens || (closes && !OTHER_MEANING.test(before?.text ?? "")) || goes.test(after?.text ?? "");
      if (
        near ||
        !said ||
        (!opens && OTHER_MEANING.test(before?.text ?? "") && !/^(?:is|are)$/u.test(before?.text ?? ""))
      )
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
