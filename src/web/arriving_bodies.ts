import { performance } from "node:perf_hooks";
import { type Problem, problem } from "../base/problem.ts";

/**
 * The memory of bodies that arrive, or wait for their place. Nobody waits for another's body. When all together take too
 * much, those leave that took most of the memory for most of the time, of the caller of whom this is true: so a caller
 * whose bodies arrive at a normal speed does not notice that others send theirs slowly.
 */

/** All of them together have at most this many bytes: 64 of the largest. */
const MOST_BYTES = 64 * 1024 * 1024;
/** When there are more, so many remain. So the bodies are looked through once for many parts that arrive. */
const REMAINING_BYTES = 48 * 1024 * 1024;

/** A body that arrives or waits. */
export type ArrivingBody = {
  /** Aborts, with a Problem as its reason, if the body has to leave. */
  signal: AbortSignal;
  /** Notes that further bytes arrived. */
  add(bytes: number): void;
  /** Notes that the body does not count any more. */
  end(): void;
};

type Held = { caller: string; since: number; bytes: number; leaving: AbortController };

const all = new Set<Held>();
let total = 0;

const forget = (body: Held): void => {
  if (all.delete(body)) total -= body.bytes;
};

const tooSlow = (): Problem =>
  problem(
    "service_unavailable",
    "Many large bodies are being sent at once, and this one took long. Nothing was done. Send it again.",
    {},
    { "Retry-After": "1" },
  );

/** Lets bodies leave until few enough bytes remain. */
const makeRoom = (): void => {
  const now = performance.now();
  const callers = new Map<string, { taken: number; bodies: { body: Held; taken: number }[] }>();
  for (const body of all) {
    const caller = callers.get(body.caller) ?? { taken: 0, bodies: [] };
    callers.set(body.caller, caller);
    const taken = body.bytes * (now - body.since);
    caller.taken += taken;
    caller.bodies.push({ body, taken });
  }
  for (const { bodies } of callers.values()) bodies.sort((one, other) => one.taken - other.taken);
  while (total > REMAINING_BYTES) {
    const most = [...callers.values()].reduce((one, other) => (other.taken > one.taken ? other : one));
    const { body, taken } = most.bodies.pop() ?? {};
    if (body === undefined || taken === undefined) return;
    most.taken -= taken;
    forget(body);
    body.leaving.abort(tooSlow());
  }
};

/** Begins to count a body of a caller. */
export const holdBody = (caller: string): ArrivingBody => {
  const body: Held = { caller, since: performance.now(), bytes: 0, leaving: new AbortController() };
  all.add(body);
  return {
    signal: body.leaving.signal,
    add(bytes) {
      if (!all.has(body)) return;
      body.bytes += bytes;
      total += bytes;
      if (total > MOST_BYTES) makeRoom();
    },
    end: () => forget(body),
  };
};
