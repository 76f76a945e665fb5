import type { Request, Response } from "express";
import { addressOf, rootOf } from "../../base/address.ts";
import { readCookie, setCookie } from "../../base/cookies.ts";
import type { SignInMethod } from "../../base/enums.ts";
import { problem, problemOf } from "../../base/problem.ts";
import { hashSecret, newSecret } from "../../base/tokens.ts";
import { visibleText } from "../../base/visible_text.ts";
import { message } from "../../mail/messages.ts";
import { browserSecret, CODE_LENGTHS, type CodeLength, codeHash, codeOf, sessionSecret } from "../../sign_in/flow.ts";
import { renewFormSecret } from "../../web/csrf.ts";
import { askVisitor, type PagesContext } from "../context.ts";
import { seeOther } from "../frame.ts";
import { LABEL_LENGTH } from "../render.ts";
import { safeReturnPath } from "../return_path.ts";
import { giveSession, sessionHash } from "../session.ts";

/**
 * A sign-in attempt, from its form to its session. Two cookies keep the secret of the attempt (the flow) and the path
 * to go to afterwards. A new attempt replaces the browser's earlier one.
 */

const FLOW_COOKIE = "souk_flow";
const RETURN_COOKIE = "souk_return";

/** The cookie by which mailboxes know this browser (market.known_browser). It signs nobody in. */
const BROWSER_COOKIE = "souk_browser";

/** The longest time for which browsers keep a cookie; the database forgets the browser then, too. */
const BROWSER_SECONDS = 400 * 24 * 60 * 60;

/** A path in base64url. safeReturnPath allows 500 characters, which are 667 in base64url. */
const RETURN_FORM = /^[\w-]{1,700}$/;

/** Fifteen minutes, as in market.sign_in. */
const ATTEMPT_SECONDS = 15 * 60;

/** The signed-in person, as api.get_viewer returns it. */
export type Viewer = {
  /** The name by which the person recognizes the account. */
  label: string;
  methods: { method: SignInMethod; email: string | null }[];
};

/** The sign-in attempt that a form asks for. */
export type Wanted = {
  method: SignInMethod;
  /** The e-mail address as typed, for the method email; otherwise null. The database checks it. */
  email: string | null;
  purpose: "sign_in" | "add";
  /** The secret of the verification link that asks for the sign-in; null when none does. */
  verificationSecret: string | null;
  /** The agents that the person checked, of those that the page listed; null when it listed none. */
  kept: string[] | null;
  /** The person knows that the account of this browser is lost by signing in to another one. */
  leave: boolean;
  returnPath: string;
};

/** The URL to which a provider sends the browser back. */
export const callbackOf = (baseUrl: string, method: SignInMethod): string => `${baseUrl}/sign-in/${method}`;

/** The secret of this browser's attempt; null when there is no cookie for one. */
export const flowOf = (request: Request, baseUrl: string): string | null => readCookie(request, baseUrl, FLOW_COOKIE);

/** The hash of the secret by which mailboxes know this browser; null when it never signed in by mail. */
const browserHash = (request: Request, baseUrl: string): Buffer | null => {
  const secret = readCookie(request, baseUrl, BROWSER_COOKIE);
  return secret === null ? null : hashSecret(secret);
};

/** The path to which this browser goes after its attempt. */
export const returnPathOf = (request: Request, baseUrl: string): string => {
  const cookie = readCookie(request, baseUrl, RETURN_COOKIE, RETURN_FORM) ?? "";
  return safeReturnPath(Buffer.from(cookie, "base64url").toString("utf8"));
};

/** A session's person; null without a session or after it has ended. */
export const viewerOf = async (context: PagesContext, session: Buffer | null): Promise<Viewer | null> => {
  if (session === null) return null;
  const { viewer } = await askVisitor<{ viewer: Viewer | null }>(context, "get_viewer", { session_hash: session });
  return viewer && { ...viewer, label: visibleText(viewer.label, LABEL_LENGTH) };
};

/**
 * Starts an attempt: redirects the browser to the provider, or sends the e-mail message and redirects to the page that
 * takes its code.
 * @throws Problem when the method is not offered, the text is not an e-mail address, a rate limit is reached, or the
 * provider or mail server is down
 */
