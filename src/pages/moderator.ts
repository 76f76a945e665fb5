import type { Request, Response } from "express";
import { rootOf } from "../base/address.ts";
import { hashSecret, newSecret } from "../base/tokens.ts";
import { giveFormToken } from "../web/csrf.ts";
import { askVisitor, type PagesContext } from "./context.ts";
import { type Page, readAnswer, STALE_FORM, seeOther } from "./frame.ts";
import { sendPage } from "./render.ts";
import { giveSession, sessionHash } from "./session.ts";

/**
 * Makes the page behind the link that `npm start` gives while there is no moderator. The first person who presses its
 * button becomes a moderator, and the link ends. Opening the page changes nothing.
 */
export const moderatorPages = (context: PagesContext): Page[] => {
  const { baseUrl } = context;
  const secretOf = (request: Request): Buffer => hashSecret(String(request.params["secret"]));

  const show = async (request: Request, response: Response): Promise<void> => {
    await askVisitor(context, "get_moderator_link", { secret_hash: secretOf(request) });
    const token = giveFormToken(request, response, baseUrl(), request.path);
    const isSignedIn = sessionHash(request, baseUrl()) !== null;
    sendPage(response, "moderator", baseUrl(), { token, isSignedIn });
  };

  const accept = async (request: Request, response: Response): Promise<void> => {
    const { stale } = await readAnswer(request, response, baseUrl());
    if (stale) throw STALE_FORM;
    const secret = newSecret();
    const { new_session } = await askVisitor<{ new_session: boolean }>(context, "accept_moderator_link", {
      secret_hash: secretOf(request),
      session_hash: sessionHash(request, baseUrl()),
      new_session_hash: hashSecret(secret),
    });
    if (new_session) giveSession(response, baseUrl(), secret);
    seeOther(response, `${rootOf(baseUrl())}/admin`);
  };

  return [{ path: "/moderator/:secret", operation: "moderatorPage", get: show, post: accept }];
};
