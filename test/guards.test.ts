import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";

/** Rules that the sources themselves can be held to. Each test lists the offenders; a sound tree has none. */

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What other programs write, and what is no source. */
const NOT_OURS = new Set(["node_modules", ".git", ".data", "package-lock.json"]);

const TEXT = new Set(["", ".ts", ".sql", ".md", ".json", ".json5", ".yml", ".yaml", ".sh", ".css", ".eta", ".html"]);

type Source = { path: string; text: string };

async function sourcesIn(folder: string): Promise<Source[]> {
  const found: Source[] = [];
  const entries = await readdir(join(ROOT, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (NOT_OURS.has(entry.name)) continue;
    if (entry.isDirectory()) found.push(...(await sourcesIn(path)));
    if (entry.isFile() && TEXT.has(extname(entry.name))) {
      found.push({ path, text: await readFile(join(ROOT, path), "utf8") });
    }
  }
  return found;
}

/** The lines that match, as `path:line: text`. */
function linesThatMatch(sources: Source[], pattern: RegExp): string[] {
  return sources.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

/** A pattern put together from pieces, so that this file does not match it. */
function pattern(...pieces: string[]): RegExp {
  return new RegExp(pieces.join(""));
}

test("nothing is left to be done later", async (t) => {
  t.deepEqual(linesThatMatch(await sourcesIn("."), pattern("\\b(TO", "DO|FIX", "ME|X", "XX|HA", "CK)\\b")), []);
});

test("the service logs through its logger", async (t) => {
  const sources = [...(await sourcesIn("src")), ...(await sourcesIn("worker"))];
  t.deepEqual(linesThatMatch(sources, pattern("\\bconsole", "\\.")), []);
});

test("no file names a path of the machine it was written on", async (t) => {
  const paths = pattern("(^|[^\\w.])/(work", "|root", "|tmp", "|home/\\w+", "|Users/\\w+)/");
  t.deepEqual(linesThatMatch(await sourcesIn("."), paths), []);
});

test("every test runs", async (t) => {
  t.deepEqual(
    linesThatMatch(await sourcesIn("test"), pattern("\\btest(\\.\\w+)*\\.(only|skip|todo", "|failing)\\b")),
    [],
  );
});

test("index.sql names every file of db/schema once, and no other", async (t) => {
  const index = await readFile(join(ROOT, "db/schema/index.sql"), "utf8");
  const named = [...index.matchAll(/^--!include (\S+)$/gm)].map(([, path]) => `db/schema/${path}`);
  const files = (await sourcesIn("db/schema")).map(({ path }) => path).filter((path) => path.endsWith(".sql"));
  t.deepEqual(
    named.toSorted(),
    files.filter((path) => path !== "db/schema/index.sql").toSorted(),
    "db/schema/index.sql and the folder differ",
  );
});

test("in containers, each process is given every variable that it uses", async (t) => {
  const [example, compose] = await Promise.all(
    [".env.example", "docker-compose.yml"].map((path) => readFile(join(ROOT, path), "utf8")),
  );
  const all = [...(example ?? "").matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name ?? "");
  t.true(all.includes("SMTP_URL"));
  const given = (service: string): string[] => {
    const block = new RegExp(`^  ${service}:\\n((?: {4}.*\\n|\\n)+)`, "m").exec(compose ?? "")?.[1] ?? "";
    const names = [...block.matchAll(/^ {6}([A-Z_]+): /gm)].map(([, name]) => name ?? "");
    // Read by the driver, and not by us.
    return names.filter((name) => name !== "PGPASSWORD").toSorted();
  };
  // The port is published as 3000, and there is no embedded database.
  const everywhere = all.filter((name) => name !== "PORT" && name !== "DATA_DIR");
  const ofWorkerOnly = ["EXTRACTION_MODEL"];
  const ofApiOnly = /^(GOOGLE|APPLE)_|^(TRUST_PROXY|CONNECTIONS_PER_HOUR|DATABASE_READ_URL|DATABASE_POOL_SIZE)$/;
  t.deepEqual(given("api"), everywhere.filter((name) => !ofWorkerOnly.includes(name)).toSorted());
  t.deepEqual(given("worker"), everywhere.filter((name) => !ofApiOnly.test(name)).toSorted());
});

test("the worker loads no page", async (t) => {
  t.deepEqual(linesThatMatch(await sourcesIn("worker"), pattern('from "[^"]*/pag', "es/")), []);
});

test("every foreign key says what happens on delete", async (t) => {
  const schema = await sourcesIn("db/schema");
  const offenders = schema.flatMap(({ path, text }) =>
    statementsOf(text)
      .flatMap((statement) => statement.match(/\breferences\s+\w+\.\w+[^,;]*/g) ?? [])
      .filter((reference) => !/\bon delete\b/.test(reference))
      .map((reference) => `${path}: ${reference.trim()}`),
  );
  t.deepEqual(offenders, []);
});

test("every function says its language and its volatility", async (t) => {
  const schema = await sourcesIn("db/schema");
  const offenders = schema.flatMap(({ path, text }) =>
    [...text.matchAll(/^create (?:or replace )?function (\S+?)\([\s\S]*?(?:\bas \$|\breturn\b|\bbegin atomic\b)/gm)]
      .filter(([header]) => !/\b(immutable|stable|volatile)\b/.test(header) || !/\blanguage \w+/.test(header))
      .map(([, name]) => `${path}: ${name}`),
  );
  t.deepEqual(offenders, []);
});

/** The table definitions of a file: comments and function bodies say `references` for other reasons. */
function statementsOf(sql: string): string[] {
  const bare = sql
    .replace(/--.*$/gm, "")
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "")
    .replace(/'(?:[^']|'')*'/g, "''");
  return bare.split(";").filter((statement) => /^\s*(create|alter) table\b/.test(statement));
}
