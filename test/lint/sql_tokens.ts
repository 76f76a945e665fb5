/**
 * Splits SQL text into tokens, for the formatter. The texts of the tokens, joined, are exactly the SQL text.
 *
 *   body  the text between the dollar quotes of a function or a `do` block; it is split into tokens like other code
 */

type TokenKind = "newline" | "space" | "comment" | "literal" | "name" | "quote" | "word" | "number" | "sign";

export type Token = {
  /**
   * `literal` is a string, or a dollar-quoted text that is not a body. `name` is a quoted identifier. `quote` is the
   * dollar quote at the start or end of a body. `word` is a keyword or an identifier. `sign` is an operator or
   * punctuation.
   */
  kind: TokenKind;
  text: string;
};

/** The first pattern that matches at a position wins. The patterns are sticky, so each looks at one position only. */
const PATTERNS: [TokenKind, RegExp][] = [
  ["newline", /\r?\n/y],
  ["space", /[^\S\n]+/y],
  ["comment", /--[^\n]*|\/\*[\s\S]*?\*\//y],
  ["literal", /e'(?:\\[\s\S]|''|[^'\\])*'/iy],
  ["literal", /(?:[bxn]|u&)?'(?:''|[^'])*'/iy],
  ["name", /(?:u&)?"(?:""|[^"])*"/iy],
  ["number", /\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?/iy],
  ["word", /[\p{L}_][\p{L}\p{N}_$]*/uy],
  ["sign", /::|:=|=>|\.\.|\$\d+|[-+*/<>=~!@#%^&|`?]+|[\s\S]/y],
];

const DOLLAR_QUOTE = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;

/** Splits SQL into tokens. */
export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  let body: string | undefined;
  let before = "";
  for (let at = 0; at < sql.length; ) {
    const token: Token = dollarQuoted(sql, at, body, before) ?? matched(sql, at);
    if (token.kind === "quote") body = body === undefined ? token.text : undefined;
    if (token.kind !== "space" && token.kind !== "newline" && token.kind !== "comment")
      before = token.text.toLowerCase();
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

/** The dollar quote that opens or closes a body at a position, or the whole dollar-quoted text if it is not a body. */
function dollarQuoted(sql: string, at: number, body: string | undefined, before: string): Token | undefined {
  DOLLAR_QUOTE.lastIndex = at;
  const quote = DOLLAR_QUOTE.exec(sql)?.[0];
  if (quote === undefined) return undefined;
  if (quote === body) return { kind: "quote", text: quote };
  const end = sql.indexOf(quote, at + quote.length);
  // A quote without a partner in this text closes a body that began on another line.
  if (end < 0 || (body === undefined && (before === "as" || before === "do"))) return { kind: "quote", text: quote };
  return { kind: "literal", text: sql.slice(at, end + quote.length) };
}

function matched(sql: string, at: number): Token {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at;
    const text = pattern.exec(sql)?.[0];
    if (text !== undefined) return { kind, text };
  }
  throw new Error("Every character is a token by itself.");
}

/**
 * The meaning of SQL apart from its layout: its code in lower case and its comments, without white space. Strings on
 * consecutive lines count as one string, as in PostgreSQL.
 */
export function meaningOf(sql: string): string {
  const code: string[] = [];
  const comments: string[] = [];
  let isNextLine = false;
  let lastKind: TokenKind | undefined;
  for (const { kind, text } of tokensOf(sql)) {
    if (kind === "comment") comments.push(...text.replace(/^--/, "").split(/\s+/).filter(Boolean));
    if (kind === "newline") isNextLine = true;
    if (kind === "comment" || kind === "newline" || kind === "space") continue;
    const last = code.at(-1);
    if (last !== undefined && isNextLine && lastKind === "literal" && text.startsWith("'")) {
      code[code.length - 1] = last.slice(0, -1) + text.slice(1);
    } else {
      code.push(kind === "word" ? text.toLowerCase() : text);
    }
    isNextLine = false;
    lastKind = kind;
  }
  return `${code.join("\n")}\n\n${comments.join(" ")}`;
}
