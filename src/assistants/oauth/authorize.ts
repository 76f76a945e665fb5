import type { Request, Response } from "express";
import { addressOf } from "../../base/address.ts";
import { isFromAnotherPage } from "../../base/cookies.ts";
import { problem } from "../../base/problem.ts";
import { hashSecret, newCode, newSecret } from "../../base/tokens.ts";
import type { Database } from "../../database/database.ts";
import { type Page, seeOther } from "../../pages/frame.ts";
import { repeatedParameter } from "../../web/parameters.ts";
import { responseUri } from "../../web/redirect.ts";
import { ASSERTION_ALGORITHMS, type CheckAssertion } from "./client_assertion.ts";
import type { FindDocument } from "./client_document.ts";
import { isOurResource, SCOPE } from "./metadata.ts";
import { redirectUri } from "./redirect_uri.ts";

/** What the endpoints of OAuth need from the process. */
export type OAuthContext = {
  database: Database;
  baseUrl: () => string;
  /** How often an hour one address may connect an agent, register a client, or name a client that has a document. */
  connectionsPerHour: number;
  findDocument: FindDocument;
  checkAssertion: CheckAssertion;
};

/** An error of OAuth: its code, and a sentence for the client's developer. */
type Fault = { error: string; error_description: string };

/** The limit of the table market.oauth_grant, in characters. */
const MAX_STATE = 4_000;

const fault = (error: string, error_description: string): Fault => ({ error, error_description });

/** Returns what is wrong with a request, apart from client_id and redirect_uri; null if it is sound. */
const faultOf = (baseUrl: string, query: URLSearchParams): Fault | null => {
  const repeated = repeatedParameter(query, "resource");
  if (repeated !== undefined) return fault("invalid_request", `The parameter ${repeated.slice(0, 50)} was sent twice.`);
  if (query.get("response_type") !== "code")
    return fault("unsupported_response_type", "The only response_type is code.");
  if (query.get("code_challenge_method") !== "S256")
    return fault("invalid_request", "PKCE is required: send code_challenge, and code_challenge_method=S256.");
  if (!/^[\w-]{43}$/.test(query.get("code_challenge") ?? ""))
    return fault("invalid_request", "The code_challenge is not a SHA-256 in base64url, which has 43 characters.");
  if ((query.get("state") ?? "").length > MAX_STATE)
    return fault("invalid_request", `A state has at most ${MAX_STATE} characters.`);
  if (!query.getAll("resource").every((resource) => isOurResource(baseUrl, resource)))
    return fault(
      "invalid_target",
      `The resource here is ${baseUrl}/mcp. Send that as resource, or leave resource out.`,
    );
  const scopes = (query.get("scope") ?? SCOPE).split(" ").filter(Boolean);
  if (scopes.length > 0 && !scopes.includes(SCOPE)) return fault("invalid_scope", `The only scope is ${SCOPE}.`);
  return null;
};

/**
 * Makes the page to which a client sends the person's browser. A sound request becomes an agent that waits for
 * approval, and the browser goes on to its approval page. A request that is not sound is explained to the person. The
 * browser is not sent back by itself: anybody can register a client, so this page would lead to any address.
 */
export const authorizePage = ({ database, baseUrl, connectionsPerHour, findDocument }: OAuthContext): Page => {
  const start = async (request: Request, response: Response): Promise<void> => {
    const query = new URLSearchParams(request.originalUrl.split("?").slice(1).join("?"));
    // A HEAD, as link scanners send it, starts nothing.
    if (request.method === "HEAD") return void response.end();
    // Otherwise any page that a person opens could use up the limit of the person's address.
    if (isFromAnotherPage(request))
      throw problem("bad_request", "A page of another site loaded this in the background, so nothing was started.", {
        error: "invalid_request",
      });
    const [client_id, redirect_uri] = [query.get("client_id"), query.get("redirect_uri")];
    if (!client_id || !redirect_uri || String(query).includes("%00"))
      throw problem(
        "bad_request",
        "This page is for programs that connect to the market: they send a person here with client_id and redirect_uri, and without NUL characters.",
        { error: "invalid_request" },
      );
    if (!redirectUri().safeParse(redirect_uri).success)
      throw problem(
        "bad_request",
        "The program that sent you here wants you sent back to an address that no browser can open (redirect_uri). So it gets no access. Tell its makers.",
        { error: "invalid_request" },
      );
    let document = null;
    if (/^https?:/i.test(client_id)) {
      await database.call("visitor", "count_client_document", {
        address: addressOf(request),
        documents_per_hour: connectionsPerHour,
        client_id,
      });
      const { client_name, redirect_uris, auth_methods, jwks, jwks_uri, signing_alg } = await findDocument(client_id);
      const isAccepted = signing_alg === undefined || ASSERTION_ALGORITHMS.includes(signing_alg);
      document = { client_name, redirect_uris, auth_methods, can_sign: isAccepted && (jwks ?? jwks_uri) !== undefined };
    }
    const client = { client_id, document, redirect_uri };
    const wrong = faultOf(baseUrl(), query);
    const state = query.get("state");
    if (wrong !== null) {
      await database.call("visitor", "check_client", client, "read");
      throw problem("bad_request", `The program that sent you here made a mistake. ${wrong.error_description}`, {
        ...wrong,
        way_back: responseUri(
          baseUrl(),
          { redirect_uri, state: (state ?? "").length > MAX_STATE ? null : state },
          wrong,
        ),
      });
    }
    const secret = newSecret();
    await database.call("visitor", "start_authorization", {
      ...client,
      code_challenge: query.get("code_challenge"),
      state,
      secret_hash: hashSecret(secret),
      code: newCode(),
      address: addressOf(request),
      connections_per_hour: connectionsPerHour,
    });
    seeOther(response, `${baseUrl()}/connect/${secret}`);
  };
  return { path: "/oauth/authorize", operation: "authorize", get: start };
};
