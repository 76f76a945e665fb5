import { problem } from "../base/problem.ts";
import { type AdminPage, CURSOR_LENGTH, idOf, queried, queriedId, type Rows, type Shown } from "./page_context.ts";

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

/** The page of an account, on which a moderator can suspend it, remove its agents and set its rate limits. */
export const accountPage: AdminPage = {
  path: "/admin/accounts/:id",
  operation: "adminAccount",
  template: "account",
  show: async ({ request, ask, typed }) => {
    const cursorOf = (list: List): string | null => queried(request.query[list], CURSOR_LENGTH) || null;
    const shown = await ask<Shown & { account: Record<List, Rows<object>> }>("show_account", {
      id: idOf(request),
      agents_after: cursorOf("agents"),
      offers_after: cursorOf("offers"),
      asks_after: cursorOf("asks"),
    });
    const older = (list: List): string | null => {
      const { next } = shown.account[list];
      if (next === null) return null;
      const cursors = LISTS.map((one): [string, string] => [one, one === list ? next : (cursorOf(one) ?? "")]);
      return `?${new URLSearchParams(cursors.filter(([, cursor]) => cursor !== ""))}#${list}`;
    };
    const done = DONE[queried(request.query["done"], 20)];
    return {
      ...shown,
      notice: done === undefined ? undefined : { text: done },
      older: Object.fromEntries(LISTS.map((list) => [list, older(list)])),
      typedReason: typed("reason"),
      typedWords: typed("words"),
    };
  },
  act: async ({ request, call }, fields) => {
    const id = idOf(request);
    const measure = fields.get("decision") ?? "";
    const expected = fields.get("expected") || null;
    const words = fields.get("words")?.trim() || null;
    if (measure === "suspend") await call("suspend_account", { id, reason: fields.get("reason"), sentence: words });
    else if (measure === "reinstate")
      await call("reinstate_account", { id, note: words, expected_suspended_at: expected });
    else if (measure === "remove_agent") await call("remove_agent", { id: queriedId(fields.get("agent")) });
    else if (measure === "override_cap")
      await call("override_cap", {
        account_id: id,
        action: fields.get("action"),
        // Empty for what the record gives.
        cap: fields.get("cap")?.trim() || null,
        expected_cap: expected,
      });
    else throw problem("bad_request", "That is none of the measures. Look at the page again.");
    return `/accounts/${id}?${new URLSearchParams({ done: measure })}`;
  },
};
