import type { Page } from "../pages/frame.ts";
import { logPage } from "./log_page.ts";
import { CURSOR_LENGTH, noticeOf, type PageContext, type PageInfo, queried, type Viewer } from "./page_context.ts";
import { QUEUES, renderAdmin } from "./render.ts";

/** The pages that list: the queue of cases, the search and the audit log. */

type Case = {
  offerId: string;
  queue: string;
  causes: string[];
  reports: number;
  openedAt: string;
  heldUntil: string | null;
  holder: { accountId: string; name: string } | null;
  offer: (Content & { status: string; change: (Content & { rejectedAt: string | null }) | null }) | null;
};
type Content = { title: string; text: string; price: string | null; location: string | null };
type Queue = Viewer & {
  queues: { nodes: { name: string; cases: number; oldest: string }[] };
  reviewCases: { pageInfo: PageInfo; nodes: Case[] };
};
type Finding = {
  kind: string;
  id: string;
  title: string;
  status: string;
  at: string;
  offerId: string | null;
  accountId: string | null;
};

/** Longer than any query that moderators need. */
const WORDS_LENGTH = 200;
/** The characters of an offer's text that the queue shows. */
const SNIPPET_LENGTH = 220;

const snippet = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ");
  const characters = Array.from(line);
  return characters.length > SNIPPET_LENGTH ? `${characters.slice(0, SNIPPET_LENGTH).join("")}…` : line;
};

/** What a moderator has to look at: the change of an offer while it waits, otherwise the offer. */
const toView = (one: Case) => {
  const changed = one.offer?.change?.rejectedAt === null;
  const shown = changed ? one.offer?.change : one.offer;
  return { ...one, changed, shown, snippet: snippet(shown?.text ?? "") };
};

/** Makes the pages of the queue, the search and the audit log. */
export const listPages = (context: PageContext): Page[] => [
  {
    path: "/admin",
    operation: "adminQueue",
    get: async (request, response) => {
      const name = queried(request.query["queue"], 40);
      const queue = Object.hasOwn(QUEUES, name) ? name : null;
      const after = queried(request.query["after"], CURSOR_LENGTH) || null;
      const { viewer, queues, reviewCases } = await context.ask<Queue>(request, "queue", {
        condition: queue === null ? {} : { queue },
        after,
      });
      const counts = new Map(queues.nodes.map(({ name: line, cases }) => [line, cases]));
      const oldest = queues.nodes.map((line) => line.oldest).toSorted()[0] ?? null;
      response.type("html").send(
        renderAdmin("queue", context.frame(request, viewer, "queue", { notice: noticeOf(context, request) }), {
          queue,
          total: queues.nodes.reduce((sum, { cases }) => sum + cases, 0),
          oldest,
          lines: Object.entries(QUEUES).map(([line, title]) => ({ line, title, cases: counts.get(line) ?? 0 })),
          cases: reviewCases.nodes.map(toView),
          next: reviewCases.pageInfo.hasNextPage
            ? `?${new URLSearchParams({ ...(queue === null ? {} : { queue }), after: reviewCases.pageInfo.endCursor ?? "" })}`
            : null,
          isLater: after !== null,
        }),
      );
    },
  },
  {
    path: "/admin/search",
    operation: "adminSearch",
    get: async (request, response) => {
      const query = queried(request.query["q"], WORDS_LENGTH).trim();
      const { viewer, find } = await context.ask<Viewer & { find: Finding[] }>(request, "search", { words: query });
      response.type("html").send(
        renderAdmin("search", context.frame(request, viewer, "search"), {
          query,
          groups: [...Map.groupBy(find, ({ kind }) => kind)].map(([kind, found]) => ({ kind, found })),
        }),
      );
    },
  },
  logPage(context),
];
