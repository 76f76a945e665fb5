import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import helmet from "helmet";
import { type Problem, problem, problemAnswer, problemOf } from "../base/problem.ts";
import { checkSender, isFormToken, refuseTokens } from "../web/csrf.ts";
import { readForm } from "../web/form.ts";
import { requestIdOf } from "../web/send.ts";
import { renderProblem, signInPath } from "./render.ts";

/**
 * What all pages share: security headers, forms that only our own pages can send, the error page, and the redirect to
 * the sign-in page.
 */

/** Handles a request for a page or a form that was sent. What it throws becomes an error page. */
export type Handler = (request: Request, response: Response) => Promise<void> | void;

/** A page: its path, and the handlers of GET and POST. */
export type Page = {
  /** The path as Express takes it, with :name for a variable part. */
  path: string;
  /** The page's name in the log. The path is not logged, because the path of a link contains a secret. */
  operation: string;
  get?: Handler;
  post?: Handler;
  /** "public" when the page is the same for everyone. Other pages are not cached at all. */
  cache?: "public";
  /** A person who has to sign in (again) first is redirected to the sign-in page, and comes back afterwards. */
  needsSignIn?: true;
  /** The page may run scripts from this host. Other pages may run none. */
  runsScripts?: true;
  /** Origins to which a form of this page is redirected. Browsers apply `form-action` to redirects, too. */
  formsLeadTo?: () => string[];
};

/** Five minutes: long enough for a person who looks around, and short enough that a changed text appears soon. */
const PUBLIC_CACHE = "public, max-age=300";

/** All our paths are shorter. A suffix that somebody else appended may get lost in the sign-in. */
const RETURN_LENGTH = 500;

/**
 * Helmet's headers with our own policy: a page may load our stylesheet, send our forms and, if it has one, run our
 * script. HSTS is sent only over HTTPS.
 */
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

/** Redirects with 303, so that the browser sends a GET, which a reload or the back button can repeat safely. */
export const seeOther = (response: Response, location: string): void => {
  response.redirect(303, location);
};

/** Whether the client prefers JSON to HTML. A program gets Problem JSON where a person gets a page. */
export const wantsJson = (request: Request): boolean =>
  String(request.accepts(["html", "json", "application/problem+json"])).endsWith("json");

/** Whether a browser asks: the client names HTML, and prefers it. Many programs send a wildcard. */
export const isBrowser = (request: Request): boolean =>
  /\btext\/html\b/i.test(request.get("Accept") ?? "") && !wantsJson(request);

/** Sends an error page, or Problem JSON when the client prefers that. The response has the security headers already. */
const sendProblem = (request: Request, response: Response, baseUrl: string, thrown: unknown): void => {
  const failure = problemOf(thrown);
  const requestId = requestIdOf(response);
  const answer = problemAnswer(failure, requestId, baseUrl);
  // The page does not show the cause of a failure. src/app.ts logs it from here.
  if (answer.status >= 500) response.locals["thrown"] = thrown;
  response.status(answer.status).set(answer.headers).vary("Accept");
  if (wantsJson(request)) {
    response.send(answer.body);
    return;
  }
  const { code, detail, members } = failure;
  const link = `${baseUrl}${request.path}`;
  const back = typeof members?.["way_back"] === "string" ? members["way_back"] : undefined;
  response.type("html").send(renderProblem(baseUrl, { code, detail, requestId, link, back }));
};

/** Sends an error page from outside of a page, such as at an address where there is none. */
export const sendErrorPage = (request: Request, response: Response, baseUrl: string, failure: Problem): void => {
  securityHeaders(baseUrl.startsWith("https:"), [], [])(request, response, () => {
    response.set("X-Robots-Tag", "noindex");
    sendProblem(request, response, baseUrl, failure);
  });
};

/** The Problem for a form that we did not give this browser, or gave it before it lost its cookies. */
export const STALE_FORM = problem(
  "bad_request",
  "The page was open for too long, or this browser did not keep the cookie that goes with it. If cookies are turned off, allow them for this site.",
);

/**
 * Reads a form that a person sent from our own page.
 * @returns the fields, and `stale` when we did not give this browser the form. The handler of a stale form may only
 * show the form again, with the typed text.
 * @throws Problem when another page sent the form, or the body is not a form
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

/** Refuses other methods: with a page for a person who types the address of a form, otherwise with Problem JSON. */
const refuseOtherMethods =
  (allowed: string, baseUrl: () => string): RequestHandler =>
  (request, response) => {
    const detail = `This page does not take ${request.method}.`;
    const failure = problem("method_not_allowed", detail, {}, { Allow: allowed });
    if (isBrowser(request)) return sendProblem(request, response, baseUrl(), failure);
    const answer = problemAnswer(failure, requestIdOf(response), baseUrl());
    response.status(answer.status).set(answer.headers).send(answer.body);
  };

/** What no path of a page has, and what follows it. */
const BEYOND = /[^\w./-].*$/s;

/**
 * Returns a path without what stood behind the address in a text from which it was copied: a bracket, a quote, a point, a
 * space, Markdown's "**", all of it encoded or not, and a slash at the end. An underscore may be part of a secret, so it
 * is left out only behind a whole one.
 */
const withoutTail = (path: string): string => {
  const decoded = path.replaceAll(/%(?:2d|5f|[3-7][\da-f])/gi, (encoded) => {
    const character = decodeURIComponent(encoded);
    return /[\w-]/.test(character) ? character : encoded;
  });
  return (
    decoded
      .replace(BEYOND, "")
      .replace(/\.*\/?$/, "")
      .replace(/(?<=\/[\w-]{43})_{1,2}$/, "") || "/"
  );
};

/** Makes the router for pages, with the same protection for each. Other paths pass through. */
export const servePages = (list: readonly Page[], baseUrl: () => string): Router => {
  const router = express.Router({ caseSensitive: true, strict: true });
  const secure = () => baseUrl().startsWith("https:");
  const paths = list.map(
    ({ path }) => new RegExp(`^${path.replaceAll(".", "\\.").replaceAll("{/}", "/?").replaceAll(/:\w+/g, "[^/]+")}$`),
  );

  router.use((request, _response, next) => {
    // A pattern that ends with `$` takes long for a long path.
    const path = request.path.length > RETURN_LENGTH ? request.path : withoutTail(request.path);
    if (path !== request.path && paths.some((known) => known.test(path)))
      request.url = `${path}${/\?.*$/s.exec(request.url)?.[0] ?? ""}`;
    next();
  });

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
          seeOther(response, signInPath(baseUrl(), request.url.slice(0, RETURN_LENGTH), again));
        } else sendProblem(request, response, baseUrl(), thrown);
      }
    };

  for (const page of list) {
    const { get, post } = page;
    // Made at the first request: the base URL is known only after the server listens.
    let headers: RequestHandler | undefined;
    const route = router.route(page.path).all((request, response, next) => {
      response.locals["operation"] = page.operation;
      response.set("X-Robots-Tag", "noindex");
      headers ??= securityHeaders(secure(), page.formsLeadTo?.() ?? [], page.runsScripts ? ["'self'"] : []);
      headers(request, response, next);
    });
    if (get) route.get(guarded(page, get));
    if (post) route.post(guarded(page, post));
    const allowed = [...(get ? ["GET", "HEAD"] : []), ...(post ? ["POST"] : [])].join(", ");
    route.all(refuseOtherMethods(allowed, baseUrl));
  }
  return router;
};
