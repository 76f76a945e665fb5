import { createHmac } from "node:crypto";
import { hashSecret } from "../base/tokens.ts";

/**
 * The secrets of one sign-in attempt. The browser keeps one secret for the attempt (the flow) in a cookie. The values
 * that a provider receives are derived from the flow, and the code of a message is derived from the secret of its link.
 * So neither has to be stored.
 */

/**
 * The possible lengths of a code. Six digits are what a person can remember from one screen to another. The database
 * (internal.code_digits) asks for more digits while many wrong codes are entered.
 */
export const CODE_LENGTHS = [6, 9, 12] as const;

/** The number of digits of a code. */
export type CodeLength = (typeof CODE_LENGTHS)[number];

const derive = (secret: string, purpose: string): Buffer => createHmac("sha256", secret).update(purpose).digest();

/** The values of one sign-in at an OpenID provider. None can be guessed without the flow. */
export const openIdSecrets = (flow: string): { state: string; nonce: string; verifier: string } => ({
  state: derive(flow, "state").toString("base64url"),
  nonce: derive(flow, "nonce").toString("base64url"),
  verifier: derive(flow, "verifier").toString("base64url"),
});

/**
 * The secret of the session that an attempt ends in. It is derived from the flow, so a second click gets the same
 * secret: if the browser did not receive the first response, the second click finds the session that the first one
 * made.
 */
export const sessionSecret = (flow: string): string => derive(flow, "session").toString("base64url");

/**
 * The secret by which the mailbox of a finished attempt knows the browser from then on. It is derived from the flow, for
 * the same reason.
 */
export const browserSecret = (flow: string): string => derive(flow, "browser").toString("base64url");

/** The code of a message, derived from the secret of its link, so that the page of the link can show it. */
export const codeOf = (linkSecret: string, length: CodeLength): string => {
  const bytes = derive(linkSecret, "code");
  // Two times six digits. The remainder of 48 random bits is uniform to within one part in 10^8.
  const digits = [0, 6].map((start) => String(bytes.readUIntBE(start, 6) % 1_000_000).padStart(6, "0"));
  return digits.join("").slice(0, length);
};

/**
 * The hash of a code as the database stores it. It includes the flow, so a stolen row does not reveal the digits.
 */
export const codeHash = (flow: string, code: string): Buffer => hashSecret(flow + code);
