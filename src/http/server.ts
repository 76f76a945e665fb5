import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type express from "express";
import { EXPECTS_CONTINUE } from "./body.ts";
import { PROBLEMS, type ProblemCode } from "./problem.ts";

/** A client that sends headers this slowly is not a client. */
const HEADERS_TIMEOUT_MS = 10_000;
/** The largest body, 1 MB, at the speed of a bad phone. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than load balancers keep idle connections (60 s), so that they close first. */
const KEEP_ALIVE_MS = 65_000;
/** Nothing is written to or read from a socket for this long: a reader that does not read. */
const SOCKET_TIMEOUT_MS = 90_000;
const MAX_CONNECTIONS = 10_000;
/** Load balancers look at /readyz about every second: they stop sending before the socket closes. */
const DRAIN_MS = 1_000;

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

/** A server that listens. */
export type HttpServer = {
  /** The address it listens on, as a URL without a trailing slash. */
  url: string;
  /** Stops accepting, lets requests in flight finish, and resolves when all are answered or `graceMs` have passed. */
  close(graceMs: number): Promise<void>;
};

const LIMITS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: 1_000,
  socketTimeout: SOCKET_TIMEOUT_MS,
};

/**
 * Serves an application with limits on slow senders and readers, and a Problem for what is not HTTP.
 * @param options.baseUrl where the page is that explains errors
 * @param options.limits shorter ones, for tests
 */
export const serve = async (
  app: express.Express,
  port: number,
  host: string,
  options: { baseUrl: () => string; limits?: Partial<typeof LIMITS> },
): Promise<HttpServer> => {
  const { socketTimeout, ...limits } = { ...LIMITS, ...options.limits };
  // The application refuses a request without a host, in the form of all refusals.
  const server: Server = createServer({ ...limits, requireHostHeader: false }, app);
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = socketTimeout;
  server.on("checkContinue", (request, response) => {
    Object.assign(request, { [EXPECTS_CONTINUE]: true });
    app(request, response);
  });
  // An expectation that nobody knows may be passed over, and then it is answered like any other request.
  server.on("checkExpectation", (request, response) => app(request, response));
  server.on("clientError", (error: Error & { code?: string }, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
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
    socket.end(`HTTP/1.1 ${status}\r\n${headers.join("\r\n")}\r\n\r\n${body}`);
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
      await sleep(DRAIN_MS);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const idle = setInterval(() => server.closeIdleConnections(), 100);
      await Promise.race([closed, sleep(graceMs, undefined, { ref: false })]);
      clearInterval(idle);
      server.closeAllConnections();
    },
  };
};
