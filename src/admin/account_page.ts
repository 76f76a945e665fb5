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
  type Rows,
  type Shown,
  typed,
} from "./page_context.ts";

/** The page of an account: its agents, offers, asks and decisions, and a moderator's measures. */

/** The lists of an account. Each has its own paging, with a cursor in the URL. */
const LISTS = ["agents", "offers", "asks"] as const;
type List = (typeof LISTS)[number];

const DONE: Record<string, string> = {
  suspend: "Suspended. What its agents write is refused from now on.",
  reinstate: "Reinstated. What the suspension hid goes live again.",
  remove_agent: "The agent is removed. Its token is refused from now on.",
  override_cap: "The cap holds from now on.",
};

/** Makes the page of an account, on which a moderator can suspend it, remove its agents and set its rate limits. */
export const accountPages = (context: PageContext): Page[] => {
  const show = async (request: Request, response: Response, refused?: Problem): Promise<string> => {
    const cursorOf = (list: List): string | null => queried(request.query[list], CURSOR_LENGTH) || null;
    const shown = JSON.parse(
      await context.call(request, "show_account", {
        id: idOf(request),
        agents_after: cursorOf("agents"),
        offers_after: cursorOf("offers"),
        asks_after: cursorOf("asks"),
      }),
    ) as Shown & { account: Record<List, Rows<object>> };
    const older = (list: List): string | null => {
      const { next } = shown.account[list];
      if (next === null) return null;
      const cursors = LISTS.map((one): [string, string] => [one, one === list ? next : (cursorOf(one) ?? "")]);
      return `?${new URLSearchParams(cursors.filter(([, cursor]) => cursor !== ""))}#${list}`;
    };
    const done = DONE[queried(request.query["done"], 20)];
    return context.render(request, "account", {
      ...shown,
      notice: done === undefined ? undefined : { text: done },
      fault: refused?.detail,
      older: Object.fromEntries(LISTS.map((list) => [list, older(list)])),
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
    if (measure === "suspend")
      await context.call(request, "suspend_account", { id, reason: fields.get("reason"), sentence: words });
    else if (measure === "reinstate")
      await context.call(request, "reinstate_account", { id, note: words, expected_suspended_at: expected });
    else if (measure === "remove_agent")
      await context.call(request, "remove_agent", { id: queriedId(fields.get("agent")) });
    else if (measure === "override_cap")
      await context.call(request, "override_cap", {
        account_id: id,
        action: fields.get("action"),
        // Empty for what the record gives.
        cap: fields.get("cap")?.trim() || null,
        expected_cap: expected,
      });
    else throw problem("bad_request", "That is none of the measures. Look at the page again.");
    return context.path(`/accounts/${id}?${new URLSearchParams({ done: measure })}`);
  };

  return [{ path: "/admin/accounts/:id", operation: "adminAccount", ...formPage(show, act) }];
};
