import { wordsOfList } from "../rows.ts";
import { compilePhrases, phraseAt } from "../text/phrases.ts";
import type { Token } from "../text/tokens.ts";

/**
 * Finds words for haggling ("VB", "négociable", "offers"), and whether the text refuses it: "kein VB", "Handeln
 * ausgeschlossen", "inutile de négocier", "prix ferme". The words are lists of word_list.tsv.
 */

/** Words for haggling: tokens `from` (inclusive) to `to` (exclusive). `isOffer`: the words may mean any offer. */
export type Haggling = { from: number; to: number; isOffer: boolean; isRefused: boolean };

const phrasesOf = (list: string) => compilePhrases(wordsOfList(list).map((form) => ({ form, sense: list })));

/** Words of which the first letters are enough, and words that are meant as they are. */
const STEMS = wordsOfList("haggle_stem");
const OFFER_STEMS = wordsOfList("offer_stem");
const WHOLE = phrasesOf("haggle");
const FIRM = phrasesOf("firm_price");
/** Words that mean so only directly behind an amount, as "ferme" is also a farm. */
const FIRM_BEHIND = phrasesOf("firm_behind");
const REFUSALS: ReadonlySet<string> = new Set(wordsOfList("refusal"));
/** Nobody refuses offers who wants no silly ones. */
const LOW: ReadonlySet<string> = new Set(wordsOfList("low_offer"));

/** So many words may stand between a refusal and the word that it refuses. */
const REACH = 4;
/** "No" is nearer to "offers", because a text says no to many things. */
const OFFER_REACH = 2;

const isWithin = (tokens: readonly Token[], from: number, to: number): boolean =>
  !tokens.slice(from, to).some((token) => token.opens || /^[,;()|]$/.test(token.text));

const isRefused = (tokens: readonly Token[], from: number, to: number, reach: number): boolean => {
  // "keine Angebote unter 250"
  if (LOW.has(tokens[to]?.text ?? "")) return false;
  for (let at = from - 1; at >= Math.max(0, from - 1 - reach) && isWithin(tokens, at + 1, from + 1); at--) {
    const { text } = tokens[at] as Token;
    if (LOW.has(text)) return false;
    if (REFUSALS.has(text)) return true;
  }
  for (let at = to; at < Math.min(tokens.length, to + reach) && isWithin(tokens, to, at + 1); at++)
    if (REFUSALS.has(tokens[at]?.text ?? "")) return true;
  return false;
};

/** All words for haggling, in order. A refusal that needs no such word ("Festpreis") is one, too. */
export const findHaggling = (tokens: readonly Token[]): Haggling[] => {
  const found: Haggling[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    if (token.kind === "digits") continue;
    const behind = tokens[at - 1]?.kind === "digits" || tokens[at - 2]?.kind === "digits";
    const firm = phraseAt(tokens, at, FIRM) ?? (behind ? phraseAt(tokens, at, FIRM_BEHIND) : null);
    const whole = phraseAt(tokens, at, WHOLE);
    const startsWith = (stems: readonly string[]): boolean =>
      token.kind === "word" && stems.some((stem) => token.text.startsWith(stem));
    const isOffer = whole === null && !startsWith(STEMS);
    if (firm !== null) found.push({ from: at, to: firm.to, isOffer: false, isRefused: true });
    else if (!isOffer || startsWith(OFFER_STEMS)) {
      const to = whole?.to ?? at + 1;
      found.push({ from: at, to, isOffer, isRefused: isRefused(tokens, at, to, isOffer ? OFFER_REACH : REACH) });
    }
    at = Math.max(at, (found.at(-1)?.to ?? 0) - 1);
  }
  return found;
};
