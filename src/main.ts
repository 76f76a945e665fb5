import cluster from "node:cluster";
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { loadEnvFile } from "node:process";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { createLog } from "./base/log.ts";
import { type Config, readConfig } from "./config.ts";

/** The command line. Each command imports its code when it runs, so that an API process does not load the worker. */

// On a machine with much memory, V8 lets the heap grow to several times what is in use before it collects garbage. With
// this flag and the small space for new objects in package.json, a process needs half the memory, for a tenth more
// processor time. The other two settings there are for glibc. MALLOC_ARENA_MAX: it would keep an arena of freed memory
// for each of Node's threads, 30 MB in all. MALLOC_TRIM_THRESHOLD_: with each large piece that is freed it would keep
// more, 60 MB after the embedded database has been compiled.
setFlagsFromString("--heap-growing-percent=30");

// Node compiles the TypeScript sources at every start. With the cache of an earlier start, a process starts in about
// half the time and needs 20 MB less. The folder is not a shared one such as /tmp, where others could put code. If it
// cannot be written, nothing is kept.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/souk", import.meta.url)));

/** The variables of a developer or of a small server. It is looked for in the working folder, as .data is. */
const ENV_FILE = ".env";

const HELP = `Usage: node src/main.ts start | api | worker | migrate | moderator | dashboard | demo | agent

  start       migrate, then run the API and the worker in one process; brings its own database when DATABASE_URL is not set
  api         the API alone (DATABASE_URL)
  worker      the worker alone (DATABASE_URL)
  migrate     bring the database up to date (DATABASE_URL)
  moderator   add, remove or list moderators
  dashboard   print the dashboard for Grafana
  demo [URL]  two agents and their persons use a running service
  agent TEXT  an agent of yours publishes, searches, asks and buys in a running service (agent --help)
`;

const serve =
  (command: "start" | "api" | "worker"): Command =>
  async (config) => {
    const log = createLog(config.logLevel);
    process.on("unhandledRejection", (error) => log.error({ err: error }, "a promise was dropped"));
    if (command === "api" && config.apiProcesses > 1 && cluster.isPrimary) {
      if (!config.databaseUrl) throw new Error("Set DATABASE_URL: only `npm start` brings its own database.");
      const { runProcesses } = await import("./processes.ts");
      return runProcesses(config, log);
    }
    const { runService } = await import("./service.ts");
    await runService(command, config, log);
  };

const migrate: Command = async (config) => {
  if (!config.databaseUrl) throw new Error("Set DATABASE_URL to the database that is to be brought up to date.");
  const log = createLog(config.logLevel);
  const { migrate } = await import("./install/migrate.ts");
  await migrate(config.databaseDirectUrl ?? config.databaseUrl, { refuseSuperuser: true });
  log.info("the database is up to date");
};

const moderator: Command = async (config, args) => {
  const { runModeratorCommand } = await import("./admin/moderator.ts");
  const databaseUrl = config.databaseDirectUrl ?? config.databaseUrl;
  const { text, ok } = await runModeratorCommand({ databaseUrl, dataDir: config.dataDir }, args);
  (ok ? process.stdout : process.stderr).write(text);
  if (!ok) process.exitCode = 1;
};

const printDashboard = async (): Promise<void> => {
  const { dashboard } = await import("./metrics/dashboard.ts");
  process.stdout.write(`${JSON.stringify(dashboard(), null, 2)}\n`);
};

const demo = async (args: readonly string[]): Promise<void> => {
  const { playDemo } = await import("./demo.ts");
  await playDemo(args[0] ?? (process.env["BASE_URL"] || "http://127.0.0.1:3000"));
};

/** A command. @throws an Error whose message is printed to the person who runs it */
type Command = (config: Config, args: readonly string[]) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  start: serve("start"),
  api: serve("api"),
  worker: serve("worker"),
  migrate,
  moderator,
};

const main = async (): Promise<void> => {
  const [name = "", ...args] = process.argv.slice(2);
  // A variable of the environment stays as it is, even an empty one.
  if (existsSync(ENV_FILE)) loadEnvFile(ENV_FILE);
  // These do not read the configuration of the service.
  if (name === "dashboard") return printDashboard();
  if (name === "demo") return demo(args);
  if (name === "agent") return (await import("./agent.ts")).runAgent(args);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return command(readConfig(process.env), args);
  process.stderr.write(HELP);
  process.exitCode = 2;
};

main().then(
  // End the process even if something, such as a provider's socket, keeps the event loop alive.
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
