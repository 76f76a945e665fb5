import { z } from "zod";
import { httpUrl, optional, withDefault } from "./base/environment.ts";
import type { OpenAiSettings } from "./reader/embedders.ts";
import { readSignInSettings, type SignInSettings, signInEnvironment } from "./sign_in/settings.ts";
import { readKeys } from "./webhooks/secrets.ts";
import type { WebhookSettings } from "./webhooks/settings.ts";

const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const postgresUrl = z.string().regex(/^postgres(ql)?:\/\//, "must start with postgres://");
const postgresUrls = z
  .string()
  .transform((list) =>
    list
      .split(",")
      .map((url) => url.trim())
      .filter(Boolean),
  )
  .pipe(z.array(postgresUrl));

const environment = z.object({
  PORT: withDefault(whole(0, 65_535), "3000"),
  HOST: withDefault(z.string().max(255), "127.0.0.1"),
  BASE_URL: optional(httpUrl),
  DATABASE_URL: optional(postgresUrl),
  DATABASE_READ_URL: optional(postgresUrls),
  DATABASE_DIRECT_URL: optional(postgresUrl),
  DATABASE_POOL_SIZE: withDefault(whole(1, 200), "14"),
  API_PROCESSES: withDefault(whole(1, 64), "1"),
  DATA_DIR: withDefault(z.string().max(4096), ".data"),
  TRUST_PROXY: optional(z.string().max(1000)),
  CONNECTIONS_PER_HOUR: withDefault(whole(1, 1_000_000), "30"),
  CLIENT_METADATA_PRIVATE: optional(z.literal("allow")),
  WEBHOOK_PRIVATE: optional(z.literal("allow")),
  // Like RECORD_KEY: 32 random hex digits cannot be guessed.
  WEBHOOK_KEYS: optional(
    z
      .string()
      .regex(
        /^[\x21-\x2b\x2d-\x7e]{32,500}(,[\x21-\x2b\x2d-\x7e]{32,500}){0,9}$/,
        "must have 1 to 10 keys, separated by commas, each with 32 to 500 characters of ASCII and no spaces",
      ),
  ),
  // Ten seconds. Clients give up after thirty. If a provider fails, the built-in extractor takes over well before ten.
  EXTRACTION_DEADLINE_MS: withDefault(whole(500, 60_000), "10000"),
  LOG_LEVEL: withDefault(z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]), "info"),
  METRICS_PORT: optional(whole(1, 65_535)),
  // Long enough that nobody can guess it. Only characters that a header may contain.
  METRICS_TOKEN: optional(
    z.string().regex(/^[\x21-\x7e]{16,500}$/, "must have 16 to 500 characters of ASCII, and no spaces"),
  ),
  SERVER_TIMING: withDefault(z.stringbool(), "false"),
  // The packages of OpenTelemetry read this and their other variables themselves.
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(httpUrl),
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
  /** Replicas for reads. Metrics and logs name them by their places in this list, from 1. */
  databaseReadUrls: string[];
  /** The server itself, if databaseUrl is a pooler in transaction mode; null: databaseUrl is the server. */
  databaseDirectUrl: string | null;
  databasePoolSize: number;
  /** How many processes `npm run api` starts behind one port. */
  apiProcesses: number;
  dataDir: string;
  /** Addresses or networks of proxies whose X-Forwarded-For is trusted, in the form of Express's "trust proxy". */
  trustProxy: string[];
  connectionsPerHour: number;
  /** Documents of OAuth clients are also fetched over http, and from addresses that are not public. */
  clientMetadataPrivate: boolean;
  webhooks: WebhookSettings;
  extractionDeadlineMs: number;
  logLevel: string;
  /** The separate port for /metrics; null: no separate port. */
  metricsPort: number | null;
  /** The token that /metrics requires. If it is set, the API also serves /metrics on its own port. */
  metricsToken: string | null;
  /** Whether callers who ask learn where their request's time went. */
  serverTiming: boolean;
  /** Whether spans are sent to a collector of OpenTelemetry. */
  traces: boolean;
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
    databaseReadUrls: values.DATABASE_READ_URL ?? [],
    databaseDirectUrl: values.DATABASE_DIRECT_URL ?? null,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    apiProcesses: values.API_PROCESSES,
    dataDir: values.DATA_DIR,
    trustProxy:
      values.TRUST_PROXY?.split(",")
        .map((proxy) => proxy.trim())
        .filter(Boolean) ?? [],
    connectionsPerHour: values.CONNECTIONS_PER_HOUR,
    clientMetadataPrivate: values.CLIENT_METADATA_PRIVATE === "allow",
    webhooks: { keys: readKeys(values.WEBHOOK_KEYS), anyAddress: values.WEBHOOK_PRIVATE === "allow" },
    extractionDeadlineMs: values.EXTRACTION_DEADLINE_MS,
    logLevel: values.LOG_LEVEL,
    metricsPort: values.METRICS_PORT ?? null,
    metricsToken: values.METRICS_TOKEN ?? null,
    serverTiming: values.SERVER_TIMING,
    traces: values.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
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
