import { z } from "zod";
import { ACTOR_TYPES } from "../base/enums.ts";
import type { Page } from "../pages/frame.ts";
import { CURSOR_LENGTH, type PageContext, type PageInfo, queried, queriedId, type Viewer } from "./page_context.ts";
import { renderAdmin } from "./render.ts";

/** The page of the audit log. All its filters are in the URL, so that a moderator can share a view. */

type Event = { id: string; at: string; actorType: string; action: string };

/** No action, and no other filter value, is longer. */
const ACTION_LENGTH = 60;
const DAY_MS = 86_400_000;

const actor = z.enum(ACTOR_TYPES);
// Outside this range JavaScript and PostgreSQL write years in different ways.
const day = z.iso.date().refine((date) => date >= "1970" && date < "9999");

/** The start of a day in UTC, or of the day `later` days after it, as RFC 3339. */
const momentOf = (date: string, later = 0): string => new Date(Date.parse(date) + later * DAY_MS).toISOString();

const isDay = (date: string): boolean => date === "" || day.safeParse(date).success;

/** A sentence for the moderator that says which filter is invalid; null when all are valid. */
const filterErrorOf = (filters: { actor: string; since: string; until: string }): string | null => {
  if (filters.actor !== "" && !actor.safeParse(filters.actor).success)
    return "Who acted is one of agent, person, moderator, job and dba.";
  return isDay(filters.since) && isDay(filters.until) ? null : "Give days as year, month and day: 2026-05-31.";
};

/** Makes the page of the audit log. */
export const logPage = (context: PageContext): Page => ({
  path: "/admin/audit",
  operation: "adminAudit",
  get: async (request, response) => {
    const { query } = request;
    const about = queriedId(query["about"]);
    const account = queriedId(query["account"]);
    const by = queriedId(query["by"]);
    const filters = {
      actor: queried(query["actor"], ACTION_LENGTH).trim(),
      action: queried(query["action"], ACTION_LENGTH).trim(),
      since: queried(query["since"], ACTION_LENGTH).trim(),
      until: queried(query["until"], ACTION_LENGTH).trim(),
    };
    const { action, since, until } = filters;
    const fault = filterErrorOf(filters);
    const subject = { ...(about && { about }), ...(account && { account }), ...(by && { by }) };
    const chosen = { ...subject, ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== "")) };
    const after = queried(query["after"], CURSOR_LENGTH) || null;
    const condition = {
      ...(about && { rowId: about }),
      ...(account && { subjectAccountId: account }),
      ...(by && { accountId: by }),
      ...(action && { action }),
      ...(fault === null && filters.actor && { actorType: filters.actor }),
      ...(fault === null && since && { since: momentOf(since) }),
      ...(fault === null && until && { until: momentOf(until, 1) }),
    };
    const { viewer, auditEvents } = await context.ask<Viewer & { auditEvents: { pageInfo: PageInfo; nodes: Event[] } }>(
      request,
      "audit",
      { condition, after },
    );
    if (fault !== null) response.status(400);
    response.type("html").send(
      renderAdmin("audit", context.frame(request, viewer, "audit", { fault: fault ?? undefined }), {
        subjects: [
          ...(about ? [{ said: "About the offer", id: about }] : []),
          ...(account ? [{ said: "About the account", id: account }] : []),
          ...(by ? [{ said: "Done by or for the account", id: by }] : []),
        ],
        subject,
        actors: ACTOR_TYPES,
        // A date field of HTML accepts only a date.
        filters: { ...filters, since: isDay(since) ? since : "", until: isDay(until) ? until : "" },
        isFiltered: Object.keys(chosen).length > 0,
        addressOf: (further: Record<string, string>) => `?${new URLSearchParams({ ...chosen, ...further })}`,
        events: fault === null ? auditEvents.nodes : [],
        next:
          fault === null && auditEvents.pageInfo.hasNextPage
            ? `?${new URLSearchParams({ ...chosen, after: auditEvents.pageInfo.endCursor ?? "" })}`
            : null,
      }),
    );
  },
});
