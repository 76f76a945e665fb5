import test from "ava";
import pg from "pg";
import type { Answer } from "./market.ts";
import { market } from "./one_market.ts";

/** The market of the test file that imports this, and an operator's connection to it. */

export { market };
export let client: pg.Client;

test.serial.before(async () => {
  client = new pg.Client({ connectionString: market.url });
  // The database may be dropped before this session ends: hooks at the end of a file run side by side.
  client.on("error", () => {});
  await client.connect();
});
test.after.always(() => client?.end());

/** Runs as souk_dba in the current transaction, which the caller rolls back. */
export const asDba = async (text: string, values: unknown[] = []): Promise<Answer[]> => {
  await client.query("set local session authorization souk_dba");
  const { rows } = await client.query(text, values);
  await client.query("reset session authorization");
  return rows;
};

/** Empties the queue, as if workers had done all jobs. */
export const finishJobs = () => market.sql("delete from graphile_worker._private_jobs");

/** SQL that adds a job with the key that the market gives it. */
export const withJob = (task: string, row: string): string =>
  `select graphile_worker.add_job('${task}', json_build_object('id', '${row}'), job_key => '${task}:${row}');`;
