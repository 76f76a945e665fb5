import type { Request, Response } from "express";
import { type Problem, problem } from "../base/problem.ts";
import type { Page } from "../pages/frame.ts";
import {
  CURSOR_LENGTH,
  formOf,
  formPage,
  idOf,
  type PageContext,
  queried,
  queriedId,
  typed,
  type Viewer,
} from "./page_context.ts";
import { renderAdmin } from "./render.ts";

/** The page of an account: its agents, offers, asks and decisions, and a moderator's measures. */

type PageInfo = { hasNextPage: boolean; endCursor: string | null };
type Account = { id: string; suspendedAt: string | null } & Record<List, { pageInfo: PageInfo }>;

/** The lists of an account. Each has its own paging, with a cursor in the URL. */
const LISTS = ["agents", "offers", "asks"] as const;
type List = (typeof LISTS)[number];

const DONE: Record<string, string> = {
  suspend: "Suspended. What its agents write is refused from now on.",
  reinstate: "Reinstated. What the suspension hid goes live again.",
  remove_agent: "The agent is removed. Its token is refused from now on.",
  override_cap: "The cap holds from now on.",
};

/** Reads a rate limit from the form; null when the field is empty and the account stats decide. @throws Problem */
const capOf = (typed: string): number | null => {
  if (typed.trim() === "") return null;
  const cap = Number(typed);
  if (!Number.isInteger(cap))
    throw problem("bad_request", "A cap is a whole number, or empty for what the record gives.");
  return cap;
};

/** Makes the page of an account, on which a moderator can suspend it, remove its agents and set its rate limits. */
export const accountPages = (context: PageContext): Page[] => {
  const show = async (request: Request, response: Response, refused?: Problem): Promise<string> => {
    const cursors = new Map(LISTS.map((list) => [list, queried(request.query[list], CURSOR_LENGTH)] as const));
    const after = Object.fromEntries(LISTS.map((list) => [`${list}After`, cursors.get(list) || null]));
    const { viewer, account, reasons } = await context.ask<
      Viewer & { account: Account | null; reasons: { nodes: object[] } }
    >(request, "account", { id: idOf(request), ...after });
    if (account === null) throw problem("not_found", "There is no such account.");
    const done = DONE[queried(request.query["done"], 20)];
    const frame = context.frame(request, viewer, null, {
      notice: done === undefined ? undefined : { text: done },
      fault: refused?.detail,
    });
    const older = (list: List): string | null => {
      const { hasNextPage, endCursor } = account[list].pageInfo;
      if (!hasNextPage) return null;
      const address = new URLSearchParams([...cursors].filter(([one, cursor]) => one !== list && cursor !== ""));
      address.set(list, endCursor ?? "");
      return `?${address}#${list}`;
    };
    return renderAdmin("account", frame, {
      account,
      older: Object.fromEntries(LISTS.map((list) => [list, older(list)])),
      reasons: reasons.nodes,
      typedReason: typed(response, "reason"),
      typedWords: typed(response, "words"),
      token: context.token(request, response),
    });
  };

  const act = async (request: Request, response: Response): Promise<string> => {
    const id = idOf(request);
    const fields = await formOf(context, request, response);
    const measure = fields.get("decision") ?? "";
    const expected = fields.get("expected") || null;
    const words = fields.get("words")?.trim() || null;
    if (measure === "suspend") await context.ask(request, "suspend", { id, reason: fields.get("reason") ?? "", words });
    else if (measure === "reinstate") await context.ask(request, "reinstate", { id, words, expected });
    else if (measure === "remove_agent")
      await context.ask(request, "removeAgent", { id: queriedId(fields.get("agent")) });
    else if (measure === "override_cap") {
      const cap = capOf(fields.get("cap") ?? "");
      await context.ask(request, "overrideCap", {
        id,
        action: fields.get("action") ?? "",
        cap,
        expected: expected && Number(expected),
      });
    } else throw problem("bad_request", "That is none of the measures. Look at the page again.");
    return context.path(`/accounts/${id}?${new URLSearchParams({ done: measure })}`);
  };

  return [{ path: "/admin/accounts/:id", operation: "adminAccount", ...formPage(show, act) }];
};
