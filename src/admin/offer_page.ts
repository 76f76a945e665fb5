import { type AdminPage, idOf, noticeOf, queried, type Shown } from "./page_context.ts";
import { piecesOf, readingsOf, shownValue } from "./render.ts";

/** The page of an offer for moderators: its text with what was extracted, its reports, and the possible decisions. */

/** What a text says, of the offer or of its change. */
type Version = {
  text: string;
  extraction: Record<string, unknown>;
  contact: { methods?: { type: string; value: string }[] };
};
type Offer = Version & {
  status: string;
  /** The change that waits for a decision. */
  change: Version | null;
  /** A sentence that says why this moderator may not decide on the offer; null when they may. */
  obstacle: string | null;
  review_case: { causes: string[]; held_by: string | null } | null;
  likely_reason: string | null;
};

/** The button of a decision, with its key and whether it needs a reason. */
type Choice = { decision: string; label: string; key: string; needsReason: boolean; grave: boolean };

const choice = (decision: string, label: string, key: string, needsReason = false): Choice => ({
  decision,
  label,
  key,
  needsReason,
  grave: needsReason || decision === "uphold",
});

/** The decisions that are possible in the offer's present status. */
const choicesOf = ({ status, change, review_case, obstacle }: Offer): Choice[] => {
  if (obstacle !== null) return [];
  if (change !== null)
    return [
      choice("publish", "Publish the change", "p"),
      choice("reject", "Reject the change", "j", true),
      choice("remove", "Remove the offer", "r", true),
    ];
  if (status === "published" || status === "archived")
    return [choice("keep", "Keep", "k"), choice("remove", "Remove", "r", true)];
  if (status === "pending_review") return [choice("publish", "Publish", "p"), choice("reject", "Reject", "j", true)];
  if (status !== "removed") return [];
  const restore = choice("restore", "Restore", "s");
  return review_case?.causes.includes("appeal") ? [restore, choice("uphold", "Uphold the removal", "u")] : [restore];
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

/** The page of an offer, on which a moderator decides about it. */
export const offerPage: AdminPage = {
  path: "/admin/offers/:id",
  operation: "adminOffer",
  template: "offer",
  show: async (visit) => {
    const { request, ask, typed } = visit;
    const shown = await ask<Shown & { offer: Offer }>("show_offer", { id: idOf(request) });
    const { viewer, offer } = shown;
    const holder = offer.review_case?.held_by ?? null;
    return {
      ...shown,
      notice: noticeOf(visit),
      now: toView(offer),
      changed: offer.change && toView(offer.change),
      choices: choicesOf(offer),
      likely: typed("reason") || offer.likely_reason,
      typedWords: typed("words"),
      heldByOther: holder !== null && holder !== viewer.account_id,
      heldByMe: holder === viewer.account_id,
    };
  },
  act: async ({ request, call, ask }, fields) => {
    const id = idOf(request);
    const decision = fields.get("decision") ?? "";
    if (decision === "claim" || decision === "release") {
      await call(`${decision}_case`, { offer_id: id });
      return `/offers/${id}`;
    }
    const queue = queried(fields.get("queue"), 40);
    const { next } = await ask<{ next: string | null }>("decide_case", {
      id,
      decision,
      expected: fields.get("expected"),
      reports: fields.get("reports"),
      reason: fields.get("reason"),
      words: fields.get("words")?.trim() || null,
      queue,
    });
    if (queue === "") return `/offers/${id}?${new URLSearchParams({ done: decision })}`;
    return `${next === null ? "" : `/offers/${next}`}?${new URLSearchParams({ done: decision, of: id })}`;
  },
};
