import { performance } from "node:perf_hooks";
import { argumentsOf } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";
import { jsonAnswer } from "../response.ts";
import { type Waits, waitForEvent } from "./wait_for_event.ts";

/**
 * Reads a conversation. With `wait`, and if there is nothing new, reads it again after each event of the account, until
 * there is. Only the primary knows the snapshot with which a call waits (lane "write").
 */
export const getConversation: Handler = async (context, call) => {
  const args = argumentsOf(context, call);
  const until = performance.now() + Number(args["wait"] ?? 0) * 1000;
  const lane = Number(args["wait"] ?? 0) > 0 ? "write" : "read";
  for (;;) {
    const place = context.notifications.place();
    const { waits, ...conversation } = JSON.parse(
      await context.database.call(call.actor, "get_conversation", args, lane),
    ) as { waits?: Waits };
    const milliseconds = until - performance.now();
    const mayBeNews =
      waits !== undefined && milliseconds > 0 && (await waitForEvent(context, call, { ...waits, place, milliseconds }));
    if (!mayBeNews) return jsonAnswer(200, JSON.stringify(conversation));
  }
};
