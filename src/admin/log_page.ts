import { z } from "zod";
import { ACTOR_TYPES } from "../base/enums.ts";
import { type AdminPage, CURSOR_LENGTH, queried, queriedId, type Rows, type Shown } from "./page_context.ts";

/** The page of the audit log. All its filters are in the URL, so that a moderator can share a view. */

/** No action, and no other filter value, is longer. */
const ACTION_LENGTH = 60;

const actor = z.enum(ACTOR_TYPES);
// Outside this range JavaScript and PostgreSQL write years in different ways.
const day = z.iso.date().refine((date) => date >= "1970" && date < "9999");

const isDay = (date: string): boolean => date === "" || day.safeParse(date).success;

/** A sentence for the moderator that says which filter is invalid; undefined when all are valid. */
const filterErrorOf = (filters: { actor: string; since: string; until: string }): string | undefined => {
  if (filters.actor !== "" && !actor.safeParse(filters.actor).success)
    return "Who acted is one of agent, person, moderator, job and dba.";
  return isDay(filters.since) && isDay(filters.until) ? undefined : "Give days as year, month and day: 2026-05-31.";
};

/** The page of the audit log. */
export const logPage: AdminPage = {
  path: "/admin/audit",
  operation: "adminAudit",
  template: "audit",
  show: async ({ request, ask }) => {
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
    const { since, until } = filters;
    const fault = filterErrorOf(filters);
    const subject = { ...(about && { about }), ...(account && { account }), ...(by && { by }) };
    const chosen = { ...subject, ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== "")) };
    const shown = await ask<Shown & { events: Rows<object> }>("show_log", {
      about,
      account,
      by,
      actor: filters.actor || null,
      action: filters.action || null,
      since: (!fault && since) || null,
      until: (!fault && until) || null,
      after: queried(query["after"], CURSOR_LENGTH) || null,
    });
    const { rows, next } = shown.events;
    return {
      ...shown,
      fault,
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
      events: fault ? [] : rows,
      next: !fault && next && `?${new URLSearchParams({ ...chosen, after: next })}`,
    };
  },
};
