import { createHmac, hash, randomBytes, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The consonants without Y, so that a code cannot spell a word. */
const CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
/** 43 characters of base 62 hold 256 bits. */
const TOKEN_LENGTH = 43;
/** 6 characters of base 62 hold the 32 bits of a CRC. */
const CHECKSUM_LENGTH = 6;

const checksum = (body: string): string => {
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

const randomLetters = (letters: string, length: number): string =>
  Array.from({ length }, () => letters[randomInt(letters.length)]).join("");

/** 256 random bits in base 62. */
const randomPart = (): string => randomLetters(BASE62, TOKEN_LENGTH);

const withChecksum = (body: string): string => body + checksum(body);

const hasChecksum = (token: string): boolean => withChecksum(token.slice(0, -CHECKSUM_LENGTH)) === token;

/** Returns a new agent token: `agt_`, 256 random bits in base 62, and the CRC-32 of the characters before it. */
export const newToken = (): string => withChecksum(`agt_${randomPart()}`);

/** Returns whether a string has the form and the checksum of a token. This finds typos without a query. */
export const isToken = (candidate: string): boolean =>
  /^agt_[0-9A-Za-z]{49}$/.test(candidate) && hasChecksum(candidate);

/**
 * Returns a new refresh token of OAuth: `rft_`, a part that all refresh tokens of a grant share, a part of its own, and
 * the CRC-32. By the shared part, the database recognizes a token that was used before.
 * @param family the shared part of the token that this one follows; a new one if there is none
 */
export const newRefreshToken = (family: string = randomPart()): string => withChecksum(`rft_${family}${randomPart()}`);

/** Returns the shared part of a refresh token; null if the string is not a refresh token. */
export const familyOf = (candidate: string): string | null =>
  /^rft_[0-9A-Za-z]{92}$/.test(candidate) && hasChecksum(candidate) ? candidate.slice(4, 4 + TOKEN_LENGTH) : null;

/** Returns a new secret for a link or a cookie: 256 random bits in base64url. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Returns a new code that a person compares on two screens: XXXX-XXXX, of 20 consonants (34 bits). */
export const newCode = (): string => {
  const letters = randomLetters(CODE_LETTERS, 8);
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
};

/** Returns the SHA-256 of a token or a secret. The database stores only this. */
export const hashSecret = (secret: string): Buffer => hash("sha256", secret, "buffer");

/** Returns the key from which the database derives an agent's verification links. It is made from the agent's token. */
export const linkKey = (token: string): Buffer => createHmac("sha256", token).update("verification link").digest();
