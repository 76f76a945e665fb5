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
import { problem } from "../http/problem.ts";
import type { Log } from "../log.ts";
import { openIdSecrets } from "./flow.ts";
import { nameOfMethod, type OpenIdMethod } from "./methods.ts";
import type { AppleSettings, GoogleSettings } from "./settings.ts";

/**
 * Signing in at an OpenID provider: the authorization code flow with PKCE. openid-client checks state, nonce, issuer,
 * audience, times and signature; what is decided here is what of the answer counts.
 */

/** Who the provider says it is. */
type Identity = {
  /** The provider's own name for the person; never changes. */
  subject: string;
  /** Only when the provider vouches that the mailbox is the person's. */
  email: string | null;
  name: string | null;
};

/** A service that says who a person is. */
export type OpenIdProvider = {
  /** Where forms that start a sign-in end. */
  origin: string;
  /** The address to send the browser of this flow to. @throws Problem when the provider cannot be reached. */
  begin: (flow: string, callback: string) => Promise<string>;
  /**
   * Who came back, from what the browser brought along.
   * @throws Problem when this browser did not start it, the person cancelled, the provider's answer does not hold, or
   * the provider cannot be reached.
   */
  finish: (flow: string, callback: string, answer: URLSearchParams) => Promise<Identity>;
};

type Specifics = {
  method: OpenIdMethod;
  issuer: string;
  clientId: string;
  clientAuth: ClientAuth;
  parameters: Record<string, string>;
  nameOf: (claims: IDToken, answer: URLSearchParams) => unknown;
};

/** Providers answer within a second; a person waits for two requests. */
const TIMEOUT_SECONDS = 5;

/** Apple wants less than six months. It is made anew for each request. */
const CLIENT_SECRET_SECONDS = 300;

/** OpenID Connect Core, section 2: a subject has at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** A name longer than this is no name; what is kept of it the database decides. */
const NAME_LENGTH = 200;

/** Codes and classes by which openid-client says that the provider, and not its answer, is at fault. */
const UNREACHABLE = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
]);

/** How long a person is asked to wait when a provider is down, in seconds. */
const RETRY_SECONDS = 30;

const codeOfError = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";

const isUnreachable = (thrown: unknown): boolean =>
  UNREACHABLE.has(codeOfError(thrown)) ||
  // What fetch throws, when there is no connection.
  (thrown instanceof TypeError && thrown.cause !== undefined) ||
  (thrown instanceof ClientError && thrown.cause instanceof TypeError) ||
  (thrown instanceof ResponseBodyError && thrown.status >= 500);

/** Whether the database can take a text; whether it is a mailbox, the database says. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

/** What the database can take; how a name is shown, it decides. */
const cleanName = (name: string): string | null =>
  name
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, NAME_LENGTH)
    .toWellFormed() || null;

/**
 * The provider of one method. Its metadata is read when the first person comes, and again after a failure.
 * `stopping` ends what is being asked, when the process cannot wait any longer.
 */
const openProvider = (specifics: Specifics, log: Log, stopping: AbortSignal): OpenIdProvider => {
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
      // Named, so that no provider can have us take a token that it did not sign.
      { id_token_signed_response_alg: "RS256" },
      clientAuth,
      {
        timeout: TIMEOUT_SECONDS,
        [customFetch]: (url, { body = null, signal, ...options }) =>
          fetch(url, { ...options, body, signal: signal ? AbortSignal.any([signal, stopping]) : stopping }),
        // Signatures are checked even though the token comes from the provider itself: one trust less.
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
      const said = error instanceof ResponseBodyError ? { error: error.error.slice(0, 100) } : {};
      log.warn({ err: error, provider: title, ...said }, "the answer of an OpenID provider does not hold");
      throw problem(
        "bad_request",
        `What came back from ${title} was used before or does not hold, so you were not signed in.`,
      );
    }
  };

  return {
    origin,
    begin,
    finish: async (flow, callback, answer) => {
      const claims = await claimsOf(flow, callback, answer);
      const { email, email_verified } = claims;
      // Apple writes booleans as text at times.
      const vouched = email_verified === true || email_verified === "true";
      const name = nameOf(claims, answer);
      return {
        subject: claims.sub,
        email: vouched && typeof email === "string" && isStorable(email) ? email : null,
        name: typeof name === "string" ? cleanName(name) : null,
      };
    },
  };
};

/** Google's provider, or another that works as it does. */
export const googleProvider = (
  { issuer, clientId, clientSecret }: GoogleSettings,
  log: Log,
  stopping: AbortSignal,
): OpenIdProvider =>
  openProvider(
    {
      method: "google",
      issuer,
      clientId,
      clientAuth: ClientSecretPost(clientSecret),
      parameters: { scope: "openid email profile" },
      nameOf: (claims) => claims["name"],
    },
    log,
    stopping,
  );

const inBase64url = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** A JWT signed with ES256. */
const signedJwt = (header: object, payload: object, key: KeyObject): string => {
  const content = `${inBase64url({ alg: "ES256", ...header })}.${inBase64url(payload)}`;
  return `${content}.${sign("sha256", Buffer.from(content), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
};

/** Apple takes as the client's secret a token signed with the client's key. */
const appleClientAuth =
  ({ issuer, clientId, teamId, keyId, privateKey }: AppleSettings): ClientAuth =>
  (_server, _client, body) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: teamId, sub: clientId, aud: issuer, iat: now, exp: now + CLIENT_SECRET_SECONDS };
    body.set("client_id", clientId);
    body.set("client_secret", signedJwt({ kid: keyId }, claims, privateKey));
  };

/** Apple tells a name beside the token, and only the first time that a person signs in. */
const appleName = (_claims: IDToken, answer: URLSearchParams): unknown => {
  try {
    const { name } = JSON.parse(answer.get("user") ?? "{}") as { name?: { firstName?: unknown; lastName?: unknown } };
    return [name?.firstName, name?.lastName].filter((part) => typeof part === "string").join(" ");
  } catch {
    return null;
  }
};

/** Apple's provider. It answers by a form that the browser posts, since it is asked for the name. */
export const appleProvider = (settings: AppleSettings, log: Log, stopping: AbortSignal): OpenIdProvider =>
  openProvider(
    {
      method: "apple",
      issuer: settings.issuer,
      clientId: settings.clientId,
      clientAuth: appleClientAuth(settings),
      parameters: { scope: "openid email name", response_mode: "form_post" },
      nameOf: appleName,
    },
    log,
    stopping,
  );
