import type { Task } from "graphile-worker";
import { problemOf } from "../../src/base/problem.ts";
import { visibleText } from "../../src/base/visible_text.ts";
import { digestMessage, stopPath } from "../../src/mail/digest.ts";
import { type Tools, task } from "../task.ts";

/** What jobs.begin_digest returns. */
type Digest = {
  email: string;
  mail_id: string;
  stop_key: string;
  asks: {
    title: string;
    found: number;
    offers: { id: string; title: string; price: string | null; location: string | null }[];
  }[];
  conversations: { id: string; title: string | null; unread: number }[];
};

/** As many conversations as a person reads on a phone. The mail says how many more there are. */
const MAX_CONVERSATIONS = 10;

/** The longest title, and the longest words of a price or place, that the database stores. */
const TITLE_LENGTH = 120;
const LABEL_LENGTH = 200;

/** Looks for people whose digest is due and who have something new, in batches. */
export const enqueueDigests =
  ({ call, mailer }: Tools): Task =>
  async (_payload, { abortSignal }) => {
    // Without a mail server nothing can be sent.
    for (let looked = mailer === null ? 0 : 1; looked > 0; ) {
      abortSignal?.throwIfAborted();
      [looked = 0] = await call<number>("enqueue_digests");
    }
  };

const printable = (text: string | null, length: number): string | null =>
  text === null ? null : visibleText(text, length) || null;

/**
 * Sends a person the new matches of their asks, and what is unread in their conversations. If the mail server refuses the address, the digest is tried again after
 * a day. After any other failure, the job runs again with the same mail.
 */
export const sendDigest = ({ call, mailer, baseUrl }: Tools) =>
  task(async ({ id }, signal) => {
    if (mailer === null) return;
    const [digest] = await call<Digest | null>("begin_digest", id);
    if (!digest) return;
    const message = digestMessage({
      asks: digest.asks.map(({ title, found, offers }) => ({
        title: printable(title, TITLE_LENGTH) ?? "Without a title",
        more: found - offers.length,
        offers: offers.map((offer) => ({
          url: `${baseUrl()}/offers/${offer.id}`,
          title: printable(offer.title, TITLE_LENGTH) ?? "Without a title",
          facts: [printable(offer.price, LABEL_LENGTH), printable(offer.location, LABEL_LENGTH)]
            .filter((fact) => fact !== null)
            .join(", "),
        })),
      })),
      count: digest.asks.reduce((sum, { found }) => sum + found, 0),
      conversations: digest.conversations.slice(0, MAX_CONVERSATIONS).map(({ id, title, unread }) => ({
        title: printable(title, TITLE_LENGTH) ?? "Without a title",
        unread,
        url: `${baseUrl()}/settings/conversations/${id}`,
      })),
      others: Math.max(digest.conversations.length - MAX_CONVERSATIONS, 0),
      conversationsUrl: `${baseUrl()}/settings/conversations`,
      settings: `${baseUrl()}/settings/alerts`,
      stop: baseUrl() + stopPath(id, digest.stop_key),
      id: `${digest.mail_id}@${new URL(baseUrl()).hostname}`,
    });
    let isTaken = true;
    try {
      await mailer.send(digest.email, message, signal);
    } catch (thrown) {
      const { code, detail } = problemOf(thrown);
      // The mailer throws a Problem, but graphile-worker expects an Error. The mailer has logged the cause.
      if (code !== "bad_request") throw new Error(detail);
      isTaken = false;
    }
    await call("finish_digest", id, isTaken);
  });
