import type { Page } from "../pages/frame.ts";
import { logPage } from "./log_page.ts";
import { CURSOR_LENGTH, noticeOf, type PageContext, queried, type Rows, type Shown } from "./page_context.ts";
import { QUEUES } from "./render.ts";

/** The pages that list: the queue of cases, the search and the audit log. */

/** What admin.show_queue and admin.show_search return. */
type Queue = Shown & { queues: { name: string; cases: number; oldest: string }[]; cases: Rows<object> };
type Search = Shown & { found: { kind: string }[] };

/** Longer than any query that moderators need. */
const WORDS_LENGTH = 200;

/** Makes the pages of the queue, the search and the audit log. */
export const listPages = (context: PageContext): Page[] => [
  {
    path: "/admin",
    operation: "adminQueue",
    get: async (request, response) => {
      const name = queried(request.query["queue"], 40);
      const queue = Object.hasOwn(QUEUES, name) ? name : null;
      const after = queried(request.query["after"], CURSOR_LENGTH) || null;
      const shown = JSON.parse(await context.call(request, "show_queue", { queue, after })) as Queue;
      const { queues, cases } = shown;
      const counts = new Map(queues.map((line) => [line.name, line.cases]));
      response.type("html").send(
        context.render(request, "queue", {
          ...shown,
          notice: noticeOf(context, request),
          queue,
          total: queues.reduce((sum, line) => sum + line.cases, 0),
          oldest: queues.map((line) => line.oldest).toSorted()[0] ?? null,
          lines: Object.entries(QUEUES).map(([line, title]) => ({ line, title, cases: counts.get(line) ?? 0 })),
          cases: cases.rows,
          next: cases.next && `?${new URLSearchParams({ ...(queue === null ? {} : { queue }), after: cases.next })}`,
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
      const shown = JSON.parse(await context.call(request, "show_search", { words: query })) as Search;
      response.type("html").send(
        context.render(request, "search", {
          ...shown,
          query,
          groups: [...Map.groupBy(shown.found, ({ kind }) => kind)].map(([kind, found]) => ({ kind, found })),
        }),
      );
    },
  },
  logPage(context),
];
