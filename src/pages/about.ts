import { performance } from "node:perf_hooks";
import type { Database } from "../database/database.ts";
import { ASSETS } from "./assets.ts";
import type { PagesContext } from "./context.ts";
import type { Page } from "./frame.ts";
import { type Overview, renderErrors, renderHome } from "./render.ts";

/** An hour is enough, because a changed file has a new URL. */
const ASSET_CACHE = "public, max-age=3600";

/**
 * The shortest interval at which the home page asks the database. A removed title is gone after this time, and from
 * browsers and caches after the same time again.
 */
const OVERVIEW_MS = 15_000;
const OVERVIEW_CACHE = `public, max-age=${OVERVIEW_MS / 1000}`;

/** Returns a function that reads what the home page shows of the market; null if nothing is shown. */
const overviewOf = (database: Database): (() => Promise<Overview | null>) => {
  let last: { until: number; overview: Promise<Overview | null> } | undefined;
  const read = async (): Promise<Overview | null> => {
    const found = JSON.parse(await database.call("visitor", "get_market_overview", {}, "read"));
    return found.shown ? (found as Overview) : null;
  };
  return () => {
    // The home page is there without the database, too.
    if (last === undefined || last.until <= performance.now())
      last = { until: performance.now() + OVERVIEW_MS, overview: read().catch(() => null) };
    return last.overview;
  };
};

/** Makes the pages that are the same for everyone: home, the page that explains errors, and the files that pages load. */
export const aboutPages = ({ baseUrl, database }: PagesContext): Page[] => {
  const overview = overviewOf(database);
  return [
    {
      path: "/",
      operation: "homePage",
      cache: "public",
      runsScripts: true,
      get: async (_request, response) => {
        const shown = await overview();
        if (shown !== null) response.set("Cache-Control", OVERVIEW_CACHE);
        response.type("html").send(renderHome(baseUrl(), shown));
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
    ...Object.entries(ASSETS).map(
      ([name, { text, type, hash }]): Page => ({
        path: `/assets/${name}`,
        operation: "asset",
        cache: "public",
        get: (_request, response) => {
          response
            .set({ "Cache-Control": ASSET_CACHE, ETag: `"${hash}"` })
            .type(type)
            .send(text);
        },
      }),
    ),
  ];
};
