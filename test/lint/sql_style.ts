import { MAX_LINE } from "./sql_format.ts";
import { type Token, tokensOf } from "./sql_tokens.ts";

/** Faults in the SQL of db/schema that the formatter cannot mend, as `line: what to do`. */
export function styleProblems(sql: string): string[] {
  return [...lineProblems(sql), ...localeProblems(sql), ...functionProblems(sql)];
}

function lineProblems(sql: string): string[] {
  return sql.split("\n").flatMap((text, index) => {
    const width = [...text].length;
    if (width <= MAX_LINE) return [];
    return [`${index + 1}: ${width} characters. Break the line; two strings on consecutive lines are one string.`];
  });
}

/** Functions and operators whose results depend on the locale of the database. */
const BY_LOCALE = /\b(?:lower|upper|initcap)\((?!.*collate "C")|~~?\*|\bilike\b|\bcitext\b/;

function localeProblems(sql: string): string[] {
  return sql.split("\n").flatMap((text, index) => {
    const [found] = BY_LOCALE.exec(text.replace(/^\s*--.*/, "")) ?? [];
    return found === undefined
      ? []
      : [
          `${index + 1}: \`${found}\` depends on the locale. Compare internal.lower_case or reading.fold of both sides.`,
        ];
  });
}

function functionProblems(sql: string): string[] {
  const statements = statementsOf(sql);
  return statements.flatMap(({ line, words }, index) => {
    const head = words.slice(0, 4).join(" ");
    const problems: string[] = [];
    if (/^create (function|view)/.test(head)) problems.push("Write `create or replace`: code is loaded again.");
    if (/^create (or replace )?function/.test(head)) {
      const name = functionName(words, words.indexOf("function") + 1);
      const next = statements[index + 1]?.words ?? [];
      const isNoted = next.slice(0, 3).join(" ") === "comment on function" && functionName(next, 3) === name;
      if (!isNoted)
        problems.push(`Write \`comment on function ${name}\` directly after the function, before its grants.`);
    }
    return problems.map((problem) => `${line}: ${problem}`);
  });
}

function functionName(words: string[], at: number): string {
  return words.slice(at, at + 3).join("");
}

type Statement = {
  /** The number of the line on which the statement begins, from 1. */
  line: number;
  /** The statement's tokens without white space, comments and bodies. */
  words: string[];
};

function statementsOf(sql: string): Statement[] {
  const statements: Statement[] = [];
  let words: string[] = [];
  let line = 1;
  let start = 1;
  let isBody = false;
  for (const token of tokensOf(sql)) {
    if (token.kind === "quote") isBody = !isBody;
    else if (!isBody && isCode(token)) {
      if (words.length === 0) start = line;
      if (token.text === ";") {
        statements.push({ line: start, words });
        words = [];
      } else words.push(token.text);
    }
    line += token.text.split("\n").length - 1;
  }
  return statements;
}

function isCode({ kind }: Token): boolean {
  return kind !== "space" && kind !== "newline" && kind !== "comment";
}
