import { meaningOf, type Token, tokensOf } from "./sql_tokens.ts";

/**
 * The formatter of our SQL. No formatter that we found keeps comments and lays out PL/pgSQL as legibly as a person
 * does. So people lay out SQL, and this formatter mends only what is mechanical: the case of words, white space at line
 * ends, blank lines, and lines that are too long.
 *
 *   break  a place in a line where the rest may move to the next line
 */

/** The same as for TypeScript (biome.json): two files fit side by side on a screen. */
export const MAX_LINE = 120;

const INDENT = "  ";

/** The cost of one more line, in the unit of the costs of breaks below. */
const LINE_COST = 6;

/** A break inside parentheses or `case` costs this much per level, so that lines break between large parts first. */
const LEVEL_COST = 10;

/** A line that stays too long costs more than any break. */
const OVERFLOW_COST = 1000;

/** Tokens that end a line, and after which a new statement or a list of declarations begins. */
const ENDS = new Set([";", "begin", "then", "else", "loop", "declare"]);

/** If a line begins with one of these words, its continuation lines are indented, except those that begin a clause. */
const HEADS = new Set(
  "select insert update delete with set case if elsif grant create constraint perform return".split(" "),
);

/** Clauses. A line is most legible if it begins with a clause, so a break before a clause costs nothing. */
const CLAUSES = new Set(
  "from where join group order limit having union except returning values when else returns language".split(" "),
);

/** Parts of clauses, the next best places to break. */
const PARTS = new Set("on to using with for set offset check references constraint generated as is".split(" "));

/** An "or" after one of these words is not a condition: `create or replace`, `before insert or update`. */
const EVENTS = new Set(["create", "insert", "update", "delete", "truncate"]);

const JOIN_SIDES = new Set(["left", "right", "full", "cross", "inner"]);

/** Functions whose arguments are separated by `from`. */
const FROM_INSIDE = new Set(["extract", "substring", "trim", "overlay", "position", "both", "leading", "trailing"]);

const STARTS_BLOCK = /^create (or replace )?(function|procedure|table|view|materialized view|type|domain)\b/;

type Break = { at: number; level: number; cost: number };

/**
 * Lays SQL out: words in lower case, even indentation, lines of at most 120 characters where a line can be broken, one
 * blank line before each function, table, view and type, no white space at line ends. Laid-out SQL stays as it is.
 * @throws when the result would mean something else
 */
export function formatSql(sql: string): string {
  const result = blankLines(layOutAll(linesOf(sql))).join("\n");
  const formatted = result === "" ? "" : `${result}\n`;
  if (meaningOf(sql) !== meaningOf(formatted)) throw new Error("Laying this file out would change what it means.");
  return formatted;
}

/** The tokens of one line. A line ends at a line end of the file that is not inside a literal. */
type Line = Token[];

function linesOf(sql: string): Line[] {
  const lines: Line[] = [[]];
  for (const token of tokensOf(sql)) {
    if (token.kind === "newline") lines.push([]);
    else lines.at(-1)?.push(token);
  }
  return joinComments(joinCommentOn(joinReturns(lines.map(tidy))));
}

/** A line in lower case, indented by an even number of spaces, without white space at its end. */
function tidy(line: Line): Line {
  const tidied = line.map(({ kind, text }, index): Token => {
    if (kind === "word") return { kind, text: text.toLowerCase() };
    if (kind === "space") {
      const spaces = text.replaceAll("\t", INDENT);
      return { kind, text: index === 0 && spaces.length % 2 === 1 ? `${spaces} ` : spaces };
    }
    return { kind, text: kind === "comment" ? text.trimEnd() : text };
  });
  return tidied.at(-1)?.kind === "space" ? tidied.slice(0, -1) : tidied;
}

/** Puts `returns` on the line of the arguments, so that there is only one way to break the line. */
function joinReturns(lines: Line[]): Line[] {
  return lines.flatMap((line, index) => {
    const next = lines[index + 1] ?? [];
    const before = lines[index - 1] ?? [];
    const isFirst = isSignature(line) && !line.some(({ text }) => text.startsWith("--"));
    if (isSignature(before) && !before.some(({ text }) => text.startsWith("--")) && line[1]?.text === "returns")
      return [];
    return isFirst && next[1]?.text === "returns"
      ? [[...line, { kind: "space", text: " " }, ...next.slice(1)]]
      : [line];
  });
}

function isSignature(line: Line): boolean {
  return /^create (or replace )?function /.test(textOf(line));
}

