import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Eta } from "eta";
import type { Response } from "express";
import { rootOf } from "../base/address.ts";
import type { ProblemCode } from "../base/problem.ts";
import { measured } from "../base/tracing/tracing.ts";
import { placeOf } from "../web/redirect.ts";
import { assetPath } from "./assets.ts";

/**
 * Renders pages and the error page. Templates are read and compiled when this module is loaded, so that a broken
 * template stops the start of the process and not a request.
 */

/**
 * Reads and compiles the templates of a folder.
 * @param show what becomes of a text before it is escaped
 */
export const readTemplates = (folder: URL, show = (text: string): string => text): Eta => {
  // Escaping is the default of eta. It is set explicitly, because every page depends on it.
  const eta = new Eta({ autoEscape: true });
  const { escapeFunction } = eta.config;
  eta.configure({ escapeFunction: (value) => escapeFunction(show(String(value))) });
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".eta"))) {
    eta.loadTemplate(`@${basename(file, ".eta")}`, readFileSync(new URL(file, folder), "utf8"));
  }
  return eta;
};

const eta = readTemplates(new URL("./templates/", import.meta.url));

/** Seconds in words, rounded up to minutes. A link that still works never shows "0 minutes". */
export const minutesLeft = (seconds: number): string => {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
};

/**
 * Renders a page from plain data.
 * @param name the name of the template's file without .eta
 * @returns HTML
 */
export const renderPage = (name: string, baseUrl: string, data: object): string =>
  measured("render", { name: `render ${name}` }, () =>
    eta.render(`@${name}`, {
      ...data,
      root: rootOf(baseUrl),
      asset: assetPath,
    }),
  );

/** Sends a page, rendered from plain data. */
export const sendPage = (response: Response, name: string, baseUrl: string, data: object): void => {
  response.type("html").send(renderPage(name, baseUrl, data));
};

/**
 * The path of the sign-in page.
 * @param path where the person goes after signing in, without the path of the base URL
 * @param again a signed-in person has to sign in again, because the last sign-in was too long ago
 */
export const signInPath = (baseUrl: string, path: string, again = false): string =>
  `${rootOf(baseUrl)}/sign-in?${new URLSearchParams({ return: path, ...(again ? { again: "1" } : {}) })}`;

/** An account's longest label: a display name, and an e-mail address in brackets. */
export const LABEL_LENGTH = 340;

/** The help on an error page: a heading, what the person can do, and whether opening the page again helps. */
type Guidance = { heading: string; steps: readonly string[]; again: boolean };

type Guides = Partial<Record<ProblemCode, Guidance>>;

const INCOMPLETE = "A link easily loses its end when it is copied: open it where your agent showed it.";

const CONNECTION_GUIDANCE: Guides = {
  not_found: {
    heading: "Nothing is here",
    steps: [INCOMPLETE, "If that does not help, ask your agent to connect again. It gets a new link and a new code."],
    again: false,
  },
  connection_already_used: {
    heading: "Already used",
    steps: [
      "If that was you, all is well: your agent acts for you. Go back to it.",
      "If it was not, someone else approved this agent, and it acts for them. Tell it to disconnect, and to connect again for a new link.",
    ],
    again: false,
  },
  connection_expired: {
    heading: "This link has ended",
    steps: [
      "A link lasts 30 minutes, and ends at once when someone answers “Not mine” or picks a wrong code.",
      "The next one comes with a new code: pick that one.",
    ],
    again: false,
  },
};

const NEW_VERIFICATION = "Your agent can ask for a new verification link at any time; it stays connected as it is.";
const CONFIRMATION_GUIDANCE: Guides = {
  not_found: {
    heading: "Nothing is here for this account",
    steps: [
      "The page opens only for the account that is asked. If you have another one, sign out in the settings, and open the page again.",
      "If your agent gave you the link, check that it was copied whole.",
    ],
    again: true,
  },
};

/** For requests by clients of OAuth. Opening the page again would repeat the mistake. */
const AUTHORIZATION_GUIDANCE: Guides = {
  bad_request: {
    heading: "This program cannot be connected",
    steps: ["Nothing was changed, and the program got no access."],
    again: false,
  },
  rate_limited: {
    heading: "Too many at once",
    steps: ["Nothing was changed. Start again from the program after a while."],
    again: false,
  },
};

/** For a person who opens the address of MCP. */
const ASSISTANT_GUIDANCE: Guides = {
  method_not_allowed: {
    heading: "Add this address to your assistant",
    steps: [
      "Copy the address, and add it to Claude, ChatGPT or an editor as a connector, or as an MCP server.",
      "The assistant then opens a page here, on which you say whether it may act for you.",
    ],
    again: false,
  },
};

const VERIFICATION_GUIDANCE: Guides = {
  not_found: { heading: "Nothing is here", steps: [INCOMPLETE, NEW_VERIFICATION], again: false },
  link_expired: { heading: "This link has ended", steps: [NEW_VERIFICATION], again: false },
  invalid_state: { heading: "This link is done with", steps: [NEW_VERIFICATION], again: false },
};

const GUIDANCE: Guides = {
  not_found: {
    heading: "Nothing is here",
    steps: ["If you followed a link, check that it was copied whole."],
    again: false,
  },
  method_not_allowed: {
    heading: "Nothing to open here",
    steps: ["This address only takes what another page, or a program, sends to it."],
    again: false,
  },
  service_unavailable: {
    heading: "Souk is briefly unavailable",
    steps: ["A few seconds are usually enough."],
    again: true,
  },
  internal_error: {
    heading: "Something went wrong here",
    steps: ["This is our mistake, not yours. If it happens again, report the reference below."],
    again: true,
  },
};

/** For any Problem about the form: a new form helps. */
const FORM_GUIDANCE: Guidance = {
  heading: "Your answer was not taken",
  steps: ["Nothing was changed. Open the page again and answer there."],
  again: true,
};

/** The help for the page at a path, and the label of its link to open it again: a page behind a link is "the link". */
const guidanceFor = (path: string): { guides: Guides; again: string } => {
  const [, kind] = path.split("/");
  if (kind === "connect") return { guides: CONNECTION_GUIDANCE, again: "Open the link again" };
  if (kind === "confirmations") return { guides: CONFIRMATION_GUIDANCE, again: "Open the page again" };
  if (kind === "mcp") return { guides: ASSISTANT_GUIDANCE, again: "Open the page again" };
  if (kind === "oauth") return { guides: AUTHORIZATION_GUIDANCE, again: "Open the page again" };
  if (kind === "verify") return { guides: VERIFICATION_GUIDANCE, again: "Open the link again" };
  return { guides: {}, again: "Open the page again" };
};

/**
 * Renders an error page.
 * @param failure.link the URL of the page to open again
 * @param failure.back the address at which a client of OAuth learns what was wrong
 */
export const renderProblem = (
  baseUrl: string,
  failure: { code: ProblemCode; detail: string; requestId: string; link: string; back?: string | undefined },
): string => {
  const { code } = failure;
  const { guides, again: label } = guidanceFor(failure.link.slice(baseUrl.length));
  const { heading, steps, again } = guides[code] ?? GUIDANCE[code] ?? FORM_GUIDANCE;
  return renderPage("problem", baseUrl, {
    heading,
    steps,
    detail: failure.detail,
    link: again ? failure.link : null,
    again: label,
    back: failure.back === undefined ? null : { ...placeOf(failure.back), address: failure.back },
    requestId: failure.requestId,
  });
};
