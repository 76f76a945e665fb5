import { type Tools, task } from "../task.ts";

/** Longer than a provider normally takes, and short enough that a job is not stuck for long. */
const EMBEDDING_TIMEOUT_MS = 30_000;

const embed = ({ call, embedder, log }: Tools, name: "store_offer_embedding" | "store_ask_embedding") =>
  task(async ({ id }, signal) => {
    const [text] = await call<string | null>("get_embedding_input", id);
    if (text === null || text === undefined) return;
    const storeVector = (vector: number[] | undefined) =>
      call(name, id, vector ? JSON.stringify(vector) : null, embedder.model);
    try {
      const [vector] = await embedder.embed(
        [text],
        AbortSignal.any([signal, AbortSignal.timeout(EMBEDDING_TIMEOUT_MS)]),
      );
      await storeVector(vector);
    } catch (error) {
      signal.throwIfAborted();
      // Match by words now. The vector is stored when the job is tried again.
      log.warn({ err: error, id }, "no vector yet");
      await storeVector(undefined);
      throw error;
    }
  });

/** Stores the vector of a published offer, and matches the offer with the asks. */
export const embedOffer = (tools: Tools) => embed(tools, "store_offer_embedding");

/** Stores the vector of an active ask, and matches the ask with the offers. */
export const embedAsk = (tools: Tools) => embed(tools, "store_ask_embedding");
