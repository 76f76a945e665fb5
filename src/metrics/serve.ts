import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isForeignHost } from "../base/address.ts";
import { hashSecret } from "../base/tokens.ts";
import type { Metrics } from "./metrics.ts";

/** Prometheus sends its request at once and repeats it within seconds, so the server need not wait for slow clients. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Compares hashes, so that response times reveal neither the token's length nor its first wrong character. */
const hasToken = (header: string | undefined, token: string): boolean => {
  const [scheme, sent] = (header ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && timingSafeEqual(hashSecret(sent ?? ""), hashSecret(token));
};

const respond = (response: ServerResponse, status: number, type: string, body: string): void => {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" });
  response.end(body);
};

/**
 * Makes the handler of GET /metrics.
 * @param token what a client must send as Bearer token; null when everybody may read the metrics
 */
export const metricsHandler =
  (metrics: Pick<Metrics, "text" | "contentType">, token: string | null) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (token !== null && !hasToken(request.headers.authorization, token)) {
      response.setHeader("WWW-Authenticate", "Bearer");
      respond(
        response,
        401,
        "text/plain; charset=utf-8",
        "Send the header Authorization: Bearer with the METRICS_TOKEN.\n",
      );
      return;
    }
    respond(response, 200, metrics.contentType, await metrics.text());
  };

/**
 * Serves /metrics on a port of its own, separate from the measured traffic.
 * @param token as for metricsHandler
 * @throws when the process cannot listen on the port
 */
export const serveMetrics = async (
  metrics: Pick<Metrics, "text" | "contentType">,
  port: number,
  host: string,
  token: string | null,
): Promise<{ close(): Promise<void> }> => {
  const handle = metricsHandler(metrics, token);
  const own = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    if (isForeignHost(request.headers.host ?? "", own))
      return respond(response, 400, "text/plain; charset=utf-8", `Use the address as it is: ${own}/metrics\n`);
    const isMetrics = request.method === "GET" && request.url?.split("?")[0] === "/metrics";
    if (!isMetrics) return respond(response, 404, "text/plain; charset=utf-8", "There is only GET /metrics here.\n");
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
  return {
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
};
