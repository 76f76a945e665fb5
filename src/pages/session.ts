import type { Request, Response } from "express";
import type { Actor } from "../database/database.ts";
import { readCookie, SESSION_COOKIE, setCookie } from "../http/cookies.ts";
import { problem } from "../http/problem.ts";
import { hashSecret } from "../http/tokens.ts";
import { renewFormSecret } from "./forgery.ts";

/** The browser's session: a cookie that holds a secret, of which the database knows the hash. */

/** Thirty days, as market.session keeps it. */
const SESSION_SECONDS = 30 * 24 * 60 * 60;

/** The hash of this browser's session secret, or null when it has none. Whether it still counts, the database knows. */
export const sessionHash = (request: Request, baseUrl: string): Buffer | null => {
  const secret = readCookie(request, baseUrl, SESSION_COOKIE);
  return secret === null ? null : hashSecret(secret);
};

/**
 * The person at this browser, as the actor of a call.
 * @throws Problem unauthorized when the browser has no session.
 */
export const personOf = (request: Request, baseUrl: string): Actor => {
  const person = sessionHash(request, baseUrl);
  if (person === null) throw problem("unauthorized", "You are not signed in.");
  return { person };
};

/** Signs this browser in with a session that the database has just made for the secret. */
export const giveSession = (response: Response, baseUrl: string, secret: string): void =>
  setCookie(response, baseUrl, SESSION_COOKIE, secret, SESSION_SECONDS);

/** Makes this browser forget its session. */
export const clearSession = (response: Response, baseUrl: string): void => {
  setCookie(response, baseUrl, SESSION_COOKIE, "", 0);
  renewFormSecret(response, baseUrl);
};
