import type { Request, Response } from "express";
import { readCookie, SESSION_COOKIE, setCookie } from "../base/cookies.ts";
import { problem } from "../base/problem.ts";
import { hashSecret } from "../base/tokens.ts";
import type { Actor } from "../database/database.ts";
import { renewFormSecret } from "../web/csrf.ts";

/** The browser's session: a cookie with a secret. The database stores the hash of the secret. */

/**
 * The longest time for which browsers keep a cookie, and for which a session lasts after its last use
 * (internal.session_end). The database ends most sessions earlier.
 */
const SESSION_SECONDS = 400 * 24 * 60 * 60;

/** The hash of this browser's session secret; null when it has none. The session may have ended in the database. */
export const sessionHash = (request: Request, baseUrl: string): Buffer | null => {
  const secret = readCookie(request, baseUrl, SESSION_COOKIE);
  return secret === null ? null : hashSecret(secret);
};

/**
 * The person at this browser, as the actor of a call to the database.
 * @throws Problem unauthorized when the browser has no session cookie
 */
export const personOf = (request: Request, baseUrl: string): Actor => {
  const person = sessionHash(request, baseUrl);
  if (person === null) throw problem("unauthorized", "You are not signed in.");
  return { person };
};

/** Gives this browser the secret of a session that the database has just created. */
export const giveSession = (response: Response, baseUrl: string, secret: string): void =>
  setCookie(response, baseUrl, SESSION_COOKIE, secret, SESSION_SECONDS);

/** Makes the browser keep the secret of its live session for as long as after a new one, because it was just used. */
export const keepSession = (request: Request, response: Response, baseUrl: string): void => {
  const secret = readCookie(request, baseUrl, SESSION_COOKIE);
  if (secret !== null) giveSession(response, baseUrl, secret);
};

/** Deletes this browser's session cookie, and renews the secret of its forms. */
export const clearSession = (response: Response, baseUrl: string): void => {
  setCookie(response, baseUrl, SESSION_COOKIE, "", 0);
  renewFormSecret(response, baseUrl);
};
