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
 * The message that tells a person, after a sign-in method was proved, what became of the account's agents.
 * @param data.provedAt RFC 3339 in UTC
 * @param data.recovered whether the proof recovered the account
 * @param data.kept the names of the agents that go on
 * @param data.removed the names of the agents that were removed
 * @param data.waiting the names of the agents that wait to be approved again
 * @param data.settings URL of the settings
 */
export const proofMessage = (data: {
  method: string;
  provedAt: string;
  recovered: boolean;
  kept: string[];
  removed: string[];
  waiting: string[];
  settings: string;
}): Message => {
  const heading = data.recovered ? "Your account on Souk was recovered" : "A way to sign in to Souk was added";
  return message("proof_notice", heading, {
    ...data,
    heading,
    day: data.provedAt.slice(0, 10),
    clock: data.provedAt.slice(11, 16),
    lists: [
      { words: "These agents act for you, as before:", names: data.kept },
      { words: "These agents were removed, and can do nothing any more:", names: data.removed },
      { words: "These agents are disconnected until you approve them again in the settings:", names: data.waiting },
    ].filter(({ names }) => names.length > 0),
  });
};
