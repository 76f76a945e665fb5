import type { Request } from "express";
import { addressOf, isLoopbackHost } from "../base/address.ts";
import { problem } from "../base/problem.ts";
import { hashSecret } from "../base/tokens.ts";
import type { Mailbox } from "../mail/mailbox.ts";
import { forwardingHeader } from "../web/forwarding.ts";
import type { PagesContext } from "./context.ts";
import type { Page } from "./frame.ts";
import { sendPage } from "./render.ts";

/**
 * The page with the messages of a service without a mail server (src/mail/mailbox.ts). Anybody with a code in them can
 * sign in as its addressee, so they are shown only on the machine itself, to a person who knows the page's secret.
 */

/**
 * Whether a browser of this machine sent the request. The name that it used is this machine's (src/base/address.ts), because a
 * service with a mailbox is for its own machine. A request through a tunnel or proxy on this machine says so.
 */
const isFromThisMachine = (request: Request): boolean => {
  const remote = request.socket.remoteAddress ?? "";
  return [remote, addressOf(request)].every(isLoopbackHost) && forwardingHeader(request.headers) === undefined;
};

/** Cuts a message into pieces at the links that lead to this service, so that they can be followed. */
const inPieces = (text: string, baseUrl: string): { text: string; isLink: boolean }[] =>
  text.split(/(https?:\/\/\S+)/).map((piece) => ({ text: piece, isLink: piece.startsWith(`${baseUrl}/`) }));

const pageOf = (mailbox: Mailbox, baseUrl: () => string): Page => ({
  path: "/mailbox/:secret",
  operation: "mailboxPage",
  get: (request, response) => {
    const isRight = hashSecret(request.path).equals(hashSecret(mailbox.path));
    if (!isRight || !isFromThisMachine(request)) throw problem("not_found", "There is nothing at this address.");
    const messages = mailbox.messages().map(({ to, subject, text, at }) => ({
      to,
      subject,
      at: at.toISOString(),
      clock: at.toISOString().slice(11, 19),
      pieces: inPieces(text.trim(), baseUrl()),
    }));
    sendPage(response, "mailbox", baseUrl(), { messages });
  },
});

/** Makes the page of kept messages, if this process keeps them. */
export const mailboxPages = ({ signIn, baseUrl }: PagesContext): Page[] =>
  signIn.mailbox === null ? [] : [pageOf(signIn.mailbox, baseUrl)];
