import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import pg from "pg";
import { type EmbeddedDatabase, startEmbeddedDatabase } from "../../src/database/embedded.ts";

/**
 * PGlite has one backend for all connections of the embedded database. Each connection must be served one whole message
 * exchange at a time. Otherwise the parameters of one connection would meet the statement of another.
 */

/** More connections than the backend can serve at once, so that they wait in a queue. */
const CONNECTIONS = 12;
const ROUNDS = 40;

let folder: string;
let database: EmbeddedDatabase;

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), "souk-embedded-"));
  database = await startEmbeddedDatabase(folder);
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
