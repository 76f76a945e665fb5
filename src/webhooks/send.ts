import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { Webhook } from "standardwebhooks";
import { sendOutbound } from "../base/safe_fetch.ts";

/**
 * One attempt to send a delivery. Anybody can name an address, so nothing of a response is used but its status,
 * Retry-After, and the value with which it answers a challenge. The connection is closed when these are there.
 */

/**
 * What is sent where.
 * @property isChallenge the answer's body is read
 * @property admit is asked before anything is sent, with the address that is connected to; false: send nothing
 */
type Sendable = {
  id: string;
  url: string;
  secret: string;
  body: string;
  isChallenge: boolean;
  admit: (address: string) => Promise<boolean>;
};

/**
 * How an attempt ended. `error` is for people, and tells nothing of our network.
 * @property answer the value with which a challenge was answered, if it was
 */
type Outcome = {
  status: number | null;
  error: string | null;
  tookMs: number;
  retryAfter: number | null;
  answer: string | null;
};

/** Sends one delivery; null if it was not admitted. Rejects only if `admit` does. */
export type Send = (sendable: Sendable, signal: AbortSignal) => Promise<Outcome | null>;

/** A receiver has this long to answer. */
const MAX_MS = 15_000;

/** The answer to a challenge is one short member. */
const MAX_ANSWER_BYTES = 4096;

/** The member `challenge` of a response that is short and JSON; else null. */
const challengeIn = async (response: IncomingMessage): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) return null;
    }
    const answer: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const value = typeof answer === "object" && answer !== null && "challenge" in answer ? answer.challenge : null;
    // PostgreSQL's texts have no NUL.
    return typeof value === "string" && !value.includes("\0") ? value : null;
  } catch {
    return null;
  }
};

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
  async ({ id, url, secret, body, isChallenge, admit }, stopping) => {
    const began = performance.now();
    const timeout = AbortSignal.timeout(mostMs);
    const ended = (end: Omit<Outcome, "tookMs">): Outcome => ({
      ...end,
      tookMs: Math.round(performance.now() - began),
    });
    const failed = (error: string): Outcome => ended({ status: null, error, retryAfter: null, answer: null });
    if (!url.startsWith("https:") && !anyAddress) return failed("The address does not begin with https://.");
    let isAdmitted = true;
    let failure: unknown = null;
    const now = new Date();
    const response = await sendOutbound(url, {
      anyAddress,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": "Souk-Webhooks",
        connection: "close",
        "webhook-id": id,
        "webhook-timestamp": Math.floor(now.getTime() / 1000),
        "webhook-signature": new Webhook(secret).sign(id, now, body),
      },
      body,
      signal: AbortSignal.any([timeout, stopping]),
      lookup,
      admit: async (address) => {
        isAdmitted = await admit(address).catch((error: unknown) => {
          failure = error;
          return false;
        });
        return isAdmitted;
      },
    }).catch(() => null);
    if (failure !== null) throw failure;
    if (!isAdmitted) return null;
    if (response === null)
      return failed(
        timeout.aborted
          ? `No response came within ${mostMs / 1000} seconds.`
          : // The message of a connection that fails would tell strangers what is in our network.
            "The receiver cannot be reached from the internet.",
      );
    const { statusCode: status = 0, headers } = response;
    const answer = isChallenge && status >= 200 && status < 300 ? await challengeIn(response) : null;
    response.destroy();
    const isRedirect = status >= 300 && status < 400;
    return ended({
      status,
      error: isRedirect ? `The receiver answered ${status}, and redirects are not followed.` : null,
      retryAfter: secondsOf(headers["retry-after"], Date.now()),
      answer,
    });
  };
