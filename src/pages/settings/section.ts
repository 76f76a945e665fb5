import type { Request, Response } from "express";
import { rootOf } from "../../base/address.ts";
import type { SignInMethod } from "../../base/enums.ts";
import { isId } from "../../base/ids.ts";
import { PROBLEMS, problem, problemOf } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { Actor, Arguments } from "../../database/database.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, seeOther, wantsJson } from "../frame.ts";
import { LABEL_LENGTH, renderPage } from "../render.ts";
import { keepSession, personOf } from "../session.ts";
import type { Kept } from "./kept.ts";

/**
 * What the sections of the settings share: they need a signed-in person, have one navigation, and show at the top what
 * was done or why it was not.
 */

const SECTIONS = [
  { path: "/settings", title: "Agents" },
  { path: "/settings/market", title: "Offers and asks" },
  { path: "/settings/conversations", title: "Conversations" },
  { path: "/settings/alerts", title: "Alerts" },
  { path: "/settings/activity", title: "Activity" },
  { path: "/settings/webhooks", title: "Webhooks" },
  { path: "/settings/profile", title: "Profile" },
  { path: "/settings/methods", title: "Signing in" },
  { path: "/settings/account", title: "Account" },
] as const;

type SectionPath = (typeof SECTIONS)[number]["path"];

/**
 * The confirmations that a page shows after a form was done. The URL contains only the code, so that a link cannot put
 * other people's text on our page.
 */
const SENTENCES = {
  "agent-removed": "The agent is removed. It can do nothing in your name any more.",
  "agent-approved": "The agent acts for you again.",
  "powers-saved": "It is saved, and counts from the agent’s next call on.",
  "message-sent": "Your message is sent.",
  "conversation-read": "Everything here counts as read.",
  "proposal-accepted": "You have accepted. Below is what became of it.",
  "proposal-declined": "You have declined the proposal.",
  "proposal-withdrawn": "Your proposal is withdrawn.",
  "conversation-closed": "The conversation is closed, and what was pending in it has ended.",
  "conversation-blocked": "You hear nothing more of the other side, whichever offer it is about.",
  "conversation-reported": "Thank you. A moderator will read this conversation.",
  unblocked: "The block is undone. The other side can write to you again.",
  "profile-saved": "Your profile is saved.",
  "method-removed": "The way to sign in is removed, and every other browser is signed out of this account.",
  "offer-archived": "The offer is archived. Nobody finds it any more, and your agent can publish it again.",
  "offer-confirmed": "Your offer is still available. Everyone can find it, as before.",
  "digest-on": "News comes by mail: at most once a day, and when an agreement waits for you.",
  "digest-off": "You get no more mail about matches, conversations and agreements.",
  "ask-watched": "You and your agents hear of new matches of this ask.",
  "ask-unwatched": "You no longer hear of new matches of this ask.",
  "ask-archived": "The ask is archived. Nothing is looked for any more, and your agent can open it again.",
  "webhook-tested": "A test event is on its way. Load this page again in a moment to see what became of it.",
  "webhook-challenged":
    "The address is asked once more whether it wants events. Load this page again in a moment to see whether it answered.",
  "webhook-deleted": "The webhook is deleted. Nothing more is sent to it.",
} as const;

type Done = keyof typeof SENTENCES;

