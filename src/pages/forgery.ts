import { createHmac, timingSafeEqual } from "node:crypto";
import type { Request, Response } from "express";
import { isFromOwnPage, readCookie, setCookie } from "../http/cookies.ts";
import { problem } from "../http/problem.ts";
import { newSecret } from "../http/tokens.ts";

/**
 * What tells an answer that a person gave on our page from one that another site or the agent itself sent: a token that
 * only this browser was given for this page, and what the browser says about where the form was.
 */

/** Refused before the body is read, so the connection cannot be used again. */
const CLOSE = { Connection: "close" } as const;

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

/**
 * Gives the browser another cookie when who is signed in there changes: what was made for one person's forms is worth
 * nothing in the hands of the next.
 */
export const renewFormSecret = (response: Response, baseUrl: string): void =>
  setCookie(response, baseUrl, FORGERY_COOKIE, newSecret());

/** Whether this browser was given this token for the form at this path. */
export const isFormToken = (request: Request, baseUrl: string, path: string, token: string): boolean => {
  const secret = readCookie(request, baseUrl, FORGERY_COOKIE);
  if (secret === null) return false;
  const expected = Buffer.from(tokenFor(secret, path));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
};

/**
 * A secret that this browser gets each time it does the same thing, and no other browser: null when it has no cookie of
 * ours, which no form of ours is without.
 */
export const browserSecret = (request: Request, baseUrl: string, purpose: string): string | null => {
  const secret = readCookie(request, baseUrl, FORGERY_COOKIE);
  return secret === null ? null : createHmac("sha256", secret).update(purpose).digest("base64url");
};

/**
 * Lets only a person's browser in, which sends no token.
 * @throws Problem when the request carries a token of an agent, or any other Authorization.
 */
export const refuseTokens = (request: Request): void => {
  if (request.get("Authorization") !== undefined) {
    throw problem(
      "bad_request",
      "This page is for a person in a browser. A request that carries a token is refused: an agent uses /v1 with it, and cannot approve itself.",
      {},
      CLOSE,
    );
  }
};

/**
 * Lets an answer in only from our own page.
 * @throws Problem when the request comes from elsewhere.
 */
export const checkSender = (request: Request, baseUrl: string): void => {
  if (!isFromOwnPage(request, baseUrl)) {
    throw problem("bad_request", "This answer did not come from our own page, so it does not count.", {}, CLOSE);
  }
};
