import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Eta } from "eta";
import type { Message } from "./mailer.ts";

/**
 * The e-mail messages. Text that others wrote (an agent's name) appears only in the body, never in a header, and is
 * escaped in HTML.
 */

const TEMPLATES = new URL("./templates/", import.meta.url);

/** Templates `.html.eta` escape their values. Templates `.txt.eta` do not, because plain text needs no escaping. */
const readTemplates = (): { html: Eta; text: Eta } => {
  const html = new Eta({ autoEscape: true });
  const text = new Eta({ autoEscape: false, autoTrim: false });
  for (const file of readdirSync(TEMPLATES)) {
    const template = readFileSync(new URL(file, TEMPLATES), "utf8");
    if (file.endsWith(".html.eta")) html.loadTemplate(`@${basename(file, ".html.eta")}`, template);
    else if (file.endsWith(".txt.eta")) text.loadTemplate(`@${basename(file, ".txt.eta")}`, template);
  }
  return { html, text };
};

const { html, text } = readTemplates();

/** Makes a message of the templates with this name. Others' words must not be in the subject. */
export const message = (name: string, subject: string, data: object): Message => ({
  subject,
  text: text.render(`@${name}`, data),
  html: html.render(`@${name}`, { ...data, subject }),
});

/**
 * The message that tells a person that an agent was approved.
 * @param data.approvedAt RFC 3339 in UTC
 * @param data.settings URL of the settings
 */
export const approvalMessage = (data: { agentName: string; approvedAt: string; settings: string }): Message =>
  message("approval_notice", "An agent now acts for you on Souk", {
    ...data,
    day: data.approvedAt.slice(0, 10),
    clock: data.approvedAt.slice(11, 16),
  });

/**
 * The message that tells a person what waits for their confirmation: one agreement, or a list of them.
 * @param data.confirmations the title of each offer, and the URL of the page
 * @param data.settings URL of the page on which the person switches such messages off
 */
export const confirmationMessage = (data: {
  confirmations: { title: string; url: string }[];
  settings: string;
}): Message => {
  const { length } = data.confirmations;
  const heading = length === 1 ? "An agreement waits for you on Souk" : `${length} agreements wait for you on Souk`;
  return message("confirmation_notice", heading, { ...data, heading });
};

/** What a message about an account tells. */
export type AccountAct = "method_added" | "method_removed" | "account_deleted" | "agent_unused";

/** What a message says of each act: its heading, what happened, what it means, and what to do if it was not the person. */
const ACTS = {
  method_added: {
    heading: "A way to sign in to Souk was added",
    what: (method: string | null) => `Your ${method} sign-in was proved`,
    meaning: "If that is what you chose, there is nothing more to do.",
    stranger: "sign in here, and remove what is not yours; its access then ends at once:",
  },
  method_removed: {
    heading: "A way to sign in to Souk was removed",
    what: (method: string | null) => `Your ${method} sign-in was removed`,
    meaning: "All other browsers were signed out. If that was you, there is nothing more to do.",
    stranger: "sign in here in another way that you have, and remove what is not yours; its access then ends at once:",
  },
  account_deleted: {
    heading: "Your account on Souk was deleted",
    what: () => "Your account was deleted",
    meaning:
      "Its agents can do nothing any more, and nobody can bring it back. If that was you, there is nothing more to do.",
    stranger:
      "somebody could use your e-mail address, your Google or Apple sign-in, or one of your browsers. Secure them before you begin a new account here:",
  },
  agent_unused: {
    heading: "An agent's access on Souk has ended",
    what: () => "An agent that was not used for long was removed",
    meaning:
      "It can do nothing any more. Your offers and asks stay. If you want to use it again, let it connect again.",
    stranger: "see here which other agents act for you:",
  },
} as const satisfies Record<AccountAct, object>;

/**
 * The message that tells an address of an account what happened to the account.
 * @param data.method the name of the method that was added or removed
 * @param data.agentName the name of the agent that nobody used
 * @param data.happenedAt RFC 3339 in UTC
 * @param data.recovered whether the proof of a method recovered the account
 * @param data.kept the names of the agents that go on after a proof
 * @param data.removed the names of the agents that were removed
 * @param data.waiting the names of the agents that wait to be approved again
 * @param data.settings URL of the settings
 */
export const accountMessage = (data: {
  act: AccountAct;
  method: string | null;
  agentName: string | null;
  happenedAt: string;
  recovered: boolean;
  kept: string[];
  removed: string[];
  waiting: string[];
  settings: string;
}): Message => {
  const { what, meaning, stranger, ...act } = ACTS[data.act];
  const heading = data.recovered ? "Your account on Souk was recovered" : act.heading;
  return message("account_notice", heading, {
    heading,
    what: `${what(data.method)} on ${data.happenedAt.slice(0, 10)} at ${data.happenedAt.slice(11, 16)} UTC.`,
    meaning,
    stranger,
    settings: data.settings,
    lists: [
      { words: "It called itself:", names: data.agentName === null ? [] : [data.agentName] },
      { words: "These agents act for you, as before:", names: data.kept },
      { words: "These agents were removed, and can do nothing any more:", names: data.removed },
      { words: "These agents are disconnected until you approve them again in the settings:", names: data.waiting },
    ].filter(({ names }) => names.length > 0),
  });
};
