import { parseCookie, stringifySetCookie } from "cookie";
import type { Request, Response } from "express";

/** The service's cookies, and the headers in which a browser names the page that made the request. */

/** The form of the secrets that newSecret makes. A cookie with any other value is ignored. */
const SECRET_FORM = /^[\w-]{43}$/;

/** The cookie with the secret of a person's session. */
export const SESSION_COOKIE = "souk_session";

const overHttps = (baseUrl: string): boolean => baseUrl.startsWith("https:");

/** The full name of a cookie. With HTTPS it begins with `__Host-`, so that subdomains and plain HTTP cannot set it. */
export const cookieName = (baseUrl: string, name: string): string => (overHttps(baseUrl) ? `__Host-${name}` : name);

/** Returns the value of one of our cookies; null if the browser did not send it or if the value has another form. */
export const readCookie = (request: Request, baseUrl: string, name: string, form = SECRET_FORM): string | null => {
  const value = parseCookie(request.headers.cookie ?? "")[cookieName(baseUrl, name)];
  return value !== undefined && form.test(value) ? value : null;
};

/** Sets a cookie that scripts and other sites cannot read, for `maxAge` seconds, or until the browser is closed. */
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

/**
 * Returns whether a page of another site made the request in the background, according to the request's headers: as an
 * image, a frame or a script, and not because a person follows a link there.
 */
export const isFromAnotherPage = (request: Request): boolean => {
  const site = request.get("Sec-Fetch-Site");
  const destination = request.get("Sec-Fetch-Dest");
  return (site === "cross-site" || site === "same-site") && destination !== undefined && destination !== "document";
};

/**
 * Returns whether a script of another origin made the request, according to the request's headers. A browser names the
 * origin of a script that reads, unless it is our own.
 */
export const isFromOtherOrigin = (request: Request, baseUrl: string): boolean =>
  isFromAnotherPage(request) || (request.get("Origin") !== undefined && !isFromOwnPage(request, baseUrl));

/**
 * Returns whether a page of this service made the request, according to the request's headers. Browsers set these
 * headers; other programs can forge them.
 */
export const isFromOwnPage = (request: Request, baseUrl: string): boolean => {
  const origin = request.get("Origin");
  const site = request.get("Sec-Fetch-Site");
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  // Browsers send "null" when a page's policy hides its origin.
  if (origin === undefined || origin === "null") return site === "same-origin";
  return origin === new URL(baseUrl).origin;
};
