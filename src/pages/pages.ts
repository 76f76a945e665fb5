import type { Router } from "express";
import { aboutPages } from "./about.ts";
import { approvalPages } from "./approval.ts";
import type { PagesContext } from "./context.ts";
import { servePages } from "./frame.ts";
import { moderatorPages } from "./moderator.ts";
import { settingsPages } from "./settings/settings.ts";
import { signInPages } from "./sign_in/pages.ts";
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
      ...moderatorPages(context),
    ],
    context.baseUrl,
  );
