import { performance } from "node:perf_hooks";
import { createMemory } from "../base/lru.ts";

/**
 * Who shares in fair use: an agent or a session of a person who proved a sign-in method, or the site of an address.
 *
 * Anybody can invent tokens, connect agents, and approve them in browsers of their own. So a token or session counts as
 * a caller only after the database has said that it takes turns of its own (internal.has_own_turns); all other calls
 * count by site. A hash that the
 * database refused is remembered for a moment, so that repeating a removed or invented token costs no query. This memory
 * decides nothing else: the database checks each call of an accepted caller.
 *
 * With several processes: only hashes that the primary refused are remembered, never those that a replica does not know
 * yet. Tokens and sessions are random, and nobody has one before its transaction is committed. So no process can have
 * refused a hash that becomes valid later, except after a restored backup, and then the moment passes.
 */

/** Long enough that repetitions cost almost nothing, and short enough that nobody waits for it to pass. */
const REFUSED_MS = 10_000;

/** Returns the key of a token or session in the memories of a process. */
export const keyOf = (hash: Buffer): string => hash.toString("base64url");

/** Makes the memory of one process. */
export const createCallers = () => {
  /** Whether a known caller takes turns of its own. */
  const accepted = createMemory<boolean>();
  const refused = createMemory<{ until: number; why: Error }>();
  return {
    /**
     * Returns the caller of a request.
     * @param hash of the token or session that the request has; null if it has neither
     * @param siteOf returns the site of the address from which it came
     */
    callerOf(hash: Buffer | null, siteOf: () => string): string {
      const key = hash === null ? "" : keyOf(hash);
      return accepted.get(key) ? key : siteOf();
    },
    /** Notes that a token or session with this hash is valid, and forgets that it was refused. */
    accept(hash: Buffer, hasOwnTurns: boolean): void {
      const key = keyOf(hash);
      accepted.set(key, hasOwnTurns);
      refused.delete(key);
    },
    /** Returns whether a caller takes turns of its own, as far as this process knows. */
    hasOwnTurns: (hash: Buffer): boolean => accepted.get(keyOf(hash)) ?? false,
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
