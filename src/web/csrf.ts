import { createHmac, timingSafeEqual } from "node:crypto";
import type { Request, Response } from "express";
import { isFromOwnPage, readCookie, setCookie } from "../base/cookies.ts";
import { problem } from "../base/problem.ts";
import { newSecret } from "../base/tokens.ts";

/**
 * Protection against forged requests (CSRF). A form counts only if it has the token that we gave this browser for this
 * page, and if the browser's headers say that our own page sent it. This stops other sites, and agents that post the
 * form directly. A program that imitates a browser completely passes.
 */

/** A request is refused before its body is read, so its connection cannot be used again. */
const CLOSE = { Connection: "close" } as const;

const FORGERY_COOKIE = "souk_csrf";

const tokenFor = (secret: string, path: string, shown: string): string =>
  shown === ""
    ? createHmac("sha256", secret).update(path).digest("base64url")
    : `${createHmac("sha256", secret).update(`${path} ${shown}`).digest("base64url")}.${shown}`;

/** Returns what the page showed that gave a form its token: what giveFormToken was told; "" if that was nothing. */
export const shownWith = (token: string): string => /\.(.*)$/s.exec(token)?.[1] ?? "";

/**
 * Returns the token for the form at a path in this browser. Sets the browser's cookie when it has none.
 * @param shown what the answer to the form depends on and the page shows, which then cannot be left out of the form
 */
export const giveFormToken = (
  request: Request,
  response: Response,
  baseUrl: string,
  path: string,
  shown = "",
): string => {
  const cookie = readCookie(request, baseUrl, FORGERY_COOKIE);
  if (cookie !== null) return tokenFor(cookie, path, shown);
  // All forms of a page need the same cookie.
  const renewed: unknown = response.locals["formSecret"];
  if (typeof renewed === "string") return tokenFor(renewed, path, shown);
  const secret = newSecret();
  response.locals["formSecret"] = secret;
  setCookie(response, baseUrl, FORGERY_COOKIE, secret);
  return tokenFor(secret, path, shown);
};

/**
 * Gives the browser a new cookie after a sign-in or sign-out, so that tokens made for one person's forms do not work
 * for the next person.
 */
export const renewFormSecret = (response: Response, baseUrl: string): void =>
  setCookie(response, baseUrl, FORGERY_COOKIE, newSecret());

/** Whether we gave this browser this token for the form at this path. */
export const isFormToken = (request: Request, baseUrl: string, path: string, token: string): boolean => {
  const secret = readCookie(request, baseUrl, FORGERY_COOKIE);
  if (secret === null) return false;
  const expected = Buffer.from(tokenFor(secret, path, shownWith(token)));
  const actual = Buffer.from(token);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
};

/**
 * A secret derived from this browser's cookie and a purpose: the same each time, and different in any other browser.
 * Null when the browser has no cookie; one that got a form of ours has it.
 */
export const browserSecret = (request: Request, baseUrl: string, purpose: string): string | null => {
  const secret = readCookie(request, baseUrl, FORGERY_COOKIE);
  return secret === null ? null : createHmac("sha256", secret).update(purpose).digest("base64url");
};

/**
 * Refuses requests with a token. A person's browser sends none.
 * @throws Problem when the request has an Authorization header
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
 * Refuses forms that our own page did not send.
 * @throws Problem when the browser's headers name another sender, or none
 */
export const checkSender = (request: Request, baseUrl: string): void => {
  if (!isFromOwnPage(request, baseUrl)) {
    throw problem("bad_request", "This answer did not come from our own page, so it does not count.", {}, CLOSE);
  }
};
