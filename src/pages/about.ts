import { performance } from "node:perf_hooks";
import { DISCOVERY } from "../api/discovery.ts";
import { PROBLEMS } from "../base/problem.ts";
import { visibleText } from "../base/visible_text.ts";
import type { Database } from "../database/database.ts";
import { ASSETS, type Asset } from "./assets.ts";
import type { PagesContext } from "./context.ts";
import type { Page } from "./frame.ts";
import { renderPage, sendPage } from "./render.ts";

/** An hour is enough, because a changed file has a new URL. */
const KEPT = "max-age=3600";

/** Serves a file. @param scope whether caches may keep it that several people use */
export const assetPage = (path: string, { text, type, hash }: Asset, scope: "public" | "private"): Page => ({
  path,
  operation: scope === "public" ? "asset" : "adminAsset",
  ...(scope === "public" ? { cache: scope } : {}),
  get: (_request, response) => {
    response
      .set({ "Cache-Control": `${scope}, ${KEPT}`, ETag: `"${hash}"` })
      .type(type)
      .send(text);
  },
});

/**
 * The shortest interval at which the home page asks the database. A removed title is gone after this time, and from
 * browsers and caches after the same time again.
 */
const OVERVIEW_MS = 15_000;
const OVERVIEW_CACHE = `public, max-age=${OVERVIEW_MS / 1000}`;

/** What the home page shows of the market, as api.get_market_overview returns it. */
type Overview = {
  /** Counting ended above this number. */
  most: number;
  offers: number;
  asks: number;
  /** The newest titles, which others wrote. */
  newest: string[];
};

/** A number with its noun: "1 offer", "2,000 offers", "more than 10,000 offers". */
const counted = (count: number, most: number, noun: string): string =>
  `${count > most ? "more than " : ""}${Math.min(count, most).toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** The database's limit for titles, in characters. */
const TITLE_LENGTH = 120;

/** Cuts a text with `code` in backticks into pieces for a template. */
const inPieces = (prose: string): { text: string; isCode: boolean }[] =>
  prose
    .split("`")
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter(({ text }) => text !== "");

/** What the page shows that explains every Problem code, each at its own anchor. */
export const ERRORS = {
  problems: Object.entries(PROBLEMS).map(([code, { help, ...shown }]) => ({ ...shown, code, help: inPieces(help) })),
};

/**
 * Renders the home page.
 * @param overview what it shows of the market; null if the operator does not want it
 */
export const renderHome = (baseUrl: string, overview: Overview | null): string =>
  renderPage("home", baseUrl, {
    api: `${baseUrl}/v1`,
    mcp: `${baseUrl}${DISCOVERY.mcp}`,
    overview: overview && {
      offers: counted(overview.offers, overview.most, "offer"),
      asks: counted(overview.asks, overview.most, "ask"),
      newest: overview.newest.map((title) => visibleText(title, TITLE_LENGTH)).filter((title) => title !== ""),
    },
  });

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
      get: (_request, response) => sendPage(response, "errors", baseUrl(), ERRORS),
    },
    ...Object.entries(ASSETS).map(([name, asset]) => assetPage(`/assets/${name}`, asset, "public")),
  ];
};
