import type { Message } from "./mailer.ts";
import { message } from "./messages.ts";

/**
 * The mail with the new matches of a person's asks, and what is unread in the person's conversations. Strangers' words
 * are only in its body.
 */

/** An ask with its new matches, in the form in which people may see it. */
type DigestAsk = {
  title: string;
  offers: { title: string; facts: string; url: string }[];
  /** How many more matches there are. */
  more: number;
};

/** A conversation with something unread: the title of its offer, and how many messages and proposals. */
type DigestConversation = { title: string; unread: number; url: string };

/** Returns the path that switches off an account's digest, with the key that the database made for it. */
export const stopPath = (account: string, key: string): string => `/stop-mail/${account}/${key}`;

/**
 * Makes a digest.
 * @param data.count how many new matches there are
 * @param data.others how many more conversations have something unread
 * @param data.conversationsUrl URL of the list of conversations
 * @param data.settings URL of the page on which the person switches it off
 * @param data.stop URL that switches it off with one click (RFC 8058)
 * @param data.id its Message-ID without brackets. A mail that is sent again has the same
 */
export const digestMessage = ({
  id,
  ...data
}: {
  asks: DigestAsk[];
  count: number;
  conversations: DigestConversation[];
  others: number;
  conversationsUrl: string;
  settings: string;
  stop: string;
  id: string;
}): Message => {
  const talks = data.conversations.length + data.others;
  const matches = data.count === 1 ? "One new match" : `${data.count} new matches`;
  const news = talks === 1 ? "news in one conversation" : `news in ${talks} conversations`;
  const parts = [...(data.count === 0 ? [] : [matches]), ...(talks === 0 ? [] : [news])];
  const heading = `${parts.join(", and ").replace(/^n/, "N")} on Souk`;
  return { ...message("digest", heading, { ...data, heading }), id, stop: data.stop };
};
