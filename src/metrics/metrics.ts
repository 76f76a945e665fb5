import type { WorkerEvents } from "graphile-worker";
import type pg from "pg";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { z } from "zod";
import type { Parts } from "../base/tracing/span.ts";
import type { Replicas } from "../database/replicas.ts";
import type { Turns } from "../database/turns.ts";
import type { Embedder } from "../reader/extraction.ts";
import { type Outcome, readUsage } from "../reader/usage.ts";

/** In seconds. The smallest is for a response from memory, the largest is beyond the deadline of an extraction. */
const REQUEST_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** In seconds. The smallest is for an extraction by the built-in extractor, the largest for a provider's timeout. */
const JOB_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** In seconds. The smallest is for a job that starts at once, the largest for a job that was retried for an hour. */
const WAIT_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600];
/** A scrape has ten seconds by default. If the database hangs, the process's own metrics must still be in time. */
const STATE_TIMEOUT_MS = 3_000;

type PoolCounts = Pick<pg.Pool, "totalCount" | "idleCount" | "waitingCount">;

const oneFunction = z.object({ function: z.string(), calls: z.number(), seconds: z.number() });
const jobsOfOneState = z.object({ task: z.string(), state: z.string(), count: z.number(), oldest_seconds: z.number() });
/** The result of inspect.state(). */
const stateShape = z.object({
  jobs: z.array(jobsOfOneState),
  submissions: z.object({ waiting: z.number(), oldest_seconds: z.number() }),
  // A database before its migration does not have this.
  sign_in_mails: z.object({ strangers: z.number(), limit: z.number() }).nullable().default(null),
  heartbeat_age_seconds: z.number().nullable(),
  workers: z.number(),
  invariants: z.record(z.string(), z.number()),
  // A database before its migration does not have this.
  functions: z.array(oneFunction).default([]),
  checked_seconds_ago: z.number().nullable(),
});

const withinTime = <T>(work: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error("The database took too long to return its state.")),
    STATE_TIMEOUT_MS,
  );
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
};

/** How metrics of one registry are made. `collect` sets or counts a metric anew at each scrape. */
const makersFor = (registers: [Registry]) => ({
  histogram: (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers }),
  gauge: (name: string, help: string, labelNames: string[], collect?: (gauge: Gauge) => void) =>
    new Gauge({ name, help, labelNames, registers, ...collectedBy(collect) }),
  counter: (name: string, help: string, labelNames: string[], collect?: (counter: Counter) => void) =>
    new Counter({ name, help, labelNames, registers, ...collectedBy(collect) }),
});

const collectedBy = <Metric extends { reset(): void }>(collect: ((metric: Metric) => void) | undefined) =>
  collect && {
    collect(this: Metric) {
      this.reset();
      collect(this);
    },
  };

/** Makes the gauges for inspect.state(). Returns the function that sets them, which is called at each scrape. */
const createStateGauges = (registers: [Registry]) => {
  const { counter } = makersFor(registers);
  // Several API processes ask the same database, so their figures are not added up. They agree that it is up if all do.
  const up = new Gauge({
    name: "souk_database_up",
    help: "Whether the database gave its state.",
    aggregator: "min",
    registers,
  });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, aggregator: "max", registers });
  const jobs = gauge("souk_jobs", "Jobs that are not done, by task and state.", ["task", "state"]);
  const oldestJob = gauge("souk_job_oldest_seconds", "Age of the oldest job, by task and state.", ["task", "state"]);
  const waiting = gauge("souk_submissions_waiting", "Texts that wait to be read.");
  const oldestWaiting = gauge("souk_submission_oldest_seconds", "How long the oldest of them has waited.");
  const mails = gauge("souk_sign_in_mails", "Sign-in messages that strangers asked for in the last hour.");
  const mailLimit = gauge("souk_sign_in_mails_limit", "As many at most; further ones are refused.");
  const workers = gauge("souk_workers", "Pools of workers that live.");
  const heartbeat = gauge("souk_worker_heartbeat_age_seconds", "Since the latest heartbeat of any worker.");
  const violations = gauge("souk_invariant_violations", "Rows that break an invariant, as last found.", ["invariant"]);
  const checked = gauge("souk_invariants_checked_age_seconds", "Since the invariants were last checked.");
  const functionSeconds = counter(
    "souk_function_seconds_total",
    "Time in the ten SQL functions that take the most, without those that they call. Needs track_functions.",
    ["function"],
  );
  const functionCalls = counter("souk_function_calls_total", "Calls of these functions.", ["function"]);
  const labelled = [jobs, oldestJob, violations, functionSeconds, functionCalls];
  const single = [waiting, oldestWaiting, mails, mailLimit, workers, heartbeat, checked];

  return async (read: () => Promise<unknown>): Promise<void> => {
    // Remove all old values, so that no stale value stays when the database does not respond.
    for (const gauge of labelled) gauge.reset();
    for (const gauge of single) gauge.remove();
    const database = await withinTime(read()).then(
      (given) => stateShape.parse(given),
      () => null,
    );
    up.set(database === null ? 0 : 1);
    if (database === null) return;
    for (const { task, state, count, oldest_seconds } of database.jobs) {
      jobs.set({ task, state }, count);
      oldestJob.set({ task, state }, oldest_seconds);
    }
    for (const { function: name, calls, seconds } of database.functions) {
      functionSeconds.inc({ function: name }, seconds);
      functionCalls.inc({ function: name }, calls);
    }
    waiting.set(database.submissions.waiting);
    oldestWaiting.set(database.submissions.oldest_seconds);
    if (database.sign_in_mails !== null) {
      mails.set(database.sign_in_mails.strangers);
      mailLimit.set(database.sign_in_mails.limit);
    }
    workers.set(database.workers);
    if (database.heartbeat_age_seconds !== null) heartbeat.set(database.heartbeat_age_seconds);
    for (const [invariant, broken] of Object.entries(database.invariants)) violations.set({ invariant }, broken);
    if (database.checked_seconds_ago !== null) checked.set(database.checked_seconds_ago);
  };
};

