import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { sqlValue } from "./sql.ts";

/**
 * Returns an environment in which PostgreSQL's client programs use the server of a URL. If the server runs on this
 * machine, its own client programs come before those on the PATH, because pg_dump refuses a server that is newer than
 * itself.
 */
export const programsFor = async (url: string): Promise<NodeJS.ProcessEnv> => {
  const folder = await sqlValue<string>(url, "select setting from pg_config where name = 'BINDIR'");
  const { hostname, port, username, password, pathname } = new URL(url);
  const path = process.env["PATH"] ?? "";
  return {
    PATH: existsSync(join(folder, "pg_dump"))
      ? `${folder}${delimiter}${dirname(process.execPath)}${delimiter}${path}`
      : path,
    PGHOST: hostname,
    PGPORT: port || "5432",
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  };
};