/** Puts each `comment on ...` on one line, so that there is only one way to break it. */
function joinCommentOn(lines: Line[]): Line[] {
  const joined: Line[] = [];
  let open: Line | undefined;
  for (const line of lines) {
    if (open === undefined) {
      open = line[0]?.text === "comment" && line[2]?.text === "on" ? [] : undefined;
      if (open === undefined) {
        joined.push(line);
        continue;
      }
    }
    const rest = line.filter((token, index) => index > 0 || token.kind !== "space");
    const last = open.at(-1);
    const [first] = rest;
    if (last?.kind === "literal" && first?.kind === "literal" && first.text.startsWith("'")) {
      open.splice(-1, 1, { kind: "literal", text: last.text.slice(0, -1) + first.text.slice(1) }, ...rest.slice(1));
    } else {
      if (open.length > 0 && rest.length > 0) open.push({ kind: "space", text: " " });
      open.push(...rest);
    }
    if (open.some(({ text }) => text === ";") || line.length === 0) {
      joined.push(open);
      open = undefined;
    }
  }
  return open ? [...joined, open] : joined;
}

/** Moves the end of a comment line that is too long to the next line of the same comment. */
function joinComments(lines: Line[]): Line[] {
  const result: Line[] = [];
  let overflow = "";
  for (const [index, line] of lines.entries()) {
    const comment = ownComment(line);
    if (comment === undefined) {
      result.push(line);
      continue;
    }
    const { indent, text } = comment;
    const next = ownComment(lines[index + 1] ?? []);
    // Lines that begin with white space or a dash belong to a list or a table, and stay separate lines.
    const goesOn = next !== undefined && next.indent === indent && /^-- [^\s-]/.test(next.text);
    let whole: string = overflow === "" ? text : `-- ${overflow} ${text.slice(3)}`;
    overflow = "";
    while (indent.length + whole.length > MAX_LINE) {
      const cut = whole.lastIndexOf(" ", MAX_LINE - indent.length);
      if (cut <= 3) break;
      const rest = whole.slice(cut + 1);
      result.push(commentLine(indent, whole.slice(0, cut)));
      whole = `-- ${rest}`;
      if (goesOn && indent.length + whole.length <= MAX_LINE) {
        overflow = rest;
        break;
      }
    }
    if (overflow === "") result.push(commentLine(indent, whole));
  }
  return result;
}

function ownComment(line: Line): { indent: string; text: string } | undefined {
  const [first, second] = line;
  if (line.length === 1 && first?.text.startsWith("-- ")) return { indent: "", text: first.text };
  if (line.length === 2 && first?.kind === "space" && second?.text.startsWith("-- ")) {
    return { indent: first.text, text: second.text };
  }
  return undefined;
}

function commentLine(indent: string, text: string): Line {
  const comment: Token = { kind: "comment", text };
  return indent === "" ? [comment] : [{ kind: "space", text: indent }, comment];
}

function layOutAll(lines: Line[]): string[] {
  let last: Token | undefined;
  return lines.flatMap((line) => {
    const before = last;
    last = line.findLast(({ kind }) => kind !== "space" && kind !== "comment") ?? last;
    return layOut(line, before !== undefined && before.kind !== "quote" && !ENDS.has(before.text));
  });
}

/** Breaks one line. `goesOn` says that the line continues the statement of the line before. */
function layOut(line: Line, goesOn = false): string[] {
  const text = textOf(line);
  if (isShort(text) || ownComment(line) || line.some((token) => token.text.includes("\n"))) return [text];
  const [first] = line;
  const indent = first?.kind === "space" ? first.text : "";
  const tokens = first?.kind === "space" ? line.slice(1) : line;
  const last = tokens.at(-1);
  if (last?.text.startsWith("-- ") && tokens.length > 1) {
    const code = tidy(line.slice(0, -1));
    return [...layOutAll(joinComments([commentLine(indent, last.text)])), ...layOut(code, goesOn)];
  }
  return (
    breakBody(indent, tokens) ??
    breakSignature(indent, tokens) ??
    breakCommentOn(tokens) ??
    breakCode(indent, tokens, goesOn).flatMap((part) => breakLiteral(part))
  );
}

/** Moves a body that is on the same line as its quotes to lines of its own. */
function breakBody(indent: string, tokens: Token[]): string[] | undefined {
  const [open, close] = tokens.flatMap(({ kind }, index) => (kind === "quote" ? [index] : []));
  if (open === undefined || close === undefined) return undefined;
  const body = textOf(tokens.slice(open + 1, close)).trim();
  const statements = /^begin (.*;) end$/.exec(body)?.[1];
  const parts = statements === undefined ? [`${INDENT}${body}`] : ["begin", `${INDENT}${statements}`, "end"];
  return [textOf(tokens.slice(0, open + 1)), ...parts, textOf(tokens.slice(close))].flatMap((part) =>
    layOutAll(linesOf(indent + part)),
  );
}

