import type { Request, Response } from "express";
import helmet from "helmet";
import type { Answer } from "../base/problem.ts";
import { hasBody } from "./body.ts";
import { sharedHeaders } from "./cors.ts";

const protect = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: "same-origin" },
  // A proxy that terminates TLS sends this header.
  strictTransportSecurity: false,
  xFrameOptions: { action: "deny" },
  referrerPolicy: { policy: "no-referrer" },
  // These headers protect documents with scripts. Pages set them themselves; API responses do not need them.
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
});

/**
 * The headers that protect a response: names, each followed by its value. They are always the same, so they are made
 * once.
 */
const PROTECTION: readonly string[] = (() => {
  const lines: string[] = [];
  const recorder = {
    setHeader: (name: string, value: string) => lines.push(name, value),
    removeHeader: () => undefined,
  };
  protect({} as Request, recorder as unknown as Response, () => undefined);
  return lines;
})();

/** The id of the request that belongs to a response. */
export const requestIdOf = (response: Response): string => String(response.locals["requestId"]);

/** The headers that every response has: names, each followed by its value. */
const commonHeaders = (request: Request, response: Response): string[] => [
  "Request-Id",
  requestIdOf(response),
  ...PROTECTION,
  ...sharedHeaders(request),
];

/** Sets the headers that every response has, for code that sends without `send`. */
export const setCommonHeaders = (request: Request, response: Response): void => {
  const lines = commonHeaders(request, response);
  for (let i = 0; i < lines.length; i += 2) response.setHeader(lines[i] ?? "", lines[i + 1] ?? "");
};

/** Sends a response whose headers are known, in one write. */
export const send = (request: Request, response: Response, { status, headers, body }: Answer): void => {
  if (response.destroyed) return;
  const lines = response.hasHeader("Request-Id") ? [] : commonHeaders(request, response);
  for (const name in headers) lines.push(name, String(headers[name]));
  // Node would send a body of unknown length in chunks, because the head is written before the body is given.
  if (body !== null) lines.push("Content-Length", String(Buffer.byteLength(body)));
  else if (status !== 204 && status !== 304) lines.push("Content-Length", "0");
  // If the body was not read to its end, no further request can follow on the connection, so close it. The condition is
  // readableEnded (the body was read) and not complete (its bytes have arrived), because complete depends on timing:
  // the header would reveal how long the response took. What still arrives is discarded (connections.ts).
  if (hasBody(request) && !request.readableEnded) {
    // Some Problems have it, because pages are sent without this function.
    if (headers["Connection"] === undefined) lines.push("Connection", "close");
  }
  response.writeHead(status, lines);
  response.end(body);
};
