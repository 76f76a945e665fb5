import type { Message } from "./mailer.ts";
import { message } from "./messages.ts";

/** The mail with the new matches of a person's asks. Strangers' words are only in its body. */

/** An ask with its new matches, in the form in which people may see it. */
type DigestAsk = {
  title: string;
  offers: { title: string; facts: string; url: string }[];
  /** How many more matches there are. */
  more: number;
};

/** Returns the path that switches off an account's digest, with the key that the database made for it. */
export const stopPath = (account: string, key: string): string => `/stop-mail/${account}/${key}`;

/**
 * Makes a digest.
 * @param data.count how many new matches there are
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
  settings: string;
  stop: string;
  id: string;
}): Message => {
  const heading = data.count === 1 ? "One new match on Souk" : `${data.count} new matches on Souk`;
  return { ...message("digest", heading, { ...data, heading }), id, stop: data.stop };
};