/** Breaks the first line of a function before `returns` or, if that is not enough, around the list of arguments. */
function breakSignature(indent: string, tokens: Token[]): string[] | undefined {
  if (!isSignature(tokens)) return undefined;
  const open = tokens.findIndex(({ text }) => text === "(");
  const close = closing(tokens, open);
  if (open < 0 || close < 0) return undefined;
  const head = textOf(tokens.slice(0, close + 1));
  const rest = textOf(tokens.slice(close + 1)).trim();
  if (isShort(indent + head) && rest !== "") {
    return [indent + head, ...layOut(tidy(tokensOf(`${indent}${INDENT}${rest}`)))];
  }
  const listed = tokens.slice(open + 1, close);
  return [
    indent + textOf(tokens.slice(0, open + 1)),
    ...breakCode(indent + INDENT, listed, true),
    ...layOut(tidy(tokensOf(`${indent}) ${rest}`.trimEnd()))),
  ];
}

/** Moves the sentence of `comment on` to lines of its own. */
function breakCommentOn(tokens: Token[]): string[] | undefined {
  const sentence = tokens.findIndex(({ kind }) => kind === "literal");
  if (tokens[0]?.text !== "comment" || tokens[2]?.text !== "on" || sentence < 0) return undefined;
  const head = tidy(tokens.slice(0, sentence));
  return [...layOut(head), ...breakLiteral(INDENT + textOf(tokens.slice(sentence)), INDENT)];
}

/** Breaks a line of code at the places whose total cost is least. */
function breakCode(indent: string, tokens: Token[], goesOn: boolean): string[] {
  const head = tokens[0]?.text ?? "";
  const isClause = CLAUSES.has(head) || JOIN_SIDES.has(head) || HEADS.has(head);
  const breaks = breaksOf(tokens);
  const starts: Break[] = [{ at: 0, level: 0, cost: 0 }, ...breaks];
  const ends = [...breaks.map(({ at }) => at), tokens.length];
  // best[i] is the cheapest layout of the tokens from starts[i] on, and the start of its second line.
  const best: { cost: number; next: number }[] = [];
  for (let start = starts.length - 1; start >= 0; start -= 1) {
    best[start] = { cost: Number.POSITIVE_INFINITY, next: starts.length };
    for (let end = start; end < ends.length; end += 1) {
      const width =
        textOf(tokens.slice(starts[start]?.at, ends[end])).trimEnd().length +
        indent.length +
        (start > 0 ? INDENT.length : 0);
      const isLast = end === ends.length - 1;
      const overflow = Math.max(0, width - MAX_LINE);
      if (overflow > 0 && end > start) break;
      const cost =
        (overflow > 0 ? OVERFLOW_COST + overflow : 0) +
        (isLast
          ? 0
          : LINE_COST + (starts[end + 1]?.cost ?? 0) + (best[end + 1]?.cost ?? 0) + (MAX_LINE - width) / MAX_LINE);
      if (cost < (best[start]?.cost ?? 0)) best[start] = { cost, next: end + 1 };
    }
  }
  const lowest = Math.min(0, ...breaks.map(({ level }) => level));
  const lines: string[] = [];
  const levels: number[] = [];
  for (let start = 0; start < starts.length; ) {
    const next = best[start]?.next ?? starts.length;
    const { at, level } = starts[start] ?? { at: 0, level: 0 };
    const text = tokens[at]?.text ?? "";
    // A clause is aligned with the clause before it, and a part of a list with the part before it.
    const isSibling = level === lowest && (isClause ? CLAUSES.has(text) || JOIN_SIDES.has(text) : goesOn);
    if (start > 0 && !isSibling) {
      // Indents once for each level at which an earlier line began, even if other levels lie between.
      while ((levels.at(-1) ?? level) > level) levels.pop();
      if (levels.at(-1) !== level) levels.push(level);
    } else {
      levels.length = 0;
    }
    lines.push(indent + INDENT.repeat(levels.length) + textOf(tokens.slice(at, starts[next]?.at)).trim());
    start = next;
  }
  return lines;
}

function breaksOf(tokens: Token[]): Break[] {
  const breaks: Break[] = [];
  const between: number[] = [];
  const opened: string[] = [];
  let level = 0;
  let lowest = 0;
  const words = tokens.map(({ kind, text }) => (kind === "space" ? "" : text));
  const before = (index: number): string => words.slice(0, index).findLast((word) => word !== "") ?? "";
  const after = (index: number): string => words.slice(index + 1).find((word) => word !== "") ?? "";
  for (const [index, { kind, text }] of tokens.entries()) {
    const previous = before(index);
    const next = after(index);
    if (text === ")" || text === "]") {
      level -= 1;
      opened.pop();
    }
    if (text === "end" && next !== "if" && next !== "loop") {
      level -= 1;
    }
    lowest = Math.min(lowest, level);
    if (kind !== "space" && index > 0) {
      const isAfterSpace = tokens[index - 1]?.kind === "space";
      const cost = costOf(text, previous, next, opened.at(-1) ?? "", isAfterSpace, between.includes(level));
      if (cost !== undefined) breaks.push({ at: index, level, cost });
    }
    if (text === "between") between.push(level);
    else if (text === "and" && between.includes(level)) between.splice(between.indexOf(level), 1);
    if (text === "(" || text === "[") {
      level += 1;
      opened.push(previous);
    }
    if (text === "case" && previous !== "end") {
      level += 1;
    }
  }
  return breaks.map(({ at, level: own, cost }) => ({ at, level: own, cost: cost + (own - lowest) * LEVEL_COST }));
}

