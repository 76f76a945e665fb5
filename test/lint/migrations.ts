import { tokensOf } from "./sql_tokens.ts";

/**
 * What would close the market in a migration of a large one: a lock that keeps callers out for as long as a table is read
 * or written. A statement that is quick for another reason has that reason in a comment `-- quick: ...` above it.
 */

type Statement = { text: string; isQuick: boolean };

const statementsOf = (sql: string): Statement[] => {
  const statements: Statement[] = [];
  let words: string[] = [];
  let isQuick = false;
  for (const { kind, text } of tokensOf(sql)) {
    if (kind === "comment") isQuick ||= words.length === 0 && /^-- quick: \S/.test(text);
    else if (text === ";") {
      statements.push({ text: words.join(" "), isQuick });
      words = [];
      isQuick = false;
    } else if (kind === "literal") words.push("''");
    else if (kind !== "space" && kind !== "newline") words.push(text.toLowerCase());
  }
  return statements;
};

const ALONE =
  "The build of an index is a file of its own: `--! no-transaction`, then `create index concurrently if not exists ...`.";

/** What a statement on a table that is there already would do, and what to write instead. */
const SLOW: readonly (readonly [RegExp, string])[] = [
  [/^create (unique )?index (?!concurrently)/, ALONE],
  [/^(create|drop|reindex).* concurrently/, ALONE],
  [
    /^alter table .*add (constraint \w+ )?(check|foreign key)(?!.*not valid)/,
    "Add the constraint `not valid`, and validate it in a later file.",
  ],
  [
    /^alter table .*add (constraint \w+ )?(unique|primary key)(?! using index)|^alter table .*add (constraint \w+ )?exclude/,
    "Build a unique index in a file before, and add the constraint `using index`.",
  ],
  [
    /^alter table .*add column .*(references|check|unique|primary key|generated|default (?!''|\d|null|true|false|now \( \)))/,
    "Add a column without constraints and with a constant default. Fill it in batches, in a job.",
  ],
  [/^alter table .*alter (column )?\w+ (set data )?type /, "Changing a type rewrites the table: add a column instead."],
  [
    /^alter table .*set not null/,
    "Reading the whole table keeps everybody out: validate `check (... is not null)` before, and say so in `-- quick: `.",
  ],
  [/^alter table .*set (logged|unlogged|tablespace)/, "This rewrites the table."],
  [
    /^alter table .*attach partition/,
    "Validate a check constraint with the bounds before, and say so in `-- quick: `.",
  ],
  [/^(update|delete|insert into .*select|merge) /, "Change rows in batches, in a job."],
  [/^(cluster|vacuum|lock|reindex|refresh|truncate)/, "This keeps everybody out."],
];

/** The faults of a migration's text, each as one sentence. */
export const migrationProblems = (sql: string): string[] => {
  const statements = statementsOf(sql);
  if (/^--! no-transaction$/m.test(sql)) {
    const [only = { text: "" }] = statements;
    const isIndex = /^create (unique )?index concurrently if not exists \w+ on |^drop index concurrently if exists /;
    return statements.length === 1 && isIndex.test(only.text) ? [] : [ALONE];
  }
  const made = statements.flatMap(({ text }) => /^create table (\w+ \. \w+)/.exec(text)?.[1] ?? []);
  const validated = statements.some(({ text }) => /validate constraint/.test(text));
  const problems = statements.flatMap(({ text, isQuick }) => {
    if (isQuick || made.some((table) => text.includes(table))) return [];
    return SLOW.flatMap(([form, instead]) => (form.test(text) ? [`${text.slice(0, 60)}: ${instead}`] : [])).slice(0, 1);
  });
  if (validated && statements.some(({ text }) => !/validate constraint|^set local/.test(text)))
    problems.push(
      "Validating a constraint reads the whole table: it is a file of its own, so that no other lock is held.",
    );
  return problems;
};
