import type pg from "pg";
import { keptSessions } from "./client.ts";

/** Runs one statement as a superuser, like an operator with psql. Returns its rows. */
export const sql = async <Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => (await keptSessions(url).query<Row>(text, values)).rows;

/** Like `sql`, but returns the first column of the first row. */
export const sqlValue = async <T>(url: string, text: string, values: unknown[] = []): Promise<T> => {
  const [row] = await sql(url, text, values);
  return Object.values(row ?? {})[0] as T;
};
