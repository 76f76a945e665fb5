import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import pg from "pg";
import { takeDataFolder } from "../../src/database/data_folder.ts";
import { type EmbeddedDatabase, startEmbeddedDatabase } from "../../src/database/embedded.ts";

/**
 * PGlite has one backend for all connections of the embedded database. Each connection must be served one whole message
 * exchange at a time. Otherwise the parameters of one connection would meet the statement of another. Every connection
 * has all rights, so only the user of the process may connect.
 */

/** More connections than the backend can serve at once, so that they wait in a queue. */
const CONNECTIONS = 12;
const ROUNDS = 40;

/** The path of a Unix socket in a folder with this name would be too long for every system. */
const LONG_NAME = "data".repeat(40);

let folder: string;
let dataDir: string;
let database: EmbeddedDatabase;

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), "souk-embedded-"));
  dataDir = join(folder, LONG_NAME);
  database = await startEmbeddedDatabase(dataDir);
});

test.after.always(async () => {
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

test.serial("concurrent connections each get the result of their own statement", async (t) => {
  const clients = Array.from({ length: CONNECTIONS }, () => new pg.Client({ connectionString: database.url }));
  await Promise.all(clients.map((client) => client.connect()));
  const wrong: unknown[] = [];
  const ask = async (client: pg.Client, name: number): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      const mine = `${name}/${round}`;
      // Each text is unique to its connection; some have as many parameters as others, and some fail.
      const [statement, expected] =
        round % 5 === 4
          ? [`select $1::text as "c${name}", 1 / ($2::int - 2) as x`, "division by zero"]
          : [`select $1::text as "c${name}", $2::int as x`, mine];
      const answer = await client.query(statement ?? "", [mine, 2]).then(
        ({ rows }) => rows[0][`c${name}`],
        (error: Error) => error.message,
      );
      if (answer !== expected) wrong.push([mine, answer]);
    }
  };
  await Promise.all(clients.map(ask));
  await Promise.all(clients.map((client) => client.end()));
  t.deepEqual(wrong, []);
});

test.serial("a connection that breaks off in the middle of its statement does not block the others", async (t) => {
  const [broken, other] = [
    new pg.Client({ connectionString: database.url }),
    new pg.Client({ connectionString: database.url }),
  ];
  broken.on("error", () => {});
  await Promise.all([broken.connect(), other.connect()]);
  // Sends Parse and Bind, and never Sync. pg's types do not declare these methods of its protocol layer.
  const { connection } = broken as unknown as {
    connection: { parse(query: object): void; bind(query: object): void; flush(): void; stream: { destroy(): void } };
  };
  connection.parse({ text: "select 1 / $1::int", name: "" });
  connection.bind({ values: ["0"] });
  connection.flush();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const answer = other.query("select $1::text as mine", ["other"]);
  connection.stream.destroy();
  t.deepEqual((await answer).rows, [{ mine: "other" }]);
  await other.end();
});

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

/** The TCP ports on which this process listens. Only Linux tells. */
const listeningPorts = async (): Promise<number[]> => {
  const links = await Promise.all(
    (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  const own = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/self/net/${name}`, "utf8").catch(() => "")),
  );
  return tables
    .flatMap((table) => table.split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTEN && own.has(inode))
    .map(([, address]) => Number.parseInt(address?.split(":")[1] ?? "", 16));
};

/** The state of a listening socket in /proc/net/tcp. */
const LISTEN = "0A";

test.serial("no other user of the machine can connect or read the files", async (t) => {
  const socketFolder = decodeURIComponent(new URL(database.url).hostname);
  t.deepEqual(await readdir(socketFolder), [".s.PGSQL.5432"]);
  t.is(await modeOf(socketFolder), "700");
  t.is(await modeOf(dataDir), "700");
  t.is(await modeOf(join(dataDir, "postgres")), "700");
  t.is(await modeOf(join(dataDir, "lock")), "600");
  if (process.platform === "linux") {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    t.deepEqual(
      await listeningPorts(),
      [port],
      "the database listens on no port; this test's own server shows that one would be seen",
    );
    server.close();
  }
});

test.serial("the same process cannot start the database twice", async (t) => {
  await t.throwsAsync(startEmbeddedDatabase(dataDir), {
    // Errors of a thread arrive as copies.
    any: true,
    message: /^Another process uses the database in .* \(process \d+ on host /,
  });
});

test.serial("a folder whose files are open to others is closed to them", async (t) => {
  const open = join(folder, "open");
  await mkdir(join(open, "postgres"), { recursive: true, mode: 0o755 });
  const taken = await takeDataFolder(open);
  t.is(await modeOf(taken.files), "700");
  await taken.release();
  t.deepEqual(await readdir(open), ["lock", "postgres"]);
});

test.serial("a long path of the temporary folder does not matter", async (t) => {
  const usual = process.env["TMPDIR"];
  process.env["TMPDIR"] = join(folder, LONG_NAME);
  t.teardown(() => {
    if (usual === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = usual;
  });
  const taken = await takeDataFolder(join(folder, "other"));
  t.true(Buffer.byteLength(join(taken.sockets, ".s.PGSQL.5432")) < 104);
  await taken.release();
  t.false(existsSync(taken.sockets));
});

test.serial("a folder that cannot be locked is refused with what to do", async (t) => {
  const file = join(folder, "locks");
  // SQLite cannot open a folder as its file.
  await mkdir(join(file, "lock"), { recursive: true });
  await t.throwsAsync(takeDataFolder(file), {
    message: /^The database in .* cannot be locked: .* Set DATA_DIR to a folder /,
  });
});