/** The cost of a break before a token, or undefined if no break is allowed there. */
function costOf(
  text: string,
  previous: string,
  next: string,
  call: string,
  isAfterSpace: boolean,
  isBetween: boolean,
): number | undefined {
  if (previous === "(" && text !== ")") return 9;
  if (previous === "as" && text !== "(") return undefined;
  if (!isAfterSpace || text === ";" || text === "then" || text === "loop") return undefined;
  if (previous === ",") return 4;
  if (JOIN_SIDES.has(text) && (next === "join" || next === "lateral")) return 0;
  if (text === "join" && JOIN_SIDES.has(previous)) return undefined;
  if (text === "from" && (previous === "distinct" || FROM_INSIDE.has(call))) return undefined;
  if (text === "by" || previous === "not" || previous === "no" || previous === "do") return undefined;
  if (text === "or" && EVENTS.has(previous)) return undefined;
  if (text === "check" && previous === "with") return undefined;
  if (CLAUSES.has(text)) return 0;
  if (text === "or") return 1;
  if (text === "and") return isBetween ? undefined : 2;
  if (previous === "then" || previous === "return") return 7;
  if (PARTS.has(text)) return text === "is" || text === "as" ? 12 : 3;
  if (text === "||") return 5;
  if (text === "+" || text === "-") return 6;
  if (previous === ":=" || previous === "=>") return 8;
  if (/^[<>=@~|&?#*/-]+$/.test(text)) return 12;
  return undefined;
}

/** Breaks a string that is too long into strings on consecutive lines, which PostgreSQL reads as one string. */
function breakLiteral(line: string, hanging?: string): string[] {
  if (isShort(line)) return [line];
  const indent = /^ */.exec(line)?.[0] ?? "";
  const below = typeof hanging === "string" ? hanging : `${indent}${line.trimStart().startsWith("'") ? "" : INDENT}`;
  const literal = literalsOf(line).findLast(({ start }) => start < MAX_LINE - 2);
  if (literal === undefined) return [line];
  // The closing quote of the first part needs a column, too.
  const last = Math.min(MAX_LINE - 1, literal.end - 1);
  const part = line.slice(0, last);
  const paragraph = literal.isEscaped ? part.lastIndexOf("\\n") + 2 : 0;
  const cut = paragraph > MAX_LINE / 2 ? paragraph : part.lastIndexOf(" ") + 1;
  if (cut <= literal.start + 1) return [line];
  return [`${line.slice(0, cut)}'`, ...breakLiteral(`${below}'${line.slice(cut)}`, below)];
}

/** The positions of the strings of a line that can be broken: those without an escaped quote. */
function literalsOf(line: string): { start: number; end: number; isEscaped: boolean }[] {
  let end = 0;
  return tokensOf(line).flatMap(({ kind, text }) => {
    const start = end;
    end += text.length;
    const isEscaped = /^e'/i.test(text) || /\\n/.test(text);
    const canBreak = kind === "literal" && /^e?'/i.test(text) && !text.includes("\\'");
    return canBreak ? [{ start: start + text.indexOf("'"), end, isEscaped }] : [];
  });
}

/** One blank line before each function, table, view or type with the comment above it, and never two blank lines. */
function blankLines(lines: string[]): string[] {
  const result: string[] = [];
  const isBlank = (line: string | undefined) => line === undefined || line.trim() === "";
  for (const line of lines) {
    if (isBlank(line) && isBlank(result.at(-1))) continue;
    if (STARTS_BLOCK.test(line)) {
      let start = result.length;
      while (result[start - 1]?.startsWith("--")) start -= 1;
      if (start > 0 && !isBlank(result[start - 1])) result.splice(start, 0, "");
    }
    result.push(line);
  }
  if (isBlank(result.at(-1))) result.pop();
  return result;
}

function closing(tokens: Token[], open: number): number {
  let level = 0;
  for (let index = Math.max(0, open); index < tokens.length; index += 1) {
    if (tokens[index]?.text === "(") level += 1;
    if (tokens[index]?.text === ")") level -= 1;
    if (level === 0) return index;
  }
  return -1;
}

function isShort(text: string): boolean {
  return [...text].length <= MAX_LINE;
}

function textOf(tokens: Token[]): string {
  return tokens.map(({ text }) => text).join("");
}
