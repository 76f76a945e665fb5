/**
 * The confirmations that a page shows after a form was done. The URL contains only the code, so that a link cannot put
 * other people's text on our page.
 */
export const SENTENCES = {
  "agent-removed": "The agent is removed. It can do nothing in your name any more.",
  "agent-approved": "The agent acts for you again.",
  "profile-saved": "Your profile is saved.",
  "method-removed": "The way to sign in is removed, and every other browser is signed out of this account.",
  "offer-archived": "The offer is archived. Nobody finds it any more, and your agent can publish it again.",
  "offer-confirmed": "Your offer is still available. Everyone can find it, as before.",
  "digest-on": "New matches come by mail, at most once a day.",
  "digest-off": "You get no more mail about matches.",
  "ask-watched": "You and your agents hear of new matches of this ask.",
  "ask-unwatched": "You no longer hear of new matches of this ask.",
  "ask-archived": "The ask is archived. Nothing is looked for any more, and your agent can open it again.",
  "webhook-tested": "A test event is on its way. Load this page again in a moment to see what became of it.",
  "webhook-deleted": "The webhook is deleted. Nothing more is sent to it.",
} as const;

/** The code of a confirmation. */
export type Done = keyof typeof SENTENCES;

/** Whether a text is the code of a confirmation. */
export const isDone = (code: string): code is Done => Object.hasOwn(SENTENCES, code);
