import { hash } from "node:crypto";
import type { Request, Response } from "express";
import { z } from "zod";
import { UNKNOWN_BODY } from "../../api/endpoint.ts";
import { codePoints } from "../../api/schemas/values.ts";
import { addressOf } from "../../base/address.ts";
import { isProblem, type Problem, problem } from "../../base/problem.ts";
import { familyOf, hashSecret, isToken, newRefreshToken, newToken } from "../../base/tokens.ts";
import { readJsonBody, withoutNulls } from "../../web/body.ts";
import { readForm } from "../../web/form.ts";
import { repeatedParameter } from "../../web/parameters.ts";
import type { OAuthContext } from "./authorize.ts";
import { ASSERTION_TYPE, type Claims, namedIn } from "./client_assertion.ts";
import { isOurResource, SCOPE } from "./metadata.ts";
import { redirectUri } from "./redirect_uri.ts";

/** The endpoints that a client calls itself: it registers, gets tokens, and revokes them. */

/** Answers a request of a client: the status, and a body or none. @throws Problem, with `error` if OAuth has a name for it */
export type Endpoint = (request: Request, response: Response) => Promise<{ status: number; body: object | null }>;

const refusal = (error: string, detail: string): Problem => problem("bad_request", detail, { error });

/** The user name of HTTP Basic: some clients without a secret name themselves there (RFC 6749, section 2.3.1). */
const basicUser = (request: Request): string | null => {
  const [, credentials = ""] = /^Basic ([\w+/]+=*)$/i.exec(request.get("Authorization") ?? "") ?? [];
  const [user = ""] = Buffer.from(credentials, "base64").toString("utf8").split(":");
  // As in a form, so that it may be an address.
  const name = new URLSearchParams(`user=${user.replaceAll("&", "%26")}`).get("user") ?? "";
  return name === "" || name.includes("\0") ? null : name;
};

/** Reads the parameters of a form, each of which may be sent once. */
const readParameters = async (request: Request, response: Response): Promise<(name: string) => string | null> => {
  const fields = await readForm(
    request,
    response,
    "Send the parameters as a form, with Content-Type: application/x-www-form-urlencoded and without Content-Encoding.",
  );
  const repeated = repeatedParameter(fields, "resource");
  if (repeated !== undefined)
    throw refusal("invalid_request", `The parameter ${repeated.slice(0, 50)} was sent twice.`);
  if (String(fields).includes("%00")) throw refusal("invalid_request", "A parameter contains a NUL character.");
  return (name) => fields.get(name) || (name === "client_id" ? basicUser(request) : null);
};

type Parameters = Awaited<ReturnType<typeof readParameters>>;

const required = (parameters: Parameters, name: string): string => {
  const value = parameters(name);
  if (value === null) throw refusal("invalid_request", `Send the parameter ${name}.`);
  return value;
};

/** How a client that calls proved itself: what the database decides by, or null if it sent no assertion. */
type Proof = { issuer: string; claims: Claims } | null;

/**
 * Returns the client that a request names, and how it proved that it is the one.
 * @param grant the hash of the code or token that the request is about
 */
const clientOf = async (
  { database, baseUrl, checkAssertion }: OAuthContext,
  parameters: Parameters,
  grant: { code_hash?: Buffer; family_hash?: Buffer | null; token_hash?: Buffer },
): Promise<{ client_id: string | null; proof: Proof }> => {
  const assertion = parameters("client_assertion");
  const client_id = parameters("client_id") ?? (assertion === null ? null : namedIn(assertion));
  if (assertion === null || client_id === null) return { client_id, proof: null };
  if (parameters("client_assertion_type") !== ASSERTION_TYPE)
    throw refusal("invalid_client", `With client_assertion, send client_assertion_type=${ASSERTION_TYPE}.`);
  const hashes = { code_hash: null, family_hash: null, token_hash: null, ...grant };
  const { found, signs }: { found: boolean; signs: boolean } = JSON.parse(
    await database.call("visitor", "find_grant", { client_id, ...hashes }),
  );
  // What is unknown is refused by that name, or needs no revoking.
  if (!found) return { client_id, proof: null };
  try {
    return { client_id, proof: { issuer: baseUrl(), claims: await checkAssertion(client_id, assertion) } };
  } catch (error) {
    // PKCE alone is enough for this client.
    if (!signs && isProblem(error) && error.code === "service_unavailable") return { client_id, proof: null };
    throw error;
  }
};

