import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Eta } from "eta";
import { PROBLEMS, type ProblemCode } from "../http/problem.ts";
import { visibleName, visibleText } from "../http/visible_text.ts";

/**
 * Renders pages, with a function for each. Templates are read and compiled once, when this module is loaded, so that a
 * broken template stops the start of the process and not a request.
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

const css = readFileSync(new URL("./souk.css", import.meta.url), "utf8");
const cssHash = createHash("sha256").update(css).digest("base64url").slice(0, 16);

/** The stylesheet of all pages, with its ETag. */
export const STYLESHEET: Readonly<{ css: string; etag: string }> = { css, etag: `"${cssHash}"` };

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

/** The prefix of the paths of links on our pages, because the service may be below a path of its host. */
export const rootOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, "");

/**
 * Renders a page from plain data.
 * @param name the name of the template's file without .eta
 * @returns HTML
 */
export const renderPage = (name: string, baseUrl: string, data: object): string =>
  eta.render(`@${name}`, {
    ...data,
    root: rootOf(baseUrl),
    // The hash in the URL keeps a browser from using a cached stylesheet of another version.
    stylesheet: `assets/souk.css?v=${cssHash}`,
  });

/**
 * The path of the sign-in page.
 * @param path where the person goes after signing in
 * @param again a signed-in person has to sign in again, because the last sign-in was too long ago
 */
export const signInPath = (baseUrl: string, path: string, again = false): string =>
  `${rootOf(baseUrl)}/sign-in?${new URLSearchParams({ return: path, ...(again ? { again: "1" } : {}) })}`;

/** An open connection, as api.get_connection returns it. */
export type Connection = {
  agent_name: string;
  code: string;
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

/** The longest label of an account: a display name, and an e-mail address in brackets. */
export const LABEL_LENGTH = 340;

/** A label with one or two sentences around it. */
const NOTICE_LENGTH = LABEL_LENGTH + 160;

/**
 * Renders the page on which a person approves or declines an agent.
 * @param shown.token the form's token from src/pages/forgery.ts
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
 * @param hasMethod whether the account has a sign-in method. Without one, the account is lost with this browser.
 */
export const renderApproved = (baseUrl: string, agentName: string, hasMethod: boolean): string =>
  renderPage("approved", baseUrl, { name: visibleName(agentName), hasMethod });

/** Renders the page after "Not mine". */
export const renderDeclined = (baseUrl: string): string => renderPage("declined", baseUrl, {});

/** The help on an error page: a heading, what the person can do, and whether opening the page again helps. */
type Guidance = { heading: string; steps: readonly string[]; again: boolean };

type Guides = Partial<Record<ProblemCode, Guidance>>;

const INCOMPLETE = "A link easily loses its end when it is copied: open it where your agent showed it.";

/** For connection links. */
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
/** For verification links. */
const VERIFICATION_GUIDANCE: Guides = {
  not_found: { heading: "Nothing is here", steps: [INCOMPLETE, NEW_VERIFICATION], again: false },
  link_expired: { heading: "This link has ended", steps: [NEW_VERIFICATION], again: false },
  invalid_state: { heading: "This link is done with", steps: [NEW_VERIFICATION], again: false },
};

/** For any page. */
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

/** For Problems about the form. Whatever was wrong with it, a new form helps. */
const FORM_GUIDANCE: Guidance = {
  heading: "Your answer was not taken",
  steps: ["Nothing was changed. Open the page again and answer there."],
  again: true,
};

/** The help for the page at a path, and the label of its link to open it again: a page behind a link is "the link". */
const guidanceFor = (path: string): { guides: Guides; again: string } => {
  const [, kind] = path.split("/");
  if (kind === "connect") return { guides: CONNECTION_GUIDANCE, again: "Open the link again" };
  if (kind === "verify") return { guides: VERIFICATION_GUIDANCE, again: "Open the link again" };
  return { guides: {}, again: "Open the page again" };
};

/**
 * Renders an error page.
 * @param failure.link the URL of the page to open again
 */
export const renderProblem = (
  baseUrl: string,
  failure: { code: ProblemCode; detail: string; requestId: string; link: string },
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

/** Renders the home page. */
export const renderHome = (baseUrl: string): string => renderPage("home", baseUrl, { api: `${baseUrl}/v1` });
