import test from "ava";
import { formatSql, MAX_LINE } from "./sql_format.ts";
import { styleProblems } from "./sql_style.ts";
import { meaningOf } from "./sql_tokens.ts";

const lines = (...text: string[]) => `${text.join("\n")}\n`;

test("SQL with the right layout stays as it is", (t) => {
  const sql = lines(
    "-- One row is one offer.",
    "",
    "create table market.offer (",
    "  id uuid primary key",
    ");",
    "comment on table market.offer is 'One row is one offer.';",
    "",
    "-- Newest first.",
    "create or replace function market.newest(depth integer) returns setof market.offer",
    "  language sql stable",
    "as $$",
    "  select o from market.offer o",
    "  order by o.id desc limit depth",
    "$$;",
    "comment on function market.newest(integer) is 'The newest offers.';",
  );
  t.is(formatSql(sql), sql);
});

test("keywords and names become lower case; strings, quoted names and comments stay", (t) => {
  t.is(formatSql(`SELECT 'A', "B", $$C$$ FROM Offer -- D`), lines(`select 'A', "B", $$C$$ from offer -- D`));
});

test("a function body in dollar quotes is laid out, and a string in dollar quotes is not", (t) => {
  t.is(formatSql("do $$\nBEGIN\n\tNULL;  \nEND\n$$"), lines("do $$", "begin", "  null;", "end", "$$"));
  t.is(formatSql("select $$\n\tBEGIN  \n$$"), lines("select $$", "\tBEGIN  ", "$$"));
});

test("one blank line precedes a function and the comment above it, and there are never two blank lines", (t) => {
  t.is(
    formatSql("\n\nselect 1;\n-- Why.\ncreate or replace function a() returns int\nselect 2;\n\n\n\nselect 3;\n\n"),
    lines("select 1;", "", "-- Why.", "create or replace function a() returns int", "select 2;", "", "select 3;"),
  );
});

test("a line that is too long breaks between clauses first", (t) => {
  const columns = Array.from({ length: 7 }, (_, index) => `o.column_${index}`).join(", ");
  t.is(
    formatSql(`  select ${columns} from market.offer o where o.id = 1;`),
    lines(`  select ${columns} from market.offer o`, "  where o.id = 1;"),
  );
});

test("a list that is too long continues on an indented line", (t) => {
  const long = "x".repeat(60);
  t.is(formatSql(`perform a.b('${long}', '${long}');`), lines(`perform a.b('${long}',`, `  '${long}');`));
});

test("a string that is too long becomes strings on consecutive lines", (t) => {
  const words = Array.from({ length: 30 }, () => "sentence").join(" ");
  const formatted = formatSql(`comment on table market.offer is '${words}';`);
  t.deepEqual(formatted.split("\n").slice(0, 1), ["comment on table market.offer is"]);
  t.true(formatted.split("\n").every((line) => line.length <= MAX_LINE));
  t.is(meaningOf(formatted), meaningOf(`comment on table market.offer is '${words}';`));
  t.is(formatSql(formatted), formatted);
});

test("strings of a comment that fit on one line become one string", (t) => {
  t.is(formatSql("comment on table a is\n  'one '\n  'two';"), lines("comment on table a is 'one two';"));
});

test("the end of a comment line that is too long moves to the next line", (t) => {
  const word = "word ".repeat(23).trim();
  t.is(formatSql(`-- ${word} more and\n-- the rest.`), lines(`-- ${word}`, "-- more and the rest."));
  t.is(formatSql(`select 1; -- ${word} more`), lines(`-- ${word}`, "-- more", "select 1;"));
});

test("a signature that is too long has its arguments on lines of their own", (t) => {
  const listed = Array.from({ length: 8 }, (_, index) => `argument_${index} text`).join(", ");
  t.is(
    formatSql(`create or replace function a.b(${listed})\n  returns text\n  language sql stable`),
    lines(
      "create or replace function a.b(",
      `  ${listed.slice(0, -", argument_7 text".length)},`,
      "  argument_7 text",
    ).replace(/\n$/, "\n) returns text\n  language sql stable\n"),
  );
});

test("strings on consecutive lines mean the same as one string, and other changes change the meaning", (t) => {
  t.is(meaningOf("select 'a '\n  'b'"), meaningOf("SELECT 'a b'"));
  t.not(meaningOf("select 'a ', 'b'"), meaningOf("select 'a b'"));
  t.not(meaningOf("select 1 -- why"), meaningOf("select 1"));
});

test("a line that is too long and cannot be broken is reported", (t) => {
  const problems = styleProblems(`select 1;\nselect '${"x".repeat(MAX_LINE)}';\n`);
  t.is(problems.length, 1);
  t.regex(problems[0] ?? "", /^2: 130 characters\./);
});

test("a comparison that depends on the locale of the database is reported", (t) => {
  for (const locale of ["lower(a)", "initcap(a)", "a ~* 'b'", "a !~~* 'b'", "a ilike 'b'", "a::citext"])
    t.regex(styleProblems(`select\n  ${locale};`)[0] ?? "", /^2: .* depends on the locale/, locale);
  t.deepEqual(styleProblems(`-- lower(a)\nselect lower(a collate "C"), internal.lower_case(a);`), []);
});

test("a function that cannot be loaded again, or is not followed by its comment, is reported", (t) => {
  const sound = [
    "create or replace function a.b(c text default ';') returns text",
    "  language sql stable",
    "as $$ select 1; $$;",
    "comment on function a.b(text) is 'A sentence.';",
    "grant execute on function a.b(text) to souk_api;",
  ].join("\n");
  t.deepEqual(styleProblems(sound), []);
  t.regex(styleProblems(sound.replace("or replace ", ""))[0] ?? "", /^1: Write `create or replace`/);
  t.regex(styleProblems(sound.replace(/comment.*/, ""))[0] ?? "", /^1: Write `comment on function a\.b`/);
});
