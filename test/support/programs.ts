import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { sqlValue } from "./sql.ts";

/**
 * An environment in which PostgreSQL's own client programs talk to the server of a URL, and are of its version, since an
 * older pg_dump refuses: those beside the server's programs where it runs here, else those on the PATH.
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
