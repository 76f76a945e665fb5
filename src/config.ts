import { z } from "zod";
import { httpUrl, optional, withDefault } from "./environment.ts";
import type { OpenAiSettings } from "./reader/embedders.ts";
import { readSignInSettings, type SignInSettings, signInEnvironment } from "./sign_in/settings.ts";

const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most);
const postgresUrl = z.string().regex(/^postgres(ql)?:\/\//, "must start with postgres://");

const environment = z.object({
  PORT: withDefault(whole(0, 65_535), "3000"),
  HOST: withDefault(z.string().max(255), "127.0.0.1"),
  BASE_URL: optional(httpUrl),
  DATABASE_URL: optional(postgresUrl),
  DATABASE_READ_URL: optional(postgresUrl),
  DATABASE_POOL_SIZE: withDefault(whole(1, 200), "14"),
  DATA_DIR: withDefault(z.string().max(4096), ".data"),
  TRUST_PROXY: optional(z.string().max(1000)),
  CONNECTIONS_PER_HOUR: withDefault(whole(1, 1_000_000), "30"),
  // Ten seconds. Clients give up after thirty. If a provider fails, the built-in extractor takes over well before ten.
  EXTRACTION_DEADLINE_MS: withDefault(whole(500, 60_000), "10000"),
  LOG_LEVEL: withDefault(z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]), "info"),
  METRICS_PORT: optional(whole(1, 65_535)),
  // Long enough that nobody can guess it. Only characters that a header may contain.
  METRICS_TOKEN: optional(
    z.string().regex(/^[\x21-\x7e]{16,500}$/, "must have 16 to 500 characters of ASCII, and no spaces"),
  ),
  OPENAI_API_KEY: optional(z.string().max(500)),
  OPENAI_BASE_URL: optional(httpUrl),
  EXTRACTION_MODEL: optional(z.string().max(100)),
  EMBEDDING_MODEL: optional(z.string().max(100)),
  ...signInEnvironment,
});

/** The configuration of the process, read from the environment once, at the start. */
export type Config = Readonly<{
  port: number;
  host: string;
  /** The URL at which clients reach the service, without a trailing slash; null: the address where it listens. */
  baseUrl: string | null;
  /** null: the process runs an embedded database (PGlite) in dataDir. */
  databaseUrl: string | null;
  databaseReadUrl: string | null;
  databasePoolSize: number;
  dataDir: string;
  /** Addresses or networks of proxies whose X-Forwarded-For is trusted, in the form of Express's "trust proxy". */
  trustProxy: string[];
  connectionsPerHour: number;
  extractionDeadlineMs: number;
  logLevel: string;
  /** The separate port for /metrics; null: no separate port. */
  metricsPort: number | null;
  /** The token that /metrics requires. If it is set, the API also serves /metrics on its own port. */
  metricsToken: string | null;
  /** null: the built-in extractor and embedder are used. */
  openai: OpenAiSettings | null;
  signIn: SignInSettings;
}>;

const unusable = (lines: string[]): string =>
  `The environment cannot be used:\n${lines.map((line) => `  ${line}`).join("\n")}\nSee .env.example for what each variable is for.`;

/**
 * Checks the environment.
 * @throws Error with one line for each variable that cannot be used.
 */
export const readConfig = (env: NodeJS.ProcessEnv): Config => {
  const result = environment.safeParse(env);
  if (!result.success) {
    const lines = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    throw new Error(unusable(lines));
  }
  const values = result.data;
  const signIn = readSignInSettings(values);
  if ("errors" in signIn) throw new Error(unusable(signIn.errors));
  const usesModel = values.OPENAI_API_KEY !== undefined || values.OPENAI_BASE_URL !== undefined;
  return {
    port: values.PORT,
    host: values.HOST,
    baseUrl: values.BASE_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    databaseReadUrl: values.DATABASE_READ_URL ?? null,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    dataDir: values.DATA_DIR,
    trustProxy:
      values.TRUST_PROXY?.split(",")
        .map((proxy) => proxy.trim())
        .filter(Boolean) ?? [],
    connectionsPerHour: values.CONNECTIONS_PER_HOUR,
    extractionDeadlineMs: values.EXTRACTION_DEADLINE_MS,
    logLevel: values.LOG_LEVEL,
    metricsPort: values.METRICS_PORT ?? null,
    metricsToken: values.METRICS_TOKEN ?? null,
    openai: usesModel
      ? {
          // A local server with this protocol often needs no key, but the client library requires one.
          apiKey: values.OPENAI_API_KEY ?? "none",
          baseURL: values.OPENAI_BASE_URL ?? "https://api.openai.com/v1",
          extractionModel: values.EXTRACTION_MODEL,
          embeddingModel: values.EMBEDDING_MODEL,
        }
      : null,
    signIn,
  };
};
