import type { Request } from "express";
import type { Actor } from "../database/database.ts";
import { isFromOwnPage, readCookie, SESSION_COOKIE } from "./cookies.ts";
import { problem } from "./problem.ts";
import { hashSecret, isToken } from "./tokens.ts";

/** Finds out who makes a request. */

/** Returns the token of a request; null if its Authorization header has none, or one of the wrong form. */
const tokenOf = (request: Request): string | null => {
  const [scheme, token, ...rest] = (request.headers.authorization ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && token && rest.length === 0 && isToken(token) ? token : null;
};

/**
 * Returns the hash of the token or, without an Authorization header, of the session of a request; null if it has
 * neither. Nothing says that they are valid.
 */
export const credentialOf = (request: Request, baseUrl: string): Buffer | null => {
  const secret =
    request.headers.authorization === undefined ? readCookie(request, baseUrl, SESSION_COOKIE) : tokenOf(request);
  return secret === null ? null : hashSecret(secret);
};

/** The person whose session cookie was sent, or null. @throws Problem for a write from a page of another site */
const personOf = (request: Request, baseUrl: string): Actor | null => {
  const session = readCookie(request, baseUrl, SESSION_COOKIE);
  if (session === null) return null;
  if (request.method !== "GET" && request.method !== "HEAD" && !isFromOwnPage(request, baseUrl)) {
    throw problem(
      "unauthorized",
      `A session changes something only from a page of this service, and this request did not come from one: its Origin is not ${new URL(baseUrl).origin}. A program sends Authorization: Bearer with its token instead.`,
    );
  }
  return { person: hashSecret(session) };
};

/**
 * Returns the caller of an endpoint that needs one: the agent of the token or, without a token, the person of the
 * session.
 * @throws Problem 401 if there is neither, or if the token has the wrong form (without a query of the database)
 */
export const authenticate = (request: Request, baseUrl: string): { actor: Actor; token: string | null } => {
  if (request.headers.authorization === undefined) {
    const person = personOf(request, baseUrl);
    if (person !== null) return { actor: person, token: null };
  }
  if (!request.headers.authorization) {
    throw problem(
      "unauthorized",
      "Send the header Authorization: Bearer with the token that POST /v1/connect returned.",
    );
  }
  const token = tokenOf(request);
  if (token === null) {
    throw problem(
      "unauthorized",
      "This is not a token of this service. Send Authorization: Bearer with the agent_token exactly as POST /v1/connect returned it.",
    );
  }
  return { actor: { agent: hashSecret(token) }, token };
};
