import { hash } from "node:crypto";
import type { Request, Response } from "express";
import { z } from "zod";
import { UNKNOWN_BODY } from "../../api/endpoint.ts";
import { codePoints } from "../../api/schemas/values.ts";
import { addressOf } from "../../base/address.ts";
import { type Problem, problem } from "../../base/problem.ts";
import { familyOf, hashSecret, isToken, newRefreshToken, newToken } from "../../base/tokens.ts";
import { readJsonBody, withoutNulls } from "../../web/body.ts";
import { readForm } from "../../web/form.ts";
import { repeatedParameter } from "../../web/parameters.ts";
import type { OAuthContext } from "./authorize.ts";
import { isOurResource, SCOPE } from "./metadata.ts";
import { redirectUri } from "./redirect_uri.ts";

/** The endpoints that a client calls itself: it registers, gets tokens, and revokes them. */

/** Answers a request of a client: the status, and a body or none. @throws Problem, with `error` if OAuth has a name for it */
export type Endpoint = (request: Request, response: Response) => Promise<{ status: number; body: object | null }>;

const refusal = (error: string, detail: string): Problem => problem("bad_request", detail, { error });

/** Reads the parameters of a form, each of which may be sent once. */
const readParameters = async (request: Request, response: Response): Promise<(name: string) => string | null> => {
  const fields = await readForm(request, response);
  const repeated = repeatedParameter(fields, "resource");
  if (repeated !== undefined)
    throw refusal("invalid_request", `The parameter ${repeated.slice(0, 50)} was sent twice.`);
  if (String(fields).includes("%00")) throw refusal("invalid_request", "A parameter contains a NUL character.");
  return (name) => fields.get(name) || null;
};

type Parameters = Awaited<ReturnType<typeof readParameters>>;

const required = (parameters: Parameters, name: string): string => {
  const value = parameters(name);
  if (value === null) throw refusal("invalid_request", `Send the parameter ${name}.`);
  return value;
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

const exchangeCode = (context: OAuthContext, parameters: Parameters) => {
  const code = required(parameters, "code");
  const verifier = required(parameters, "code_verifier");
  const args = { client_id: required(parameters, "client_id"), redirect_uri: parameters("redirect_uri") };
  return giveTokens(context, undefined, (hashes) =>
    context.database.call("visitor", "exchange_code", {
      code_hash: hashSecret(code),
      ...args,
      code_challenge: hash("sha256", verifier, "base64url"),
      token_hash: hashes.token,
      family_hash: hashes.family,
      refresh_token_hash: hashes.refreshToken,
    }),
  );
};

const refreshToken = (context: OAuthContext, parameters: Parameters) => {
  const refresh_token = required(parameters, "refresh_token");
  const client_id = required(parameters, "client_id");
  const family = familyOf(refresh_token);
  if (family === null)
    throw refusal("invalid_grant", "This is not a refresh token of this service. Send it exactly as it was returned.");
  return giveTokens(context, family, (hashes) =>
    context.database.call("visitor", "refresh_token", {
      family_hash: hashes.family,
      refresh_token_hash: hashSecret(refresh_token),
      client_id,
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
  ({ database }: OAuthContext): Endpoint =>
  async (request, response) => {
    const parameters = await readParameters(request, response);
    const token = required(parameters, "token");
    const family = familyOf(token);
    // Anything else is not a token, and then the client's aim is reached.
    if (family !== null || isToken(token))
      await database.call("visitor", "revoke_token", {
        token_hash: hashSecret(token),
        family_hash: family === null ? null : hashSecret(family),
        client_id: parameters("client_id"),
      });
    return { status: 200, body: null };
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
