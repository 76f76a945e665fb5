import type { Request, Response } from "express";
import { rootOf } from "../../base/address.ts";
import type { CONDITIONS } from "../../base/enums.ts";
import { isId } from "../../base/ids.ts";
import { PROBLEMS, problem, problemOf } from "../../base/problem.ts";
import { readableText, visibleText } from "../../base/visible_text.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, STALE_FORM, seeOther, wantsJson } from "../frame.ts";
import { sendPage, signInPath } from "../render.ts";
import { personOf, sessionHash } from "../session.ts";
import { dayOf, monthOf } from "../settings/dates.ts";
import { isWebLink, shownContact, withoutAnyWayToReach } from "./contacts.ts";
import { inScript, jsonLdOf } from "./json_ld.ts";
import type { ShownOffer } from "./shown_offer.ts";

/**
 * An offer's page, which agents show to their persons. Everybody with its address may read it. Only a person with
 * a session can report the offer and sees the contact, if it is not withheld. Visits are not recorded.
 */

const CONDITION_WORDS: Readonly<Record<(typeof CONDITIONS)[number], string>> = {
  new: "New",
  like_new: "Like new",
  used_good: "Used, in good condition",
  used_fair: "Used, with signs of wear",
  refurbished: "Refurbished",
  for_parts: "Broken, or for parts",
};

/** The database's limits for titles, and for prices and places as stated. */
const TITLE_LENGTH = 120;
const LABEL_LENGTH = 200;
/** The characters of a page's title that browsers and search engines show. */
const TAB_LENGTH = 60;
/** The characters of a text that previews of links show. */
const SUMMARY_LENGTH = 200;

/** The report form, if it could not be sent: why, and what was typed. */
type Report = { alert: string; reason: string; comment: string };

/** Makes an offer's page. */
export const offerPages = ({ database, baseUrl }: PagesContext): Page[] => {
  const idOf = ({ params }: Request): string => {
    const { id } = params;
    if (!isId(id)) throw problem("not_found", "There is no such offer. Copy its address whole.");
    return id.toLowerCase();
  };

  const read = async (id: string, session: Buffer | null): Promise<ShownOffer> => {
    const found = JSON.parse(
      await database.call("visitor", "get_offer_page", { id, session_hash: session }, "read"),
    ) as ShownOffer;
    const { sees_contact: seesContact, language, place } = found;
    const hints = { country: place?.country ?? null, language };
    const shown = (words: string): string => (seesContact ? words : withoutAnyWayToReach(words, hints));
    const label = (words: string | null, length: number): string | null =>
      words === null ? null : visibleText(shown(words), length) || null;
    return {
      ...found,
      title: label(found.title, TITLE_LENGTH) ?? "Without a title",
      // The line breaks stay.
      text: shown(readableText(found.text)),
      price: label(found.price, LABEL_LENGTH),
      location: label(found.location, LABEL_LENGTH),
    };
  };

  const show = async (request: Request, response: Response, report: Report | null): Promise<void> => {
    const id = idOf(request);
    const session = sessionHash(request, baseUrl());
    const offer = await read(id, session);
    const images = offer.images.map(({ url }) => url).filter(isWebLink);
    const url = `${baseUrl()}/offers/${id}`;
    if (offer.indexed) response.removeHeader("X-Robots-Tag");
    sendPage(response, "offer", baseUrl(), {
      tab: offer.title.length > TAB_LENGTH ? `${visibleText(offer.title, TAB_LENGTH)}…` : offer.title,
      title: offer.title,
      paragraphs: offer.text.split(/\n{2,}/),
      addressesAgents: offer.addresses_agents,
      language: offer.language,
      price: offer.price,
      location: offer.location,
      condition: offer.condition && CONDITION_WORDS[offer.condition],
      posted: offer.published_at && dayOf(offer.published_at),
      // Publishing confirms it, too.
      confirmed:
        offer.confirmed_at === null || offer.confirmed_at.slice(0, 10) === offer.published_at?.slice(0, 10)
          ? null
          : dayOf(offer.confirmed_at),
      images,
      publisher: { ...offer.publisher, since: monthOf(offer.publisher.member_since) },
      withheld: offer.signed_in && !offer.sees_contact ? offer.contact_visibility : null,
      contact: offer.contact && {
        name: visibleText(offer.contact.primary.name ?? "", LABEL_LENGTH),
        methods: offer.contact.methods.map(shownContact),
      },
      owner: offer.owner,
      reasons: offer.reasons,
      report,
      signedIn: offer.signed_in,
      done: request.query["done"] === "reported" && report === null && offer.reasons !== null,
      path: request.path,
      token: offer.reasons === null ? null : giveFormToken(request, response, baseUrl(), request.path),
      signIn: signInPath(baseUrl(), `/offers/${id}`),
      // For machines, which have no session, so without the contact.
      meta: !offer.signed_in && {
        url,
        title: offer.title,
        description: visibleText(offer.text.replaceAll(/\s+/g, " "), SUMMARY_LENGTH),
        jsonLd: inScript(jsonLdOf(offer, url, images)),
      },
    });
  };

  const sendReport = async (request: Request, response: Response): Promise<void> => {
    const id = idOf(request);
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    const reason = fields.get("reason") ?? "";
    // Browsers send each line break as two characters, and count it as one.
    const comment = (fields.get("comment") ?? "").replaceAll("\r\n", "\n").replaceAll("\0", "");
    try {
      if (stale) throw STALE_FORM;
      await database.call(personOf(request, baseUrl()), "report_offer", { id, reason, comment: comment || null });
    } catch (thrown) {
      const { code, detail, headers = {} } = problemOf(thrown);
      const { status } = PROBLEMS[code];
      if (status >= 500 || code === "unauthorized" || code === "not_found" || wantsJson(request)) throw thrown;
      response.status(status).set(headers);
      return show(request, response, { alert: detail, reason, comment });
    }
    seeOther(response, `${rootOf(baseUrl())}/offers/${id}?done=reported`);
  };

  return [
    {
      path: "/offers/:id",
      operation: "offerPage",
      needsSignIn: true,
      get: (request, response) => show(request, response, null),
      post: sendReport,
    },
  ];
};
