import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { access, chmod, chown, constants, glob, mkdtemp, readFile, realpath, rm, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";

/**
 * The PostgreSQL server of a test run: a given one, or a temporary one.
 *
 *   installation  a folder of PostgreSQL programs on this machine, new enough and with pgvector
 *   cluster       a temporary server made from an installation, with its own folder and port, deleted at the end
 *   server        the server that a test run uses: a cluster, or the server of DATABASE_URL
 *
 * `npm test` (test/run.ts) finds the server once. A test that stops or breaks a server makes a cluster of its own with
 * `startCluster`, so that the other tests are not affected.
 */

/** The moderators' schema needs views with `security_invoker`, which PostgreSQL 15 introduced. */
const OLDEST_VERSION = 15;

/** initdb takes seconds. A minute covers an overloaded machine and is still shorter than a hanging test run. */
const PROGRAM_TIMEOUT_MS = 60_000;

/** A running server answers at once. The limit is short because somebody may be waiting at a terminal. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Later runs drop the databases of killed runs after this time. No test run lasts a day. */
const LEFT_BEHIND = "1 day";

/**
 * Linux keeps files of this folder in memory. A database is hundreds of files, which a disk creates several times
 * slower.
 */
const MEMORY_FOLDER = "/dev/shm";

/** A test database takes some 13 MB, and the WAL up to 1 GB. Containers often have only 64 MB of shared memory. */
const MEMORY_NEEDED_BYTES = 4 * 2 ** 30;

const INSTALL_SCRIPT = fileURLToPath(new URL("install-postgres.sh", import.meta.url));

const run = promisify(execFile);

type Installation = { version: number; programs: string; extensions: string };

type Owner = { uid: number; gid: number };

type StopMode = "smart" | "fast" | "immediate";

/** A temporary cluster. */
export type Cluster = {
  /** The URL of the database `postgres` for a superuser. */
  url: string;
  port: number;
  /** The folder of the PostgreSQL programs that made the cluster. */
  programs: string;
  /** The cluster's folder: `data`, the server's `log`, and the Unix socket. In memory if possible. */
  directory: string;
  /** Starts the server again after `halt`, on the same port. Resolves when it accepts connections. */
  start: () => Promise<void>;
  /** Stops the server and keeps its data, as an operator or a crash would. */
  halt: (mode: StopMode) => Promise<void>;
  /** Returns everything that the server has logged. */
  log: () => Promise<string>;
  /** Stops the server and deletes its folder. */
  destroy: () => Promise<void>;
};

/** The server of a test run. */
export type Server = {
  /** The URL of a database for a superuser. The tests create others beside it. */
  url: string;
  /** Destroys a cluster. On a given server, drops only this run's databases. */
  release: () => Promise<void>;
};

/**
 * Finds or makes the server of a test run: DATABASE_URL, or else a temporary cluster. Installs PostgreSQL if there is
 * none and this process may.
 * @param testRun the run's name, with which the names of its databases begin (test/support/database.ts)
 * @param preparedData returns the data folder that a temporary cluster copies (test/support/prepared.ts)
 * @throws an Error that says what to do if there is no server
 */
export async function findServer(testRun: string, preparedData: () => Promise<string>): Promise<Server> {
  const given = process.env["DATABASE_URL"];
  if (given) {
    await demandSuperuserWithVector(given);
    return { url: given, release: () => dropTestDatabases(given, testRun) };
  }
  if (!(await findInstallation())) await install();
  const cluster = await startCluster({}, await preparedData());
  return { url: cluster.url, release: cluster.destroy };
}

/**
 * Makes a temporary cluster: trust authentication, on 127.0.0.1 and a Unix socket, nothing flushed to disk. It is
 * deleted by `destroy`, or when this process ends in any way, SIGKILL included.
 * @param settings lines for postgresql.conf, which override the defaults
 * @param source a running cluster, of which the new one becomes a streaming standby (it needs `wal_level` replica and
 *   `max_wal_senders`), or the data folder of a stopped one, which is copied
 * @throws an Error if no PostgreSQL with pgvector is installed, or if the server does not start
 */
export async function startCluster(settings: Record<string, string> = {}, source?: Cluster | string): Promise<Cluster> {
  const installation = await demandInstallation();
  const owner = await serverOwner();
  const directory = await mkdtemp(join(await temporaryFolder(), "souk-test-"));
  if (owner) await chown(directory, owner.uid, owner.gid);
  await chmod(directory, 0o700);
  const data = join(directory, "data");
  const as = { cwd: directory, timeout: PROGRAM_TIMEOUT_MS, ...owner };
  const program = (name: string, ...args: string[]) => run(join(installation.programs, name), args, as);

  const watchdog = spawn("/bin/sh", ["-c", WATCHDOG, "watchdog", join(installation.programs, "pg_ctl"), directory], {
    cwd: directory,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    ...owner,
  });
  const gone = new Promise<void>((resolve) => {
    watchdog.once("exit", () => resolve());
    watchdog.once("error", () => resolve());
  });
  // A test that forgets to destroy its cluster must not keep its process alive.
  watchdog.unref();
  const destroy = async () => {
    watchdog.ref();
    watchdog.stdin.end();
    await gone;
    await rm(directory, { recursive: true, force: true });
  };

  try {
    if (typeof source === "string") {
      await run("cp", ["-a", `${source}/.`, data]);
      if (owner) await run("chown", ["-R", `${owner.uid}:${owner.gid}`, data]);
    } else if (source) {
      await program(
        "pg_basebackup",
        `--dbname=${source.url}`,
        `--pgdata=${data}`,
        "--write-recovery-conf",
        "--checkpoint=fast",
      );
    } else {
      const locale = process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8";
      await program(
        "initdb",
        "--no-sync",
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        `--locale=${locale}`,
        `--pgdata=${data}`,
      );
    }
    const port = await freePort();
    const options = Object.entries({ ...defaults(installation, directory), ...settings, port: String(port) })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" ");
    const readLog = () => readFile(join(directory, "log"), "utf8");
    const start = async () => {
      const args = ["start", "--wait", `--pgdata=${data}`, `--log=${join(directory, "log")}`, "-o", options];
      await program("pg_ctl", ...args).catch(async (error: unknown) => {
        throw new Error(`The throwaway PostgreSQL did not start. ${await readLog().catch(() => "")}`, { cause: error });
      });
    };
    const halt = async (mode: StopMode) => {
      await program("pg_ctl", "stop", "--wait", `--pgdata=${data}`, `--mode=${mode}`);
    };
    await start();
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const { programs } = installation;
    return {
      url,
      port,
      programs,
      directory,
      start,
      halt,
      log: readLog,
      destroy,
    };
  } catch (error) {
    await destroy();
    throw error;
  }
}

