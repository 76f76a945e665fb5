import { createHmac, timingSafeEqual } from "node:crypto";
import { parseCookie, stringifySetCookie } from "cookie";
import type { Request, Response } from "express";
import { refuse } from "../problem.ts";
import { newSecret } from "../tokens.ts";

/**
 * What tells an answer that a person gave on our page from one that another site or the agent itself sent: a token that
 * only this browser was given for this page, and what the browser says about where the form was.
 */

/** Refused before the body is read, so the connection cannot be used again. */
const CLOSE = { Connection: "close" } as const;

/** A secret as newSecret makes it; anything else in our cookie was not put there by us. */
const SECRET_FORM = /^[\w-]{43}$/;

const overHttps = (baseUrl: string): boolean => baseUrl.startsWith("https:");

/** `__Host-` keeps subdomains and plain HTTP from setting the cookie; browsers want HTTPS for it. */
const cookieName = (baseUrl: string, name: string): string => (overHttps(baseUrl) ? `__Host-${name}` : name);

/** A cookie of ours, or null when the browser did not send it or it has another form than we give it. */
export const readCookie = (request: Request, baseUrl: string, name: string, form = SECRET_FORM): string | null => {
  const value = parseCookie(request.headers.cookie ?? "")[cookieName(baseUrl, name)];
  return value !== undefined && form.test(value) ? value : null;
};

/** Sets a cookie that scripts and other sites cannot read. `maxAge` in seconds; without it, until the browser closes. */
export const setCookie = (response: Response, baseUrl: string, name: string, value: string, maxAge?: number): void => {
  const cookie = stringifySetCookie({
    name: cookieName(baseUrl, name),
    value,
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure: overHttps(baseUrl),
    ...(maxAge === undefined ? {} : { maxAge }),
  });
  response.append("Set-Cookie", cookie);
};

const FORGERY_COOKIE = "souk_csrf";

const tokenFor = (secret: string, path: string): string =>
  createHmac("sha256", secret).update(path).digest("base64url");

/** The token for the form at a path, in this browser. Gives the browser its cookie when it has none. */
export const giveFormToken = (request: Request, response: Response, baseUrl: string, path: string): string => {
  let secret = readCookie(request, baseUrl, FORGERY_COOKIE);
  if (secret === null) {
    secret = newSecret();
    setCookie(response, baseUrl, FORGERY_COOKIE, secret);
  }
  return tokenFor(secret, path);
};

/** Whether this browser was given this token for the form at this path. */
export const isFormToken = (request: Request, baseUrl: string, path: string, token: string): boolean => {
  const secret = readCookie(request, baseUrl, FORGERY_COOKIE);
  if (secret === null) return false;
  const expected = Buffer.from(tokenFor(secret, path));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
};

/** What an Origin header may say. "null" is what browsers send that were told to hide where they are. */
const isOwnOrigin = (origin: string | undefined, site: string | undefined, baseUrl: string): boolean => {
  if (origin === undefined) return site === "same-origin";
  if (origin === "null") return site === "same-origin";
  return origin === new URL(baseUrl).origin;
};

/**
 * Lets only a person's browser answer, from our own page.
 * @throws Refusal when the request carries a token of an agent, or comes from elsewhere.
 */
export const checkSender = (request: Request, baseUrl: string): void => {
  if (request.get("Authorization") !== undefined) {
    throw refuse(
      "bad_request",
      "Only a person can answer here, in a browser. A request that carries a token is refused: an agent cannot approve itself.",
      {},
      CLOSE,
    );
  }
  const site = request.get("Sec-Fetch-Site");
  const isOwnSite = site === undefined || site === "same-origin" || site === "none";
  if (!isOwnSite || !isOwnOrigin(request.get("Origin"), site, baseUrl)) {
    throw refuse("bad_request", "This answer did not come from our own page, so it does not count.", {}, CLOSE);
  }
};
