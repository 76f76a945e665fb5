import { type KeyObject, sign } from "node:crypto";
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type IDToken,
  ResponseBodyError,
} from "openid-client";
import type { Log } from "../base/log.ts";
import { problem } from "../base/problem.ts";
import { openIdSecrets } from "./flow.ts";
import { nameOfMethod, type OpenIdMethod } from "./methods.ts";
import type { AppleSettings, GoogleSettings } from "./settings.ts";

/**
 * Sign-in at an OpenID provider, by the authorization code flow with PKCE. openid-client checks state, nonce, issuer,
 * audience, times and signature. This file decides which claims of the ID token are used.
 */

/** The person as the provider identifies them. */
type Identity = {
  /** The provider's identifier of the person, which never changes. */
  subject: string;
  /** Null unless the provider has verified that the e-mail address is the person's. */
  email: string | null;
  name: string | null;
};

/** A service that identifies a person. */
export type OpenIdProvider = {
  /** The origin to which a form that starts a sign-in is redirected. */
  origin: string;
  /**
   * Starts a sign-in.
   * @returns the URL to which this flow's browser is redirected
   * @throws Problem when the provider cannot be reached
   */
  begin: (flow: string, callback: string) => Promise<string>;
  /**
   * Identifies the person when the browser returns from the provider.
   * @param answer the parameters that the provider sent by the browser
   * @throws Problem when this browser did not start the sign-in, the person cancelled, the provider's response is
   * invalid, or the provider cannot be reached
   */
  finish: (flow: string, callback: string, answer: URLSearchParams) => Promise<Identity>;
};

/** What differs between providers. */
type Specifics = {
  method: OpenIdMethod;
  issuer: string;
  clientId: string;
  clientAuth: ClientAuth;
  parameters: Record<string, string>;
  nameOf: (claims: IDToken, answer: URLSearchParams) => unknown;
};

/** Providers respond within a second. A sign-in needs two requests, for which a person waits. */
const TIMEOUT_SECONDS = 5;

/** Lifetime of Apple's client secret. Apple allows up to six months. A new one is made for each request. */
const CLIENT_SECRET_SECONDS = 300;

/** OpenID Connect Core, section 2: a subject has at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** Enough for any name. The database decides how much of it is stored. */
const NAME_LENGTH = 200;

/** Error codes by which openid-client says that the provider failed. Other codes mean that its response is invalid. */
const UNREACHABLE = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
]);

/** The Retry-After when a provider is down, in seconds. */
const RETRY_SECONDS = 30;

const codeOfError = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";

const isUnreachable = (thrown: unknown): boolean =>
  UNREACHABLE.has(codeOfError(thrown)) ||
  // fetch throws this when there is no connection.
  (thrown instanceof TypeError && thrown.cause !== undefined) ||
  (thrown instanceof ClientError && thrown.cause instanceof TypeError) ||
  (thrown instanceof ResponseBodyError && thrown.status >= 500);

/** Whether PostgreSQL can store a text. The database itself checks that it is an e-mail address. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

/**
 * The part of a name that PostgreSQL can store; null when nothing is left. The database decides how names are shown.
 */
const cleanName = (name: string): string | null =>
  name
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, NAME_LENGTH)
    .toWellFormed() || null;

/**
 * Makes the provider of one method. Its metadata is read at the first sign-in, and again after a failure.
 * @param stopping when it aborts, requests in progress end, because the process cannot wait any longer
 */
