import { visibleName, visibleText } from "../../base/visible_text.ts";
import { nameOfMethod } from "../../sign_in/methods.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { momentOf, monthOf, type Time } from "./dates.ts";
import { listed, sectionPage } from "./section.ts";

/** The page of the account's activity: events and their agents, grouped by month. */

const PATH = "/settings/activity";

const PAGE_SIZE = 50;

/** The database's limit for titles. */
const TITLE_LENGTH = 120;

/** An event, as api.list_activity returns it. `agent` is null when no agent acted. */
export type Event = {
  at: string;
  action: string;
  agent: { id: string; name: string } | null;
  target: { type: string; id: string; title: string | null } | null;
  /**
   * Present when neither the person nor an agent acted. `job` is a job of the worker, `dba` a person with SQL access.
   */
  by?: "moderator" | "job" | "dba";
};

/** A sentence in pieces, so that the template can set off names, which other people have chosen. */
export type Sentence = {
  who: "you" | "agent" | "other";
  /** The actor's name, with which the sentence begins, if `who` is "other"; otherwise "". */
  other: string;
  agent: string;
  before: string;
  name: string | null;
  after: string;
};

type Words = { before: string; after?: string; by?: "moderator" };

/** The words for each action: those before the object's name, and those after it. */
const WORDS: Record<string, Words> = {
  "offer.published": { before: "published" },
  "offer.pending_review": { before: "handed in", after: "; a moderator looks at it first" },
  "offer.rejected": { before: "did not accept", by: "moderator" },
  "offer.removed": { before: "took down", by: "moderator" },
  "offer.kept": { before: "looked at and kept up", by: "moderator" },
  "offer.restored": { before: "put up again", by: "moderator" },
  "offer.archived": { before: "archived" },
  "offer.confirmed": { before: "confirmed that", after: " is still available" },
  "offer.updated": { before: "changed" },
  "offer.deleted": { before: "deleted" },
  "offer.change_published": { before: "published the change of", by: "moderator" },
  "offer_change.created": { before: "changed", after: "; a moderator looks at it first" },
  "offer_change.rejected": { before: "did not accept the change of", by: "moderator" },
  "ask.created": { before: "asked for" },
  "ask.updated": { before: "changed the ask" },
  "ask.archived": { before: "archived the ask" },
  "ask.fulfilled": { before: "marked as found" },
  "ask.reopened": { before: "asked again for" },
  "ask.deleted": { before: "deleted the ask" },
  "agent.created": { before: "asked to act for you" },
  "agent.connected": { before: "approved the agent" },
  "agent.removed": { before: "removed the agent" },
  "agent.disconnected": { before: "disconnected the agent" },
  "account.recovered": { before: "recovered this account" },
  "account.suspended": { before: "suspended this account", by: "moderator" },
  "account.reinstated": { before: "ended the suspension of this account", by: "moderator" },
  "account.claimed": { before: "opened this account" },
  "webhook.created": { before: "added a webhook" },
  "webhook.deleted": { before: "deleted a webhook" },
  "confirmation.confirmed": { before: "confirmed the agreement about" },
  "confirmation.refused": { before: "refused the agreement about" },
  "power.changed": { before: "changed what the agent", after: " may do alone" },
  "profile.updated": { before: "changed the profile" },
  "profile.deleted": { before: "erased the contact details" },
  "method.proved": { before: "added", after: " as a way to sign in" },
  "method.removed": { before: "removed", after: " as a way to sign in" },
};

/** How the page names actors that are neither the person nor an agent. */
const OTHERS = { moderator: "A moderator", job: "The market’s own upkeep", dba: "Whoever runs this market" } as const;

/** What an object without a title is called. */
const UNTITLED: Record<string, string> = {
  offer: "an offer",
  ask: "something",
  agent: "an agent",
  agreement: "an offer",
};

/** Makes a sentence from an event. */
export const sentenceOf = ({ action, agent, target, by: actor }: Event): Sentence => {
  const { before, after = "", by } = WORDS[action] ?? { before: "changed something" };
  const other = actor ?? by;
  const sentence: Sentence = {
    who: other !== undefined ? "other" : agent === null ? "you" : "agent",
    other: other === undefined ? "" : OTHERS[other],
    agent: agent === null ? "" : visibleName(agent.name),
    before,
    name: null,
    after,
  };
  if (target === null || WORDS[action] === undefined) return sentence;
  if (target.type === "method") return { ...sentence, before: `${before} ${nameOfMethod(target.id)}` };
  if (action === "agent.removed" && target.id === agent?.id) return { ...sentence, before: "removed itself" };
  const name = visibleText(target.title ?? "", TITLE_LENGTH);
  if (action === "agent.created") return { ...sentence, who: "agent", agent: visibleName(name) };
  return name === ""
    ? { ...sentence, before: `${before} ${UNTITLED[target.type] ?? "something"}` }
    : { ...sentence, name };
};

type Month = { month: Time; events: (Sentence & { at: Time })[] };

/** Groups events by month. @param events newest first */
export const byMonth = (events: readonly Event[]): Month[] => {
  const months: Month[] = [];
  for (const event of events) {
    const month = monthOf(event.at);
    if (months.at(-1)?.month.datetime !== month.datetime) months.push({ month, events: [] });
    months.at(-1)?.events.push({ ...sentenceOf(event), at: momentOf(event.at) });
  }
  return months;
};

type Activity = { activity: Event[]; page: { next_cursor: string | null; has_more: boolean } };

/** Makes the page that lists the account's activity. */
export const activityPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: PATH,
    operation: "activityPage",
    template: "settings_activity",
    show: async ({ request, ask }) => {
      const [{ agents }, { activity, page, cursor }] = await Promise.all([
        ask<{ agents: { offers: number; asks: number }[] }>("list_agents"),
        listed(request, (cursor) => ask<Activity>("list_activity", { page_size: PAGE_SIZE, cursor })),
      ]);
      return {
        months: byMonth(activity),
        older: page.has_more ? `${PATH}?${new URLSearchParams({ cursor: page.next_cursor ?? "" })}` : null,
        newest: cursor === null ? null : PATH,
        // The account has offers or asks, perhaps older than the log or than the period that the list covers.
        didMore: agents.some(({ offers, asks }) => offers + asks > 0),
      };
    },
  });
