import { setFlagsFromString } from "node:v8";
import { type Config, readConfig } from "./config.ts";
import { createLog } from "./log.ts";

/** The command line. Each command imports its code when it runs, so that an API process does not load the worker. */

// On a machine with much memory, V8 lets garbage accumulate. With this flag a process needs about two thirds of the
// memory, at the same rate of requests (npm run bench prints both).
setFlagsFromString("--optimize-for-size");

const HELP = `Usage: node src/main.ts start | api | worker | migrate | moderator | demo

  start       migrate, then run the API and the worker in one process; brings its own database when DATABASE_URL is not set
  api         the API alone (DATABASE_URL)
  worker      the worker alone (DATABASE_URL)
  migrate     bring the database up to date (DATABASE_URL)
  moderator   add, remove or list moderators
  demo [URL]  two agents and their persons use a running service
`;

const serve =
  (command: "start" | "api" | "worker"): Command =>
  async (config) => {
    const log = createLog(config.logLevel);
    process.on("unhandledRejection", (error) => log.error({ err: error }, "a promise was dropped"));
    const { runService } = await import("./service.ts");
    await runService(command, config, log);
  };

const migrate: Command = async (config) => {
  if (!config.databaseUrl) throw new Error("Set DATABASE_URL to the database that is to be brought up to date.");
  const log = createLog(config.logLevel);
  const { migrate } = await import("./database/migrate.ts");
  await migrate(config.databaseUrl);
  log.info("the database is up to date");
};

const moderator: Command = async (config, args) => {
  const { runModeratorCommand } = await import("./admin/moderator.ts");
  const { text, ok } = await runModeratorCommand(config, args);
  (ok ? process.stdout : process.stderr).write(text);
  if (!ok) process.exitCode = 1;
};

const demo = async (args: readonly string[]): Promise<void> => {
  const { playDemo } = await import("./demo.ts");
  await playDemo(args[0] ?? process.env["BASE_URL"] ?? "http://127.0.0.1:3000");
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
  // The demo is a client, so it does not read the configuration of the service.
  if (name === "demo") return demo(args);
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
