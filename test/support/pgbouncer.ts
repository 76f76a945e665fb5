import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./postgres.ts";

/** A pooler in transaction mode, as Debian packages it, before a server that asks for no password. */

/** Where Debian and Homebrew put it. */
const PROGRAMS = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"];
/** It starts in milliseconds. */
const START_MS = 10_000;
const POLL_MS = 20;
/** The user that owns nothing, where a test runs as root. */
const NOBODY = 65_534;

/** A running pooler. */
export type PgBouncer = {
  /** Returns the URL of the server's database through the pooler. */
  urlFor: (role: string) => string;
  /** The URL of the pooler's own console. */
  console: string;
  stop: () => Promise<void>;
};

/**
 * Starts a pooler with few connections to the server, so that clients really share them.
 * @param server the URL of the database
 * @param size connections to the server for each role
 * @throws if it is not installed (test/support/install-postgres.sh installs it)
 */
export const startPgBouncer = async (server: string, size: number): Promise<PgBouncer> => {
  const program = PROGRAMS.find(existsSync);
  if (program === undefined) throw new Error("PgBouncer is not installed: run test/support/install-postgres.sh.");
  const folder = await mkdtemp(join(tmpdir(), "souk-pgbouncer-"));
  const { hostname, port: serverPort } = new URL(server);
  const port = await freePort();
  const settings = join(folder, "pgbouncer.ini");
  const users = join(folder, "users.txt");
  await writeFile(users, ["souk_api", "souk_worker", "postgres", "console"].map((user) => `"${user}" ""\n`).join(""));
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
admin_users = console
pool_mode = transaction
default_pool_size = ${size}
max_client_conn = 200
`,
  );
  // As root it refuses to run.
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  await chmod(folder, 0o755);
  const child = spawn(program, [settings], { stdio: ["ignore", "ignore", "pipe"], ...owner });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const abandon = () => void child.kill("SIGKILL");
  process.once("exit", abandon);
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    process.removeListener("exit", abandon);
    await rm(folder, { recursive: true, force: true });
  };
  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
  for (const deadline = performance.now() + START_MS; !(await listens()); await sleep(POLL_MS))
    if (performance.now() > deadline || child.exitCode !== null) {
      await stop();
      throw new Error(`PgBouncer did not start. ${printed}`);
    }
  const urlFor = (role: string) => {
    const through = new URL(server);
    through.username = role;
    through.port = String(port);
    return through.href;
  };
  return { urlFor, console: `postgres://console@127.0.0.1:${port}/pgbouncer`, stop };
};
