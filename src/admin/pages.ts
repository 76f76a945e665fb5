import type { Request } from "express";
import { type ProblemCode, problem } from "../base/problem.ts";
import type { Page } from "../pages/frame.ts";
import { signInPath } from "../pages/render.ts";
import { sessionHash } from "../pages/session.ts";
import { giveFormToken } from "../web/csrf.ts";
import { requestIdOf } from "../web/send.ts";
import { accountPages } from "./account_page.ts";
import type { AdminSchema } from "./graphql.ts";
import { listPages } from "./list_pages.ts";
import { offerPages } from "./offer_page.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";
import type { PageContext } from "./page_context.ts";
import { ASSET_FILES } from "./render.ts";
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

/** Makes the pages below /admin. */
export const adminPages = (site: { schema: AdminSchema; baseUrl: () => string }): Page[] => {
  const { schema, baseUrl } = site;
  const root = () => new URL(baseUrl()).pathname.replace(/\/$/, "");
  const context: PageContext = {
    baseUrl,
    async ask<Data>(request: Request, operation: OperationName, variables: Record<string, unknown> = {}) {
      const session = sessionHash(request, baseUrl());
      if (session === null) throw problem("not_found", "There is nothing at this address.");
      const caller = { session, requestId: request.res ? requestIdOf(request.res) : "" };
      const { body } = await schema.run(caller, { query: OPERATIONS[operation], variables });
      const [error] = body.errors ?? [];
      if (error) {
        const { code, status: _status, ...members } = error.extensions ?? {};
        throw problem(code as ProblemCode, error.message, members);
      }
      return body.data as Data;
    },
    frame: (request, viewer, place, rest = {}) => ({
      baseUrl: baseUrl(),
      viewer,
      place,
      signIn: signInPath(baseUrl(), request.originalUrl, true),
      ...rest,
    }),
    token: (request, response) => giveFormToken(request, response, baseUrl(), request.path),
    path: (path) => `${root()}/admin${path}`,
  };
  const list = [...listPages(context), ...offerPages(context), ...accountPages(context), ...settingsPages(context)];
  return [...list.map((page) => ({ ...page, runsScripts: true as const })), ...assets()];
};
