import type { Span } from "../text/span.ts";
import type { Word } from "../text/tokens.ts";
import type { Hit } from "./lexicon.ts";

/** Builds a title from the text's own words: the clause that names the thing. */

/** Longest title of an extraction, in code points. */
const LONGEST = 120;

/** A shorter opening clause without a digit may be only a call such as "Curb alert". In code points. */
const LEAST_INFORMATIVE = 20;

/** A longer title is cut at a comma. In code points. */
const PREFERRED_LENGTH = 70;

/** A thing that is named further than this after the opening clause is only mentioned. In UTF-16 units. */
const LATE = 200;

/** A clause with fewer letters and digits than this names nothing. */
const LEAST_CHARACTERS = 4;

/**
 * The end of a clause: the end of a sentence or line, a dash between spaces, a bullet. A dot inside "1.6" or "ca. 3"
 * does not count.
 */
const CLAUSE_END =
  /[!?…;]+(?=\s|$)|(?<!\b(?:bj|gr|no|nr|ca|vol|ref|approx|inkl|incl|max|min|st|mod))\.{1,3}(?=\s+[\p{Lu}\p{N}"“(]|\s*$)|[\r\n\u2028\u2029]+|\s[-–—|•·]+\s|:(?=\s*[\r\n])/giu;

/** Positions at which a clause may be shortened. */
const BREAK = /,(?!\d)|\(|\s(?:[-–—/]|w\/)\s|[.:]\s/gu;

const GREETING =
  /^(?:hi|hello|hey|hallo|guten tag|bonjour|salut|hola|buenas|buongiorno|ciao|ola|bom dia|goedendag|dzien dobry|witam|czesc)\b|^(?:(?:selling|listing|posting|posted|written) (?:this )?(?:on behalf|for my)|on behalf|curb alert|for sale|zu verkaufen|à vendre|se vende|in vendita|vendo|te koop|sprzedam|vende-se|wanted|gesucht)[:!.]?$|^(?:listing|posting) on behalf/iu;

/** Authors who introduce themselves first name their offer later. */
const INTRODUCTION =
  /^(?:we['’]re|we are|we run|i['’]m|i am|i run|wir sind|ich bin|nous sommes|je suis|somos|soy|siamo|sono|sou|we zijn|wij zijn|ik ben|jestem|jesteśmy)(?!\p{L})/iu;

/** A clause that begins with a price states what the thing costs, not what it is. */
const PRICE =
  /^(?:(?:from|now|asking|price|only|ab|statt|nur|preis|dès|prix|desde|precio|da|prezzo|preço|vanaf|prijs|vraagprijs|voor|od|cena)\b:?\s)?(?:[£$€]\s?\d|\d[\d.,\u00a0 –-]{0,12}(?:[£$€]|(?:eur|euros?|quid|yoyos|pounds|dollars|bucks|zł|pln|kč|kr|chf|à débattre|vb|vhb|ono|obo|fp)(?!\p{L})))/iu;

/** Characters with which a title may begin, and with which it may end. */
const BEGINS = /[\p{L}\p{N}£$€]/u;
const ENDS = /[\p{L}\p{N})\]"”“'’!?%+.€£$]/u;

/**
 * Shrinks a span to its first and last word. A loop, because a pattern would take quadratic time on long runs of marks.
 */
const shrink = (text: string, span: Span): Span => {
  let { start, end } = span;
  while (start < end) {
    const point = String.fromCodePoint(text.codePointAt(start) ?? 0);
    if (BEGINS.test(point)) break;
    start += point.length;
  }
  while (end > start) {
    const low = text.charCodeAt(end - 1);
    const pair = low >= 0xdc00 && low <= 0xdfff && end - 2 >= start;
    if (ENDS.test(text.slice(pair ? end - 2 : end - 1, end))) break;
    end -= pair ? 2 : 1;
  }
  return { start, end };
};

const breaksIn = (text: string, start: number, end: number): number[] =>
  Array.from(text.slice(start, end).matchAll(BREAK), (match) => start + match.index);

/** The clauses of the text as spans, without passages that are addressed to a model. */
const clausesOf = (text: string, excluded: readonly Span[], addresses: readonly Span[]): Span[] => {
  const clauses: Span[] = [];
  let next = 0;
  const add = (from: number, end: number) => {
    let start = from;
    // An address ends a clause and is not part of a title.
    while ((addresses[next]?.start ?? end) < end) {
      const address = addresses[next];
      next += 1;
      if (address === undefined || address.end <= start) continue;
      keep(start, Math.max(start, address.start));
      start = address.end;
    }
    if (start < end) keep(start, end);
  };
  const keep = (start: number, end: number) => {
    const span = shrink(text, { start, end });
    if ((text.slice(span.start, span.end).match(/[\p{L}\p{N}]/gu)?.length ?? 0) < LEAST_CHARACTERS) return;
    if (excluded.some((one) => one.start < span.end && span.start < one.end)) return;
    clauses.push(span);
  };
  let start = 0;
  for (const match of text.matchAll(CLAUSE_END)) {
    add(start, match.index);
    start = match.index + match[0].length;
  }
  add(start, text.length);
  return clauses;
};

const codePoints = (text: string): number => [...text].length;

/** Cuts at white space, so that at most `most` code points are left. */
const cutAtWord = (text: string, most: number): string => {
  const points = [...text];
  if (points.length <= most) return text;
  const cut = points.slice(0, most + 1).join("");
  const space = cut.search(/\s\S*$/u);
  return (space > 0 ? cut.slice(0, space) : points.slice(0, most).join("")).trim();
};

const tidy = (text: string): string =>
  text
    .replace(/\s+/gu, " ")
    .replace(/(?<![\s,;:(\-–—/&+])[\s,;:(\-–—/&+]+$|(?<=\p{L}{3})\.$/u, "")
    .trim();

/**
 * Builds the title.
 *
 * @param decisive the term that decided what the thing is, or null
 * @param excluded spans that must not be used
 * @param addresses links and e-mail addresses, in order
 * @returns the title, its span in the text, and whether the clause contains the decisive term (`sure`). Null for a text
 *   without words
 */
export const nameThing = (
  text: string,
  tokens: readonly Word[],
  decisive: Hit | null,
  excluded: readonly Span[],
  addresses: readonly Span[] = [],
): { title: string; span: Span; sure: boolean } | null => {
  const clauses = clausesOf(text, excluded, addresses);
  const at = decisive === null ? -1 : (tokens[decisive.from]?.start ?? -1);
  const decisiveEnd = decisive === null ? -1 : (tokens[decisive.to - 1]?.end ?? -1);
  const naming = at < 0 ? undefined : clauses.find((clause) => clause.start <= at && at < clause.end);
  const isCall = ({ start, end }: Span): boolean =>
    GREETING.test(text.slice(start, end)) || PRICE.test(text.slice(start, end));
  const opening = clauses.find((clause) => !isCall(clause)) ?? clauses[0];
  // A thing that is named this late is mentioned, not offered. The opening clause is the better title.
  const late = naming !== undefined && opening !== undefined && naming.start - opening.start > LATE;
  const named = naming === undefined ? "" : text.slice(naming.start, naming.end);
  const priced = PRICE.test(named) || (naming !== opening && /[£$€]/u.test(named));
  // Most texts open with what they offer. Some open with next to nothing: "Nachmieter gesucht", "Curb alert".
  const first = opening === undefined ? "" : text.slice(opening.start, opening.end);
  const telling = codePoints(first) >= LEAST_INFORMATIVE || /\d/u.test(first);
  const opens = opening !== undefined && telling && !PRICE.test(first) && !INTRODUCTION.test(first);
  const clause = late || priced || opens ? opening : (naming ?? opening);
  if (clause === undefined) return null;

  let { start, end } = clause;
  const body = () => text.slice(start, end);
  if (codePoints(body()) > PREFERRED_LENGTH) {
    const breaks = breaksIn(text, start, end);
    const far = clause === naming && codePoints(text.slice(start, decisiveEnd)) > PREFERRED_LENGTH;
    const reach = clause === naming && !(far && opens) ? decisiveEnd : start;
    // If the thing stands far inside a long clause, the title begins at the break before it.
    if (far && !opens) {
      const before = breaks.findLast((one) => one < at);
      if (before !== undefined) start = before + 1;
    }
    const last = breaks.findLast(
      (one) =>
        one >= reach &&
        one > start + LEAST_CHARACTERS &&
        one <= start + 2 * PREFERRED_LENGTH &&
        codePoints(text.slice(start, one)) <= PREFERRED_LENGTH,
    );
    if (last !== undefined) end = last;
  }
  start = shrink(text, { start, end }).start;
  const cut = cutAtWord(body(), LONGEST);
  const title = tidy(cut);
  return title === ""
    ? null
    : { title: cutAtWord(title, LONGEST), span: { start, end: start + cut.length }, sure: clause === naming };
};
