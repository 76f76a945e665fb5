import { createHash, randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import express, { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import helmet from "helmet";
import { onBehalfOf } from "../database/request.ts";
import { logFailure } from "../log.ts";
import { createMcp } from "../mcp/mcp.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { metricsHandler } from "../metrics/serve.ts";
import type { FindDocument } from "../oauth/client_document.ts";
import { oauth } from "../oauth/router.ts";
import { pages } from "../pages/pages.ts";
import type { SignIn } from "../sign_in/sign_in.ts";
import { startSpan } from "../tracing/tracing.ts";
import { hasBody } from "./body.ts";
import type { Context, Endpoint } from "./endpoint.ts";
import { entrance, goneFrom, refuseAtEntrance } from "./entrance.ts";
import { handle } from "./handle.ts";
import { type Answer, problem, problemAnswer, problemOf } from "./problem.ts";
import { asksForTiming, tellTiming } from "./server_timing.ts";

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

/** Returns a function that makes the ETag of a body, and makes it again only for another body. */
const etags = (): ((body: string) => string) => {
  let last = { body: "", etag: "" };
  return (body) => {
    if (body !== last.body)
      last = { body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"` };
    return last.etag;
  };
};

/** Sends a body with its ETag, or 304 if the client already has it. */
const sendCached = (request: Request, response: Response, body: string, etag: string): void => {
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
  const etagOf = etags();
  return async (request: Request, response: Response): Promise<void> => {
    const endpoint = byMethod.get(request.method);
    if (!endpoint) throw problem("method_not_allowed", `This path has only: ${allow}.`, {}, { Allow: allow });
    response.locals["operation"] = endpoint.operationId;
    response.locals["endpoint"] = true;
    const answer = await handle(context, endpoint, request, response);
    if (endpoint.cache === "public" && typeof answer.body === "string")
      sendCached(request, response, answer.body, etagOf(answer.body));
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
    findDocument: FindDocument;
    metrics: Metrics;
    metricsToken: string | null;
    /** Whether callers who ask for it are told where the time of their request went. */
    serverTiming: boolean;
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
    const timed = options.serverTiming && asksForTiming(request);
    const parts = timed || options.metrics.exposed ? {} : undefined;
    const traceparent = request.headers["traceparent"];
    const span = startSpan(request.method, "server", typeof traceparent === "string" ? traceparent : undefined, {
      "http.request.method": request.method,
      "souk.request_id": requestId,
    });
    if (timed && parts !== undefined) {
      tellTiming(request, response, {
        parts,
        start,
        isKnown: (hash) => context.database.callers.knows(hash),
        baseUrl: context.baseUrl,
      });
    }
    response.once("close", () => {
      // An MCP client gets a refusal with the status 200. What counts is the answer of the endpoint.
      const answered: unknown = response.locals["status"];
      const status = !response.writableFinished ? 499 : typeof answered === "number" ? answered : response.statusCode;
      const operation: unknown = response.locals["operation"];
      const milliseconds = performance.now() - start;
      options.metrics.countRequest(operation, status, milliseconds, parts);
      span?.end({
        name: typeof operation === "string" ? operation : request.method,
        attributes: { "http.response.status_code": status },
        error: status >= 500 ? String(status) : undefined,
      });
      context.log.info({
        request_id: requestId,
        method: request.method,
        operation: operation ?? null,
        status,
        ms: Math.round(milliseconds * 10) / 10,
      });
      // A page that fails shows the error to the person itself, so only the log line is missing.
      const thrown: unknown = response.locals["thrown"];
      if (thrown) context.log.error({ err: thrown, request_id: requestId }, "a page failed");
    });
    onBehalfOf({ id: requestId, gone: goneFrom(response), span, parts }, next);
  });
  app.use((request: Request, _response: Response, next: NextFunction) => {
    if (request.httpVersion === "1.1" && request.headers.host === undefined)
      throw problem("bad_request", "The request names no host. Send the header Host.");
    // Node takes the first one. A proxy may take the last one (RFC 9112, section 3.2).
    if ((request.headersDistinct["host"]?.length ?? 0) > 1)
      throw problem("bad_request", "The request names several hosts. Send the header Host once.");
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

  app.use(entrance(context.database.callers, context.baseUrl));

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
  // Before the endpoints, because the router compares a path with one route after the other.
  const answerMcp = createMcp(context);
  app.all("/mcp", async (request, response) => send(request, response, await answerMcp(request, response)));
  for (const [path, endpoints] of Map.groupBy(context.endpoints, (endpoint) => endpoint.path)) {
    app.all(path.replaceAll(/\{(\w+)\}/g, ":$1"), routesOf(context, endpoints));
  }
  app.use(refuseAtEntrance);
  app.use(oauth({ ...context, findDocument: options.findDocument }));
  const { database, baseUrl, endpoints } = context;
  app.use(pages({ database, baseUrl, endpoints, signIn: options.signIn }));

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
    logFailure(context.log, failure, error, requestId, response.destroyed);
    if (response.headersSent) response.destroy();
    else send(request, response, problemAnswer(failure, requestId, context.baseUrl()));
  });
  return app;
};
