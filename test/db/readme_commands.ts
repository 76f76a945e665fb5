import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Runs the commands of db/README.md literally, as an operator would copy them. */

const README = new URL("../../db/README.md", import.meta.url);

/** A dump of the schema has a few hundred kilobytes, and Node's default limit is one megabyte. */
export const OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Runs the block of commands that follows `<!-- name -->`.
 * @param options its working folder and environment, and the user to run as
 * @throws an Error if there is no such block, or if a command fails
 */
export const runCommands = async (
  name: string,
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number },
): Promise<void> => {
  const readme = await readFile(README, "utf8");
  const [, commands] = new RegExp(`<!-- ${name} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(readme) ?? [];
  if (commands === undefined) throw new Error(`db/README.md has no commands to ${name}.`);
  await promisify(execFile)("sh", ["-e", "-c", commands], { ...options, maxBuffer: OUTPUT_BYTES });
};
