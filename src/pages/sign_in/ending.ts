import type { Request, Response } from "express";
import { PROBLEMS, type ProblemCode, problemAnswer, problemOf } from "../../base/problem.ts";
import { requestIdOf } from "../../web/send.ts";
import type { PagesContext } from "../context.ts";
import { type Handler, seeOther, wantsJson } from "../frame.ts";
import { sendPage, signInPath } from "../render.ts";
import { sessionHash } from "../session.ts";
import { returnPathOf, viewerOf } from "./attempt.ts";

/** The Problem codes that end an attempt, each with the heading of its page. */
const ENDINGS: Partial<Record<ProblemCode, string>> = {
  bad_request: "You were not signed in",
  not_found: "Nothing to finish here",
  invalid_state: "That did not work",
  link_expired: "This has ended",
  service_unavailable: "Briefly unavailable",
};

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
      const heading = ENDINGS[failure.code];
      if (heading === undefined || wantsJson(request)) throw thrown;
      const { status } = PROBLEMS[failure.code];
      const baseUrl = context.baseUrl();
      const requestId = requestIdOf(response);
      if (thrown instanceof Error && status >= 500) response.locals["thrown"] = thrown;
      // With 503 the database may be down, so the page must not need it.
      const viewer = status === 503 ? null : await viewerOf(context, sessionHash(request, baseUrl));
      response.status(status).set(problemAnswer(failure, requestId, baseUrl).headers);
      sendPage(response, "sign_in_ended", baseUrl, {
        heading,
        detail: failure.detail,
        returnPath: returnPathOf(request, baseUrl),
        // The account that is signed in all the same.
        label: viewer?.label ?? null,
        requestId,
      });
    }
  };
