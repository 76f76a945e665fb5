import type { Request, Response } from "express";
import { problem, problemOf } from "../http/problem.ts";
import { hashSecret } from "../http/tokens.ts";
import type { PagesContext } from "./context.ts";
import { browserSecret, giveFormToken } from "./forgery.ts";
import { type Page, readAnswer, STALE_FORM, wantsJson } from "./frame.ts";
import { type Connection, renderApproval, renderApproved, renderDeclined } from "./render.ts";
import { giveSession, sessionHash } from "./session.ts";

/** The result of api.approve_connection. `new_session`: it created a session, which this browser gets. */
type Approved = { agent_name: string; new_session: boolean; has_method: boolean };

/** Makes the page behind a connection link, on which a person approves or declines an agent. */
export const approvalPages = ({ database, baseUrl }: PagesContext): Page[] => {
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
    if (newSession === null) throw STALE_FORM;
    try {
      const approved = await database.call("visitor", "approve_connection", {
        secret_hash: hashSecret(secretOf(request)),
        session_hash: sessionHash(request, baseUrl()),
        new_session_hash: hashSecret(newSession),
        shown,
      });
      const { agent_name, new_session, has_method } = JSON.parse(approved) as Approved;
      if (new_session) giveSession(response, baseUrl(), newSession);
      response.type("html").send(renderApproved(baseUrl(), agent_name, has_method));
    } catch (thrown) {
      const { detail, members } = problemOf(thrown);
      if (members?.["account_changed"] !== true || wantsJson(request)) throw thrown;
      response.status(409);
      await show(request, response, detail);
    }
  };

  const decline = async (request: Request, response: Response): Promise<void> => {
    await database.call("visitor", "decline_connection", { secret_hash: hashSecret(secretOf(request)) });
    response.type("html").send(renderDeclined(baseUrl()));
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
