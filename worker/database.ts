import type pg from "pg";
import { currentRequestId } from "../src/database/request_id.ts";

/**
 * Calls a function of schema `jobs` in one statement. Objects are sent and returned as JSON.
 * @returns one result for each row
 */
export type CallJobs = <Result>(name: string, ...args: unknown[]) => Promise<Result[]>;

/**
 * How jobs call the database.
 * @param embedded On the embedded database the login is a superuser, so each statement sets the role souk_worker. On a
 * server the login has that role already.
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
