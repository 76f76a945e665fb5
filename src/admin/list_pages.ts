import { type AdminPage, CURSOR_LENGTH, noticeOf, queried, type Rows, type Shown } from "./page_context.ts";
import { QUEUES } from "./render.ts";

/** The pages that list: the queue of cases, and the search. */

/** What admin.show_queue and admin.show_search return. */
type Queue = Shown & { queues: { name: string; cases: number; oldest: string }[]; cases: Rows<object> };
type Search = Shown & { found: { kind: string }[] };

/** Longer than any query that moderators need. */
const WORDS_LENGTH = 200;

/** The page of the queue. */
export const queuePage: AdminPage = {
  path: "/admin",
  operation: "adminQueue",
  template: "queue",
  show: async (visit) => {
    const { query } = visit.request;
    const name = queried(query["queue"], 40);
    const queue = Object.hasOwn(QUEUES, name) ? name : null;
    const after = queried(query["after"], CURSOR_LENGTH) || null;
    const shown = await visit.ask<Queue>("show_queue", { queue, after });
    const { queues, cases } = shown;
    const counts = new Map(queues.map((line) => [line.name, line.cases]));
    return {
      ...shown,
      notice: noticeOf(visit),
      queue,
      total: queues.reduce((sum, line) => sum + line.cases, 0),
      oldest: queues.map((line) => line.oldest).toSorted()[0] ?? null,
      lines: Object.entries(QUEUES).map(([line, title]) => ({ line, title, cases: counts.get(line) ?? 0 })),
      cases: cases.rows,
      next: cases.next && `?${new URLSearchParams({ ...(queue === null ? {} : { queue }), after: cases.next })}`,
      isLater: after !== null,
    };
  },
};

/** The page of the search. */
export const searchPage: AdminPage = {
  path: "/admin/search",
  operation: "adminSearch",
  template: "search",
  show: async ({ request, ask }) => {
    const query = queried(request.query["q"], WORDS_LENGTH).trim();
    const shown = await ask<Search>("show_search", { words: query });
    const groups = [...Map.groupBy(shown.found, ({ kind }) => kind)].map(([kind, found]) => ({ kind, found }));
    return { ...shown, query, groups };
  },
};
