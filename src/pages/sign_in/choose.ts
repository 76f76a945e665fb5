import type { Request, Response } from "express";
import type { SignInMethod } from "../../base/enums.ts";
import { PROBLEMS, type ProblemCode, problem, problemOf } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import { isSignInMethod, nameOfMethod } from "../../sign_in/methods.ts";
import { providerOrigins } from "../../sign_in/sign_in.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, STALE_FORM, seeOther, wantsJson } from "../frame.ts";
import { LABEL_LENGTH, sendPage, signInPath } from "../render.ts";
import { safeReturnPath } from "../return_path.ts";
import { sessionHash } from "../session.ts";
import { chosenAgents, readAgents } from "../settings/agents.ts";
import { type Account, askAs } from "../settings/section.ts";
import { startAttempt, viewerOf, type Wanted } from "./attempt.ts";

/** The page on which a person chooses a sign-in method. Other pages of ours send its form, too. */

/** An account's activity, as api.get_me returns it. */
type Activity = { offers_published: number; asks_active: number };

/** The errors of a form: of its one field, or of the form as a whole. */
export type FormErrors = { field?: string; form?: string };

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
    const { email, purpose, again } = shown;
    const proved = again ? viewer?.methods.find(({ method }) => method === "email")?.email : null;
    sendPage(response, "sign_in", baseUrl(), {
      ...shown,
      heading: purpose === "add" ? "Add a way to sign in" : again ? "Sign in once more" : "Sign in",
      email: email || (proved ?? ""),
      methods: signIn.methods,
      openIdMethods: signIn.methods
        .filter((method) => method !== "email")
        .map((method) => ({ method, name: nameOfMethod(method) })),
      byMail: signIn.methods.includes("email"),
      label: viewer?.label ?? null,
      token: giveFormToken(request, response, baseUrl(), "/sign-in"),
    });
  };

  const show = (request: Request, response: Response): Promise<void> =>
    render(request, response, {
      email: "",
      returnPath: safeReturnPath(request.query["return"]),
      purpose: "sign_in",
      again: request.query["again"] === "1",
      errors: {},
    });

  /**
   * Lists the agents of the account at this browser before a method is proved for it. With `leaves`, the person asked to
   * sign in to another account, and the page first says what is lost.
   */
  const showAgents = async (
    request: Request,
    response: Response,
    asked: Pick<Wanted, "returnPath"> & { method: SignInMethod; email: string; leaves: boolean },
  ): Promise<void> => {
    const ask = askAs(context, request);
    const [account, { acting }, { activity }] = await Promise.all([
      ask<Account>("get_account"),
      readAgents(ask),
      ask<{ activity: Activity }>("get_me", { base_url: baseUrl(), link_key: null }),
    ]);
    sendPage(response, "sign_in_agents", baseUrl(), {
      ...asked,
      heading: asked.leaves ? "You would lose an account" : "Which agents are yours?",
      what: asked.method === "email" ? asked.email : nameOfMethod(asked.method),
      token: giveFormToken(request, response, baseUrl(), "/sign-in"),
      label: visibleText(account.label, LABEL_LENGTH),
      acting: acting.map((agent) => ({ ...agent, isChecked: false })),
      activity,
    });
  };

  const choose = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    const typed = (fields.get("email") ?? "").slice(0, 320);
    const method = fields.get("method");
    const purpose = fields.get("purpose") === "add" ? ("add" as const) : ("sign_in" as const);
    const returnPath = safeReturnPath(fields.get("return"));
    const kept = chosenAgents(fields);
    const leave = fields.get("leave") === "yes";
    try {
      if (stale) throw STALE_FORM;
      if (!isSignInMethod(method)) throw problem("bad_request", "Choose one of the ways to sign in.");
      const email = method === "email" ? typed : null;
      const wanted = { method, email, purpose, verificationSecret: null, kept, leave, returnPath };
      await startAttempt(context, request, response, wanted);
    } catch (thrown) {
      const { code, members } = problemOf(thrown);
      if (code === "unauthorized" && !wantsJson(request)) {
        seeOther(response, signInPath(baseUrl(), returnPath, members?.["sign_in_again"] === true));
        return;
      }
      const leaves = members?.["leaves"] === true;
      if ((leaves || members?.["choose_agents"] === true) && isSignInMethod(method) && !wantsJson(request)) {
        response.status(409);
        return showAgents(request, response, { method, email: typed, returnPath, leaves });
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
