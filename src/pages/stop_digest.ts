import type { Request, Response } from "express";
import { isId } from "../base/ids.ts";
import { problem } from "../base/problem.ts";
import { hashSecret } from "../base/tokens.ts";
import { stopPath } from "../mail/digest.ts";
import { readForm } from "../web/form.ts";
import { askVisitor, type PagesContext } from "./context.ts";
import type { Page } from "./frame.ts";
import { sendPage } from "./render.ts";

/**
 * The page behind the link in a digest. A mail program switches the digest off with one POST, without a session
 * (RFC 8058). A person who opens the link presses a button, because programs that check links open them, too.
 */

/** Returns whose digest a link switches off, and the hash of its key. @throws Problem not_found when there is no such link */
const readLink = ({ params }: Request): { account_id: string; key_hash: Buffer } => {
  const { account, key } = params;
  if (!isId(account)) {
    throw problem(
      "not_found",
      'This link does not work. Copy it whole from the mail, or switch the mail off in the settings, under "Alerts".',
    );
  }
  return { account_id: account, key_hash: hashSecret(String(key)) };
};

/** Makes the page behind the link in a digest. */
export const stopDigestPage = (context: PagesContext): Page => {
  const answer = async (request: Request, response: Response, name: "get_digest_link" | "stop_digest") => {
    const { enabled } = await askVisitor<{ enabled: boolean }>(context, name, readLink(request));
    sendPage(response, "stop_digest", context.baseUrl(), { enabled, path: request.path });
  };
  return {
    path: stopPath(":account", ":key"),
    operation: "stopDigest",
    get: (request, response) => answer(request, response, "get_digest_link"),
    post: async (request, response) => {
      // The link alone authorizes, so it does not matter who sends the form. It is read because RFC 8058 names its field.
      const fields = await readForm(request, response);
      if (fields.get("List-Unsubscribe") !== "One-Click") {
        throw problem("bad_request", "Send the field List-Unsubscribe=One-Click, or press the button on this page.");
      }
      await answer(request, response, "stop_digest");
    },
  };
};
