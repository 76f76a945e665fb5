import { execFile } from "node:child_process";
import { promisify } from "node:util";

/**
 * Fails when the OpenAPI document becomes harder to use for programs that are models, as Redocly's score measures it.
 * The argument is the document's path.
 */

/** The lowest score, of 100. The document had 91 when this was written, and new endpoints may be a little worse. */
const LEAST = 85;

const { stdout } = await promisify(execFile)("redocly", ["score", "--format", "json", ...process.argv.slice(2)]);
const { agentReadiness } = JSON.parse(stdout) as { agentReadiness: number };
if (agentReadiness < LEAST) {
  process.stderr.write(
    `The score of the OpenAPI document is ${agentReadiness} of 100, and has to be at least ${LEAST}.\n` +
      "`npx redocly score` with the document says why: mostly members without descriptions or bounds.\n",
  );
  process.exitCode = 1;
}
