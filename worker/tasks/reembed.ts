import { within } from "../../src/base/within.ts";
import { type Tools, task } from "../task.ts";

/** Texts per call to the provider. A batch takes seconds, so a crash repeats little work. */
const BATCH = 64;
/** Longer than a provider takes for a batch. */
const EMBEDDING_TIMEOUT_MS = 60_000;

type Batch = { model: string; items: { kind: "offer" | "ask"; id: string; words: string | null }[] };
type Progress = { model: string; done: number; total: number; failed: number; finished: boolean };

/** Embeds one batch for a change of the embedding model. Storing a batch enqueues the next one. */
export const reembed = ({ call, embedder, log }: Tools) =>
  task(async ({ id }, signal) => {
    const [batch] = await call<Batch | null>("take_batch", id, BATCH, embedder.paid);
    // If this worker is configured for another model, it leaves the batch to workers with the right model.
    if (!batch || batch.model !== embedder.model) return;
    const allowed = batch.items.flatMap(({ words }) => words ?? []);
    const vectors =
      allowed.length === 0 ? [] : await within(EMBEDDING_TIMEOUT_MS, signal, (inner) => embedder.embed(allowed, inner));
    const stored = batch.items.map((item) => {
      const vector = item.words === null ? undefined : vectors.shift();
      return { ...item, embedding: vector ? JSON.stringify(vector) : null };
    });
    const [progress] = await call<Progress | null>("store_batch", id, JSON.stringify(stored));
    if (progress) log.info(progress, progress.finished ? "embedded again" : "embedding again");
  });
