import type { Request, Response } from "express";
import type { Actor, Arguments } from "../../database/database.ts";
import type { SignInMethod } from "../../database/enums.ts";
import { PROBLEMS, type Problem, problem, problemOf } from "../../http/problem.ts";
import { visibleText } from "../../http/visible_text.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, seeOther, wantsJson } from "../frame.ts";
import { LABEL_LENGTH, renderPage, rootOf } from "../render.ts";
import { personOf } from "../session.ts";
import { type Done, isDone, SENTENCES } from "./done.ts";

/**
 * What the sections of the settings share: they belong to a signed-in person, stand under one navigation, and tell above
 * themselves what was done or what stood in the way.
 *
 *   form    what came of a form: why it was not done, and what was typed
 *   action  what a button of the section does; gives where to look next
 */

const SECTIONS = [
  { path: "/settings", title: "Agents" },
  { path: "/settings/market", title: "Offers and asks" },
  { path: "/settings/activity", title: "Activity" },
  { path: "/settings/profile", title: "Profile" },
  { path: "/settings/methods", title: "Signing in" },
  { path: "/settings/account", title: "Account" },
] as const;

/** The path of a section of the settings. */
export type SectionPath = (typeof SECTIONS)[number]["path"];

/** What api.get_account gives. */
export type Account = {
  display_name: string | null;
  contact_email: string | null;
  contact_phone: string | null;
  /** What tells its person which account it is. */
  label: string;
  methods: { method: SignInMethod; email: string | null; proved_at: string }[];
  available_methods: SignInMethod[];
  unavailable_methods: SignInMethod[];
  /** Browsers that are signed in. */
  sessions: number;
};

/** What is wrong with one field of a form. */
export type FieldError = { pointer: string; detail: string };

/** What came of a form: why it was not done, and what was typed. */
export type FormState = {
  status: number;
  alert: string | null;
  fields: URLSearchParams | null;
  errors: FieldError[];
};

/** Nothing was sent: a person just looks. */
const NOTHING: FormState = { status: 200, alert: null, fields: null, errors: [] };

const STALE =
  "The page was open for too long, or this browser did not keep the cookie that goes with it, so nothing was changed yet. Check it, and press the button again.";

/** Shows a section, with what came of a form that was not done. */
type Show = (request: Request, response: Response, form: FormState) => Promise<void>;

/** Does what a button asks for, and gives the address to look at next. What it throws is told above the section. */
type Action = (fields: URLSearchParams, person: Actor, request: Request, response: Response) => Promise<string>;

/** A section of the settings: what it shows, and what its buttons do. */
export type Section = {
  path: string;
  /** Names the page in the log. */
  operation: string;
  show: Show;
  /** By the value of the field `action`, which every button of the section sends. */
  actions: Record<string, Action>;
  /** Its forms hold typed text, so they are shown again even to who is not signed in any more. */
  keepsTyped?: true;
};

/** Why a form was not done, as the section tells it. */
const formStateOf = (failure: Problem, fields: URLSearchParams): FormState => {
  const { errors } = failure.members ?? {};
  return {
    status: PROBLEMS[failure.code].status,
    alert: failure.detail,
    fields,
    errors: Array.isArray(errors) ? errors : [],
  };
};

/** A section as a page: a form that cannot be done leads to the same page, which says why and keeps what was typed. */
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
      const leads = form.status >= 500 || (failure.code === "unauthorized" && !keepsTyped);
      if (leads || wantsJson(request)) throw thrown;
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

/** Calls a function for the person at this browser. On the pool that writes: who has just pressed a button sees what it did. */
export const askAs =
  ({ database, baseUrl }: PagesContext) =>
  async <Answer>(request: Request, name: string, args: Arguments = {}): Promise<Answer> =>
    JSON.parse(await database.call(personOf(request, baseUrl()), name, args, "write")) as Answer;

/** Sends a section's page. `account` is null only for who is not signed in any more and keeps what was typed. */
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
    alert: form.alert,
    done: form.alert === null && done !== null ? SENTENCES[done] : null,
  });
  response.status(form.status).type("html").send(html);
};

/** A parameter of the address, when it is there once and looks as it should. */
export const parameter = (request: Request, name: string, form: RegExp): string | null => {
  const value = request.query[name];
  return typeof value === "string" && form.test(value) ? value : null;
};

/** What was done before this page was opened, when its address says so in a word that we know. */
export const doneOf = (request: Request): Done | null => {
  const code = parameter(request, "done", /^[a-z-]{1,40}$/);
  return code !== null && isDone(code) ? code : null;
};

/** A cursor as the database makes it. */
export const CURSOR = /^[\w-]{1,2000}$/;
