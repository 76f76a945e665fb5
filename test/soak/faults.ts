import pg from "pg";
import {
  type Behaviour,
  cuts,
  hangs,
  invents,
  notJson,
  obeysWithinSchema,
  type Provider,
  slowly,
  status,
  tooManyRequests,
  truncatedJson,
  wrongTypes,
} from "../reader/provider.ts";
import { withClient } from "../support/client.ts";
import { clockOff } from "../support/clock.ts";
import { reloadCode } from "../support/migrate.ts";
import type { Cluster } from "../support/postgres.ts";
import { sql } from "../support/sql.ts";
import type { Volume } from "../support/volume.ts";
import type { Processes, Slot, Variant } from "./processes.ts";
import type { Random } from "./random.ts";

/**
 * The faults: how each begins and ends.
 *
 *   sharp    a fault during which the market may be away for a moment; one at a time
 *   lasting  a fault that goes on in the background, beside sharp faults; one at a time
 */

/** How long a fault is held, in milliseconds; the least and the most. */
type Range = readonly [number, number];

/** Ends a fault. */
type End = () => Promise<void>;

/** A fault. */
export type Fault = {
  name: string;
  lane: "sharp" | "lasting";
  held: Range;
  /** Causes the fault. Returns how it is ended. */
  begin: (random: Random) => Promise<End>;
};

/** What faults act upon. */
export type Targets = {
  primary: Cluster;
  /** The URL of the market's database on the primary, for a superuser. */
  url: string;
  standby: Cluster;
  volume: Volume | null;
  provider: Provider;
  processes: Processes;
  /** Whether slot 1 may be ended, too. Later it is left alone, so that its memory can be judged. */
  mayEndFirst: () => boolean;
};

/** The lock is longer than the two seconds for which a request waits. */
const LOCKED: Range = [2_500, 4_000];
const DOWN: Range = [500, 2_000];
const SHORT: Range = [0, 0];
/** Long enough for several texts to be read and for new connections to be made. */
const LASTING: Range = [4_000, 8_000];
/** A replica that is a minute behind has to be so for a while, or nothing would wait for it. */
const BEHIND: Range = [15_000, 20_000];

/** Tables that every publishing call needs, and one that every call needs. */
const HOT = ["market.offer", "market.rate_limit_hit", "market.idempotency_key", "market.submission", "market.agent"];

/** Changes a setting of a server, and ends the service's sessions so that they get it. */
const setForAll = (cluster: Cluster, setting: string): Promise<void> =>
  withClient(cluster.url, async (client) => {
    await client.query("set transaction_read_only = off");
    await client.query(setting);
    await client.query("select pg_reload_conf()");
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where usename in ('souk_api', 'souk_worker')",
    );
  });

/** Returns the faults that are possible here. */
export const faultsOf = (targets: Targets): Fault[] => {
  const { primary, url, standby, volume, provider, processes } = targets;
  const slotOf = (part: "api" | "worker", random: Random): Slot => {
    const [first, second] = processes.slots.filter((slot) => slot.part === part) as [Slot, Slot];
    return targets.mayEndFirst() && random.next() < 0.5 ? first : second;
  };
  const ending = (part: "api" | "worker", how: "kill" | "stop"): Fault => ({
    name: `${part} ${how === "kill" ? "killed (SIGKILL)" : "stopped (SIGTERM)"}`,
    lane: "sharp",
    held: SHORT,
    begin: async (random) => {
      await slotOf(part, random).restart(how);
      return async () => {};
    },
  });
  const restarting = (mode: "fast" | "immediate"): Fault => ({
    name: `PostgreSQL restarted (${mode})`,
    lane: "sharp",
    held: DOWN,
    begin: async () => {
      await primary.halt(mode);
      return primary.start;
    },
  });
  const providing = (name: string, ...behaviours: (() => Behaviour)[]): Fault => ({
    name: `provider ${name}`,
    lane: "lasting",
    held: LASTING,
    begin: async () => {
      const made = behaviours.map((make) => make());
      let turn = 0;
      provider.always((request, response) => {
        turn += 1;
        return made[turn % made.length]?.(request, response);
      });
      return async () => provider.reset();
    },
  });
  /** Gives the second API other settings for a while. */
  const withEnvironment = async (env: NonNullable<Variant["env"]>): Promise<End> => {
    const slot = processes.slots.find(({ name }) => name === "api-2") as Slot;
    await slot.restart("stop", { env });
    return () => slot.restart("stop", {});
  };

  const faults: Fault[] = [
    ending("api", "kill"),
    ending("api", "stop"),
    ending("worker", "kill"),
    ending("worker", "stop"),
    restarting("fast"),
    restarting("immediate"),
    {
      name: "connections cut",
      lane: "sharp",
      held: [1_000, 2_000],
      begin: async () => {
        const cutting = setInterval(() => {
          sql(
            url,
            "select pg_terminate_backend(pid) from pg_stat_activity where usename in ('souk_api', 'souk_worker') and random() < 0.5",
          ).catch(() => {});
        }, 200);
        return async () => clearInterval(cutting);
      },
    },
    {
      name: "hot table locked",
      lane: "sharp",
      held: LOCKED,
      begin: async (random) => {
        const holder = new pg.Client({ connectionString: url });
        holder.on("error", () => {});
        await holder.connect();
        await holder.query("begin");
        await holder.query(`lock table ${random.pick(HOT)} in access exclusive mode`);
        return () => holder.end();
      },
    },
    {
      name: "database read-only",
      lane: "sharp",
      held: [2_000, 4_000],
      begin: async () => {
        await setForAll(primary, "alter system set default_transaction_read_only = on");
        return () => setForAll(primary, "alter system reset default_transaction_read_only");
      },
    },
    {
      name: "replica a minute behind",
      lane: "lasting",
      held: BEHIND,
      begin: async () => {
        const delay = (setting: string) =>
          withClient(standby.url, async (client) => {
            await client.query(setting);
            await client.query("select pg_reload_conf()");
          });
        await delay("alter system set recovery_min_apply_delay = '1min'");
        return () => delay("alter system set recovery_min_apply_delay = 0");
      },
    },
    providing("slow", () => slowly(3_000), hangs),
    providing("answers 429", () => tooManyRequests("1")),
    providing("answers 500", () => status(500), cuts),
    providing("gives false answers", invents, obeysWithinSchema, wrongTypes, notJson, truncatedJson),
    {
      name: "clock of an API two hours off",
      lane: "lasting",
      held: LASTING,
      begin: (random) => withEnvironment({ NODE_OPTIONS: clockOff(random.pick([-2, 2])) }),
    },
    {
      name: "code reloaded",
      lane: "lasting",
      held: LASTING,
      begin: async () => {
        await reloadCode(url);
        return async () => {};
      },
    },
  ];
  if (volume) {
    faults.push({
      name: "disk full",
      lane: "sharp",
      held: [3_000, 5_000],
      begin: async () => {
        await volume.fill();
        return volume.empty;
      },
    });
  }
  return faults;
};
