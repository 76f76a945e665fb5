import { performance } from "node:perf_hooks";
import type { Request, Response } from "express";
import { PARTS, type PartName, type Parts } from "../base/tracing/span.ts";
import { credentialOf } from "./authenticate.ts";

/**
 * Server-Timing: where a request's time went. It is sent if the operator has switched it on, and only to clients that
 * ask by `Prefer: server-timing` (RFC 7240).
 *
 * A time without network noise can reveal what an answer hides: whether something exists. So it is sent only
 * - to an agent or a person that the database knows,
 * - with a success, because refusals look the same whether or not a thing exists,
 * - with a page only if it was asked for by GET: what a form does may depend on accounts of others,
 * - and never with an answer that caches may give to others.
 */

/** Whether the client prefers to get the header. */
export const asksForTiming = (request: Request): boolean =>
  String(request.headers["prefer"] ?? "")
    .split(",")
    .some((preference) => preference.split(";")[0]?.trim().toLowerCase() === "server-timing");

/** Adds the header to a response when its head is written. */
export const tellTiming = (
  request: Request,
  response: Response,
  options: { parts: Parts; start: number; isKnown: (hash: Buffer) => boolean; baseUrl: () => string },
): void => {
  const mayTell = (status: number, cacheControl: string): boolean => {
    if (status < 200 || status > 299) return false;
    if (request.method !== "GET" && request.method !== "HEAD" && response.locals["endpoint"] !== true) return false;
    if (cacheControl.startsWith("public")) return false;
    const credential = credentialOf(request, options.baseUrl());
    return credential !== null && options.isKnown(credential.hash);
  };
  const write = response.writeHead;
  // Headers come as a list of names and values, or were set before.
  response.writeHead = ((status: number, headers: string[] = []) => {
    const place = headers.indexOf("Cache-Control");
    if (mayTell(status, String(place < 0 ? response.getHeader("Cache-Control") : headers[place + 1]))) {
      const entries = (Object.keys(PARTS) as PartName[]).flatMap((part) => {
        const time = options.parts[part];
        return time === undefined ? [] : [`${part};dur=${time.toFixed(1)};desc="${PARTS[part]}"`];
      });
      entries.push(`total;dur=${(performance.now() - options.start).toFixed(1)}`);
      response.setHeader("Server-Timing", entries.join(", "));
    }
    return write.call(response, status, headers);
  }) as Response["writeHead"];
};