/** Returns a TCP port of 127.0.0.1 on which nobody listens at this moment. */
export async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve, reject) => listener.once("error", reject).listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  if (address === null || typeof address === "string") throw new Error("A TCP listener has a port.");
  return address.port;
}

/** Waits until its standard input closes, which happens however its parent process ends, and then cleans up. */
const WATCHDOG = `
cat > /dev/null
"$1" stop --pgdata="$2/data" --mode=immediate > /dev/null 2>&1
rm -rf "$2"
`;

function defaults(installation: Installation, directory: string): Record<string, string> {
  const statements = existsSync(join(installation.extensions, "pg_stat_statements.control"));
  return {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: directory,
    // Several test files run at once, each service has connection pools, and one test has hundreds of writers.
    max_connections: "600",
    // Enough for all test databases at once. With less, the tests would measure the disk.
    shared_buffers: "256MB",
    // A crash of the machine would lose data that is thrown away anyway.
    fsync: "off",
    full_page_writes: "off",
    synchronous_commit: "off",
    // Creating a database makes a checkpoint or logs the copy. These settings keep both cheap.
    wal_level: "minimal",
    max_wal_senders: "0",
    max_wal_size: "1GB",
    checkpoint_timeout: "1h",
    timezone: "UTC",
    log_timezone: "UTC",
    shared_preload_libraries: statements ? "pg_stat_statements" : "''",
  };
}

/** Returns a folder in memory if it has enough space and TMPDIR is unset, or else the usual one. */
async function temporaryFolder(): Promise<string> {
  const usual = await realpath(tmpdir());
  if (process.env["TMPDIR"] || process.platform !== "linux") return usual;
  try {
    await access(MEMORY_FOLDER, constants.W_OK);
    const { bavail, bsize } = await statfs(MEMORY_FOLDER);
    return Math.min(bavail * bsize, process.availableMemory()) < MEMORY_NEEDED_BYTES ? usual : MEMORY_FOLDER;
  } catch {
    return usual;
  }
}

/** Returns the version of PostgreSQL that clusters are made from, such as 15. @throws if there is none */
export async function installedVersion(): Promise<number> {
  return (await demandInstallation()).version;
}

