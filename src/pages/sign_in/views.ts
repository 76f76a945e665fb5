import type { SignInMethod } from "../../database/enums.ts";
import type { ProblemCode } from "../../http/problem.ts";
import { nameOfMethod } from "../../sign_in/methods.ts";
import { minutesLeft, renderPage } from "../render.ts";

/** The pages of signing in as text, from plain data. `token` is always the form's, from src/pages/forgery.ts. */

/** What was wrong with a form: about its one field, or about all of it. */
export type FormErrors = { field?: string; form?: string };

/** The page on which a person chooses how to sign in. */
export const renderChoice = (
  baseUrl: string,
  choice: {
    token: string;
    methods: readonly SignInMethod[];
    /** What was typed before. */
    email: string;
    returnPath: string;
    purpose: "sign_in" | "add";
    /** Although signed in, since it was long ago. */
    again: boolean;
    /** Who is signed in already. */
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

/** The page that takes the code from the mail. `expiresIn` in seconds. */
export const renderCodeForm = (
  baseUrl: string,
  form: { token: string; email: string; expiresIn: number; typed: string; returnPath: string; errors: FormErrors },
): string => renderPage("sign_in_code", baseUrl, { ...form, left: minutesLeft(form.expiresIn) });

/** What a mail's link shows in the browser that asked for it. */
export const renderLink = (baseUrl: string, link: { token: string; error: string | null }): string =>
  renderPage("sign_in_link", baseUrl, link);

/** What a mail's link shows in any other browser: the code to carry over. */
export const renderLinkCode = (baseUrl: string, link: { code: string; expiresIn: number }): string =>
  renderPage("sign_in_elsewhere", baseUrl, {
    digits: `${link.code.slice(0, 3)} ${link.code.slice(3)}`,
    left: minutesLeft(link.expiresIn),
  });

/** Refusals that end an attempt, each with the heading of its page. */
const ENDINGS: Partial<Record<ProblemCode, string>> = {
  bad_request: "You were not signed in",
  not_found: "Nothing to finish here",
  invalid_state: "That did not work",
  link_expired: "This has ended",
  service_unavailable: "Briefly unavailable",
};

/** Whether a problem of this code ends the attempt to sign in. */
export const endsAttempt = (code: ProblemCode): boolean => Object.hasOwn(ENDINGS, code);

/** The page of an attempt that did not end in a session. `label`: who is signed in all the same. */
export const renderEnding = (
  baseUrl: string,
  ending: { code: ProblemCode; detail: string; returnPath: string; label: string | null; requestId: string },
): string => renderPage("sign_in_ended", baseUrl, { ...ending, heading: ENDINGS[ending.code] });

/** The page on which a person signs out; without a label, what it says afterwards. */
export const renderSignOut = (
  baseUrl: string,
  form: { label: string | null; token: string; everywhereToken: string; stale: boolean },
): string => renderPage("sign_out", baseUrl, form);
