import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { parseCrontab } from "graphile-worker";
import { createLog } from "../../src/base/log.ts";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import { taskList } from "../../worker/tasks.ts";
import { DB } from "../support/sql_files.ts";

/** The names of tasks are in three places: the worker's list, the crontab and the SQL that adds jobs. */

const tasks = Object.keys(
  taskList({
    call: async () => [],
    deliver: async () => undefined,
    reader: () => {
      throw new Error("nothing is read here");
    },
    embedder: createBuiltinEmbedder(() => null),
    mailer: null,
    baseUrl: () => "",
    log: createLog("silent"),
  }),
);

test("the crontab names tasks that the worker has", async (t) => {
  const items = parseCrontab(await readFile(new URL("../../worker/crontab", import.meta.url), "utf8"));
  t.true(items.length > 5);
  t.deepEqual(
    items.map(({ task }) => task).filter((task) => !tasks.includes(task)),
    [],
  );
});

test("the database adds jobs whose tasks the worker has", async (t) => {
  const schema = join(DB, "schema");
  const files = (await readdir(schema, { recursive: true })).filter((file) => file.endsWith(".sql"));
  const sources = await Promise.all(files.map((file) => readFile(join(schema, file), "utf8")));
  const added = sources.flatMap((text) => Array.from(text.matchAll(/\benqueue\(\s*'(\w+)'/g), ([, task = ""]) => task));
  t.true(added.length > 3, `${added.length} jobs are added by name`);
  t.deepEqual(
    added.filter((task) => !tasks.includes(task)),
    [],
  );
});
