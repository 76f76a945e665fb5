import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Logger, type Runner, run, type WorkerEvents } from "graphile-worker";
import { openPool } from "../src/database/database.ts";
import type { Log } from "../src/log.ts";
import type { Mailer } from "../src/mail/mailer.ts";
import type { Metrics } from "../src/metrics/metrics.ts";
import type { OpenAiSettings } from "../src/reader/embedders.ts";
import type { Vocabulary } from "../src/reader/extraction.ts";
import { createMakers, type Makers } from "../src/reader/extractors.ts";
import { type LessonSource, learnWhenDue } from "../src/reader/learning.ts";
import { followVocabulary, VOCABULARY_POLL_MS } from "../src/reader/vocabulary.ts";
import { callJobs } from "./call.ts";
import { onBehalfOfItsJob, type Tools } from "./task.ts";
import { settleStanding } from "./tasks/apply_standing.ts";
import { checkInvariants } from "./tasks/check_invariants.ts";
import { readSubmission } from "./tasks/complete_submission.ts";
import { embedAsk, embedOffer } from "./tasks/embed.ts";
import { reembed } from "./tasks/reembed.ts";
import { refreshConcepts } from "./tasks/refresh_concepts.ts";
import { sendApprovalNotice } from "./tasks/send_notice.ts";
import {
  forgetAgents,
  forgetKeys,
  forgetSignIns,
  keepAuditPartitions,
  resumeReembedding,
  sweepSubmissions,
} from "./tasks/upkeep.ts";

/** Reading waits for providers more than it computes. */
const CONCURRENCY = 8;
/** One for each job; three for the queue, the notifications and the heartbeat, which must not wait for jobs. */
export const WORKER_POOL_SIZE = CONCURRENCY + 3;
/** A stopping worker lets jobs finish for this long, then aborts their provider calls; well within ten seconds. */
const GRACE_MS = 3_000;
/** market.worker_heartbeat takes three missed beats for death. */
const BEAT_MS = 10_000;
/** A notification starts a job at once; polling finds retries, and on PGlite, where none arrive, everything. */
const POLL_MS = { server: 1_000, embedded: 100 };
const RESTART_MS = 1_000;
/** Learning takes seconds of a processor: what cannot be learned is not tried all the time. */
const LEARN_AGAIN_MS = 300_000;

/**
 * UTC. The months of the audit log are looked after every hour, since a process on a desk may never see a given one. What
 * grows with the market is checked by a sample, of ten thousand rows of each large table, and at night, when few wait,
 * whole.
 */
const CRONTAB = `
* * * * * sweep_submissions
* * * * * purge_keys
* * * * * purge_sign_ins
* * * * * purge_agents
17 * * * * keep_audit_partitions
*/5 * * * * check_invariants {"sample": 10000}
23 3 * * * check_invariants ?id=check_everything {"sample": null}
*/10 * * * * resume_reembedding
`;

export type Worker = { stop(): Promise<void> };

/**
 * Runs the jobs: reads texts, embeds, matches, tells people by mail, and does the upkeep. Survives restarts of the database.
 * @param options.alone no other worker can be alive, as with the embedded database: jobs of dead ones are freed at once
 */
