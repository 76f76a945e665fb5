import type { Request, Response } from "express";
import { z } from "zod";
import { type Problem, problem, problemOf } from "../http/problem.ts";
import { type Handler, readAnswer, STALE_FORM, seeOther } from "../pages/frame.ts";
import type { OperationName } from "./operations.ts";
import type { Frame } from "./render.ts";

/** What a page of the admin works with: its moderator's GraphQL, and the frame around what it shows. */
export type PageContext = {
  /** Runs an operation as the moderator of a request. @throws Problem, the first that GraphQL tells of */
  ask: <Data>(request: Request, operation: OperationName, variables?: Record<string, unknown>) => Promise<Data>;
  baseUrl: () => string;
  frame: (viewer: Frame["viewer"], place: Frame["place"], rest?: Pick<Frame, "notice" | "fault">) => Frame;
  /** The token of the forms on a page. */
  token: (request: Request, response: Response) => string;
  /** Where a page of the admin is. */
  path: (path: string) => string;
};

/** The moderator who looks at a page. */
export type Viewer = { viewer: Frame["viewer"] };

/** Whether a list goes on, and from where. */
export type PageInfo = { hasNextPage: boolean; endCursor: string | null };

/** A form's fields, read and found to be this browser's. @throws Problem */
export const formOf = async (context: PageContext, request: Request, response: Response): Promise<URLSearchParams> => {
  const { fields, stale } = await readAnswer(request, response, context.baseUrl());
  // What was typed comes back with the page that says why it was refused.
  response.locals["typed"] = fields;
  if (stale) throw STALE_FORM;
  return fields;
};

/** What was typed into the form that this page answers; "" where nothing was. */
export const typed = (response: Response, field: string): string => {
  const fields: unknown = response.locals["typed"];
  return fields instanceof URLSearchParams ? (fields.get(field) ?? "") : "";
};

const uuid = z.uuid();

/** The id that a page's address names. @throws Problem not_found when it is none */
export const idOf = (request: Request): string => {
  const { success, data } = uuid.safeParse(request.params["id"]);
  if (!success) throw problem("not_found", "There is nothing with this id.");
  return data;
};

/** An id in a query, or null. */
export const queriedId = (value: unknown): string | null => uuid.safeParse(value).data ?? null;

/** The cursors of lists are shorter. */
export const CURSOR_LENGTH = 1_000;

/** Text in a query, or "" when there is none. */
export const queried = (value: unknown, length: number): string =>
  typeof value === "string" ? value.slice(0, length) : "";

/** A refusal that the person at the page can do something about there; anything else is thrown on. */
const mendable = (thrown: unknown): Problem => {
  const failure = problemOf(thrown);
  if (failure.code === "bad_request" || failure.code === "invalid_state") return failure;
  throw thrown;
};

/**
 * The page of a form: shows itself, and after an answer leads on; what was refused is said on the page, in place.
 * @param show gives the page, with what was refused
 * @param act does what the form says, and gives where to go
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
      const refused = mendable(thrown);
      const page = await show(request, response, refused);
      response.status(refused.code === "invalid_state" ? 409 : 400);
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

/** What to say after a decision that led here: `done` is the decision, `of` the offer. */
export const noticeOf = (
  context: PageContext,
  request: Request,
): { text: string; href?: string; link?: string } | undefined => {
  const text = DONE[queried(request.query["done"], 20)];
  const of = queriedId(request.query["of"]);
  if (text === undefined) return undefined;
  return of === null ? { text } : { text, href: context.path(`/offers/${of}`), link: "Look at it again" };
};
