import type pg from "pg";
import { currentRequestId } from "../src/database/request_id.ts";

/** Calls one function of schema `jobs` in one statement: a result for each row. Objects travel as JSON. */
export type CallJobs = <Result>(name: string, ...args: unknown[]) => Promise<Result[]>;

/**
 * The database as jobs see it.
 * @param embedded the login is the superuser's, so each statement takes on the worker's role, as a server's login has it
 */
export const callJobs =
  (pool: pg.Pool, embedded: boolean): CallJobs =>
  async <Result>(name: string, ...args: unknown[]) => {
    const entering = ["set_config('market.request_id', $1, true) is not null"];
    if (embedded) entering.push("set_config('role', 'souk_worker', true) = 'souk_worker'");
    const places = args.map((_, i) => `$${i + 2}`).join(", ");
    const { rows } = await pool.query<{ result: Result }>(
      `with worker as materialized (select ${entering.join(" and ")} as entered)
       select to_json(jobs.${name}(${places})) as result from worker where entered`,
      [currentRequestId() ?? "", ...args],
    );
    return rows.map(({ result }) => result);
  };
