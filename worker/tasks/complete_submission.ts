import { isUnavailable } from "../../src/base/problem.ts";
import { within } from "../../src/base/within.ts";
import { ownTurn } from "../../src/database/own_turn.ts";
import { type Tools, task } from "../task.ts";
import { storeOfferVector } from "./embed.ts";

/**
 * Extracts the fields from a submission's text and has the database complete it: publish, change, preview or
 * refuse. An ask is embedded before that, so that its matches exist when the caller gets the response. An offer is
 * embedded and matched after that, so that its caller waits less: in the same job, or, if a provider makes the vectors,
 * by a job of its own.
 */
export const completeSubmission = (tools: Tools) => {
  const { call, reader, embedder, log } = tools;
  // A provider's embedder may hang, and must not occupy this job's slot.
  const embedsOffers = !embedder.paid;
  return task(async ({ id }, signal) => {
    const [submission] = await call<{
      kind: string;
      text: string;
      images: string[];
      target: string | null;
      embed: boolean;
    } | null>("get_submission", id, embedder.model, embedder.paid);
    if (!submission) return;
    const { kind, text, images } = submission;
    const reading = reader();
    const maySend = async () => (await call<boolean>("count_model_reading", id))[0] === true;

    const embed = async (): Promise<string | null> => {
      if (!submission.embed) return null;
      try {
        await ownTurn();
        const [vector] = await within(EMBEDDING_TIMEOUT_MS, signal, (inner) => embedder.embed([text], inner));
        return vector ? JSON.stringify(vector) : null;
      } catch (error) {
        log.warn({ err: error, submission: id }, "an ask is matched by its words: no vector");
        return null;
      }
    };
    const isAsk = kind.endsWith("_ask");
    const readOffer = async () => {
      const read = await reading.readOffer(text, signal, maySend);
      return { ...read, withheld: JSON.stringify(read.withheld(images, read.extractions)) };
    };
    const [read, embedding] = isAsk
      ? await Promise.all([reading.readAsk(text, signal, maySend).then((ask) => ({ ...ask, withheld: null })), embed()])
      : [await readOffer(), null];
    signal.throwIfAborted();

    const { extractions } = read;
    const orders = JSON.stringify(read.addressed);
    const complete = (sent: unknown[]): Promise<boolean[]> => {
      const model = isAsk ? embedder.model : null;
      const of = [embedding, model, orders, embedsOffers, read.withheld];
      return call<boolean>("complete_submission", id, JSON.stringify(sent), ...of);
    };
    let completed: boolean[];
    try {
      completed = await complete(extractions);
    } catch (error) {
      // The built-in extraction is the last one. If the database cannot store the model's, it is used alone, while the
      // caller still waits.
      if (extractions.length === 1 || isUnavailable(error)) throw error;
      log.error({ err: error, submission: id }, "what the model read could not be stored");
      completed = await complete(extractions.slice(-1));
    }
    // The caller has the answer now. If this worker dies here, the job runs again and leaves the vector to another job.
    if (!isAsk && embedsOffers && submission.target !== null && completed[0])
      await storeOfferVector(tools, submission.target, signal);
  });
};

/** The caller of an ask waits for its vector. After this time the ask is matched by words only. */
const EMBEDDING_TIMEOUT_MS = 3_000;
