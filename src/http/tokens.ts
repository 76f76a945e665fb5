import { createHash, createHmac, randomBytes, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The consonants without Y, so that a code cannot spell a word. */
const CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
/** 43 characters of base 62 hold 256 bits. */
const TOKEN_LENGTH = 43;
/** 6 characters of base 62 hold the 32 bits of a CRC. */
const CHECKSUM_LENGTH = 6;

const base62 = (value: bigint, length: number): string => {
  let rest = value;
  let digits = "";
  for (let i = 0; i < length; i++) {
    digits = (BASE62[Number(rest % 62n)] ?? "") + digits;
    rest /= 62n;
  }
  return digits;
};

const checksum = (body: string): string => base62(BigInt(crc32(body)), CHECKSUM_LENGTH);

/** Returns a new agent token: `agt_`, 256 random bits in base 62, and the CRC-32 of the characters before it. */
export const newToken = (): string => {
  const body = `agt_${base62(BigInt(`0x${randomBytes(32).toString("hex")}`), TOKEN_LENGTH)}`;
  return body + checksum(body);
};

/** Returns whether a string has the form and the checksum of a token. This finds typos without a query. */
export const isToken = (candidate: string): boolean => {
  if (!/^agt_[0-9A-Za-z]{49}$/.test(candidate)) return false;
  const body = candidate.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === candidate.slice(-CHECKSUM_LENGTH);
};

/** Returns a new secret for a link or a cookie: 256 random bits in base64url. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Returns a new code that a person compares on two screens: XXXX-XXXX, of 20 consonants (34 bits). */
export const newCode = (): string => {
  const letters = Array.from({ length: 8 }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join("");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
};

/** Returns the SHA-256 of a token or a secret. The database stores only this. */
export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret, "utf8").digest();

/** Returns the key from which the database derives an agent's verification links. It is made from the agent's token. */
export const linkKey = (token: string): Buffer => createHmac("sha256", token).update("verification link").digest();
