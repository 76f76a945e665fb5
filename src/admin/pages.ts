import type { Router } from "express";
import type { Database } from "../database/database.ts";
import { assetPage } from "../pages/about.ts";
import { servePages } from "../pages/frame.ts";
import { accountPage } from "./account_page.ts";
import { conversationPage } from "./conversation_page.ts";
import { queuePage, searchPage } from "./list_pages.ts";
import { logPage } from "./log_page.ts";
import { offerPage } from "./offer_page.ts";
import { servedPage } from "./page_context.ts";
import { ASSET_FILES } from "./render.ts";
import { settingsPage } from "./settings_page.ts";

/** Makes the router for the pages below /admin. src/admin/admin.ts has checked that the request is a moderator's. */
export const adminPages = (database: Pick<Database, "call">, baseUrl: () => string): Router =>
  servePages(
    [
      ...[queuePage, searchPage, logPage, offerPage, conversationPage, accountPage, settingsPage].map((page) =>
        servedPage(page, database, baseUrl),
      ),
      ...Object.entries(ASSET_FILES).map(([name, asset]) => assetPage(`/admin/assets/${name}`, asset, "private")),
    ],
    baseUrl,
  );
