import { problem } from "../../base/problem.ts";
import { currentRequest } from "../../base/request.ts";
import type { Actor } from "../../database/database.ts";
import type { Notifications } from "../../database/notifications.ts";
import type { Call, Context } from "../endpoint.ts";

/** Calls that wait for an event of their account. While one waits, it holds no connection to the database, and no turn. */

/** What a function says about an answer without news (internal.event_waits). */
export type Waits = { snapshot: string; readers: string[]; ends_in?: number };

type EventWait = Parameters<Notifications["event"]>[0];

/** Returns the name under which the calls of an actor that wait are counted. */
export const waiterOf = (actor: Actor): string =>
  actor === "visitor" ? "" : ("agent" in actor ? actor.agent : actor.person).toString("base64url");

/**
 * Waits for an event.
 * @returns whether there may be one; false when the time is over, the client has hung up, or the process stops
 * @throws Problem if too many calls of the caller wait
 */
export const waitForEvent = async (
  { notifications }: Context,
  { actor }: Call,
  wait: Omit<EventWait, "caller" | "gone">,
): Promise<boolean> => {
  const gone = currentRequest()?.gone?.();
  const outcome = await notifications.event({ ...wait, caller: waiterOf(actor), gone });
  if (outcome === "refused")
    throw problem(
      "rate_limited",
      "Too many of your calls wait for events at once: at most 8 may. One is enough for an agent: close the others, and use the answer of one.",
      { retry_after: 1 },
      { "Retry-After": 1 },
    );
  return outcome === "event";
};
