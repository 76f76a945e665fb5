import { findAddressedToModel } from "../../src/reader/builtin/addressed.ts";
import { ground } from "../../src/reader/ground.ts";
import { type Tools, task } from "../task.ts";

/**
 * Extracts the fields from the text of a submission and has the database complete it: publish, change, preview or
 * refuse. An ask is embedded in the same job, so that its matches exist when the caller gets the response. An offer is
 * embedded by another job, so that its caller waits less.
 */
export const completeSubmission = ({ call, extractor, embedder, log }: Tools) =>
  task(async ({ id }, signal) => {
    const [submission] = await call<{ kind: string; text: string } | null>("get_submission", id);
    if (!submission) return;
    if (!submission.kind.endsWith("_ask")) {
      const extraction = ground(submission.text, await extractor().extractOffer(submission.text, signal));
      // A text that gives instructions to models goes to a moderator. The same rule decides this for every extractor.
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
    // The ask is matched by words now, and by its vector when a later job succeeds.
    if (embedding === null) await call("retry_ask_embedding", id);
  });

/** The caller of an ask waits for its vector. After this time the ask is matched by words only. */
const EMBEDDING_TIMEOUT_MS = 3_000;
