import { visibleText } from "../../base/visible_text.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { dayOf, momentOf } from "./dates.ts";
import { idIn, sectionPage } from "./section.ts";

/** The page of an account's webhooks: their deliveries of the last days, with buttons to challenge, to test and to delete. */

const URL_LENGTH = 2048;

/** A webhook, as api.list_webhooks returns it. */
type Webhook = {
  id: string;
  url: string;
  types?: string[];
  status: "unverified" | "active" | "disabled";
  created_at: string;
  resume_at?: string;
  disabled_at?: string;
  disabled_reason?: "gone" | "failed";
  deliveries: {
    types: string[];
    events: number;
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

const toView = ({ id, url, types, status, created_at, resume_at, ...webhook }: Webhook) => ({
  id,
  status,
  resumes: resume_at === undefined ? null : momentOf(resume_at),
  url: visibleText(url, URL_LENGTH),
  types: types?.join(", ") ?? "All events",
  created: dayOf(created_at),
  disabled:
    webhook.disabled_at === undefined
      ? null
      : { at: dayOf(webhook.disabled_at), why: WHY_DISABLED[webhook.disabled_reason ?? "failed"] },
  deliveries: webhook.deliveries.map((delivery) => ({
    types: delivery.types.join(", "),
    events: delivery.events,
    status: STATUS[delivery.status],
    at: momentOf(delivery.created_at),
    attempts: delivery.attempts,
    next: delivery.next_attempt_at === undefined ? null : momentOf(delivery.next_attempt_at),
    error: delivery.error ?? null,
  })),
});

const ofWebhook = (fields: URLSearchParams) => ({ id: idIn(fields, "webhook", "webhook") });

/** Makes the page on which a person sees, tests and deletes webhooks. */
export const webhooksPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: "/settings/webhooks",
    operation: "webhooksPage",
    template: "settings_webhooks",
    show: async ({ ask }) => {
      const { webhooks } = await ask<{ webhooks: Webhook[] }>("list_webhooks");
      return { webhooks: webhooks.map(toView) };
    },
    actions: {
      test: { call: "test_webhook", args: ofWebhook, done: "webhook-tested" },
      challenge: { call: "challenge_webhook", args: ofWebhook, done: "webhook-challenged" },
      delete: { call: "delete_webhook", args: ofWebhook, done: "webhook-deleted" },
    },
  });
