import type { Request, Response } from "express";
import { addressOf, rootOf } from "../../base/address.ts";
import type { SignInMethod } from "../../base/enums.ts";
import { problem, problemOf } from "../../base/problem.ts";
import { hashSecret } from "../../base/tokens.ts";
import { CODE_LENGTHS, type CodeLength, codeHash, codeOf } from "../../sign_in/flow.ts";
import { giveFormToken } from "../../web/csrf.ts";
import { askVisitor, type PagesContext } from "../context.ts";
import { type Page, readAnswer, STALE_FORM, seeOther } from "../frame.ts";
import { minutesLeft, sendPage } from "../render.ts";
import { sessionHash } from "../session.ts";
import { arriveAgain, finishAttempt, flowOf, returnPathOf, viewerOf } from "./attempt.ts";
import { type FormErrors, toFormErrors } from "./choose.ts";
import { withEnding } from "./ending.ts";

/**
 * The page that takes the code of a sign-in message, and the page that its link opens. Opening them changes nothing.
 */

/** A sign-in attempt, as api.get_sign_in returns it. */
type Attempt = {
  method: SignInMethod;
  email: string | null;
  code_digits: CodeLength;
  expires_in: number;
  tries_left: number;
  finished: boolean;
};

const NO_ATTEMPT = problem(
  "not_found",
  "This browser has no sign-in under way: it was finished, it ran out of time, or the cookie that goes with it is gone.",
);

const SPENT = problem(
  "link_expired",
  "The code was wrong too often, so it no longer works. Start again, and you get a new one.",
);

const LENGTHS = { 6: "Six-digit", 9: "Nine-digit", 12: "Twelve-digit" } as const satisfies Record<CodeLength, string>;

const wrongCode = (triesLeft: number): string =>
  `That is not the code from the mail. You can try ${triesLeft === 1 ? "once" : `${triesLeft} times`} more. If you asked for several mails, only the newest counts.`;

/** Makes the pages for the code and the link of a sign-in message. */
export const mailPages = (context: PagesContext): Page[] => {
  const { baseUrl } = context;
  const linkOf = (request: Request): string => String(request.params["secret"]);

  const requireFlow = (request: Request): string => {
    const flow = flowOf(request, baseUrl());
    if (flow === null) throw NO_ATTEMPT;
    return flow;
  };

  const showCodeForm = async (
    request: Request,
    response: Response,
    flow: string,
    typed: string,
    errors: FormErrors,
  ): Promise<void> => {
    const attempt = await askVisitor<Attempt>(context, "get_sign_in", { flow_hash: hashSecret(flow) });
    if (attempt.finished && (await arriveAgain(context, request, response, flow, true))) return;
    if (attempt.finished || attempt.email === null) throw NO_ATTEMPT;
    if (attempt.tries_left <= 0) throw SPENT;
    const isRefused = errors.field !== undefined || errors.form !== undefined;
    if (isRefused && response.statusCode === 200) response.status(400);
    sendPage(response, "sign_in_code", baseUrl(), {
      token: giveFormToken(request, response, baseUrl(), "/sign-in/code"),
      email: attempt.email,
      kind: LENGTHS[attempt.code_digits],
      left: minutesLeft(attempt.expires_in),
      typed,
      returnPath: returnPathOf(request, baseUrl()),
      errors,
      // Then the message is in the mailbox of this process (src/mail/mailbox.ts).
      inMailbox: context.signIn.mailbox !== null,
    });
  };

  const enterCode = async (request: Request, response: Response): Promise<void> => {
    const { fields, stale } = await readAnswer(request, response, baseUrl());
    const flow = requireFlow(request);
    const typed = (fields.get("code") ?? "").slice(0, 40);
    // People type or paste the code with spaces, or with a dash in the middle.
    const code = typed.replace(/[\s\p{Pd}]/gu, "");
    if (stale) return showCodeForm(request, response, flow, typed, { form: STALE_FORM.detail });
    if (!/^[0-9]*$/.test(code) || !CODE_LENGTHS.some((length) => length === code.length)) {
      return showCodeForm(request, response, flow, typed, { field: "Enter all the digits of the code in the mail." });
    }
    const proof = { link_hash: null, code_hash: codeHash(flow, code), address: addressOf(request) };
    let triesLeft: number | null;
    try {
      triesLeft = await finishAttempt(context, request, response, flow, "finish_mail_sign_in", proof);
    } catch (thrown) {
      if (problemOf(thrown).code !== "rate_limited") throw thrown;
      // The page keeps the ways out: the link in the mail, or a new mail.
      return showCodeForm(request, response, flow, typed, toFormErrors(thrown, request, response, false));
    }
    if (triesLeft === 0) throw SPENT;
    if (triesLeft !== null) await showCodeForm(request, response, flow, typed, { field: wrongCode(triesLeft) });
  };

  const showLink = async (request: Request, response: Response, error: string | null): Promise<void> => {
    const flow = flowOf(request, baseUrl());
    const secret = linkOf(request);
    const link = await askVisitor<Pick<Attempt, "code_digits" | "expires_in"> & { same_browser: boolean }>(
      context,
      "get_mail_link",
      { link_hash: hashSecret(secret), flow_hash: flow === null ? null : hashSecret(flow) },
    );
    if (link.same_browser) {
      const token = giveFormToken(request, response, baseUrl(), request.path);
      return sendPage(response, "sign_in_link", baseUrl(), { token, error });
    }
    const digits = codeOf(secret, link.code_digits).match(/.{3}/g)?.join(" ");
    sendPage(response, "sign_in_elsewhere", baseUrl(), { digits, left: minutesLeft(link.expires_in) });
  };

  const useLink = async (request: Request, response: Response): Promise<void> => {
    const { stale } = await readAnswer(request, response, baseUrl());
    const isOver = flowOf(request, baseUrl()) === null;
    // The second click of a double click, when the first one has signed the person in already.
    if (isOver && (await viewerOf(context, sessionHash(request, baseUrl()))) !== null)
      return seeOther(response, rootOf(baseUrl()) + returnPathOf(request, baseUrl()));
    if (stale) {
      response.status(400);
      return showLink(request, response, STALE_FORM.detail);
    }
    await finishAttempt(context, request, response, requireFlow(request), "finish_mail_sign_in", {
      link_hash: hashSecret(linkOf(request)),
      code_hash: null,
    });
  };

  return [
    {
      path: "/sign-in/code",
      operation: "signInCodePage",
      get: withEnding(context, (request, response) => showCodeForm(request, response, requireFlow(request), "", {})),
      post: withEnding(context, enterCode),
    },
    {
      path: "/sign-in/link/:secret",
      operation: "signInLinkPage",
      get: withEnding(context, (request, response) => showLink(request, response, null)),
      post: withEnding(context, useLink),
    },
  ];
};