/** Makes tokens, and has the database store their hashes with `give`. */
const giveTokens = async (
  { database }: OAuthContext,
  family: string | undefined,
  give: (hashes: { token: Buffer; family: Buffer; refreshToken: Buffer }) => Promise<string>,
): Promise<{ status: number; body: object }> => {
  const token = newToken();
  const refreshToken = newRefreshToken(family);
  const hashes = {
    token: hashSecret(token),
    family: hashSecret(familyOf(refreshToken) ?? ""),
    refreshToken: hashSecret(refreshToken),
  };
  const result = JSON.parse(await give(hashes)) as { expires_in: number; scope: string } | { error: string };
  if ("error" in result) return { status: 400, body: result };
  database.callers.accept(hashes.token, "shared");
  return { status: 200, body: { access_token: token, token_type: "Bearer", ...result, refresh_token: refreshToken } };
};

const exchangeCode = async (context: OAuthContext, parameters: Parameters) => {
  const code_hash = hashSecret(required(parameters, "code"));
  const verifier = required(parameters, "code_verifier");
  const { client_id, proof } = await clientOf(context, parameters, { code_hash });
  return giveTokens(context, undefined, (hashes) =>
    context.database.call("visitor", "exchange_code", {
      code_hash,
      client_id: client_id ?? required(parameters, "client_id"),
      redirect_uri: parameters("redirect_uri"),
      proof,
      code_challenge: hash("sha256", verifier, "base64url"),
      token_hash: hashes.token,
      family_hash: hashes.family,
      refresh_token_hash: hashes.refreshToken,
    }),
  );
};

const refreshToken = async (context: OAuthContext, parameters: Parameters) => {
  const refresh_token = required(parameters, "refresh_token");
  const family = familyOf(refresh_token);
  if (family === null)
    throw refusal("invalid_grant", "This is not a refresh token of this service. Send it exactly as it was returned.");
  const { client_id, proof } = await clientOf(context, parameters, { family_hash: hashSecret(family) });
  return giveTokens(context, family, (hashes) =>
    context.database.call("visitor", "refresh_token", {
      family_hash: hashes.family,
      refresh_token_hash: hashSecret(refresh_token),
      client_id: client_id ?? required(parameters, "client_id"),
      proof,
      new_token_hash: hashes.token,
      new_refresh_token_hash: hashes.refreshToken,
    }),
  );
};

/** Makes the token endpoint. */
export const tokenEndpoint =
  (context: OAuthContext): Endpoint =>
  async (request, response) => {
    const parameters = await readParameters(request, response);
    const resource = parameters("resource");
    if (!isOurResource(context.baseUrl(), resource ?? ""))
      throw refusal(
        "invalid_target",
        `This service gives tokens only for ${context.baseUrl()}/mcp and ${context.baseUrl()}.`,
      );
    const grantType = required(parameters, "grant_type");
    if (grantType === "authorization_code") return exchangeCode(context, parameters);
    if (grantType === "refresh_token") return refreshToken(context, parameters);
    throw refusal("unsupported_grant_type", "The grant_type is authorization_code or refresh_token.");
  };

/** Makes the endpoint at which a client gives a token back (RFC 7009). */
export const revokeEndpoint =
  (context: OAuthContext): Endpoint =>
  async (request, response) => {
    const parameters = await readParameters(request, response);
    const token = required(parameters, "token");
    const family = familyOf(token);
    // Anything else is not a token, and then the client's aim is reached.
    if (family === null && !isToken(token)) return { status: 200, body: null };
    const held = { token_hash: hashSecret(token), family_hash: family === null ? null : hashSecret(family) };
    const proved = await clientOf(context, parameters, held);
    const revoked: object = JSON.parse(await context.database.call("visitor", "revoke_token", { ...held, ...proved }));
    return "error" in revoked ? { status: 400, body: revoked } : { status: 200, body: null };
  };

const registration = z.object({
  client_name: codePoints(2_000, "A client_name").optional(),
  redirect_uris: z.array(redirectUri()).min(1).max(10),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
});

/** Makes the endpoint at which clients register (RFC 7591). Every client is public: it gets no secret. */
export const registerEndpoint =
  ({ database, connectionsPerHour }: OAuthContext): Endpoint =>
  async (request, response) => {
    const { success, data, error } = registration.safeParse(
      withoutNulls(await readJsonBody(request, response, UNKNOWN_BODY)) ?? {},
    );
    if (!success) {
      const isRedirect = error.issues.some(({ path }) => path[0] === "redirect_uris");
      throw refusal(
        isRedirect ? "invalid_redirect_uri" : "invalid_client_metadata",
        isRedirect
          ? "Send redirect_uris: 1 to 10 URIs of at most 2,000 characters, to which browsers are sent back. A port is at most 65535."
          : "Send client_name as well-formed text of at most 2,000 characters and 30 combining marks in a row, and grant_types and response_types as lists, or leave them out.",
      );
    }
    const registered = await database.call("visitor", "register_client", {
      name: data.client_name ?? "",
      redirect_uris: data.redirect_uris,
      address: addressOf(request),
      registrations_per_hour: connectionsPerHour,
    });
    const body = {
      ...(JSON.parse(registered) as object),
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      scope: SCOPE,
    };
    return { status: 201, body };
  };
