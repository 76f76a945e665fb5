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

const message = (name: string, subject: string, data: object): Message => ({
  subject,
  text: text.render(`@${name}`, data),
  html: html.render(`@${name}`, { ...data, subject }),
});

/**
 * The message with which a person signs in, by its link or by its code.
 * @param data.minutes for how many minutes the link and the code work
 */
export const signInMessage = (data: { link: string; code: string; minutes: number }): Message =>
  message("sign_in", "Sign in to Souk", data);

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
