import type { Request, Response } from "express";
import { PROBLEMS, type ProblemCode, problem, problemOf } from "../../http/problem.ts";
import { isSignInMethod } from "../../sign_in/methods.ts";
import { providerOrigins } from "../../sign_in/sign_in.ts";
import type { PagesContext } from "../context.ts";
import { giveFormToken } from "../forgery.ts";
import { type Page, readAnswer, STALE_FORM, seeOther, wantsJson } from "../frame.ts";
import { signInPath } from "../render.ts";
import { safeReturnPath } from "../return_path.ts";
import { sessionHash } from "../session.ts";
import { startAttempt, viewerOf, type Wanted } from "./attempt.ts";
import { type FormErrors, renderChoice } from "./views.ts";

/** The page on which a person chooses a sign-in method. Other pages of ours send its form, too. */

/** Problems after which the person can use the same form again. */
const FORM_AGAIN: readonly ProblemCode[] = ["bad_request", "unknown_method", "rate_limited", "service_unavailable"];

/**
 * Turns a Problem into errors that a form shows, and sets status and headers of the response.
 * @param byMail whether bad_request concerns the field for the e-mail address
 * @throws what was thrown, when the form cannot help, or the client wants JSON
 */
export const toFormErrors = (thrown: unknown, request: Request, response: Response, byMail: boolean): FormErrors => {
  const { code, detail, members } = problemOf(thrown);
  if (!FORM_AGAIN.includes(code) || wantsJson(request)) throw thrown;
  const { status } = PROBLEMS[code];
  if (thrown instanceof Error && status >= 500) response.locals["thrown"] = thrown;
  response.status(status);
  const retryAfter = members?.["retry_after"];
  if (typeof retryAfter === "number") response.set("Retry-After", String(retryAfter));
  return code === "bad_request" && byMail ? { field: detail } : { form: detail };
};

/** Makes the page on which a person chooses a sign-in method. */
export const choicePages = (context: PagesContext): Page[] => {
  const { baseUrl, signIn } = context;

  const render = async (
    request: Request,
    response: Response,
    shown: Pick<Wanted, "returnPath" | "purpose"> & { email: string; again: boolean; errors: FormErrors },
  ): Promise<void> => {
    // With 503 the database may be down, so the page must not need it.
    const unavailable = response.statusCode === 503;
    const viewer = unavailable ? null : await viewerOf(context, sessionHash(request, baseUrl()));
    const page = renderChoice(baseUrl(), {
      ...shown,
      email:
        shown.email || (shown.again ? (viewer?.methods.find(({ method }) => method === "email")?.email ?? "") : ""),
      methods: signIn.methods,
      label: viewer?.label ?? null,
      token: giveFormToken(request, response, baseUrl(), "/sign-in"),
    });
    response.type("html").send(page);
  };

  const show = (request: Request, response: Response): Promise<void> =>
    render(request, response, {
      email: "",
      returnPath: safeReturnPath(request.query["return"]),
      purpose: "sign_in",
      again: request.query["again"] === "1",
      errors: {},
    });

  const choose = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    const typed = (fields.get("email") ?? "").slice(0, 320);
    const method = fields.get("method");
    const purpose = fields.get("purpose") === "add" ? ("add" as const) : ("sign_in" as const);
    const returnPath = safeReturnPath(fields.get("return"));
    try {
      if (stale) throw STALE_FORM;
      if (!isSignInMethod(method)) throw problem("bad_request", "Choose one of the ways to sign in.");
      const email = method === "email" ? typed : null;
      await startAttempt(context, request, response, { method, email, purpose, verificationSecret: null, returnPath });
    } catch (thrown) {
      const { code, members } = problemOf(thrown);
      if (code === "unauthorized" && !wantsJson(request)) {
        seeOther(response, signInPath(baseUrl(), returnPath, members?.["sign_in_again"] === true));
        return;
      }
      const errors = toFormErrors(thrown, request, response, method === "email" && thrown !== STALE_FORM);
      await render(request, response, { email: typed, returnPath, purpose, again: false, errors });
    }
  };

  return [
    {
      path: "/sign-in",
      operation: "signInPage",
      get: show,
      post: choose,
      formsLeadTo: () => providerOrigins(signIn),
    },
  ];
};
