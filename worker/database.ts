import type pg from "pg";
import { currentRequestId } from "../src/base/request.ts";
import { currentTraceparent, measured } from "../src/base/tracing/tracing.ts";
import { DATABASE } from "../src/database/database.ts";

/**
 * Calls a function of schema `jobs` in one statement. Objects are sent and returned as JSON.
 * @returns one result for each row
 */
export type CallJobs = <Result>(name: string, ...args: unknown[]) => Promise<Result[]>;

/**
 * How jobs call the database.
 * @param embedded On the embedded database the login is a superuser, so each statement sets the role souk_worker. On a
 * server the login has that role already.
 * @param plain whether statements must not be named: on the embedded database, and behind a pooler
 */
export const callJobs =
  (pool: pg.Pool, embedded: boolean, plain: boolean): CallJobs =>
  async <Result>(name: string, ...args: unknown[]) => {
    const entering = [
      "set_config('market.request_id', $1, true) is not null",
      "set_config('market.traceparent', $2, true) is not null",
    ];
    if (embedded) entering.push("set_config('role', 'souk_worker', true) = 'souk_worker'");
    const places = args.map((_, i) => `$${i + 3}`).join(", ");
    const statement = {
      text: `with worker as materialized (select ${entering.join(" and ")} as entered)
       select to_json(jobs.${name}(${places})) as result from worker where entered`,
      values: [currentRequestId() ?? "", currentTraceparent() ?? "", ...args],
      // PostgreSQL plans a named statement once per connection.
      ...(plain ? {} : { name: `jobs ${name} ${args.length}` }),
    };
    const { rows } = await measured("db", { name: `jobs.${name}`, kind: "client", attributes: DATABASE }, () =>
      pool.query<{ result: Result }>(statement),
    );
    return rows.map(({ result }) => result);
  };
