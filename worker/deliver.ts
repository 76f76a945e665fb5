import type { Log } from "../src/base/log.ts";
import { decryptSecret, type WebhookKeys } from "../src/webhooks/secrets.ts";
import type { Send } from "../src/webhooks/send.ts";
import type { CallJobs } from "./database.ts";

/**
 * Makes the attempts that the database asks for. A job ends when its attempts have started, so a receiver that takes 15
 * seconds occupies a connection of this process and no slot of the queue. If the process ends meanwhile, the database
 * gives the delivery to another one after a minute.
 *
 *   lane  the attempts at prompt receivers, or those at all others. Slow and dead receivers fill only the second one
 */

/** An attempt, as jobs.claim_deliveries returns it. */
type Delivery = {
  id: string;
  attempt: number;
  url: string;
  encrypted_secret: string;
  body: string;
  is_challenge: boolean;
};

/** How many attempts of a lane may be under way. An attempt costs a socket and some kilobytes. */
const MAX_ATTEMPTS = { prompt: 100, other: 400 };

type Lane = { free: number; waiting: Set<string> };

/** Sends what is due to webhooks. */
export type Deliverer = {
  /** Begins the attempts that are due to one webhook; resolves when they have started. */
  deliver: (webhookId: string) => Promise<void>;
  /** Breaks off the attempts that are under way. */
  stop: () => Promise<void>;
};

/** Makes the deliverer of one process. */
export const createDeliverer = (options: { call: CallJobs; keys: WebhookKeys; send: Send; log: Log }): Deliverer => {
  const { call, keys, send, log } = options;
  const leaving = new AbortController();
  const lanes: Record<keyof typeof MAX_ATTEMPTS, Lane> = {
    prompt: { free: MAX_ATTEMPTS.prompt, waiting: new Set() },
    other: { free: MAX_ATTEMPTS.other, waiting: new Set() },
  };
  const running = new Set<Promise<void>>();

  const attempt = async ({ id, attempt, url, encrypted_secret, body, is_challenge }: Delivery): Promise<void> => {
    const secret = decryptSecret(keys, encrypted_secret, url);
    const admit = async (address: string): Promise<boolean> =>
      (await call<boolean>("admit_address", id, address))[0] === true;
    const outcome = await send({ id, url, secret, body, isChallenge: is_challenge, admit }, leaving.signal);
    if (leaving.signal.aborted || outcome === null) return;
    const { status, error, tookMs, retryAfter, answer } = outcome;
    await call("end_attempt", id, attempt, status, error, tookMs, retryAfter, answer);
  };

  const deliver = async (webhookId: string): Promise<void> => {
    if (leaving.signal.aborted) return;
    const [claim] = await call<{ is_prompt: boolean; is_full?: boolean; deliveries: Delivery[] }>(
      "claim_deliveries",
      webhookId,
      lanes.prompt.free,
      lanes.other.free,
    );
    if (claim === undefined) return;
    const lane = lanes[claim.is_prompt ? "prompt" : "other"];
    if (claim.is_full) lane.waiting.add(webhookId);
    for (const delivery of claim.deliveries) {
      lane.free -= 1;
      const run = attempt(delivery)
        .catch((error: unknown) => log.warn({ err: error, delivery: delivery.id }, "an attempt could not be made"))
        .then(async () => {
          lane.free += 1;
          const [next] = lane.waiting;
          if (next !== undefined) lane.waiting.delete(next);
          // The webhook may have more due, and one that waited for a connection has one now.
          for (const due of new Set([webhookId, ...(next === undefined ? [] : [next])])) await deliver(due);
        })
        // Later, jobs.sweep_deliveries finds what is due.
        .catch((error: unknown) => log.warn({ err: error }, "what is due to a webhook could not be taken"))
        .finally(() => running.delete(run));
      running.add(run);
    }
  };

  return {
    deliver,
    stop: async () => {
      leaving.abort();
      await Promise.all(running);
    },
  };
};