/**
 * Makes the metrics of one process for Prometheus. Labels are statuses and names from the code (operations, tasks,
 * models, invariants). They never hold an id, an address or text from a caller, so their number is bounded and nothing
 * leaks.
 * @param exposed whether anybody can read them. Only then the process measures itself (memory, event loop), because
 * this needs a timer.
 */
export const createMetrics = (exposed: boolean) => {
  const registry = new Registry();
  const registers: [Registry] = [registry];
  if (exposed) collectDefaultMetrics({ register: registry });

  const { histogram, gauge, counter } = makersFor(registers);
  const requests = histogram(
    "souk_http_request_duration_seconds",
    "From a request's head to its answer's end, by operation and status.",
    ["operation", "status"],
    REQUEST_BUCKETS,
  );
  const partDurations = histogram(
    "souk_request_part_seconds",
    "Of requests that have this part: waiting for a turn, the database (db), reading or rendering.",
    ["part"],
    REQUEST_BUCKETS,
  );
  const jobDurations = histogram(
    "souk_job_duration_seconds",
    "How long jobs took, by task and outcome: done, failed (and tried again) or given_up.",
    ["task", "outcome"],
    JOB_BUCKETS,
  );
  const jobWaits = histogram(
    "souk_job_wait_seconds",
    "From when a job was due to when it was started, by task.",
    ["task"],
    WAIT_BUCKETS,
  );
  // src/reader/usage.ts counts the calls of models. Each scrape copies its counts.
  counter(
    "souk_model_calls_total",
    "Readings, and embeddings by a provider: by the model asked first, operation and outcome (ok, repaired, fallback, failed).",
    ["model", "operation", "outcome"],
    (calls) => {
      for (const { model, operation, outcomes } of readUsage())
        for (const [outcome, count] of Object.entries(outcomes)) calls.inc({ model, operation, outcome }, count);
    },
  );
  counter(
    "souk_model_tokens_total",
    "Tokens as the provider counts them, by model, operation and direction: input or output.",
    ["model", "operation", "direction"],
    (tokens) => {
      for (const { model, operation, inputTokens, outputTokens } of readUsage()) {
        tokens.inc({ model, operation, direction: "input" }, inputTokens);
        tokens.inc({ model, operation, direction: "output" }, outputTokens);
      }
    },
  );
  const extractionDurations = histogram(
    "souk_reading_duration_seconds",
    "How long readings took, the fallback included, by the model asked first.",
    ["model", "operation"],
    JOB_BUCKETS,
  );
  const embeddings = histogram(
    "souk_embedding_duration_seconds",
    "Calls of the embedder, by model and outcome: ok or failed.",
    ["model", "outcome"],
    JOB_BUCKETS,
  );

  const pools = new Map<string, PoolCounts>();
  gauge("souk_pool_connections", "Connections of a pool that are in use or idle.", ["pool", "state"], (connections) => {
    for (const [pool, { totalCount, idleCount }] of pools) {
      connections.set({ pool, state: "acquired" }, totalCount - idleCount);
      connections.set({ pool, state: "idle" }, idleCount);
    }
  });
  gauge("souk_pool_waiting", "Statements that wait for a connection of a pool.", ["pool"], (waiting) => {
    for (const [pool, { waitingCount }] of pools) waiting.set({ pool }, waitingCount);
  });

  let turns: Pick<Turns<never>, "waiting" | "refused"> | null = null;
  gauge("souk_calls_waiting", "Calls that wait for their caller's turn, by pool.", ["pool"], (waiting) => {
    for (const [pool, count] of Object.entries(turns?.waiting() ?? {})) waiting.set({ pool }, count);
  });
  counter(
    "souk_calls_refused_total",
    "Calls refused with 429 because their caller had too many waiting.",
    [],
    (calls) => calls.inc(turns?.refused() ?? 0),
  );

  let replicas: Replicas["states"] = () => [];
  gauge(
    "souk_replica_in_use",
    "Whether reads use a replica, numbered as in DATABASE_READ_URL: 0 while it is too far behind, down or refuses connections.",
    ["replica"],
    (inUse) => {
      for (const { name, ...state } of replicas()) inUse.set({ replica: name }, state.inUse ? 1 : 0);
    },
  );
  gauge(
    "souk_replica_behind_seconds",
    "At most how far a replica is behind the primary; absent while it does not answer.",
    ["replica"],
    (behind) => {
      for (const { name, secondsBehind } of replicas())
        if (secondsBehind !== null) behind.set({ replica: name }, secondsBehind);
    },
  );

  const readState = createStateGauges(registers);
  let stateOf: (() => Promise<unknown>) | null = null;

  return {
    /** Whether anybody can read the metrics. Otherwise, costly measurements are left out. */
    exposed,
    /**
     * Counts one request.
     * @param operation the operation of the endpoint or page; undefined for any other path
     * @param status the HTTP status, or 499 when the client closed the connection before the response
     * @param parts the times of its parts, if they were measured
     */
    countRequest(operation: unknown, status: number, milliseconds: number, parts: Parts = {}) {
      if (!exposed) return;
      requests.observe({ operation: typeof operation === "string" ? operation : "none", status }, milliseconds / 1000);
      for (const [part, time] of Object.entries(parts)) partDurations.observe({ part }, time / 1000);
    },
    /** Records one extraction, as an extractor reports it to onOutcome. */
    countExtraction({ model, operation, milliseconds }: Outcome) {
      extractionDurations.observe({ model, operation }, milliseconds / 1000);
    },
    /** Wraps an embedder so that its calls are counted. */
    measured: (embedder: Embedder): Embedder => ({
      ...embedder,
      async embed(texts, signal) {
        const end = embeddings.startTimer({ model: embedder.model });
        try {
          const vectors = await embedder.embed(texts, signal);
          end({ outcome: "ok" });
          return vectors;
        } catch (error) {
          end({ outcome: "failed" });
          throw error;
        }
      },
    }),
    /** Adds connection pools, by name. They are measured at each scrape, as all that is watched. */
    watchPools(given: Readonly<Record<string, PoolCounts>>) {
      for (const [name, pool] of Object.entries(given)) pools.set(name, pool);
    },
    watchTurns(given: typeof turns) {
      turns = given;
    },
    watchReplicas(read: Replicas["states"]) {
      replicas = read;
    },
    /** @param read reads inspect.state() */
    watchState(read: typeof stateOf) {
      stateOf = read;
    },
    /** Counts jobs by the events of a worker. */
    watchJobs(events: Pick<WorkerEvents, "on">) {
      const started = new Map<string, number>();
      const givenUp = new Set<string>();
      events.on("job:start", ({ job }) => {
        started.set(job.id, performance.now());
        jobWaits.observe(
          { task: job.task_identifier },
          Math.max(0, Date.now() - new Date(job.run_at).getTime()) / 1000,
        );
      });
      events.on("job:failed", ({ job }) => void givenUp.add(job.id));
      events.on("job:complete", ({ job, error }) => {
        const start = started.get(job.id);
        started.delete(job.id);
        const outcome = givenUp.delete(job.id) ? "given_up" : error ? "failed" : "done";
        if (start !== undefined)
          jobDurations.observe({ task: job.task_identifier, outcome }, (performance.now() - start) / 1000);
      });
    },
    /** Returns the values of all metrics, to be added to those of other processes (src/processes.ts). */
    async values() {
      if (stateOf !== null) await readState(stateOf);
      return registry.getMetricsAsJSON();
    },
    /** Returns all metrics in the text format of Prometheus. It never fails: without a database souk_database_up is 0. */
    async text() {
      if (stateOf !== null) await readState(stateOf);
      return registry.metrics();
    },
    contentType: registry.contentType as string,
  };
};

/** The metrics of a process. */
export type Metrics = ReturnType<typeof createMetrics>;