export const startAttempt = async (
  context: PagesContext,
  request: Request,
  response: Response,
  wanted: Wanted,
): Promise<void> => {
  const { signIn } = context;
  const baseUrl = context.baseUrl();
  const { method, email, purpose, verificationSecret, kept, leave } = wanted;
  const flow = newSecret();
  const linkSecret = newSecret();
  const provider = method === "email" ? undefined : signIn.providers[method];
  const mailer = method === "email" ? signIn.mailer : null;
  if (!provider && !mailer) throw problem("unknown_method", "This way to sign in is not offered here.");
  // The provider comes first, so that no attempt is stored when it is down.
  const providerUrl = await provider?.begin(flow, callbackOf(baseUrl, method));
  const address = addressOf(request);
  const started = await askVisitor<{ email?: string; code_digits?: CodeLength }>(context, "start_sign_in", {
    flow_hash: hashSecret(flow),
    method,
    purpose,
    session_hash: sessionHash(request, baseUrl),
    verification_hash: verificationSecret === null ? null : hashSecret(verificationSecret),
    // PostgreSQL cannot store a NUL. The space makes the address invalid, so the database refuses it.
    email: email?.replaceAll("\0", " ") ?? null,
    link_hash: mailer ? hashSecret(linkSecret) : null,
    // The database decides which of the codes the message contains.
    code_hashes:
      mailer &&
      Object.fromEntries(
        CODE_LENGTHS.map((length) => [length, codeHash(flow, codeOf(linkSecret, length)).toString("hex")]),
      ),
    address,
    kept,
    leave,
    browser_hash: mailer ? browserHash(request, baseUrl) : null,
  });
  const { email: recipient, code_digits } = started;
  if (mailer && recipient !== undefined && code_digits !== undefined) {
    const code = codeOf(linkSecret, code_digits);
    const link = `${baseUrl}/sign-in/link/${linkSecret}`;
    try {
      const minutes = ATTEMPT_SECONDS / 60;
      await mailer.send(recipient, message("sign_in", "Sign in to Souk", { link, code, minutes }));
    } catch (thrown) {
      // The attempt is uncounted only when the mail server is down. An address that the server refuses stays counted,
      // because otherwise anyone could try any number of addresses.
      if (problemOf(thrown).code === "service_unavailable") {
        // If this fails, too, the person still has to learn that no message was sent.
        await askVisitor(context, "cancel_sign_in", {
          flow_hash: hashSecret(flow),
          address,
          browser_hash: browserHash(request, baseUrl),
        }).catch(() => {});
      }
      throw thrown;
    }
  }
  setCookie(response, baseUrl, FLOW_COOKIE, flow, ATTEMPT_SECONDS);
  const back = Buffer.from(safeReturnPath(wanted.returnPath)).toString("base64url");
  setCookie(response, baseUrl, RETURN_COOKIE, back, ATTEMPT_SECONDS);
  seeOther(response, providerUrl ?? `${rootOf(baseUrl)}/sign-in/code`);
};

/** Gives the browser the session of its attempt, and redirects it to its return path. */
const arrive = (request: Request, response: Response, baseUrl: string, flow: string, byMail: boolean): void => {
  giveSession(response, baseUrl, sessionSecret(flow));
  if (byMail) setCookie(response, baseUrl, BROWSER_COOKIE, browserSecret(flow), BROWSER_SECONDS);
  renewFormSecret(response, baseUrl);
  setCookie(response, baseUrl, FLOW_COOKIE, "", 0);
  setCookie(response, baseUrl, RETURN_COOKIE, "", 0);
  seeOther(response, rootOf(baseUrl) + returnPathOf(request, baseUrl));
};

/**
 * Repeats the end of a successful attempt, for a browser that sends its last request twice.
 * @param byMail whether the person was identified by a message
 * @returns false when the attempt made no session, or the session has ended
 */
export const arriveAgain = async (
  context: PagesContext,
  request: Request,
  response: Response,
  flow: string,
  byMail: boolean,
): Promise<boolean> => {
  if ((await viewerOf(context, hashSecret(sessionSecret(flow)))) === null) return false;
  arrive(request, response, context.baseUrl(), flow, byMail);
  return true;
};

/**
 * Completes an attempt by calling `name`, which creates the session, and then redirects the browser. A second click
 * gets the same redirect.
 * @param proof the arguments of `name` that prove who the person is
 * @returns the tries left after a wrong code; null when the browser was redirected
 * @throws Problem when the attempt cannot end in a session
 */
export const finishAttempt = async (
  context: PagesContext,
  request: Request,
  response: Response,
  flow: string,
  name: "finish_sign_in" | "finish_mail_sign_in",
  proof: Record<string, string | Buffer | null>,
): Promise<number | null> => {
  const baseUrl = context.baseUrl();
  const byMail = name === "finish_mail_sign_in";
  try {
    const { wrong_code, tries_left } = await askVisitor<{ wrong_code?: boolean; tries_left?: number }>(context, name, {
      flow_hash: hashSecret(flow),
      ...proof,
      session_hash: sessionHash(request, baseUrl),
      new_session_hash: hashSecret(sessionSecret(flow)),
      record_key: context.signIn.recordKey,
      ...(byMail && {
        browser_hash: browserHash(request, baseUrl),
        new_browser_hash: hashSecret(browserSecret(flow)),
      }),
    });
    if (wrong_code) return tries_left ?? 0;
  } catch (error) {
    const { code } = problemOf(error);
    const isSpent = code === "invalid_state" || code === "link_expired" || code === "not_found";
    if (isSpent && (await arriveAgain(context, request, response, flow, byMail))) return null;
    throw error;
  }
  arrive(request, response, baseUrl, flow, byMail);
  return null;
};
