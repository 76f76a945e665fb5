import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/**
 * The secrets with which webhooks are signed. The market needs them in plain text for every attempt, so they cannot be
 * hashed: market.webhook.encrypted_secret has them encrypted (AES-256-GCM) with a key that only the environment has.
 *
 *   keys  the first one encrypts; all decrypt, so that the operator can replace a key
 */

/** The keys of WEBHOOK_KEYS, 32 bytes each; none if the market sends no webhooks. */
export type WebhookKeys = readonly Buffer[];

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();

/** Makes the keys from the variable: any texts that nobody can guess, separated by commas. */
export const readKeys = (variable: string | undefined): WebhookKeys => (variable?.split(",") ?? []).map(sha256);

/** What names a key in the database without telling it. */
const idOf = (key: Buffer): string => sha256(key).toString("hex").slice(0, 8);

/** The lengths that AES-256-GCM is made for. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Returns a new secret in the form of Standard Webhooks: 256 random bits. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/**
 * Encrypts a secret with the first key; null without keys.
 * @param url the address of the webhook: a secret that is copied to a webhook with another address does not decrypt
 */
export const encryptSecret = ([key]: WebhookKeys, secret: string, url: string): string | null => {
  if (key === undefined) return null;
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(url));
  const encrypted = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return `${idOf(key)}.${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString("base64url")}`;
};

/** Decrypts a secret. @throws an Error if no key fits, or if the text was changed or belongs to another address */
export const decryptSecret = (keys: WebhookKeys, text: string, url: string): string => {
  const [id = "", data = ""] = text.split(".");
  const key = keys.find((known) => idOf(known) === id);
  if (key === undefined) throw new Error(`WEBHOOK_KEYS lacks the key ${id}.`);
  const bytes = Buffer.from(data, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(url))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
};