export const startWorker = (options: {
  url: string;
  embedded: boolean;
  alone: boolean;
  openai: OpenAiSettings | null;
  extractionDeadlineMs: number;
  mailer: Mailer | null;
  baseUrl: () => string;
  metrics: Metrics;
  log: Log;
}): Worker => {
  const { log, metrics } = options;
  let stopping = false;
  /** Ends what need not be finished. */
  const leaving = new AbortController();
  let runner: Runner | null = null;
  /** Pools of workers that this process has started and not yet reported as stopped. */
  const poolIds = new Set<string>();

  const pool = openPool(
    {
      url: options.url,
      readUrl: null,
      poolSize: WORKER_POOL_SIZE,
      role: "souk_worker",
      embedded: options.embedded,
      onError: (error) => log.warn({ err: error }, "the worker lost a connection"),
    },
    options.url,
    false,
  );
  metrics.watchPools({ worker: pool });
  metrics.watchState(
    async () => (await pool.query<{ state: unknown }>("select inspect.state() as state")).rows[0]?.state,
  );
  const call = callJobs(pool, options.embedded);

  /** Tells the database of the pools that have stopped, so that jobs which they still hold run again at once. */
  const rest = async (): Promise<void> => {
    for (const id of poolIds) {
      await call("deregister", id);
      poolIds.delete(id);
    }
  };

  const makersOf = (vocabulary: Vocabulary): Makers =>
    createMakers({
      ...(options.openai ? { openai: options.openai } : {}),
      vocabulary,
      // What is left of the caller's deadline pays for the built-in reader and for publishing.
      extractionDeadlineMs: Math.round(options.extractionDeadlineMs * 0.7),
      onOutcome: (reading) => {
        metrics.countReading(reading);
        log[reading.outcome === "ok" ? "debug" : "warn"](reading, "read");
      },
    });

  const runUntilItFails = async (): Promise<void> => {
    await rest();
    const nextVocabulary = followVocabulary({
      changedAt: async () => (await call<string>("vocabulary_changed_at"))[0],
      load: async () => {
        const [vocabulary] = await call<Vocabulary | null>("get_vocabulary");
        if (!vocabulary) throw new Error("jobs.get_vocabulary() gave nothing");
        return vocabulary;
      },
    });
    const lessons: LessonSource = {
      get: async (learning) =>
        (await call<Awaited<ReturnType<LessonSource["get"]>>>("get_training_set", learning))[0] ?? null,
      store: async (changedAt, learning, learned) => {
        await call("store_classifiers", changedAt, learning, learned);
      },
    };
    /** After a failure another try waits, while texts are read by what was learned before. */
    let learnAgainAt = 0;
    const learn = async (): Promise<boolean> => {
      if (performance.now() < learnAgainAt) return false;
      try {
        return await learnWhenDue(lessons, leaving.signal);
      } catch (error) {
        learnAgainAt = performance.now() + LEARN_AGAIN_MS;
        if (!stopping) log.warn({ err: error }, "the examples could not be learned from");
        return false;
      }
    };
    await learn();
    const first = await nextVocabulary();
    if (!first) throw new Error("there is no vocabulary");
    const makers = makersOf(first);
    const refreshVocabulary = async (): Promise<void> => {
      const edited = await nextVocabulary();
      if (!edited) return;
      // Texts that are being read go on with the words they began with.
      makers.reader = makersOf(edited).reader;
      log.info("reading with a changed vocabulary");
    };
    let following = false;
    const follow = async (): Promise<void> => {
      // Learning takes longer than some looks are apart.
      if (following) return;
      following = true;
      try {
        // New words hold at once, and what is learned with them a little later.
        await refreshVocabulary();
        if (await learn()) await refreshVocabulary();
      } finally {
        following = false;
      }
    };
    await call("use_embedding_model", makers.embedder.model);

    makers.embedder = metrics.measured(makers.embedder);
    const tools: Tools = { call, makers, mailer: options.mailer, baseUrl: options.baseUrl, log };
    const events = new EventEmitter() as WorkerEvents;
    metrics.watchJobs(events);
    const beat = async (alone: boolean) => {
      for (const id of poolIds) {
        const [dead] = await call<number>("heartbeat", id, alone);
        if (dead) log.warn({ dead }, "freed the jobs of dead workers");
      }
    };
    events.on("pool:create", ({ workerPool }) => {
      poolIds.add(workerPool.id);
      beat(options.alone).catch((error: unknown) => log.warn({ err: error }, "the first heartbeat failed"));
    });
    // graphile-worker drops a job's end that it cannot write down: the job then stays locked by a pool that lives.
    const working = new Set<string>();
    let suspects = new Set<string>();
    events.on("job:start", ({ job }) => void working.add(job.id));
    events.on("job:complete", ({ job }) => void working.delete(job.id));
    const startAgain = async (why: string) => {
      if (stopping) return;
      log.warn(why);
      await runner?.stop();
    };
    const checkHeld = async () => {
      for (const id of poolIds) {
        const [held = []] = await call<string[]>("get_held_jobs", id);
        const idle = new Set(held.filter((job) => !working.has(job)));
        // At one beat it may be on its way out.
        if ([...idle].some((job) => suspects.has(job))) await startAgain("jobs are held that nobody works on");
        suspects = idle;
      }
    };
    // Gone with a restart of the database, in which the ends of jobs may have been lost.
    events.on("pool:listen:error", () => {
      startAgain("the worker's listening connection was lost").catch((error: unknown) =>
        log.debug({ err: error }, "the worker stops already"),
      );
    });
    events.on("job:failed", ({ job, error }) => {
      log.error({ err: error, task: job.task_identifier, job: job.id }, "a job failed for good");
    });
    events.on("job:error", ({ job, error }) => {
      log.warn(
        { err: error, task: job.task_identifier, job: job.id, attempt: job.attempts },
        "a job will be tried again",
      );
    });

    runner = await run({
      pgPool: pool,
      events,
      concurrency: CONCURRENCY,
      noHandleSignals: true,
      noPreparedStatements: options.embedded,
      pollInterval: options.embedded ? POLL_MS.embedded : POLL_MS.server,
      gracefulShutdownAbortTimeout: GRACE_MS,
      logger: new Logger(() => (level, message) => {
        if (level === "error") log.warn({ source: "graphile-worker" }, message);
      }),
      crontab: CRONTAB,
      taskList: onBehalfOfItsJob({
        complete_submission: readSubmission(tools),
        embed_offer: embedOffer(tools),
        embed_ask: embedAsk(tools),
        apply_standing: settleStanding(tools),
        reembed: reembed(tools),
        refresh_concepts: refreshConcepts(tools),
        resume_reembedding: resumeReembedding(tools),
        purge_keys: forgetKeys(tools),
        purge_sign_ins: forgetSignIns(tools),
        purge_agents: forgetAgents(tools),
        send_approval_notice: sendApprovalNotice(tools),
        keep_audit_partitions: keepAuditPartitions(tools),
        sweep_submissions: sweepSubmissions(tools),
        check_invariants: checkInvariants(tools),
      }),
    });
    log.info({ reader: makers.reader.maker, embedder: makers.embedder.model }, "worker ready");
    // Told to stop while it was starting: nobody else knows this runner yet.
    if (stopping) await runner.stop();
    const timer = setInterval(() => {
      beat(false)
        .then(checkHeld)
        .catch((error: unknown) => log.warn({ err: error }, "a heartbeat failed"));
    }, BEAT_MS);
    const follower = setInterval(() => {
      follow().catch((error: unknown) => {
        if (!stopping) log.warn({ err: error }, "the vocabulary could not be followed");
      });
    }, VOCABULARY_POLL_MS);
    try {
      await runner.promise;
    } finally {
      clearInterval(timer);
      clearInterval(follower);
      runner = null;
      await rest().catch((error: unknown) => log.warn({ err: error }, "the end of a worker could not be told yet"));
    }
  };

  const finished = (async () => {
    while (!stopping) {
      try {
        await runUntilItFails();
      } catch (error) {
        if (!stopping) log.warn({ err: error }, "the worker stopped, and starts again");
      }
      if (!stopping) await sleep(RESTART_MS);
    }
  })();

  return {
    async stop() {
      stopping = true;
      leaving.abort();
      await runner?.stop().catch((error: unknown) => log.warn({ err: error }, "the worker did not stop cleanly"));
      await finished;
      await pool.end();
    },
  };
};
