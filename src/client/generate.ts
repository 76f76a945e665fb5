import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, promisify } from "node:util";
import { ENDPOINTS } from "../http/endpoints.ts";
import { openApiDocument } from "../http/openapi.ts";

/**
 * `npm run client`: makes the typed client (`souk/client`) from the OpenAPI document. With `--check` it only says whether
 * the files here are what the document says.
 *
 *   api.js, api.d.ts        every operation and every type of the document, made by redocly
 *   client.js, client.d.ts  client.ts, for those who install this package: Node strips no types below node_modules
 */

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PROGRAMS = fileURLToPath(new URL("../../node_modules/.bin/", import.meta.url));
const FILES = ["api.js", "api.d.ts", "client.js", "client.d.ts"];

/** The document is the same at every address, except for the address. This is where `npm start` serves it. */
const BASE_URL = "http://127.0.0.1:3000";

/** As tsconfig.json in the root of the package, but it emits, and with the types of a browser: redocly's code runs in both. */
const COMPILER = {
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable"],
    types: [],
    module: "nodenext",
    strict: true,
    declaration: true,
    outDir: "made",
    rewriteRelativeImportExtensions: true,
  },
  include: ["*.ts"],
};

/** Makes the files of the client in a folder of their own. @returns the text of each file */
const make = async (): Promise<string[]> => {
  const folder = await mkdtemp(join(tmpdir(), "souk-client-"));
  // Redocly sends telemetry and looks for newer versions of itself unless it is told not to.
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(PROGRAMS, program), args, { cwd: folder, env });
  try {
    await writeFile(join(folder, "openapi.json"), JSON.stringify(openApiDocument(ENDPOINTS, BASE_URL)));
    await run("redocly", "generate-client", "openapi.json", "--config", join(HERE, "redocly.yaml"), "-o", "api.ts");
    await copyFile(join(HERE, "client.ts"), join(folder, "client.ts"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(COMPILER));
    await run("tsc", "-p", folder);
    return await Promise.all(FILES.map((file) => readFile(join(folder, "made", file), "utf8")));
  } finally {
    await rm(folder, { recursive: true });
  }
};

const made = await make();
if (process.argv[2] === "--check") {
  const here = await Promise.all(FILES.map((file) => readFile(join(HERE, file), "utf8").catch(() => null)));
  if (!isDeepStrictEqual(made, here)) {
    process.stderr.write("The client is not what the OpenAPI document says.\n");
    process.exitCode = 1;
  }
} else await Promise.all(FILES.map((file, i) => writeFile(join(HERE, file), made[i] ?? "")));
