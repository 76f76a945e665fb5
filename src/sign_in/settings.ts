import { createPrivateKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import { httpUrl, optional, withDefault } from "../environment.ts";

/** What the environment says about signing in: a method is offered when its provider is configured whole. */

/** How this service is registered with Google. */
export type GoogleSettings = Readonly<{ issuer: string; clientId: string; clientSecret: string }>;

/** How this service is registered with Apple. */
export type AppleSettings = Readonly<{
  issuer: string;
  clientId: string;
  teamId: string;
  keyId: string;
  /** Of the elliptic curve P-256. */
  privateKey: KeyObject;
}>;

/** The mail server, and who the mails come from. */
export type MailSettings = Readonly<{ smtpUrl: string; from: string }>;

/** The settings of each way to sign in; null for those that are not offered. */
export type SignInSettings = Readonly<{
  google: GoogleSettings | null;
  apple: AppleSettings | null;
  mail: MailSettings | null;
}>;

/** The variables, for the schema of the environment. */
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
  MAIL_FROM: optional(
    z
      .string()
      .max(320)
      .regex(/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/, "must be an address, as souk@example.org or Souk <souk@example.org>"),
  ),
};

type Values = z.infer<z.ZodObject<typeof signInEnvironment>>;

/** Which variables of a provider are missing although others are set; none when all or none are. */
const missing = (group: Record<string, string | undefined>): string[] => {
  const unset = Object.keys(group).filter((name) => group[name] === undefined);
  return unset.length === Object.keys(group).length ? [] : unset;
};

/** A private key in PEM. Many platforms keep variables on one line, with \\n for a new one. */
const readKey = (pem: string): KeyObject | null => {
  try {
    const key = createPrivateKey(pem.replaceAll("\\n", "\n"));
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : null;
  } catch {
    return null;
  }
};

/** The settings, or a line for each variable that is missing or cannot be used. */
export const readSignInSettings = (values: Values): SignInSettings | { errors: string[] } => {
  const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, SMTP_URL, MAIL_FROM } = values;
  const { APPLE_CLIENT_ID, APPLE_TEAM_ID, APPLE_KEY_ID, APPLE_PRIVATE_KEY } = values;
  const errors = [
    { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET },
    { APPLE_CLIENT_ID, APPLE_TEAM_ID, APPLE_KEY_ID, APPLE_PRIVATE_KEY },
    { SMTP_URL, MAIL_FROM },
  ].flatMap((group) => missing(group).map((name) => `${name}: is needed beside ${othersOf(group, name)}`));
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
  };
};

const othersOf = (group: Record<string, string | undefined>, name: string): string =>
  Object.keys(group)
    .filter((other) => other !== name && group[other] !== undefined)
    .join(", ");
