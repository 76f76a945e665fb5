import { createMemory } from "../base/lru.ts";
import type { Actor } from "../database/database.ts";

/**
 * The last known figures of rate limits, for calls that are refused because their caller has too many open. Looking
 * them up each time would make refusing as expensive as answering.
 */

type Headers = Readonly<Record<string, string | number>>;

const keyOf = (actor: Actor, action: string): string | null =>
  // A person in the browser has no rate limits.
  actor !== "visitor" && "agent" in actor ? `${actor.agent.toString("base64url")} ${action}` : null;

/** Makes the memory of one process. */
export const createFigures = () => {
  const memory = createMemory<Promise<Headers>>();
  return {
    /** Notes the RateLimit headers of a response, if it has them. */
    note(actor: Actor, action: string, headers: Headers): void {
      const key = keyOf(actor, action);
      if (key === null || headers["RateLimit-Limit"] === undefined) return;
      const figures = Object.entries(headers).filter(([name]) => name.startsWith("RateLimit-"));
      memory.set(key, Promise.resolve(Object.fromEntries(figures)));
    },
    /** Returns the last figures of an agent for an action. Looks them up, once, if none are known. */
    async last(actor: Actor, action: string, lookUp: () => Promise<Headers>): Promise<Headers> {
      const key = keyOf(actor, action);
      if (key === null) return {};
      const found = memory.get(key) ?? lookUp();
      memory.set(key, found);
      found.catch(() => memory.delete(key));
      return found;
    },
  };
};

/** The figures that this process has sent. */
export type Figures = ReturnType<typeof createFigures>;
