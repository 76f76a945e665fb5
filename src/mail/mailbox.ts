import { isLoopbackHost } from "../base/address.ts";
import { newSecret } from "../base/tokens.ts";
import type { Mailer, Message } from "./mailer.ts";

/**
 * A mailer that sends nothing: it keeps the messages in memory, and a page shows them. So a person who tries the
 * service on their own machine can sign in by e-mail without a mail server. The page's address has a secret, because a
 * proxy on this machine may pass on others' requests as its own.
 */

/** A message that was kept instead of being sent. */
type KeptMessage = Pick<Message, "subject" | "text"> & { to: string; at: Date };

/** A mailer, and the messages that it keeps. */
export type Mailbox = Mailer & {
  /** The path of the page, with its secret. */
  path: string;
  /** The newest first. */
  messages: () => readonly KeptMessage[];
};

/**
 * Whether a process keeps messages instead of sending them: it has its own database and no mail server, and people reach
 * it only from the machine on which it runs.
 */
export const keepsMail = ({
  databaseUrl,
  signIn,
  baseUrl,
  host,
}: {
  databaseUrl: string | null;
  signIn: { mail: object | null };
  baseUrl: string | null;
  host: string;
}): boolean =>
  databaseUrl === null && signIn.mail === null && isLoopbackHost(baseUrl === null ? host : new URL(baseUrl).hostname);

/** More than anybody reads when trying something out; older sign-in messages no longer work. */
const MAX_MESSAGES = 50;

/** Opens an empty mailbox. */
export const openMailbox = (): Mailbox => {
  let messages: KeptMessage[] = [];
  return {
    path: `/mailbox/${newSecret()}`,
    send: async (to, { subject, text }) => {
      messages = [{ to, subject, text, at: new Date() }, ...messages].slice(0, MAX_MESSAGES);
    },
    messages: () => messages,
    close: () => {},
  };
};
