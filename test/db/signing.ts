import { randomBytes } from "node:crypto";
import type { Answer, Market } from "./market.ts";

/**
 * People in browsers, as the sign-in functions see them: with hashes instead of secrets, without providers and mail.
 *
 *   attempt   a sign-in that one browser began: the hashes of its flow, and of the link and the code in its mail
 *   session   the hash of a browser's session cookie
 */

export type Attempt = { flow: Buffer; link: Buffer; code: Buffer };

export type Begin = {
  method?: "google" | "apple" | "email";
  purpose?: "sign_in" | "add";
  email?: string | null;
  session?: Buffer | null;
  /** The hash of the secret in an agent's verification link. */
  verification?: Buffer | null;
  address?: string;
  /** The ids of the agents that go on acting for the account; without it, all of them. */
  kept?: string[] | null;
  /** The person knows that the account of this browser is lost. */
  leave?: boolean;
  /** The hash of the cookie by which mailboxes know the browser. */
  browser?: Buffer | null;
};

/** The identity that a provider confirms. */
export type Identity = { subject: string; email?: string | null; name?: string | null };

export type Finished = { answer: Answer; session: Buffer; browser: Buffer };

/** A random network, so that tests do not share a rate limit. */
const randomAddress = (): string => `10.${[...randomBytes(3)].join(".")}`;

/** A random e-mail address, so that tests do not share a rate limit. */
export const randomEmail = (): string => `${randomBytes(6).toString("hex")}@example.com`;

/**
 * Sign-in calls for tests.
 * @param market the market whose functions are called
 * @returns functions that begin and finish attempts, and that read and age sessions
 */
export const signing = (market: Pick<Market, "call" | "sql">) => {
  const begin = async (options: Begin = {}): Promise<Attempt> => {
    const attempt = { flow: randomBytes(32), link: randomBytes(32), code: randomBytes(32) };
    const method = options.method ?? "email";
    const isMail = method === "email";
    const adds = options.purpose === "add" || options.verification !== undefined;
    const agents = adds && options.kept === undefined ? await market.sql("select id from market.agent") : [];
    await market.call(null, "start_sign_in", {
      flow_hash: attempt.flow,
      method,
      purpose: options.purpose ?? "sign_in",
      session_hash: options.session ?? null,
      verification_hash: options.verification ?? null,
      email: isMail ? (options.email === undefined ? randomEmail() : options.email) : null,
      link_hash: isMail ? attempt.link : null,
      // A real code has another hash for each length. Only one of them is stored.
      code_hashes: isMail
        ? Object.fromEntries([6, 9, 12].map((digits) => [digits, attempt.code.toString("hex")]))
        : null,
      address: options.address ?? randomAddress(),
      kept: options.kept === undefined ? agents.map(({ id }) => id) : options.kept,
      leave: options.leave ?? false,
      browser_hash: options.browser ?? null,
    });
    return attempt;
  };

  /**
   * Finishes an attempt by the link or the code of its mail. Without `session` the browser has none. Without `address`
   * it is in a network of its own. `known` is its cookie for mailboxes.
   */
  const finishMail = async (
    { flow }: Pick<Attempt, "flow">,
    by: { link: Buffer } | { code: Buffer },
    session: Buffer | null = null,
    address = randomAddress(),
    known: Buffer | null = null,
  ): Promise<Finished> => {
    const [fresh, browser] = [randomBytes(32), randomBytes(32)];
    const answer = await market.call(null, "finish_mail_sign_in", {
      flow_hash: flow,
      link_hash: "link" in by ? by.link : null,
      code_hash: "code" in by ? by.code : null,
      session_hash: session,
      new_session_hash: fresh,
      address,
      browser_hash: known,
      new_browser_hash: browser,
    });
    return { answer, session: fresh, browser };
  };

  const finish = async (
    { flow }: Pick<Attempt, "flow">,
    method: string,
    identity: Identity,
    session: Buffer | null = null,
  ): Promise<Finished> => {
    const fresh = randomBytes(32);
    const answer = await market.call(null, "finish_sign_in", {
      flow_hash: flow,
      method,
      subject: identity.subject,
      email: identity.email ?? null,
      name: identity.name ?? null,
      session_hash: session,
      new_session_hash: fresh,
    });
    return { answer, session: fresh, browser: randomBytes(32) };
  };

  /** Begins and finishes an attempt, with google unless the options name another method. */
  const signIn = async (identity: Identity, options: Begin = {}): Promise<Finished> => {
    const method = options.method ?? "google";
    return finish(await begin({ ...options, method }), method, identity, options.session ?? null);
  };

  const viewer = async (session: Buffer | null): Promise<Answer> =>
    (await market.call(null, "get_viewer", { session_hash: session })).viewer;

  /** The account of a live session, or null. */
  const accountOf = async (session: Buffer): Promise<string | null> => {
    const [row] = await market.sql`select account_id from market.session where secret_hash = ${session}`;
    return row?.account_id ?? null;
  };

  /** Moves a session's sign-in a quarter of an hour into the past, so that it is no longer recent. */
  const grow = (session: Buffer): Promise<Answer[]> =>
    market.sql`update market.session set signed_in_at = signed_in_at - interval '15 minutes'
      where secret_hash = ${session}`;

  return { begin, finishMail, finish, signIn, viewer, accountOf, grow };
};
