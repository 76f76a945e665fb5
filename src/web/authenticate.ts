import type { Request } from "express";
import { isFromOtherOrigin, isFromOwnPage, readCookie, SESSION_COOKIE } from "../base/cookies.ts";
import { problem } from "../base/problem.ts";
import { hashSecret, isToken } from "../base/tokens.ts";
import type { Actor } from "../database/database.ts";

/** Finds out who makes a request. */

/** Returns the token of a request; null if its Authorization header has none, or one of the wrong form. */
const tokenOf = (request: Request): string | null => {
  const [scheme, token, ...rest] = (request.headers.authorization ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && token && rest.length === 0 && isToken(token) ? token : null;
};

/** The agent's token, null if it is a person's session, and the hash of the token or of the session's secret. */
type Credential = { token: string | null; hash: Buffer };

/** A request keeps its credential, because it is needed several times and a hash takes some microseconds. */
const CREDENTIAL = Symbol("credential");

const readCredential = (request: Request, baseUrl: string): Credential | null => {
  const token = request.headers.authorization === undefined ? null : tokenOf(request);
  const secret = request.headers.authorization === undefined ? readCookie(request, baseUrl, SESSION_COOKIE) : token;
  return secret === null ? null : { token, hash: hashSecret(secret) };
};

/**
 * Returns the credential of a request: its token or, without an Authorization header, its session; null if it has
 * neither. Nothing says that they are valid.
 */
export const credentialOf = (
  request: Request & { [CREDENTIAL]?: Credential | null },
  baseUrl: string,
): Credential | null => {
  const cached = request[CREDENTIAL];
  if (cached !== undefined) return cached;
  const credential = readCredential(request, baseUrl);
  request[CREDENTIAL] = credential;
  return credential;
};

/**
 * Returns the caller of an endpoint that needs one: the agent of the token or, without a token, the person of the
 * session.
 * @throws Problem 401 if there is neither, if the token has the wrong form (without a query of the database), or for a
 * session from a page of another site, or of an unknown one if something would change
 */
export const authenticate = (request: Request, baseUrl: string): { actor: Actor; token: string | null } => {
  const credential = credentialOf(request, baseUrl);
  if (credential?.token === null) {
    const reads = request.method === "GET" || request.method === "HEAD";
    if (reads ? isFromOtherOrigin(request, baseUrl) : !isFromOwnPage(request, baseUrl)) {
      throw problem(
        "unauthorized",
        `A session counts only on pages of this service, and this request did not come from one: its Origin is not ${new URL(baseUrl).origin}. A program sends Authorization: Bearer with its token instead.`,
      );
    }
    return { actor: { person: credential.hash }, token: null };
  }
  if (!request.headers.authorization) {
    throw problem(
      "unauthorized",
      "Send the header Authorization: Bearer with the token that POST /v1/connect returned.",
    );
  }
  if (credential === null) {
    throw problem(
      "unauthorized",
      "This is not a token of this service. Send Authorization: Bearer with the agent_token exactly as POST /v1/connect returned it.",
    );
  }
  return { actor: { agent: credential.hash }, token: credential.token };
};
