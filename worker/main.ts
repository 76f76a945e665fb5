import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkerEvents } from "graphile-worker";
import type { Log } from "../src/base/log.ts";
import { openPool } from "../src/database/database.ts";
import type { Mailer } from "../src/mail/mailer.ts";
import type { Metrics } from "../src/metrics/metrics.ts";
import { type Part, runParts } from "../src/parts.ts";
import type { Meaning } from "../src/reader/embed/learn.ts";
import { createEmbedder, type OpenAiSettings } from "../src/reader/embedders.ts";
import type { Vocabulary } from "../src/reader/extraction.ts";
import { createReader, type Reader } from "../src/reader/reader.ts";
import { createSend } from "../src/webhooks/send.ts";
import type { WebhookSettings } from "../src/webhooks/settings.ts";
import { callJobs } from "./database.ts";
import { createDeliverer } from "./deliver.ts";
import { heartbeatPart } from "./heartbeat.ts";
import { CONCURRENCY, listeningOn, queuePart } from "./queue.ts";
import { taskList } from "./tasks.ts";
import { vocabularyPart } from "./vocabulary.ts";

/**
 * One connection for each concurrent job, and three for the queue, the notifications and the heartbeat, which must not
 * wait for jobs.
 */
export const WORKER_POOL_SIZE = CONCURRENCY + 3;
/** The pause between two runs of the worker, so that it does not spin while the database is unreachable. */
const RESTART_MS = 1_000;

/**
 * The share of a caller's deadline that the provider gets. The rest is for the built-in extractor and for publishing.
 */
const PROVIDER_SHARE = 0.7;

/** A running worker. */
export type Worker = {
  /** Gives jobs a moment to finish, unlocks those that do not, and resolves when nothing runs any more. */
  stop(): Promise<void>;
};

/**
 * Runs the jobs: extraction, embedding, matching, notices by e-mail, and upkeep. After a failure, such as a restart of
 * the database, the worker runs again.
 * @param options.alone no other worker can be alive, as with the embedded database: jobs of dead workers are unlocked
 * at once
 * @param options.extractionDeadlineMs how long a caller waits for an extraction, in milliseconds
 */
export const startWorker = async (options: {
  url: string;
  /** The server itself, if the URL is a pooler's in transaction mode. */
  directUrl: string | null;
  embedded: boolean;
  alone: boolean;
  openai: OpenAiSettings | null;
  extractionDeadlineMs: number;
  webhooks: WebhookSettings;
  mailer: Mailer | null;
  baseUrl: () => string;
  metrics: Metrics;
  log: Log;
}): Promise<Worker> => {
  const { url, directUrl, embedded, alone, mailer, baseUrl, metrics, log } = options;
  const leaving = new AbortController();
  const stopping = leaving.signal;
  const poolIds = new Set<string>();

  const session = {
    url,
    poolSize: WORKER_POOL_SIZE,
    role: "souk_worker" as const,
    embedded,
    onError: (error: Error) => log.warn({ err: error }, "the worker lost a connection"),
  };
  const pool = openPool({ ...session, pooled: directUrl !== null }, url);
  const listener = directUrl === null ? null : openPool(session, directUrl, "listen", { max: 1 });
  metrics.watchPools({ worker: pool });
  metrics.watchState(
    async () => (await pool.query<{ state: unknown }>("select inspect.state() as state")).rows[0]?.state,
  );
  const plain = embedded || directUrl !== null;
  const call = callJobs(pool, embedded, plain);

  const openai = options.openai ?? undefined;
  // The reader and its tasks belong to the worker and not to a run: graphile-worker keeps each run's options until the
  // process ends (`cacheByOptions` in its taskIdentifiers.js), so they must not refer to a vocabulary.
  let current: Reader | null = null;
  const reader = (): Reader => {
    if (current === null) throw new Error("The vocabulary has to be loaded before texts are read.");
    return current;
  };
  let meaning: Meaning | null = null;
  const embedder = metrics.measured(await createEmbedder(openai, () => meaning));
  const readerOf = (vocabulary: Vocabulary): Promise<Reader> =>
    createReader({
      openai,
      vocabulary,
      extractionDeadlineMs: Math.round(options.extractionDeadlineMs * PROVIDER_SHARE),
      onOutcome: (outcome) => {
        metrics.countExtraction(outcome);
        log[outcome.outcome === "ok" ? "debug" : "warn"](outcome, "read");
      },
    });
  const { keys, anyAddress } = options.webhooks;
  const deliverer = createDeliverer({ call, keys, send: createSend({ anyAddress }), log });
  const tasks = taskList({ call, deliver: deliverer.deliver, reader, embedder, mailer, baseUrl, log });

  /** One run of the worker. It ends when the worker has to stop or a part fails. */
  const runOnce = async (): Promise<void> => {
    const ended = new AbortController();
    const startAgain = (why: string): void => {
      if (stopping.aborted || ended.signal.aborted) return;
      log.warn(why);
      ended.abort();
    };
    const events = new EventEmitter() as WorkerEvents;
    metrics.watchJobs(events);

    const parts: Part[] = [
      heartbeatPart({ call, events, poolIds, alone, startAgain, log }),
      vocabularyPart({
        call,
        readerOf,
        use: (vocabulary, reader) => {
          current = reader;
          meaning = vocabulary.meaning ?? null;
        },
        stopping,
        log,
      }),
      {
        name: "embedding model",
        start: async () => {
          await call("use_embedding_model", embedder.model);
          return undefined;
        },
      },
      queuePart({
        pool: listener === null ? pool : listeningOn(listener, pool),
        plain,
        embedded,
        events,
        tasks,
        startAgain,
        log,
      }),
      {
        name: "announcement",
        start: () => {
          log.info({ extractor: reader().model, embedder: embedder.model }, "worker ready");
          return undefined;
        },
      },
    ];
    await runParts(parts, AbortSignal.any([stopping, ended.signal]));
  };

  const finished = (async () => {
    while (!stopping.aborted) {
      try {
        await runOnce();
      } catch (error) {
        if (!stopping.aborted) log.warn({ err: error }, "the worker stopped, and starts again");
      }
      if (!stopping.aborted) await sleep(RESTART_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  })();

  return {
    async stop() {
      leaving.abort();
      await finished;
      await deliverer.stop();
      await pool.end();
      await listener?.end();
    },
  };
};
