import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import { type Answer, type PROBLEMS, problem, problemAnswer, problemOf } from "../../base/problem.ts";
import { servePages } from "../../pages/frame.ts";
import { requestIdOf, send } from "../../web/send.ts";
import { authorizePage, type OAuthContext } from "./authorize.ts";
import { type Endpoint, registerEndpoint, revokeEndpoint, tokenEndpoint } from "./endpoints.ts";
import { discoveryDocument } from "./metadata.ts";

/**
 * The authorization server: OAuth 2.1 for public clients. Its rules are in db/schema/api/oauth.sql. The person decides on
 * the approval page (src/pages/approval.ts).
 */

/** Short enough for a changed document, and long enough that connecting clients do not ask again and again. */
const DOCUMENT_CACHE = "public, max-age=300";

const sendJson = (
  request: Request,
  response: Response,
  { status, headers = {}, body }: { status: number; headers?: Answer["headers"]; body: object | null },
): void =>
  send(request, response, {
    status,
    headers: body === null ? headers : { ...headers, "Content-Type": "application/json; charset=utf-8" },
    body: body && JSON.stringify(body),
  });

/** OAuth's names for errors that are not the client's fault. */
const ERRORS: Partial<Record<keyof typeof PROBLEMS, string>> = {
  rate_limited: "temporarily_unavailable",
  service_unavailable: "temporarily_unavailable",
  internal_error: "server_error",
};

/** Answers a client, with an error of OAuth (RFC 6749, section 5.2) that also has the members of a Problem. */
const answering =
  ({ baseUrl }: OAuthContext, endpoint: Endpoint): RequestHandler =>
  async (request, response) => {
    response.set({ "Cache-Control": "no-store", Pragma: "no-cache" });
    try {
      sendJson(request, response, await endpoint(request, response));
    } catch (thrown) {
      const failure = problemOf(thrown);
      const { status, headers, body } = problemAnswer(failure, requestIdOf(response), baseUrl());
      if (status >= 500) response.locals["thrown"] = thrown;
      sendJson(request, response, {
        status,
        headers,
        body: {
          error: ERRORS[failure.code] ?? "invalid_request",
          error_description: failure.detail,
          ...JSON.parse(String(body)),
        },
      });
    }
  };

const refuseOthers =
  ({ baseUrl }: OAuthContext, allowed: string): RequestHandler =>
  (request, response) => {
    const failure = problem("method_not_allowed", `This path has only: ${allowed}.`, {}, { Allow: allowed });
    send(request, response, problemAnswer(failure, requestIdOf(response), baseUrl()));
  };

/** Makes the router of the authorization server. Other paths pass through. */
export const oauth = (context: OAuthContext): Router => {
  const router = express.Router({ caseSensitive: true, strict: true });
  const endpoints: [path: string, operation: string, endpoint: Endpoint][] = [
    ["/oauth/token", "token", tokenEndpoint(context)],
    ["/oauth/revoke", "revokeToken", revokeEndpoint(context)],
    ["/oauth/register", "registerClient", registerEndpoint(context)],
  ];
  for (const [path, operation, endpoint] of endpoints)
    router
      .route(path)
      .all((_request, response, next) => {
        response.locals["operation"] = operation;
        next();
      })
      .post(answering(context, endpoint))
      .all(refuseOthers(context, "POST"));
  router
    .route(/^\/\.well-known\/oauth-(?:protected-resource|authorization-server)(?:\/.*)?$/)
    .all((request, response, next) => {
      response.locals["operation"] = "discovery";
      next(discoveryDocument(context.baseUrl(), request.path) === null ? "route" : undefined);
    })
    .get((request, response) => {
      const body = discoveryDocument(context.baseUrl(), request.path);
      sendJson(request, response, { status: 200, headers: { "Cache-Control": DOCUMENT_CACHE }, body });
    })
    .all(refuseOthers(context, "GET, HEAD"));
  router.use(servePages([authorizePage(context)], context.baseUrl));
  return router;
};
