import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { hashSecret } from "../http/tokens.ts";
import type { Metrics } from "./metrics.ts";

/** A reader that is slower than this is none: Prometheus asks again in seconds. */
const REQUEST_TIMEOUT_MS = 10_000;

/** By hashes, so that neither the length nor the first wrong character can be measured. */
const isShown = (header: string | undefined, token: string): boolean => {
  const [scheme, shown] = (header ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && timingSafeEqual(hashSecret(shown ?? ""), hashSecret(token));
};

const say = (response: ServerResponse, status: number, type: string, body: string): void => {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" });
  response.end(body);
};

/** Answers GET /metrics, for whoever shows the token; with null for everybody. */
export const metricsHandler =
  (metrics: Metrics, token: string | null) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (token !== null && !isShown(request.headers.authorization, token)) {
      response.setHeader("WWW-Authenticate", "Bearer");
      say(
        response,
        401,
        "text/plain; charset=utf-8",
        "Send the header Authorization: Bearer with the METRICS_TOKEN.\n",
      );
      return;
    }
    say(response, 200, metrics.contentType, await metrics.text());
  };

/**
 * Serves /metrics on a port of its own, apart from the traffic that it tells of.
 * @throws when the port cannot be listened on
 */
export const serveMetrics = async (
  metrics: Metrics,
  port: number,
  host: string,
  token: string | null,
): Promise<{ close(): Promise<void> }> => {
  const handle = metricsHandler(metrics, token);
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const isMetrics = request.method === "GET" && request.url?.split("?")[0] === "/metrics";
    if (!isMetrics) return say(response, 404, "text/plain; charset=utf-8", "There is only GET /metrics here.\n");
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
