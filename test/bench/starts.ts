import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { PRODUCTION, startService } from "../support/service.ts";
import { memoryOf, processTimeOf } from "./service.ts";

/** A start of the service with its embedded database, from the command until it is ready. */
type Start = {
  /** The time until it is ready, and what the process used of a processor until then, in seconds. */
  seconds: number;
  processorSeconds: number;
  /** The resident memory when it is ready, in MB. */
  megabytes: number;
};

/** Measures `npm start` on a bare machine: the first start, which makes the database, and the next one. */
export const measureStarts = async (): Promise<{ first: Start; next: Start }> => {
  const dataDir = await mkdtemp(join(tmpdir(), "souk-starts-"));
  const measure = async (): Promise<Start> => {
    const started = performance.now();
    const service = await startService({
      database: "",
      v8: PRODUCTION.v8,
      env: { ...PRODUCTION.env, DATA_DIR: dataDir },
    });
    const seconds = (performance.now() - started) / 1000;
    const processorSeconds = processTimeOf(service) / 1000;
    const megabytes = memoryOf(service);
    await service.stop();
    return { seconds, processorSeconds, megabytes };
  };
  try {
    return { first: await measure(), next: await measure() };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
};
