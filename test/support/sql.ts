import type pg from "pg";
import { keptSessions } from "./client.ts";

/** The template of one statement, in which each `${value}` becomes a parameter. */
export type Statement<Result> = (text: TemplateStringsArray, ...values: unknown[]) => Promise<Result>;

/** The text of a statement with $1, $2 and so on in the places of a template's values. */
export const numbered = (text: TemplateStringsArray): string =>
  text.reduce((before, part, n) => `${before}$${n}${part}`);

/**
 * Runs one statement as a superuser, like an operator with psql. Returns its rows.
 *
 *     await sql(url)`select from market.offer where id = ${id}`
 */
export function sql<Row extends pg.QueryResultRow>(url: string): Statement<Row[]>;
export function sql<Row extends pg.QueryResultRow>(url: string, text: string, values?: unknown[]): Promise<Row[]>;
export function sql<Row extends pg.QueryResultRow>(url: string, text?: string, values: unknown[] = []) {
  const run = async (statement: string, parameters: unknown[]): Promise<Row[]> =>
    (await keptSessions(url).query<Row>(statement, parameters)).rows;
  if (text !== undefined) return run(text, values);
  return (template: TemplateStringsArray, ...parameters: unknown[]) => run(numbered(template), parameters);
}

const firstOf = <T>([row]: pg.QueryResultRow[]): T => Object.values(row ?? {})[0] as T;

/** Like `sql`, but returns the first column of the first row. */
export function sqlValue<T>(url: string): Statement<T>;
export function sqlValue<T>(url: string, text: string, values?: unknown[]): Promise<T>;
export function sqlValue<T>(url: string, text?: string, values: unknown[] = []) {
  if (text !== undefined) return sql(url, text, values).then(firstOf<T>);
  return async (template: TemplateStringsArray, ...parameters: unknown[]) =>
    firstOf<T>(await sql(url)(template, ...parameters));
}
