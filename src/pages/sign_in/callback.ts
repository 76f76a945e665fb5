import type { Request, Response } from "express";
import { problem } from "../../http/problem.ts";
import { hashSecret } from "../../http/tokens.ts";
import type { OpenIdMethod } from "../../sign_in/methods.ts";
import type { PagesContext } from "../context.ts";
import { readForm } from "../form.ts";
import { type Page, seeOther } from "../frame.ts";
import { rootOf } from "../render.ts";
import { arriveAgain, callbackOf, finishAttempt, flowOf } from "./attempt.ts";
import { withEnding } from "./ending.ts";

/** Where OpenID providers send people back to. */

const NOT_STARTED_HERE = problem(
  "bad_request",
  "This browser did not start this sign-in, or took too long. You were not signed in.",
);

/** What of Apple's form is worth carrying on: the answer, and the name that it tells once. */
const APPLE_FIELDS = ["code", "state", "iss", "user", "error"];

/** Longer than any of them: Apple's codes have about a hundred characters. */
const FIELD_LENGTH = 2_000;

/** The pages to which providers send the browser back. */
export const callbackPages = (context: PagesContext): Page[] => {
  const { database, baseUrl, signIn } = context;

  const comeBack =
    (method: OpenIdMethod) =>
    async (request: Request, response: Response): Promise<void> => {
      const provider = signIn.providers[method];
      if (!provider) throw problem("not_found", "This way to sign in is not offered here.");
      const flow = flowOf(request, baseUrl());
      // Scanners of links ask for no more than the head.
      if (flow === null || request.method !== "GET") throw NOT_STARTED_HERE;
      const found = await database.call("visitor", "get_sign_in", { flow_hash: hashSecret(flow) }, "write");
      const attempt = JSON.parse(found) as { method: string; finished: boolean };
      // Reloaded, or come back to: a provider takes its code only once.
      if (attempt.finished && (await arriveAgain(context, request, response, flow))) return;
      if (attempt.finished || attempt.method !== method) throw NOT_STARTED_HERE;
      const answer = new URL(request.originalUrl, baseUrl()).searchParams;
      const identity = await provider.finish(flow, callbackOf(baseUrl(), method), answer);
      await finishAttempt(context, request, response, flow, "finish_sign_in", { method, ...identity });
    };

  /**
   * Apple has the browser post its answer, from a page of Apple's. Browsers send no cookie of ours along with that, so
   * nothing is done but to have the browser ask again by itself.
   */
  const bringOver = async (request: Request, response: Response): Promise<void> => {
    const fields = await readForm(request, response);
    const kept = APPLE_FIELDS.flatMap((name): [string, string][] => {
      const value = fields.get(name);
      return value === null || value.length > FIELD_LENGTH ? [] : [[name, value]];
    });
    seeOther(response, `${rootOf(baseUrl())}/sign-in/apple?${new URLSearchParams(kept)}`);
  };

  return [
    { path: "/sign-in/google", operation: "googleCallback", get: withEnding(context, comeBack("google")) },
    {
      path: "/sign-in/apple",
      operation: "appleCallback",
      get: withEnding(context, comeBack("apple")),
      post: withEnding(context, bringOver),
    },
  ];
};
