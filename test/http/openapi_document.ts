import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { openApiDocument } from "../../src/api/openapi.ts";

/** Writes the OpenAPI document to the path where `npm run lint` checks it. */

/** Linters object to example.com and localhost as a server's address. */
const BASE_URL = "https://souk.test";

const folder = fileURLToPath(new URL("../../node_modules/.cache/souk/", import.meta.url));
await mkdir(folder, { recursive: true });
await writeFile(`${folder}openapi.json`, `${JSON.stringify(openApiDocument(ENDPOINTS, BASE_URL), null, 2)}\n`);
