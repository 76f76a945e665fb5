import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { applyStructure } from "../../src/install/structure.ts";
import { withClient } from "../support/client.ts";
import { writeRelease } from "../support/release.ts";
import { quantile, runLoad } from "./load.ts";
import { print, row } from "./report.ts";
import type { Scenario } from "./scenarios.ts";
import type { Service } from "./service.ts";

/** How long calls wait while a release migrates the table of offers: `npm run bench -- --migrating`. */

/** Few callers, so that a wait is one for a lock, and not one for a processor. */
const CALLERS = 4;
const QUIET_SECONDS = 10;
const COLUMNS = [44, 10, 10, 10, 12];

/** A column, an index and a constraint of the largest table. */
const RELEASE = {
  structure: `
alter table market.offer add column seen_at timestamptz;
create index offer_seen_at_idx on market.offer (created_at, seen_at);
alter table market.offer add constraint offer_seen_later check (seen_at >= created_at);
`,
  bodies: [
    "alter table market.offer add column seen_at timestamptz;\n",
    "--! no-transaction\ncreate index concurrently if not exists offer_seen_at_idx on market.offer (created_at, seen_at);\n",
    "alter table market.offer add constraint offer_seen_later check (seen_at >= created_at) not valid;\n",
    "alter table market.offer validate constraint offer_seen_later;\n",
  ],
};

/** Prints the waits of all kinds of reads in a quiet market, and in the same market while it is migrated. */
export const showMigrating = async (service: Service, url: string, scenarios: readonly Scenario[]): Promise<void> => {
  const requests = scenarios.flatMap(({ requests: some }) => some);
  const load = async (seconds: number) =>
    (await runLoad({ port: service.port, requests, connections: CALLERS, seconds })).milliseconds;
  const folder = await mkdtemp(join(tmpdir(), "souk-release-"));
  try {
    const release = await writeRelease(folder, RELEASE);
    await load(QUIET_SECONDS / 2);
    const quiet = await load(QUIET_SECONDS);
    const start = performance.now();
    let isDone = false;
    const migrating = withClient(url, (client) => applyStructure(client, url, release)).finally(() => {
      isDone = true;
    });
    // A failure is thrown when it is awaited below.
    migrating.catch(() => undefined);
    const during: number[] = [];
    while (!isDone) during.push(...(await load(1)));
    await migrating;
    const took = (performance.now() - start) / 1000;
    print();
    row(["reads and searches of 4 callers, in ms", "calls", "p50", "p99", "longest"], COLUMNS);
    for (const [name, times] of [
      ["in a quiet market", quiet],
      [`while it is migrated (${took.toFixed(1)} s)`, during],
    ] as const) {
      const sorted = Float64Array.from(times).sort();
      row([name, String(sorted.length), quantile(sorted), quantile(sorted, 0.99), sorted.at(-1) ?? 0], COLUMNS);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
};
