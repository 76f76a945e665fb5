import type { Request, Response } from "express";
import type { SignInMethod } from "../../database/enums.ts";
import { addressOf } from "../../http/address.ts";
import { readCookie, setCookie } from "../../http/cookies.ts";
import { problem, problemOf } from "../../http/problem.ts";
import { hashSecret, newSecret } from "../../http/tokens.ts";
import { visibleText } from "../../http/visible_text.ts";
import { signInMessage } from "../../mail/messages.ts";
import { codeHash, codeOf, sessionSecret } from "../../sign_in/flow.ts";
import type { PagesContext } from "../context.ts";
import { renewFormSecret } from "../forgery.ts";
import { seeOther } from "../frame.ts";
import { LABEL_LENGTH, rootOf } from "../render.ts";
import { safeReturnPath } from "../return_path.ts";
import { giveSession, sessionHash } from "../session.ts";

/**
 * One attempt to sign in, from the form that starts it to the session that it ends in. The browser keeps the secret of
 * the attempt and where to go afterwards, each in a cookie; the newest attempt is the one that counts.
 */

const FLOW_COOKIE = "souk_flow";
const RETURN_COOKIE = "souk_return";

/** A path in base64url, at most as long as safeReturnPath takes. */
const RETURN_FORM = /^[\w-]{1,700}$/;

/** Fifteen minutes, as market.sign_in keeps an attempt. */
const ATTEMPT_SECONDS = 15 * 60;

/** Who is signed in, as api.get_viewer tells it. */
export type Viewer = {
  /** What tells a person which account it is. */
  label: string;
  methods: { method: SignInMethod; email: string | null }[];
};

/** What an attempt is for. */
export type Wanted = {
  method: SignInMethod;
  /** For the method email: as it was typed. Whether it is a mailbox, the database says. */
  email: string | null;
  purpose: "sign_in" | "add";
  /** In the verification link that asks for this. */
  verificationSecret: string | null;
  returnPath: string;
};

/** Where a provider sends the browser back to. */
export const callbackOf = (baseUrl: string, method: SignInMethod): string => `${baseUrl}/sign-in/${method}`;

/** The secret of this browser's attempt, or null when it has none under way. */
export const flowOf = (request: Request, baseUrl: string): string | null => readCookie(request, baseUrl, FLOW_COOKIE);

/** Where this browser goes after its attempt. */
export const returnPathOf = (request: Request, baseUrl: string): string => {
  const kept = readCookie(request, baseUrl, RETURN_COOKIE, RETURN_FORM) ?? "";
  return safeReturnPath(Buffer.from(kept, "base64url").toString("utf8"));
};

/** Who a session signs in; null when it counts no more. The write pool: the session may be a moment old. */
export const viewerOf = async ({ database }: PagesContext, session: Buffer | null): Promise<Viewer | null> => {
  if (session === null) return null;
  const found = await database.call("visitor", "get_viewer", { session_hash: session }, "write");
  const { viewer } = JSON.parse(found) as { viewer: Viewer | null };
  return viewer && { ...viewer, label: visibleText(viewer.label, LABEL_LENGTH) };
};

/**
 * Starts an attempt: leads the browser to the provider, or sends the mail and leads to the page that takes its code.
 * @throws Problem when the method is not offered, what was typed is no mailbox, a limit is reached, or the provider or
 * mail server is down.
 */
