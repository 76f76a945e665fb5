import { type Tools, task } from "../task.ts";

/** Archives the offers of a suspended account, or publishes those of a reinstated account again, in batches. */
export const applyStanding = ({ call }: Tools) =>
  task(async ({ id }, signal) => {
    let lastOffer: string | null = null;
    do {
      signal.throwIfAborted();
      [lastOffer = null] = await call<string | null>("apply_standing", id, lastOffer);
    } while (lastOffer !== null);
  });
