import { locate } from "../../src/reader/locate.ts";
import { type Tools, task } from "../task.ts";

/**
 * Extracts the fields from the text of a submission and has the database complete it: publish, change, preview or
 * refuse. An ask is embedded in the same job, so that its matches exist when the caller gets the response. An offer is
 * embedded by another job, so that its caller waits less.
 */
export const completeSubmission = ({ call, reader, embedder, log }: Tools) =>
  task(async ({ id }, signal) => {
    const [submission] = await call<{ kind: string; text: string } | null>("get_submission", id);
    if (!submission) return;
    const { kind, text } = submission;
    if (!kind.endsWith("_ask")) {
      const reading = reader();
      const { extractions, addressed } = locate(text, await reading.readOffer(text, signal), reading.findOrders(text));
      await call("complete_submission", id, JSON.stringify(extractions), null, null, JSON.stringify(addressed));
      return;
    }
    const reading = reader();
    const [read, embedding] = await Promise.all([
      reading.readAsk(text, signal),
      embedder
        .embed([text], AbortSignal.any([signal, AbortSignal.timeout(EMBEDDING_TIMEOUT_MS)]))
        .then(([vector]) => (vector ? JSON.stringify(vector) : null))
        .catch((error: unknown) => {
          log.warn({ err: error, submission: id }, "an ask is matched by its words: no vector");
          return null;
        }),
    ]);
    signal.throwIfAborted();
    const { extractions, addressed } = locate(text, read, reading.findOrders(text));
    const [made, spans] = [JSON.stringify(extractions), JSON.stringify(addressed)];
    await call("complete_submission", id, made, embedding, embedder.model, spans);
    // The ask is matched by words now, and by its vector when a later job succeeds.
    if (embedding === null) await call("retry_ask_embedding", id);
  });

/** The caller of an ask waits for its vector. After this time the ask is matched by words only. */
const EMBEDDING_TIMEOUT_MS = 3_000;
