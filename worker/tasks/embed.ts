import { type Tools, task } from "../task.ts";

/** Longer than a provider takes, and shorter than an operator's patience with a stuck job. */
const EMBEDDING_TIMEOUT_MS = 30_000;

const embed = ({ call, embedder, log }: Tools, store: "store_offer_embedding" | "store_ask_embedding") =>
  task(async ({ id }, signal) => {
    const [words] = await call<string | null>("get_embedding_input", id);
    if (words === null || words === undefined) return;
    const settle = (vector: number[] | undefined) =>
      call(store, id, vector ? JSON.stringify(vector) : null, embedder.model);
    try {
      const [vector] = await embedder.embed(
        [words],
        AbortSignal.any([signal, AbortSignal.timeout(EMBEDDING_TIMEOUT_MS)]),
      );
      await settle(vector);
    } catch (error) {
      signal.throwIfAborted();
      // Found and matched by its words at once; the vector follows when the job is tried again.
      log.warn({ err: error, id }, "no vector yet");
      await settle(undefined);
      throw error;
    }
  });

/** Gives a live offer its vector, and holds it against the asks. */
export const embedOffer = (tools: Tools) => embed(tools, "store_offer_embedding");

/** Gives an active ask its vector, and holds it against the offers. */
export const embedAsk = (tools: Tools) => embed(tools, "store_ask_embedding");
