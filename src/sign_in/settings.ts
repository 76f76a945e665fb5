import { createHash, createPrivateKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import { httpUrl, optional, withDefault } from "../base/environment.ts";
import type { MailSettings } from "../mail/mailer.ts";

/** The settings for sign-in, from the environment. A method is offered if all settings of its provider are set. */

/** The registration of this service with Google. */
export type GoogleSettings = Readonly<{ issuer: string; clientId: string; clientSecret: string }>;

/** The registration of this service with Apple. */
export type AppleSettings = Readonly<{
  issuer: string;
  clientId: string;
  teamId: string;
  keyId: string;
  /** A key of the elliptic curve P-256. */
  privateKey: KeyObject;
}>;

/** The settings of each sign-in method; null for methods that are not offered. */
export type SignInSettings = Readonly<{
  google: GoogleSettings | null;
  apple: AppleSettings | null;
  mail: MailSettings | null;
  /** SHA-256 of RECORD_KEY; null when it is not set. */
  recordKey: Buffer | null;
}>;

/** The environment variables, for the schema in src/config.ts. */
export const signInEnvironment = {
  GOOGLE_CLIENT_ID: optional(z.string().max(255)),
  GOOGLE_CLIENT_SECRET: optional(z.string().max(255)),
  GOOGLE_ISSUER: withDefault(httpUrl, "https://accounts.google.com"),
  APPLE_CLIENT_ID: optional(z.string().max(255)),
  APPLE_TEAM_ID: optional(z.string().max(255)),
  APPLE_KEY_ID: optional(z.string().max(255)),
  APPLE_PRIVATE_KEY: optional(z.string().max(4096)),
  APPLE_ISSUER: withDefault(httpUrl, "https://appleid.apple.com"),
  SMTP_URL: optional(z.string().regex(/^smtps?:\/\/[^/]/, "must start with smtp:// or smtps://")),
  // 32 random hex digits cannot be guessed.
  RECORD_KEY: optional(
    z.string().regex(/^[\x21-\x7e]{32,500}$/, "must have 32 to 500 characters of ASCII, and no spaces"),
  ),
  MAIL_FROM: optional(
    z
      .string()
      .max(320)
      .regex(/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/, "must be an address, as souk@example.org or Souk <souk@example.org>"),
  ),
};

type Values = z.infer<z.ZodObject<typeof signInEnvironment>>;

/** The variables of each provider, which are all set or all unset. */
const GROUPS = [
  ["GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"],
  ["APPLE_CLIENT_ID", "APPLE_TEAM_ID", "APPLE_KEY_ID", "APPLE_PRIVATE_KEY"],
  ["SMTP_URL", "MAIL_FROM"],
] as const;

/** Reads a private key in PEM. Many platforms store a variable on one line, with \\n for each line break. */
const readKey = (pem: string): KeyObject | null => {
  try {
    const key = createPrivateKey(pem.replaceAll("\\n", "\n"));
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : null;
  } catch {
    return null;
  }
};

/**
 * Reads the settings for sign-in.
 * @returns the settings, or an error for each variable that is missing or invalid
 */
export const readSignInSettings = (values: Values): SignInSettings | { errors: string[] } => {
  const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, SMTP_URL, MAIL_FROM } = values;
  const { APPLE_CLIENT_ID, APPLE_TEAM_ID, APPLE_KEY_ID, APPLE_PRIVATE_KEY } = values;
  const errors = GROUPS.flatMap((group) => {
    const set = group.filter((name) => values[name] !== undefined);
    const unset = set.length === 0 ? [] : group.filter((name) => values[name] === undefined);
    return unset.map((name) => `${name}: is needed beside ${set.join(", ")}`);
  });
  const privateKey = APPLE_PRIVATE_KEY === undefined ? null : readKey(APPLE_PRIVATE_KEY);
  if (APPLE_PRIVATE_KEY !== undefined && privateKey === null) {
    errors.push("APPLE_PRIVATE_KEY: must be the key that Apple gave as a .p8 file: PEM, of the curve P-256");
  }
  if (errors.length > 0) return { errors };
  return {
    google:
      GOOGLE_CLIENT_ID && GOOGLE_CLIENT_SECRET
        ? { issuer: values.GOOGLE_ISSUER, clientId: GOOGLE_CLIENT_ID, clientSecret: GOOGLE_CLIENT_SECRET }
        : null,
    apple:
      APPLE_CLIENT_ID && APPLE_TEAM_ID && APPLE_KEY_ID && privateKey
        ? {
            issuer: values.APPLE_ISSUER,
            clientId: APPLE_CLIENT_ID,
            teamId: APPLE_TEAM_ID,
            keyId: APPLE_KEY_ID,
            privateKey,
          }
        : null,
    mail: SMTP_URL && MAIL_FROM ? { smtpUrl: SMTP_URL, from: MAIL_FROM } : null,
    recordKey: values.RECORD_KEY === undefined ? null : createHash("sha256").update(values.RECORD_KEY).digest(),
  };
};
