import type { Request } from "express";
import { isId } from "../../base/ids.ts";
import { problem, problemOf } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { dayOf } from "./dates.ts";
import { type Account, askAs, CURSOR, doneOf, parameter, sectionPage, sendSection } from "./section.ts";

/** The page of a person's offers and asks, on which the person can archive them. */

const PATH = "/settings/market";

/** Fills one or two screens of a phone. */
const PAGE_SIZE = 20;

/** The database's limit for titles. */
const TITLE_LENGTH = 120;

type Kind = "offers" | "asks";
type Item = {
  id: string;
  title: string | null;
  text?: string;
  status: string;
  created_at: string;
  published_at?: string | null;
  /** An offer that nobody has confirmed for long, and what to do about it. */
  stale?: boolean;
  review?: string;
  /** An offer's last change, if it waits for a moderator or was rejected. */
  change?: { status: "waiting" | "rejected"; review: string };
};
type List = { results: Item[]; page: { next_cursor: string | null; has_more: boolean } };

/** The name of each status on this page, in the order of the filters. */
const STATUSES: Record<Kind, Record<string, string>> = {
  offers: {
    published: "Published",
    archived: "Archived",
    pending_review: "In review",
    rejected: "Not accepted",
    removed: "Taken down",
  },
  asks: { active: "Active", fulfilled: "Found", archived: "Archived" },
};

/**
 * The statuses that can be archived. Those that a moderator decides or has decided (in review, rejected, removed)
 * cannot.
 */
const ARCHIVABLE: Record<Kind, readonly string[]> = { offers: ["published"], asks: ["active"] };

type View = { kind: Kind; status: string | null; cursor: string | null };

/** Reads from the URL which part of which list to show. Invalid parameters are ignored. */
const viewOf = (request: Request): View => {
  const kind = parameter(request, "show", /^asks$/) === null ? "offers" : "asks";
  const status = parameter(request, "status", /^[a-z_]{1,20}$/);
  return {
    kind,
    status: status !== null && Object.hasOwn(STATUSES[kind], status) ? status : null,
    cursor: parameter(request, "cursor", CURSOR),
  };
};

const addressOf = ({ kind, status, cursor }: View, done?: string): string => {
  const parameters = {
    ...(kind === "asks" ? { show: kind } : {}),
    ...(status === null ? {} : { status }),
    ...(cursor === null ? {} : { cursor }),
    ...(done === undefined ? {} : { done }),
  };
  const query = new URLSearchParams(parameters).toString();
  return query === "" ? PATH : `${PATH}?${query}`;
};

/** The length of a moderator's sentence in the database. */
const SENTENCE_LENGTH = 500;

const toChange = ({ status, review }: NonNullable<Item["change"]>) => ({
  said: visibleText(review, SENTENCE_LENGTH),
  isWaiting: status === "waiting",
});

const toView = (kind: Kind) => (item: Item) => ({
  id: item.id,
  title: visibleText(item.title ?? item.text ?? "", TITLE_LENGTH) || "Without a title",
  status: STATUSES[kind][item.status] ?? item.status,
  isLive: ARCHIVABLE[kind].includes(item.status),
  since: dayOf(item.published_at ?? item.created_at),
  stale: item.stale === true ? visibleText(item.review ?? "", SENTENCE_LENGTH) : null,
  change: item.change === undefined ? null : toChange(item.change),
});

/** Makes the page of the person's offers and asks. */
export const marketPage = (context: PagesContext): Page => {
  const { database, baseUrl } = context;
  const ask = askAs(context);

  /** Reads a page of the list. With an invalid cursor, or one of another list, it reads the first page. */
  const read = async (request: Request, view: View): Promise<{ view: View; list: List }> => {
    const { kind, status, cursor } = view;
    try {
      return { view, list: await ask<List>(request, `list_${kind}`, { status, page_size: PAGE_SIZE, cursor }) };
    } catch (thrown) {
      if (cursor === null || problemOf(thrown).code !== "bad_request") throw thrown;
      return read(request, { ...view, cursor: null });
    }
  };

  /** Makes the action of a button that calls a function of schema api for one offer or ask. */
  const act =
    (kind: Kind, name: string, done: string) =>
    async (fields: URLSearchParams, person: Parameters<typeof database.call>[0], request: Request): Promise<string> => {
      const id = fields.get("id");
      if (!isId(id)) throw problem("not_found", `You have no such ${kind === "offers" ? "offer" : "ask"}.`);
      await database.call(person, name, { id });
      return addressOf(viewOf(request), done);
    };

  return sectionPage(context, {
    path: PATH,
    operation: "ownMarketPage",
    show: async (request, response, form) => {
      const [account, { view, list }] = await Promise.all([
        ask<Account>(request, "get_account"),
        read(request, viewOf(request)),
      ]);
      const { kind, status } = view;
      const start = { kind, status: null, cursor: null };
      sendSection(
        response,
        baseUrl(),
        { template: "settings_market", path: PATH, account, form, done: doneOf(request) },
        {
          kind,
          status,
          kinds: (["offers", "asks"] as const).map((other) => ({
            title: other === "offers" ? "Offers" : "Asks",
            path: addressOf({ ...start, kind: other }),
            isCurrent: other === kind,
          })),
          filters: [
            { title: "All", path: addressOf(start), isCurrent: status === null },
            ...Object.entries(STATUSES[kind]).map(([value, title]) => ({
              title,
              path: addressOf({ ...start, status: value }),
              isCurrent: status === value,
            })),
          ],
          items: list.results.map(toView(kind)),
          here: addressOf(view),
          older: list.page.has_more ? addressOf({ ...view, cursor: list.page.next_cursor }) : null,
          newest: view.cursor === null ? null : addressOf({ ...view, cursor: null }),
          api: `${baseUrl()}/v1`,
          token: giveFormToken(request, response, baseUrl(), PATH),
        },
      );
    },
    actions: {
      archive_offer: act("offers", "archive_offer", "offer-archived"),
      confirm_offer: act("offers", "confirm_offer", "offer-confirmed"),
      archive_ask: act("asks", "archive_ask", "ask-archived"),
    },
  });
};
