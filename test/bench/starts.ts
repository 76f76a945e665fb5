import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { PRODUCTION, startService } from "../support/service.ts";
import { row } from "./report.ts";
import { memoryOf, processTimeOf } from "./service.ts";

/** A start of the service with its embedded database, from the command until it is ready. */
type Start = {
  /** The time until it is ready, and what the process used of a processor until then, in seconds. */
  seconds: number;
  processorSeconds: number;
  /** The resident memory when it is ready, in MB. */
  megabytes: number;
};

const COLUMNS = [34, 12, 12, 12];

/** Measures `npm start` on a bare machine: the first start, which makes the database, and the next one. */
const measureStarts = async (): Promise<{ first: Start; next: Start }> => {
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

/** Prints what starting with the embedded database takes. */
export const showStarts = async (): Promise<void> => {
  row(["npm start, without DATABASE_URL", "ready after", "processor", "memory"], COLUMNS);
  for (const [name, start] of Object.entries(await measureStarts())) {
    const { seconds: until, processorSeconds, megabytes } = start;
    row([name, `${until.toFixed(1)} s`, `${processorSeconds.toFixed(1)} s`, `${megabytes.toFixed(0)} MB`], COLUMNS);
  }
};
