import type { Request } from "express";
import type { Answer } from "../base/problem.ts";

/**
 * Pages of other sites (CORS). Agents run in browsers, too, and so do inspectors of MCP. Their pages may call what
 * programs call, from any origin, with a token. Browsers give them nothing that comes with a cookie, because we never
 * send Access-Control-Allow-Credentials. The pages for people and moderators are for no other site.
 */

/** The open paths with their methods. The table of endpoints knows the methods of its own paths better. */
const OPEN: readonly [path: RegExp, methods: string][] = [
  [/^\/v1(\/|$)/, "DELETE, GET, HEAD, PATCH, POST"],
  [/^\/mcp\/?$/, "POST"],
  // Not /oauth/authorize, which is for the browser of a person.
  [/^\/oauth\/(token|revoke|register)$/, "POST"],
  [/^\/(llms\.txt\/?$|\.well-known\/)/, "GET, HEAD"],
];

/** Returns the methods of a path that pages of other sites may call; undefined for other paths. */
const openMethods = (path: string): string | undefined => OPEN.find(([open]) => open.test(path))?.[1];

/** Whether a path is for programs alone, so that a refusal there is a problem document whatever the client accepts. */
export const isForPrograms = (path: string): boolean => openMethods(path) !== undefined;

/** The headers of an answer that scripts may read, besides those that they always may. */
const EXPOSED = [
  "Request-Id",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Retry-After",
  "Idempotency-Replayed",
  "WWW-Authenticate",
  "ETag",
  "Allow",
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
];

/** The headers that scripts may send. `*` is for whatever else a library adds; it never stands for Authorization. */
const ACCEPTED = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-None-Match",
  "Last-Event-ID",
  "Mcp-Method",
  "Mcp-Name",
  "MCP-Protocol-Version",
  "Mcp-Session-Id",
  "*",
];

const SHARED: readonly string[] = [
  "Access-Control-Allow-Origin",
  "*",
  "Access-Control-Expose-Headers",
  EXPOSED.join(", "),
];

/**
 * Returns the headers by which a page of another site may read the answer to a request: names, each followed by its value.
 * They do not depend on the origin, so that caches need not tell answers apart.
 */
export const sharedHeaders = ({ path }: Request): readonly string[] => (openMethods(path) === undefined ? [] : SHARED);

/**
 * Returns the answer to the question of a browser whether a page may make a call (preflight); null for any other request.
 * @param methods those of the path, if the caller knows them
 */
export const preflightAnswer = ({ method, headers, path }: Request, methods = openMethods(path)): Answer | null =>
  method !== "OPTIONS" || headers.origin === undefined || openMethods(path) === undefined
    ? null
    : {
        status: 204,
        headers: {
          "Access-Control-Allow-Methods": String(methods),
          "Access-Control-Allow-Headers": ACCEPTED.join(", "),
          // A day, of which browsers take as much as they allow.
          "Access-Control-Max-Age": 86_400,
        },
        body: null,
      };
