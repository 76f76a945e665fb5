import { createHash, randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import express, { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import helmet from "helmet";
import { onBehalfOf } from "../database/request_id.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { metricsHandler } from "../metrics/serve.ts";
import { pages } from "../pages/pages.ts";
import type { SignIn } from "../sign_in/sign_in.ts";
import { hasBody } from "./body.ts";
import type { Context, Endpoint } from "./endpoint.ts";
import { handle } from "./handle.ts";
import { type Answer, problem, problemAnswer, problemOf } from "./problem.ts";

const CACHE = { public: "public, max-age=300", "no-store": "no-store" } as const;

/**
 * After a response, unread bytes of the request's body are discarded for this long. Closing the connection at once
 * could reset it before the client has received the response.
 */
const LINGER_MS = 250;

const requestIdOf = (response: Response): string => String(response.locals["requestId"]);

const send = (request: Request, response: Response, answer: Answer): void => {
  if (response.destroyed) return;
  response.status(answer.status);
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, String(value));
  // If the body was not read to its end, no further request can follow on the connection, so close it. The condition is
  // readableEnded (the body was read) and not complete (its bytes have arrived), because complete depends on timing:
  // the header would reveal how long the response took.
  if (hasBody(request) && !request.readableEnded) {
    response.set("Connection", "close");
    response.once("finish", () => {
      request.resume();
      setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
    });
  }
  if (answer.body === null) response.end();
  else response.end(answer.body);
};

/** Sends a body with its ETag, or 304 if the client already has it. */
const sendCached = (request: Request, response: Response, body: string): void => {
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
  const known = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const headers = { ETag: etag, "Cache-Control": CACHE.public };
  if (known?.includes(etag) || known?.includes("*")) send(request, response, { status: 304, headers, body: null });
  else
    send(request, response, {
      status: 200,
      headers: { ...headers, "Content-Type": "application/json; charset=utf-8" },
      body,
    });
};

/** Handles the requests to one path: the methods in the table, HEAD like GET, and 405 with Allow for all others. */
const routesOf = (context: Context, endpoints: Endpoint[]) => {
  const byMethod = new Map(endpoints.map((endpoint) => [endpoint.method.toUpperCase(), endpoint]));
  const get = byMethod.get("GET");
  if (get) byMethod.set("HEAD", get);
  const allow = [...byMethod.keys()].sort().join(", ");
  return async (request: Request, response: Response): Promise<void> => {
    const endpoint = byMethod.get(request.method);
    if (!endpoint) throw problem("method_not_allowed", `This path has only: ${allow}.`, {}, { Allow: allow });
    response.locals["operation"] = endpoint.operationId;
    const answer = await handle(context, endpoint, request, response);
    if (endpoint.cache === "public" && typeof answer.body === "string") sendCached(request, response, answer.body);
    else
      send(request, response, {
        ...answer,
        headers: { "Cache-Control": CACHE[endpoint.cache ?? "no-store"], ...answer.headers },
      });
  };
};

/**
 * Creates the HTTP application: health checks, the endpoints of the table, the pages, and a 404 problem for other
 * paths. It logs one line for each request, with the operation and never the URL, because the path of a link is a
 * secret.
 */
export const createApp = (
  context: Context,
  options: {
    trustProxy: string[];
    /** Returns "ready" if the process should get traffic, otherwise the reason why not. */
    readiness: () => Promise<string>;
    signIn: SignIn;
    metrics: Metrics;
    metricsToken: string | null;
    admin?: RequestHandler;
  },
): express.Express => {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.set("trust proxy", options.trustProxy.length > 0 ? options.trustProxy : false);

  app.use((request: Request, response: Response, next: NextFunction) => {
    const start = performance.now();
    const requestId = randomUUID();
    response.locals["requestId"] = requestId;
    response.set("Request-Id", requestId);
    response.once("close", () => {
      options.metrics.countRequest(
        response.locals["operation"],
        response.writableFinished ? response.statusCode : 499,
        performance.now() - start,
      );
      context.log.info({
        request_id: requestId,
        method: request.method,
        operation: response.locals["operation"] ?? null,
        status: response.writableFinished ? response.statusCode : 499,
        ms: Math.round((performance.now() - start) * 10) / 10,
      });
      // A page that fails shows the error to the person itself, so only the log line is missing.
      const thrown: unknown = response.locals["thrown"];
      if (thrown) context.log.error({ err: thrown, request_id: requestId }, "a page failed");
    });
    onBehalfOf(requestId, next);
  });
  app.use((request: Request, _response: Response, next: NextFunction) => {
    if (request.httpVersion === "1.1" && request.headers.host === undefined)
      throw problem("bad_request", "The request names no host. Send the header Host.");
    next();
  });
  app.get("/healthz", (_request, response) => void response.set("Cache-Control", "no-store").json({ status: "ok" }));
  app.get("/readyz", async (_request, response) => {
    const state = await options.readiness();
    response.set("Cache-Control", "no-store").status(state === "ready" ? 200 : 503);
    if (state !== "ready") response.set("Retry-After", "2");
    response.json({ status: state });
  });

  if (options.metricsToken !== null) app.get("/metrics", metricsHandler(options.metrics, options.metricsToken));

  app.use(
    helmet({
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
    }),
  );
  for (const [path, endpoints] of Map.groupBy(context.endpoints, (endpoint) => endpoint.path)) {
    app.all(path.replaceAll(/\{(\w+)\}/g, ":$1"), routesOf(context, endpoints));
  }
  app.use(pages({ database: context.database, baseUrl: context.baseUrl, signIn: options.signIn }));

  if (options.admin) app.use(options.admin);

  app.use(() => {
    throw problem("not_found", "There is nothing at this address. GET /v1 lists what there is.");
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const requestId = requestIdOf(response);
    // Express and its router throw errors with a status for URLs that cannot be decoded.
    const malformed =
      error instanceof URIError || (error instanceof Error && "status" in error && error.status === 400);
    const failure = malformed
      ? problem("bad_request", "The address cannot be decoded. Check its percent-encoding.")
      : problemOf(error);
    if (failure.code === "internal_error") context.log.error({ err: error, request_id: requestId }, "a request failed");
    else if (failure.code === "service_unavailable")
      context.log.warn({ err: error, request_id: requestId }, "unavailable");
    if (response.headersSent) response.destroy();
    else send(request, response, problemAnswer(failure, requestId, context.baseUrl()));
  });
  return app;
};
