import type { Router } from "express";
import { problem } from "../base/problem.ts";
import type { Database } from "../database/database.ts";
import { type Page, servePages } from "../pages/frame.ts";
import { signInPath } from "../pages/render.ts";
import { sessionHash } from "../pages/session.ts";
import { giveFormToken } from "../web/csrf.ts";
import { accountPages } from "./account_page.ts";
import { BAD_VALUE, isBadValue } from "./bad_value.ts";
import { listPages } from "./list_pages.ts";
import { offerPages } from "./offer_page.ts";
import type { PageContext } from "./page_context.ts";
import { ASSET_FILES, renderAdmin } from "./render.ts";
import { settingsPages } from "./settings_page.ts";

const assets = (): Page[] =>
  Object.entries(ASSET_FILES).map(([name, { text, type, hash }]) => ({
    path: `/admin/assets/${name}`,
    operation: "adminAsset",
    get: (_request, response) => {
      response
        .set({ "Cache-Control": "private, max-age=3600", ETag: `"${hash}"` })
        .type(type)
        .send(text);
    },
  }));

/** Makes the router for the pages below /admin. src/admin/admin.ts has checked that the request is a moderator's. */
export const adminPages = ({ call }: Pick<Database, "call">, baseUrl: () => string): Router => {
  const root = () => new URL(baseUrl()).pathname.replace(/\/$/, "");
  const context: PageContext = {
    baseUrl,
    async call(request, name, args = {}) {
      const moderator = sessionHash(request, baseUrl());
      if (moderator === null) throw problem("not_found", "There is nothing at this address.");
      try {
        return await call({ moderator }, name, args);
      } catch (error) {
        throw isBadValue(error) ? problem("bad_request", BAD_VALUE) : error;
      }
    },
    render: (request, template, shown) =>
      renderAdmin({
        ...shown,
        baseUrl: baseUrl(),
        template,
        signIn: signInPath(baseUrl(), request.originalUrl, true),
      }),
    token: (request, response) => giveFormToken(request, response, baseUrl(), request.path),
    path: (path) => `${root()}/admin${path}`,
  };
  const list = [...listPages(context), ...offerPages(context), ...accountPages(context), ...settingsPages(context)];
  return servePages([...list.map((page) => ({ ...page, runsScripts: true as const })), ...assets()], baseUrl);
};
