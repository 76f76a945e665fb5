import { type Tools, task } from "../task.ts";

/** Texts per call to the provider. A batch takes seconds, so a crash repeats little work. */
const BATCH = 64;
/** Longer than a provider takes for a batch. */
const EMBEDDING_TIMEOUT_MS = 60_000;

type Batch = { model: string; items: { kind: "offer" | "ask"; id: string; words: string }[] };
type Progress = { model: string; done: number; total: number; failed: number; finished: boolean };

/** Embeds one batch for a change of the embedding model. Storing a batch enqueues the next one. */
export const reembed = ({ call, embedder, log }: Tools) =>
  task(async ({ id }, signal) => {
    const [batch] = await call<Batch | null>("take_batch", id, BATCH);
    // If this worker is configured for another model, it leaves the batch to workers with the right model.
    if (!batch || batch.model !== embedder.model) return;
    const vectors =
      batch.items.length === 0
        ? []
        : await embedder.embed(
            batch.items.map(({ words }) => words),
            AbortSignal.any([signal, AbortSignal.timeout(EMBEDDING_TIMEOUT_MS)]),
          );
    const stored = batch.items.map(({ kind, id: of }, n) => ({
      kind,
      id: of,
      embedding: vectors[n] ? JSON.stringify(vectors[n]) : null,
    }));
    const [progress] = await call<Progress | null>("store_batch", id, JSON.stringify(stored));
    if (progress) log.info(progress, progress.finished ? "embedded again" : "embedding again");
  });