export const startAttempt = async (
  context: PagesContext,
  request: Request,
  response: Response,
  wanted: Wanted,
): Promise<void> => {
  const { database, signIn } = context;
  const baseUrl = context.baseUrl();
  const { method, email, purpose, verificationSecret } = wanted;
  const flow = newSecret();
  const linkSecret = newSecret();
  const code = codeOf(linkSecret);
  const provider = method === "email" ? undefined : signIn.providers[method];
  const mailer = method === "email" ? signIn.mailer : null;
  if (!provider && !mailer) throw problem("unknown_method", "This way to sign in is not offered here.");
  // Asked first: when it is down, nothing has begun.
  const elsewhere = await provider?.begin(flow, callbackOf(baseUrl, method));
  const address = addressOf(request);
  const started = await database.call("visitor", "start_sign_in", {
    flow_hash: hashSecret(flow),
    method,
    purpose,
    session_hash: sessionHash(request, baseUrl),
    verification_hash: verificationSecret === null ? null : hashSecret(verificationSecret),
    // PostgreSQL stores no NUL, and no mailbox has a space.
    email: email?.replaceAll("\0", " ") ?? null,
    link_hash: mailer ? hashSecret(linkSecret) : null,
    code_hash: mailer ? codeHash(flow, code) : null,
    address,
  });
  const { email: mailbox } = JSON.parse(started) as { email?: string };
  if (mailer && mailbox !== undefined) {
    const link = `${baseUrl}/sign-in/link/${linkSecret}`;
    try {
      await mailer.send(mailbox, signInMessage({ link, code, minutes: ATTEMPT_SECONDS / 60 }));
    } catch (thrown) {
      // Only a mail server that is down: addresses that it refuses stay counted, or anyone could try any number of them.
      if (problemOf(thrown).code === "service_unavailable") {
        // That no mail was sent is what the person has to know, even when this fails too.
        await database.call("visitor", "cancel_sign_in", { flow_hash: hashSecret(flow), address }).catch(() => {});
      }
      throw thrown;
    }
  }
  setCookie(response, baseUrl, FLOW_COOKIE, flow, ATTEMPT_SECONDS);
  const kept = Buffer.from(safeReturnPath(wanted.returnPath)).toString("base64url");
  setCookie(response, baseUrl, RETURN_COOKIE, kept, ATTEMPT_SECONDS);
  seeOther(response, elsewhere ?? `${rootOf(baseUrl)}/sign-in/code`);
};

/** Gives the browser the session of its attempt, and leads it to where it wanted to go. */
const arrive = (request: Request, response: Response, baseUrl: string, flow: string): void => {
  giveSession(response, baseUrl, sessionSecret(flow));
  renewFormSecret(response, baseUrl);
  setCookie(response, baseUrl, FLOW_COOKIE, "", 0);
  setCookie(response, baseUrl, RETURN_COOKIE, "", 0);
  seeOther(response, rootOf(baseUrl) + returnPathOf(request, baseUrl));
};

/**
 * Arrives once more where an attempt has already led, for a browser that asks twice. False when the attempt led nowhere
 * or its session has ended.
 */
export const arriveAgain = async (
  context: PagesContext,
  request: Request,
  response: Response,
  flow: string,
): Promise<boolean> => {
  if ((await viewerOf(context, hashSecret(sessionSecret(flow)))) === null) return false;
  arrive(request, response, context.baseUrl(), flow);
  return true;
};

/**
 * Ends an attempt by a function of the database that takes the session to be made: arrives, also when a first click
 * ended it already.
 * @returns the tries that are left after a wrong code; null when the browser has arrived.
 * @throws Problem when the attempt cannot end in a session.
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
  try {
    const finished = await context.database.call("visitor", name, {
      flow_hash: hashSecret(flow),
      ...proof,
      session_hash: sessionHash(request, baseUrl),
      new_session_hash: hashSecret(sessionSecret(flow)),
    });
    const { wrong_code, tries_left } = JSON.parse(finished) as { wrong_code?: boolean; tries_left?: number };
    if (wrong_code) return tries_left ?? 0;
  } catch (error) {
    const { code } = problemOf(error);
    const isSpent = code === "invalid_state" || code === "link_expired" || code === "not_found";
    if (isSpent && (await arriveAgain(context, request, response, flow))) return null;
    throw error;
  }
  arrive(request, response, baseUrl, flow);
  return null;
};
