import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ENDPOINTS } from "../api/endpoints.ts";
import { openApiDocument } from "../api/openapi.ts";

/**
 * `npm run client`: makes api.d.ts, the types of the client, from the OpenAPI document. It runs before the type check
 * and the tests, and does nothing if the document has not changed.
 */

const FILE = fileURLToPath(new URL("api.d.ts", import.meta.url));
const PROGRAMS = fileURLToPath(new URL("../../node_modules/.bin/", import.meta.url));

/** The document is the same at every address, except for the address. This is where `npm start` serves it. */
const BASE_URL = "http://127.0.0.1:3000";

/** As tsconfig.json in the root of the package, but it emits declarations, with the types of a browser. */
const COMPILER = ["--declaration", "--emitDeclarationOnly", "--target", "es2024", "--lib", "es2024,dom,dom.iterable"];

/** The document as types: redocly makes a program, of which only the declarations are kept. */
const typesOf = async (document: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "souk-client-"));
  // Redocly sends telemetry and looks for newer versions of itself unless it is told not to.
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(PROGRAMS, program), args, { cwd: folder, env });
  try {
    await writeFile(join(folder, "openapi.json"), document);
    await run("redocly", "generate-client", "openapi.json", "-o", "api.ts");
    await run("tsc", ...COMPILER, "--module", "nodenext", "--strict", "--types", "", "api.ts");
    return await readFile(join(folder, "api.d.ts"), "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
};

const document = JSON.stringify(openApiDocument(ENDPOINTS, BASE_URL));
const first = `// Made by \`npm run client\` from the OpenAPI document ${createHash("sha256").update(document).digest("hex")}.\n`;
if (!(await readFile(FILE, "utf8").catch(() => "")).startsWith(first)) {
  const calls = ENDPOINTS.map(
    ({ method, path, operationId }) => `  "${method.toUpperCase()} ${path}": Ops["${operationId}"];\n`,
  );
  const types = await typesOf(document);
  await writeFile(FILE, `${first}${types}/** The calls of the API. */\nexport type Calls = {\n${calls.join("")}};\n`);
}
