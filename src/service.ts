import cluster from "node:cluster";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Admin, openAdmin } from "./admin/admin.ts";
import { createFigures } from "./api/rate_limit_headers.ts";
import { checkAssertions } from "./assistants/oauth/client_assertion.ts";
import { findDocuments, findKeys } from "./assistants/oauth/client_document.ts";
import type { Log } from "./base/log.ts";
import { useTracer } from "./base/tracing/tracing.ts";
import type { Config } from "./config.ts";
import { type Database, openDatabase } from "./database/database.ts";
import { listenForNotifications, type Notifications } from "./database/notifications.ts";
import { keepsMail } from "./mail/mailbox.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { serveMetrics } from "./metrics/serve.ts";
import { type Part, runParts } from "./parts.ts";
import { joinMetrics } from "./processes.ts";
import { createEmbedder } from "./reader/embedders.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { openSignIn, type SignIn } from "./sign_in/sign_in.ts";
import { serve } from "./web/server.ts";

/**
 * The parts of each process, in the order in which they start. They stop in the reverse order: the HTTP server answers
 * every accepted request before the worker, the connection to the mail server and the database stop.
 */

/**
 * Accepted requests may take this long after the HTTP server has closed its port. By default, Docker kills a container
 * ten seconds after the signal: one for load balancers, five for requests, up to three for the worker, and one for the
 * other parts.
 */
const GRACE_MS = 5_000;
/**
 * After a signal, requests wait this long for texts to be read, for providers and for mail servers. Then their callers
 * get an error. Two seconds are left to send it: the HTTP server closes all connections after its first second and
 * GRACE_MS, which is six seconds after the signal.
 */
const PATIENCE_MS = 4_000;
/** The pause before another try to reach the database at the start. */
const RETRY_MS = 1_000;
/** The interval at which a waiting request polls the database, in case no notification arrives. */
const POLL_MS = { server: 250, embedded: 25 };

/** The commands that run a process: the API and the worker in one process, or each in its own. */
export type ServiceCommand = "start" | "api" | "worker";

/** What the parts of a process share. A part may use what earlier parts in the list have stored here. */
type Service = {
  command: ServiceCommand;
  config: Config;
  log: Log;
  shutdown: ReturnType<typeof stopOnSignal>;
  metrics: Metrics;
  signIn: SignIn;
  /** Whether the process runs its own database (PGlite). */
  embedded: boolean;
  /** The URL of the database; "" until the embedded database has started. */
  url: string;
  /** The same without a pooler: for LISTEN, and for migrations. */
  directUrl: string;
  /** The URL at which clients reach the service. Without BASE_URL it is "" until the HTTP server listens. */
  baseUrl: string;
  readiness: Readiness;
  database?: Database;
  notifications?: Notifications;
  admin?: Admin;
};

type MakePart = (service: Service) => Part;

/** Returns an earlier part. @throws if it is missing or comes later in the list */
const required = <T>(part: T | undefined, name: string): T => {
  if (part === undefined) throw new Error(`The part "${name}" has to come before those that use it.`);
  return part;
};

/** Imported only by processes that have an API: its modules take 25 MB. */
const loadApp = async () => {
  const [{ createApp }, { ENDPOINTS }] = await Promise.all([import("./app.ts"), import("./api/endpoints.ts")]);
  return { createApp, ENDPOINTS };
};

const metricsServer: MakePart = ({ config, metrics }) => ({
  name: "metrics server",
  start: async () => {
    // Of several API processes, the first one serves the metrics of all.
    if (config.metricsPort === null || cluster.isWorker) return undefined;
    const server = await serveMetrics(metrics, config.metricsPort, config.host, config.metricsToken);
    return server.close;
  },
});

const traces: MakePart = ({ command, config }) => ({
  name: "traces",
  start: async () => {
    if (!config.traces) return undefined;
    const { openTracer } = await import("./base/tracing/opentelemetry.ts");
    const tracer = openTracer(command === "start" ? "souk" : `souk-${command}`);
    useTracer(tracer);
    return tracer.close;
  },
});

const embeddedDatabase: MakePart = (service) => ({
  name: "embedded database",
  start: async () => {
    if (!service.embedded) return undefined;
    const { startEmbeddedDatabase } = await import("./database/embedded.ts");
    const starting = startEmbeddedDatabase(service.config.dataDir);
    // The database starts in its own thread, so this thread can already load the modules of the next parts.
    await Promise.all([import("./install/migrate.ts"), import("../worker/main.ts"), loadApp(), starting]);
    const database = await starting;
    service.url = database.url;
    service.directUrl = database.url;
    return database.close;
  },
});

