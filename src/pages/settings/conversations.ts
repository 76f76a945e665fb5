import { createHash } from "node:crypto";
import type { Request } from "express";
import { cleanWords } from "../../api/handlers/send_words.ts";
import { isId } from "../../base/ids.ts";
import { problem } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import type { PagesContext } from "../context.ts";
import {
  type DealContact,
  type DealOffer,
  paragraphsOf,
  priceOf,
  shownDealContact,
  shownOffer,
  shownTerms,
  shownTrack,
  type Terms,
  type Track,
  timeLeft,
} from "../deals/words.ts";
import type { Page } from "../frame.ts";
import { dayOf, momentOf } from "./dates.ts";
import { type Ask, CURSOR, idIn, listed, parameter, sectionPage } from "./section.ts";

/** The pages of a person's conversations: the list of them, and each with what can be done in it. */

const PATH = "/settings/conversations";

/** Fills one or two screens of a phone. */
const PAGE_SIZE = 20;

/** The characters of a title that browsers show, beside the name of the section. */
const TAB_LENGTH = 40;

type Side = "me" | "counterpart";
type Proposal = { id: string; from: Side; terms: Terms; offer_changed: boolean; expires_at: string };
type Agreement = {
  status: "awaiting" | "made" | "lapsed";
  reason: "refused" | "expired" | "closed" | null;
  terms: Terms;
  awaiting: Side[];
  made_at: string | null;
  confirmation?: { id: string; status: string };
};

/** A conversation, as api.list_conversations and api.get_conversation_page return it. */
type Conversation = {
  id: string;
  offer: DealOffer;
  role: "publisher" | "inquirer";
  status: "open" | "closed";
  counterpart: Track;
  proposal: Proposal | null;
  agreement: Agreement | null;
  contact: DealContact;
  unread: number;
  updated_at: string;
};

type Message = { id: string; from: Side; text: string | null; created_at: string; addresses_agents?: true };

/** What api.get_conversation_page returns. */
type ConversationPage = {
  conversation: Conversation;
  messages: Message[];
  has_older: boolean;
  up_to: string | null;
  can_write: boolean;
  blocked: boolean;
  /** Who proposed the latest agreement. */
  agreement_from: Side | null;
  own_contact: string | null;
  reasons: { code: string; summary: string }[];
};

/** What waits for the person, as api.list_confirmations returns it. */
type Waiting = { id: string; expires_in: number; offer: DealOffer; terms: Terms; pays: boolean };

/** Reads what waits for the person at this browser. */
export const readWaiting = async (ask: Ask) => {
  const { confirmations } = await ask<{ confirmations: Waiting[] }>("list_confirmations");
  return confirmations.map(({ id, expires_in, offer, terms, pays }) => ({
    path: `/confirmations/${id}`,
    title: shownOffer(offer, "").title,
    price: priceOf(terms),
    pays,
    left: timeLeft(expires_in),
  }));
};

/** The state of a conversation in two or three words, and whether something waits for the person. */
const stateOf = ({ status, proposal, agreement }: Conversation): { words: string; isLive: boolean } => {
  if (agreement?.status === "awaiting") {
    const forMe = agreement.confirmation?.status === "pending";
    return { words: forMe ? "Waits for you" : "Waits for the other side", isLive: forMe };
  }
  if (proposal !== null) {
    const forMe = proposal.from === "counterpart";
    return { words: forMe ? "A proposal for you" : "Your proposal waits", isLive: forMe };
  }
  if (agreement?.status === "made") return { words: "Agreed", isLive: true };
  return { words: status === "open" ? "Open" : "Closed", isLive: false };
};

const toView = (conversation: Conversation) => ({
  path: `${PATH}/${conversation.id}`,
  title: shownOffer(conversation.offer, conversation.role).title,
  isOwn: conversation.role === "publisher",
  state: stateOf(conversation),
  unread: conversation.unread,
  active: momentOf(conversation.updated_at),
});

type View = { status: "open" | "closed" | null; cursor: string | null };

const viewOf = (request: Request): View => ({
  status: parameter(request, "status", /^(open|closed)$/) as View["status"],
  cursor: parameter(request, "cursor", CURSOR),
});

const addressOf = ({ status, cursor }: View): string => {
  const query = new URLSearchParams({ ...(status ? { status } : {}), ...(cursor ? { cursor } : {}) }).toString();
  return query === "" ? PATH : `${PATH}?${query}`;
};

const FILTERS = [
  { status: null, title: "All" },
  { status: "open", title: "Open" },
  { status: "closed", title: "Closed" },
] as const;

const listPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: PATH,
    operation: "conversationsPage",
    template: "settings_conversations",
    show: async ({ request, ask }) => {
      const { status } = viewOf(request);
      const [{ results, page, cursor }, waiting, { blocks }] = await Promise.all([
        listed(request, (cursor) =>
          ask<{ results: Conversation[]; page: { next_cursor: string | null; has_more: boolean } }>(
            "list_conversations",
            { status, offer_id: null, page_size: PAGE_SIZE, cursor },
          ),
        ),
        readWaiting(ask),
        ask<{ blocks: { conversation_id: string; blocked_at: string; offer: DealOffer }[] }>("list_blocks"),
      ]);
      return {
        status,
        filters: FILTERS.map(({ title, ...filter }) => ({
          title,
          path: addressOf({ ...filter, cursor: null }),
          isCurrent: filter.status === status,
        })),
        waiting,
        items: results.map(toView),
        older: page.has_more ? addressOf({ status, cursor: page.next_cursor }) : null,
        newest: cursor === null ? null : addressOf({ status, cursor: null }),
        blocks: blocks.map(({ conversation_id: id, blocked_at, offer }) => ({
          id,
          title: shownOffer(offer, "").title,
          since: dayOf(blocked_at),
        })),
      };
    },
    actions: {
      unblock: { call: "unblock", args: (fields) => ({ id: idIn(fields, "block") }), done: "unblocked" },
    },
  });

