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
  // Ten seconds: clients give up at thirty, and a reader that fell back has long answered.
  EXTRACTION_DEADLINE_MS: withDefault(whole(500, 60_000), "10000"),
  LOG_LEVEL: withDefault(z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]), "info"),
  METRICS_PORT: optional(whole(1, 65_535)),
  // Long enough that it cannot be guessed, and of what a header can carry in one word.
  METRICS_TOKEN: optional(
    z.string().regex(/^[\x21-\x7e]{16,500}$/, "must have 16 to 500 characters of ASCII, and no spaces"),
  ),
  OPENAI_API_KEY: optional(z.string().max(500)),
  OPENAI_BASE_URL: optional(httpUrl),
  EXTRACTION_MODEL: optional(z.string().max(100)),
  EMBEDDING_MODEL: optional(z.string().max(100)),
  ...signInEnvironment,
});

/** The environment as the process uses it; read once, at the start. */
export type Config = Readonly<{
  port: number;
  host: string;
  /** Where clients reach the service, without a trailing slash; null: derived from the address it listens on. */
  baseUrl: string | null;
  /** null: PostgreSQL is brought along (PGlite) in dataDir. */
  databaseUrl: string | null;
  databaseReadUrl: string | null;
  databasePoolSize: number;
  dataDir: string;
  /** Addresses or networks of proxies whose X-Forwarded-For counts, as Express's "trust proxy" takes them. */
  trustProxy: string[];
  connectionsPerHour: number;
  extractionDeadlineMs: number;
  logLevel: string;
  /** /metrics listens here, if set. */
  metricsPort: number | null;
  /** What a reader of /metrics has to show; with it, an API process serves /metrics on its own port too. */
  metricsToken: string | null;
  /** null: texts are read and embedded by the built-in extractors. */
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
          // A local server that speaks the protocol often wants no key; the client library wants some.
          apiKey: values.OPENAI_API_KEY ?? "none",
          baseURL: values.OPENAI_BASE_URL ?? "https://api.openai.com/v1",
          extractionModel: values.EXTRACTION_MODEL,
          embeddingModel: values.EMBEDDING_MODEL,
        }
      : null,
    signIn,
  };
};
