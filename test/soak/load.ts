import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { newPerson } from "../support/person.ts";
import { actsOf } from "./acts.ts";
import { agentsOf } from "./agents.ts";
import { type Attackers, startAttackers } from "./attackers.ts";
import { type Calls, type Ghost, type Household, openCalls, type Probe } from "./calls.ts";
import type { Ledger } from "./ledger.ts";
import { moderatorsOf } from "./moderators.ts";
import type { Processes } from "./processes.ts";
import { type Random, randomOf } from "./random.ts";
import { offerText, submit } from "./texts.ts";

/**
 * The load: callers of all kinds, all at the same time.
 *
 *   greedy     an agent that publishes until its cap is reached, and on
 *   probe      a call that measures whether the market can be read and written at this moment
 */

/** How many households there are at the same time. With the others, they keep two processors busy but not overloaded. */
const HOUSEHOLDS = 6;
/** The pause between two acts of a caller. */
const PAUSE_MS = [100, 500] as const;
/** How many acts a household makes before it leaves, so that caps are seldom reached and agents come and go. */
const ACTS = [40, 120] as const;
/** The pause between two probes: the resolution of the longest outage. */
const PROBE_MS = 150;
/** Callers that keep several calls open: few enough for fair use, which allows eight. */
const GREEDY_AT_ONCE = 2;

/** A running load. */
export type Load = {
  probes: Probe[];
  ghosts: Ghost[];
  attackers: Attackers;
  /** Sends a request as the callers do. Null without an answer. */
  send: Calls["send"];
  stop: () => Promise<void>;
};

/**
 * Starts the load.
 * @param moderator the Cookie header of a moderator
 */
export const startLoad = (ledger: Ledger, processes: Processes, seed: number, moderator: string): Load => {
  let over = false;
  const households: Household[] = [];
  const probes: Probe[] = [];
  const calls = openCalls(ledger, processes, seed);
  const { send, newMark } = calls;
  const agents = agentsOf(calls, processes);
  const { ghosts, connect, approve, remove, haunt } = agents;
  const { moderate, suspend } = moderatorsOf(calls, moderator, households);
  const acts = actsOf(calls, agents);

  const pause = (random: Random): Promise<void> => sleep(random.whole(...PAUSE_MS));

  const newHousehold = (name: string): Household => ({
    name,
    random: randomOf(seed, name),
    person: newPerson(),
    callers: [],
    suspended: false,
    texts: [],
  });

  const liveAs = async (name: string): Promise<void> => {
    const household = newHousehold(name);
    const first = await connect(household);
    if (!first || !(await approve(household, first))) return;
    households.push(household);
    for (let left = household.random.whole(...ACTS); left > 0 && !over; left--) {
      await household.random.pick(acts)(household, household.random.pick(household.callers));
      await pause(household.random);
    }
    households.splice(households.indexOf(household), 1);
    if (over) return;
    for (const caller of [...household.callers]) await remove(household, caller);
  };

  const beGreedy = async (name: string): Promise<void> => {
    const household = newHousehold(name);
    const caller = await connect(household);
    if (!caller || !(await approve(household, caller))) return;
    let refusals = 0;
    const publish = async (): Promise<void> => {
      while (!over && refusals < 10) {
        const mark = newMark(name);
        const { status } = await submit(
          calls,
          household,
          caller.token,
          "offer",
          offerText(household.random, mark),
          mark,
          null,
        );
        if (status === 429) refusals += 1;
        await pause(household.random);
      }
    };
    await Promise.all(Array.from({ length: GREEDY_AT_ONCE }, publish));
  };

  const lane = async (name: string, work: (name: string) => Promise<void>): Promise<void> => {
    for (let generation = 1; !over; generation++) await work(`${name}.${generation}`);
  };
  const repeated = (name: string, milliseconds: number, work: (random: Random) => Promise<void>): Promise<void> => {
    const random = randomOf(seed, name);
    return lane(name, async () => {
      await work(random);
      await sleep(milliseconds);
    });
  };

  /** Measures whether the market can be read, or written. A client tries the next address at once. */
  const probe = async (kind: Probe["kind"], random: Random): Promise<void> => {
    const begun = performance.now();
    const told =
      kind === "read"
        ? await send("read probe", "GET", "/v1/me", { token: reader ?? "" })
        : await send("write probe", "POST", "/v1/connect", { body: { name: "Probe" } });
    const ok = told !== null && told.answer.status < 300;
    probes.push({ kind, begun, ended: performance.now(), ok });
    if (kind === "read" && reader === null && random) return;
    if (kind === "write" && ok && reader === null) reader = told.answer.body.agent_token;
  };
  let reader: string | null = null;

  const attackers = startAttackers(ledger, calls);
  const lanes = [
    ...Array.from({ length: HOUSEHOLDS }, (_, number) => lane(`household ${number}`, liveAs)),
    lane("greedy", beGreedy),
    repeated("ghosts", 300, async (random) => {
      if (ghosts.length > 0) await haunt(random.pick(random.next() < 0.5 ? ghosts.slice(-5) : ghosts));
    }),
    repeated("moderator", 700, moderate),
    repeated("suspending moderator", 4_000, suspend),
    repeated("read probe", PROBE_MS, (random) => (reader === null ? Promise.resolve() : probe("read", random))),
    repeated("write probe", PROBE_MS, (random) => probe("write", random)),
  ];
  return {
    probes,
    ghosts,
    attackers,
    send,
    async stop() {
      over = true;
      await Promise.all([...lanes, attackers.stop()]);
    },
  };
};
