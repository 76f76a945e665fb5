import type { Request, Response } from "express";
import { refuse } from "../problem.ts";
import { hashSecret, newSecret } from "../tokens.ts";
import { giveFormToken } from "./forgery.ts";
import { type Page, readAnswer, STALE_FORM } from "./frame.ts";
import type { PagesContext } from "./pages.ts";
import { type Connection, renderApproval, renderApproved, renderDeclined } from "./render.ts";
import { giveSession, sessionHash } from "./session.ts";

/** The page behind a connection link, on which a person approves an agent or refuses it. */
export const connectPages = ({ database, baseUrl }: PagesContext): Page[] => {
  const secretOf = (request: Request): string => String(request.params["secret"]);

  const show = async (request: Request, response: Response): Promise<void> => {
    // The write pool, though this only reads: a replica that lags would not know a link that is seconds old.
    const found = await database.call(
      "visitor",
      "get_connection",
      { secret_hash: hashSecret(secretOf(request)), session_hash: sessionHash(request, baseUrl()) },
      "write",
    );
    const connection = JSON.parse(found) as Connection;
    const token = giveFormToken(request, response, baseUrl(), request.path);
    response.type("html").send(renderApproval(baseUrl(), connection, token));
  };

  const approve = async (request: Request, response: Response): Promise<void> => {
    const newSession = newSecret();
    const approved = await database.call("visitor", "approve_connection", {
      secret_hash: hashSecret(secretOf(request)),
      session_hash: sessionHash(request, baseUrl()),
      new_session_hash: hashSecret(newSession),
    });
    const { agent_name, new_session } = JSON.parse(approved) as { agent_name: string; new_session: boolean };
    if (new_session) giveSession(response, baseUrl(), newSession);
    response.type("html").send(renderApproved(baseUrl(), agent_name));
  };

  const decline = async (request: Request, response: Response): Promise<void> => {
    await database.call("visitor", "decline_connection", { secret_hash: hashSecret(secretOf(request)) });
    response.type("html").send(renderDeclined(baseUrl()));
  };

  const decide = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    if (stale) throw STALE_FORM;
    const decision = fields.get("decision");
    if (decision === "approve") await approve(request, response);
    else if (decision === "decline") await decline(request, response);
    else throw refuse("bad_request", "The answer is neither Approve nor Not mine.");
  };

  return [{ path: "/connect/:secret", operation: "connectionPage", get: show, post: decide }];
};
