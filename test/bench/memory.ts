import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { runLoad } from "./load.ts";
import type { Caller } from "./market.ts";
import { publishOne } from "./publishing.ts";
import { print } from "./report.ts";
import { memoryOf, type Service } from "./service.ts";

/** `npm run bench -- --memory`: the memory of API and worker. */

/** The lines of the curve. */
const STEPS = 20;
/** One text is published after so many milliseconds, so that the worker has work. */
const PUBLISH_EVERY_MS = 200;

/**
 * Prints the memory of API and worker while requests of all kinds run and texts are published. If it goes on growing after
 * the first steps, something is kept.
 */
export const showMemory = async (
  service: Service,
  callers: readonly Caller[],
  requests: string[],
  { connections, length }: { connections: number; length: { requests: number } | { minutes: number } },
): Promise<void> => {
  const { port, baseUrl, api, worker } = service;
  const started = performance.now();
  const line = (done: number, published: number) =>
    print(
      `${((performance.now() - started) / 60_000).toFixed(1).padStart(8)}${String(done).padStart(12)}${String(published).padStart(12)}${String(Math.round(memoryOf(api))).padStart(10)}${String(Math.round(memoryOf(worker))).padStart(10)}`,
    );
  let published = 0;
  let over = false;
  const publishing = (async () => {
    while (!over) {
      await publishOne(baseUrl, callers, published);
      published += 1;
      await sleep(PUBLISH_EVERY_MS);
    }
  })();
  // A failure is thrown when it is awaited below.
  publishing.catch(() => undefined);
  print(" minutes    requests   published    API MB worker MB");
  line(0, 0);
  let done = 0;
  for (let step = 0; step < STEPS; step++) {
    const { milliseconds } = await runLoad({
      port,
      requests,
      connections,
      ...("requests" in length
        ? { count: Math.ceil(length.requests / STEPS) }
        : { seconds: (60 * length.minutes) / STEPS }),
    });
    done += milliseconds.length;
    line(done, published);
  }
  over = true;
  await publishing;
};