async function demandInstallation(): Promise<Installation> {
  const installation = await findInstallation();
  if (!installation) throw new Error(whatToDo());
  return installation;
}

async function findInstallation(): Promise<Installation | undefined> {
  const found: Installation[] = [];
  for (const programs of await programFolders()) {
    const installation = await describe(programs).catch(() => undefined);
    if (installation) found.push(installation);
  }
  return found
    .filter(({ version, extensions }) => version >= OLDEST_VERSION && existsSync(join(extensions, "vector.control")))
    .sort((one, other) => other.version - one.version)[0];
}

async function programFolders(): Promise<Set<string>> {
  const folders = new Set<string>();
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const program = join(folder, "pg_ctl");
    // The PATH often has only links. The other programs are beside their targets.
    if (existsSync(program)) folders.add(dirname(await realpath(program)));
  }
  const told = await run("pg_config", ["--bindir"]).catch(() => undefined);
  if (told) folders.add(told.stdout.trim());
  const usual = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
  ];
  for await (const folder of glob(usual)) folders.add(folder);
  return folders;
}

async function describe(programs: string): Promise<Installation | undefined> {
  if (!["initdb", "pg_ctl", "postgres"].every((name) => existsSync(join(programs, name)))) return undefined;
  const { stdout } = await run(join(programs, "postgres"), ["--version"]);
  const version = Number(/\d+/.exec(stdout)?.[0]);
  // As root, initdb does not even show its settings.
  const owner = await serverOwner();
  const shown = await run(join(programs, "initdb"), ["--show", "--pgdata=nowhere"], { cwd: "/", ...owner });
  const share = /^share_path=(.*)$/m.exec(shown.stderr + shown.stdout)?.[1];
  return share ? { version, programs, extensions: join(share, "extension") } : undefined;
}

/** Returns the user to run PostgreSQL as if this process is root, because PostgreSQL refuses to run as root. */
async function serverOwner(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const account = accounts.find(([name]) => name === "postgres") ?? accounts.find(([name]) => name === "nobody");
  if (!account) throw new Error("PostgreSQL does not run as root: make an account named postgres.");
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

async function install(): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) throw new Error(whatToDo());
  const installer = spawn("bash", [INSTALL_SCRIPT], { stdio: ["ignore", "inherit", "inherit"] });
  const code = await new Promise<number | null>((resolve, reject) => {
    installer.once("error", reject);
    installer.once("exit", resolve);
  });
  if (code !== 0 || !(await findInstallation())) throw new Error(`Installing PostgreSQL failed. ${whatToDo()}`);
}

function whatToDo(): string {
  return [
    `The tests need a PostgreSQL server, ${OLDEST_VERSION} or newer, with pgvector.`,
    "Either set DATABASE_URL to a superuser's URL of one that you have,",
    "or install PostgreSQL and pgvector, and the tests make a throwaway cluster from it:",
    "  Debian, Ubuntu   sudo bash test/support/install-postgres.sh",
    "  macOS            brew install postgresql@17 pgvector",
  ].join("\n");
}

async function demandSuperuserWithVector(url: string): Promise<void> {
  await withServer(url, async (client) => {
    const { rows } = await client.query<{ superuser: boolean; vector: boolean }>(`
      select
        current_setting('is_superuser') = 'on' as superuser,
        exists (select from pg_available_extensions where name = 'vector') as vector
    `);
    if (!rows[0]?.superuser) throw new Error("DATABASE_URL must name a superuser: tests make databases and roles.");
    if (!rows[0].vector) throw new Error("The server of DATABASE_URL has no pgvector to install.");
  });
}

/** Drops this run's databases and those that killed runs left behind. The template stays for the next run. */
async function dropTestDatabases(url: string, testRun: string): Promise<void> {
  await withServer(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select datname as name from pg_database
       where datname like 'souk\\_test\\_' || $1 || '\\_%'
          or (datname like 'souk\\_test\\_%' or datname like 'souk\\_template\\_%')
             and (pg_stat_file('base/' || oid || '/PG_VERSION', true)).modification < now() - $2::interval`,
      [testRun, LEFT_BEHIND],
    );
    for (const { name } of rows) {
      await client.query(`alter database ${name} is_template false`);
      await client.query(`drop database if exists ${name} with (force)`);
    }
  });
}

async function withServer<T>(url: string, fn: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // Without a listener, an error event would end the process. The running query reports the same error.
  client.on("error", () => {});
  try {
    await client.connect();
    return await fn(client);
  } finally {
    await client.end().catch(() => {});
  }
}
