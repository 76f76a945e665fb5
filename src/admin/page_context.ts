import type { Request, Response } from "express";
import { z } from "zod";
import { rootOf } from "../base/address.ts";
import { PROBLEMS, type Problem, type ProblemCode, problem, problemOf } from "../base/problem.ts";
import type { Arguments, Database } from "../database/database.ts";
import { type Page, readAnswer, STALE_FORM, seeOther } from "../pages/frame.ts";
import { signInPath } from "../pages/render.ts";
import { sessionHash } from "../pages/session.ts";
import { giveFormToken } from "../web/csrf.ts";
import { BAD_VALUE, isBadValue } from "./bad_value.ts";
import { type Frame, renderAdmin } from "./render.ts";

/** A moderator's request for a page, or for what the form of the page asks for. */
export type Visit = {
  request: Request;
  /** Calls a function of schema admin as the moderator, in one transaction. @returns its result as text @throws Problem */
  call: (name: string, args: Arguments) => Promise<string>;
  /** The same for a function that returns JSON. */
  ask: <Answer>(name: string, args?: Arguments) => Promise<Answer>;
  /** What the moderator typed into a field of the form that was refused; "" without one. */
  typed: (field: string) => string;
  /** The path of an admin page on this host. */
  path: (path: string) => string;
};

/** What every function of a page returns: the moderator who requests it. */
export type Shown = Pick<Frame, "viewer">;

/** A page for moderators. */
export type AdminPage = {
  path: string;
  operation: string;
  template: string;
  /** Returns what its function returned, and what else its template and frame need. A `fault` is a 400. */
  show: (visit: Visit) => Promise<Shown & Pick<Frame, "notice" | "fault"> & Record<string, unknown>>;
  /** Does what the form asks for, and returns the path below /admin to redirect to. */
  act?: (visit: Visit, fields: URLSearchParams) => Promise<string>;
};

/** A page of a list, and the cursor of the next one. */
export type Rows<Row> = { rows: Row[]; next: string | null };

const uuid = z.uuid();

/** The id in the path. @throws Problem not_found when it is not a UUID */
export const idOf = (request: Request): string => {
  const { success, data } = uuid.safeParse(request.params["id"]);
  if (!success) throw problem("not_found", "There is nothing with this id.");
  return data;
};

/** An id in the query string or a form; null when it is not a UUID. */
export const queriedId = (value: unknown): string | null => uuid.safeParse(value).data ?? null;

/** Longer than any cursor of a list. */
export const CURSOR_LENGTH = 1_000;

/** A text in the query string or a form, cut to `length`; "" when there is none. */
export const queried = (value: unknown, length: number): string =>
  typeof value === "string" ? value.slice(0, length) : "";

/** Problems that the moderator can remove: what was typed, what has changed, or that a sign-in is needed. */
const SHOWN: readonly ProblemCode[] = ["bad_request", "invalid_state", "unauthorized", "verification_required"];

/**
 * Serves a page for moderators. After its form is done, the browser is redirected. A refused form shows the page again
 * with the Problem, if the moderator can do something about it there.
 */
export const servedPage = (
  { path, operation, template, show, act }: AdminPage,
  { call }: Pick<Database, "call">,
  baseUrl: () => string,
): Page => {
  const below = (to: string): string => `${rootOf(baseUrl())}/admin${to}`;

  const visitOf = (request: Request, fields?: URLSearchParams): Visit => {
    const asModerator: Visit["call"] = async (name, args) => {
      const moderator = sessionHash(request, baseUrl());
      if (moderator === null) throw problem("not_found", "There is nothing at this address.");
      return call({ moderator }, name, args).catch((error: unknown) => {
        throw isBadValue(error) ? problem("bad_request", BAD_VALUE) : error;
      });
    };
    return {
      request,
      call: asModerator,
      ask: async (name, args = {}) => JSON.parse(await asModerator(name, args)),
      typed: (field) => fields?.get(field) ?? "",
      path: below,
    };
  };

  const send = async (request: Request, response: Response, refused?: Problem, fields?: URLSearchParams) => {
    const shown = await show(visitOf(request, fields));
    const status = refused ? PROBLEMS[refused.code].status : shown.fault === undefined ? 200 : 400;
    const html = renderAdmin({
      ...shown,
      fault: refused?.detail ?? shown.fault,
      token: giveFormToken(request, response, baseUrl(), request.path),
      baseUrl: baseUrl(),
      template,
      signIn: signInPath(baseUrl(), request.originalUrl, true),
    });
    response.status(status).type("html").send(html);
  };

  return {
    path,
    operation,
    runsScripts: true,
    get: (request, response) => send(request, response),
    ...(act && {
      post: async (request: Request, response: Response) => {
        let fields: URLSearchParams | undefined;
        try {
          const answer = await readAnswer(request, response, baseUrl());
          fields = answer.fields;
          if (answer.stale) throw STALE_FORM;
          seeOther(response, below(await act(visitOf(request), fields)));
        } catch (thrown) {
          const refused = problemOf(thrown);
          if (!SHOWN.includes(refused.code)) throw thrown;
          await send(request, response, refused, fields);
        }
      },
    }),
  };
};

const DONE: Record<string, string> = {
  keep: "Kept.",
  remove: "Removed. Its owner reads why, and may appeal once.",
  restore: "Restored.",
  uphold: "The removal stands.",
  publish: "Published.",
  reject: "Rejected. Its owner reads why.",
  settle: "Settled.",
};

/** The notice after a decision redirected here: the query parameter `done` is the decision, `of` the offer. */
export const noticeOf = ({ request, path }: Visit): Frame["notice"] => {
  const text = DONE[queried(request.query["done"], 20)];
  const of = queriedId(request.query["of"]);
  if (text === undefined || of === null) return text === undefined ? undefined : { text };
  return { text, href: path(`/offers/${of}`), link: "Look at it again" };
};
