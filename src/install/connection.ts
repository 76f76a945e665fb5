import pg from "pg";

/** Returns a connection string with one more setting for its sessions, such as `lock_timeout=1s`. The last one wins. */
export const withSetting = (url: string, setting: string): string => {
  const parsed = new URL(url);
  const options = parsed.searchParams.get("options");
  parsed.searchParams.set("options", `${options ? `${options} ` : ""}-c ${setting}`);
  return parsed.href;
};

/** Runs a step on a new connection, which is closed afterwards. */
export const connected = async <T>(connectionString: string, step: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await step(client);
  } finally {
    await client.end();
  }
};
