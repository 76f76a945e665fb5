import { findAddressedToModel } from "../../src/reader/builtin/addressed.ts";
import { ground } from "../../src/reader/ground.ts";
import { type Tools, task } from "../task.ts";

/**
 * Reads the text of a submission, and lets the database publish, change, preview or refuse. An ask is embedded at once,
 * so that its matches are there when its caller is answered; an offer by a job of its own, so that its caller waits less.
 */
export const completeSubmission = ({ call, extractor, embedder, log }: Tools) =>
  task(async ({ id }, signal) => {
    const [submission] = await call<{ kind: string; text: string } | null>("get_submission", id);
    if (!submission) return;
    if (!submission.kind.endsWith("_ask")) {
      const extraction = ground(submission.text, await extractor().extractOffer(submission.text, signal));
      // Whoever read it: a text that gives orders to its readers is put before a moderator by a rule, not by a reader.
      const addresses_agents = findAddressedToModel(submission.text).length > 0;
      await call("complete_submission", id, JSON.stringify({ ...extraction, addresses_agents }));
      return;
    }
    const [extraction, embedding] = await Promise.all([
      extractor().extractAsk(submission.text, signal),
      embedder
        .embed([submission.text], AbortSignal.any([signal, AbortSignal.timeout(EMBEDDING_TIMEOUT_MS)]))
        .then(([vector]) => (vector ? JSON.stringify(vector) : null))
        .catch((error: unknown) => {
          log.warn({ err: error, submission: id }, "an ask is matched by its words: no vector");
          return null;
        }),
    ]);
    signal.throwIfAborted();
    await call(
      "complete_submission",
      id,
      JSON.stringify(ground(submission.text, extraction)),
      embedding,
      embedder.model,
    );
    // Matched by words now, and by meaning once the provider answers again.
    if (embedding === null) await call("retry_ask_embedding", id);
  });

/** An ask's caller waits for this: beyond it, words must do. */
const EMBEDDING_TIMEOUT_MS = 3_000;
