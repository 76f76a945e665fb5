import type { Request } from "express";
import { visibleText } from "../../base/visible_text.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { dayOf } from "./dates.ts";
import { CURSOR, idIn, listed, parameter, sectionPage } from "./section.ts";

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

const ofOffer = (fields: URLSearchParams) => ({ id: idIn(fields, "offer") });
const ofAsk = (fields: URLSearchParams) => ({ id: idIn(fields, "ask") });

/** Makes the page of the person's offers and asks. */
export const marketPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: PATH,
    operation: "ownMarketPage",
    template: "settings_market",
    show: async ({ request, ask }) => {
      const asked = viewOf(request);
      const { kind, status } = asked;
      const { results, page, cursor } = await listed(request, (cursor) =>
        ask<List>(`list_${kind}`, { status, page_size: PAGE_SIZE, cursor }),
      );
      const view = { ...asked, cursor };
      const start = { kind, status: null, cursor: null };
      return {
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
        items: results.map(toView(kind)),
        here: addressOf(view),
        older: page.has_more ? addressOf({ ...view, cursor: page.next_cursor }) : null,
        newest: cursor === null ? null : addressOf({ ...view, cursor: null }),
        api: `${context.baseUrl()}/v1`,
      };
    },
    actions: {
      archive_offer: { call: "archive_offer", args: ofOffer, done: "offer-archived" },
      confirm_offer: { call: "confirm_offer", args: ofOffer, done: "offer-confirmed" },
      archive_ask: { call: "archive_ask", args: ofAsk, done: "ask-archived" },
    },
    backTo: (request, done) => addressOf(viewOf(request), done),
  });
