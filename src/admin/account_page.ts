import type { Request, Response } from "express";
import { type Refusal, refuse } from "../http/problem.ts";
import type { Page } from "../pages/frame.ts";
import {
  CURSOR_LENGTH,
  type Desk,
  formOf,
  formPage,
  idOf,
  queried,
  queriedId,
  typed,
  type Viewer,
} from "./page_context.ts";
import { renderAdmin } from "./render.ts";

/** An account with everything it has, and what can be done about it. */

type PageInfo = { hasNextPage: boolean; endCursor: string | null };
type Account = { id: string; suspendedAt: string | null } & Record<List, { pageInfo: PageInfo }>;

/** What an account has many of: shown by pages, each with a place of its own in the address. */
const LISTS = ["agents", "offers", "asks"] as const;
type List = (typeof LISTS)[number];

const DONE: Record<string, string> = {
  suspend: "Suspended. What its agents write is refused from now on.",
  reinstate: "Reinstated. What the suspension hid goes live again.",
  remove_agent: "The agent is removed. Its token is refused from now on.",
  override_cap: "The cap holds from now on.",
};

/** A cap as a person typed it: empty for what the record gives. @throws Refusal */
const capOf = (typed: string): number | null => {
  if (typed.trim() === "") return null;
  const cap = Number(typed);
  if (!Number.isInteger(cap))
    throw refuse("bad_request", "A cap is a whole number, or empty for what the record gives.");
  return cap;
};

export const accountPages = (desk: Desk): Page[] => {
  const show = async (request: Request, response: Response, refused?: Refusal): Promise<string> => {
    const places = new Map(LISTS.map((list) => [list, queried(request.query[list], CURSOR_LENGTH)] as const));
    const after = Object.fromEntries(LISTS.map((list) => [`${list}After`, places.get(list) || null]));
    const { viewer, account, reasons } = await desk.ask<
      Viewer & { account: Account | null; reasons: { nodes: object[] } }
    >(request, "account", { id: idOf(request), ...after });
    if (account === null) throw refuse("not_found", "There is no such account.");
    const done = DONE[queried(request.query["done"], 20)];
    const frame = desk.frame(viewer, null, {
      notice: done === undefined ? undefined : { text: done },
      fault: refused?.detail,
    });
    const older = (list: List): string | null => {
      const { hasNextPage, endCursor } = account[list].pageInfo;
      if (!hasNextPage) return null;
      const address = new URLSearchParams([...places].filter(([one, place]) => one !== list && place !== ""));
      address.set(list, endCursor ?? "");
      return `?${address}#${list}`;
    };
    return renderAdmin("account", frame, {
      account,
      older: Object.fromEntries(LISTS.map((list) => [list, older(list)])),
      reasons: reasons.nodes,
      typedReason: typed(response, "reason"),
      typedWords: typed(response, "words"),
      token: desk.token(request, response),
    });
  };

  const act = async (request: Request, response: Response): Promise<string> => {
    const id = idOf(request);
    const fields = await formOf(desk, request, response);
    const asked = fields.get("decision") ?? "";
    const expected = fields.get("expected") || null;
    const words = fields.get("words")?.trim() || null;
    if (asked === "suspend") await desk.ask(request, "suspend", { id, reason: fields.get("reason") ?? "", words });
    else if (asked === "reinstate") await desk.ask(request, "reinstate", { id, words, expected });
    else if (asked === "remove_agent") await desk.ask(request, "removeAgent", { id: queriedId(fields.get("agent")) });
    else if (asked === "override_cap") {
      const cap = capOf(fields.get("cap") ?? "");
      await desk.ask(request, "overrideCap", {
        id,
        action: fields.get("action") ?? "",
        cap,
        expected: expected && Number(expected),
      });
    } else throw refuse("bad_request", "That is none of the measures. Look at the page again.");
    return desk.path(`/accounts/${id}?${new URLSearchParams({ done: asked })}`);
  };

  return [{ path: "/admin/accounts/:id", operation: "adminAccount", ...formPage(show, act) }];
};
