import type { Request, Response } from "express";
import { rootOf } from "../base/address.ts";
import type { SignInMethod } from "../base/enums.ts";
import { problem, problemOf } from "../base/problem.ts";
import { hashSecret } from "../base/tokens.ts";
import { visibleName, visibleText } from "../base/visible_text.ts";
import { nameOfMethod } from "../sign_in/methods.ts";
import { providerOrigins } from "../sign_in/sign_in.ts";
import { giveFormToken } from "../web/csrf.ts";
import { askVisitor, type PagesContext } from "./context.ts";
import { type Page, readAnswer, STALE_FORM, seeOther, wantsJson } from "./frame.ts";
import { LABEL_LENGTH, minutesLeft, sendPage, signInPath } from "./render.ts";
import { sessionHash } from "./session.ts";
import { chosenAgents, readAgents } from "./settings/agents.ts";
import { askAs } from "./settings/section.ts";
import { startAttempt, viewerOf } from "./sign_in/attempt.ts";
import { type FormErrors, toFormErrors } from "./sign_in/choose.ts";

/** The page behind a verification link, on which a person proves a sign-in method because an agent asked for it. */

/** A verification, as api.get_verification_page returns it. */
export type Verification = {
  status: "pending" | "completed" | "expired" | "cancelled";
  method: SignInMethod;
  agent_id: string;
  agent_name: string;
  agent_removed: boolean;
  /** Whether a person has approved the agent. */
  agent_connected: boolean;
  /** Null unless `mine`: another visitor may be the agent. */
  account_label: string | null;
  /** "session" when the browser has to be signed in to the account, and is not. */
  requires: "nothing" | "session";
  /**
   * What the person has to do first: sign in to the account, open the link in the browser in which the agent was
   * approved, or sign out of another account.
   */
  missing: "sign_in" | "browser" | "sign_out" | null;
  /** Whether this browser is signed in to the verification's account. */
  mine: boolean;
  /** Proving the method recovers the account, which nobody can open any more. */
  recovers: boolean;
  /** Seconds. */
  expires_in: number;
};

/** Makes the page behind a verification link. */
export const verifyPages = (context: PagesContext): Page[] => {
  const { baseUrl, signIn } = context;
  const secretOf = (request: Request): string => String(request.params["secret"]);
  const hashOf = (request: Request): Buffer => hashSecret(secretOf(request));

  const find = (request: Request): Promise<Verification> =>
    askVisitor(context, "get_verification_page", {
      secret_hash: hashOf(request),
      session_hash: sessionHash(request, baseUrl()),
    });

  /** @param form what the person typed and checked, and what was wrong with it; nothing the first time */
  const render = async (
    request: Request,
    response: Response,
    verification: Verification,
    form: { email?: string; chosen?: string[] | null; errors?: FormErrors } = {},
  ): Promise<void> => {
    const { status, requires, missing, mine, account_label: account } = verification;
    // Others may be the agent, so they see no other agent of the account.
    const agents = mine ? await readAgents(askAs(context, request)) : { acting: [], waiting: [], unapproved: [] };
    const viewer = mine ? null : await viewerOf(context, sessionHash(request, baseUrl()));
    const tokenFor = (path: string) => giveFormToken(request, response, baseUrl(), path);
    // The person came by the link of this agent, and the page asks whether they know it.
    const chosen = form.chosen ?? [verification.agent_id];
    const isAnothers = requires === "session" && !mine;
    const template = status !== "pending" ? "verify_ended" : isAnothers ? "verify_other" : "verify";
    sendPage(response, template, baseUrl(), {
      status,
      missing,
      recovers: verification.recovers,
      agentRemoved: verification.agent_removed,
      agentConnected: verification.agent_connected,
      name: visibleName(verification.agent_name),
      method: verification.method,
      title: nameOfMethod(verification.method),
      account: account === null ? null : visibleText(account, LABEL_LENGTH),
      left: minutesLeft(verification.expires_in),
      token: tokenFor(request.path),
      settingsToken: tokenFor("/settings"),
      signIn: signInPath(baseUrl(), request.path),
      // The account that this browser is signed in to, if it is another one.
      label: viewer?.label ?? null,
      ...agents,
      acting: agents.acting.map((agent) => ({ ...agent, isChecked: chosen.includes(agent.id) })),
      email: form.email ?? "",
      errors: form.errors ?? {},
    });
  };

  const prove = async (
    request: Request,
    response: Response,
    typed: string,
    kept: string[] | null,
    stale: boolean,
  ): Promise<void> => {
    const verification = await find(request);
    const { method } = verification;
    try {
      if (stale) throw STALE_FORM;
      await startAttempt(context, request, response, {
        method,
        email: method === "email" ? typed : null,
        purpose: "add",
        verificationSecret: secretOf(request),
        kept,
        leave: false,
        returnPath: request.path,
      });
    } catch (thrown) {
      const { detail, members } = problemOf(thrown);
      const shown = { email: typed, chosen: kept };
      if (members?.["choose_agents"] === true && !wantsJson(request)) {
        // An agent was approved after the page was shown.
        response.status(409);
        return render(request, response, verification, { ...shown, errors: { form: detail } });
      }
      const errors = toFormErrors(thrown, request, response, method === "email" && thrown !== STALE_FORM);
      await render(request, response, verification, { ...shown, errors });
    }
  };

  const decide = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    const decision = fields.get("decision");
    const back = rootOf(baseUrl()) + request.path;
    if (decision === "sign_in" || stale) {
      return prove(request, response, (fields.get("email") ?? "").slice(0, 320), chosenAgents(fields), stale);
    }
    if (decision === "cancel") {
      await askVisitor(context, "cancel_verification", {
        secret_hash: hashOf(request),
        session_hash: sessionHash(request, baseUrl()),
      });
      return seeOther(response, back);
    }
    if (decision !== "continue") throw problem("bad_request", "The page has no such button.");
    try {
      await askVisitor(context, "continue_verification", { secret_hash: hashOf(request) });
      seeOther(response, back);
    } catch (thrown) {
      const { code, detail } = problemOf(thrown);
      if (code !== "verification_incomplete" || wantsJson(request)) throw thrown;
      response.status(409);
      await render(request, response, await find(request), { chosen: chosenAgents(fields), errors: { form: detail } });
    }
  };

  return [
    {
      path: "/verify/:secret",
      operation: "verificationPage",
      needsSignIn: true,
      get: async (request, response) => render(request, response, await find(request)),
      post: decide,
      formsLeadTo: () => providerOrigins(signIn),
    },
  ];
};
