import { within } from "../../src/base/within.ts";
import { ownTurn } from "../../src/database/own_turn.ts";
import { type Tools, task } from "../task.ts";

/** Longer than a provider normally takes, and short enough that a job is not stuck for long. */
const EMBEDDING_TIMEOUT_MS = 30_000;

const storeVector = async (
  { call, embedder, log }: Tools,
  name: "store_offer_embedding" | "store_ask_embedding",
  id: string,
  signal: AbortSignal,
): Promise<void> => {
  const [text] = await call<string | null>("get_embedding_input", id, embedder.model, embedder.paid);
  if (text === null || text === undefined) return;
  const store = (vector: number[] | undefined) =>
    call(name, id, vector ? JSON.stringify(vector) : null, embedder.model, text);
  try {
    await ownTurn();
    const [vector] = await within(EMBEDDING_TIMEOUT_MS, signal, (inner) => embedder.embed([text], inner));
    await store(vector);
  } catch (error) {
    signal.throwIfAborted();
    // Match by words now. The vector is stored when the job is tried again.
    log.warn({ err: error, id }, "no vector yet");
    await store(undefined);
    throw error;
  }
};

/** Stores the vector of a published offer, and matches the offer with the asks. */
export const storeOfferVector = (tools: Tools, id: string, signal: AbortSignal): Promise<void> =>
  storeVector(tools, "store_offer_embedding", id, signal);

/** The job that does this for an offer that is published again, or whose vector a provider makes. */
export const embedOffer = (tools: Tools) => task(({ id }, signal) => storeOfferVector(tools, id, signal));

/** Stores the vector of an active ask, and matches the ask with the offers. */
export const embedAsk = (tools: Tools) =>
  task(({ id }, signal) => storeVector(tools, "store_ask_embedding", id, signal));
