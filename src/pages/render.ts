import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Eta } from "eta";
import { DISCOVERY } from "../api/discovery.ts";
import { rootOf } from "../base/address.ts";
import { PROBLEMS, type ProblemCode } from "../base/problem.ts";
import { measured } from "../base/tracing/tracing.ts";
import { visibleName, visibleText } from "../base/visible_text.ts";
import { type Place, placeOf } from "../web/redirect.ts";
import { assetPath } from "./assets.ts";

/**
 * Renders pages, with a function for each. Templates are read and compiled when this module is loaded, so that a broken
 * template stops the start of the process and not a request.
 */

const TEMPLATES = new URL("./templates/", import.meta.url);

const readTemplates = (): Eta => {
  // Escaping is the default of eta. It is set explicitly, because every page depends on it.
  const eta = new Eta({ autoEscape: true });
  for (const file of readdirSync(TEMPLATES).filter((name) => name.endsWith(".eta"))) {
    eta.loadTemplate(`@${basename(file, ".eta")}`, readFileSync(new URL(file, TEMPLATES), "utf8"));
  }
  return eta;
};

const eta = readTemplates();

/** A number of whole minutes in words: "2 minutes ago". */
export const minutesAgo = (minutes: number): string => {
  if (minutes < 1) return "less than a minute ago";
  return minutes === 1 ? "1 minute ago" : `${minutes} minutes ago`;
};

/** Seconds in words, rounded up to minutes. A link that still works never shows "0 minutes". */
export const minutesLeft = (seconds: number): string => {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
};

/** Cuts a text with `code` in backticks into pieces for a template. */
const inPieces = (prose: string): { text: string; isCode: boolean }[] =>
  prose
    .split("`")
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter(({ text }) => text !== "");

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

/**
 * The path of the sign-in page.
 * @param path where the person goes after signing in, without the path of the base URL
 * @param again a signed-in person has to sign in again, because the last sign-in was too long ago
 */
export const signInPath = (baseUrl: string, path: string, again = false): string =>
  `${rootOf(baseUrl)}/sign-in?${new URLSearchParams({ return: path, ...(again ? { again: "1" } : {}) })}`;

/** An open connection, as api.get_connection returns it. */
export type Connection = {
  agent_name: string;
  code: string;
  /** The client, if the agent came by OAuth. */
  client: { client_id: string; redirect_uri: string } | null;
  /** RFC 3339 in UTC. */
  requested_at: string;
  requested_minutes_ago: number;
  /** Seconds. */
  expires_in: number;
  /** The account that the agent would act for if this browser approved now. */
  account: {
    /** The name by which its person recognizes the account. */
    label: string;
    /** Nobody is signed in here. The browser gets the account by approving. */
    is_new: boolean;
    /** A hash of the account. The form sends it back, so that an approval binds the agent to no other account. */
    shown: string;
    /** The account has a sign-in method. */
    has_method: boolean;
    /** The person has to sign in (again) before approving. */
    needs_sign_in: boolean;
  };
};

/** An account's longest label: a display name, and an e-mail address in brackets. */
export const LABEL_LENGTH = 340;

/** A label with one or two sentences around it. */
const NOTICE_LENGTH = LABEL_LENGTH + 160;

/**
 * Renders the page on which a person approves or declines an agent.
 * @param shown.token the form's token from src/web/csrf.ts
 * @param shown.path the path of the page, to come back to after signing in
 * @param shown.notice why the page is shown again; null the first time
 */
export const renderApproval = (
  baseUrl: string,
  connection: Connection,
  { token, path, notice }: { token: string; path: string; notice: string | null },
): string =>
  renderPage("approval", baseUrl, {
    name: visibleName(connection.agent_name),
    code: connection.code,
    client: connection.client && {
      ...placeOf(connection.client.redirect_uri),
      publisher: URL.canParse(connection.client.client_id) ? new URL(connection.client.client_id).host : null,
    },
    requestedAt: connection.requested_at,
    clock: connection.requested_at.slice(11, 16),
    asked: minutesAgo(connection.requested_minutes_ago),
    left: minutesLeft(connection.expires_in),
    account: { ...connection.account, label: visibleText(connection.account.label, LABEL_LENGTH) },
    signIn: signInPath(baseUrl, path),
    signInAgain: signInPath(baseUrl, path, true),
    token,
    notice: notice === null ? null : visibleText(notice, NOTICE_LENGTH),
  });

/**
 * Renders the page after "Approve".
 * @param account.hasMethod whether the account has a sign-in method. Without one, the account is lost with this browser.
 * @param account.canAdd whether the service offers a sign-in method
 */
export const renderApproved = (
  baseUrl: string,
  agentName: string,
  account: { hasMethod: boolean; canAdd: boolean },
): string => renderPage("approved", baseUrl, { name: visibleName(agentName), ...account });

/** A place to which a person's browser goes back, and its address. */
type Back = Place & { address: string };

/** Renders the page after "Approve" for a client of OAuth. It goes on by itself; if it does not, it has a link. */
export const renderReturning = (baseUrl: string, agentName: string, back: Back): string =>
  renderPage("returning", baseUrl, { name: visibleName(agentName), back });

/**
 * Renders the page after "Not mine".
 * @param back where the client of OAuth learns it; null if the agent did not come by OAuth
 */
export const renderDeclined = (baseUrl: string, back: Back | null): string => renderPage("declined", baseUrl, { back });

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
      "A link lasts 30 minutes, and ends at once when someone answers “Not mine”.",
      "The next one comes with a new code: compare it again.",
    ],
    again: false,
  },
};

const NEW_VERIFICATION = "Your agent can ask for a new verification link at any time; it stays connected as it is.";
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

/** Renders the page that explains every Problem code, each at its own anchor. */
export const renderErrors = (baseUrl: string): string =>
  renderPage("errors", baseUrl, {
    problems: Object.entries(PROBLEMS).map(([code, { status, title, retryable, help }]) => ({
      code,
      status,
      title,
      retryable,
      help: inPieces(help),
    })),
  });

/** What the home page shows of the market, as api.get_market_overview returns it. */
export type Overview = {
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
