import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDatabase, type Database } from "./database.ts";
import { violations } from "./invariants.ts";
import { call, idleQueue } from "./market.ts";
import { type Service, startPart, startService } from "./service.ts";
import { sql } from "./sql.ts";

/**
 * Services that test files share. A start takes seconds of a processor, so the run (test/run.ts) starts each configuration
 * once, when the first file asks for it, and ends it after the last file. Tests of a shared service make accounts of their
 * own and look at their own rows. A test that looks at the whole market, changes a setting, breaks something or floods the
 * service starts one of its own.
 *
 *   configuration  what an operator sets of a service: its environment, and rows
 *   broker         the server of the run from which test files get the addresses of services
 */

/** A service that other test files use, too. */
export type SharedService = {
  url: string;
  /** The URL of its database. */
  database: string;
  /** Everything that the service has printed, also about the requests of other files. */
  logs: () => Promise<string>;
};

/** Several files ask at once, and each of their tests makes accounts from one address. */
const ROOMY = { CONNECTIONS_PER_HOUR: "1000000", DATABASE_POOL_SIZE: "40" };

/** The longest that a service may need for the jobs that the tests have left. */
const IDLE_MS = 60_000;

const BROKER = "TEST_BROKER";

/** A configuration of services. */
type Configuration = {
  /** Environment variables, which override those of all shared services. */
  env?: Record<string, string>;
  /** A statement that is run once the service is ready. */
  sql?: string;
};

/** An operator who offers every way to sign in, and webhooks. Nobody can sign in, because there are no providers. */
export const EVERYTHING: Configuration = {
  env: { WEBHOOK_KEYS: "k".repeat(32), WEBHOOK_PRIVATE: "allow" },
  sql: "update market.sign_in_method set available = true",
};

/** Returns the shared service of a configuration. The first call of a run starts it. */
export const sharedService = async (configuration: Configuration = {}): Promise<SharedService> => {
  const { url, database } = await ask("service", configuration);
  return { url, database, logs: async () => (await ask("logs", configuration)).logs };
};

/** Returns the address of a second API process on the database of a shared service. */
export const secondProcess = async (configuration: Configuration = {}): Promise<string> =>
  (await ask("second", configuration)).url;

// biome-ignore lint/suspicious/noExplicitAny: each question has an answer of its own.
const ask = async (what: string, configuration: Configuration): Promise<any> => {
  const broker = process.env[BROKER];
  if (broker === undefined)
    throw new Error("There is no broker: run tests with `npm test -- <file>`, which starts one.");
  const { status, body, text } = await call(broker, "POST", `/${what}`, { body: configuration, timeoutMs: 300_000 });
  if (status !== 200) throw new Error(text);
  return body;
};

type Shared = { database: Database; service: Service; second?: Promise<Service> };

/** The broker of a run. */
export type Broker = {
  /** The variable by which test files find the broker. */
  env: Record<string, string>;
  /** Ends all services. Returns what is wrong with each, in words. */
  close: () => Promise<string[]>;
};

/** Starts the broker of a run. */
export const startBroker = async (): Promise<Broker> => {
  const started = new Map<string, Promise<Shared>>();
  const start = async ({ env, sql: statement }: Configuration): Promise<Shared> => {
    const database = await createDatabase();
    const service = await startService({ database: database.url, env: { ...ROOMY, ...env } });
    if (statement !== undefined) await sql(database.url, statement);
    return { database, service };
  };
  const answers: Record<string, (shared: Shared, configuration: Configuration) => object | Promise<object>> = {
    service: ({ database, service }) => ({ url: service.url, database: database.url }),
    logs: ({ service }) => ({ logs: service.logs() }),
    second: async (shared, { env }) => {
      shared.second ??= startPart("api", { database: shared.database.url, env: { ...ROOMY, ...env } });
      return { url: (await shared.second).url };
    },
  };
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const key = Buffer.concat(chunks).toString("utf8");
      const configuration: Configuration = JSON.parse(key);
      const shared = started.get(key) ?? start(configuration);
      started.set(key, shared);
      const answer = await answers[request.url?.slice(1) ?? ""]?.(await shared, configuration);
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    env: { [BROKER]: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    close: async () => {
      const wrong = await Promise.all([...started].map(([key, shared]) => end(key, shared)));
      server.closeAllConnections();
      server.close();
      return wrong.flat();
    },
  };
};

/** Nothing breaks a shared service, so it is never unavailable: a 503 there is a deadlock or a lock held too long. */
const isWrong = (line: string): boolean => /"level":"(error|fatal)"|deadlock detected|"msg":"unavailable"/.test(line);

/** Ends a shared service. Returns what is wrong with it. */
const end = async (key: string, starting: Promise<Shared>): Promise<string[]> => {
  const shared = await starting.catch(() => null);
  // The tests that asked for it have failed, and say why.
  if (shared === null) return [];
  const wrong: string[] = [];
  const services = [shared.service, ...(shared.second ? [await shared.second] : [])];
  try {
    await idleQueue(shared.database.url, IDLE_MS);
    for (const service of services.reverse()) await service.stop();
    for (const violation of await violations(shared.database.url))
      wrong.push(`a broken invariant: ${JSON.stringify(violation)}`);
  } catch (error) {
    wrong.push(String(error));
  }
  for (const service of services) wrong.push(...service.logs().split("\n").filter(isWrong));
  return wrong.map((what) => `the shared service ${key}: ${what}`);
};
