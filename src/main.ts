import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Worker } from "../worker/main.ts";
import { type Admin, openAdmin } from "./admin/admin.ts";
import { type Config, readConfig } from "./config.ts";
import { type Database, openDatabase } from "./database/database.ts";
import type { EmbeddedDatabase } from "./database/embedded.ts";
import { createApp, type Readiness } from "./http/app.ts";
import { type HttpServer, serve } from "./http/server.ts";
import { listenForSubmissions, type Waiting } from "./http/waiting.ts";
import { createLog, type Log } from "./log.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { serveMetrics } from "./metrics/serve.ts";
import { createBuiltinEmbedder } from "./reader/builtin/embedder.ts";
import type { createQueryReader } from "./reader/builtin/query.ts";
import { followVocabulary, VOCABULARY_POLL_MS } from "./reader/vocabulary.ts";
import { openSignIn } from "./sign_in/sign_in.ts";

// V8 lets garbage pile up to fill a large machine's memory. Told to mind its size, a process stays at about two thirds of
// what it would grow to, at the same rate of requests (npm run bench prints both).
setFlagsFromString("--optimize-for-size");

/** A container's stop takes ten seconds by default: with a second of drain and three of the worker, this is what is left. */
const GRACE_MS = 5_000;
/** After a signal, texts that are being read, providers and mail servers get this long; callers are then told. */
const PATIENCE_MS = 4_000;
const RETRY_MS = 1_000;
/** How often an answer is asked for when no notification came. */
const POLL_MS = { server: 250, embedded: 25 };

// Loaded by the parts that need them: an API process has no use for the reader, the migrations and the embedded database,
// which together weigh as much as all the rest; nor, without a provider, for the provider's package, which weighs 15 MB.
const loadWorker = () => import("../worker/main.ts");
const loadMigrate = () => import("./database/migrate.ts");
const loadModerator = () => import("./admin/moderator.ts");
const loadEmbedders = () => import("./reader/embedders.ts");
const loadQueryReader = () => import("./reader/builtin/query.ts");
const loadEmbedded = () => import("./database/embedded.ts");

type Part = "start" | "api" | "worker" | "migrate";

const HELP = `Usage: node src/main.ts start | api | worker | migrate

  start    migrate, then run the API and the worker in one process; brings its own database when DATABASE_URL is not set
  api      the API alone (DATABASE_URL)
  worker   the worker alone (DATABASE_URL)
  migrate  bring the database up to date (DATABASE_URL)
`;

const banner = (url: string, config: Config, moderatorLink: string | null): string => `
Souk is ready at ${url}

  For a person    open ${url}
  For an agent    curl ${url}/v1
  Connect one     curl -X POST ${url}/v1/connect -H 'Content-Type: application/json' -d '{"name": "My agent"}'
  See it work     npm run demo        (in another terminal)

  Database        ${config.databaseUrl ? "the server in DATABASE_URL" : `embedded, in ${config.dataDir}/`}
${moderatorLink ? `  Moderate        ${moderatorLink}  (once, by whoever opens it first)\n` : ""}  Stop            Ctrl-C
`;

