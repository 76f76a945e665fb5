import type { Request, Response } from "express";
import { rootOf } from "../../base/address.ts";
import { problemOf } from "../../base/problem.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, seeOther } from "../frame.ts";
import { sendPage } from "../render.ts";
import { clearSession, sessionHash } from "../session.ts";
import { viewerOf } from "./attempt.ts";

/** Makes the pages for signing out, in this browser or in all browsers. Other pages of ours send these forms, too. */
export const signOutPages = (context: PagesContext): Page[] => {
  const { database, baseUrl } = context;

  const show = async (request: Request, response: Response, stale: boolean): Promise<void> => {
    const viewer = await viewerOf(context, sessionHash(request, baseUrl()));
    if (stale) response.status(400);
    sendPage(response, "sign_out", baseUrl(), {
      label: viewer?.label ?? null,
      isKept: viewer === null || viewer.methods.length > 0,
      token: giveFormToken(request, response, baseUrl(), "/sign-out"),
      everywhereToken: giveFormToken(request, response, baseUrl(), "/sign-out/everywhere"),
      stale,
    });
  };

  const signOut =
    (name: "sign_out" | "sign_out_everywhere") =>
    async (request: Request, response: Response): Promise<void> => {
      const { stale } = await readAnswer(request, response, baseUrl());
      if (stale) return show(request, response, true);
      const session = sessionHash(request, baseUrl());
      if (session !== null) {
        await database.call({ person: session }, name, {}).catch((error: unknown) => {
          // The session has ended already, by a second click or from another browser. That is the result wanted here.
          if (problemOf(error).code !== "unauthorized") throw error;
        });
      }
      clearSession(response, baseUrl());
      seeOther(response, `${rootOf(baseUrl())}/sign-out`);
    };

  return [
    {
      path: "/sign-out",
      operation: "signOutPage",
      get: (request, response) => show(request, response, false),
      post: signOut("sign_out"),
    },
    { path: "/sign-out/everywhere", operation: "signOutEverywhere", post: signOut("sign_out_everywhere") },
  ];
};
