import type { Request, Response } from "express";
import { PROBLEMS, problemAnswer, problemOf } from "../../base/problem.ts";
import { requestIdOf } from "../../web/send.ts";
import type { PagesContext } from "../context.ts";
import { type Handler, seeOther, wantsJson } from "../frame.ts";
import { signInPath } from "../render.ts";
import { sessionHash } from "../session.ts";
import { returnPathOf, viewerOf } from "./attempt.ts";
import { endsAttempt, renderEnding } from "./views.ts";

/**
 * Wraps the handler of a sign-in page. When the attempt ends without a session, the page says what happened and how to
 * start again. A person who has to sign in (again) first is redirected to the sign-in page.
 */
export const withEnding =
  (context: PagesContext, handle: Handler): Handler =>
  async (request: Request, response: Response): Promise<void> => {
    try {
      await handle(request, response);
    } catch (thrown) {
      const failure = problemOf(thrown);
      if (failure.code === "unauthorized" && !wantsJson(request)) {
        // A method can be added only within 15 minutes after signing in, and the message took longer.
        const baseUrl = context.baseUrl();
        const again = failure.members?.["sign_in_again"] === true;
        return seeOther(response, signInPath(baseUrl, returnPathOf(request, baseUrl), again));
      }
      if (!endsAttempt(failure.code) || wantsJson(request)) throw thrown;
      const { status } = PROBLEMS[failure.code];
      const baseUrl = context.baseUrl();
      const requestId = requestIdOf(response);
      if (thrown instanceof Error && status >= 500) response.locals["thrown"] = thrown;
      // With 503 the database may be down, so the page must not need it.
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
