import cluster, { type Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { AggregatorRegistry } from "prom-client";
import type { Log } from "./base/log.ts";
import type { Config } from "./config.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { serveMetrics } from "./metrics/serve.ts";

/**
 * Several API processes behind one port (API_PROCESSES), so that the API uses more than one processor. The first process
 * only starts the others, passes signals on, replaces a process that has died, and adds up the metrics. Each of the
 * others is a whole API process with connections of its own, and the bounds of fair use hold in each of them.
 */

/** The pause before a process that died is replaced. A process that dies at once must not keep the machine busy. */
const RESTART_MS = 1_000;
/** A process collects its metrics within this time, or they are left out. Prometheus waits ten seconds. */
const COLLECT_MS = 4_000;

type Collected = Awaited<ReturnType<Metrics["values"]>>;
/** Messages between the first process and the others. Both sides choose the ids of their own questions. */
type Message =
  | { ask: "values" | "text"; id: number }
  | { answer: "values"; id: number; values: Collected }
  | { answer: "text"; id: number; text: string };

/** Sends questions over a channel, and matches answers to them. */
const createQuestions = <Answer>() => {
  const open = new Map<number, (answer: Answer | null) => void>();
  let last = 0;
  return {
    /** Resolves with the answer, or with null after COLLECT_MS. */
    ask: (send: (id: number) => void): Promise<Answer | null> =>
      new Promise((resolve) => {
        last += 1;
        const id = last;
        const timer = setTimeout(() => finish(null), COLLECT_MS);
        const finish = (answer: Answer | null): void => {
          clearTimeout(timer);
          open.delete(id);
          resolve(answer);
        };
        open.set(id, finish);
        send(id);
      }),
    answer: (id: number, answer: Answer): void => open.get(id)?.(answer),
  };
};

/**
 * Runs the API processes until SIGTERM or SIGINT, and until each of them has answered its last request.
 * @throws if no process can start to listen, for example because the port is taken
 */
export const runProcesses = async (config: Config, log: Log): Promise<void> => {
  const questions = createQuestions<Collected>();
  const ended = Promise.withResolvers<void>();
  let stopping = false;
  let listened = false;

  const text = async (): Promise<string> => {
    const running = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected()) as Worker[];
    const values = await Promise.all(
      running.map((worker) => questions.ask((id) => worker.send({ ask: "values", id } satisfies Message))),
    );
    return AggregatorRegistry.aggregate(values.filter((one) => one !== null)).metrics();
  };
  const { contentType } = new AggregatorRegistry();
  const metrics =
    config.metricsPort === null
      ? null
      : await serveMetrics({ text, contentType }, config.metricsPort, config.host, config.metricsToken);

  const start = (): void => {
    const worker = cluster.fork();
    worker.on("error", (error) => {
      // A process that could not be made is not replaced: no "exit" follows.
      if (worker.process.pid === undefined) return ended.reject(error);
      // A process that has just died looks connected for a moment. A question to it gets no answer.
      log.warn({ err: error, pid: worker.process.pid }, "a message did not reach an API process");
    });
    worker.on("message", async (message: Message) => {
      if ("answer" in message && message.answer === "values") questions.answer(message.id, message.values);
      else if ("ask" in message) {
        const answer: Message = { answer: "text", id: message.id, text: await text() };
        if (worker.isConnected()) worker.send(answer);
      }
    });
  };
  cluster.on("listening", () => {
    listened = true;
  });
  cluster.on("exit", async (worker, code, signal) => {
    if (!stopping && listened) {
      log.error({ pid: worker.process.pid, code, signal }, "an API process has died and is replaced");
      await sleep(RESTART_MS);
      if (!stopping) return start();
    }
    if (!stopping && !listened) ended.reject(new Error("No API process could start. Its error is above."));
    if (Object.keys(cluster.workers ?? {}).length === 0) ended.resolve();
  });
  const stop = (): void => {
    stopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
    if (Object.keys(cluster.workers ?? {}).length === 0) ended.resolve();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  for (let n = 0; n < config.apiProcesses; n++) start();
  try {
    await ended.promise;
  } finally {
    stop();
    await metrics?.close();
  }
};

/** Returns the metrics of one of several processes. Their text is that of all processes together. */
export const joinMetrics = (metrics: Metrics): Metrics => {
  const questions = createQuestions<string>();
  const send = (message: Message): void => void process.send?.(message);
  process.on("message", async (message: Message) => {
    if ("ask" in message) send({ answer: "values", id: message.id, values: await metrics.values() });
    else if (message.answer === "text") questions.answer(message.id, message.text);
  });
  return { ...metrics, text: async () => (await questions.ask((id) => send({ ask: "text", id }))) ?? metrics.text() };
};
