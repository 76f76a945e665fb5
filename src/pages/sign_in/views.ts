import type { SignInMethod } from "../../database/enums.ts";
import type { ProblemCode } from "../../http/problem.ts";
import { nameOfMethod } from "../../sign_in/methods.ts";
import { minutesLeft, renderPage } from "../render.ts";

/** Renders the sign-in pages from plain data. `token` is always the form's token from src/pages/forgery.ts. */

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

/** Renders the page that takes the code of a message. `expiresIn` is in seconds. */
export const renderCodeForm = (
  baseUrl: string,
  form: { token: string; email: string; expiresIn: number; typed: string; returnPath: string; errors: FormErrors },
): string => renderPage("sign_in_code", baseUrl, { ...form, left: minutesLeft(form.expiresIn) });

/** Renders the page behind a message's link, for the browser that asked for the message. */
export const renderLink = (baseUrl: string, link: { token: string; error: string | null }): string =>
  renderPage("sign_in_link", baseUrl, link);

/** Renders the page behind a message's link for any other browser: the code to type. `expiresIn` is in seconds. */
export const renderLinkCode = (baseUrl: string, link: { code: string; expiresIn: number }): string =>
  renderPage("sign_in_elsewhere", baseUrl, {
    digits: `${link.code.slice(0, 3)} ${link.code.slice(3)}`,
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
  form: { label: string | null; token: string; everywhereToken: string; stale: boolean },
): string => renderPage("sign_out", baseUrl, form);