/** Tries until it works or the process is to stop: a database that is not there yet is waited for, not died of. */
const untilItWorks = async (
  what: string,
  log: Log,
  stopping: AbortSignal,
  attempt: () => Promise<void>,
): Promise<void> => {
  for (let tries = 1; !stopping.aborted; tries++) {
    try {
      await attempt();
      return;
    } catch (error) {
      log.warn({ err: error, tries }, `${what}; trying again`);
      await sleep(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  }
};

const migrateOnly = async (config: Config, log: Log): Promise<void> => {
  if (!config.databaseUrl) throw new Error("Set DATABASE_URL to the database that is to be brought up to date.");
  const { migrate } = await loadMigrate();
  await migrate(config.databaseUrl);
  log.info("the database is up to date");
};

/** Runs the parts asked for until a signal comes, and stops them in the order that answers every accepted request. */
const runService = async (part: Exclude<Part, "migrate">, config: Config, log: Log): Promise<void> => {
  const stopping = new AbortController();
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    // Not once: npm passes Ctrl-C on to a process that the terminal has told already, and a second signal must not kill it.
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal));
  });
  if (part !== "start" && !config.databaseUrl)
    throw new Error("Set DATABASE_URL: only `npm start` brings its own database.");
  if (part === "worker" && config.signIn.mail && !config.baseUrl)
    throw new Error("Set BASE_URL: the messages that the worker sends lead there.");

  let embedded: EmbeddedDatabase | null = null;
  if (!config.databaseUrl) embedded = await (await loadEmbedded()).startEmbeddedDatabase(config.dataDir);
  const url = config.databaseUrl ?? embedded?.url ?? "";
  const outOfPatience = new AbortController();
  const signIn = openSignIn(config.signIn, log, outOfPatience.signal);

  const metrics = createMetrics(config.metricsPort !== null || config.metricsToken !== null);
  const metricsServer =
    config.metricsPort === null
      ? null
      : await serveMetrics(metrics, config.metricsPort, config.host, config.metricsToken);

  let database: Database | null = null;
  let waiting: Waiting | null = null;
  let admin: Admin | null = null;
  let server: HttpServer | null = null;
  let worker: Worker | null = null;
  let readQuery: ReturnType<typeof createQueryReader> | null = null;
  let migrated = part === "api";
  let offered = false;
  let following: NodeJS.Timeout | null = null;
  let baseUrl = config.baseUrl ?? "";
  let leaveBy = Number.POSITIVE_INFINITY;

  if (part !== "worker") {
    database = openDatabase({
      url,
      readUrl: config.databaseReadUrl,
      poolSize: config.databasePoolSize,
      role: "souk_api",
      embedded: embedded !== null,
      onError: (error) => log.warn({ err: error }, "a database connection was lost"),
    });
    waiting = listenForSubmissions(embedded ? null : url, log);
    const { check } = database;
    metrics.watchPools(database.pools);
    metrics.watchState(database.state);
    const readiness: Readiness = async () => {
      if (stopping.signal.aborted) return "stopping";
      if (!migrated) return "the database is not migrated yet";
      if (!offered) return "the database does not know yet which sign-in methods are offered";
      return check().then(
        () => "ready" as const,
        (error: unknown) => {
          log.warn({ err: error }, "not ready");
          return "the database cannot be used";
        },
      );
    };
    admin = openAdmin({ url, embedded: embedded !== null, log, baseUrl: () => baseUrl });
    const app = createApp(
      {
        database,
        waiting,
        embedder: metrics.measured(
          config.openai ? (await loadEmbedders()).createEmbedder(config.openai) : createBuiltinEmbedder(),
        ),
        readQuery: (query) => readQuery?.(query) ?? null,
        log,
        baseUrl: () => baseUrl,
        connectionsPerHour: config.connectionsPerHour,
        extractionDeadlineMs: config.extractionDeadlineMs,
        leaveBy: () => leaveBy,
        pollMs: embedded ? POLL_MS.embedded : POLL_MS.server,
      },
      {
        trustProxy: config.trustProxy,
        readiness,
        signIn,
        metrics,
        metricsToken: config.metricsToken,
        admin: admin.handle,
      },
    );
    server = await serve(app, config.port, config.host, { baseUrl: () => baseUrl });
    baseUrl ||= server.url;
    log.info({ url: server.url }, "listening");
  }

  const starting = (async () => {
    if (part === "start") {
      const { migrate } = await loadMigrate();
      await untilItWorks("the database could not be migrated", log, stopping.signal, () =>
        migrate(url, embedded !== null, stopping.signal),
      );
      migrated = true;
    }
    if (stopping.signal.aborted) return;
    if (part !== "api") {
      worker = (await loadWorker()).startWorker({
        url,
        embedded: embedded !== null,
        alone: embedded !== null,
        openai: config.openai,
        extractionDeadlineMs: config.extractionDeadlineMs,
        mailer: signIn.mailer,
        baseUrl: () => baseUrl,
        metrics,
        log,
      });
    }
    if (database) {
      const { check, call } = database;
      const ask = async (name: string) => JSON.parse(await call("visitor", name, {}, "read"));
      const nextVocabulary = followVocabulary({
        changedAt: () => ask("vocabulary_changed_at"),
        load: () => ask("get_vocabulary"),
      });
      const refreshVocabulary = async (): Promise<void> => {
        const vocabulary = await nextVocabulary();
        if (vocabulary) readQuery = (await loadQueryReader()).createQueryReader(vocabulary);
      };
      await untilItWorks("the database cannot be used", log, stopping.signal, async () => {
        await check();
        await call("visitor", "offer_methods", { methods: signIn.methods });
        await refreshVocabulary();
        offered = true;
      });
      following = setInterval(() => {
        refreshVocabulary().catch((error: unknown) => log.warn({ err: error }, "the vocabulary could not be followed"));
      }, VOCABULARY_POLL_MS);
      log.info("ready");
      // Somebody has to be the first to moderate, and who runs an embedded database may have no psql.
      const link = embedded ? await (await loadModerator()).newModeratorLink(url, baseUrl) : null;
      if (process.stdout.isTTY || part === "start") process.stdout.write(banner(baseUrl, config, link));
    }
  })();

  const signal = await signalled;
  log.info({ signal }, "stopping");
  leaveBy = performance.now() + PATIENCE_MS;
  setTimeout(() => outOfPatience.abort(), PATIENCE_MS).unref();
  stopping.abort();
  await server?.close(GRACE_MS);
  await starting;
  clearInterval(following ?? undefined);
  await (worker as Worker | null)?.stop();
  signIn.mailer?.close();
  await waiting?.close();
  await admin?.close();
  await database?.close();
  await embedded?.close();
  await metricsServer?.close();
  log.info("stopped");
};

const main = async (): Promise<void> => {
  const [part] = process.argv.slice(2);
  if (part !== "start" && part !== "api" && part !== "worker" && part !== "migrate") {
    process.stderr.write(HELP);
    process.exitCode = 2;
    return;
  }
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  process.on("unhandledRejection", (error) => log.error({ err: error }, "a promise was dropped"));
  await (part === "migrate" ? migrateOnly(config, log) : runService(part, config, log));
};

main().then(
  // Whatever still holds the event loop (a provider's socket) must not hold the process.
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