/** Why an agreement was not made. */
const LAPSED = {
  refused: "It was not confirmed.",
  expired: "Nobody confirmed it within two days.",
  closed: "The conversation or the offer was closed before both sides had confirmed.",
} as const;

const shownAgreement = (agreement: Agreement, from: Side | null) => ({
  isMine: from === "me",
  terms: shownTerms(agreement.terms),
  isMade: agreement.status === "made",
  made: agreement.made_at === null ? null : dayOf(agreement.made_at),
  why: agreement.reason && LAPSED[agreement.reason],
  confirm:
    agreement.status === "awaiting" && agreement.confirmation?.status === "pending"
      ? `/confirmations/${agreement.confirmation.id}`
      : null,
});

const shownMessage = ({ from, text, created_at, addresses_agents }: Message) => ({
  isMine: from === "me",
  paragraphs: text === null ? null : paragraphsOf(text),
  at: momentOf(created_at),
  addressesAgents: addresses_agents === true,
});

const idOf = ({ params }: Request): string => {
  if (!isId(params["id"])) throw problem("not_found", "You have no such conversation.");
  return params["id"];
};

/** Browsers send each line break as two characters, and count it as one. */
const typedText = (fields: URLSearchParams, name: string): string =>
  (fields.get(name) ?? "").replaceAll("\r\n", "\n").replaceAll("\0", "");

const ofConversation = (_fields: URLSearchParams, request: Request) => ({ id: idOf(request) });
const ofProposal = (fields: URLSearchParams, request: Request) => ({
  id: idOf(request),
  proposal_id: idIn(fields, "proposal", "proposal"),
});

const conversationPage = (context: PagesContext): Page => {
  const words = (body: object) => cleanWords(context.withoutOrders, body);
  return sectionPage(context, {
    path: `${PATH}/:id`,
    below: PATH,
    operation: "conversationPage",
    template: "settings_conversation",
    show: async ({ request, ask, form }) => {
      const before = parameter(request, "before", /^[\da-f-]{36}$/i);
      const { conversation, messages, ...page } = await ask<ConversationPage>("get_conversation_page", {
        id: idOf(request),
        before: isId(before) ? before : null,
      });
      const { id, role, proposal, agreement } = conversation;
      const here = `${PATH}/${id}`;
      const wrong = (pointer: string) => form.errors.find((error) => error.pointer === pointer)?.detail ?? null;
      const offer = shownOffer(conversation.offer, role);
      return {
        here,
        tab: offer.title.length > TAB_LENGTH ? `${visibleText(offer.title, TAB_LENGTH)}…` : offer.title,
        offer,
        isOwn: role === "publisher",
        isOpen: conversation.status === "open",
        track: shownTrack(conversation.counterpart),
        contact: shownDealContact(conversation.contact),
        proposal: proposal && {
          id: proposal.id,
          isMine: proposal.from === "me",
          terms: shownTerms(proposal.terms),
          offerChanged: proposal.offer_changed,
          expires: momentOf(proposal.expires_at),
        },
        agreement: agreement && shownAgreement(agreement, page.agreement_from),
        messages: messages.map(shownMessage),
        older: page.has_older ? `${here}?before=${messages[0]?.id}` : null,
        newest: before === null ? null : here,
        unread: conversation.unread,
        upTo: page.up_to,
        canWrite: page.can_write,
        isBlocked: page.blocked,
        reasons: page.reasons,
        typed: form.fields?.get("text") ?? "",
        ownContact: form.fields?.get("contact") ?? page.own_contact ?? "",
        errors: { text: wrong("/text"), contact: wrong("/contact") },
      };
    },
    actions: {
      write: {
        call: "send_message",
        args: (fields, request) => {
          const id = idOf(request);
          const text = typedText(fields, "text");
          // A second click sends nothing twice.
          const hash = createHash("sha256")
            .update(`${id} ${fields.get("up_to")} ${text}`)
            .digest();
          return {
            id,
            body: words({ text }),
            idempotency_key: hash.toString("hex"),
            request_hash: hash,
            errors: [],
          };
        },
        done: "message-sent",
      },
      read: {
        call: "read_conversation",
        args: (fields, request) => ({ id: idOf(request), up_to: idIn(fields, "message", "up_to") }),
        done: "conversation-read",
      },
      accept: {
        call: "accept_proposal",
        args: (fields, request) => {
          const contact = typedText(fields, "contact").trim();
          return { ...ofProposal(fields, request), body: words(contact === "" ? {} : { contact }), errors: [] };
        },
        done: "proposal-accepted",
      },
      decline: { call: "decline_proposal", args: ofProposal, done: "proposal-declined" },
      withdraw: { call: "withdraw_proposal", args: ofProposal, done: "proposal-withdrawn" },
      close: { call: "close_conversation", args: ofConversation, done: "conversation-closed" },
      block: { call: "block_conversation", args: ofConversation, done: "conversation-blocked" },
      report: {
        call: "report_conversation",
        args: (fields, request) => ({
          id: idOf(request),
          reason: fields.get("reason") ?? "",
          comment: typedText(fields, "comment") || null,
        }),
        done: "conversation-reported",
      },
    },
    backTo: (request, done) => `${PATH}/${idOf(request)}?done=${done}`,
  });
};

/** Makes the pages of a person's conversations. */
export const conversationsPages = (context: PagesContext): Page[] => [listPage(context), conversationPage(context)];
