import { randomUUID } from "node:crypto";
import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import helmet from "helmet";
import { problem, problemAnswer, problemOf } from "../http/problem.ts";
import { checkSender, isFormToken, refuseTokens } from "./forgery.ts";
import { readForm } from "./form.ts";
import { renderProblem, signInPath } from "./render.ts";

/**
 * What every page shares: the headers that guard it, the form that only it can send, the page of a refusal, and the way
 * to the sign-in page for who has to sign in first.
 */

/** Shows something for a request, or does what its form says. What it throws becomes the page of a refusal. */
export type Handler = (request: Request, response: Response) => Promise<void> | void;

/** One page: its path, what it shows and what its form does. */
export type Page = {
  /** With :name for what differs from link to link. */
  path: string;
  /** Names the page in the log: a link's path is a secret. */
  operation: string;
  get?: Handler;
  post?: Handler;
  /** "public" for what is the same for everyone; else every answer is for this person at this moment. */
  cache?: "public";
  /** A person who is not signed in, or has to sign in again, is led to the sign-in page and back. */
  needsSignIn?: true;
  /** It runs scripts that we serve; other pages run none. */
  runsScripts?: true;
  /** Origins that a form of this page ends at, by a redirect: browsers hold `form-action` against those too. */
  formsLeadTo?: () => string[];
};

/** Long enough for a person who looks around, short enough to see a changed text the same day. */
const PUBLIC_CACHE = "public, max-age=300";

/** No path of ours is longer; what someone else appended need not come back from the sign-in. */
const RETURN_LENGTH = 500;

/** Helmet's headers under our own policy: nothing but our stylesheet, our forms and, where a page has one, our script. HSTS only where there is TLS. */
const securityHeaders = (secure: boolean, formsLeadTo: string[], scripts: string[]): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        ...(scripts.length > 0 ? { scriptSrc: scripts } : {}),
        formAction: ["'self'", ...formsLeadTo],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    referrerPolicy: { policy: "no-referrer" },
    xFrameOptions: { action: "deny" },
    strictTransportSecurity: secure ? { maxAge: 31_536_000, includeSubDomains: false } : false,
  });

/** The id of the request that this response answers. */
export const requestIdOf = (response: Response): string => {
  const id: unknown = response.locals["requestId"];
  return typeof id === "string" ? id : randomUUID();
};

/** Leads on with a GET, which a reload or the back button may repeat. */
export const seeOther = (response: Response, location: string): void => {
  response.redirect(303, location);
};

/** A program asks, which gets a Problem where a person gets a page. */
export const wantsJson = (request: Request): boolean =>
  String(request.accepts(["html", "json", "application/problem+json"])).endsWith("json");

/** A refused request as a page, or as a Problem for who asked for JSON. */
const sendProblem = (request: Request, response: Response, baseUrl: string, thrown: unknown): void => {
  const failure = problemOf(thrown);
  const requestId = requestIdOf(response);
  const answer = problemAnswer(failure, requestId, baseUrl);
  // A page shows nothing of a failure; whoever logs the answer finds here what it was.
  if (answer.status >= 500) response.locals["thrown"] = thrown;
  response.status(answer.status).set(answer.headers).vary("Accept");
  if (wantsJson(request)) {
    response.send(answer.body);
    return;
  }
  const { code, detail } = failure;
  const link = `${baseUrl}${request.path}`;
  response.type("html").send(renderProblem(baseUrl, { code, detail, requestId, link }));
};

/** A form that this browser was not given, or was given before its cookies went. */
export const STALE_FORM = problem(
  "bad_request",
  "The page was open for too long, or this browser did not keep the cookie that goes with it. If cookies are turned off, allow them for this site.",
);

/**
 * The fields that a person sent from our own page. `stale` when the form is not the one this browser was given: nothing
 * may then be done but to show the form again, with what was typed.
 * @throws Problem when it was sent from elsewhere, carries an agent's token, or is no form.
 */
export const readAnswer = async (
  request: Request,
  response: Response,
  baseUrl: string,
): Promise<{ fields: URLSearchParams; stale: boolean }> => {
  checkSender(request, baseUrl);
  const fields = await readForm(request, response);
  return { fields, stale: !isFormToken(request, baseUrl, request.path, fields.get("token") ?? "") };
};

/** Serves pages, each guarded alike. Answers no other path. */
export const servePages = (list: readonly Page[], baseUrl: () => string): Router => {
  const router = express.Router({ caseSensitive: true, strict: true });
  const secure = () => baseUrl().startsWith("https:");

  const guarded =
    (page: Page, handle: Handler): RequestHandler =>
    async (request, response) => {
      response.set("Cache-Control", page.cache === "public" ? PUBLIC_CACHE : "no-store");
      try {
        if (page.cache !== "public") refuseTokens(request);
        await handle(request, response);
      } catch (thrown) {
        const failure = problemOf(thrown);
        if (page.needsSignIn && failure.code === "unauthorized" && !wantsJson(request)) {
          const again = failure.members?.["sign_in_again"] === true;
          seeOther(response, signInPath(baseUrl(), request.originalUrl.slice(0, RETURN_LENGTH), again));
        } else sendProblem(request, response, baseUrl(), thrown);
      }
    };

  /** Browsers send only GET and POST here, so what comes with another method is a program and gets a Problem. */
  const only =
    (allowed: string): RequestHandler =>
    (request, response) => {
      const failure = problem(
        "method_not_allowed",
        `This page does not take ${request.method}.`,
        {},
        { Allow: allowed },
      );
      const answer = problemAnswer(failure, requestIdOf(response), baseUrl());
      response.status(answer.status).set(answer.headers).send(answer.body);
    };

  for (const page of list) {
    const { get, post } = page;
    // Made once, when the first request tells where the service is reached.
    let headers: RequestHandler | undefined;
    const route = router.route(page.path).all((request, response, next) => {
      response.locals["operation"] = page.operation;
      response.set("X-Robots-Tag", "noindex");
      headers ??= securityHeaders(secure(), page.formsLeadTo?.() ?? [], page.runsScripts ? ["'self'"] : []);
      headers(request, response, next);
    });
    if (get) route.get(guarded(page, get));
    if (post) route.post(guarded(page, post));
    route.all(only([...(get ? ["GET", "HEAD"] : []), ...(post ? ["POST"] : [])].join(", ")));
  }
  return router;
};
