import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, jwtVerify } from "jose";
import { type Configuration, Provider } from "oidc-provider";

/**
 * A real OpenID provider, configured like Google or Apple. It signs in the current `person` without showing a page, as
 * a provider does for somebody who is already signed in there.
 *
 *   person   the claims of the ID token about the person who signs in next
 */

type Person = { sub: string; email?: string; email_verified?: boolean | string; name?: string };

/** A running OpenID provider. */
export type OpenIdServer = {
  issuer: string;
  /** The environment variables that make the service use this provider. */
  env: Record<string, string>;
  person: Person;
  /** The claims of the client secrets that were received. Only Apple has these. */
  clientSecrets: Record<string, unknown>[];
  /** While true, every request gets a 503. */
  down: boolean;
  close: () => Promise<void>;
};

const CLIENT_ID = "souk-client";
const CLIENT_SECRET = "a secret that the operator was given by the provider";
const TEAM_ID = "TEAM123456";
const KEY_ID = "KEY1234567";

const bodyOf = async (request: IncomingMessage): Promise<Record<string, string>> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
};

const signingKey = async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...(await exportJWK(privateKey)), use: "sig", alg: "RS256", kid: "signing" };
};

/** @param callback the URL that the provider redirects people to */
const start = async (
  callback: string,
  checkSecret: ((body: Record<string, string>, issuer: string) => Promise<void>) | null,
  env: (issuer: string) => Record<string, string>,
): Promise<OpenIdServer> => {
  const http = createServer();
  // The service is at 127.0.0.1. A different host makes the browser treat the two as different sites, as in reality.
  http.listen(0, "localhost");
  await once(http, "listening");
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}`;
  const server: OpenIdServer = {
    issuer,
    env: env(issuer),
    person: { sub: "nobody" },
    clientSecrets: [],
    down: false,
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  const people = new Map<string, Person>();
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        // Only this type of client may have a callback over plain HTTP on this machine.
        application_type: "native",
        redirect_uris: [callback],
        grant_types: ["authorization_code"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], name: [] },
    scopes: ["openid", "email", "profile", "name"],
    // Google and Apple put the claims into the ID token.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    jwks: { keys: [await signingKey()] },
    cookies: { keys: ["a key for tests"] },
    ttl: { Interaction: 600, Grant: 600, Session: 600 },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...(people.get(id) ?? { sub: id }) }) }),
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc;
      if (!client || !session?.accountId) return undefined;
      const grant = new context.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile name");
      await grant.save();
      return grant;
    },
  };
  const provider = new Provider(issuer, configuration);
  const answer = provider.callback();
  http.on("request", async (request, response) => {
    if (server.down) {
      response.writeHead(503).end("down");
      return;
    }
    if (request.url?.startsWith("/interaction/")) {
      people.set(server.person.sub, { ...server.person });
      // This type of client is asked for consent each time.
      const login = { accountId: server.person.sub, remember: false };
      await provider.interactionFinished(request, response, { login, consent: {} });
      return;
    }
    if (checkSecret && request.url?.startsWith("/token")) {
      const body = await bodyOf(request);
      try {
        await checkSecret(body, issuer);
      } catch {
        response.writeHead(401, { "content-type": "application/json" }).end('{"error":"invalid_client"}');
        return;
      }
      Object.assign(request, { body: { ...body, client_secret: CLIENT_SECRET } });
    }
    await answer(request, response);
  });
  return server;
};

/** Starts a provider like Google: a fixed client secret, and the response in the query string. */
export const startGoogle = (service: string): Promise<OpenIdServer> =>
  start(`${service}/sign-in/google`, null, (issuer) => ({
    GOOGLE_CLIENT_ID: CLIENT_ID,
    GOOGLE_CLIENT_SECRET: CLIENT_SECRET,
    GOOGLE_ISSUER: issuer,
  }));

/** Starts a provider like Apple: the client secret is a signed token, and the response is a posted form. */
export const startApple = async (service: string): Promise<OpenIdServer> => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const publicKey: KeyObject = createPublicKey(privateKey);
  const secrets: Record<string, unknown>[] = [];
  const server = await start(
    `${service}/sign-in/apple`,
    async (body, issuer) => {
      const { payload, protectedHeader } = await jwtVerify(body["client_secret"] ?? "", publicKey, {
        algorithms: ["ES256"],
        issuer: TEAM_ID,
        subject: CLIENT_ID,
        audience: issuer,
        maxTokenAge: "10m",
      });
      secrets.push({ ...payload, kid: protectedHeader.kid });
    },
    (issuer) => ({
      APPLE_CLIENT_ID: CLIENT_ID,
      APPLE_TEAM_ID: TEAM_ID,
      APPLE_KEY_ID: KEY_ID,
      // The key has escaped line breaks, as on platforms that keep environment variables on one line.
      APPLE_PRIVATE_KEY: String(privateKey.export({ type: "pkcs8", format: "pem" })).replaceAll("\n", "\\n"),
      APPLE_ISSUER: issuer,
    }),
  );
  return Object.assign(server, { clientSecrets: secrets });
};
