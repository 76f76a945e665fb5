import { performance } from "node:perf_hooks";
import { isConnectionLost, isUnavailable, problem, problemOf } from "../../base/problem.ts";
import { measured } from "../../base/tracing/tracing.ts";
import type { Actor } from "../../database/database.ts";
import { callFunction } from "../arguments.ts";
import type { Context, Handler } from "../endpoint.ts";
import { answerOf, type Envelope, UNKNOWN_OUTCOME } from "../response.ts";

/** The interval of polls while notifications arrive, in case one is lost or the process has to stop. */
const LISTENING_POLL_MS = 1_000;

/** Waits for the response to a submission. After the deadline, it withdraws the submission if it is not completed. */
const awaitAnswer = async (
  context: Context,
  actor: Actor,
  submission: string,
  gone: () => boolean,
): Promise<Envelope> => {
  const deadline = performance.now() + context.extractionDeadlineMs;
  for (;;) {
    const left = Math.min(deadline, context.leaveBy()) - performance.now();
    if (left <= 0) break;
    const pause = Math.min(context.notifications.listens() ? LISTENING_POLL_MS : context.pollMs, left);
    await measured("read", { name: "wait for the reading" }, () => context.notifications.completion(submission, pause));
    // If the client has disconnected, stop waiting. The worker still completes the submission, and a retry with the
    // same idempotency key gets the response.
    if (gone()) throw problem("service_unavailable", "The client hung up.");
    try {
      const answer = JSON.parse(
        await context.database.call(actor, "get_answer", { submission_id: submission }),
      ) as Envelope;
      if (answer.status !== undefined) return answer;
    } catch (error) {
      // The database may be restarting, and have the response when it is back, so try again.
      if (!isUnavailable(error)) throw error;
    }
  }
  return JSON.parse(
    await context.database.call(actor, "withdraw_submission", { submission_id: submission }),
  ) as Envelope;
};

/**
 * Handles a request with a text: the function admits it as a submission, the worker completes the submission, and the
 * stored response is returned. If the deadline passes first, the submission is withdrawn.
 */
export const submitText: Handler = async (context, call) => {
  const admitted = JSON.parse(
    await callFunction(context, call, "write").catch((error: unknown) => {
      // The connection may have been lost after the commit, so the outcome is unknown.
      throw isConnectionLost(error) ? UNKNOWN_OUTCOME : error;
    }),
  ) as Envelope;
  const headers = admitted.headers ?? {};
  if (admitted.submission === undefined) return answerOf(admitted, headers);
  try {
    const answer = await awaitAnswer(context, call.actor, admitted.submission, () => call.response.destroyed);
    return answerOf(answer, headers);
  } catch (error) {
    const failure = isUnavailable(error) ? UNKNOWN_OUTCOME : problemOf(error);
    throw { ...failure, headers: { ...headers, ...failure.headers } };
  }
};
