/**
 * The confirmations that a page shows after a form was done. The URL contains only the code, so that a link cannot put
 * other people's text on our page.
 */
export const SENTENCES = {
  "agent-removed": "The agent is removed. It can do nothing in your name any more.",
  "profile-saved": "Your profile is saved.",
  "method-removed": "The way to sign in is removed, and every other browser is signed out of this account.",
  "offer-archived": "The offer is archived. Nobody finds it any more, and your agent can publish it again.",
  "ask-archived": "The ask is archived. Nothing is looked for any more, and your agent can open it again.",
} as const;

/** The code of a confirmation. */
export type Done = keyof typeof SENTENCES;

/** Whether a text is the code of a confirmation. */
export const isDone = (code: string): code is Done => Object.hasOwn(SENTENCES, code);
