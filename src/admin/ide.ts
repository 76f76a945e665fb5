import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import express, { type Router } from "express";
import helmet from "helmet";
import { makeHTMLParts, ruruHTML } from "ruru/server";

/**
 * The IDE for the moderators' GraphQL (Ruru, a GraphiQL), with everything it needs from our own origin: its files are
 * those of the installed package, and its page may load nothing from anywhere else.
 */

/** The files change with the package only. */
const STATIC_CACHE_S = 24 * 60 * 60;

const STATIC = join(dirname(createRequire(import.meta.url).resolve("ruru/server")), "..", "static");

/** The page under /admin/graphiql and its files. Answers no other path. */
export const ide = (baseUrl: () => string): Router => {
  const router = express.Router({ caseSensitive: true, strict: true });
  const root = () => new URL(baseUrl()).pathname.replace(/\/$/, "");

  router.use(
    "/admin/graphiql/static",
    express.static(STATIC, {
      index: false,
      redirect: false,
      cacheControl: false,
      // Nothing but a moderator's own browser keeps them: a shared cache would hand them to everybody.
      setHeaders: (response) => response.setHeader("Cache-Control", `private, max-age=${STATIC_CACHE_S}, immutable`),
      dotfiles: "ignore",
    }),
  );

  router.get("/admin/graphiql", (request, response, next) => {
    response.locals["operation"] = "adminIde";
    // The page brings scripts of its own in its text: each carries the number that was thrown for this answer.
    const nonce = randomBytes(16).toString("base64");
    response.set({ "Cache-Control": "no-store", "X-Robots-Tag": "noindex" });
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'", `'nonce-${nonce}'`],
          // The editor writes styles into the page as it goes.
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
      const config = { endpoint: `${root()}/admin/graphql`, staticPath: `${root()}/admin/graphiql/static/` };
      const parts = makeHTMLParts(config);
      const page = ruruHTML(config, { ...parts, titleTag: "<title>GraphQL – Souk moderation</title>" });
      response.type("html").send(page.replaceAll("<script", `<script nonce="${nonce}"`));
    });
  });
  return router;
};
