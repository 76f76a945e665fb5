import { z } from "zod";
import { httpUrl, optional, withDefault } from "./base/environment.ts";
import type { OpenAiSettings } from "./reader/embedders.ts";
import { readSignInSettings, signInEnvironment } from "./sign_in/settings.ts";
import { readKeys } from "./webhooks/secrets.ts";
import type { WebhookSettings } from "./webhooks/settings.ts";

const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const postgresUrl = z.string().regex(/^postgres(ql)?:\/\//, "must start with postgres://");
/** A list, separated by commas. */
const listOf = <Schema extends z.ZodType<unknown, string>>(member: Schema) =>
  z.preprocess(
    (list) =>
      String(list)
        .split(/[\s,]+/)
        .filter(Boolean),
    z.array(member),
  );

const environment = z.object({
  PORT: withDefault(whole(0, 65_535), "3000"),
  HOST: withDefault(z.string().max(255), "127.0.0.1"),
  BASE_URL: optional(httpUrl),
  DATABASE_URL: optional(postgresUrl),
  DATABASE_READ_URL: optional(listOf(postgresUrl)),
  DATABASE_DIRECT_URL: optional(postgresUrl),
  DATABASE_POOL_SIZE: withDefault(whole(1, 200), "14"),
  API_PROCESSES: withDefault(whole(1, 64), "1"),
  DATA_DIR: withDefault(z.string().max(4096), ".data"),
  TRUST_PROXY: optional(listOf(z.string().max(1000))),
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

const unusable = (lines: string[]): string =>
  `The environment cannot be used:\n${lines.map((line) => `  ${line}`).join("\n")}\nSee .env.example for what each variable is for.`;

/**
 * Checks the environment, and returns the configuration of the process.
 * @throws Error with one line for each variable that cannot be used.
 */
export const readConfig = (env: NodeJS.ProcessEnv) => {
  const result = environment.safeParse(env);
  if (!result.success) {
    const lines = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    throw new Error(unusable(lines));
  }
  const values = result.data;
  const signIn = readSignInSettings(values);
  if ("errors" in signIn) throw new Error(unusable(signIn.errors));
  const usesModel = values.OPENAI_API_KEY !== undefined || values.OPENAI_BASE_URL !== undefined;
  const openai: OpenAiSettings = {
    // A local server with this protocol often needs no key, but the client library requires one.
    apiKey: values.OPENAI_API_KEY ?? "none",
    baseURL: values.OPENAI_BASE_URL ?? "https://api.openai.com/v1",
    extractionModel: values.EXTRACTION_MODEL,
    embeddingModel: values.EMBEDDING_MODEL,
  };
  const webhooks: WebhookSettings = {
    keys: readKeys(values.WEBHOOK_KEYS),
    anyAddress: values.WEBHOOK_PRIVATE === "allow",
  };
  return {
    port: values.PORT,
    host: values.HOST,
    /** The URL at which clients reach the service, without a trailing slash; null: the address where it listens. */
    baseUrl: values.BASE_URL ?? null,
    /** null: the process runs an embedded database (PGlite) in dataDir. */
    databaseUrl: values.DATABASE_URL ?? null,
    /** Replicas for reads. Metrics and logs name them by their places in this list, from 1. */
    databaseReadUrls: values.DATABASE_READ_URL ?? [],
    /** The server itself, if databaseUrl is a pooler in transaction mode; null: databaseUrl is the server. */
    databaseDirectUrl: values.DATABASE_DIRECT_URL ?? null,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    /** How many processes `npm run api` starts behind one port. */
    apiProcesses: values.API_PROCESSES,
    dataDir: values.DATA_DIR,
    /** Addresses or networks of proxies whose X-Forwarded-For is trusted, in the form of Express's "trust proxy". */
    trustProxy: values.TRUST_PROXY ?? [],
    connectionsPerHour: values.CONNECTIONS_PER_HOUR,
    /** Documents of OAuth clients are also fetched over http, and from addresses that are not public. */
    clientMetadataPrivate: values.CLIENT_METADATA_PRIVATE === "allow",
    webhooks,
    extractionDeadlineMs: values.EXTRACTION_DEADLINE_MS,
    logLevel: values.LOG_LEVEL,
    /** The separate port for /metrics; null: no separate port. */
    metricsPort: values.METRICS_PORT ?? null,
    /** The token that /metrics requires. If it is set, the API also serves /metrics on its own port. */
    metricsToken: values.METRICS_TOKEN ?? null,
    /** Whether callers who ask learn where their request's time went. */
    serverTiming: values.SERVER_TIMING,
    /** Whether spans are sent to a collector of OpenTelemetry. */
    traces: values.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
    /** null: the built-in extractor and embedder are used. */
    openai: usesModel ? openai : null,
    signIn,
  };
};

/** The configuration of the process, read from the environment once, at the start. */
export type Config = Readonly<ReturnType<typeof readConfig>>;
