import { type AdminPage, idOf, type Shown } from "./page_context.ts";

/** The page of a reported conversation for moderators: its words, its reports, and what can be done. */

type Conversation = { offer_id: string; obstacle: string | null };

/** The page of a reported conversation. Whoever opens it is in the log. */
export const conversationPage: AdminPage = {
  path: "/admin/conversations/:id",
  operation: "adminConversation",
  template: "conversation",
  show: async ({ request, ask, typed }) => ({
    ...(await ask<Shown & { conversation: Conversation }>("show_conversation", { id: idOf(request) })),
    typedWords: typed("words"),
  }),
  act: async ({ request, call }, fields) => {
    const id = idOf(request);
    const note = fields.get("words")?.trim() || null;
    const message = fields.get("message");
    if (message === null) {
      await call("settle_conversation", { id, note });
      return `?${new URLSearchParams({ done: "settle" })}`;
    }
    await call("remove_message", { conversation_id: id, id: message, note });
    return `/conversations/${id}`;
  },
};
