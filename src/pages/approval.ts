import type { Request, Response } from "express";
import { addressOf } from "../base/address.ts";
import { problem, problemOf } from "../base/problem.ts";
import { hashSecret } from "../base/tokens.ts";
import { browserSecret, giveFormToken } from "../web/csrf.ts";
import { placeOf, responseUri, type WayBack } from "../web/redirect.ts";
import type { PagesContext } from "./context.ts";
import { type Page, readAnswer, STALE_FORM, wantsJson } from "./frame.ts";
import { type Connection, renderApproval, renderApproved, renderDeclined, renderReturning } from "./render.ts";
import { giveSession, keepSession, sessionHash } from "./session.ts";

/**
 * The result of api.approve_connection.
 *
 *   new_session   it created a session, which this browser gets
 *   client        where this browser is sent back to, if the agent came by OAuth and its client has no code yet
 */
type Approved = { agent_name: string; new_session: boolean; has_method: boolean; client: WayBack | null };

/** Makes the page behind a connection link, on which a person approves or declines an agent. */
export const approvalPages = ({ database, baseUrl, signIn }: PagesContext): Page[] => {
  const secretOf = (request: Request): string => String(request.params["secret"]);

  /** `notice` says why the page is shown again; null the first time. */
  const show = async (request: Request, response: Response, notice: string | null): Promise<void> => {
    // This only reads, but on the write pool: a replica that lags may not have a link that is seconds old.
    const found = await database.call(
      "visitor",
      "get_connection",
      { secret_hash: hashSecret(secretOf(request)), session_hash: sessionHash(request, baseUrl()) },
      "write",
    );
    const connection = JSON.parse(found) as Connection;
    const token = giveFormToken(request, response, baseUrl(), request.path);
    response.type("html").send(renderApproval(baseUrl(), connection, { token, path: request.path, notice }));
  };

  const approve = async (request: Request, response: Response, shown: string | null): Promise<void> => {
    // A second click gets the same secret, so it finds the session that the first one created.
    const newSession = browserSecret(request, baseUrl(), `session ${secretOf(request)}`);
    const code = browserSecret(request, baseUrl(), `code ${secretOf(request)}`);
    if (newSession === null || code === null) throw STALE_FORM;
    try {
      const approved = await database.call("visitor", "approve_connection", {
        secret_hash: hashSecret(secretOf(request)),
        session_hash: sessionHash(request, baseUrl()),
        new_session_hash: hashSecret(newSession),
        shown,
        code_hash: hashSecret(code),
      });
      const { agent_name, new_session, has_method, client } = JSON.parse(approved) as Approved;
      if (new_session) giveSession(response, baseUrl(), newSession);
      else keepSession(request, response, baseUrl());
      if (client !== null) {
        const address = responseUri(baseUrl(), client, { code });
        // Not a redirect: browsers apply `form-action` to all redirects that follow a form, also to those of the client's
        // own site, which nobody knows. After this page, the browser goes on by itself.
        response.set("Refresh", `0; url=${address}`);
        response
          .type("html")
          .send(renderReturning(baseUrl(), agent_name, { ...placeOf(client.redirect_uri), address }));
        return;
      }
      const account = { hasMethod: has_method, canAdd: signIn.methods.length > 0 };
      response.type("html").send(renderApproved(baseUrl(), agent_name, account));
    } catch (thrown) {
      const { detail, members } = problemOf(thrown);
      if (members?.["account_changed"] !== true || wantsJson(request)) throw thrown;
      response.status(409);
      await show(request, response, detail);
    }
  };

  const decline = async (request: Request, response: Response): Promise<void> => {
    const browser = browserSecret(request, baseUrl(), "decline");
    if (browser === null) throw STALE_FORM;
    const declined = await database.call("visitor", "decline_connection", {
      secret_hash: hashSecret(secretOf(request)),
      browser_hash: hashSecret(browser),
      address: addressOf(request),
    });
    const { client } = JSON.parse(declined) as { client: WayBack | null };
    // The browser is not sent back by itself: the person has just said that the client is not theirs.
    const back = client && {
      ...placeOf(client.redirect_uri),
      address: responseUri(baseUrl(), client, {
        error: "access_denied",
        error_description: "The person did not approve.",
      }),
    };
    response.type("html").send(renderDeclined(baseUrl(), back));
  };

  const decide = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    if (stale) throw STALE_FORM;
    const decision = fields.get("decision");
    if (decision === "approve") await approve(request, response, fields.get("shown"));
    else if (decision === "decline") await decline(request, response);
    else throw problem("bad_request", "The answer is neither Approve nor Not mine.");
  };

  return [
    {
      path: "/connect/:secret",
      operation: "connectionPage",
      needsSignIn: true,
      get: (request, response) => show(request, response, null),
      post: decide,
    },
  ];
};
