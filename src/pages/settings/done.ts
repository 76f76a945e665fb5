/**
 * What a page confirms after a form was done. Only the code travels, in the address: no one else's words can be put on
 * our page by a link.
 */
export const SENTENCES = {
  "agent-removed": "The agent is removed. It can do nothing in your name any more.",
  "profile-saved": "Your profile is saved.",
  "method-removed": "The way to sign in is removed, and every other browser is signed out of this account.",
  "offer-archived": "The offer is archived. Nobody finds it any more, and your agent can publish it again.",
  "ask-archived": "The ask is archived. Nothing is looked for any more, and your agent can open it again.",
} as const;

/** The name of something that was just done. */
export type Done = keyof typeof SENTENCES;

/** Whether a text names something that can have been done. */
export const isDone = (code: string): code is Done => Object.hasOwn(SENTENCES, code);
