import { isId } from "../../base/ids.ts";
import { problem } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { dayOf } from "./dates.ts";
import { type Account, askAs, doneOf, sectionPage, sendSection } from "./section.ts";

/** The page on which a person sees what arrives where, and switches it on or off. */

const PATH = "/settings/alerts";

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

/** Makes the page of alerts. */
export const alertsPage = (context: PagesContext): Page => {
  const { database, baseUrl, signIn } = context;
  const ask = askAs(context);

  const setDigest = (enabled: boolean, done: string) => async (_fields: URLSearchParams, person: Person) => {
    await database.call(person, "set_digest", { enabled });
    return `${PATH}?done=${done}`;
  };
  const setWatch = (enabled: boolean, done: string) => async (fields: URLSearchParams, person: Person) => {
    const id = fields.get("id");
    if (!isId(id)) throw problem("not_found", "You have no such ask.");
    await database.call(person, "update_ask", { id, body: { watch_enabled: enabled }, errors: [] });
    return `${PATH}?done=${done}`;
  };
  type Person = Parameters<typeof database.call>[0];

  return sectionPage(context, {
    path: PATH,
    operation: "alertsPage",
    show: async (request, response, form) => {
      const [account, { digest, email, asks }] = await Promise.all([
        ask<Account>(request, "get_account"),
        ask<Alerts>(request, "get_alerts"),
      ]);
      sendSection(
        response,
        baseUrl(),
        { template: "settings_alerts", path: PATH, account, form, done: doneOf(request) },
        {
          digest: { enabled: digest.enabled, sent: digest.sent_at === null ? null : dayOf(digest.sent_at), email },
          sendsMail: signIn.mailer !== null,
          asks: asks.map(({ id, title, text, watch_enabled }) => ({
            id,
            title: visibleText(title ?? text, TITLE_LENGTH) || "Without a title",
            isWatched: watch_enabled,
          })),
          token: giveFormToken(request, response, baseUrl(), PATH),
        },
      );
    },
    actions: {
      digest_on: setDigest(true, "digest-on"),
      digest_off: setDigest(false, "digest-off"),
      watch: setWatch(true, "ask-watched"),
      unwatch: setWatch(false, "ask-unwatched"),
    },
  });
};
