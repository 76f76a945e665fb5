import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import express, { type Router } from "express";
import helmet from "helmet";
import { makeHTMLParts, ruruHTML } from "ruru/server";
import { rootOf } from "../base/address.ts";

/**
 * The IDE for the moderators' GraphQL (Ruru, a variant of GraphiQL). Its files come from the installed package, and its
 * page may load nothing from another origin.
 */

/** How many seconds a browser may cache the files. They change only with the package. */
const STATIC_CACHE_S = 24 * 60 * 60;

const STATIC = join(dirname(createRequire(import.meta.url).resolve("ruru/server")), "..", "static");

/** Makes the router for the page /admin/graphiql and its files. Other paths pass through. */
export const ide = (baseUrl: () => string): Router => {
  const router = express.Router({ caseSensitive: true, strict: true });

  router.use(
    "/admin/graphiql/static",
    express.static(STATIC, {
      index: false,
      redirect: false,
      cacheControl: false,
      // Only the moderator's browser may cache the files. A shared cache would serve them to everybody.
      setHeaders: (response) => response.setHeader("Cache-Control", `private, max-age=${STATIC_CACHE_S}, immutable`),
      dotfiles: "ignore",
    }),
  );

  router.get("/admin/graphiql", (request, response, next) => {
    response.locals["operation"] = "adminIde";
    // The page has inline scripts. Each carries a nonce that is new in every response.
    const nonce = randomBytes(16).toString("base64");
    response.set({ "Cache-Control": "no-store", "X-Robots-Tag": "noindex" });
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'", `'nonce-${nonce}'`],
          // The editor adds inline styles while it runs.
          styleSrc: ["'self'", "'unsafe-inline'"],
          fontSrc: ["'self'", "data:"],
          imgSrc: ["'self'", "data:"],
          workerSrc: ["'self'"],
          connectSrc: ["'self'"],
          formAction: ["'none'"],
          frameAncestors: ["'none'"],
          baseUri: ["'none'"],
        },
      },
      referrerPolicy: { policy: "strict-origin" },
      xFrameOptions: { action: "deny" },
      strictTransportSecurity: false,
    })(request, response, (error?: unknown) => {
      if (error) return next(error);
      const admin = `${rootOf(baseUrl())}/admin`;
      const config = { endpoint: `${admin}/graphql`, staticPath: `${admin}/graphiql/static/` };
      const parts = makeHTMLParts(config);
      const page = ruruHTML(config, { ...parts, titleTag: "<title>GraphQL – Souk moderation</title>" });
      response.type("html").send(page.replaceAll("<script", `<script nonce="${nonce}"`));
    });
  });
  return router;
};
