import type { Request, Response } from "express";
import { PROBLEMS, problemAnswer, problemOf } from "../../http/problem.ts";
import type { PagesContext } from "../context.ts";
import { type Handler, requestIdOf, seeOther, wantsJson } from "../frame.ts";
import { signInPath } from "../render.ts";
import { sessionHash } from "../session.ts";
import { returnPathOf, viewerOf } from "./attempt.ts";
import { endsAttempt, renderEnding } from "./views.ts";

/**
 * A page of an attempt that says, when the attempt ends without a session, what happened and how to start again. Who has
 * to sign in (again) first is led there.
 */
export const withEnding =
  (context: PagesContext, handle: Handler): Handler =>
  async (request: Request, response: Response): Promise<void> => {
    try {
      await handle(request, response);
    } catch (thrown) {
      const failure = problemOf(thrown);
      if (failure.code === "unauthorized" && !wantsJson(request)) {
        // A method is added only shortly after signing in, and the mail took longer.
        const baseUrl = context.baseUrl();
        const again = failure.members?.["sign_in_again"] === true;
        return seeOther(response, signInPath(baseUrl, returnPathOf(request, baseUrl), again));
      }
      if (!endsAttempt(failure.code) || wantsJson(request)) throw thrown;
      const { status } = PROBLEMS[failure.code];
      const baseUrl = context.baseUrl();
      const requestId = requestIdOf(response);
      if (thrown instanceof Error && status >= 500) response.locals["thrown"] = thrown;
      // A page that says that the database is down must not need it.
      const viewer = status === 503 ? null : await viewerOf(context, sessionHash(request, baseUrl));
      const page = renderEnding(baseUrl, {
        ...failure,
        returnPath: returnPathOf(request, baseUrl),
        label: viewer?.label ?? null,
        requestId,
      });
      const { headers } = problemAnswer(failure, requestId, baseUrl);
      response.status(status).set(headers).type("html").send(page);
    }
  };
