import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "../support/client.ts";
import type { Cluster } from "../support/postgres.ts";
import { quantile } from "./load.ts";
import { type Caller, makeAgents } from "./market.ts";
import { row } from "./report.ts";
import { processorTimeOf, type Service } from "./service.ts";
import { textToPublish } from "./texts.ts";

/** How long publishing takes: one text after the other, and at a steady rate. */

/** The lines of what is printed of publishing at a steady rate. */
const STEPS = 10;
/** An account publishes so many texts an hour at most: fewer than the limit. */
const OF_ACCOUNT = 15;

/** Publishes the nth text, in the name of one of the callers. @throws if it is not published */
export const publishOne = async (baseUrl: string, callers: readonly Caller[], n: number): Promise<void> => {
  const answer = await fetch(`${baseUrl}/v1/offers`, {
    method: "POST",
    headers: { authorization: `Bearer ${callers[n % callers.length]?.token}`, "content-type": "application/json" },
    body: JSON.stringify({ text: textToPublish(n) }),
  });
  const body = await answer.text();
  if (answer.status !== 201) throw new Error(`Publishing gave ${answer.status}: ${body}`);
};

/** Publishes texts one after the other, each after a pause. Returns the times in milliseconds, sorted. */
export const publishInTurn = async (
  baseUrl: string,
  callers: readonly Caller[],
  { count, pauseMs }: { count: number; pauseMs: number },
): Promise<Float64Array> => {
  const times = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await publishOne(baseUrl, callers, n);
    times[n] = performance.now() - start;
    await sleep(pauseMs);
  }
  return times.sort();
};

/** A part of the time. `milliseconds`: from when a text was due until it was published, sorted. `open`: not yet answered. */
type Step = { milliseconds: Float64Array; open: number };

/**
 * Publishes texts at a steady rate, whether or not earlier ones are published: if the service is too slow, `open` grows.
 * @param perSecond the rate
 * @param onStep called at the end of each of the steps, which are equally long
 */
const publishSteadily = async (
  baseUrl: string,
  callers: readonly Caller[],
  { perSecond, seconds, steps }: { perSecond: number; seconds: number; steps: number },
  onStep: (step: Step) => void,
): Promise<void> => {
  const failed = new AbortController();
  const all: Promise<void>[] = [];
  let times: number[] = [];
  let open = 0;
  const start = performance.now();
  const total = perSecond * seconds;
  for (let n = 0; n < total; n++) {
    const due = start + (n * 1000) / perSecond;
    const early = due - performance.now();
    // A timer is a millisecond late, so several texts may be due at once.
    if (early > 0) await sleep(early);
    failed.signal.throwIfAborted();
    open += 1;
    const one = publishOne(baseUrl, callers, n).then(
      () => {
        open -= 1;
        times.push(performance.now() - due);
      },
      (error: unknown) => failed.abort(error),
    );
    all.push(one);
    if ((n + 1) % Math.round(total / steps) !== 0) continue;
    onStep({ milliseconds: Float64Array.from(times).sort(), open });
    times = [];
  }
  await Promise.all(all);
  failed.signal.throwIfAborted();
};

/** Prints what publishing takes while texts arrive at a steady rate. */
export const showPublishing = async (
  cluster: Cluster,
  service: Service,
  url: string,
  { perSecond, minutes }: { perSecond: number; minutes: number },
): Promise<void> => {
  const seconds = 60 * minutes;
  const callers = await withClient(url, (client) => makeAgents(client, Math.ceil((perSecond * seconds) / OF_ACCOUNT)));
  const each = (seconds / STEPS) * perSecond;
  const columns = [10, 9, 9, 9, 9, 9];
  row(["published", "p50", "p99", "longest", "open", "cpu ms"], columns);
  let before = await processorTimeOf(cluster, service);
  let published = 0;
  let last = Promise.resolve();
  await publishSteadily(service.baseUrl, callers, { perSecond, seconds, steps: STEPS }, (step) => {
    const { milliseconds, open } = step;
    published += milliseconds.length;
    const line = [String(published), quantile(milliseconds), quantile(milliseconds, 0.99), quantile(milliseconds, 1)];
    last = processorTimeOf(cluster, service).then((now) => {
      row([...line, String(open), (now - before) / each], columns);
      before = now;
    });
  });
  await last;
};
