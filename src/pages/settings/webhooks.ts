import { isId } from "../../base/ids.ts";
import { problem } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { dayOf, momentOf } from "./dates.ts";
import type { Done } from "./done.ts";
import { type Account, askAs, doneOf, type Section, sectionPage, sendSection } from "./section.ts";

/** The page of an account's webhooks: their deliveries of the last days, with buttons to test and to delete. */

const PATH = "/settings/webhooks";

const URL_LENGTH = 2048;

/** A webhook, as api.list_webhooks returns it. */
type Webhook = {
  id: string;
  url: string;
  types?: string[];
  created_at: string;
  disabled_at?: string;
  disabled_reason?: "gone" | "failed";
  deliveries: {
    type: string;
    status: "waiting" | "delivered" | "failed";
    created_at: string;
    attempts: number;
    next_attempt_at?: string;
    error?: string;
  }[];
};

const STATUS = { waiting: "Waits", delivered: "Arrived", failed: "Failed" } as const;

const WHY_DISABLED = {
  gone: "its receiver answered that it is gone (410)",
  failed: "ten attempts to send an event failed",
} as const;

const toView = ({ id, url, types, created_at, disabled_at, disabled_reason, deliveries }: Webhook) => ({
  id,
  url: visibleText(url, URL_LENGTH),
  types: types?.join(", ") ?? "All events",
  created: dayOf(created_at),
  disabled:
    disabled_at === undefined ? null : { at: dayOf(disabled_at), why: WHY_DISABLED[disabled_reason ?? "failed"] },
  deliveries: deliveries.map((delivery) => ({
    type: delivery.type,
    status: STATUS[delivery.status],
    at: momentOf(delivery.created_at),
    attempts: delivery.attempts,
    next: delivery.next_attempt_at === undefined ? null : momentOf(delivery.next_attempt_at),
    error: delivery.error ?? null,
  })),
});

/** Makes the page on which a person sees, tests and deletes webhooks. */
export const webhooksPage = (context: PagesContext): Page => {
  const { database, baseUrl } = context;
  const ask = askAs(context);

  /** An action on the webhook that the form names. */
  const actOn =
    (name: "test_webhook" | "delete_webhook", done: Done): Section["actions"][string] =>
    async (fields, person) => {
      const id = fields.get("webhook");
      if (!isId(id)) throw problem("not_found", "You have no such webhook.");
      await database.call(person, name, { id });
      return `${PATH}?done=${done}`;
    };

  return sectionPage(context, {
    path: PATH,
    operation: "webhooksPage",
    show: async (request, response, form) => {
      const [account, { webhooks }] = await Promise.all([
        ask<Account>(request, "get_account"),
        ask<{ webhooks: Webhook[] }>(request, "list_webhooks"),
      ]);
      sendSection(
        response,
        baseUrl(),
        { template: "settings_webhooks", path: PATH, account, form, done: doneOf(request) },
        { webhooks: webhooks.map(toView), token: giveFormToken(request, response, baseUrl(), PATH) },
      );
    },
    actions: {
      test: actOn("test_webhook", "webhook-tested"),
      delete: actOn("delete_webhook", "webhook-deleted"),
    },
  });
};
