import { performance } from "node:perf_hooks";
import { problem } from "../../base/problem.ts";
import { currentRequest } from "../../base/request.ts";
import { argumentsOf } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";
import { jsonAnswer } from "../response.ts";

type Feed = {
  events: unknown[];
  cursor: string;
  has_more: boolean;
  /** Set if the call may wait. */
  waits?: { snapshot: string; readers: string[] };
};

/**
 * Reads the feed of events. If it is empty, waits for an event. While it waits, the call holds no connection to the
 * database and none of its caller's turns.
 *
 * The feed is read on the primary (lane "write"), because only there a snapshot says which transactions are open.
 */
export const listEvents: Handler = async (context, call) => {
  const { database, notifications } = context;
  const args = argumentsOf(context, call);
  const until = performance.now() + Number(args["wait"] ?? 0) * 1000;
  const caller =
    call.actor === "visitor"
      ? ""
      : ("agent" in call.actor ? call.actor.agent : call.actor.person).toString("base64url");
  const gone = currentRequest()?.gone?.();
  for (;;) {
    const place = notifications.place();
    const { waits, ...feed } = JSON.parse(await database.call(call.actor, "list_events", args, "write")) as Feed;
    const answer = () => jsonAnswer(200, JSON.stringify(feed));
    const milliseconds = until - performance.now();
    if (waits === undefined || milliseconds <= 0) return answer();
    const outcome = await notifications.event({ caller, ...waits, place, milliseconds, gone });
    if (outcome === "refused")
      throw problem(
        "rate_limited",
        "Too many of your calls wait for events at once: at most 8 may. One is enough for an agent: close the others, and use the answer of one.",
        { retry_after: 1 },
        { "Retry-After": 1 },
      );
    if (outcome === "none") return answer();
    args["after"] = feed.cursor;
  }
};