/** The result of api.get_account. */
export type Account = {
  display_name: string | null;
  contact_email: string | null;
  contact_phone: string | null;
  contact_visibility: string | null;
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

/**
 * The result of a form that was not done: the status of the response, the message, the typed fields, and the errors of
 * single fields, by JSON Pointer.
 */
type FormState = {
  status: number;
  alert: string | null;
  fields: URLSearchParams | null;
  errors: { pointer: string; detail: string }[];
};

const NOTHING: FormState = { status: 200, alert: null, fields: null, errors: [] };

const STALE =
  "The page was open for too long, or this browser did not keep the cookie that goes with it, so nothing was changed yet. Check it, and press the button again.";

/** Calls a function of schema api for the person at this browser. @throws Problem of the function */
export type Ask = <Answer>(name: string, args?: Arguments) => Promise<Answer>;

/** A request for a page, or for the page with a form that was not done. */
type Visit = {
  request: Request;
  form: FormState;
  ask: Ask;
  account: Promise<Account>;
  /** Gives this browser a token for the forms that it sends to a path. */
  token: (path: string) => string;
};

/** What a button does: a call for the person, and the confirmation to show after it. */
type Action = {
  call: string;
  args: (fields: URLSearchParams, request: Request) => Arguments;
  done: Done;
};

/** What a button does that needs more than a call. It returns the path to redirect to. */
type Act = (fields: URLSearchParams, person: Actor, request: Request, response: Response) => Promise<string>;

/** A section of the settings, or a page below it. */
export type Section = {
  path: string;
  /** The section in the navigation, if the page has another path. */
  below?: SectionPath;
  /** The page's name in the log. */
  operation: string;
  template: string;
  /**
   * Returns what the template shows besides the account, the state of the form and its token, or the path to redirect to
   * because there is nothing to show.
   */
  show: (visit: Visit) => Promise<object | string> | object;
  /** By the value of the field `action` that each button sends. The section shows at its top what an action throws. */
  actions?: Record<string, Action | Act>;
  /** Where an action leads; without it, back to the section. */
  backTo?: (request: Request, done: Done) => string;
  /** Its form holds typed text, so it is shown again even to a person whose session has ended. */
  keepsTyped?: true;
};

/** The id of the thing that a form is about. @throws Problem not_found if it is none */
export const idIn = (fields: URLSearchParams, thing: string, field = "id"): string => {
  const id = fields.get(field);
  if (!isId(id)) throw problem("not_found", `You have no such ${thing}.`);
  return id;
};

/**
 * Returns what calls functions of schema api for the person at this browser. It uses the write pool, so that a person
 * who has just pressed a button sees its effect.
 */
export const askAs =
  ({ database, baseUrl }: PagesContext, request: Request): Ask =>
  async <Answer>(name: string, args: Arguments = {}) =>
    JSON.parse(await database.call(personOf(request, baseUrl()), name, args, "write")) as Answer;

/** The sentence above a form with invalid fields, which say themselves what is wrong; null if none is. */
const alertFor = ({ length }: FormState["errors"]): string | null =>
  length === 0
    ? null
    : `Nothing is saved yet. ${length === 1 ? "One field needs" : `${length} fields need`} another look.`;

/** Makes the page of a section. A refused form shows the same page, which says why and keeps the typed text. */
export const sectionPage = (context: PagesContext, section: Section): Page => {
  const { database, baseUrl } = context;
  const { path, below = path, operation, template, actions = {}, keepsTyped } = section;
  const { backTo = (_request, done) => `${path}?done=${done}` } = section;

  const show = async (request: Request, response: Response, sent: FormState): Promise<void> => {
    const ask = askAs(context, request);
    const token = (formPath: string) => giveFormToken(request, response, baseUrl(), formPath);
    const asked = ask<Account>("get_account");
    const [account, shown] = await Promise.all([
      // Null if the session has ended, and the page keeps the typed text.
      asked.catch((thrown: unknown) => {
        if (keepsTyped && sent.fields !== null && problemOf(thrown).code === "unauthorized") return null;
        throw thrown;
      }),
      section.show({ request, form: sent, ask, account: asked, token }),
    ]);
    if (typeof shown === "string") return seeOther(response, rootOf(baseUrl()) + shown);
    const form = account === null ? { ...sent, status: 401, alert: null } : sent;
    const html = renderPage(template, baseUrl(), {
      token: token(request.path),
      ...shown,
      sections: SECTIONS.map(({ title, ...own }) => ({ title, path: own.path, isCurrent: own.path === below })),
      whose: account === null ? null : visibleText(account.label, LABEL_LENGTH),
      isKept: account === null || account.methods.length > 0,
      canAdd: account !== null && account.available_methods.length > 0,
      alert: form.alert,
      done: form.alert === null ? doneOf(request) : null,
    });
    if (account !== null) keepSession(request, response, baseUrl());
    response.status(form.status).type("html").send(html);
  };

  const act = async (fields: URLSearchParams, request: Request, response: Response): Promise<string> => {
    const name = fields.get("action") ?? "";
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) throw problem("bad_request", "This page has no such button. Nothing was changed.");
    const person = personOf(request, baseUrl());
    if (typeof action === "function") return action(fields, person, request, response);
    await database.call(person, action.call, action.args(fields, request));
    return backTo(request, action.done);
  };

  const post = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    try {
      if (stale) throw problem("bad_request", STALE);
      seeOther(response, rootOf(baseUrl()) + (await act(fields, request, response)));
    } catch (thrown) {
      const { code, detail, members = {} } = problemOf(thrown);
      const { status } = PROBLEMS[code];
      if (status >= 500 || (code === "unauthorized" && !keepsTyped) || wantsJson(request)) throw thrown;
      const errors: FormState["errors"] = Array.isArray(members["errors"]) ? members["errors"] : [];
      await show(request, response, { status, alert: alertFor(errors) ?? detail, fields, errors });
    }
  };
  return {
    path,
    operation,
    needsSignIn: true,
    get: (request, response) => show(request, response, NOTHING),
    ...(section.actions ? { post } : {}),
  };
};

/** A query parameter; null when it is missing, repeated, or does not match `form`. */
export const parameter = (request: Request, name: string, form: RegExp): string | null => {
  const value = request.query[name];
  return typeof value === "string" && form.test(value) ? value : null;
};

/** The confirmation that the URL asks for; null when it names none that we know. */
const doneOf = (request: Request): string | null => {
  const code = parameter(request, "done", /^[a-z-]{1,40}$/);
  return code !== null && Object.hasOwn(SENTENCES, code) ? SENTENCES[code as Done] : null;
};

/** A page of one of the person's lists, with the cursor by which it was read. */
export type Listed<List> = List & { cursor: string | null };

/** Reads the page of a list that the URL asks for, or with a cursor that is not of this list, the first page. */
export const listed = async <List>(
  request: Request,
  read: (cursor: string | null) => Promise<List>,
): Promise<Listed<List>> => {
  const cursor = parameter(request, "cursor", CURSOR);
  try {
    return { ...(await read(cursor)), cursor };
  } catch (thrown) {
    if (cursor === null || problemOf(thrown).code !== "bad_request") throw thrown;
    return { ...(await read(null)), cursor: null };
  }
};

/** The form of the database's cursors. */
export const CURSOR = /^[\w-]{1,2000}$/;
