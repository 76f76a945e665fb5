import { performance } from "node:perf_hooks";
import { argumentsOf } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";
import { jsonAnswer } from "../response.ts";
import { type Waits, waiterOf, waitForEvent } from "./wait_for_event.ts";

type Feed = {
  events: unknown[];
  cursor: string;
  has_more: boolean;
  /** Set if the call may wait. `ends_in`: the seconds after which the caller's token ends. */
  waits?: Waits;
};

/**
 * Reads the feed of events. If it is empty, waits for an event. An agent that asks again after such a wait, with the cursor that it sent
 * before, reads only once something was notified (database/notifications.ts).
 *
 * The feed is read on the primary (lane "write"), because only there a snapshot says which transactions are open.
 */
export const listEvents: Handler = async (context, call) => {
  const { database, notifications } = context;
  const args = argumentsOf(context, call);
  const until = performance.now() + Number(args["wait"] ?? 0) * 1000;
  const isAgent = call.actor !== "visitor" && "agent" in call.actor;
  const given = typeof args["after"] === "string" && args["after"] !== "now" ? args["after"] : null;
  // The end of a session is notified to nobody, so persons read each time.
  let rest =
    isAgent && given !== null && until > performance.now() ? notifications.restOf(waiterOf(call.actor), given) : null;
  for (;;) {
    const place = notifications.place();
    const began = performance.now();
    const { waits, ...feed } =
      rest === null
        ? (JSON.parse(await database.call(call.actor, "list_events", args, "write")) as Feed)
        : { events: [], cursor: rest.cursor, has_more: false, waits: rest };
    const answer = () => jsonAnswer(200, JSON.stringify(feed));
    const milliseconds = until - performance.now();
    if (waits === undefined || milliseconds <= 0) return answer();
    // Nothing has come after the cursor that the caller sent, so it stays as good as the new one, in every process.
    feed.cursor = given ?? feed.cursor;
    const ends = "ends" in waits ? waits.ends : began + (waits.ends_in ?? Infinity) * 1000;
    const mayBeNews = await waitForEvent(context, call, {
      readers: waits.readers,
      snapshot: waits.snapshot,
      place,
      milliseconds,
      rest: isAgent ? { cursor: feed.cursor, ends } : undefined,
      isRested: rest !== null,
    });
    if (!mayBeNews) return answer();
    args["after"] = feed.cursor;
    rest = null;
  }
};
