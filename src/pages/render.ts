import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Eta } from "eta";
import { PROBLEMS, type ProblemCode } from "../http/problem.ts";
import { visibleName, visibleText } from "../http/visible_text.ts";

/**
 * Pages as text: a function for each, from plain data. Templates are read and compiled once, when this module is loaded,
 * so that a broken one stops the start and not a person.
 */

const TEMPLATES = new URL("./templates/", import.meta.url);

const readTemplates = (): Eta => {
  // Escaping is eta's default; it is said here because every page depends on it.
  const eta = new Eta({ autoEscape: true });
  for (const file of readdirSync(TEMPLATES).filter((name) => name.endsWith(".eta"))) {
    eta.loadTemplate(`@${basename(file, ".eta")}`, readFileSync(new URL(file, TEMPLATES), "utf8"));
  }
  return eta;
};

const eta = readTemplates();

const css = readFileSync(new URL("./souk.css", import.meta.url), "utf8");
const cssHash = createHash("sha256").update(css).digest("base64url").slice(0, 16);

/** The one stylesheet, with the ETag that changes when it does. */
export const STYLESHEET: Readonly<{ css: string; etag: string }> = { css, etag: `"${cssHash}"` };

/** Whole minutes since the agent asked, as people say it. */
export const minutesAgo = (minutes: number): string => {
  if (minutes < 1) return "less than a minute ago";
  return minutes === 1 ? "1 minute ago" : `${minutes} minutes ago`;
};

/** Seconds left, rounded up to minutes: a link that still works never has "0 minutes". */
export const minutesLeft = (seconds: number): string => {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
};

/** Prose with `code` in backticks, cut into pieces for a template. */
const inPieces = (prose: string): { text: string; isCode: boolean }[] =>
  prose
    .split("`")
    .map((text, index) => ({ text, isCode: index % 2 === 1 }))
    .filter(({ text }) => text !== "");

/** What the path of a link on our pages starts with: the service may stand below a path of its host. */
export const rootOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, "");

/** The page that a template makes from plain data. */
export const renderPage = (name: string, baseUrl: string, data: object): string =>
  eta.render(`@${name}`, {
    ...data,
    root: rootOf(baseUrl),
    // With its hash in the address, a page never meets the stylesheet of another version in a browser's cache.
    stylesheet: `assets/souk.css?v=${cssHash}`,
  });

/** Where a person signs in before coming back to a path of ours. `again`: although signed in, since it was long ago. */
export const signInPath = (baseUrl: string, path: string, again = false): string =>
  `${rootOf(baseUrl)}/sign-in?${new URLSearchParams({ return: path, ...(again ? { again: "1" } : {}) })}`;

/** An open connection, as api.get_connection gives it. */
export type Connection = {
  agent_name: string;
  code: string;
  /** RFC 3339 in UTC. */
  requested_at: string;
  requested_minutes_ago: number;
  /** Seconds. */
  expires_in: number;
  /** The account that the agent would act for, if this browser approved now. */
  account: {
    /** What tells its person which account it is. */
    label: string;
    /** It becomes this browser's by approving: nobody is signed in here. */
    is_new: boolean;
    /** Which account this is, for the form: it is sent back, so that no other one is bound. */
    shown: string;
    /** Its person can sign in to it. */
    has_method: boolean;
    /** Approving has to wait until its person has signed in (again). */
    needs_sign_in: boolean;
  };
};

/** The longest label of an account: a name, and an e-mail address in brackets. */
export const LABEL_LENGTH = 340;

/** A sentence or two of ours around such a label. */
const NOTICE_LENGTH = LABEL_LENGTH + 160;

/**
 * The page on which a person approves an agent or refuses it. `token` is the form's, from src/pages/forgery.ts; `path` is
 * the page's own, to come back to after signing in; `notice` says why the page is shown again.
 */
export const renderApproval = (
  baseUrl: string,
  connection: Connection,
  { token, path, notice }: { token: string; path: string; notice: string | null },
): string =>
  renderPage("approve", baseUrl, {
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

/** What a person sees after "Approve". `hasMethod`: the account can be signed in to, and is not lost with this browser. */
export const renderApproved = (baseUrl: string, agentName: string, hasMethod: boolean): string =>
  renderPage("approved", baseUrl, { name: visibleName(agentName), hasMethod });

/** What a person sees after "Not mine". */
export const renderDeclined = (baseUrl: string): string => renderPage("declined", baseUrl, {});

/** What a refusal means for the person in front of it: a heading, what to do, and whether opening the page again helps. */
type Guidance = { heading: string; steps: readonly string[]; again: boolean };

type Guides = Partial<Record<ProblemCode, Guidance>>;

const INCOMPLETE = "A link easily loses its end when it is copied: open it where your agent showed it.";

/** Of a link by which an agent connects. */
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

/** Of a link by which an agent asks its person to prove a sign-in method. */
const NEW_VERIFICATION = "Your agent can ask for a new verification link at any time; it stays connected as it is.";
const VERIFICATION_GUIDANCE: Guides = {
  not_found: { heading: "Nothing is here", steps: [INCOMPLETE, NEW_VERIFICATION], again: false },
  link_expired: { heading: "This link has ended", steps: [NEW_VERIFICATION], again: false },
  invalid_state: { heading: "This link is done with", steps: [NEW_VERIFICATION], again: false },
};

/** Of any page. */
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

/** For refusals that concern the form: whatever was wrong with it, a fresh one is the remedy. */
const FORM_GUIDANCE: Guidance = {
  heading: "Your answer was not taken",
  steps: ["Nothing was changed. Open the page again and answer there."],
  again: true,
};

/** What helps on the page at a path, and what opening it again is called: people know links, and pages. */
const guidesOf = (path: string): { guides: Guides; again: string } => {
  const [, kind] = path.split("/");
  if (kind === "connect") return { guides: CONNECTION_GUIDANCE, again: "Open the link again" };
  if (kind === "verify") return { guides: VERIFICATION_GUIDANCE, again: "Open the link again" };
  return { guides: {}, again: "Open the page again" };
};

/** The page of a refusal. `link` is the whole address of the page to open again. */
export const renderProblem = (
  baseUrl: string,
  failure: { code: ProblemCode; detail: string; requestId: string; link: string },
): string => {
  const { code } = failure;
  const { guides, again: label } = guidesOf(failure.link.slice(baseUrl.length));
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

/** The page that explains every code, each at its own anchor. */
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

/** The home page. */
export const renderHome = (baseUrl: string): string => renderPage("home", baseUrl, { api: `${baseUrl}/v1` });
