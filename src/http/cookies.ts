import { parseCookie, stringifySetCookie } from "cookie";
import type { Request, Response } from "express";

/** What a person's browser brings along: our cookies, and word of the page that made the request. */

/** A secret as newSecret makes it; anything else in our cookie was not put there by us. */
const SECRET_FORM = /^[\w-]{43}$/;

/** Holds the session of a person. */
export const SESSION_COOKIE = "souk_session";

const overHttps = (baseUrl: string): boolean => baseUrl.startsWith("https:");

/** The name a cookie goes by: `__Host-` keeps subdomains and plain HTTP from setting it; browsers want HTTPS for that. */
export const cookieName = (baseUrl: string, name: string): string => (overHttps(baseUrl) ? `__Host-${name}` : name);

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

/** Whether the browser says that a request was made by a page of ours. A program that is no browser can say so, too. */
export const isFromOwnPage = (request: Request, baseUrl: string): boolean => {
  const origin = request.get("Origin");
  const site = request.get("Sec-Fetch-Site");
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  // "null" is what browsers send that were told to hide where they are.
  if (origin === undefined || origin === "null") return site === "same-origin";
  return origin === new URL(baseUrl).origin;
};
