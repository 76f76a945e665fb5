import type { Request, Response } from "express";
import { rootOf } from "../../base/address.ts";
import { problem } from "../../base/problem.ts";
import { hashSecret } from "../../base/tokens.ts";
import type { OpenIdMethod } from "../../sign_in/methods.ts";
import { readForm } from "../../web/form.ts";
import { askVisitor, type PagesContext } from "../context.ts";
import { type Page, seeOther } from "../frame.ts";
import { arriveAgain, callbackOf, finishAttempt, flowOf } from "./attempt.ts";
import { withEnding } from "./ending.ts";

/** The callback URLs, to which OpenID providers send the browser back. */

const NOT_STARTED_HERE = problem(
  "bad_request",
  "This browser did not start this sign-in, or took too long. You were not signed in.",
);

/** The fields of Apple's form that are passed on: its response, and the name, which Apple sends only once. */
const APPLE_FIELDS = ["code", "state", "iss", "user", "error"];

/** Longer than any of these fields. Apple's codes have about a hundred characters. */
const FIELD_LENGTH = 2_000;

/** Makes the pages to which providers send the browser back. */
export const callbackPages = (context: PagesContext): Page[] => {
  const { baseUrl, signIn } = context;

  const completeSignIn =
    (method: OpenIdMethod) =>
    async (request: Request, response: Response): Promise<void> => {
      const provider = signIn.providers[method];
      if (!provider) throw problem("not_found", "This way to sign in is not offered here.");
      const flow = flowOf(request, baseUrl());
      // HEAD requests come from link scanners.
      if (flow === null || request.method !== "GET") throw NOT_STARTED_HERE;
      const attempt = await askVisitor<{ method: string; finished: boolean }>(context, "get_sign_in", {
        flow_hash: hashSecret(flow),
      });
      // The page was reloaded, or opened by the back button. The provider would not accept its code a second time.
      if (attempt.finished && (await arriveAgain(context, request, response, flow, false))) return;
      if (attempt.finished || attempt.method !== method) throw NOT_STARTED_HERE;
      const answer = new URL(request.originalUrl, baseUrl()).searchParams;
      const identity = await provider.finish(flow, callbackOf(baseUrl(), method), answer);
      await finishAttempt(context, request, response, flow, "finish_sign_in", { method, ...identity });
    };

  /**
   * Apple responds by a form that the browser posts from Apple's page. Browsers send none of our cookies (SameSite=Lax)
   * with it, so this only redirects the browser to the same path with GET.
   */
  const redirectToGet = async (request: Request, response: Response): Promise<void> => {
    const fields = await readForm(request, response);
    const kept = APPLE_FIELDS.flatMap((name): [string, string][] => {
      const value = fields.get(name);
      return value === null || value.length > FIELD_LENGTH ? [] : [[name, value]];
    });
    seeOther(response, `${rootOf(baseUrl())}/sign-in/apple?${new URLSearchParams(kept)}`);
  };

  return [
    { path: "/sign-in/google", operation: "googleCallback", get: withEnding(context, completeSignIn("google")) },
    {
      path: "/sign-in/apple",
      operation: "appleCallback",
      get: withEnding(context, completeSignIn("apple")),
      post: withEnding(context, redirectToGet),
    },
  ];
};
