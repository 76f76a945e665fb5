import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import express, { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import type { Context } from "./api/endpoint.ts";
import { routes } from "./api/routes.ts";
import { createMcp } from "./assistants/mcp/mcp.ts";
import type { CheckAssertion } from "./assistants/oauth/client_assertion.ts";
import type { FindDocument } from "./assistants/oauth/client_document.ts";
import { oauth } from "./assistants/oauth/router.ts";
import { isForeignHost } from "./base/address.ts";
import { logFailure } from "./base/log.ts";
import { type Problem, problem, problemAnswer, problemOf } from "./base/problem.ts";
import { currentRequest, onBehalfOf } from "./base/request.ts";
import { startSpan } from "./base/tracing/tracing.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { metricsHandler } from "./metrics/serve.ts";
import { isBrowser, sendErrorPage } from "./pages/frame.ts";
import { pages } from "./pages/pages.ts";
import type { SignIn } from "./sign_in/sign_in.ts";
import { entrance, goneFrom } from "./web/admission.ts";
import { isForPrograms } from "./web/cors.ts";
import { warnOfProxy } from "./web/forwarding.ts";
import { excessOfParameters } from "./web/parameters.ts";
import { requestIdOf, send, setCommonHeaders } from "./web/send.ts";
import { asksForTiming, tellTiming } from "./web/server_timing.ts";

/**
 * Returns why a request is refused at once: its header Host is missing, repeated or foreign, or its query has too many
 * parameters. Undefined if it is not refused.
 */
const refusalOf = ({ httpVersion, headers, rawHeaders, url }: Request, baseUrl: string): Problem | undefined => {
  const hosts = rawHeaders.filter(
    (name, i) => i % 2 === 0 && name.length === 4 && name.toLowerCase() === "host",
  ).length;
  if (hosts === 0 && httpVersion === "1.1")
    return problem("bad_request", "The request names no host. Send the header Host.");
  // Node takes the first one. A proxy may take the last one (RFC 9112, section 3.2).
  if (hosts > 1) return problem("bad_request", "The request names several hosts. Send the header Host once.");
  if (hosts === 1 && isForeignHost(headers.host ?? "", baseUrl)) {
    return problem(
      "bad_request",
      `This service is for its own machine. Use its address as it is: ${baseUrl}. To serve others, its operator sets BASE_URL.`,
    );
  }
  const query = url.indexOf("?");
  return query < 0 ? undefined : excessOfParameters(url.slice(query + 1));
};

const isMcp = (path: string): boolean => /^\/mcp\/?$/.test(path);

/**
 * Creates the HTTP application: health checks, the endpoints of the table, the pages, and a 404 problem for other
 * paths. It logs one line for each request, with the operation and never the URL, because the path of a link is a
 * secret.
 */
export const createApp = (
  context: Context,
  options: {
    trustProxy: string[];
    /** The variables among BASE_URL and TRUST_PROXY that are not set. */
    unset: string[];
    /** Returns "ready" if the process should get traffic, otherwise the reason why not. */
    readiness: () => Promise<string>;
    signIn: SignIn;
    findDocument: FindDocument;
    checkAssertion: CheckAssertion;
    metrics: Metrics;
    metricsToken: string | null;
    /** Whether callers who ask learn where their request's time went. */
    serverTiming: boolean;
    admin?: RequestHandler;
  },
): express.Express => {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.set("trust proxy", options.trustProxy.length > 0 ? options.trustProxy : false);

  const lookForProxy = warnOfProxy(context.log, options.unset);
  app.use((request: Request, response: Response, next: NextFunction) => {
    const start = performance.now();
    lookForProxy(request.headers);
    const requestId = randomUUID();
    response.locals["requestId"] = requestId;
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
      // An MCP client gets a refusal with the status 200. The endpoint's own status counts.
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
    const refusal = refusalOf(request, context.baseUrl());
    onBehalfOf({ id: requestId, arrivedAt: start, gone: goneFrom(response), span, parts }, () => next(refusal));
  });

  const fail = (error: unknown, request: Request, response: Response): void => {
    const requestId = requestIdOf(response);
    // Express and its router throw errors with a status for URLs that cannot be decoded.
    const malformed =
      error instanceof URIError || (error instanceof Error && "status" in error && error.status === 400);
    const failure = malformed
      ? problem("bad_request", "The address cannot be decoded. Check its percent-encoding.")
      : problemOf(error);
    logFailure(context.log, failure, error, requestId, response.destroyed);
    if (response.headersSent) response.destroy();
    // A person who is told to add /mcp to an assistant may open it.
    else if (isBrowser(request) && ((request.method === "GET" && isMcp(request.path)) || !isForPrograms(request.path)))
      sendErrorPage(request, response, context.baseUrl(), failure);
    else send(request, response, problemAnswer(failure, requestId, context.baseUrl()));
  };
  const enter = entrance(context.database.callers, context.baseUrl);
  app.use(routes(context, { enter, fail, others: { "/mcp": createMcp(context) } }));

  app.use((request, response, next) => {
    setCommonHeaders(request, response);
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

  app.use(async (request, _response, next) => {
    await enter(request);
    next(currentRequest()?.refusal);
  });
  app.use(oauth({ ...context, findDocument: options.findDocument, checkAssertion: options.checkAssertion }));
  const { database, baseUrl, endpoints, withoutOrders } = context;
  app.use(pages({ database, baseUrl, endpoints, withoutOrders, signIn: options.signIn }));

  if (options.admin) app.use(options.admin);

  app.use((request: Request) => {
    const hint = isBrowser(request) ? "" : " GET /v1 lists what there is.";
    throw problem("not_found", `There is nothing at this address.${hint}`);
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    fail(error, request, response),
  );
  return app;
};
