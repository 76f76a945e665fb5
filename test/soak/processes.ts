import { readdir, readFile } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../support/market.ts";
import { freePort } from "../support/postgres.ts";
import { type Part, PRODUCTION, type Service, type ServiceOptions, startPart } from "../support/service.ts";
import type { Ledger } from "./ledger.ts";

/**
 * The processes of the service, and the load balancer before them.
 *
 *   slot     the place of one process, with a fixed port. Its process is ended and started again by faults
 *   variant  what differs from a usual process of the slot, as a wrong clock
 *   serving  the balancer sends requests to the slot, because /readyz answered 200
 */

/** The balancer asks /readyz this often. A process that stops says so for a second before it closes its port. */
const HEALTH_MS = 200;
/** Long enough that a busy process is not taken for a dead one. */
const HEALTH_TIMEOUT_MS = 2_000;
const SAMPLE_MS = 1_000;

/** A process's memory in MB and its open files, at a time since it became ready. */
export type Sample = { age: number; megabytes: number; files: number };

/** What differs from a usual process. */
export type Variant = Pick<ServiceOptions, "env">;

/** The place of one process. */
export type Slot = {
  name: string;
  part: Part;
  url: string;
  serving: boolean;
  /** When and how a fault ended the process; null while the process is wanted. */
  ended: { at: number; how: "kill" | "stop" } | null;
  service: Service | null;
  /** The samples of each process that the slot had. */
  lives: Sample[][];
  /** Ends the process and starts another. */
  restart: (how: "kill" | "stop", variant?: Variant) => Promise<void>;
};

/** The processes of a run. */
export type Processes = {
  slots: Slot[];
  /** The slots of the APIs in a random order, those that serve first. */
  apis: (shuffle: <T>(values: readonly T[]) => T[]) => Slot[];
  /** The log lines of all processes, also of those that have ended, that contain one of these words. */
  logged: (words: readonly string[]) => string[];
  stop: () => Promise<void>;
};

const filesOf = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`).catch(() => [])).length;

const megabytesOf = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
};

/**
 * Starts two APIs and two workers.
 * @param optionsOf the usual options of a slot by its name
 */
export const startProcesses = async (
  ledger: Ledger,
  optionsOf: (name: string) => ServiceOptions,
): Promise<Processes> => {
  let over = false;
  const started: Service[] = [];
  const makeSlot = async (name: string, part: Part): Promise<Slot> => {
    const port = String(await freePort());
    let wanted: Variant = {};
    let turn: Promise<void> = Promise.resolve();
    const start = async (): Promise<void> => {
      const usual = optionsOf(name);
      const service = await startPart(part, {
        v8: PRODUCTION.v8,
        ...usual,
        ...wanted,
        env: { ...PRODUCTION.env, ...usual.env, ...wanted.env, PORT: port },
      });
      started.push(service);
      slot.service = service;
      slot.ended = null;
      const life: Sample[] = [];
      slot.lives.push(life);
      const born = performance.now();
      service.exited.then((ending) => {
        if (slot.service === service && slot.ended === null && !over)
          ledger.violate(
            "a process stays alive",
            `${name} ended with ${ending} by itself:\n${service.logs().slice(-3000)}`,
          );
      });
      const pid = service.process.pid ?? 0;
      const sampling = setInterval(async () => {
        if (slot.service !== service || service.process.exitCode !== null) return clearInterval(sampling);
        const sample = { age: performance.now() - born, megabytes: await megabytesOf(pid), files: await filesOf(pid) };
        if (Number.isFinite(sample.megabytes)) life.push(sample);
      }, SAMPLE_MS);
      sampling.unref();
    };
    const slot: Slot = {
      name,
      part,
      url: `http://127.0.0.1:${port}`,
      serving: false,
      ended: null,
      service: null,
      lives: [],
      restart: (how, next) => {
        const work = async (): Promise<void> => {
          if (next) wanted = next;
          const { service } = slot;
          if (service) {
            slot.ended = { at: performance.now(), how };
            if (how === "kill") {
              slot.service = null;
              await service.kill();
            } else {
              await service
                .stop()
                .catch((error: Error) =>
                  ledger.violate("SIGTERM ends a process cleanly", error.message.slice(0, 3000)),
                );
              slot.service = null;
            }
          }
          if (!over) await start();
        };
        turn = turn.catch(() => {}).then(work);
        return turn;
      },
    };
    return slot;
  };
  const slots = await Promise.all([
    makeSlot("api-1", "api"),
    makeSlot("api-2", "api"),
    makeSlot("worker-1", "worker"),
    makeSlot("worker-2", "worker"),
  ]);
  await Promise.all(slots.map((slot) => slot.restart("stop")));
  const apis = slots.filter(({ part }) => part === "api");
  const watch = async (slot: Slot): Promise<void> => {
    while (!over) {
      slot.serving = await call(slot.url, "GET", "/readyz", { timeoutMs: HEALTH_TIMEOUT_MS }).then(
        ({ status }) => status === 200,
        () => false,
      );
      await sleep(HEALTH_MS);
    }
  };
  const watching = apis.map(watch);
  return {
    slots,
    apis: (shuffle) => {
      const mixed = shuffle(apis);
      return [...mixed.filter(({ serving }) => serving), ...mixed.filter(({ serving }) => !serving)];
    },
    logged: (words) =>
      started.flatMap((service) =>
        service
          .logs()
          .split("\n")
          .filter((line) => words.some((word) => line.includes(word))),
      ),
    async stop() {
      over = true;
      await Promise.all(watching);
      await Promise.all(
        slots.map(async ({ service }) => {
          await service
            ?.stop()
            .catch((error: Error) => ledger.violate("SIGTERM ends a process cleanly", error.message.slice(0, 3000)));
        }),
      );
    },
  };
};
