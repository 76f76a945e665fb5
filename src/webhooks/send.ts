import type { LookupFunction } from "node:net";
import { Webhook } from "standardwebhooks";
import { sendOutbound } from "../base/safe_fetch.ts";

/**
 * One attempt to send an event. Anybody can name an address, so nothing of a response is used but its status and
 * Retry-After, and the connection is closed when the headers are there.
 */

/** What is sent where. */
type Sendable = { eventId: string; url: string; secret: string; body: string };

/** How an attempt ended. `error` is for people, and tells nothing of our network. */
type Outcome = { status: number | null; error: string | null; tookMs: number; retryAfter: number | null };

/** Sends one event. Never rejects. */
export type Send = (sendable: Sendable, signal: AbortSignal) => Promise<Outcome>;

/** A receiver has this long to answer. */
const MAX_MS = 15_000;

/** The seconds that a receiver asks for: a number, or a date (RFC 9110). */
export const secondsOf = (retryAfter: string | undefined, now: number): number | null => {
  if (retryAfter === undefined) return null;
  const seconds = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : Math.ceil((Date.parse(retryAfter) - now) / 1000);
  // PostgreSQL's integer; the database has the limit that counts.
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 999_999_999) : null;
};

/**
 * Makes the function that sends, for one process.
 * @param options.anyAddress also http and addresses that are not public, for tests and closed networks
 * @param options.lookup resolves names; default: that of sendOutbound
 * @param options.mostMs the time that an attempt may take
 */
export const createSend =
  ({ anyAddress, lookup, mostMs = MAX_MS }: { anyAddress: boolean; lookup?: LookupFunction; mostMs?: number }): Send =>
  async ({ eventId, url, secret, body }, stopping) => {
    const began = performance.now();
    const timeout = AbortSignal.timeout(mostMs);
    const ended = (end: Omit<Outcome, "tookMs">): Outcome => ({
      ...end,
      tookMs: Math.round(performance.now() - began),
    });
    const failed = (error: string): Outcome => ended({ status: null, error, retryAfter: null });
    if (!url.startsWith("https:") && !anyAddress) return failed("The address does not begin with https://.");
    const now = new Date();
    const response = await sendOutbound(url, {
      anyAddress,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": "Souk-Webhooks",
        connection: "close",
        "webhook-id": eventId,
        "webhook-timestamp": Math.floor(now.getTime() / 1000),
        "webhook-signature": new Webhook(secret).sign(eventId, now, body),
      },
      body,
      signal: AbortSignal.any([timeout, stopping]),
      lookup,
    }).catch(() => null);
    if (response === null)
      return failed(
        timeout.aborted
          ? `No response came within ${mostMs / 1000} seconds.`
          : // The message of a connection that fails would tell strangers what is in our network.
            "The receiver cannot be reached from the internet.",
      );
    response.destroy();
    const { statusCode: status = 0, headers } = response;
    const isRedirect = status >= 300 && status < 400;
    return ended({
      status,
      error: isRedirect ? `The receiver answered ${status}, and redirects are not followed.` : null,
      retryAfter: secondsOf(headers["retry-after"], Date.now()),
    });
  };
