import type { Request, Response } from "express";
import { rootOf } from "../../base/address.ts";
import type { SignInMethod } from "../../base/enums.ts";
import { PROBLEMS, type Problem, problem, problemOf } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { Actor, Arguments } from "../../database/database.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, seeOther, wantsJson } from "../frame.ts";
import { LABEL_LENGTH, renderPage } from "../render.ts";
import { keepSession, personOf } from "../session.ts";
import { type Done, isDone, SENTENCES } from "./done.ts";
import type { Kept } from "./kept.ts";

/**
 * What the sections of the settings share: they need a signed-in person, have one navigation, and show at the top what
 * was done or why it was not.
 *
 *   form state  the result of a form that was not done: why, and what was typed
 *   action      what a button of the section does; returns the path to redirect to
 */

const SECTIONS = [
  { path: "/settings", title: "Agents" },
  { path: "/settings/market", title: "Offers and asks" },
  { path: "/settings/alerts", title: "Alerts" },
  { path: "/settings/activity", title: "Activity" },
  { path: "/settings/webhooks", title: "Webhooks" },
  { path: "/settings/profile", title: "Profile" },
  { path: "/settings/methods", title: "Signing in" },
  { path: "/settings/account", title: "Account" },
] as const;

/** The path of a section of the settings. */
export type SectionPath = (typeof SECTIONS)[number]["path"];

/** The result of api.get_account. */
export type Account = {
  display_name: string | null;
  contact_email: string | null;
  contact_phone: string | null;
  /** The name by which its person recognizes the account. */
  label: string;
  methods: { method: SignInMethod; email: string | null; proved_at: string }[];
  available_methods: SignInMethod[];
  unavailable_methods: SignInMethod[];
  /** The number of browsers that are signed in. */
  sessions: number;
  /** What is kept for twelve months after the account is deleted; null for nothing. */
  kept_after_deletion: Kept | null;
};

/** An error of one field of a form. `pointer` is a JSON Pointer. */
export type FieldError = { pointer: string; detail: string };

/**
 * The result of a form that was not done: the status of the response, the message, the typed fields, and the errors of
 * single fields.
 */
export type FormState = {
  status: number;
  alert: string | null;
  fields: URLSearchParams | null;
  errors: FieldError[];
};

const NOTHING: FormState = { status: 200, alert: null, fields: null, errors: [] };

const STALE =
  "The page was open for too long, or this browser did not keep the cookie that goes with it, so nothing was changed yet. Check it, and press the button again.";

/** Sends the section, with the state of its form. */
type Show = (request: Request, response: Response, form: FormState) => Promise<void>;

/** Does what a button asks for, and returns the path to redirect to. The section shows at its top what this throws. */
type Action = (fields: URLSearchParams, person: Actor, request: Request, response: Response) => Promise<string>;

/** A section of the settings: its page, and the actions of its buttons. */
export type Section = {
  path: string;
  /** The page's name in the log. */
  operation: string;
  show: Show;
  /** The actions, by the value of the field `action` that each button sends. */
  actions: Record<string, Action>;
  /** Its form holds typed text, so it is shown again even to a person whose session has ended. */
  keepsTyped?: true;
};

/** The state of a form that a Problem refused. */
const formStateOf = (failure: Problem, fields: URLSearchParams): FormState => {
  const { errors } = failure.members ?? {};
  return {
    status: PROBLEMS[failure.code].status,
    alert: failure.detail,
    fields,
    errors: Array.isArray(errors) ? errors : [],
  };
};

/** Makes the page of a section. A refused form shows the same page, which says why and keeps the typed text. */
export const sectionPage = (
  { baseUrl }: PagesContext,
  { path, operation, show, actions, keepsTyped }: Section,
): Page => {
  const post = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    try {
      if (stale) throw problem("bad_request", STALE);
      const name = fields.get("action") ?? "";
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
      if (action === undefined) throw problem("bad_request", "This page has no such button. Nothing was changed.");
      seeOther(response, rootOf(baseUrl()) + (await action(fields, personOf(request, baseUrl()), request, response)));
    } catch (thrown) {
      const failure = problemOf(thrown);
      const form = formStateOf(failure, fields);
      const isThrown = form.status >= 500 || (failure.code === "unauthorized" && !keepsTyped);
      if (isThrown || wantsJson(request)) throw thrown;
      await show(request, response, form);
    }
  };
  return {
    path,
    operation,
    needsSignIn: true,
    get: (request, response) => show(request, response, NOTHING),
    ...(Object.keys(actions).length > 0 ? { post } : {}),
  };
};

/**
 * Calls functions of schema api for the person at this browser. Uses the write pool, so that a person who has just
 * pressed a button sees its effect.
 * @throws Problem of the function; unauthorized when nobody is signed in
 */
export const askAs =
  ({ database, baseUrl }: PagesContext) =>
  async <Answer>(request: Request, name: string, args: Arguments = {}): Promise<Answer> =>
    JSON.parse(await database.call(personOf(request, baseUrl()), name, args, "write")) as Answer;

/**
 * Sends the page of a section.
 * @param section.account null only when the session has ended and the page keeps the typed text
 */
export const sendSection = (
  response: Response,
  baseUrl: string,
  section: { template: string; path: SectionPath; account: Account | null; form: FormState; done: Done | null },
  data: object,
): void => {
  const { template, path, account, form, done } = section;
  const html = renderPage(template, baseUrl, {
    ...data,
    sections: SECTIONS.map(({ title, ...own }) => ({ title, path: own.path, isCurrent: own.path === path })),
    whose: account === null ? null : visibleText(account.label, LABEL_LENGTH),
    isKept: account === null || account.methods.length > 0,
    canAdd: account !== null && account.available_methods.length > 0,
    alert: form.alert,
    done: form.alert === null && done !== null ? SENTENCES[done] : null,
  });
  if (account !== null) keepSession(response.req, response, baseUrl);
  response.status(form.status).type("html").send(html);
};

/** A query parameter; null when it is missing, repeated, or does not match `form`. */
export const parameter = (request: Request, name: string, form: RegExp): string | null => {
  const value = request.query[name];
  return typeof value === "string" && form.test(value) ? value : null;
};

/** The confirmation that the URL asks for; null when it names none that we know. */
export const doneOf = (request: Request): Done | null => {
  const code = parameter(request, "done", /^[a-z-]{1,40}$/);
  return code !== null && isDone(code) ? code : null;
};

/** The form of the database's cursors. */
export const CURSOR = /^[\w-]{1,2000}$/;
