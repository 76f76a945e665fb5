import { performance } from "node:perf_hooks";
import type { Actor } from "../../database/database.ts";
import { answerOf, type Envelope, UNKNOWN_OUTCOME } from "../answer.ts";
import { callFunction } from "../arguments.ts";
import type { Context, Handler } from "../endpoint.ts";
import { isConnectionLost, isUnavailable, problem, problemOf } from "../problem.ts";

/** While notifications arrive, answers are asked for only in case that one is lost, or that the process has to stop. */
const LISTENING_POLL_MS = 1_000;

/** Waits until the worker has read the text, or the deadline has passed and the database decides what then. */
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
    await context.submissions.next(
      submission,
      Math.min(context.submissions.listens() ? LISTENING_POLL_MS : context.pollMs, left),
    );
    // Whoever hung up is not waited for; the text is read all the same, and a key replays.
    if (gone()) throw problem("service_unavailable", "The client hung up.");
    try {
      const answer = JSON.parse(
        await context.database.call(actor, "get_answer", { submission_id: submission }),
      ) as Envelope;
      if (answer.status !== undefined) return answer;
    } catch (error) {
      // A restart of the database while a text is read: the answer may be there when it is back.
      if (!isUnavailable(error)) throw error;
    }
  }
  return JSON.parse(
    await context.database.call(actor, "withdraw_submission", { submission_id: submission }),
  ) as Envelope;
};

/**
 * Has a text read: the function admits it, the worker completes it, and the answer is what the database says then. If the
 * deadline passes first, what is not published yet is withdrawn.
 */
export const submitText: Handler = async (context, call) => {
  const admitted = JSON.parse(
    await callFunction(context, call, "write").catch((error: unknown) => {
      // The connection may have been lost after the commit.
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
