import type { Span } from "./span.ts";

/**
 * Reads HTML and Markdown as the text that they show. Marks become white space and entities become their characters, each
 * of the same length, so that everything else keeps its place. `reading.plain_text` in SQL decodes the same entities.
 */

/** Follows the letter of an entity up to its length: a mark that no word is made of, and that folding removes. */
const FILLER = "\ufe0f";

/** The accents of letters by the ends of their names: "&eacute;". */
const ACCENTS: Readonly<Record<string, string>> = {
  grave: "\u0300",
  acute: "\u0301",
  circ: "\u0302",
  tilde: "\u0303",
  uml: "\u0308",
  ring: "\u030a",
  caron: "\u030c",
  cedil: "\u0327",
  ogon: "\u0328",
};

/** The other entities that people's editors write. */
const NAMED: Readonly<Record<string, string>> = {
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  euro: "€",
  pound: "£",
  yen: "¥",
  cent: "¢",
  sect: "§",
  deg: "°",
  sup2: "²",
  sup3: "³",
  frac12: "½",
  times: "×",
  middot: "·",
  bull: "•",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  bdquo: "„",
  laquo: "«",
  raquo: "»",
  iexcl: "¡",
  iquest: "¿",
  ordm: "º",
  ordf: "ª",
  copy: "©",
  reg: "®",
  trade: "™",
  szlig: "ß",
  aelig: "æ",
  AElig: "Æ",
  oelig: "œ",
  OElig: "Œ",
  oslash: "ø",
  Oslash: "Ø",
  lstrok: "ł",
  Lstrok: "Ł",
};

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+\d{0,2}));/giu;
const TAG = /<!--[\s\S]*?-->|<(script|style)\b[\s\S]*?<\/\1\s*>|<\/?([a-z][a-z0-9]*)(?:\s[^<>]*)?\/?>/giu;
/** Tags inside a line. All others break it. */
const INLINE: ReadonlySet<string> = new Set(
  "a abbr b big code del em font i img ins kbd mark q s small span strike strong sub sup u".split(" "),
);
/** The address of a link is shown by no browser, but it may be the contact. */
const HREF = /\shref\s*=\s*["']?(?:mailto:|tel:)?([^"'\s<>]+)/iu;

/** The marks of Markdown: headings, rows of tables, emphasis, code, the brackets of links. */
const MARKS =
  /^[ \t]*#{1,6}(?=[ \t])|^[ \t]*\|[ \t:|-]*\|[ \t]*$|^[ \t]*\||\|[ \t]*$|`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<![\p{L}\p{N}_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}_])|\[(?=[^[\]\n]*\]\()|(?<=\[[^[\]\n]*)\]\(|(?<=\]\([^()\s]*)\)/gmu;

const characterOf = (decimal?: string, hex?: string, name = ""): string | null => {
  const code = decimal === undefined ? (hex === undefined ? null : Number.parseInt(hex, 16)) : Number(decimal);
  if (code !== null) {
    if (code < 32 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return null;
    const character = String.fromCodePoint(code);
    return /\s/u.test(character) ? " " : character;
  }
  const accent = ACCENTS[name.slice(1)];
  return NAMED[name] ?? (accent === undefined ? null : (name.charAt(0) + accent).normalize("NFC"));
};

const padded = (character: string, length: number): string =>
  character + (/^[\p{L}\p{N}]/u.test(character) ? FILLER : " ").repeat(Math.max(0, length - character.length));

/** White space of the same length, with the line breaks of what it stands for. */
const blank = (written: string): string => written.replace(/[^\n\r]/gu, (unit) => " ".repeat(unit.length));

/** A text as it is shown, of the same length in UTF-16 units. */
export const shownText = (text: string): string => {
  const untagged = text.includes("<")
    ? text.replace(TAG, (tag, _, name?: string) => {
        if (name === undefined) return blank(tag);
        const address = HREF.exec(tag);
        if (name.toLowerCase() === "a" && address?.[1] !== undefined) {
          const at = address.index + address[0].length - address[1].length;
          return blank(tag.slice(0, at)) + address[1] + blank(tag.slice(at + address[1].length));
        }
        return INLINE.has(name.toLowerCase()) ? blank(tag) : `\n${blank(tag.slice(1))}`;
      })
    : text;
  const decoded = untagged.includes("&")
    ? untagged.replace(ENTITY, (entity, decimal?: string, hex?: string, name?: string) => {
        const character = characterOf(decimal, hex, name);
        return character === null ? entity : padded(character, entity.length);
      })
    : untagged;
  return /[#|`*_[]/u.test(decoded) ? decoded.replace(MARKS, blank) : decoded;
};

/** Words of a shown text, with single spaces. */
export const tidied = (words: string): string => words.replaceAll(FILLER, "").replace(/\s+/gu, " ").trim();

/** A span of a text without cutting an entity at its end. */
export const wholeSpan = (text: string, { start, end }: Span): Span => {
  const from = text.lastIndexOf("&", end - 1);
  if (from < start || end - from > 12) return { start, end };
  ENTITY.lastIndex = from;
  const entity = ENTITY.exec(text);
  ENTITY.lastIndex = 0;
  const until = entity !== null && entity.index === from ? from + entity[0].length : end;
  return { start, end: Math.max(end, until) };
};
