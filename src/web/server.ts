import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type express from "express";
import { PROBLEMS, type ProblemCode } from "../base/problem.ts";
import { EXPECTS_CONTINUE } from "./body.ts";
import { shareConnections } from "./connections.ts";

/** A normal client sends its headers in much less time. */
const HEADERS_TIMEOUT_MS = 10_000;
/** A slow phone needs this long to send the largest body (1 MB). */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than load balancers keep idle connections (60 s), so that they and not this server close them. */
const KEEP_ALIVE_MS = 65_000;
/** A socket without any traffic for this long is closed: its client does not read the response. */
const SOCKET_TIMEOUT_MS = 90_000;
/** An idle connection takes a few kilobytes. */
const MAX_CONNECTIONS = 10_000;
/**
 * A hundred of the largest answers, besides the operating system's buffers. Otherwise a caller that never reads could
 * make us hold gigabytes until SOCKET_TIMEOUT_MS is over.
 */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/**
 * Load balancers poll /readyz about every second. After this time they send no more requests, so the port can close. Until
 * then idle connections stay open: a client that uses one is asked to open another.
 */
const DRAIN_MS = 1_000;
/** Clients that were answered just before have made their next connection after this time. */
const HOLD_MS = 50;
/** Requests wait for so long at most while the port closes, however many connections come. */
const HOLD_MOST_MS = 500;

const RAW: Record<string, { status: string; code: ProblemCode; detail: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: "431 Request Header Fields Too Large",
    code: "bad_request",
    detail: "The headers are too large.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: "408 Request Timeout",
    code: "bad_request",
    detail: "The request took too long to arrive.",
  },
};

/** A listening server. */
export type HttpServer = {
  /** The URL at which it listens, without a trailing slash. */
  url: string;
  /**
   * Waits DRAIN_MS, closes the port, and resolves when all requests are answered, after `graceMs` at the latest. From the
   * start on, answers say `Connection: close`.
   */
  close(graceMs: number): Promise<void>;
};

const LIMITS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: 1_000,
  socketTimeout: SOCKET_TIMEOUT_MS,
  maxConnections: MAX_CONNECTIONS,
  maxUnread: MAX_UNREAD_BYTES,
};

/**
 * Serves an application, with timeouts for slow clients, connections that callers share, and a problem document for
 * requests that are not valid HTTP.
 * @param options.baseUrl the base URL of the pages that explain errors
 * @param options.limits shorter timeouts and fewer connections, for tests
 */
export const serve = async (
  app: express.Express,
  port: number,
  host: string,
  options: { baseUrl: () => string; limits?: Partial<typeof LIMITS> },
): Promise<HttpServer> => {
  const { socketTimeout, maxConnections, maxUnread, ...limits } = { ...LIMITS, ...options.limits };
  const { listener, watch, stop, hold, isCarryingOut } = shareConnections(maxConnections, maxUnread, app);
  // The application refuses a request without a host, with a problem document.
  const server: Server = createServer({ ...limits, requireHostHeader: false }, listener);
  watch(server);
  let arrivedAt = 0;
  server.on("connection", () => {
    arrivedAt = performance.now();
  });
  server.timeout = socketTimeout;
  server.on("checkContinue", (request, response) => {
    Object.assign(request, { [EXPECTS_CONTINUE]: true });
    listener(request, response);
  });
  // HTTP allows a server to ignore an unknown expectation, so the request is handled like any other.
  server.on("checkExpectation", listener);
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => {
    // A client would take this refusal for the answer to a request that is under way. Without an answer it knows that
    // the outcome is unknown.
    if (error.code === "ECONNRESET" || !socket.writable || isCarryingOut(socket)) return void socket.destroy();
    const { status, code, detail } = RAW[error.code ?? ""] ?? {
      status: "400 Bad Request",
      code: "bad_request" as const,
      detail: "This is not a well-formed HTTP request.",
    };
    const requestId = randomUUID();
    const body = JSON.stringify({
      type: `${options.baseUrl()}/errors#${code}`,
      title: PROBLEMS[code].title,
      status: Number(status.slice(0, 3)),
      code,
      detail,
      request_id: requestId,
      retryable: false,
    });
    const headers = [
      "Content-Type: application/problem+json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Cache-Control: no-store",
      `Request-Id: ${requestId}`,
      "Connection: close",
    ];
    // The socket is destroyed once the refusal is written. If it stayed open, the rest of a slow request could still
    // arrive and be carried out, although its client got 408. After other errors the parser reads nothing more, so
    // the client gets time to read the refusal.
    const late = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    socket.end(`HTTP/1.1 ${status}\r\n${headers.join("\r\n")}\r\n\r\n${body}`, () => late && socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  const name = address.address === "0.0.0.0" || address.address === "::" ? "localhost" : address.address;
  return {
    url: `http://${name.includes(":") ? `[${name}]` : name}:${address.port}`,
    async close(graceMs) {
      stop();
      await sleep(DRAIN_MS);
      // A port that closes resets the connections that have arrived and are not accepted. So they are accepted first, and
      // requests wait until no further connection comes: a client makes its next one when it was answered.
      const release = hold();
      const latest = performance.now() + HOLD_MOST_MS;
      do {
        await sleep(HOLD_MS);
        await nextTurn();
      } while (performance.now() - arrivedAt < HOLD_MS && performance.now() < latest);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      release();
      // After a turn has read what arrived.
      const idle = setInterval(() => setImmediate(() => server.closeIdleConnections()), 100);
      await Promise.race([closed, sleep(graceMs, undefined, { ref: false })]);
      clearInterval(idle);
      server.closeAllConnections();
    },
  };
};
