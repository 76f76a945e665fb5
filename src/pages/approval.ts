import type { Request, Response } from "express";
import { addressOf } from "../base/address.ts";
import { PROBLEMS, problem, problemOf } from "../base/problem.ts";
import { hashSecret } from "../base/tokens.ts";
import { visibleName, visibleText } from "../base/visible_text.ts";
import { browserSecret, giveFormToken, shownWith } from "../web/csrf.ts";
import { placeOf, responseUri, type WayBack } from "../web/redirect.ts";
import { askVisitor, type PagesContext } from "./context.ts";
import { powersIn, shownPowers } from "./deals/powers.ts";
import { type Page, readAnswer, STALE_FORM, wantsJson } from "./frame.ts";
import { LABEL_LENGTH, minutesLeft, renderPage, sendPage, signInPath } from "./render.ts";
import { giveSession, keepSession, sessionHash } from "./session.ts";
import { whatItDid } from "./settings/agents.ts";

/**
 * The result of api.approve_connection.
 *
 *   new_session   it created a session, which this browser gets
 *   client        where this browser is sent back to, if the agent came by OAuth and its client has no code yet
 */
type Approved = { agent_name: string; new_session: boolean; has_method: boolean; client: WayBack | null };
/** The result when another code than the agent's was picked: a sentence that says so. */
type Mispicked = { mispicked: string };

/** An open connection, as api.get_connection returns it. */
type Connection = {
  agent_name: string;
  /** The agent's code among two others, in random order; null for a client of OAuth, which shows no code. */
  codes: string[] | null;
  /** Another code was picked: the link approves nothing any more. */
  mispicked: boolean;
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
    /** A hash of the account. The form's token has it, so that an approval binds the agent to no other account. */
    shown: string;
    /** The account has a sign-in method. */
    has_method: boolean;
    /** The person has to sign in (again) before approving. */
    needs_sign_in: boolean;
    /** What the agent would read and could change. Null if there is nothing, or nobody is signed in here. */
    holds: { offers: number; asks: number } | null;
  };
};

/** A number of whole minutes in words: "2 minutes ago". */
export const minutesAgo = (minutes: number): string => {
  if (minutes < 1) return "less than a minute ago";
  return minutes === 1 ? "1 minute ago" : `${minutes} minutes ago`;
};

/** A label with one or two sentences around it. */
const NOTICE_LENGTH = LABEL_LENGTH + 160;

/** The form of the approval page: as it is opened, or as it is shown again. */
type Shown = {
  token: string;
  path: string;
  notice: string | null;
  typed?: URLSearchParams | null;
  wrong?: string | null;
};

/**
 * Renders the page on which a person approves or declines an agent.
 * @param shown.token the form's token from src/web/csrf.ts
 * @param shown.path the path of the page, to come back to after signing in
 * @param shown.notice why the page is shown again; null the first time
 * @param shown.typed the fields of the form that was sent
 * @param shown.wrong what is wrong with the powers in it
 */
export const renderApproval = (
  baseUrl: string,
  connection: Connection,
  { token, path, notice, typed = null, wrong = null }: Shown,
): string =>
  renderPage(connection.mispicked ? "mispicked" : "approval", baseUrl, {
    name: visibleName(connection.agent_name),
    codes: connection.codes,
    client: connection.client && {
      ...placeOf(connection.client.redirect_uri),
      publisher: URL.canParse(connection.client.client_id) ? new URL(connection.client.client_id).host : null,
    },
    requestedAt: connection.requested_at,
    clock: connection.requested_at.slice(11, 16),
    asked: minutesAgo(connection.requested_minutes_ago),
    left: minutesLeft(connection.expires_in),
    account: { ...connection.account, label: visibleText(connection.account.label, LABEL_LENGTH) },
    holds: connection.account.holds && whatItDid(connection.account.holds),
    signIn: signInPath(baseUrl, path),
    signInAgain: signInPath(baseUrl, path, true),
    token,
    powers: shownPowers(typed, undefined, wrong),
    isOpen: typed !== null,
    notice: notice === null ? null : visibleText(notice, NOTICE_LENGTH),
  });

