import type { Request, Response } from "express";
import { rootOf } from "../../base/address.ts";
import { isId } from "../../base/ids.ts";
import { PROBLEMS, problem, problemOf } from "../../base/problem.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, STALE_FORM, seeOther, wantsJson } from "../frame.ts";
import { sendPage } from "../render.ts";
import { keepSession, personOf } from "../session.ts";
import { askAs } from "../settings/section.ts";
import {
  type DealContact,
  type DealOffer,
  shownDealContact,
  shownOffer,
  shownTerms,
  shownTrack,
  type Terms,
  type Track,
  timeLeft,
} from "./words.ts";

/**
 * The page on which a person confirms or refuses an agreement. It shows nothing without a session of the account, and
 * only the form changes something: with the digest of what the person saw, so that nobody confirms anything else.
 */

/** What api.get_confirmation_page returns. */
type Confirmation = {
  offer: DealOffer;
  role: "publisher" | "inquirer";
  pays: boolean;
  proposed_by: "me" | "counterpart";
  terms: Terms;
  offer_changed: boolean;
  contact: DealContact;
  confirmation: { status: "pending" | "confirmed" | "refused" | "expired"; expires_in: number };
  counterpart: Track;
  conversation_id: string;
  agreement_status: "awaiting" | "made" | "lapsed";
  digest: string;
};

/** What pages say when nothing is left to decide: by what the person said, and what became of the agreement. */
const OUTCOMES = {
  made: {
    stamp: "Agreed",
    isGood: true,
    heading: "You have agreed",
    said: "Both sides have confirmed. The contact of the other side is in the conversation.",
  },
  confirmed: {
    stamp: "Confirmed",
    isGood: true,
    heading: "You have confirmed",
    said: "The other side has not yet. If it does not within two days, nothing is agreed.",
  },
  lapsed: {
    stamp: "Not agreed",
    isGood: false,
    heading: "Nothing is agreed",
    said: "You confirmed, but the other side did not, or the conversation or the offer was closed.",
  },
  refused: {
    stamp: "Refused",
    isGood: false,
    heading: "You have refused",
    said: "Nothing is agreed. The other side reads only that it was not confirmed.",
  },
  expired: {
    stamp: "Over",
    isGood: false,
    heading: "Nothing is agreed",
    said: "Nobody confirmed in time, or the conversation or the offer was closed.",
  },
} as const;

const outcomeOf = ({ confirmation, agreement_status }: Confirmation) => {
  if (confirmation.status === "pending") return null;
  if (confirmation.status !== "confirmed") return OUTCOMES[confirmation.status];
  return OUTCOMES[agreement_status === "awaiting" ? "confirmed" : agreement_status];
};

/** Makes the page of a confirmation. */
export const confirmationPages = (context: PagesContext): Page[] => {
  const { database, baseUrl } = context;
  const idOf = ({ params }: Request): string => {
    if (!isId(params["id"])) throw problem("not_found", "There is no such question. Copy its address whole.");
    return params["id"];
  };

  /** `alert` says why the page is shown again; null the first time. */
  const show = async (request: Request, response: Response, alert: string | null): Promise<void> => {
    const asked = await askAs(context, request)<Confirmation>("get_confirmation_page", { id: idOf(request) });
    const { role, confirmation, conversation_id: conversation } = asked;
    const outcome = outcomeOf(asked);
    keepSession(request, response, baseUrl());
    sendPage(response, "confirmation", baseUrl(), {
      outcome,
      offer: shownOffer(asked.offer, role),
      role,
      pays: asked.pays,
      byMe: asked.proposed_by === "me",
      terms: shownTerms(asked.terms),
      offerChanged: asked.offer_changed && outcome === null,
      track: shownTrack(asked.counterpart),
      contact: shownDealContact(asked.contact),
      left: timeLeft(confirmation.expires_in),
      conversation: `/settings/conversations/${conversation}`,
      path: request.path,
      digest: asked.digest,
      token: giveFormToken(request, response, baseUrl(), request.path),
      alert: outcome === null ? alert : null,
    });
  };

  const decide = async (request: Request, response: Response): Promise<void> => {
    const id = idOf(request);
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    if (stale) throw STALE_FORM;
    const decision = fields.get("decision");
    if (decision !== "confirm" && decision !== "refuse")
      throw problem("bad_request", "The answer is neither Confirm nor Refuse.");
    const args = { id, decision, digest: fields.get("digest") ?? "" };
    try {
      await database.call(personOf(request, baseUrl()), "decide_confirmation", args);
    } catch (thrown) {
      const { code, detail } = problemOf(thrown);
      if (code !== "invalid_state" || wantsJson(request)) throw thrown;
      response.status(PROBLEMS[code].status);
      return show(request, response, detail);
    }
    seeOther(response, rootOf(baseUrl()) + request.path);
  };

  return [
    {
      path: "/confirmations/:id",
      operation: "confirmationPage",
      needsSignIn: true,
      get: (request, response) => show(request, response, null),
      post: decide,
    },
  ];
};