const databasePools: MakePart = (service) => ({
  name: "database pools",
  start: () => {
    const { config, log, metrics, url, embedded, shutdown } = service;
    const database = openDatabase({
      url,
      readUrls: config.databaseReadUrls,
      pooled: config.databaseDirectUrl !== null,
      poolSize: config.databasePoolSize,
      role: "souk_api",
      embedded,
      baseUrl: () => service.baseUrl,
      onError: (error) => log.warn({ err: error }, "a database connection was lost"),
      onReplica: (replica, inUse) =>
        inUse ? log.info({ replica }, "a replica is in use") : log.warn({ replica }, "a replica is out of use"),
      isPrepared: service.readiness.isPrepared,
      outOfPatience: shutdown.outOfPatience,
    });
    metrics.watchPools(database.pools);
    metrics.watchTurns(database.turns);
    metrics.watchState(database.state);
    metrics.watchReplicas(database.replicas);
    service.database = database;
    return database.close;
  },
});

const admin: MakePart = (service) => ({
  name: "admin",
  start: () => {
    const { url, embedded, log, config } = service;
    const pooled = config.databaseDirectUrl !== null;
    const database = required(service.database, "database pools");
    service.admin = openAdmin({ url, embedded, pooled, log, baseUrl: () => service.baseUrl, database });
    return service.admin.close;
  },
});

const notifications: MakePart = (service) => ({
  name: "notifications",
  start: () => {
    const database = required(service.database, "database pools");
    service.notifications = listenForNotifications({
      url: service.embedded ? null : service.directUrl,
      readersSince: async (snapshot) =>
        JSON.parse(await database.call("visitor", "list_event_readers", { snapshot }, "write")),
      stopping: service.shutdown.stopping,
      log: service.log,
    });
    return service.notifications.close;
  },
});

const mail: MakePart = ({ signIn }) => ({
  name: "mail",
  start: () => () => signIn.mailer?.close(),
});

const migration: MakePart = (service) => ({
  name: "migration",
  prepare: async (stopping) => {
    const { log, directUrl: url, embedded, readiness } = service;
    const { migrate } = await import("./install/migrate.ts");
    await untilItWorks("the database could not be migrated", log, stopping, async () => {
      await migrate(url, { embedded, stopping });
    });
    readiness.migrated();
    return undefined;
  },
});

const worker: MakePart = (service) => ({
  name: "worker",
  prepare: async () => {
    const { config, log, metrics, signIn, url, embedded } = service;
    const { startWorker } = await import("../worker/main.ts");
    const { stop } = await startWorker({
      url,
      directUrl: config.databaseDirectUrl,
      embedded,
      alone: embedded,
      openai: config.openai,
      extractionDeadlineMs: config.extractionDeadlineMs,
      webhooks: config.webhooks,
      mailer: signIn.mailer,
      baseUrl: () => service.baseUrl,
      metrics,
      log,
    });
    return stop;
  },
});

const readiness: MakePart = (service) => ({
  name: "readiness",
  prepare: async (stopping) => {
    const { log, signIn } = service;
    const database = required(service.database, "database pools");
    await untilItWorks("the database cannot be used", log, stopping, () =>
      service.readiness.prepare(database, signIn.methods),
    );
    if (stopping.aborted) return undefined;
    log.info("ready");
    if (process.stdout.isTTY || service.command === "start") {
      process.stdout.write(banner(service, await secretLinks(service)));
    }
    return service.readiness.follow(database, log);
  },
});

const httpServer: MakePart = (service) => ({
  name: "HTTP server",
  start: async () => {
    const { config, log, metrics, shutdown, signIn, embedded } = service;
    const database = required(service.database, "database pools");
    const embedder = await createEmbedder(config.openai ?? undefined, service.readiness.meaning);
    const { createApp, ENDPOINTS } = await loadApp();
    const app = createApp(
      {
        endpoints: ENDPOINTS,
        database,
        notifications: required(service.notifications, "notifications"),
        figures: createFigures(),
        embedder: metrics.measured(embedder),
        extractQuery: service.readiness.extractQuery,
        withoutOrders: service.readiness.withoutOrders,
        log,
        baseUrl: () => service.baseUrl,
        connectionsPerHour: config.connectionsPerHour,
        webhooks: config.webhooks,
        extractionDeadlineMs: config.extractionDeadlineMs,
        leaveBy: shutdown.leaveBy,
        pollMs: embedded ? POLL_MS.embedded : POLL_MS.server,
      },
      {
        trustProxy: config.trustProxy,
        unset: [
          ...(config.baseUrl === null ? ["BASE_URL"] : []),
          ...(config.trustProxy.length === 0 ? ["TRUST_PROXY"] : []),
        ],
        readiness: () => service.readiness.state(database, shutdown.stopping, log),
        signIn,
        findDocument: findDocuments(config.clientMetadataPrivate),
        checkAssertion: checkAssertions(findKeys(config.clientMetadataPrivate)),
        metrics,
        metricsToken: config.metricsToken,
        serverTiming: config.serverTiming,
        admin: required(service.admin, "admin").handle,
      },
    );
    const server = await serve(app, config.port, config.host, { baseUrl: () => service.baseUrl });
    service.baseUrl ||= server.url;
    log.info({ url: server.url }, "listening");
    return () => server.close(GRACE_MS);
  },
});

