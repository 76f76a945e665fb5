import type { Request, Response } from "express";
import { type Problem, problem } from "../base/problem.ts";
import type { Page } from "../pages/frame.ts";
import { formOf, formPage, idOf, noticeOf, type PageContext, queried, typed, type Viewer } from "./page_context.ts";
import { piecesOf, readingsOf, renderAdmin, shownValue } from "./render.ts";

/** The page of an offer for moderators: its text with what was extracted, its reports, and the possible decisions. */

/** What a text says, of the offer or of its change. */
type Version = {
  title: string;
  text: string;
  images: string[];
  extraction: Record<string, unknown>;
  contact: { methods?: { type: string; value: string }[] };
};
type Offer = Version & {
  id: string;
  status: string;
  updatedAt: string;
  /** The last change, if it waits for a decision or was rejected. */
  change: (Version & { rejectedAt: string | null }) | null;
  /** A sentence that says why this moderator may not decide on the offer; null when they may. */
  obstacle: string | null;
  reviewCase: { queue: string; causes: string[]; holder: { accountId: string; name: string } | null } | null;
  reports: { nodes: { reason: string; completedAt: string | null }[] };
};
type OfferData = Viewer & {
  offer: Offer | null;
  reasons: { nodes: { code: string; summary: string; sentence: string }[] };
};

type Waiting = { offerId: string; heldBy: string | null; offer: { obstacle: string | null } };

/** The button of a decision, with its key and whether it needs a reason. */
type Choice = { decision: string; label: string; key: string; needsReason: boolean; grave: boolean };

const choice = (decision: string, label: string, key: string, needsReason = false): Choice => ({
  decision,
  label,
  key,
  needsReason,
  grave: needsReason || decision === "uphold",
});

const KEEP = choice("keep", "Keep", "k");
const REMOVE = choice("remove", "Remove", "r", true);

/** The change of an offer that waits for a decision, or null. */
const waitingOf = ({ change }: Offer): Offer["change"] => (change?.rejectedAt === null ? change : null);

/** The decisions that are possible in the offer's present status. */
const choicesOf = (offer: Offer): Choice[] => {
  const { status, reviewCase, obstacle } = offer;
  if (obstacle !== null) return [];
  if (waitingOf(offer) !== null)
    return [
      choice("publish", "Publish the change", "p"),
      choice("reject", "Reject the change", "j", true),
      choice("remove", "Remove the offer", "r", true),
    ];
  if (status === "published" || status === "archived") return [KEEP, REMOVE];
  if (status === "pending_review") return [choice("publish", "Publish", "p"), choice("reject", "Reject", "j", true)];
  if (status !== "removed") return [];
  const restore = choice("restore", "Restore", "s");
  return reviewCase?.causes.includes("appeal") ? [restore, choice("uphold", "Uphold the removal", "u")] : [restore];
};

const DECISIONS = ["keep", "remove", "publish", "reject", "restore", "uphold"] as const;

/** The reason that the form preselects: the one in most open reports, else what the market itself detected. */
const likelyReason = ({ reports, reviewCase }: Offer): string | null => {
  const open = reports.nodes.filter(({ completedAt }) => completedAt === null);
  const counts = [...Map.groupBy(open, ({ reason }) => reason)].map(([reason, given]) => ({
    reason,
    count: given.length,
  }));
  const [first] = counts.toSorted((a, b) => b.count - a.count);
  return first?.reason ?? (reviewCase?.causes.includes("addresses_agents") ? "addresses_agents" : null);
};

const toView = (version: Version) => {
  const { extraction, text, contact } = version;
  const readings = readingsOf(extraction);
  return {
    ...version,
    pieces: piecesOf(text, readings),
    readings: readings.map((reading) => ({ ...reading, value: shownValue(reading.value) })),
    contacts: contact.methods ?? [],
  };
};

/** Makes the page of an offer, on which a moderator decides about it. */
export const offerPages = (context: PageContext): Page[] => {
  const show = async (request: Request, response: Response, refused?: Problem): Promise<string> => {
    const { viewer, offer, reasons } = await context.ask<OfferData>(request, "offer", { id: idOf(request) });
    if (offer === null) throw problem("not_found", "There is no such offer.");
    const waiting = waitingOf(offer);
    const fault = refused === undefined ? {} : { fault: refused.detail };
    return renderAdmin(
      "offer",
      context.frame(request, viewer, null, { notice: noticeOf(context, request), ...fault }),
      {
        offer,
        now: toView(offer),
        changed: waiting && toView(waiting),
        choices: choicesOf(offer),
        reasons: reasons.nodes,
        likely: typed(response, "reason") || likelyReason(offer),
        typedWords: typed(response, "words"),
        heldByOther:
          offer.reviewCase?.holder && offer.reviewCase.holder.accountId !== viewer.accountId
            ? offer.reviewCase.holder
            : null,
        heldByMe: offer.reviewCase?.holder?.accountId === viewer.accountId,
        token: context.token(request, response),
      },
    );
  };

  /** The path of the next case of the queue that nobody holds and this moderator may decide; else of the queue page. */
  const nextAfter = async (request: Request, id: string, queue: string, decision: string): Promise<string> => {
    const done = new URLSearchParams({ done: decision, of: id });
    if (queue === "") return context.path(`/offers/${id}?${new URLSearchParams({ done: decision })}`);
    const { reviewCases } = await context.ask<{ reviewCases: { nodes: Waiting[] } }>(request, "next", {
      condition: { queue },
    });
    const next = reviewCases.nodes.find(({ heldBy, offer }) => heldBy === null && offer.obstacle === null);
    return next ? context.path(`/offers/${next.offerId}?${done}`) : context.path(`?${done}`);
  };

  const act = async (request: Request, response: Response): Promise<string> => {
    const id = idOf(request);
    const fields = await formOf(context, request, response);
    const action = fields.get("decision") ?? "";
    if (action === "claim" || action === "release") {
      await context.ask(request, action, { id });
      return context.path(`/offers/${id}`);
    }
    const decision = DECISIONS.find((known) => known === action);
    if (decision === undefined) throw problem("bad_request", "That is none of the decisions. Look at the page again.");
    await context.ask(request, decision, {
      id,
      expected: fields.get("expected") ?? "",
      reports: fields.has("reports") ? Number(fields.get("reports")) : null,
      words: fields.get("words")?.trim() || null,
      ...(decision === "remove" || decision === "reject" ? { reason: fields.get("reason") ?? "" } : {}),
    });
    return nextAfter(request, id, queried(fields.get("queue"), 40), decision);
  };

  return [{ path: "/admin/offers/:id", operation: "adminOffer", ...formPage(show, act) }];
};
