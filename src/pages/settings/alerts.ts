import { visibleText } from "../../base/visible_text.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { dayOf } from "./dates.ts";
import { idIn, sectionPage } from "./section.ts";

/** The page on which a person sees what arrives where, and switches it on or off. */

/** The database's limit for titles. */
const TITLE_LENGTH = 120;

/** The result of api.get_alerts. */
type Alerts = {
  digest: { enabled: boolean; sent_at: string | null };
  /** Where the digest goes; null when no address is proved. */
  email: string | null;
  /** The newest active asks. */
  asks: { id: string; title: string | null; text: string; watch_enabled: boolean }[];
};

const setDigest = (enabled: boolean) => ({ call: "set_digest", args: () => ({ enabled }) });
const setWatch = (enabled: boolean) => ({
  call: "update_ask",
  args: (fields: URLSearchParams) => ({
    id: idIn(fields, "ask"),
    body: { watch_enabled: enabled },
    errors: [],
  }),
});

/** Makes the page of alerts. */
export const alertsPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: "/settings/alerts",
    operation: "alertsPage",
    template: "settings_alerts",
    show: async ({ ask }) => {
      const { digest, email, asks } = await ask<Alerts>("get_alerts");
      return {
        digest: { enabled: digest.enabled, sent: digest.sent_at === null ? null : dayOf(digest.sent_at), email },
        sendsMail: context.signIn.mailer !== null,
        asks: asks.map(({ id, title, text, watch_enabled }) => ({
          id,
          title: visibleText(title ?? text, TITLE_LENGTH) || "Without a title",
          isWatched: watch_enabled,
        })),
      };
    },
    actions: {
      digest_on: { ...setDigest(true), done: "digest-on" },
      digest_off: { ...setDigest(false), done: "digest-off" },
      watch: { ...setWatch(true), done: "ask-watched" },
      unwatch: { ...setWatch(false), done: "ask-unwatched" },
    },
  });
