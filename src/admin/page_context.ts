import type { Request, Response } from "express";
import { z } from "zod";
import { PROBLEMS, type Problem, type ProblemCode, problem, problemOf } from "../base/problem.ts";
import type { Arguments } from "../database/database.ts";
import { type Handler, readAnswer, STALE_FORM, seeOther } from "../pages/frame.ts";
import type { Frame } from "./render.ts";

/** What an admin page uses: functions of schema `admin` as the moderator, and the frame of the page. */
export type PageContext = {
  /** Calls a function as the moderator of a request, in one transaction. @returns its result as text @throws Problem */
  call: (request: Request, name: string, args?: Arguments) => Promise<string>;
  baseUrl: () => string;
  /**
   * Renders a page.
   * @param shown what its function returned, and what else its template and frame need
   */
  render: (
    request: Request,
    template: string,
    shown: Shown & Pick<Frame, "notice" | "fault"> & Record<string, unknown>,
  ) => string;
  /** The CSRF token of the page's forms. */
  token: (request: Request, response: Response) => string;
  /** The path of an admin page on this host. */
  path: (path: string) => string;
};

/** What every function of a page returns: the moderator who requests it. */
export type Shown = Pick<Frame, "viewer">;

/** A page of a list, and the cursor of the next one. */
export type Rows<Row> = { rows: Row[]; next: string | null };

/** Reads the fields of a form. @throws Problem when this browser did not get the form from us */
export const formOf = async (context: PageContext, request: Request, response: Response): Promise<URLSearchParams> => {
  const { fields, stale } = await readAnswer(request, response, context.baseUrl());
  // If the form is refused, the page shows the typed text again.
  response.locals["typed"] = fields;
  if (stale) throw STALE_FORM;
  return fields;
};

/** The text that was typed into a field of the refused form; "" when there is none. */
export const typed = (response: Response, field: string): string => {
  const fields: unknown = response.locals["typed"];
  return fields instanceof URLSearchParams ? (fields.get(field) ?? "") : "";
};

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
 * The Problem to show on the page, if the moderator can do something about it there. @throws what was thrown, otherwise
 */
const problemToShow = (thrown: unknown): Problem => {
  const failure = problemOf(thrown);
  if (SHOWN.includes(failure.code)) return failure;
  throw thrown;
};

/**
 * The handlers of a page with a form. After a form is done, the browser is redirected. A refused form shows the page
 * again with the Problem.
 * @param show renders the page, with the Problem if there is one
 * @param act does what the form asks for, and returns the path to redirect to
 */
export const formPage = (
  show: (request: Request, response: Response, refused?: Problem) => Promise<string>,
  act: (request: Request, response: Response) => Promise<string>,
): { get: Handler; post: Handler } => ({
  get: async (request, response) => {
    response.type("html").send(await show(request, response));
  },
  post: async (request, response) => {
    try {
      seeOther(response, await act(request, response));
    } catch (thrown) {
      const refused = problemToShow(thrown);
      const page = await show(request, response, refused);
      response.status(PROBLEMS[refused.code].status);
      response.type("html").send(page);
    }
  },
});

const DONE: Record<string, string> = {
  keep: "Kept.",
  remove: "Removed. Its owner reads why, and may appeal once.",
  restore: "Restored.",
  uphold: "The removal stands.",
  publish: "Published.",
  reject: "Rejected. Its owner reads why.",
};

/**
 * The notice after a decision redirected here: the query parameter `done` is the decision, `of` the offer.
 * @returns undefined when there was none
 */
export const noticeOf = (
  context: PageContext,
  request: Request,
): { text: string; href?: string; link?: string } | undefined => {
  const text = DONE[queried(request.query["done"], 20)];
  const of = queriedId(request.query["of"]);
  if (text === undefined) return undefined;
  return of === null ? { text } : { text, href: context.path(`/offers/${of}`), link: "Look at it again" };
};
