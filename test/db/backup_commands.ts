import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Runs the commands of the guide to backups literally, as an operator would copy them. */

const GUIDE = new URL("../../src/docs/guides/backup.md", import.meta.url);

/** A dump of the schema has a few hundred kilobytes, and Node's default limit is one megabyte. */
export const OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Returns the block of the guide whose first line has this language and name.
 * @throws an Error if there is no such block
 */
export const blockOf = async (language: "sh" | "sql", name: string): Promise<string> => {
  const guide = await readFile(GUIDE, "utf8");
  const [, block] = new RegExp(`^\`\`\`${language} ${name}\\n([\\s\\S]*?)\`\`\``, "m").exec(guide) ?? [];
  if (block === undefined) throw new Error(`The guide to backups has no block "${language} ${name}".`);
  return block;
};

/**
 * Runs a block of commands.
 * @param options its working folder and environment, and the user to run as
 * @throws an Error if there is no such block, or if a command fails
 */
export const runCommands = async (
  name: string,
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number },
): Promise<void> => {
  const commands = await blockOf("sh", name);
  await promisify(execFile)("sh", ["-e", "-c", commands], { ...options, maxBuffer: OUTPUT_BYTES });
};
