import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Eta } from "eta";
import type { Message } from "./mailer.ts";

/**
 * The messages that we send. What someone else wrote (an agent's name) stands in the body and never in a header, and in
 * HTML only escaped.
 */

const TEMPLATES = new URL("./templates/", import.meta.url);

/** `.html.eta` is escaped, `.txt.eta` is not: there is nothing in plain text to escape for. */
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

const message = (name: string, subject: string, data: object): Message => ({
  subject,
  text: text.render(`@${name}`, data),
  html: html.render(`@${name}`, { ...data, subject }),
});

/** The message with which a person signs in: either the link or the code. `minutes`: how long both work. */
export const signInMessage = (data: { link: string; code: string; minutes: number }): Message =>
  message("sign_in", "Sign in to Souk", data);

/** Tells a person that an agent was approved. `approvedAt` is RFC 3339 in UTC. */
export const approvalMessage = (data: { agentName: string; approvedAt: string; settings: string }): Message =>
  message("approval", "An agent now acts for you on Souk", {
    ...data,
    day: data.approvedAt.slice(0, 10),
    clock: data.approvedAt.slice(11, 16),
  });
