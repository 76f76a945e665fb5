import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * `npm run lint` runs every check that needs no running service, and prints its name and how long it took. Arguments
 * select checks by name: `npm run lint -- sql`. A check that fails prints what it found and what to do.
 */

type Check = {
  name: string;
  /** What to do when the check fails, if its own output does not say so. */
  remedy: string;
  /** Commands that run one after another; each is a command line without quotes. */
  commands: string[];
  /** The folders that decide how the check ends. It is not repeated while they are as they were when it last passed. */
  inputs?: string[];
};

const OPENAPI = "node_modules/.cache/souk/openapi.json";

/** The slowest check is first, so that the others run beside it. */
const CHECKS: Check[] = [
  {
    name: "openapi",
    remedy: "Change the table of endpoints or the shapes, which the OpenAPI document is made from.",
    commands: [
      "node test/http/openapi_document.ts",
      `redocly lint --config .redocly.yaml ${OPENAPI}`,
      `spectral lint --ruleset .spectral.yaml --fail-severity hint ${OPENAPI}`,
      `node test/http/openapi_score.ts ${OPENAPI}`,
    ],
  },
  {
    name: "skill",
    remedy: "Change src/docs/skills/souk/SKILL.md, which assistants load whole.",
    commands: ["skill-check check src/docs/skills --no-security-scan --fail-on-warning"],
  },
  {
    name: "weights",
    remedy: "Run `npm run train`, which learns from the words and examples of db/data again.",
    commands: ["node src/reader/training/train.ts --check"],
    inputs: ["src/reader", "src/install", "db/data"],
  },
  {
    name: "biome",
    remedy:
      "`npm run format` mends layout and imports. Break an import cycle by moving what both files need to a third.",
    commands: ["biome check"],
  },
  {
    name: "unused",
    remedy:
      "Delete it. `npx knip --fix` no longer exports what only its own file uses. knip.json says where programs begin.",
    commands: ["knip"],
  },
  {
    name: "rooms",
    remedy: "Move what both files need to a folder below them, or pass it in. test/lint/rooms.ts has the order.",
    commands: ["node test/lint/rooms.ts"],
  },
  {
    name: "database",
    remedy:
      "Write casts where types differ (`::integer`). Exceptions stand in test/lint/plpgsql.ts, with their reasons.",
    commands: ["node test/lint/database.ts"],
  },
  {
    name: "sql",
    remedy: "`npm run format` lays SQL out.",
    commands: ["node test/lint/sql.ts"],
  },
];

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Keeps redocly from sending telemetry and from looking for newer versions of itself. */
const ENVIRONMENT = {
  ...process.env,
  PATH: [join(ROOT, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !CHECKS.some((check) => check.name === name));
if (unknown.length > 0) {
  say(`There is no check ${unknown.join(", ")}. There are: ${CHECKS.map(({ name }) => name).join(", ")}.`);
  process.exit(1);
}
const queue = CHECKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const start = performance.now();
const runners = Array.from({ length: Math.max(2, availableParallelism()) }, async () => {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) await run(check);
});
await Promise.all(runners);
say(`${process.exitCode === 1 ? "Something is to be mended." : "Everything is sound."} ${secondsSince(start)}`);

async function run({ name, remedy, commands, inputs = [] }: Check): Promise<void> {
  const began = performance.now();
  const passed = join(ROOT, `node_modules/.cache/souk/lint-${name}`);
  const state = await stateOf(inputs);
  if (inputs.length > 0 && (await readFile(passed, "utf8").catch(() => "")) === state) {
    say(`✔ ${name}, as nothing has changed since it passed`);
    return;
  }
  for (const command of commands) {
    const { code, output } = await outcome(command);
    if (code === 0) {
      // Our own programs print notes even if they succeed, for example that a check was skipped.
      if (program(command) === "node" && output !== "") say(output.trimEnd());
      continue;
    }
    say(`✘ ${name} ${secondsSince(began)}\n${output.trimEnd()}\n→ ${name}: ${remedy}`);
    process.exitCode = 1;
    return;
  }
  say(`✔ ${name} ${secondsSince(began)}`);
  if (inputs.length === 0) return;
  await mkdir(dirname(passed), { recursive: true });
  await writeFile(passed, state);
}

/** A hash of the files in these folders of the project. */
async function stateOf(folders: string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const folder of folders) {
    for (const name of (await readdir(join(ROOT, folder), { recursive: true })).sort()) {
      const text = await readFile(join(ROOT, folder, name)).catch(() => null);
      if (text !== null) hash.update(`${folder}/${name} ${text.length}\n`).update(text);
    }
  }
  return hash.digest("hex");
}

function program(command: string): string {
  return command.split(" ")[0] ?? "";
}

function outcome(command: string): Promise<{ code: number | null; output: string }> {
  const [, ...args] = command.split(" ");
  const child = spawn(program(command), args, { cwd: ROOT, env: ENVIRONMENT, stdio: ["ignore", "pipe", "pipe"] });
  const parts: Buffer[] = [];
  child.stdout.on("data", (part) => parts.push(part));
  child.stderr.on("data", (part) => parts.push(part));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output: Buffer.concat(parts).toString() }));
  });
}

function secondsSince(moment: number): string {
  return `${((performance.now() - moment) / 1000).toFixed(1)} s`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