export const openProvider = (specifics: Specifics, log: Log, stopping: AbortSignal): OpenIdProvider => {
  const { method, issuer, clientId, clientAuth, parameters, nameOf } = specifics;
  const title = nameOfMethod(method);
  const { origin } = new URL(issuer);

  const unreachable = (thrown: unknown, doing: string) => {
    log.warn({ err: thrown, provider: title }, doing);
    return problem(
      "service_unavailable",
      `${title} cannot be reached at the moment, so you were not signed in. Try again in a minute, or use another way.`,
      { retry_after: RETRY_SECONDS },
    );
  };

  let configuring: Promise<Configuration> | null = null;
  const discover = async (): Promise<Configuration> => {
    const configuration = await discovery(
      new URL(issuer),
      clientId,
      // The algorithm is fixed, so that no provider can make us accept a token that it did not sign.
      { id_token_signed_response_alg: "RS256" },
      clientAuth,
      {
        timeout: TIMEOUT_SECONDS,
        [customFetch]: (url, { body = null, signal, ...options }) =>
          fetch(url, { ...options, body, signal: signal ? AbortSignal.any([signal, stopping]) : stopping }),
        // The token comes from the provider itself, but its signature is checked too, so that TLS is not the only
        // protection.
        execute: [enableNonRepudiationChecks, ...(issuer.startsWith("http:") ? [allowInsecureRequests] : [])],
      },
    );
    const { authorization_endpoint: endpoint } = configuration.serverMetadata();
    if (endpoint === undefined || new URL(endpoint).origin !== origin) {
      throw new Error(`${issuer} has its sign-in page at another origin, which our forms do not lead to: ${endpoint}`);
    }
    return configuration;
  };
  const configured = async (): Promise<Configuration> => {
    configuring ??= discover();
    try {
      return await configuring;
    } catch (error) {
      configuring = null;
      throw unreachable(error, "an OpenID provider cannot be used");
    }
  };

  const begin = async (flow: string, callback: string): Promise<string> => {
    const { state, nonce, verifier } = openIdSecrets(flow);
    const url = buildAuthorizationUrl(await configured(), {
      ...parameters,
      redirect_uri: callback,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return url.href;
  };

  const claimsOf = async (flow: string, callback: string, answer: URLSearchParams): Promise<IDToken> => {
    const configuration = await configured();
    const { state, nonce, verifier } = openIdSecrets(flow);
    if (answer.get("state") !== state) {
      throw problem(
        "bad_request",
        "This browser did not start this sign-in, or started another one since. You were not signed in.",
      );
    }
    const url = new URL(callback);
    url.search = answer.toString();
    try {
      const tokens = await authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined || !SUBJECT.test(claims.sub)) throw new Error("the ID token names no subject");
      return claims;
    } catch (error) {
      if (error instanceof AuthorizationResponseError) {
        log.info({ provider: title, error: error.error.slice(0, 100) }, "a provider sent a person back");
        throw problem("bad_request", `${title} did not sign you in, or you cancelled there. Nothing was changed.`);
      }
      if (isUnreachable(error)) throw unreachable(error, "an OpenID provider did not answer");
      const cause = error instanceof ResponseBodyError ? { error: error.error.slice(0, 100) } : {};
      log.warn({ err: error, provider: title, ...cause }, "the answer of an OpenID provider is not valid");
      throw problem(
        "bad_request",
        `The answer of ${title} was used before or is not valid, so you were not signed in.`,
      );
    }
  };

  return {
    origin,
    begin,
    finish: async (flow, callback, answer) => {
      const claims = await claimsOf(flow, callback, answer);
      const { email, email_verified } = claims;
      // Apple sometimes sends booleans as strings.
      const isVerified = email_verified === true || email_verified === "true";
      const name = nameOf(claims, answer);
      return {
        subject: claims.sub,
        email: isVerified && typeof email === "string" && isStorable(email) ? email : null,
        name: typeof name === "string" ? cleanName(name) : null,
      };
    },
  };
};

/** What is Google's own. Another provider that works like Google's can be its issuer. */
export const google = ({ issuer, clientId, clientSecret }: GoogleSettings): Specifics => ({
  method: "google",
  issuer,
  clientId,
  clientAuth: ClientSecretPost(clientSecret),
  parameters: { scope: "openid email profile" },
  nameOf: (claims) => claims["name"],
});

const inBase64url = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

const signedJwt = (header: object, payload: object, key: KeyObject): string => {
  const content = `${inBase64url({ alg: "ES256", ...header })}.${inBase64url(payload)}`;
  return `${content}.${sign("sha256", Buffer.from(content), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
};

/** Apple's client secret is a JWT that is signed with the client's key. */
const appleClientAuth =
  ({ issuer, clientId, teamId, keyId, privateKey }: AppleSettings): ClientAuth =>
  (_server, _client, body) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: teamId, sub: clientId, aud: issuer, iat: now, exp: now + CLIENT_SECRET_SECONDS };
    body.set("client_id", clientId);
    body.set("client_secret", signedJwt({ kid: keyId }, claims, privateKey));
  };

/** The person's name. Apple sends it outside the token, and only when the person signs in for the first time. */
const appleName = (_claims: IDToken, answer: URLSearchParams): unknown => {
  try {
    const { name } = JSON.parse(answer.get("user") ?? "{}") as { name?: { firstName?: unknown; lastName?: unknown } };
    return [name?.firstName, name?.lastName].filter((part) => typeof part === "string").join(" ");
  } catch {
    return null;
  }
};

/** What is Apple's own. It responds by a form that the browser posts, because we ask for the name. */
export const apple = (settings: AppleSettings): Specifics => ({
  method: "apple",
  issuer: settings.issuer,
  clientId: settings.clientId,
  clientAuth: appleClientAuth(settings),
  parameters: { scope: "openid email name", response_mode: "form_post" },
  nameOf: appleName,
});
