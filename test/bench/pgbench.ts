import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * The reference: pgbench, PostgreSQL's own load generator, which is written in C and runs the statement of a request
 * without HTTP. The difference to the service's time is the cost of carrying the request.
 */

/** A statement with its values. */
export type Statement = {
  /** SQL with $1, $2, ... */
  text: string;
  /** A null is written into the statement, because pgbench's variables cannot be null. */
  values: (string | null)[];
};
/** Transactions per second, and the time of each transaction. */
export type Sample = { rate: number; milliseconds: Float64Array };

const run = promisify(execFile);

/** Variables are global in pgbench, so their names contain the number of the script. */
const scriptOf = ({ text, values }: Statement, script: number): string =>
  `${text.replace(/\$(\d+)/g, (_, n: string) => (values[Number(n) - 1] === null ? "null" : `:v${script}_${n}`))};\n`;

/**
 * Runs the statements in random order for some seconds, over several connections, prepared once on each. Like the
 * service, it uses the login role of the HTTP layer.
 * @throws an Error if pgbench fails or a transaction fails
 */
export const runPgbench = async (
  server: { programs: string; port: number; database: string },
  statements: Statement[],
  options: { connections: number; threads: number; seconds: number },
): Promise<Sample> => {
  const directory = await mkdtemp(join(tmpdir(), "souk-pgbench-"));
  try {
    const args = ["--protocol=prepared", "--no-vacuum", "--log", "--host=127.0.0.1", "--username=souk_api"];
    args.push(`--port=${server.port}`, `--client=${options.connections}`, `--jobs=${options.threads}`);
    args.push(`--time=${options.seconds}`);
    for (const [script, statement] of statements.entries()) {
      const file = join(directory, `${script}.sql`);
      await writeFile(file, scriptOf(statement, script));
      args.push(`--file=${file}`);
      for (const [i, value] of statement.values.entries()) {
        if (value !== null) args.push("-D", `v${script}_${i + 1}=${value}`);
      }
    }
    const { stdout } = await run(join(server.programs, "pgbench"), [...args, server.database], {
      cwd: directory,
      // Other searches than ours may take longer than a statement of the service may.
      env: { ...process.env, PGOPTIONS: "-c statement_timeout=60s" },
    });
    const rate = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
    const failed = /number of failed transactions: (\d+)/.exec(stdout)?.[1];
    if (!(rate > 0) || failed !== "0") throw new Error(`pgbench did not measure anything:\n${stdout}`);
    const milliseconds: number[] = [];
    for (const file of await readdir(directory)) {
      if (!file.startsWith("pgbench_log.")) continue;
      const lines = (await readFile(join(directory, file), "utf8")).split("\n").filter(Boolean);
      // The third field is the time of the transaction in microseconds.
      for (const line of lines) milliseconds.push(Number(line.split(" ")[2]) / 1000);
    }
    return { rate, milliseconds: Float64Array.from(milliseconds) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
