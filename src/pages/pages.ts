import type { Router } from "express";
import { aboutPages } from "./about.ts";
import { approvalPages } from "./approval.ts";
import type { PagesContext } from "./context.ts";
import { docsPages } from "./docs.ts";
import { servePages } from "./frame.ts";
import { mailboxPages } from "./mailbox.ts";
import { moderatorPages } from "./moderator.ts";
import { offerPages } from "./offer/page.ts";
import { settingsPages } from "./settings/settings.ts";
import { signInPages } from "./sign_in/pages.ts";
import { stopDigestPage } from "./stop_digest.ts";
import { verifyPages } from "./verify.ts";

/** Makes the router for all pages that people see in a browser, except /admin, and for their stylesheet. */
export const pages = (context: PagesContext): Router =>
  servePages(
    [
      ...aboutPages(context),
      ...approvalPages(context),
      ...signInPages(context),
      ...verifyPages(context),
      ...settingsPages(context),
      stopDigestPage(context),
      ...offerPages(context),
      ...moderatorPages(context),
      ...mailboxPages(context),
      ...docsPages(context),
    ],
    context.baseUrl,
  );
