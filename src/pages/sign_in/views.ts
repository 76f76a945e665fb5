import type { SignInMethod } from "../../base/enums.ts";
import type { ProblemCode } from "../../base/problem.ts";
import type { CodeLength } from "../../sign_in/flow.ts";
import { nameOfMethod } from "../../sign_in/methods.ts";
import { minutesLeft, renderPage } from "../render.ts";
import type { AgentView } from "../settings/agents.ts";

/** Renders the sign-in pages from plain data. `token` is always the form's token from src/web/csrf.ts. */

/** The errors of a form: of its one field, or of the form as a whole. */
export type FormErrors = { field?: string; form?: string };

/** Renders the page on which a person chooses a sign-in method. */
export const renderChoice = (
  baseUrl: string,
  choice: {
    token: string;
    methods: readonly SignInMethod[];
    /** The e-mail address that was typed before. */
    email: string;
    returnPath: string;
    purpose: "sign_in" | "add";
    /** A signed-in person has to sign in again, because the last sign-in was too long ago. */
    again: boolean;
    /** The account that is signed in already; null for none. */
    label: string | null;
    errors: FormErrors;
  },
): string =>
  renderPage("sign_in", baseUrl, {
    ...choice,
    heading: choice.purpose === "add" ? "Add a way to sign in" : choice.again ? "Sign in once more" : "Sign in",
    openIdMethods: choice.methods
      .filter((method) => method !== "email")
      .map((method) => ({ method, name: nameOfMethod(method) })),
    byMail: choice.methods.includes("email"),
  });

/** An account's activity, as api.get_me returns it. */
export type Activity = { offers_published: number; asks_active: number };

/**
 * Renders the page that lists the agents of the account at this browser before a method is proved for it. With
 * `leaves`, the person asked to sign in to another account, and the page first says what is lost.
 */
export const renderAgents = (
  baseUrl: string,
  asked: {
    token: string;
    method: SignInMethod;
    email: string;
    returnPath: string;
    leaves: boolean;
    label: string;
    acting: AgentView[];
    activity: Activity;
  },
): string =>
  renderPage("sign_in_agents", baseUrl, {
    ...asked,
    heading: asked.leaves ? "You would lose an account" : "Which agents are yours?",
    what: asked.method === "email" ? asked.email : nameOfMethod(asked.method),
    acting: asked.acting.map((agent) => ({ ...agent, isChecked: false })),
  });

const LENGTHS = { 6: "Six-digit", 9: "Nine-digit", 12: "Twelve-digit" } as const satisfies Record<CodeLength, string>;

/** Renders the page that takes the code of a message. `length` is that of the code, `expiresIn` is in seconds. */
export const renderCodeForm = (
  baseUrl: string,
  form: {
    token: string;
    email: string;
    length: CodeLength;
    expiresIn: number;
    typed: string;
    returnPath: string;
    errors: FormErrors;
    /** The message is in the mailbox of this process (src/mail/mailbox.ts). */
    inMailbox: boolean;
  },
): string =>
  renderPage("sign_in_code", baseUrl, { ...form, kind: LENGTHS[form.length], left: minutesLeft(form.expiresIn) });

/** Renders the page behind a message's link, for the browser that asked for the message. */
export const renderLink = (baseUrl: string, link: { token: string; error: string | null }): string =>
  renderPage("sign_in_link", baseUrl, link);

/** Renders the page behind a message's link for any other browser: the code to type. `expiresIn` is in seconds. */
export const renderLinkCode = (baseUrl: string, link: { code: string; expiresIn: number }): string =>
  renderPage("sign_in_elsewhere", baseUrl, {
    digits: link.code.match(/.{3}/g)?.join(" "),
    left: minutesLeft(link.expiresIn),
  });

/** The Problem codes that end an attempt, each with the heading of its page. */
const ENDINGS: Partial<Record<ProblemCode, string>> = {
  bad_request: "You were not signed in",
  not_found: "Nothing to finish here",
  invalid_state: "That did not work",
  link_expired: "This has ended",
  service_unavailable: "Briefly unavailable",
};

/** Whether a Problem with this code ends a sign-in attempt. */
export const endsAttempt = (code: ProblemCode): boolean => Object.hasOwn(ENDINGS, code);

/** Renders the page of an attempt that ended without a session. `label`: the account that is signed in all the same. */
export const renderEnding = (
  baseUrl: string,
  ending: { code: ProblemCode; detail: string; returnPath: string; label: string | null; requestId: string },
): string => renderPage("sign_in_ended", baseUrl, { ...ending, heading: ENDINGS[ending.code] });

/** Renders the page on which a person signs out; without a label, the page after signing out. */
export const renderSignOut = (
  baseUrl: string,
  form: { label: string | null; isKept: boolean; token: string; everywhereToken: string; stale: boolean },
): string => renderPage("sign_out", baseUrl, form);