/** The HTTP server is last, so it stops first. While it closes, its requests can still use all other parts. */
const PARTS: Readonly<Record<ServiceCommand, readonly MakePart[]>> = {
  api: [traces, metricsServer, databasePools, admin, notifications, mail, readiness, httpServer],
  worker: [traces, metricsServer, mail, worker],
  start: [
    traces,
    metricsServer,
    embeddedDatabase,
    databasePools,
    admin,
    notifications,
    mail,
    migration,
    worker,
    readiness,
    httpServer,
  ],
};

/**
 * Runs a process until SIGTERM or SIGINT.
 * @throws if the configuration lacks a setting that the command needs, or if a part fails
 */
export const runService = async (command: ServiceCommand, config: Config, log: Log): Promise<void> => {
  if (command !== "start" && !config.databaseUrl)
    throw new Error("Set DATABASE_URL: only `npm start` brings its own database.");
  if (command === "worker" && config.signIn.mail && !config.baseUrl)
    throw new Error("Set BASE_URL: the messages that the worker sends lead there.");
  const shutdown = stopOnSignal(log);
  const metrics = createMetrics(config.metricsPort !== null || config.metricsToken !== null);
  const service: Service = {
    command,
    config,
    log,
    shutdown,
    metrics: cluster.isWorker ? joinMetrics(metrics) : metrics,
    signIn: openSignIn(config.signIn, log, shutdown.outOfPatience, keepsMail(config)),
    embedded: config.databaseUrl === null,
    url: config.databaseUrl ?? "",
    directUrl: config.databaseDirectUrl ?? config.databaseUrl ?? "",
    baseUrl: config.baseUrl ?? "",
    readiness: createReadiness({ migrated: command === "api" }),
  };
  await runParts(
    PARTS[command].map((makePart) => makePart(service)),
    shutdown.stopping,
  );
  log.info("stopped");
};

const stopOnSignal = (log: Log) => {
  const stopping = new AbortController();
  const outOfPatience = new AbortController();
  let leaveBy = Number.POSITIVE_INFINITY;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping.signal.aborted) return;
    log.info({ signal }, "stopping");
    leaveBy = performance.now() + PATIENCE_MS;
    setTimeout(() => outOfPatience.abort(), PATIENCE_MS).unref();
    stopping.abort();
  };
  // `on` and not `once`: on Ctrl-C this process gets two signals, one from the terminal and one from npm. After `once`,
  // the second signal would have no listener, and Node would end the process at once.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  return {
    /** Aborts at the first signal. */
    stopping: stopping.signal,
    /** Aborts PATIENCE_MS after the signal. Calls to providers and mail servers for sign-in then end. */
    outOfPatience: outOfPatience.signal,
    /** The time, by performance.now(), when requests stop waiting for their texts; Infinity until a signal arrives. */
    leaveBy: () => leaveBy,
  };
};

/** Repeats `attempt` until it succeeds or the process has to stop. So a process may start before its database does. */
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

/**
 * Returns where the owner of an embedded database finds a link with a secret: in a terminal the link itself. Other
 * output is often kept as a log, so there it is the name of a file in DATA_DIR that only the user of this process can
 * read. Null if there is no link.
 */
const secretLink = async (
  { config, log }: Service,
  name: "moderator-link" | "mailbox-link",
  make: () => Promise<string | null>,
): Promise<string | null> => {
  const file = join(config.dataDir, name);
  try {
    // An earlier start's link no longer works.
    await rm(file, { force: true });
    const link = await make();
    if (link === null || process.stdout.isTTY) return link;
    await writeFile(file, `${link}\n`, { mode: 0o600, flag: "wx" });
    return `the link in ${file}`;
  } catch (error) {
    log.warn({ err: error }, `no ${name} could be made`);
    return null;
  }
};

/** The links with a secret: that of the mailbox, and the one that appoints the first moderator. */
const secretLinks = async (service: Service): Promise<{ mailbox: string | null; moderator: string | null }> => {
  const { embedded, url, baseUrl, signIn } = service;
  if (!embedded) return { mailbox: null, moderator: null };
  const { newModeratorLink } = await import("./admin/moderator.ts");
  const { mailbox } = signIn;
  return {
    mailbox: await secretLink(service, "mailbox-link", async () => mailbox && `${baseUrl}${mailbox.path}`),
    moderator: await secretLink(service, "moderator-link", () => newModeratorLink(url, baseUrl)),
  };
};

const banner = (
  { baseUrl: url, config }: Service,
  links: { mailbox: string | null; moderator: string | null },
): string => `
Souk is ready at ${url}

  For a person    open ${url}
  For an agent    curl ${url}/v1
  Connect one     curl -X POST ${url}/v1/connect -H 'Content-Type: application/json' -d '{"name": "My agent"}'
  See it work     npm run demo        (in another terminal)

  Read the guides ${url}/docs
${
  links.mailbox
    ? `  Read the mail   ${links.mailbox}  (no SMTP_URL is set, so mail is kept and not sent)
`
    : ""
}
  Database        ${config.databaseUrl ? "the server in DATABASE_URL" : `embedded, in ${config.dataDir}/`}
${links.moderator ? `  Moderate        ${links.moderator}  (once, by whoever opens it first)\n` : ""}  Stop            Ctrl-C
`;
