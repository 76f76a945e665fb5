import type { PagesContext } from "./context.ts";
import type { Page } from "./frame.ts";
import { renderErrors, renderHome, STYLESHEET } from "./render.ts";

/** An hour is enough, because a changed stylesheet has a new URL. */
const STYLESHEET_CACHE = "public, max-age=3600";

/** Makes the pages that are the same for everyone: the home page, the page that explains errors, and the stylesheet. */
export const aboutPages = ({ baseUrl }: PagesContext): Page[] => [
  {
    path: "/",
    operation: "homePage",
    cache: "public",
    get: (_request, response) => {
      response.type("html").send(renderHome(baseUrl()));
    },
  },
  {
    path: "/errors",
    operation: "errorsPage",
    cache: "public",
    get: (_request, response) => {
      response.type("html").send(renderErrors(baseUrl()));
    },
  },
  {
    path: "/assets/souk.css",
    operation: "stylesheet",
    cache: "public",
    get: (_request, response) => {
      response.set({ "Cache-Control": STYLESHEET_CACHE, ETag: STYLESHEET.etag }).type("css").send(STYLESHEET.css);
    },
  },
];