/** Makes the page behind a connection link, on which a person approves or declines an agent. */
export const approvalPages = (context: PagesContext): Page[] => {
  const { baseUrl, signIn } = context;
  const secretOf = (request: Request): string => String(request.params["secret"]);

  const show = async (
    request: Request,
    response: Response,
    again: Pick<Shown, "notice" | "typed" | "wrong">,
  ): Promise<void> => {
    const connection = await askVisitor<Connection>(context, "get_connection", {
      secret_hash: hashSecret(secretOf(request)),
      session_hash: sessionHash(request, baseUrl()),
    });
    const token = giveFormToken(request, response, baseUrl(), request.path, connection.account.shown);
    response.type("html").send(renderApproval(baseUrl(), connection, { token, path: request.path, ...again }));
  };

  const approve = async (request: Request, response: Response, fields: URLSearchParams): Promise<void> => {
    // A second click gets the same secret, so it finds the session that the first one created.
    const newSession = browserSecret(request, baseUrl(), `session ${secretOf(request)}`);
    const code = browserSecret(request, baseUrl(), `code ${secretOf(request)}`);
    if (newSession === null || code === null) throw STALE_FORM;
    try {
      const approved = await askVisitor<Approved | Mispicked>(context, "approve_connection", {
        secret_hash: hashSecret(secretOf(request)),
        session_hash: sessionHash(request, baseUrl()),
        new_session_hash: hashSecret(newSession),
        shown: shownWith(fields.get("token") ?? ""),
        code_hash: hashSecret(code),
        picked: fields.get("code"),
        powers: powersIn(fields),
      });
      if ("mispicked" in approved) {
        if (wantsJson(request)) throw problem("connection_expired", approved.mispicked);
        response.status(PROBLEMS.connection_expired.status);
        return await show(request, response, { notice: null });
      }
      const { agent_name, new_session, has_method, client } = approved;
      const name = visibleName(agent_name);
      if (new_session) giveSession(response, baseUrl(), newSession);
      else keepSession(request, response, baseUrl());
      if (client !== null) {
        const address = responseUri(baseUrl(), client, { code });
        // Not a redirect: browsers apply `form-action` to all redirects that follow a form, also to those of the client's
        // own site, which nobody knows. After this page, the browser goes on by itself.
        response.set("Refresh", `0; url=${address}`);
        return sendPage(response, "returning", baseUrl(), { name, back: { ...placeOf(client.redirect_uri), address } });
      }
      const canAdd = signIn.methods.length > 0;
      sendPage(response, "approved", baseUrl(), { name, hasMethod: has_method, canAdd });
    } catch (thrown) {
      const { code, detail, members } = problemOf(thrown);
      const isOfPowers = Array.isArray(members?.["errors"]);
      const asksAgain = members?.["account_changed"] === true || members?.["not_picked"] === true || isOfPowers;
      if (!asksAgain || wantsJson(request)) throw thrown;
      response.status(PROBLEMS[code].status);
      await show(request, response, {
        notice: isOfPowers ? "Nothing is approved yet. Look at what the agent may do alone, below." : detail,
        typed: fields,
        wrong: isOfPowers ? detail : null,
      });
    }
  };

  const decline = async (request: Request, response: Response): Promise<void> => {
    const browser = browserSecret(request, baseUrl(), "decline");
    if (browser === null) throw STALE_FORM;
    const { client } = await askVisitor<{ client: WayBack | null }>(context, "decline_connection", {
      secret_hash: hashSecret(secretOf(request)),
      browser_hash: hashSecret(browser),
      address: addressOf(request),
    });
    // The browser is not sent back by itself: the person has just said that the client is not theirs.
    const back = client && {
      ...placeOf(client.redirect_uri),
      address: responseUri(baseUrl(), client, {
        error: "access_denied",
        error_description: "The person did not approve.",
      }),
    };
    sendPage(response, "declined", baseUrl(), { back });
  };

  const decide = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    if (stale) throw STALE_FORM;
    const decision = fields.get("decision");
    if (decision === "decline") await decline(request, response);
    else if (decision === "approve" || fields.has("code")) await approve(request, response, fields);
    else throw problem("bad_request", "The answer is neither a code, nor Approve, nor Not mine.");
  };

  return [
    {
      path: "/connect/:secret",
      operation: "connectionPage",
      needsSignIn: true,
      get: (request, response) => show(request, response, { notice: null }),
      post: decide,
    },
  ];
};
