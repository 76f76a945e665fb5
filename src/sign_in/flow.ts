import { createHmac } from "node:crypto";
import { hashSecret } from "../http/tokens.ts";

/**
 * The secrets of one attempt to sign in. The browser holds one secret for the attempt (the flow); what a provider or a
 * mail is given is derived from a secret, so that nothing of it has to be stored.
 */

/** A six-digit code: what a person can carry from one screen to another in the head. */
const CODES = 1_000_000;

const derive = (secret: string, purpose: string): Buffer => createHmac("sha256", secret).update(purpose).digest();

/** What goes to an OpenID provider and comes back, each unguessable without the flow's secret. */
export const openIdSecrets = (flow: string): { state: string; nonce: string; verifier: string } => ({
  state: derive(flow, "state").toString("base64url"),
  nonce: derive(flow, "nonce").toString("base64url"),
  verifier: derive(flow, "verifier").toString("base64url"),
});

/**
 * The secret of the session that an attempt ends in. The same for a second click, whose first answer the browser never
 * took in: it then finds the session that the first click made.
 */
export const sessionSecret = (flow: string): string => derive(flow, "session").toString("base64url");

/** The six digits that go with the secret in a mail's link: whoever opened the link can be shown them. */
export const codeOf = (linkSecret: string): string =>
  // Of 48 bits the remainder is even to one in 10^8.
  String(derive(linkSecret, "code").readUIntBE(0, 6) % CODES).padStart(6, "0");

/** What the database keeps of a code: with the flow's secret in it, a stolen row does not tell the six digits. */
export const codeHash = (flow: string, code: string): Buffer => hashSecret(flow + code);
