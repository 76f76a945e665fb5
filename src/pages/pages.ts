import type { Router } from "express";
import { aboutPages } from "./about.ts";
import { approvalPages } from "./approval.ts";
import type { PagesContext } from "./context.ts";
import { confirmationPages } from "./deals/confirmation.ts";
import { docsPages } from "./docs.ts";
import { type Page, servePages } from "./frame.ts";
import { mailboxPages } from "./mailbox.ts";
import { moderatorPages } from "./moderator.ts";
import { offerPages } from "./offer/page.ts";
import { accountPages } from "./settings/account.ts";
import { activityPage } from "./settings/activity.ts";
import { agentsPage } from "./settings/agents.ts";
import { alertsPage } from "./settings/alerts.ts";
import { conversationsPages } from "./settings/conversations.ts";
import { marketPage } from "./settings/market.ts";
import { methodsPages } from "./settings/methods.ts";
import { powersPages } from "./settings/powers.ts";
import { profilePage } from "./settings/profile.ts";
import { webhooksPage } from "./settings/webhooks.ts";
import { callbackPages } from "./sign_in/callback.ts";
import { choicePages } from "./sign_in/choose.ts";
import { mailPages } from "./sign_in/mail.ts";
import { signOutPages } from "./sign_in/sign_out.ts";
import { stopDigestPage } from "./stop_digest.ts";
import { verifyPages } from "./verify.ts";

type MakePages = (context: PagesContext) => Page | Page[];

const PAGES: readonly MakePages[] = [
  aboutPages,
  approvalPages,
  choicePages,
  mailPages,
  callbackPages,
  signOutPages,
  verifyPages,
  agentsPage,
  powersPages,
  confirmationPages,
  marketPage,
  conversationsPages,
  alertsPage,
  activityPage,
  webhooksPage,
  profilePage,
  methodsPages,
  accountPages,
  stopDigestPage,
  offerPages,
  moderatorPages,
  mailboxPages,
  docsPages,
];

/** Makes the router for all pages that people see in a browser, except /admin, and for their stylesheet. */
export const pages = (context: PagesContext): Router =>
  servePages(
    PAGES.flatMap((make) => make(context)),
    context.baseUrl,
  );
