import { performance } from "node:perf_hooks";
import { createMemory } from "../base/lru.ts";

/**
 * Who shares in fair use: an approved agent, a session of a person, or the site of an address.
 *
 * Anybody can invent tokens and connect agents, so these count by site. A token or session counts as a caller only after
 * the database has said so (internal.turns). A script can also approve its own agents in browsers of its own, so of the
 * callers who proved no sign-in method only few of a site count at a time, and the others by site, too. A hash that the
 * database refused is remembered for a moment, so that repeating a removed or invented token costs no query. This memory
 * decides nothing else: the database checks each call of an accepted caller.
 *
 * With several processes: only hashes that the primary refused are remembered, never those that a replica does not know
 * yet. Tokens and sessions are random, and nobody has one before its transaction is committed. So no process can have
 * refused a hash that becomes valid later, except after a restored backup, and then the moment passes.
 */

/** Long enough that repetitions cost almost nothing, and short enough that nobody waits for it to pass. */
const REFUSED_MS = 10_000;

/** Callers of one site that proved nothing and have turns of their own: more than a family's agents that act at once. */
const FEW = 4;
/** Who did not call for so long makes room for another of its site. */
const IDLE_MS = 60_000;

/** Whose turns a caller takes, as internal.turns returns it. */
export type CallerTurns = "own" | "unproved" | "shared";

/** Returns the key of a token or session in the memories of a process. */
export const keyOf = (hash: Buffer): string => hash.toString("base64url");

/** Makes the memory of one process. */
export const createCallers = () => {
  /** Whose turns a known caller takes. */
  const accepted = createMemory<CallerTurns>();
  /** The callers of a site that proved nothing and have turns of their own, and when each called last. */
  const unproved = createMemory<Map<string, number>>();
  const refused = createMemory<{ until: number; why: Error }>();
  const isAmongFew = (key: string, site: string): boolean => {
    const few = unproved.get(site) ?? new Map<string, number>();
    const now = performance.now();
    if (few.size >= FEW && !few.has(key)) for (const [one, at] of few) if (at < now - IDLE_MS) few.delete(one);
    if (few.size >= FEW && !few.has(key)) return false;
    few.set(key, now);
    unproved.set(site, few);
    return true;
  };

  return {
    /**
     * Returns the caller of a request.
     * @param hash of the token or session that the request has; null if it has neither
     * @param siteOf returns the site of the address from which it came
     */
    callerOf(hash: Buffer | null, siteOf: () => string): string {
      const key = hash === null ? "" : keyOf(hash);
      const turns = accepted.get(key) ?? "shared";
      if (turns === "own") return key;
      const site = siteOf();
      return turns === "unproved" && isAmongFew(key, site) ? key : site;
    },
    /** Notes that a token or session with this hash is valid, and forgets that it was refused. */
    accept(hash: Buffer, turns: CallerTurns): void {
      const key = keyOf(hash);
      accepted.set(key, turns);
      refused.delete(key);
    },
    /** Returns whose turns a caller takes, as far as this process knows. */
    turnsOf: (hash: Buffer): CallerTurns => accepted.get(keyOf(hash)) ?? "shared",
    /** Remembers that no token or session has this hash, and the reason that the database gave. */
    refuse(hash: Buffer, why: Error): void {
      const key = keyOf(hash);
      accepted.delete(key);
      refused.set(key, { until: performance.now() + REFUSED_MS, why });
    },
    /** Returns why a hash was refused a moment ago; null if it was not. */
    refusalOf(hash: Buffer): Error | null {
      const refusal = refused.get(keyOf(hash));
      return refusal !== undefined && performance.now() < refusal.until ? refusal.why : null;
    },
    /** Returns whether the database has accepted this hash. */
    knows: (hash: Buffer): boolean => accepted.get(keyOf(hash)) !== undefined,
  };
};

/** The memory of who shares in fair use. */
export type Callers = ReturnType<typeof createCallers>;
