import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

/** Makes offers stale that nobody has confirmed for long, and archives those whose owners were notified, in batches. */
export const ageOffers =
  ({ call, log }: Tools): Task =>
  async (_payload, { abortSignal }) => {
    let [aged, count] = [0, 1];
    while (count > 0) {
      abortSignal?.throwIfAborted();
      [count = 0] = await call<number>("age_offers");
      aged += count;
    }
    if (aged > 0) log.info({ count: aged }, "age_offers");
  };
